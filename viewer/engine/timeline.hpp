/// @file
/// The Execution Timeline: executions one by one, or summed per pixel column where they are too many to draw.
#pragma once

#include <utility>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// More executions than this in the window are answered as columns.
inline constexpr std::size_t most_boxes = 400;

/// Answers for the window of the timeline in `view`. A column's bad count is never lost by summing: one bad execution
/// in a million still shows.
Timeline timeline_of(RunIndex& index, const View& view);
/// The same of a run with several ranks: a track for each.
Timeline rank_timeline_of(RunIndex& index, const View& view);

/// Which executions of a track, from the first number up to the second, are between two places of its axis.
std::pair<std::size_t, std::size_t> range_in_track(RunIndex& index, std::size_t track, bool by_time, double begin,
                                                   double end);

/// An execution as a box.
Box box_of(RunIndex& index, std::size_t execution);

}  // namespace nanlens::viewer
