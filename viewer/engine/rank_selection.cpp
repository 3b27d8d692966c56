// From one execution to another of its rank, and from rank to rank.
#include <algorithm>

#include "selection.hpp"
#include "texts/texts.hpp"
#include "timeline.hpp"

namespace nanlens::viewer {

namespace {

Focus focus_of_execution(std::uint32_t execution) {
  Focus focus;
  focus.execution = execution;
  return focus;
}

// To another execution of the same rank; with nothing selected, to the first one.
Focus step_in_rank(RunIndex& index, const Focus& current, std::int64_t by, std::string& notice) {
  const RankTracks& ranks = index.ranks();
  const RankTracks::Place place = ranks.find(current.execution);
  const std::size_t track = place.track < 0 ? 0 : static_cast<std::size_t>(place.track);
  if (track >= ranks.size() || ranks[track].executions.size() == 0) {
    notice = tr(Text::no_execution_after);
    return current;
  }
  const auto last = static_cast<std::int64_t>(ranks[track].executions.size()) - 1;
  const std::int64_t at = place.track < 0 ? 0 : static_cast<std::int64_t>(place.at);
  const bool at_end = place.track >= 0 && by > 0 && at == last;
  if (at_end) notice = tr(Text::no_execution_after);
  const std::int64_t to = by > last - at ? last : std::max<std::int64_t>(0, at + (place.track < 0 ? 0 : by));
  return at_end ? current : focus_of_execution(ranks[track].executions[static_cast<std::size_t>(to)]);
}

// The execution of a list that is nearest to a time.
std::size_t nearest_in_time(const RunIndex& index, const ExecutionList& list, double time) {
  const auto time_of = [&](std::size_t i) { return index.run().execution_wall_time(list[i]); };
  std::size_t low = 0;
  std::size_t high = list.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (time_of(middle) < time)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == list.size()) return low - 1;
  return low > 0 && time - time_of(low - 1) < time_of(low) - time ? low - 1 : low;
}

// To the next rank that has recorded an execution, at the same place.
Focus step_rank(RunIndex& index, const Focus& current, const Select& wish, std::string& notice) {
  RankTracks& ranks = index.ranks();
  const RankTracks::Place place = ranks.find(current.execution);
  const std::int64_t direction = wish.index < 0 ? -1 : 1;
  std::int64_t track = place.track < 0 ? -1 : place.track + direction;
  if (place.track < 0 && ranks.size() > 0) track = direction > 0 ? 0 : static_cast<std::int64_t>(ranks.size()) - 1;
  const auto count = static_cast<std::int64_t>(ranks.size());
  while (track >= 0 && track < count && ranks[static_cast<std::size_t>(track)].executions.size() == 0)
    track += direction;
  if (track < 0 || track >= count) {
    notice = tr(Text::no_rank_further);
    return current;
  }
  const auto to = static_cast<std::size_t>(track);
  const ExecutionList& by_time = ranks.by_time(to);
  if (wish.by_time && place.track >= 0 && by_time.size() > 0) {
    const double time = index.run().execution_wall_time(static_cast<std::size_t>(current.execution));
    return focus_of_execution(by_time[nearest_in_time(index, by_time, time)]);
  }
  const ExecutionList& list = ranks[to].executions;
  return focus_of_execution(list[std::min(place.track < 0 ? 0 : place.at, list.size() - 1)]);
}

// Where a track was clicked.
Focus focus_in_track(RunIndex& index, const Focus& current, const Select& wish) {
  RankTracks& ranks = index.ranks();
  if (wish.index < 0 || static_cast<std::size_t>(wish.index) >= ranks.size()) return current;
  const auto track = static_cast<std::size_t>(wish.index);
  const auto [first, end] = range_in_track(index, track, wish.by_time, wish.begin, wish.end);
  if (first >= end) return current;
  const ExecutionList& list = wish.by_time ? ranks.by_time(track) : ranks[track].executions;
  const std::size_t bad = list.first_bad(index.run(), first, end);
  return focus_of_execution(list[bad < end ? bad : first]);
}

}  // namespace

Focus focus_by_rank(RunIndex& index, const Focus& current, const Select& wish, std::string& notice) {
  if (wish.kind == IntentKind::rank_execution_step) return step_in_rank(index, current, wish.index, notice);
  if (wish.kind == IntentKind::rank_step) return step_rank(index, current, wish, notice);
  return focus_in_track(index, current, wish);
}

}  // namespace nanlens::viewer
