// The card of one execution: what went in, what came out.
#include <algorithm>

#include "badges.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

using causes::EventRef;

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

void add_inputs(RunIndex& index, Explain& explain, const logdir::Execution& execution, std::uint32_t graph,
                Card& card) {
  const auto names = explain.arguments(graph);
  const auto ids = execution.input_tensor_ids;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    TensorInfo info;
    const EventRef producer = explain.producer_of(ids[k], card.index);
    if (producer.exists()) {
      info = describe_output(index, producer.index, producer.slot);
    } else {
      info.badges.push_back(missing_badge(Missing::not_recorded));
      info.slot = static_cast<std::int32_t>(k);
    }
    info.tensor_id = ids[k];
    if (names.size() == ids.size()) {
      info.name = index.text(index.op(names[k]).name);
      Focus call;
      call.execution = card.index;
      info.trace = explain.row_near(call, names[k], 0);
    }
    card.inputs.push_back(std::move(info));
  }
}

}  // namespace

Card describe_execution(RunIndex& index, Explain& explain, std::int64_t execution) {
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
  const RankTracks::Place place = index.ranks().find(execution);
  card.job_rank = run.rank_of_set(run.set_of_execution(static_cast<std::size_t>(execution)));
  card.track = place.track;
  if (place.track >= 0) card.place = static_cast<std::int64_t>(place.at);
  card.op_type = e.op_type;
  card.op_name = detail->extension.op_name;
  card.function = (run.execution_flags(static_cast<std::size_t>(execution)) & reader::function_flag) != 0;
  const std::uint32_t graph = card.function ? explain.graph_of_call(execution) : reader::none;
  if (graph != reader::none) {
    card.graph_id = index.text(index.graph(graph).id);
    card.graph_name = index.text(index.graph(graph).name);
  }
  if (!e.output_tensor_device_ids.empty())
    card.device = index.device_of_execution(static_cast<std::size_t>(execution), e.output_tensor_device_ids.front());
  if (e.code_location) card.host = e.code_location->host_name;
  card.wall_time = detail->wall_time;
  card.time = index.since_start(detail->wall_time);
  if (detail->extension.duration_ns != 0) card.duration = static_cast<double>(detail->extension.duration_ns) * 1e-9;
  card.mode = e.tensor_debug_mode;
  const auto span = index.rows_of_call(execution);
  card.first_row = span.first;
  card.num_rows = span.count;
  add_inputs(index, explain, e, graph, card);
  const std::size_t outputs =
      std::max<std::size_t>(static_cast<std::size_t>(std::clamp(e.num_outputs, 0, 1 << 12)), e.tensor_protos.size());
  for (std::size_t k = 0; k < outputs; ++k) {
    TensorInfo info = describe_output(index, execution, static_cast<std::int32_t>(k));
    if (card.function) info.trace = explain.row_behind(execution, info.slot);
    card.outputs.push_back(std::move(info));
  }
  return card;
}

}  // namespace nanlens::viewer
