/// @file
/// The timeline's axis by time: seconds since the run's start, in which long pauses are shown narrower than they were.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol.hpp"

namespace nanlens::viewer {

/// Where a time (seconds since the run's start) is on the axis.
inline double to_axis(const std::vector<Gap>& gaps, double time) {
  const auto next = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) { return g.begin <= time; });
  if (next == gaps.begin()) return time;
  const Gap& gap = *(next - 1);
  const double inside = std::min(time - gap.begin, gap.seconds);
  return time - gap.left_out - inside * (1 - gap.width / gap.seconds);
}

/// The time at a place of the axis.
inline double from_axis(const std::vector<Gap>& gaps, double at) {
  const auto next =
      std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) { return g.begin - g.left_out <= at; });
  if (next == gaps.begin()) return at;
  const Gap& gap = *(next - 1);
  const double inside = std::min(at - (gap.begin - gap.left_out), gap.width);
  return at + gap.left_out + inside * (gap.seconds / gap.width - 1);
}

/// The pauses between these times (ascending) that are worth shortening: longer than twenty times the usual distance,
/// and longer than what is left of them.
inline std::vector<Gap> find_gaps(const std::vector<double>& times) {
  if (times.size() < 3) return {};
  std::vector<double> distances;
  for (std::size_t i = 1; i < times.size(); ++i) distances.push_back(times[i] - times[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  constexpr double much = 20;
  const double longest_usual = much * *middle;
  std::vector<Gap> gaps;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] - times[i - 1] > longest_usual) gaps.push_back({times[i - 1], times[i] - times[i - 1], 0, 0});
  // Of very many only the longest: each takes room of its own.
  constexpr std::size_t most = 40;
  if (gaps.size() > most) {
    std::nth_element(gaps.begin(), gaps.begin() + most, gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.seconds > b.seconds; });
    gaps.resize(most);
    std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
  }
  double busy = times.back() - times.front();
  for (const Gap& g : gaps) busy -= g.seconds;
  const double width = std::max(longest_usual, busy / most);
  std::erase_if(gaps, [&](const Gap& g) { return g.seconds <= width || width <= 0; });
  double left_out = 0;
  for (Gap& g : gaps) {
    g.width = width;
    g.left_out = left_out;
    left_out += g.seconds - width;
  }
  return gaps;
}

}  // namespace nanlens::viewer
