/// @file
/// Bytes to event structs. Never throws on content; unknown fields are skipped; invalid input gives `false`. Of a
/// repeated field, elements beyond its limit (limits.hpp) are not kept.
#pragma once

#include <nanlens/config.hpp>
#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

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
  using Tag = tags::DebugMetadata;
  switch (r.tag<Tag>()) {
    case Tag::tensorflow_version: return set(m.tensorflow_version, r);
    case Tag::file_version: return set(m.file_version, r);
    case Tag::tfdbg_run_id: return set(m.tfdbg_run_id, r);
  }
  return true;
}

inline bool field(SourceFile& m, WireReader& r) {
  using Tag = tags::SourceFile;
  switch (r.tag<Tag>()) {
    case Tag::file_path: return set(m.file_path, r);
    case Tag::host_name: return set(m.host_name, r);
    case Tag::lines: return append_text(m.lines, r, limits::texts);
  }
  return true;
}

inline bool field(FileLineCol& m, WireReader& r) {
  using Tag = tags::FileLineCol;
  switch (r.tag<Tag>()) {
    case Tag::file_index: m.file_index = r.i32(); return true;
    case Tag::line: m.line = r.i32(); return true;
    case Tag::col: m.col = r.i32(); return true;
    case Tag::func: return set(m.func, r);
    case Tag::code: return set(m.code, r);
  }
  return true;
}

inline bool field(StackFrameWithId& m, WireReader& r) {
  using Tag = tags::StackFrameWithId;
  switch (r.tag<Tag>()) {
    case Tag::id: return set(m.id, r);
    case Tag::file_line_col: return set_message(m.file_line_col, r);
  }
  return true;
}

inline bool field(CodeLocation& m, WireReader& r) {
  using Tag = tags::CodeLocation;
  switch (r.tag<Tag>()) {
    case Tag::host_name: return set(m.host_name, r);
    case Tag::stack_frame_ids: return append_text(m.stack_frame_ids, r);
  }
  return true;
}

inline bool field(DebuggedGraph& m, WireReader& r) {
  using Tag = tags::DebuggedGraph;
  switch (r.tag<Tag>()) {
    case Tag::graph_id: return set(m.graph_id, r);
    case Tag::graph_name: return set(m.graph_name, r);
    case Tag::instrumented_ops: return append_text(m.instrumented_ops, r);
    case Tag::original_graph_def: return set(m.original_graph_def, r);
    case Tag::instrumented_graph_def: return set(m.instrumented_graph_def, r);
    case Tag::outer_context_id: return set(m.outer_context_id, r);
  }
  return true;
}

inline bool field(GraphOpCreation& m, WireReader& r) {
  using Tag = tags::GraphOpCreation;
  switch (r.tag<Tag>()) {
    case Tag::op_type: return set(m.op_type, r);
    case Tag::op_name: return set(m.op_name, r);
    case Tag::graph_name: return set(m.graph_name, r);
    case Tag::graph_id: return set(m.graph_id, r);
    case Tag::device_name: return set(m.device_name, r);
    case Tag::input_names: return append_text(m.input_names, r);
    case Tag::num_outputs: m.num_outputs = r.i32(); return true;
    case Tag::code_location: return set_message(m.code_location, r);
    case Tag::output_tensor_ids: r.append_to(m.output_tensor_ids); return true;
  }
  return true;
}

inline bool field(DebuggedDevice& m, WireReader& r) {
  using Tag = tags::DebuggedDevice;
  switch (r.tag<Tag>()) {
    case Tag::device_name: return set(m.device_name, r);
    case Tag::device_id: m.device_id = r.i32(); return true;
  }
  return true;
}

inline bool field(TensorDim& m, WireReader& r) {
  using Tag = tags::TensorDim;
  switch (r.tag<Tag>()) {
    case Tag::size: m.size = r.i64(); return true;
    case Tag::name: return set(m.name, r);
  }
  return true;
}

inline bool field(TensorShapeProto& m, WireReader& r) {
  using Tag = tags::TensorShapeProto;
  switch (r.tag<Tag>()) {
    case Tag::dim: return append_message(m.dims, r, limits::dimensions);
    case Tag::unknown_rank: m.unknown_rank = r.u64() != 0; return true;
  }
  return true;
}

