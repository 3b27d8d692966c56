// The timeline of a run with several ranks: a track for each, on one axis.
#include <algorithm>
#include <cmath>

#include "time_axis.hpp"
#include "timeline.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::uint32_t most_track_columns = 1 << 14;
constexpr std::size_t most_track_boxes = 1000;
constexpr double least_box = 3;  // pixels, below which a bad one could be hidden by the next

// Where a window lies in the tracks, and where each of its executions is on the axis.
class Axis {
 public:
  Axis(RunIndex& index, bool by_time) : index_(index), by_time_(by_time), last_(last_place()) {}

  /// Where the last execution is, by order its time.
  [[nodiscard]] double last() const { return last_; }

  [[nodiscard]] const ExecutionList& list(std::size_t track) const {
    return by_time_ ? index_.ranks().by_time(track) : index_.ranks()[track].executions;
  }
  /// How many of a list come before a place.
  [[nodiscard]] std::size_t number_before(const ExecutionList& list, double place) const {
    if (!by_time_) return static_cast<std::size_t>(std::clamp(std::ceil(place), 0.0, static_cast<double>(list.size())));
    const double time = from_axis(index_.gaps(), place);
    std::size_t low = 0;
    std::size_t high = list.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (time_of(list[middle]) < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// How many come up to the end of a window, which by time is part of it.
  [[nodiscard]] std::size_t number_until(const ExecutionList& list, double end) const {
    return by_time_ && end >= last_ ? list.size() : number_before(list, end);
  }
  [[nodiscard]] double place_of(const ExecutionList& list, std::size_t i) const {
    return by_time_ ? to_axis(index_.gaps(), time_of(list[i])) : static_cast<double>(i);
  }
  [[nodiscard]] double time_of(std::uint32_t execution) const {
    return index_.since_start(index_.run().execution_wall_time(execution));
  }

 private:
  [[nodiscard]] double last_place() const {
    double last = 0;
    for (std::size_t k = 0; k < index_.ranks().size(); ++k) {
      const ExecutionList& in_track = list(k);
      if (in_track.size() == 0) continue;
      const double time = time_of(in_track[in_track.size() - 1]);
      if (std::isfinite(time)) last = std::max(last, by_time_ ? to_axis(index_.gaps(), time) : time);
    }
    return last;
  }

  RunIndex& index_;
  bool by_time_;
  double last_;
};

// Sums of equal parts of a piece of the axis.
std::vector<Density> columns_of_list(const RunIndex& index, const Axis& axis, const ExecutionList& list, double begin,
                                     double end, std::uint32_t count) {
  std::vector<Density> columns(count);
  std::size_t first = axis.number_before(list, begin);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t last = axis.number_until(list, begin + (end - begin) * (i + 1) / count);
    columns[i] = list.sum(index.run(), first, last);
    first = std::max(first, last);
  }
  return columns;
}

// The map is made anew when there is more of the run, or it has another size: not when the window moves.
const RankMap& map_of(RunIndex& index, const Axis& axis, const View& view, const Timeline& t) {
  RankTracks& ranks = index.ranks();
  RankMap& map = ranks.map();
  const double whole = std::max(view.time_mode ? t.duration : static_cast<double>(t.longest), 1e-9);
  std::uint32_t columns = std::min(view.overview_columns, most_track_columns) / 2;
  if (!view.time_mode) columns = static_cast<std::uint32_t>(std::min<std::uint64_t>(columns, t.longest));
  if (map.by_time == view.time_mode && map.columns == columns && map.executions == t.total &&
      map.cells.size() == ranks.size())
    return map;
  map = {view.time_mode, columns, static_cast<std::size_t>(t.total), {}};
  std::uint32_t most = 1;
  std::vector<std::vector<Density>> all;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    all.push_back(columns_of_list(index, axis, axis.list(k), 0, whole, columns));
    for (const Density& column : all.back()) most = std::max(most, column.count);
  }
  for (const std::vector<Density>& track : all) {
    map.cells.emplace_back();
    for (const Density& column : track) {
      constexpr std::uint32_t fullest = overview_bad - 1;
      const auto full = static_cast<std::uint8_t>((std::uint64_t{column.count} * fullest + most - 1) / most);
      map.cells.back().push_back(static_cast<std::uint8_t>(full | (column.bad > 0 ? overview_bad : 0)));
    }
  }
  return map;
}

