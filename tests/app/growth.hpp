/// @file
/// Logdirs that grow while the viewer has them open.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../support/logdir_generator.hpp"
#include "headless.hpp"

namespace nanlens::test {

// A generated logdir whose events come in parts: what is defined first, then the calls.
class Growth {
 public:
  explicit Growth(const GeneratorOptions& options) {
    LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
      events_.emplace_back(kind, bytes);
    }).run();
  }
  /// What was recorded until a share of the run.
  void until(double share, GrowingFiles& files, std::int64_t seconds = 1) {
    const auto end = static_cast<std::size_t>(share * static_cast<double>(events_.size()));
    for (; at_ < end; ++at_) files.append(generated_name(events_[at_].first, "host", seconds), events_[at_].second);
  }

 private:
  std::vector<std::pair<logdir::FileKind, std::string>> events_;
  std::size_t at_ = 0;
};

inline GeneratorOptions bad_run(const std::string& id = "12345678") {
  GeneratorOptions options;
  options.bad_every = 7;
  options.run_id = id;
  return options;
}

inline void grows_while_filtered(Headless& v) {
  Growth growth(bad_run());
  GrowingFiles& files = v.memory["memory:run"];
  growth.until(0.5, files);
  v.open("memory:run");
  const std::uint64_t rows = v.state()["runs"][0]["num_traces"];
  v.command("filter", {{"query", "type:Log"}});
  v.command("focus_trace", {{"index", 101}});
  v.command("scroll_to", {{"pane", "graph_executions"}, {"index", 80}});
  const Json before = v.lasting_state();
  REQUIRE(before["graph_executions"]["first"] == 80);
  growth.until(1, files);
  v.look_again();
  const Json after = v.lasting_state();
  CHECK(after["runs"][0]["num_traces"] > rows);
  CHECK(after["graph_executions"]["shown"] > before["graph_executions"]["shown"]);
  CHECK(after["focus"] == before["focus"]);
  CHECK(after["graph_executions"]["first"] == 80);
  CHECK(after["graph_executions"]["visible"] == before["graph_executions"]["visible"]);
}

}  // namespace nanlens::test
