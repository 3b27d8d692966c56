// The card of one execution: what went in, what came out.
#include <algorithm>

#include "badges.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

TensorInfo describe_output(RunIndex& index, std::int64_t execution, std::int32_t slot) {
  TensorInfo info;
  info.execution = execution;
  info.slot = slot;
  const auto detail = index.run().execution(static_cast<std::size_t>(execution));
  if (!detail) return info;
  const auto k = static_cast<std::size_t>(slot);
  if (k < detail->event.output_tensor_ids.size()) info.tensor_id = detail->event.output_tensor_ids[k];
  info.name = stripped_name(detail->event.op_type) + ":" + std::to_string(slot);
  if (k < detail->event.tensor_protos.size() && k < detail->debug_tensor_values.size())
    info.badges =
        badges_of(detail->event.tensor_debug_mode, detail->debug_tensor_values[k], &detail->event.tensor_protos[k]);
  else
    info.badges.push_back(missing_badge(Missing::not_recorded));
  info.bad = is_bad(info.badges);
  return info;
}

namespace {

// The row in which a call made the tensor it returned: its last row with the same summary.
std::int64_t row_of_output(RunIndex& index, std::int64_t execution, const TensorInfo& output) {
  constexpr std::int64_t farthest = 4096;
  const auto span = index.rows_of_call(execution);
  if (span.first < 0) return -1;
  const auto detail = index.run().execution(static_cast<std::size_t>(execution));
  const auto k = static_cast<std::size_t>(output.slot);
  if (!detail || k >= detail->debug_tensor_values.size() || !detail->debug_tensor_values[k]) return -1;
  for (std::int64_t row = span.last; row >= std::max(span.first, span.last - farthest); --row) {
    const auto r = static_cast<std::size_t>(row);
    if (index.run().trace_execution(r) != execution) continue;
    const auto trace = index.run().trace(r);
    if (!trace || !trace->debug_tensor_value) continue;
    auto a = *trace->debug_tensor_value;
    auto b = *detail->debug_tensor_values[k];
    if (!a.empty() && !b.empty()) a[0] = b[0] = 0;  // the first number is the tensor's id
    if (a == b) return row;
  }
  return -1;
}

}  // namespace

Card describe_execution(RunIndex& index, std::int64_t execution) {
  Card card;
  reader::Run& run = index.run();
  if (execution < 0 || static_cast<std::size_t>(execution) >= run.num_executions()) return card;
  card.index = execution;
  const auto detail = run.execution(static_cast<std::size_t>(execution));
  if (!detail) {
    card.op_type = "?";
    return card;
  }
  const auto& e = detail->event;
  card.op_type = e.op_type;
  card.function = (run.execution_flags(static_cast<std::size_t>(execution)) & reader::function_flag) != 0;
  if (const std::uint32_t graph = card.function ? index.graph_of(e) : reader::none; graph != reader::none) {
    card.graph_id = index.text(index.graph(graph).id);
    card.graph_name = index.text(index.graph(graph).name);
  }
  if (!e.output_tensor_device_ids.empty()) card.device = index.device(e.output_tensor_device_ids.front());
  if (e.code_location) card.host = e.code_location->host_name;
  card.wall_time = detail->wall_time;
  card.time = index.since_start(detail->wall_time);
  if (detail->extension.duration_ns != 0) card.duration = static_cast<double>(detail->extension.duration_ns) * 1e-9;
  card.mode = e.tensor_debug_mode;
  const auto span = index.rows_of_call(execution);
  card.first_row = span.first;
  card.num_rows = span.count;
  const std::uint32_t graph = card.function ? index.graph_of(e) : reader::none;
  const std::vector<std::uint32_t> none_known;
  const auto& placeholders = graph == reader::none ? none_known : index.placeholders(graph);
  for (std::size_t k = 0; k < e.input_tensor_ids.size(); ++k) {
    TensorInfo info;
    info.badges.push_back(missing_badge(Missing::not_recorded));
    if (const auto producer = index.producer(e.input_tensor_ids[k], execution)) {
      info = describe_output(index, producer->execution, producer->slot);
    } else {
      info.slot = static_cast<std::int32_t>(k);
    }
    info.tensor_id = e.input_tensor_ids[k];
    if (placeholders.size() == e.input_tensor_ids.size()) {
      info.name = index.text(index.op(placeholders[k]).name);
      info.trace = index.row_of(placeholders[k], 0, execution, span.first);
    }
    card.inputs.push_back(std::move(info));
  }
  const std::size_t outputs =
      std::max<std::size_t>(static_cast<std::size_t>(std::clamp(e.num_outputs, 0, 1 << 12)), e.tensor_protos.size());
  for (std::size_t k = 0; k < outputs; ++k) {
    TensorInfo info = describe_output(index, execution, static_cast<std::int32_t>(k));
    if (card.function) info.trace = row_of_output(index, execution, info);
    card.outputs.push_back(std::move(info));
  }
  return card;
}

}  // namespace nanlens::viewer
