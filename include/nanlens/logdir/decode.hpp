/// @file
/// Bytes to event structs. Never throws on content; unknown fields are skipped; invalid input gives `false`. Of a
/// repeated field, elements beyond its limit (limits.hpp) are not kept.
#pragma once

#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::logdir {

namespace detail {

inline bool set(std::string& to, const WireReader& r) {
  if (r.type() == WireType::length_delimited) to = r.text();
  return true;
}

template <class Message>
bool decode(Bytes bytes, Message& m);
inline bool field(DebugEvent& m, WireReader& r);

template <class T>
bool set_message(std::optional<T>& to, const WireReader& r) {
  if (r.type() != WireType::length_delimited) return true;
  if (!to) to.emplace();
  return decode(r.bytes(), *to);
}

inline bool append_text(std::vector<std::string>& list, const WireReader& r, std::size_t most = limits::elements) {
  if (list.size() < most) list.emplace_back(r.text());
  return true;
}

template <class Message>
bool append_message(std::vector<Message>& list, const WireReader& r, std::size_t most = limits::elements) {
  return list.size() >= most || decode(r.bytes(), list.emplace_back());
}

inline bool field(DebugMetadata& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.tensorflow_version, r);
    case 2: return set(m.file_version, r);
    case 3: return set(m.tfdbg_run_id, r);
    default: return true;
  }
}

inline bool field(SourceFile& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.file_path, r);
    case 2: return set(m.host_name, r);
    case 3: return append_text(m.lines, r, limits::texts);
    default: return true;
  }
}

inline bool field(FileLineCol& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.file_index = r.i32(); return true;
    case 2: m.line = r.i32(); return true;
    case 3: m.col = r.i32(); return true;
    case 4: return set(m.func, r);
    case 5: return set(m.code, r);
    default: return true;
  }
}

inline bool field(StackFrameWithId& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.id, r);
    case 2: return set_message(m.file_line_col, r);
    default: return true;
  }
}

inline bool field(CodeLocation& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.host_name, r);
    case 2: return append_text(m.stack_frame_ids, r);
    default: return true;
  }
}

inline bool field(DebuggedGraph& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.graph_id, r);
    case 2: return set(m.graph_name, r);
    case 3: return append_text(m.instrumented_ops, r);
    case 4: return set(m.original_graph_def, r);
    case 5: return set(m.instrumented_graph_def, r);
    case 6: return set(m.outer_context_id, r);
    default: return true;
  }
}

inline bool field(GraphOpCreation& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.op_type, r);
    case 2: return set(m.op_name, r);
    case 3: return set(m.graph_name, r);
    case 4: return set(m.graph_id, r);
    case 5: return set(m.device_name, r);
    case 6: return append_text(m.input_names, r);
    case 7: m.num_outputs = r.i32(); return true;
    case 8: return set_message(m.code_location, r);
    case 9: r.append_to(m.output_tensor_ids); return true;
    default: return true;
  }
}

inline bool field(DebuggedDevice& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.device_name, r);
    case 2: m.device_id = r.i32(); return true;
    default: return true;
  }
}

inline bool field(TensorDim& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.size = r.i64(); return true;
    case 2: return set(m.name, r);
    default: return true;
  }
}

inline bool field(TensorShapeProto& m, WireReader& r) {
  switch (r.number()) {
    case 2: return append_message(m.dims, r, limits::dimensions);
    case 3: m.unknown_rank = r.u64() != 0; return true;
    default: return true;
  }
}

inline bool field(TensorProto& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.dtype = r.i32(); return true;
    case 2: return set_message(m.shape, r);
    case 3: m.version_number = r.i32(); return true;
    case 4: return set(m.tensor_content, r);
    case 5: r.append_fixed_to(m.float_val); return true;
    case 6: r.append_fixed_to(m.double_val); return true;
    case 7: r.append_to(m.int_val, limits::listed_values); return true;
    case 8: return append_text(m.string_val, r, limits::texts);
    case 9: r.append_fixed_to(m.scomplex_val); return true;
    case 10: r.append_to(m.int64_val, limits::listed_values); return true;
    case 11: r.append_to(m.bool_val, limits::listed_values); return true;
    case 12: r.append_fixed_to(m.dcomplex_val); return true;
    case 13: r.append_to(m.half_val, limits::listed_values); return true;
    case 16: r.append_to(m.uint32_val, limits::listed_values); return true;
    case 17: r.append_to(m.uint64_val, limits::listed_values); return true;
    case 18: return set(m.float8_val, r);
    default: return true;
  }
}

