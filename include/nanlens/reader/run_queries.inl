// Part of run.hpp: what a run answers.
#pragma once

#include <nanlens/logdir/decode.hpp>
#include <nanlens/logdir/tensor_values.hpp>

namespace nanlens::reader {

namespace detail {

NANLENS_API TensorValues displayed_values(std::int32_t mode, const logdir::TensorProto& proto) {
  if (!has_debug_values(mode) || proto.dtype == 0) return std::nullopt;
  return logdir::summary_values(proto);
}

}  // namespace detail

NANLENS_API std::optional<ExecutionDetail> Run::execution(std::size_t i) {
  logdir::DebugEvent event;
  if (!decoded(payload(execution_locators_[i], logdir::FileKind::execution), event)) return std::nullopt;
  auto* const what = std::get_if<logdir::Execution>(&event.what);
  if (what == nullptr) return std::nullopt;
  ExecutionDetail detail;
  detail.wall_time = event.wall_time;
  for (const auto& proto : what->tensor_protos)
    detail.debug_tensor_values.push_back(detail::displayed_values(what->tensor_debug_mode, proto));
  if (event.extension) detail.extension = std::move(*event.extension);
  detail.event = std::move(*what);
  return detail;
}

NANLENS_API std::optional<TraceDetail> Run::trace(std::size_t i) {
  logdir::DebugEvent event;
  if (!decoded(payload(trace_locators_[i], logdir::FileKind::graph_execution_traces), event)) return std::nullopt;
  auto* const what = std::get_if<logdir::GraphExecutionTrace>(&event.what);
  if (what == nullptr) return std::nullopt;
  const Op& op = graphs_.ops()[trace_ops_[i]];
  TraceDetail detail;
  detail.wall_time = event.wall_time;
  detail.op_type = graphs_.text(op.type);
  detail.graph_ids = graphs_.graph_ids(op.graph);
  detail.execution = trace_executions_[i];
  if (what->tensor_proto)
    detail.debug_tensor_value = detail::displayed_values(what->tensor_debug_mode, *what->tensor_proto);
  if (event.extension) detail.extension = std::move(*event.extension);
  detail.event = std::move(*what);
  return detail;
}

NANLENS_API void Run::link_consumers(std::uint32_t graph) {
  OpConsumers& links = consumers_[graph];
  const Graph& g = graphs_.graphs()[graph];
  for (; links.ops_seen < g.ops.size(); ++links.ops_seen) {
    logdir::DebugEvent event;
    if (!decoded(payload(graphs_.ops()[g.ops[links.ops_seen]].where, logdir::FileKind::graphs), event)) continue;
    const auto* const op = std::get_if<logdir::GraphOpCreation>(&event.what);
    if (op == nullptr) continue;
    for (std::size_t slot = 0; slot < op->input_names.size(); ++slot)
      if (const auto input = parse_tensor_name(op->input_names[slot]);
          input && input->op_name.size() <= limits::name_bytes)
        links.of_op[graphs_.strings().add(input->op_name)].push_back(
            {input->slot, Consumer{op->op_name, static_cast<std::int32_t>(slot)}});
  }
}

NANLENS_API std::optional<logdir::GraphOpCreation> Run::op_creation(std::uint32_t index) {
  const Op& o = graphs_.ops()[index];
  logdir::DebugEvent event;
  if (!o.declared || !decoded(payload(o.where, logdir::FileKind::graphs), event)) return std::nullopt;
  auto* const what = std::get_if<logdir::GraphOpCreation>(&event.what);
  return what == nullptr ? std::nullopt : std::optional(std::move(*what));
}

NANLENS_API std::optional<OpDetail> Run::op(std::uint32_t index) {
  const Op o = graphs_.ops()[index];
  logdir::DebugEvent event;
  if (!o.declared || !decoded(payload(o.where, logdir::FileKind::graphs), event)) return std::nullopt;
  auto* const what = std::get_if<logdir::GraphOpCreation>(&event.what);
  if (what == nullptr) return std::nullopt;
  OpDetail detail;
  detail.wall_time = event.wall_time;
  detail.event = std::move(*what);
  detail.graph_ids = graphs_.graph_ids(o.graph);
  detail.consumers.resize(static_cast<std::size_t>(std::clamp(detail.event.num_outputs, 0, 1 << 16)));
  link_consumers(o.graph);
  for (const auto& [slot, consumer] : consumers_[o.graph].of_op[o.name])
    if (static_cast<std::size_t>(slot) < detail.consumers.size())
      detail.consumers[static_cast<std::size_t>(slot)].push_back(consumer);
  return detail;
}

NANLENS_API std::vector<std::string> Run::source_lines(std::size_t index) {
  logdir::DebugEvent event;
  if (!decoded(payload(files_[index].where, logdir::FileKind::source_files), event)) return {};
  auto* const file = std::get_if<logdir::SourceFile>(&event.what);
  return file == nullptr ? std::vector<std::string>{} : std::move(file->lines);
}

NANLENS_API std::optional<StackFrame> Run::frame(const std::string& id) const {
  const auto found = frame_by_id_.find(id);
  if (found == frame_by_id_.end()) return std::nullopt;
  const FrameEntry& entry = frames_[found->second];
  const auto& files = files_of_set_[entry.set];
  if (entry.file_index < 0 || static_cast<std::size_t>(entry.file_index) >= files.size()) return std::nullopt;
  const SourceFileEntry& file = files_[files[static_cast<std::size_t>(entry.file_index)]];
  return StackFrame{file.host_name, file.file_path, entry.line, entry.function};
}

NANLENS_API std::optional<Alert> Run::alert(const AlertRef& ref) {
  Alert alert;
  alert.wall_time = ref.wall_time;
  if (!ref.is_execution) {
    const auto digest =
        reader::trace_digest(payload(trace_locators_[ref.event], logdir::FileKind::graph_execution_traces));
    const auto detail = trace(ref.event);
    if (!digest || !detail) return std::nullopt;
    alert.graph_id = detail->event.tfdbg_context_id;
    alert.op_name = detail->event.op_name;
    alert.op_type = detail->op_type;
    alert.output_slot = detail->event.output_slot;
    alert.health = digest->health;
    alert.trace = ref.event;
    alert.execution = none;
    return alert;
  }
  if (!look_at_outputs(ref.event) || ref.nth_bad >= bad_outputs_.list.size()) return std::nullopt;
  alert.op_type = graphs_.text(bad_outputs_.op_type);
  alert.execution = ref.event;
  std::tie(alert.output_slot, alert.health) = bad_outputs_.list[ref.nth_bad];
  return alert;
}

// An execution with very many bad outputs is asked for each of them: its record is read once.
NANLENS_API bool Run::look_at_outputs(std::uint32_t execution) {
  if (bad_outputs_.execution == execution) return true;
  bad_outputs_.execution = none;
  bad_outputs_.list.clear();
  const bool done = with_memory([&] {
    ExecutionLinks links;
    if (!execution_links(execution, links)) return;
    for (std::size_t slot = 0; slot < links.outputs.size(); ++slot)
      if (links.outputs[slot].bad())
        bad_outputs_.list.emplace_back(static_cast<std::int32_t>(slot), links.outputs[slot]);
    bad_outputs_.op_type = graphs_.strings().add(links.op_type);
    bad_outputs_.execution = execution;
  });
  return done && bad_outputs_.execution == execution;
}

NANLENS_API bool Run::decoded(Bytes payload, logdir::DebugEvent& event) {
  bool valid = false;
  return with_memory([&] { valid = logdir::decode(payload, event); }) && valid;
}

NANLENS_API std::vector<Diagnostic> Run::diagnostics() {
  Diagnostics all = diagnostics_;
  if (out_of_memory_) all.add("", 0, FaultId::no_memory_for_run);
  for (auto& set : sets_) {
    if (!set->metadata.readable) all.add(set->name(logdir::FileKind::metadata), 0, FaultId::no_metadata);
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const SetFile& f = (*set)[static_cast<logdir::FileKind>(i)];
      if (f.file && !f.scanner.tail_fault().empty())
        all.add(f.file->name(), f.scanner.position(), f.scanner.tail_fault());
    }
  }
  const auto add = [&](Locator where, logdir::FileKind kind, Fault what) {
    all.add(sets_[where.set()]->name(kind), where.offset(), std::move(what));
  };
  for (const Graph& g : graphs_.graphs())
    if (!g.declared) add(g.where, g.where_file, {FaultId::graph_missing, {{"name", graphs_.text(g.id)}}});
  for (const std::uint32_t g : graphs_.too_deep())
    add(graphs_.graphs()[g].where, graphs_.graphs()[g].where_file,
        {FaultId::graph_too_deep, {{"name", graphs_.text(graphs_.graphs()[g].id)}, {"n", limits::graph_nesting}}});
  for (const Op& o : graphs_.ops())
    if (!o.declared) add(o.where, o.where_file, {FaultId::op_missing, {{"name", graphs_.text(o.name)}}});
  for (const FrameReference& r : unknown_frames_)
    if (!frame_by_id_.contains(r.id)) add(r.where, r.file, {FaultId::frame_missing, {{"name", r.id}}});
  if (unknown_frames_.size() == Diagnostics::limit) all.add("", 0, FaultId::frames_not_sought);
  for (const FrameEntry& f : frames_)
    if (!frame(f.id))
      add(f.where, logdir::FileKind::stack_frames,
          {FaultId::frame_without_file, {{"name", f.id}, {"n", f.file_index}}});
  return all.list();
}

}  // namespace nanlens::reader
