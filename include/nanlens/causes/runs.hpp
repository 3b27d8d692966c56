/// @file
/// Runs as wholes. Which of several to answer for: one rule for the command and the viewer.
#pragma once

#include <algorithm>
#include <vector>

#include <nanlens/reader/run.hpp>
#include <nanlens/reader/sort_stably.hpp>

namespace nanlens::causes {

/// Bad runs first, by the time of their first bad tensor; then the others, latest first, those that recorded nothing
/// last.
inline std::vector<reader::Run*> by_importance(std::vector<reader::Run*> runs) {
  const auto empty = [](const reader::Run& run) { return run.num_executions() + run.num_traces() == 0; };
  std::reverse(runs.begin(), runs.end());  // the latest was added last
  reader::sort_stably(runs, [&](const reader::Run* a, const reader::Run* b) {
    const bool a_bad = !a->alerts().empty();
    const bool b_bad = !b->alerts().empty();
    if (a_bad && b_bad) return reader::earlier(a->alerts().front().wall_time, b->alerts().front().wall_time);
    if (a_bad != b_bad) return a_bad;
    return empty(*a) < empty(*b);
  });
  return runs;
}

/// Is it known that events are missing which were to be recorded?
inline bool misses_events(const reader::Run& run) noexcept {
  return run.dropped() > 0 || run.unread_tensors() > 0 || run.kept_last() > 0;
}

}  // namespace nanlens::causes
