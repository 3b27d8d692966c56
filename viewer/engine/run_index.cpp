#include "run_index.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "time_axis.hpp"

namespace nanlens::viewer {

void RunIndex::refresh() {
  calls_.assign(run_.num_executions(), {});
  for (std::size_t row = 0; row < run_.num_traces(); ++row) {
    const std::uint32_t execution = run_.trace_execution(row);
    if (execution >= calls_.size()) continue;
    Span& span = calls_[execution];
    if (span.first < 0) span.first = static_cast<std::int64_t>(row);
    span.last = static_cast<std::int64_t>(row);
    ++span.count;
  }
}

RunIndex::Span RunIndex::rows_of_call(std::int64_t execution) const {
  if (execution < 0 || static_cast<std::size_t>(execution) >= calls_.size()) return {};
  return calls_[static_cast<std::size_t>(execution)];
}

std::int64_t RunIndex::row_of(std::uint32_t op, std::int32_t slot, std::int64_t execution, std::int64_t near) {
  constexpr std::int64_t farthest = 200'000;  // rows without a call: how far to look
  Span span = rows_of_call(execution);
  if (execution < 0) {
    span.first = std::max<std::int64_t>(0, near - farthest);
    span.last = std::min<std::int64_t>(static_cast<std::int64_t>(run_.num_traces()) - 1, near + farthest);
  }
  if (span.first < 0) return -1;
  const std::uint32_t call = execution < 0 ? reader::none : static_cast<std::uint32_t>(execution);
  const bool only_slot = this->op(op).num_outputs <= 1;
  const auto matches = [&](std::int64_t row) {
    const auto r = static_cast<std::size_t>(row);
    if (run_.trace_op(r) != op || run_.trace_execution(r) != call) return false;
    if (only_slot) return true;
    const auto detail = run_.trace(r);
    return detail && detail->event.output_slot == slot;
  };
  const std::int64_t middle = std::clamp(near, span.first, span.last);
  for (std::int64_t row = middle; row >= span.first; --row)
    if (matches(row)) return row;
  for (std::int64_t row = middle + 1; row <= span.last; ++row)
    if (matches(row)) return row;
  return -1;
}

std::optional<Producer> RunIndex::find_backwards(std::int64_t tensor_id, std::int64_t execution, std::int64_t most) {
  for (std::int64_t i = execution; i-- > std::max<std::int64_t>(0, execution - most);) {
    const auto detail = run_.execution(static_cast<std::size_t>(i));
    if (!detail) continue;
    const auto& ids = detail->event.output_tensor_ids;
    if (const auto at = std::find(ids.begin(), ids.end(), tensor_id); at != ids.end())
      return Producer{static_cast<std::uint32_t>(i), static_cast<std::int32_t>(at - ids.begin())};
  }
  return std::nullopt;
}

std::optional<Producer> RunIndex::producer(std::int64_t tensor_id, std::int64_t execution) {
  execution = std::clamp<std::int64_t>(execution, 0, static_cast<std::int64_t>(run_.num_executions()));
  // Most tensors are used soon after they were made; only for others all executions before are looked through, once.
  constexpr std::int64_t soon = 256;
  if (const auto found = find_backwards(tensor_id, execution, soon)) return found;
  for (; produced_ < static_cast<std::size_t>(execution); ++produced_)
    if (const auto detail = run_.execution(produced_))
      for (std::size_t slot = 0; slot < detail->event.output_tensor_ids.size(); ++slot)
        producers_.insert_or_assign(detail->event.output_tensor_ids[slot],
                                    Producer{static_cast<std::uint32_t>(produced_), static_cast<std::int32_t>(slot)});
  const auto found = producers_.find(tensor_id);
  if (found == producers_.end()) return std::nullopt;
  if (found->second.execution < execution) return found->second;
  // The id was given again later: ids are unique in TensorFlow's logdirs, so this is rare.
  return find_backwards(tensor_id, execution, execution);
}

const std::vector<Gap>& RunIndex::gaps() {
  if (std::exchange(gaps_at_executions_, run_.num_executions()) == run_.num_executions()) return gaps_;
  std::vector<double> times;
  times.reserve(run_.num_executions() + 1);
  times.push_back(0);  // the run begins before its first execution
  for (std::size_t i = 0; i < run_.num_executions(); ++i) times.push_back(since_start(run_.execution_wall_time(i)));
  std::sort(times.begin(), times.end());  // several hosts need not be in order
  gaps_ = find_gaps(times);
  return gaps_;
}

std::string RunIndex::device(std::int32_t id) const {
  for (const auto& device : run_.devices())
    if (device.device_id == id) return device.device_name;
  return {};
}

std::uint32_t RunIndex::graph_of(const logdir::Execution& execution) {
  if (!execution.graph_id.empty())
    for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g)
      if (run_.definitions().text(graph(g).id) == execution.graph_id) return g;
  const std::string name = stripped_name(execution.op_type);
  if (name == execution.op_type) return reader::none;
  std::uint32_t found = reader::none;
  for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g) {
    if (run_.definitions().text(graph(g).name) != name) continue;
    if (found != reader::none) return reader::none;
    found = g;
  }
  return found;
}

const std::vector<std::uint32_t>& RunIndex::placeholders(std::uint32_t graph) {
  const std::size_t ops = run_.definitions().ops().size();
  if (ops != placeholders_at_ops_) placeholders_.clear();
  placeholders_at_ops_ = ops;
  auto& list = placeholders_[graph];
  if (list.empty())
    for (const std::uint32_t op : this->graph(graph).ops)
      if (run_.definitions().text(this->op(op).type) == "Placeholder") list.push_back(op);
  return list;
}

std::string stripped_name(const std::string& op_type) {
  std::string_view name = op_type;
  for (const std::string_view prefix : {"__forward_", "__backward_", "__inference_"})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      const std::size_t digits = name.find_last_not_of("0123456789");
      if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_')
        name = name.substr(0, digits);
      break;
    }
  return std::string(name);
}

}  // namespace nanlens::viewer
