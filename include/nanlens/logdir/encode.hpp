/// @file
/// Event structs to bytes. Fields go out in ascending order, repeated numbers packed and defaults left out, so that the
/// bytes equal those of TensorFlow's own serializer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

namespace detail {

template <class T>
std::span<const T> items(const std::vector<T>& v) noexcept {
  return v;
}

inline void encode(WireWriter& w, const DebugMetadata& m) {
  using Tag = tags::DebugMetadata;
  w.field(Tag::tensorflow_version, m.tensorflow_version);
  w.field(Tag::file_version, m.file_version);
  w.field(Tag::tfdbg_run_id, m.tfdbg_run_id);
}

inline void encode(WireWriter& w, const SourceFile& m) {
  using Tag = tags::SourceFile;
  w.field(Tag::file_path, m.file_path);
  w.field(Tag::host_name, m.host_name);
  for (const auto& line : m.lines) w.element(Tag::lines, line);
}

inline void encode(WireWriter& w, const FileLineCol& m) {
  using Tag = tags::FileLineCol;
  w.field(Tag::file_index, std::int64_t{m.file_index});
  w.field(Tag::line, std::int64_t{m.line});
  w.field(Tag::col, std::int64_t{m.col});
  w.field(Tag::func, m.func);
  w.field(Tag::code, m.code);
}

inline void encode(WireWriter& w, const StackFrameWithId& m) {
  using Tag = tags::StackFrameWithId;
  w.field(Tag::id, m.id);
  if (m.file_line_col) w.message(Tag::file_line_col, [&](WireWriter& sub) { encode(sub, *m.file_line_col); });
}

inline void encode(WireWriter& w, const CodeLocation& m) {
  using Tag = tags::CodeLocation;
  w.field(Tag::host_name, m.host_name);
  for (const auto& id : m.stack_frame_ids) w.element(Tag::stack_frame_ids, id);
}

inline void encode(WireWriter& w, const DebuggedGraph& m) {
  using Tag = tags::DebuggedGraph;
  w.field(Tag::graph_id, m.graph_id);
  w.field(Tag::graph_name, m.graph_name);
  for (const auto& op : m.instrumented_ops) w.element(Tag::instrumented_ops, op);
  w.field(Tag::original_graph_def, m.original_graph_def);
  w.field(Tag::instrumented_graph_def, m.instrumented_graph_def);
  w.field(Tag::outer_context_id, m.outer_context_id);
}

inline void encode(WireWriter& w, const GraphOpCreation& m) {
  using Tag = tags::GraphOpCreation;
  w.field(Tag::op_type, m.op_type);
  w.field(Tag::op_name, m.op_name);
  w.field(Tag::graph_name, m.graph_name);
  w.field(Tag::graph_id, m.graph_id);
  w.field(Tag::device_name, m.device_name);
  for (const auto& name : m.input_names) w.element(Tag::input_names, name);
  w.field(Tag::num_outputs, std::int64_t{m.num_outputs});
  if (m.code_location) w.message(Tag::code_location, [&](WireWriter& sub) { encode(sub, *m.code_location); });
  w.packed(Tag::output_tensor_ids, items(m.output_tensor_ids));
}

inline void encode(WireWriter& w, const DebuggedDevice& m) {
  using Tag = tags::DebuggedDevice;
  w.field(Tag::device_name, m.device_name);
  w.field(Tag::device_id, std::int64_t{m.device_id});
}

inline void encode(WireWriter& w, const TensorDim& m) {
  using Tag = tags::TensorDim;
  w.field(Tag::size, m.size);
  w.field(Tag::name, m.name);
}

inline void encode(WireWriter& w, const TensorShapeProto& m) {
  using Tag = tags::TensorShapeProto;
  for (const auto& dim : m.dims) w.message(Tag::dim, [&](WireWriter& sub) { encode(sub, dim); });
  w.field(Tag::unknown_rank, std::int64_t{m.unknown_rank});
}

inline void encode(WireWriter& w, const TensorProto& m) {
  using Tag = tags::TensorProto;
  w.field(Tag::dtype, std::int64_t{m.dtype});
  if (m.shape) w.message(Tag::tensor_shape, [&](WireWriter& sub) { encode(sub, *m.shape); });
  w.field(Tag::version_number, std::int64_t{m.version_number});
  w.field(Tag::tensor_content, m.tensor_content);
  w.packed_fixed(Tag::float_val, items(m.float_val));
  w.packed_fixed(Tag::double_val, items(m.double_val));
  w.packed(Tag::int_val, items(m.int_val));
  for (const auto& s : m.string_val) w.element(Tag::string_val, s);
  w.packed_fixed(Tag::scomplex_val, items(m.scomplex_val));
  w.packed(Tag::int64_val, items(m.int64_val));
  w.packed(Tag::bool_val, items(m.bool_val));
  w.packed_fixed(Tag::dcomplex_val, items(m.dcomplex_val));
  w.packed(Tag::half_val, items(m.half_val));
  w.packed(Tag::uint32_val, items(m.uint32_val));
  w.packed(Tag::uint64_val, items(m.uint64_val));
  w.field(Tag::float8_val, m.float8_val);
}

inline void encode(WireWriter& w, const Execution& m) {
  using Tag = tags::Execution;
  w.field(Tag::op_type, m.op_type);
  w.field(Tag::num_outputs, std::int64_t{m.num_outputs});
  w.field(Tag::graph_id, m.graph_id);
  w.packed(Tag::input_tensor_ids, items(m.input_tensor_ids));
  w.packed(Tag::output_tensor_ids, items(m.output_tensor_ids));
  w.field(Tag::tensor_debug_mode, std::int64_t{m.tensor_debug_mode});
  for (const auto& proto : m.tensor_protos) w.message(Tag::tensor_protos, [&](WireWriter& sub) { encode(sub, proto); });
  if (m.code_location) w.message(Tag::code_location, [&](WireWriter& sub) { encode(sub, *m.code_location); });
  w.packed(Tag::output_tensor_device_ids, items(m.output_tensor_device_ids));
}

inline void encode(WireWriter& w, const GraphExecutionTrace& m) {
  using Tag = tags::GraphExecutionTrace;
  w.field(Tag::tfdbg_context_id, m.tfdbg_context_id);
  w.field(Tag::op_name, m.op_name);
  w.field(Tag::output_slot, std::int64_t{m.output_slot});
  w.field(Tag::tensor_debug_mode, std::int64_t{m.tensor_debug_mode});
  if (m.tensor_proto) w.message(Tag::tensor_proto, [&](WireWriter& sub) { encode(sub, *m.tensor_proto); });
  w.field(Tag::device_name, m.device_name);
}

inline void encode(WireWriter& w, const TensorStats& m) {
  using Tag = tags::TensorStats;
  w.field(Tag::min, m.min);
  w.field(Tag::max, m.max);
  w.field(Tag::mean, m.mean);
  w.packed(Tag::exponent_histogram, items(m.exponent_histogram));
  w.fixed64_field(Tag::content_hash, m.content_hash);
  w.field(Tag::outside_source, std::int64_t{m.outside_source});
  w.field(Tag::nonfinite_complex, static_cast<std::int64_t>(m.nonfinite_complex));
  w.field(Tag::norm, m.norm);
}

inline void encode(WireWriter& w, const AxisEvidence& m) {
  using Tag = tags::AxisEvidence;
  w.field(Tag::affected, static_cast<std::int64_t>(m.affected));
  w.packed(Tag::slices, items(m.slices));
}

inline void encode(WireWriter& w, const TensorEvidence& m) {
  using Tag = tags::TensorEvidence;
  w.field(Tag::origin, std::int64_t{static_cast<std::int32_t>(m.origin)});
  w.field(Tag::looked_at, std::int64_t{m.looked_at});
  w.field(Tag::dtype, std::int64_t{m.dtype});
  w.packed(Tag::shape, items(m.shape));
  w.packed(Tag::counts, items(m.counts));
  w.packed(Tag::positions, items(m.positions));
  w.packed_fixed(Tag::values, items(m.values));
  for (const auto& axis : m.axes) w.message(Tag::axes, [&](WireWriter& sub) { encode(sub, axis); });
  w.field(Tag::recorded_id, m.recorded_id);
  w.field(Tag::content, m.content);
  w.field(Tag::name, m.name);
  w.field(Tag::recorded_run, static_cast<std::int64_t>(m.recorded_run));
  w.fixed64_field(Tag::values_hash, m.values_hash);
  w.field(Tag::written_over, std::int64_t{m.written_over});
}

inline void encode(WireWriter& w, const Exchange& m) {
  using Tag = tags::Exchange;
  w.field(Tag::kind, static_cast<std::int64_t>(m.kind));
  w.field(Tag::received, std::int64_t{m.received});
  w.field(Tag::per_rank, std::int64_t{m.per_rank});
  w.field(Tag::reduction, static_cast<std::int64_t>(m.reduction));
  w.field(Tag::communicator, static_cast<std::int64_t>(m.communicator));
  w.field(Tag::sequence, static_cast<std::int64_t>(m.sequence));
  w.field(Tag::rank, std::int64_t{m.rank});
  w.field(Tag::size, std::int64_t{m.size});
  w.field(Tag::peer, std::int64_t{m.peer});
  w.field(Tag::tag, std::int64_t{m.tag});
}

inline void encode(WireWriter& w, const RuleHit& m) {
  using Tag = tags::RuleHit;
  w.field(Tag::rule, m.rule);
  w.field(Tag::level, m.level);
  w.field(Tag::expression, m.expression);
  w.field(Tag::reason, m.reason);
  w.field(Tag::output_slot, std::int64_t{m.output_slot});
  w.field(Tag::hits, static_cast<std::int64_t>(m.hits));
  w.field(Tag::stopped, std::int64_t{m.stopped});
  w.field(Tag::not_followed, static_cast<std::int64_t>(m.not_followed));
  w.field(Tag::idle, std::int64_t{m.idle});
}

inline void encode(WireWriter& w, const NanlensExtension& m) {
  using Tag = tags::NanlensExtension;
  w.field(Tag::thread_id, static_cast<std::int64_t>(m.thread_id));
  w.field(Tag::call_id, static_cast<std::int64_t>(m.call_id));
  w.field(Tag::duration_ns, static_cast<std::int64_t>(m.duration_ns));
  w.field(Tag::dropped_executions, static_cast<std::int64_t>(m.dropped_executions));
  w.field(Tag::dropped_traces, static_cast<std::int64_t>(m.dropped_traces));
  w.field(Tag::fp_flags, std::int64_t{m.fp_flags});
  w.field(Tag::graph_run, static_cast<std::int64_t>(m.graph_run));
  for (const auto& stats : m.outputs) w.message(Tag::outputs, [&](WireWriter& sub) { encode(sub, stats); });
  w.packed(Tag::variable_ids, items(m.variable_ids));
  w.packed(Tag::read_variable_ids, items(m.read_variable_ids));
  w.field(Tag::op_name, m.op_name);
  for (const auto& e : m.input_evidence) w.message(Tag::input_evidence, [&](WireWriter& sub) { encode(sub, e); });
  for (const auto& e : m.output_evidence) w.message(Tag::output_evidence, [&](WireWriter& sub) { encode(sub, e); });
  w.field(Tag::hits, static_cast<std::int64_t>(m.hits));
  w.field(Tag::since_start_ns, static_cast<std::int64_t>(m.since_start_ns));
  w.field(Tag::left_out_ops, static_cast<std::int64_t>(m.left_out.ops));
  w.field(Tag::left_out_steps, static_cast<std::int64_t>(m.left_out.steps));
  w.field(Tag::left_out_ns, static_cast<std::int64_t>(m.left_out.ns));
  w.field(Tag::hits_at_least, std::int64_t{m.hits_at_least});
  if (m.exchange) w.message(Tag::exchange, [&](WireWriter& sub) { encode(sub, *m.exchange); });
  for (const auto& hit : m.rule_hits) w.message(Tag::rule_hits, [&](WireWriter& sub) { encode(sub, hit); });
  w.field(Tag::unread_tensors, static_cast<std::int64_t>(m.unread_tensors));
  w.field(Tag::circular_buffer_size, static_cast<std::int64_t>(m.circular_buffer_size));
}

// The oneof's member for an event struct.
template <class Event>
inline constexpr EventKind kind_of = EventKind::none;
template <>
inline constexpr EventKind kind_of<DebugMetadata> = EventKind::debug_metadata;
template <>
inline constexpr EventKind kind_of<SourceFile> = EventKind::source_file;
template <>
inline constexpr EventKind kind_of<StackFrameWithId> = EventKind::stack_frame_with_id;
template <>
inline constexpr EventKind kind_of<GraphOpCreation> = EventKind::graph_op_creation;
template <>
inline constexpr EventKind kind_of<DebuggedGraph> = EventKind::debugged_graph;
template <>
inline constexpr EventKind kind_of<Execution> = EventKind::execution;
template <>
inline constexpr EventKind kind_of<GraphExecutionTrace> = EventKind::graph_execution_trace;
template <>
inline constexpr EventKind kind_of<GraphId> = EventKind::graph_id;
template <>
inline constexpr EventKind kind_of<DebuggedDevice> = EventKind::debugged_device;

}  // namespace detail

