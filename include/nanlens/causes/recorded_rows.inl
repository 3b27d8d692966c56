// Part of recorded_rows.hpp.
#pragma once

#include <algorithm>
#include <iterator>

namespace nanlens::causes {

NANLENS_API EventRef RecordedRows::find(std::int64_t tensor_id, std::uint64_t graph_run, EventRef before) {
  index();
  const std::size_t set = model_.set_of(before);
  const auto after = ops_.upper_bound({set, tensor_id});
  if (after == ops_.begin() || std::prev(after)->first.first != set) return {};
  const auto& [key, op] = *std::prev(after);
  const std::uint64_t slot = static_cast<std::uint64_t>(tensor_id) - static_cast<std::uint64_t>(key.second);
  if (slot >= model_.graphs().op(op).num_outputs) return {};
  const EventRef bad = find_bad(op, static_cast<std::uint32_t>(slot), graph_run, before);
  return bad.exists() ? bad : find_near(op, static_cast<std::uint32_t>(slot), graph_run, before);
}

NANLENS_API EventRef RecordedRows::find_bad(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run,
                                            EventRef before) {
  const auto found = bad_events_.find({model_.set_of(before), false, op});
  if (found == bad_events_.end()) return {};
  const auto& rows = found->second;
  const double time = model_.time(before);
  auto row = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t r) {
    return before.is_execution ? !(model_.time(trace_event(r)) > time) : r < before.index;
  });
  for (std::size_t tried = 0; row != rows.begin() && tried < limits::rows_alike; ++tried) {
    model_.spend(1);
    const auto digest = model_.run().trace_digest(*--row);
    if (digest && digest->graph_run == graph_run && static_cast<std::uint32_t>(digest->output_slot) == slot)
      return trace_event(*row);
  }
  return {};
}

NANLENS_API EventRef RecordedRows::find_near(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run,
                                             EventRef before) {
  const std::uint32_t from = before.is_execution ? before.index : model_.owners().owner(before.index);
  if (from == none) return {};
  const std::uint32_t graph = model_.graphs().graph_of(op);
  for (std::uint32_t back = 0; back <= limits::calls_back && back <= from; ++back) {
    model_.spend(1);
    if (!model_.calls().is_call(from - back)) continue;
    Window& window = model_.window(from - back);
    const auto runs = window.runs_by_number(graph);
    const auto run = std::lower_bound(runs.begin(), runs.end(), std::pair(graph_run, std::uint32_t{0}));
    if (run == runs.end() || run->first != graph_run) continue;
    const std::uint32_t row = window.find(model_.graphs().tensor(op, slot), run->second);
    const bool is_before = row != none && (before.is_execution || row < before.index);  // not an argument's own row
    return is_before ? trace_event(row) : EventRef{};
  }
  return {};
}

NANLENS_API RecordedRows::Site RecordedRows::site_of(EventRef event) const {
  const std::uint32_t op =
      event.is_execution ? model_.calls().op_type_number(event.index) : model_.run().trace_op(event.index);
  return {model_.set_of(event), event.is_execution, op};
}

NANLENS_API bool RecordedRows::same_output(EventRef event, EventRef before) const {
  if (event.is_execution) return model_.bad(before);
  if (model_.graphs().op(model_.run().trace_op(event.index)).num_outputs < 2) return true;
  const auto one = model_.run().trace_digest(event.index);
  const auto other = model_.run().trace_digest(before.index);
  return one && other && one->output_slot == other->output_slot;
}

NANLENS_API void RecordedRows::index() {
  const auto& ops = model_.run().definitions().ops();
  for (; ops_indexed_ < ops.size(); ++ops_indexed_) {
    const auto op = static_cast<std::uint32_t>(ops_indexed_);
    const std::size_t set = model_.graphs().set_of(model_.graphs().graph_of(op));
    ops_.emplace(std::pair(set, std::int64_t{model_.graphs().op(op).first_tensor_id}), op);
  }
  const auto& alerts = model_.run().alerts();
  const std::pair size(alerts.size(), model_.calls().size());
  if (std::exchange(indexed_, size) == size) return;
  bad_events_.clear();
  first_bad_.clear();
  for (const reader::AlertRef& alert : alerts) {
    if (alert.nth_bad > 0 || (alert.is_execution && alert.event >= size.second)) continue;
    const EventRef event{alert.event, 0, alert.is_execution};
    bad_events_[site_of(event)].push_back(alert.event);
    double& first = first_bad_.try_emplace(model_.set_of(event), alert.wall_time).first->second;
    first = std::min(first, alert.wall_time);
  }
  for (auto& [site, events] : bad_events_) std::sort(events.begin(), events.end());
}

}  // namespace nanlens::causes
