/// @file
/// What evidence names: the rows that the memory of an op's tensor had been recorded as before, and where they are not
/// on record, what the op had made before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <nanlens/causes/model.hpp>

namespace nanlens::causes {

/// Finds the row of a graph's tensor by its id and the run of its graph, as nanlens' logdirs number them, in whichever
/// call it was made.
class RecordedRows {
 public:
  explicit RecordedRows(Model& model) : model_(model) {}

  /// The row, before an event of the same process; does not exist if it is neither among the last limits::rows_alike
  /// bad ones of its op, nor among those of the last few calls.
  [[nodiscard]] EventRef find(std::int64_t tensor_id, std::uint64_t graph_run, EventRef before);

  /// The last bad output before an event, at its output of its op, or of eager ops of its type, for which
  /// `fits(EventRef)` says true; does not exist if that is none of the last limits::rows_alike.
  template <class Fits>
  [[nodiscard]] EventRef last_bad_like(EventRef event, Fits&& fits) {
    index();
    const auto found = bad_events_.find(site_of(event));
    if (found == bad_events_.end()) return {};
    const auto& events = found->second;
    auto i = static_cast<std::size_t>(std::lower_bound(events.begin(), events.end(), event.index) - events.begin());
    for (std::size_t tried = 0; i-- > 0 && tried < limits::rows_alike; ++tried) {
      model_.spend(1);
      const EventRef before{events[i], event.slot, event.is_execution};
      if (same_output(event, before) && fits(before)) return before;
    }
    return {};
  }
  /// Was anything that the event's process recorded bad before it?
  [[nodiscard]] bool any_bad_before(EventRef event) {
    index();
    const auto first = first_bad_.find(model_.set_of(event));
    return first != first_bad_.end() && first->second < model_.time(event);
  }

 private:
  // A process, and its op or its type of eager ops.
  using Site = std::tuple<std::size_t, bool, std::uint32_t>;
  [[nodiscard]] Site site_of(EventRef event) const;
  [[nodiscard]] bool same_output(EventRef event, EventRef before) const;
  [[nodiscard]] EventRef find_bad(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run, EventRef before);
  [[nodiscard]] EventRef find_near(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run, EventRef before);
  void index();

  Model& model_;
  std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> ops_;  // by process and first tensor
  std::map<Site, std::vector<std::uint32_t>> bad_events_;              // rows, or executions
  std::map<std::size_t, double> first_bad_;                            // by process
  std::size_t ops_indexed_ = 0;
  std::pair<std::size_t, std::size_t> indexed_;  // alerts and calls
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/recorded_rows.inl>
#endif
