/// @file
/// The Execution Timeline: executions one by one, or summed per pixel column where they are too many to draw.
#pragma once

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// More executions than this in the window are answered as columns.
inline constexpr std::size_t most_boxes = 400;

/// Answers for the window of the timeline in `view`. A column's bad count is never lost by summing: one bad execution
/// in a million still shows.
Timeline timeline_of(RunIndex& index, const View& view);

}  // namespace nanlens::viewer
