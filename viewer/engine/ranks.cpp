#include "ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

namespace nanlens::viewer {

void ExecutionList::Sums::add(std::uint8_t flags) noexcept {
  if ((flags & reader::function_flag) != 0) ++functions;
  if ((flags & reader::bad_flags) != 0) ++bad;
}

void ExecutionList::add(const reader::Run& run, std::uint32_t execution) {
  if (executions_.size() % step == 0) sums_.push_back(whole_);
  executions_.push_back(execution);
  whole_.add(run.execution_flags(execution));
}

ExecutionList::Sums ExecutionList::before(const reader::Run& run, std::size_t i) const {
  if (i >= executions_.size()) return whole_;
  Sums sums = sums_[i / step];
  for (std::size_t k = i / step * step; k < i; ++k) sums.add(run.execution_flags(executions_[k]));
  return sums;
}

Density ExecutionList::sum(const reader::Run& run, std::size_t first, std::size_t end) const {
  end = std::min(end, size());
  if (first >= end) return {};
  const Sums a = before(run, first);
  const Sums b = before(run, end);
  return {static_cast<std::uint32_t>(end - first), b.functions - a.functions, b.bad - a.bad};
}

std::size_t ExecutionList::first_bad(const reader::Run& run, std::size_t first, std::size_t end) const {
  if (sum(run, first, end).bad == 0) return end;
  const std::uint32_t so_far = before(run, first).bad;
  // The last place before which there are no more than that is in the block where the next one is.
  const auto block = std::partition_point(sums_.begin(), sums_.end(), [&](const Sums& s) { return s.bad <= so_far; });
  std::size_t i = std::max(first, static_cast<std::size_t>(block - sums_.begin() - 1) * step);
  while ((run.execution_flags(executions_[i]) & reader::bad_flags) == 0) ++i;
  return i;
}

void RankTracks::refresh() {
  take_sets();
  if (!several_) return;
  take_executions();
  count_bad();
  put_in_order();
}

void RankTracks::take_sets() {
  for (std::size_t set = track_of_set_.size(); set < run_.num_sets(); ++set) {
    const std::int32_t rank = run_.rank_of_set(set);
    const std::string host = host_name_of(run_, set);
    const auto same = [&](const RankTrack& t) { return t.rank == rank && t.host == host; };
    const auto known = std::find_if(tracks_.begin(), tracks_.end(), same);
    track_of_set_.push_back(static_cast<std::uint32_t>(known - tracks_.begin()));
    if (known != tracks_.end()) continue;
    tracks_.emplace_back();
    tracks_.back().rank = rank;
    tracks_.back().host = host;
  }
  several_ = num_ranks(run_) > 1;
}

void RankTracks::take_executions() {
  for (; executions_ < run_.num_executions(); ++executions_) {
    RankTrack& track = tracks_[track_of_set_[run_.set_of_execution(executions_)]];
    const double time = run_.execution_wall_time(executions_);
    track.in_time = track.in_time && (track.executions.size() == 0 || time >= track.last_time) && std::isfinite(time);
    track.last_time = time;
    track.executions.add(run_, static_cast<std::uint32_t>(executions_));
  }
}

void RankTracks::count_bad() {
  for (RankTrack& track : tracks_) track.bad = 0;
  for (const reader::AlertRef& alert : run_.alerts())
    ++tracks_[track_of_set_[alert.is_execution ? run_.set_of_execution(alert.event) : run_.set_of_trace(alert.event)]]
          .bad;
}

// A process that told no rank is shown if it recorded an execution: it may be what started the others.
void RankTracks::put_in_order() {
  order_.clear();
  for (std::uint32_t i = 0; i < tracks_.size(); ++i)
    if (tracks_[i].rank >= 0 || tracks_[i].executions.size() > 0) order_.push_back(i);
  const auto key = [&](std::uint32_t i) {
    const RankTrack& t = tracks_[i];
    return std::tuple(t.rank < 0, t.rank, std::string_view(t.host));
  };
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  number_of_.assign(tracks_.size(), -1);
  for (std::size_t i = 0; i < order_.size(); ++i) number_of_[order_[i]] = static_cast<std::int32_t>(i);
}

const ExecutionList& RankTracks::by_time(std::size_t number) {
  RankTrack& track = tracks_[order_[number]];
  if (track.in_time) return track.executions;
  if (track.by_time_of == track.executions.size()) return track.by_time;
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < track.executions.size(); ++i)
    if (std::isfinite(run_.execution_wall_time(track.executions[i]))) all.push_back(track.executions[i]);
  std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(run_.execution_wall_time(a), a) < std::tuple(run_.execution_wall_time(b), b);
  });
  track.by_time = {};
  for (const std::uint32_t execution : all) track.by_time.add(run_, execution);
  track.by_time_of = track.executions.size();
  return track.by_time;
}

RankTracks::Place RankTracks::find(std::int64_t execution) const {
  if (!several_ || execution < 0 || static_cast<std::size_t>(execution) >= executions_) return {};
  const std::uint32_t number = track_of_set_[run_.set_of_execution(static_cast<std::size_t>(execution))];
  const ExecutionList& list = tracks_[number].executions;  // ascending
  std::size_t low = 0;
  std::size_t high = list.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (list[middle] < execution)
      low = middle + 1;
    else
      high = middle;
  }
  return {number_of_[number], low};
}

std::size_t RankTracks::memory_bytes() const noexcept {
  return std::accumulate(tracks_.begin(), tracks_.end(), std::size_t{0}, [](std::size_t sum, const RankTrack& t) {
    return sum + t.executions.memory_bytes() + t.by_time.memory_bytes();
  });
}

std::uint32_t num_ranks(const reader::Run& run) {
  std::set<std::int32_t> ranks;
  for (std::size_t set = 0; set < run.num_sets(); ++set)
    if (const std::int32_t rank = run.rank_of_set(set); rank >= 0) ranks.insert(rank);
  return static_cast<std::uint32_t>(ranks.size());
}

std::string host_name_of(const reader::Run& run, std::size_t set) {
  const std::string name = run.host_of_set(set);
  return run.rank_of_set(set) < 0 ? name : name.substr(0, name.rfind(".rank"));
}

}  // namespace nanlens::viewer
