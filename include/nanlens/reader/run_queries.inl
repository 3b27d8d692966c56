// Part of run.hpp: what a run answers.
#pragma once

namespace nanlens::reader {

inline std::optional<ExecutionDetail> Run::execution(std::size_t i) {
  logdir::DebugEvent event;
  if (!logdir::decode(payload(execution_locators_[i], logdir::FileKind::execution), event)) return std::nullopt;
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

inline std::optional<TraceDetail> Run::trace(std::size_t i) {
  logdir::DebugEvent event;
  if (!logdir::decode(payload(trace_locators_[i], logdir::FileKind::graph_execution_traces), event))
    return std::nullopt;
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

inline void Run::link_consumers(std::uint32_t graph) {
  OpConsumers& links = consumers_[graph];
  const Graph& g = graphs_.graphs()[graph];
  for (; links.ops_seen < g.ops.size(); ++links.ops_seen) {
    logdir::DebugEvent event;
    if (!logdir::decode(payload(graphs_.ops()[g.ops[links.ops_seen]].where, logdir::FileKind::graphs), event)) continue;
    const auto* const op = std::get_if<logdir::GraphOpCreation>(&event.what);
    if (op == nullptr) continue;
    for (std::size_t slot = 0; slot < op->input_names.size(); ++slot)
      if (const auto input = parse_tensor_name(op->input_names[slot]))
        links.of_op[graphs_.strings().add(input->op_name)].push_back(
            {input->slot, Consumer{op->op_name, static_cast<std::int32_t>(slot)}});
  }
}

inline std::optional<OpDetail> Run::op(std::uint32_t index) {
  const Op o = graphs_.ops()[index];
  logdir::DebugEvent event;
  if (!o.declared || !logdir::decode(payload(o.where, logdir::FileKind::graphs), event)) return std::nullopt;
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

inline std::vector<std::string> Run::source_lines(std::size_t index) {
  logdir::DebugEvent event;
  if (!logdir::decode(payload(files_[index].where, logdir::FileKind::source_files), event)) return {};
  auto* const file = std::get_if<logdir::SourceFile>(&event.what);
  return file == nullptr ? std::vector<std::string>{} : std::move(file->lines);
}

inline std::optional<StackFrame> Run::frame(const std::string& id) const {
  const auto found = frame_by_id_.find(id);
  if (found == frame_by_id_.end()) return std::nullopt;
  const FrameEntry& entry = frames_[found->second];
  const auto& files = files_of_set_[entry.set];
  if (entry.file_index < 0 || static_cast<std::size_t>(entry.file_index) >= files.size()) return std::nullopt;
  const SourceFileEntry& file = files_[files[static_cast<std::size_t>(entry.file_index)]];
  return StackFrame{file.host_name, file.file_path, entry.line, entry.function};
}

inline std::optional<Alert> Run::alert(const AlertRef& ref) {
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
  const auto detail = execution(ref.event);
  if (!detail) return std::nullopt;
  alert.op_type = detail->event.op_type;
  alert.execution = ref.event;
  std::size_t bad = 0;
  for (std::size_t slot = 0; slot < detail->event.tensor_protos.size(); ++slot) {
    const std::string bytes = logdir::encoded(detail->event.tensor_protos[slot]);
    const auto mode = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    const TensorHealth health =
        tensor_health(mode, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
    if (!health.bad() || bad++ != ref.nth_bad) continue;
    alert.output_slot = static_cast<std::int32_t>(slot);
    alert.health = health;
    return alert;
  }
  return std::nullopt;
}

inline std::vector<std::uint32_t> Run::input_rows(std::size_t row) {
  const auto detail = op(trace_ops_[row]);
  if (!detail) return {};
  const std::uint32_t graph = graphs_.ops()[trace_ops_[row]].graph;
  std::vector<std::uint32_t> rows(detail->event.input_names.size(), none);
  std::vector<std::optional<TensorName>> names;
  std::vector<std::uint32_t> ops;
  for (const auto& input : detail->event.input_names) {
    names.push_back(parse_tensor_name(input));
    ops.push_back(names.back() ? graphs_.find_op(graph, names.back()->op_name) : none);
  }
  std::size_t missing =
      static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](auto op) { return op != none; }));
  const std::uint32_t call = trace_executions_[row];
  constexpr std::size_t farthest = 1'000'000;  // rows of one call; beyond, an input is taken as not on record
  for (std::size_t back = 1; back <= std::min(row, farthest) && missing > 0; ++back) {
    const std::size_t r = row - back;
    if (call != none && trace_executions_[r] != none && trace_executions_[r] < call) break;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (ops[k] == none || rows[k] != none || trace_ops_[r] != ops[k] || trace_executions_[r] != call) continue;
      const auto candidate = trace(r);
      if (!candidate || candidate->event.output_slot != names[k]->slot) continue;
      rows[k] = static_cast<std::uint32_t>(r);
      --missing;
    }
  }
  return rows;
}

inline std::vector<Diagnostic> Run::diagnostics() {
  Diagnostics all = diagnostics_;
  for (auto& set : sets_)
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const SetFile& f = (*set)[static_cast<logdir::FileKind>(i)];
      if (f.file && !f.scanner.tail_fault().empty())
        all.add(f.file->name(), f.scanner.position(), f.scanner.tail_fault());
    }
  const auto add = [&](Locator where, logdir::FileKind kind, std::string message) {
    all.add(sets_[where.set()]->name(kind), where.offset(), std::move(message));
  };
  for (const Graph& g : graphs_.graphs())
    if (!g.declared)
      add(g.where, g.where_file, "graph \"" + std::string(graphs_.text(g.id)) + "\" is referred to but not on record");
  for (const Op& o : graphs_.ops())
    if (!o.declared)
      add(o.where, o.where_file,
          "op \"" + std::string(graphs_.text(o.name)) + "\" has traces but its creation is not on record");
  for (const FrameReference& r : unknown_frames_)
    if (!frame_by_id_.contains(r.id))
      add(r.where, r.file, "stack frame \"" + r.id + "\" is referred to but not on record");
  for (const FrameEntry& f : frames_)
    if (!frame(f.id))
      add(f.where, logdir::FileKind::stack_frames,
          "stack frame \"" + f.id + "\" refers to source file " + std::to_string(f.file_index) +
              ", which is not on record");
  return all.list();
}

}  // namespace nanlens::reader