/// The bytes of one message.
template <class Message>
std::string encoded(const Message& message) {
  std::string bytes;
  {
    using detail::encode;
    WireWriter w(bytes);
    encode(w, message);  // unqualified: DebugEvent's is declared later
  }
  return bytes;
}

/// Writes one event in its DebugEvent envelope, not framed. `wall_time` is in seconds since the epoch.
template <class What>
void encode_event(WireWriter& w, double wall_time, std::int64_t step, const What& what,
                  const NanlensExtension* extension) {
  using Tag = tags::DebugEvent;
  w.field(Tag::wall_time, wall_time);
  w.field(Tag::step, step);
  constexpr EventKind kind = detail::kind_of<What>;
  if constexpr (std::is_same_v<What, GraphId>) {
    w.element(kind, what.id);
  } else if constexpr (kind != EventKind::none) {
    w.message(kind, [&](WireWriter& sub) { detail::encode(sub, what); });
  }
  if (extension != nullptr) w.message(Tag::nanlens, [&](WireWriter& sub) { detail::encode(sub, *extension); });
}

/// Appends one event as a framed TFRecord to `out`.
template <class What>
void append_event(std::string& out, double wall_time, const What& what, const NanlensExtension* extension = nullptr) {
  append_record_of(out, [&](WireWriter& w) { encode_event(w, wall_time, 0, what, extension); });
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