inline bool field(TensorProto& m, WireReader& r) {
  using Tag = tags::TensorProto;
  switch (r.tag<Tag>()) {
    case Tag::dtype: m.dtype = r.i32(); return true;
    case Tag::tensor_shape: return set_message(m.shape, r);
    case Tag::version_number: m.version_number = r.i32(); return true;
    case Tag::tensor_content: return set(m.tensor_content, r);
    case Tag::float_val: r.append_fixed_to(m.float_val); return true;
    case Tag::double_val: r.append_fixed_to(m.double_val); return true;
    case Tag::int_val: r.append_to(m.int_val, limits::listed_values); return true;
    case Tag::string_val: return append_text(m.string_val, r, limits::texts);
    case Tag::scomplex_val: r.append_fixed_to(m.scomplex_val); return true;
    case Tag::int64_val: r.append_to(m.int64_val, limits::listed_values); return true;
    case Tag::bool_val: r.append_to(m.bool_val, limits::listed_values); return true;
    case Tag::dcomplex_val: r.append_fixed_to(m.dcomplex_val); return true;
    case Tag::half_val: r.append_to(m.half_val, limits::listed_values); return true;
    case Tag::uint32_val: r.append_to(m.uint32_val, limits::listed_values); return true;
    case Tag::uint64_val: r.append_to(m.uint64_val, limits::listed_values); return true;
    case Tag::float8_val: return set(m.float8_val, r);
  }
  return true;
}

inline bool field(Execution& m, WireReader& r) {
  using Tag = tags::Execution;
  switch (r.tag<Tag>()) {
    case Tag::op_type: return set(m.op_type, r);
    case Tag::num_outputs: m.num_outputs = r.i32(); return true;
    case Tag::graph_id: return set(m.graph_id, r);
    case Tag::input_tensor_ids: r.append_to(m.input_tensor_ids); return true;
    case Tag::output_tensor_ids: r.append_to(m.output_tensor_ids); return true;
    case Tag::tensor_debug_mode: m.tensor_debug_mode = r.i32(); return true;
    case Tag::tensor_protos: return append_message(m.tensor_protos, r);
    case Tag::code_location: return set_message(m.code_location, r);
    case Tag::output_tensor_device_ids: r.append_to(m.output_tensor_device_ids); return true;
  }
  return true;
}

inline bool field(GraphExecutionTrace& m, WireReader& r) {
  using Tag = tags::GraphExecutionTrace;
  switch (r.tag<Tag>()) {
    case Tag::tfdbg_context_id: return set(m.tfdbg_context_id, r);
    case Tag::op_name: return set(m.op_name, r);
    case Tag::output_slot: m.output_slot = r.i32(); return true;
    case Tag::tensor_debug_mode: m.tensor_debug_mode = r.i32(); return true;
    case Tag::tensor_proto: return set_message(m.tensor_proto, r);
    case Tag::device_name: return set(m.device_name, r);
  }
  return true;
}

inline bool field(TensorStats& m, WireReader& r) {
  using Tag = tags::TensorStats;
  switch (r.tag<Tag>()) {
    case Tag::min: m.min = r.f64(); return true;
    case Tag::max: m.max = r.f64(); return true;
    case Tag::mean: m.mean = r.f64(); return true;
    case Tag::exponent_histogram: r.append_to(m.exponent_histogram); return true;
    case Tag::content_hash: m.content_hash = r.u64(); return true;
    case Tag::outside_source: m.outside_source = r.u64() != 0; return true;
    case Tag::nonfinite_complex: m.nonfinite_complex = r.u64(); return true;
    case Tag::norm: m.norm = r.f64(); return true;
  }
  return true;
}

inline bool field(AxisEvidence& m, WireReader& r) {
  using Tag = tags::AxisEvidence;
  switch (r.tag<Tag>()) {
    case Tag::affected: m.affected = r.u64(); return true;
    case Tag::slices: r.append_to(m.slices, limits::dimensions); return true;
  }
  return true;
}

inline bool field(TensorEvidence& m, WireReader& r) {
  using Tag = tags::TensorEvidence;
  switch (r.tag<Tag>()) {
    case Tag::origin: m.origin = static_cast<TensorOrigin>(r.i32()); return true;
    case Tag::looked_at: m.looked_at = r.u64() != 0; return true;
    case Tag::dtype: m.dtype = r.i32(); return true;
    case Tag::shape: r.append_to(m.shape, limits::dimensions); return true;
    case Tag::counts: r.append_to(m.counts, limits::dimensions); return true;
    case Tag::positions: r.append_to(m.positions); return true;
    case Tag::values: r.append_fixed_to(m.values, limits::dimensions); return true;
    case Tag::axes: return append_message(m.axes, r, limits::dimensions);
    case Tag::recorded_id: m.recorded_id = r.i64(); return true;
    case Tag::recorded_run: m.recorded_run = r.u64(); return true;
    case Tag::content: return set(m.content, r);
    case Tag::name: return set(m.name, r);
    case Tag::values_hash: m.values_hash = r.u64(); return true;
    case Tag::written_over: m.written_over = r.u64() != 0; return true;
  }
  return true;
}

