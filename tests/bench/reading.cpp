// Opening a logdir: `reading LOGDIR`. Prints one JSON object: seconds to all counts and alerts, bytes per event, the
// first screen through the viewer's engine, causes, filters.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "engine/engine.hpp"

namespace {

using namespace nanlens;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Sends a view to an engine and waits for all answers.
double answer(viewer::Engine& engine, const viewer::View& view, std::uint64_t& shown) {
  const auto start = Clock::now();
  engine.handle({1, view});
  bool more = true;
  while (more) {
    more = engine.step();
    for (const auto& reply : engine.take_replies())
      if (const auto* rows = std::get_if<viewer::Rows>(&reply)) shown = rows->shown;
  }
  return seconds_since(start);
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
  std::uint64_t shown = 0;
  const double screen = answer(engine, view, shown);
  view.filter = "nan>0";
  const double nan = answer(engine, view, shown);
  const std::uint64_t with_nan = shown;
  view.filter = "op12";
  const double text = answer(engine, view, shown);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"events\": %zu, \"rows\": %zu, \"executions\": %zu, \"open_s\": %.4f, \"index_bytes_per_event\": %.2f, "
      "\"causes_s\": %.4f, \"longest_slice_s\": "
      "%.4f, "
      "\"causes_bytes\": %zu, \"first_screen_s\": %.4f, \"filter_nan_s\": %.4f, \"with_nan\": %llu, \"filter_text_s\": "
      "%.4f, "
      "\"max_rss_mb\": %.1f}\n",
      events, run.num_traces(), run.num_executions(), open,
      static_cast<double>(run.index_bytes()) / static_cast<double>(std::max<std::size_t>(1, events)), why, longest,
      causes.memory_bytes(), screen, nan, static_cast<unsigned long long>(with_nan), text,
      static_cast<double>(usage.ru_maxrss) / 1024);
}
