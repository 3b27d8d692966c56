// Opening a logdir: `reading LOGDIR`. Prints one JSON object: seconds to all counts and alerts, bytes per event, the
// first screen through the viewer's engine, causes, filters, a selection.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "engine/engine.hpp"

namespace {

using namespace nanlens;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Answered {
  double seconds = 0;
  double longest_step = 0;  // the engine looks for what is newer in between
  std::uint64_t shown = 0;
};

// Sends a request to an engine and waits for all answers.
template <class What>
Answered answer(viewer::Engine& engine, What what) {
  Answered answered;
  const auto start = Clock::now();
  engine.handle({1, std::move(what)});
  bool more = true;
  while (more) {
    const auto step = Clock::now();
    more = engine.step();
    answered.longest_step = std::max(answered.longest_step, seconds_since(step));
    for (const auto& reply : engine.take_replies())
      if (const auto* rows = std::get_if<viewer::Rows>(&reply)) answered.shown = rows->shown;
  }
  answered.seconds = seconds_since(start);
  return answered;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string path = argv[1];
  auto start = Clock::now();
  reader::Logdir logdir(path);
  logdir.update();
  const double open = seconds_since(start);
  reader::Run& run = *logdir.runs().at(0);
  const std::size_t events = run.num_traces() + run.num_executions();
  start = Clock::now();
  causes::Causes causes(run);
  double longest = 0;
  for (bool done = false; !done;) {
    const auto slice = Clock::now();
    done = causes.advance(2048);
    longest = std::max(longest, seconds_since(slice));
  }
  const double why = seconds_since(start);

  viewer::Engine engine(
      [](const std::string& p, std::string&) { return std::make_unique<reader::DirectoryStorage>(p); });
  start = Clock::now();
  engine.handle({1, viewer::Open{{path}, 1}});
  viewer::View view;
  view.row_count = 50;
  view.minimap_cells = 300;
  view.timeline_end = 1000;
  view.timeline_columns = 1000;
  view.overview_columns = 1000;
  view.alerts_count = 50;
  const double screen = answer(engine, view).seconds;
  view.filter = "nan>0";
  const Answered nan = answer(engine, view);
  view.filter = "op12";
  const Answered text = answer(engine, view);
  view.filter = "/op1[0-9]*[24]$/";
  const Answered regex = answer(engine, view);
  view.filter.clear();
  answer(engine, view);
  const Answered select = answer(engine, viewer::Select{viewer::IntentKind::trace, 0, false, {}});
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"events\": %zu, \"rows\": %zu, \"executions\": %zu, \"open_s\": %.4f, \"index_bytes_per_event\": %.2f, "
      "\"causes_s\": %.4f, \"longest_slice_s\": "
      "%.4f, "
      "\"causes_bytes\": %zu, \"first_screen_s\": %.4f, \"filter_nan_s\": %.4f, \"with_nan\": %llu, \"filter_text_s\": "
      "%.4f, \"filter_regex_s\": %.4f, \"regex_step_s\": %.4f, \"with_regex\": %llu, \"select_s\": %.4f, "
      "\"max_rss_mb\": %.1f}\n",
      events, run.num_traces(), run.num_executions(), open,
      static_cast<double>(run.index_bytes()) / static_cast<double>(std::max<std::size_t>(1, events)), why, longest,
      causes.memory_bytes(), screen, nan.seconds, static_cast<unsigned long long>(nan.shown), text.seconds,
      regex.seconds, regex.longest_step, static_cast<unsigned long long>(regex.shown), select.seconds,
      static_cast<double>(usage.ru_maxrss) / 1024);
}
