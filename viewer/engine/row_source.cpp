#include "row_source.hpp"

#include <algorithm>

#include "badges.hpp"

namespace nanlens::viewer {

bool RowSource::update(bool loading) {
  const reader::Run& run = index_.run();
  const bool now = run.num_traces() == 0 && run.num_executions() > 0 && (!loading || of_executions_);
  return std::exchange(of_executions_, now) != now;
}

causes::EventRef RowSource::event(std::uint64_t row) const {
  const auto i = static_cast<std::uint32_t>(row);
  if (!of_executions_) return causes::trace_event(i);
  reader::ExecutionLinks links;
  std::size_t slot = 0;
  if ((flags(row) & reader::bad_flags) != 0 && index_.run().execution_links(i, links)) {
    const auto bad = std::find_if(links.outputs.begin(), links.outputs.end(), [](const auto& h) { return h.bad(); });
    if (bad != links.outputs.end()) slot = static_cast<std::size_t>(bad - links.outputs.begin());
  }
  return causes::execution_event(i, slot);
}

std::uint8_t RowSource::flags(std::uint64_t row) const {
  const auto i = static_cast<std::size_t>(row);
  return of_executions_ ? index_.run().execution_flags(i) : index_.run().trace_flags(i);
}

std::uint32_t RowSource::call(std::uint64_t row) const {
  return of_executions_ ? reader::none : index_.run().trace_execution(static_cast<std::size_t>(row));
}

std::int32_t RowSource::job_rank(std::uint64_t row) const {
  const reader::Run& run = index_.run();
  const auto i = static_cast<std::size_t>(row);
  return run.rank_of_set(of_executions_ ? run.set_of_execution(i) : run.set_of_trace(i));
}

RowSource::Names RowSource::names_of_execution(std::uint64_t row) const {
  reader::ExecutionLinks links;
  if (!index_.run().execution_links(static_cast<std::size_t>(row), links)) return {};
  return names_of(links.op_type, links.op_name);
}

RowSource::Names RowSource::names_of(std::string_view op_type, std::string_view op_name) {
  std::string type = stripped_name(std::string(op_type));
  std::string name = op_name.empty() ? type : std::string(op_name);
  return {std::move(name), std::move(type)};
}

Row RowSource::recorded(std::uint64_t row) const {
  Row r;
  r.index = row;
  r.is_execution = of_executions_;
  r.bad = (flags(row) & reader::bad_flags) != 0;
  r.job_rank = job_rank(row);
  if (of_executions_)
    fill_execution(static_cast<std::size_t>(row), r);
  else
    fill_trace(static_cast<std::size_t>(row), r);
  if (r.badges.empty()) r.badges.push_back(missing_badge(Missing::unreadable));
  return r;
}

void RowSource::fill_trace(std::size_t i, Row& row) const {
  reader::Run& run = index_.run();
  const reader::Op& op = index_.op(run.trace_op(i));
  row.op_name = index_.text(op.name);
  row.op_type = index_.text(op.type);
  row.graph_id = index_.text(index_.graph(op.graph).id);
  row.graph_name = index_.text(index_.graph(op.graph).name);
  const auto detail = run.trace(i);
  if (!detail) return;
  row.slot = detail->event.output_slot;
  row.device = detail->event.device_name;
  row.time = index_.since_start(detail->wall_time);
  row.badges = badges_of(*detail);
}

void RowSource::fill_execution(std::size_t i, Row& row) const {
  row.execution = static_cast<std::int64_t>(i);
  const auto detail = index_.run().execution(i);
  if (!detail) return;
  Names names = names_of(detail->event.op_type, detail->extension.op_name);
  row.op_name = std::move(names.name);
  row.op_type = std::move(names.type);
  const std::size_t slot = event(i).slot;
  row.slot = static_cast<std::int32_t>(slot);
  row.time = index_.since_start(detail->wall_time);
  const auto& devices = detail->event.output_tensor_device_ids;
  if (slot < devices.size()) row.device = index_.device_of_execution(i, devices[slot]);
  if (slot < detail->event.tensor_protos.size() && slot < detail->debug_tensor_values.size())
    row.badges = badges_of(detail->event.tensor_debug_mode, detail->debug_tensor_values[slot],
                           &detail->event.tensor_protos[slot]);
  if (row.badges.empty()) row.badges.push_back(missing_badge(Missing::not_recorded));
}

}  // namespace nanlens::viewer
