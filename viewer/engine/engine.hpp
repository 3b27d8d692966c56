/// @file
/// The engine: reads logdirs and answers the user interface. Single-threaded; whoever owns it calls `handle` for each
/// request and `step` until there is nothing to do, from a thread (desktop) or a worker's message loop (page).
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "alerts.hpp"
#include "explain.hpp"
#include "export.hpp"
#include "protocol.hpp"
#include "report/rules_files.hpp"
#include "rows.hpp"
#include "rule_book.hpp"
#include "run_index.hpp"
#include "search.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

/// Opens what a user named; null with `why` if that is impossible.
using OpenStorage = std::function<std::unique_ptr<reader::Storage>(const std::string& path, std::string& why)>;

/// Reads the marks of what is meant to be for an open logdir; may throw.
using FindMutes = std::function<void(reader::Storage& storage, const std::string& path, report::Mutes& mutes)>;

/// Reads the rules for an open logdir; may throw.
using FindRules = std::function<std::vector<report::RulesFile>(reader::Storage& storage, const std::string& path)>;

class Engine {
 public:
  /// Without `find_mutes` and `find_rules` marks and rules are those among the logdir's files.
  explicit Engine(OpenStorage open, FindMutes find_mutes = {}, FindRules find_rules = {})
      : open_(std::move(open)), find_mutes_(std::move(find_mutes)), find_rules_(std::move(find_rules)) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Takes a request; the replies come from `step`. What throws on the way becomes a diagnostic.
  void handle(Request request);
  /// Does one slice of work: answers first, then filtering, then reading. True if there is more to do. Work that throws
  /// is given up, with a diagnostic.
  bool step();
  /// Replies made since the last call, in order. Each batch ends with a Status.
  std::vector<Reply> take_replies();

 private:
  struct OpenRun {
    explicit OpenRun(reader::Run& run)
        : index(run), explain(index), alerts(index, explain), rows(index, explain), rules(index, explain) {}
    RunIndex index;
    Explain explain;
    AlertList alerts;
    RowFilter rows;
    RuleBook rules;
    Selection selection;
    OpSteps steps;
    EagerNames eager;
    std::vector<Focus> walk;  // the chain that cause_step goes along
    std::optional<ListExport> exporting;
    bool unexplained = false;  // the analysis was given up
  };
  struct OpenLogdir {
    std::string path;
    std::unique_ptr<reader::Logdir> logdir;
  };
  enum class Work : std::uint8_t { none, filter, draft, read, explain, judge, export_list };
  struct Progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    bool stopped = false;
    bool changed = false;
  };

  void apply(Open& request);
  void apply(Close& request);
  void apply(SelectRun& request);
  void apply(Cancel& request);
  void apply(Reload& request);
  void apply(Export& request);
  void apply(Select& request);
  void apply(View& request);
  void apply(SetRules& request);
  void open_path(const std::string& path);
  void note_changes(const View& old);
  void say_again();
  [[nodiscard]] Focus wished(const Select& request, std::string& notice);
  [[nodiscard]] Focus step_chain(std::int64_t direction, std::string& notice);
  [[nodiscard]] std::vector<Focus>::const_iterator place_in_walk();
  void describe(const Focus& focus);
  void describe_again();
  void explained();

  [[nodiscard]] Work next_work() const;
  void do_slice(Work work);
  void give_up(Work work);
  void export_slice();
  [[nodiscard]] Exported whole_values(const Focus& focus, std::int32_t values_of);
  [[nodiscard]] bool has_work() const;
  // Runs what may throw; false, with a diagnostic, if it did.
  template <class What>
  bool attempt(What&& what) {
    try {
      what();
      return true;
    } catch (const std::exception& error) {
      add_fault(error.what());
    }
    return false;
  }
  void add_fault(const char* reason);

  void open_run(reader::Run& run);
  [[nodiscard]] std::vector<reader::Run*> runs() const;
  [[nodiscard]] std::uint64_t key_of(const reader::Run& run);
  [[nodiscard]] std::int32_t place_of_current() const;
  void read_slice();
  void read_mutes();
  void read_rules();
  void judge_slice();
  [[nodiscard]] Rows rows();
  [[nodiscard]] Timeline timeline();
  [[nodiscard]] Progress update(std::chrono::steady_clock::time_point deadline);
  void refresh();
  void answer();
  [[nodiscard]] Overview overview();
  [[nodiscard]] HeatMap values();
  [[nodiscard]] RunInfo describe_run(reader::Run& run);
  [[nodiscard]] std::uint64_t num_diagnostics();
  [[nodiscard]] Diagnostics diagnostics();
  [[nodiscard]] std::string why_no_runs() const;
  void refresh_verdict();
  [[nodiscard]] Verdict verdict();
  [[nodiscard]] Verdict trapped_verdict();

  OpenStorage open_;
  FindMutes find_mutes_;
  FindRules find_rules_;
  std::vector<RulesText> found_rules_;
  std::vector<RulesText> rules_;  // in force
  std::chrono::steady_clock::time_point next_rules_{};
  report::Mutes mutes_;
  bool mutes_due_ = false;
  std::vector<OpenLogdir> logdirs_;
  std::vector<std::pair<const reader::Run*, std::uint64_t>> keys_;
  std::uint64_t last_key_ = 0;
  std::unique_ptr<OpenRun> current_;
  View view_;
  Overview overview_;
  std::string why_no_runs_;  ///< the overview's error that is said again in another language
  std::uint64_t serial_ = 0;
  bool looking_ = false;      ///< for new data, without a word if there is none
  bool owes_status_ = false;  ///< the last one said that more would come
  std::chrono::milliseconds slice_{20};
  std::chrono::steady_clock::time_point next_partial_{};
  std::vector<Fault> faults_;  ///< of the viewer itself

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
    bool values = false;
    bool rules = false;
    bool found_rules = false;
    void all() {
      overview = rules = values = selection = rows = timeline = alerts = source = diagnostics = explanation = true;
    }
  };
  void answer_topics(const Dirty& dirty);

  Dirty dirty_;
  std::vector<Reply> replies_;
};

}  // namespace nanlens::viewer