void fill_tracks(RunIndex& index, const Axis& axis, const View& view, Timeline& t) {
  const RankTracks& ranks = index.ranks();
  const RankMap& map = map_of(index, axis, view, t);
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    const RankTrack& rank = ranks[k];
    t.tracks.push_back({rank.rank, rank.host, rank.executions.size(), rank.bad, {}, map.cells[k]});
  }
}

// Boxes of the tracks on screen; false if there are too many, or they would be too narrow.
bool fill_boxes(RunIndex& index, const Axis& axis, const View& view, std::size_t first, std::size_t end, Timeline& t) {
  if (!view.time_mode && view.timeline_columns < (t.end - t.begin) * least_box) return false;
  struct Part {
    std::size_t track, begin, end;
  };
  std::vector<Part> parts;
  std::size_t count = 0;
  for (std::size_t k = first; k < end; ++k) {
    const ExecutionList& list = axis.list(k);
    const double from = view.time_mode ? t.begin : std::floor(t.begin);
    parts.push_back({k, axis.number_before(list, from), axis.number_until(list, t.end)});
    count += parts.back().end - parts.back().begin;
    if (view.time_mode && view.timeline_columns < static_cast<double>(parts.back().end - parts.back().begin) * 4)
      return false;
  }
  if (count > most_track_boxes) return false;
  for (const Part& part : parts)
    for (std::size_t i = part.begin; i < part.end; ++i) {
      t.boxes.push_back(box_of(index, axis.list(part.track)[i]));
      t.boxes.back().at = axis.place_of(axis.list(part.track), i);
      t.boxes.back().track = static_cast<std::int32_t>(part.track);
    }
  return true;
}

}  // namespace

std::pair<std::size_t, std::size_t> range_in_track(RunIndex& index, std::size_t track, bool by_time, double begin,
                                                   double end) {
  const Axis axis(index, by_time);
  const ExecutionList& list = axis.list(track);
  return {axis.number_before(list, by_time ? begin : std::floor(begin)), axis.number_until(list, end)};
}

Timeline rank_timeline_of(RunIndex& index, const View& view) {
  RankTracks& ranks = index.ranks();
  const Axis axis(index, view.time_mode);
  Timeline t;
  t.total = index.run().num_executions();
  t.time_mode = view.time_mode;
  for (std::size_t k = 0; k < ranks.size(); ++k)
    t.longest = std::max<std::uint64_t>(t.longest, ranks[k].executions.size());
  if (view.time_mode) t.gaps = index.gaps();
  t.duration = axis.last();
  t.begin = std::isnan(view.timeline_begin) ? 0 : view.timeline_begin;
  t.end = std::isnan(view.timeline_end) ? t.begin : std::max(t.begin, view.timeline_end);
  fill_tracks(index, axis, view, t);
  const std::size_t first = std::min<std::size_t>(view.track_first, ranks.size());
  const std::size_t end = std::min<std::size_t>(first + view.track_count, ranks.size());
  if (fill_boxes(index, axis, view, first, end, t)) return t;
  auto columns = static_cast<std::uint32_t>(std::min(view.timeline_columns, most_track_columns) / least_box);
  if (!view.time_mode) {  // a column is one execution, or several
    t.begin = std::max(0.0, std::floor(t.begin));
    t.end = std::min(std::ceil(t.end), static_cast<double>(t.longest));
    columns = static_cast<std::uint32_t>(std::clamp(t.end - t.begin, 0.0, static_cast<double>(columns)));
  }
  for (std::size_t k = first; k < end; ++k)
    t.tracks[k].columns = columns_of_list(index, axis, axis.list(k), t.begin, t.end, columns);
  return t;
}

}  // namespace nanlens::viewer