inline bool field(Execution& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.op_type, r);
    case 2: m.num_outputs = r.i32(); return true;
    case 3: return set(m.graph_id, r);
    case 4: r.append_to(m.input_tensor_ids); return true;
    case 5: r.append_to(m.output_tensor_ids); return true;
    case 6: m.tensor_debug_mode = r.i32(); return true;
    case 7: return append_message(m.tensor_protos, r);
    case 8: return set_message(m.code_location, r);
    case 9: r.append_to(m.output_tensor_device_ids); return true;
    default: return true;
  }
}

inline bool field(GraphExecutionTrace& m, WireReader& r) {
  switch (r.number()) {
    case 1: return set(m.tfdbg_context_id, r);
    case 2: return set(m.op_name, r);
    case 3: m.output_slot = r.i32(); return true;
    case 4: m.tensor_debug_mode = r.i32(); return true;
    case 5: return set_message(m.tensor_proto, r);
    case 6: return set(m.device_name, r);
    default: return true;
  }
}

inline bool field(TensorStats& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.min = r.f64(); return true;
    case 2: m.max = r.f64(); return true;
    case 3: m.mean = r.f64(); return true;
    case 4: r.append_to(m.exponent_histogram); return true;
    case 5: m.content_hash = r.u64(); return true;
    case 6: m.outside_source = r.u64() != 0; return true;
    case 7: m.nonfinite_complex = r.u64(); return true;
    default: return true;
  }
}

inline bool field(NanlensExtension& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.thread_id = r.u64(); return true;
    case 2: m.call_id = r.u64(); return true;
    case 3: m.duration_ns = r.u64(); return true;
    case 4: m.dropped_executions = r.u64(); return true;
    case 5: m.dropped_traces = r.u64(); return true;
    case 6: m.fp_flags = static_cast<std::uint32_t>(r.u64()); return true;
    case 7: m.graph_run = r.u64(); return true;
    case 8: return append_message(m.outputs, r);
    case 9: r.append_to(m.variable_ids); return true;
    case 10: r.append_to(m.read_variable_ids); return true;
    default: return true;
  }
}

template <class Message>
bool decode(Bytes bytes, Message& m) {
  WireReader r(bytes);
  while (r.next())
    if (!field(m, r)) return false;
  return !r.failed();
}

// The last member of a oneof wins; the same member twice is merged. That is protobuf's rule.
template <class What>
bool set_what(DebugEvent& m, const WireReader& r) {
  if (r.type() != WireType::length_delimited) return true;
  if (!std::holds_alternative<What>(m.what)) m.what.emplace<What>();
  return decode(r.bytes(), std::get<What>(m.what));
}

inline bool field(DebugEvent& m, WireReader& r) {
  switch (r.number()) {
    case 1: m.wall_time = r.f64(); return true;
    case 2: m.step = r.i64(); return true;
    case static_cast<std::uint32_t>(EventKind::debug_metadata): return set_what<DebugMetadata>(m, r);
    case static_cast<std::uint32_t>(EventKind::source_file): return set_what<SourceFile>(m, r);
    case static_cast<std::uint32_t>(EventKind::stack_frame_with_id): return set_what<StackFrameWithId>(m, r);
    case static_cast<std::uint32_t>(EventKind::graph_op_creation): return set_what<GraphOpCreation>(m, r);
    case static_cast<std::uint32_t>(EventKind::debugged_graph): return set_what<DebuggedGraph>(m, r);
    case static_cast<std::uint32_t>(EventKind::execution): return set_what<Execution>(m, r);
    case static_cast<std::uint32_t>(EventKind::graph_execution_trace): return set_what<GraphExecutionTrace>(m, r);
    case static_cast<std::uint32_t>(EventKind::graph_id): m.what = GraphId{std::string(r.text())}; return true;
    case static_cast<std::uint32_t>(EventKind::debugged_device): return set_what<DebuggedDevice>(m, r);
    case extension_field: return set_message(m.extension, r);
    default: return true;
  }
}

}  // namespace detail

/// Decodes one DebugEvent. False if the bytes are not a valid message; `event` then holds what was read so far.
inline bool decode(Bytes payload, DebugEvent& event) {
  event = {};
  return detail::decode(payload, event);
}

/// The kind of an event, by the oneof's field number.
inline EventKind kind_of(const DebugEvent& event) noexcept {
  return std::visit([](const auto& what) { return detail::kind_of<std::decay_t<decltype(what)>>; }, event.what);
}

}  // namespace nanlens::logdir