inline bool field(Exchange& m, WireReader& r) {
  using Tag = tags::Exchange;
  switch (r.tag<Tag>()) {
    case Tag::kind: m.kind = static_cast<ExchangeKind>(r.u64()); return true;
    case Tag::received: m.received = r.u64() != 0; return true;
    case Tag::per_rank: m.per_rank = r.u64() != 0; return true;
    case Tag::reduction: m.reduction = static_cast<Reduction>(r.u64()); return true;
    case Tag::communicator: m.communicator = r.u64(); return true;
    case Tag::sequence: m.sequence = r.u64(); return true;
    case Tag::rank: m.rank = r.i32(); return true;
    case Tag::size: m.size = r.i32(); return true;
    case Tag::peer: m.peer = r.i32(); return true;
    case Tag::tag: m.tag = r.i32(); return true;
  }
  return true;
}

inline bool field(RuleHit& m, WireReader& r) {
  using Tag = tags::RuleHit;
  switch (r.tag<Tag>()) {
    case Tag::rule: return set(m.rule, r);
    case Tag::level: return set(m.level, r);
    case Tag::expression: return set(m.expression, r);
    case Tag::reason: return set(m.reason, r);
    case Tag::output_slot: m.output_slot = r.i32(); return true;
    case Tag::hits: m.hits = r.u64(); return true;
    case Tag::stopped: m.stopped = r.u64() != 0; return true;
    case Tag::not_followed: m.not_followed = r.u64(); return true;
    case Tag::idle: m.idle = r.u64() != 0; return true;
  }
  return true;
}

inline bool field(NanlensExtension& m, WireReader& r) {
  using Tag = tags::NanlensExtension;
  switch (r.tag<Tag>()) {
    case Tag::thread_id: m.thread_id = r.u64(); return true;
    case Tag::call_id: m.call_id = r.u64(); return true;
    case Tag::duration_ns: m.duration_ns = r.u64(); return true;
    case Tag::dropped_executions: m.dropped_executions = r.u64(); return true;
    case Tag::dropped_traces: m.dropped_traces = r.u64(); return true;
    case Tag::fp_flags: m.fp_flags = static_cast<std::uint32_t>(r.u64()); return true;
    case Tag::graph_run: m.graph_run = r.u64(); return true;
    case Tag::outputs: return append_message(m.outputs, r);
    case Tag::variable_ids: r.append_to(m.variable_ids); return true;
    case Tag::read_variable_ids: r.append_to(m.read_variable_ids); return true;
    case Tag::op_name: return set(m.op_name, r);
    case Tag::input_evidence: return append_message(m.input_evidence, r);
    case Tag::output_evidence: return append_message(m.output_evidence, r);
    case Tag::hits: m.hits = r.u64(); return true;
    case Tag::since_start_ns: m.since_start_ns = r.u64(); return true;
    case Tag::left_out_ops: m.left_out.ops = r.u64(); return true;
    case Tag::left_out_steps: m.left_out.steps = r.u64(); return true;
    case Tag::left_out_ns: m.left_out.ns = r.u64(); return true;
    case Tag::hits_at_least: m.hits_at_least = r.u64() != 0; return true;
    case Tag::exchange: return set_message(m.exchange, r);
    case Tag::rule_hits: return append_message(m.rule_hits, r);
    case Tag::unread_tensors: m.unread_tensors = r.u64(); return true;
    case Tag::circular_buffer_size: m.circular_buffer_size = r.u64(); return true;
  }
  return true;
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
  using Tag = tags::DebugEvent;
  switch (r.tag<Tag>()) {
    case Tag::wall_time: m.wall_time = r.f64(); return true;
    case Tag::step: m.step = r.i64(); return true;
    case Tag::debug_metadata: return set_what<DebugMetadata>(m, r);
    case Tag::source_file: return set_what<SourceFile>(m, r);
    case Tag::stack_frame_with_id: return set_what<StackFrameWithId>(m, r);
    case Tag::graph_op_creation: return set_what<GraphOpCreation>(m, r);
    case Tag::debugged_graph: return set_what<DebuggedGraph>(m, r);
    case Tag::execution: return set_what<Execution>(m, r);
    case Tag::graph_execution_trace: return set_what<GraphExecutionTrace>(m, r);
    case Tag::graph_id: m.what = GraphId{std::string(r.text())}; return true;
    case Tag::debugged_device: return set_what<DebuggedDevice>(m, r);
    case Tag::nanlens: return set_message(m.extension, r);
  }
  return true;
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

}  // namespace nanlens::inline NANLENS_ABI::logdir
