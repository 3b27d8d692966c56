/// @file
/// The engine: reads logdirs and answers the user interface. Single-threaded; whoever owns it calls `handle` for each
/// request and `step` until there is nothing to do, from a thread (desktop) or a worker's message loop (page).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "alerts.hpp"
#include "explain.hpp"
#include "export.hpp"
#include "protocol.hpp"
#include "rows.hpp"
#include "run_index.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

/// Opens what a user named; null with `why` if that is impossible.
using OpenStorage = std::function<std::unique_ptr<reader::Storage>(const std::string& path, std::string& why)>;

class Engine {
 public:
  explicit Engine(OpenStorage open) : open_(std::move(open)) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Takes a request; the replies come from `step`.
  void handle(Request request);
  /// Does one slice of work: answers first, then filtering, then reading. True if there is more to do.
  bool step();
  /// Replies made since the last call, in order. Each batch ends with a Status.
  std::vector<Reply> take_replies();

 private:
  struct OpenRun {
    explicit OpenRun(reader::Run& run) : index(run), explain(index), alerts(index, explain), rows(index, explain) {}
    RunIndex index;
    Explain explain;
    AlertList alerts;
    RowFilter rows;
    Selection selection;
    RowSteps steps;
    std::vector<Focus> walk;  // the chain that cause_step goes along
    std::optional<ListExport> exporting;
  };
  struct OpenLogdir {
    std::string path;
    std::unique_ptr<reader::Logdir> logdir;
  };

  void apply(Open& request);
  void apply(Close& request);
  void apply(SelectRun& request);
  void apply(Cancel& request);
  void apply(Reload& request);
  void apply(Export& request);
  void apply(Select& request);
  void apply(View& request);
  [[nodiscard]] Focus wished(const Select& request, std::string& notice);
  [[nodiscard]] Focus step_chain(std::int64_t direction, std::string& notice);
  void describe(const Focus& focus);
  void explained();
  [[nodiscard]] bool has_work() const;
  void open_run(std::int32_t run);
  [[nodiscard]] std::vector<reader::Run*> runs() const;
  void read_slice();
  void refresh();
  void answer();
  void send_overview();
  void refresh_verdict();
  [[nodiscard]] Verdict verdict();

  OpenStorage open_;
  std::vector<OpenLogdir> logdirs_;
  std::unique_ptr<OpenRun> current_;
  std::int32_t run_ = -1;
  View view_;
  Overview overview_;
  std::uint64_t serial_ = 0;
  bool looking_ = false;      ///< for new data, without a word if there is none
  bool owes_status_ = false;  ///< the last one said that more would come
  std::chrono::milliseconds slice_{20};
  std::chrono::steady_clock::time_point next_partial_{};

  struct Dirty {
    bool overview = false;
    bool selection = false;
    bool rows = false;
    bool timeline = false;
    bool alerts = false;
    bool source = false;
    bool diagnostics = false;
    bool search = false;
    bool explanation = false;
    void all() { overview = selection = rows = timeline = alerts = source = diagnostics = explanation = true; }
  } dirty_;
  std::vector<Reply> replies_;
};

}  // namespace nanlens::viewer
