/// @file
/// Event structs to bytes. Fields go out in ascending order, repeated numbers packed and defaults left out, so that the
/// bytes equal those of TensorFlow's own serializer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::logdir {

namespace detail {

template <class T>
std::span<const T> items(const std::vector<T>& v) noexcept {
  return v;
}

inline void encode(WireWriter& w, const DebugMetadata& m) {
  w.field(1, m.tensorflow_version);
  w.field(2, m.file_version);
  w.field(3, m.tfdbg_run_id);
}

inline void encode(WireWriter& w, const SourceFile& m) {
  w.field(1, m.file_path);
  w.field(2, m.host_name);
  for (const auto& line : m.lines) w.element(3, line);
}

inline void encode(WireWriter& w, const FileLineCol& m) {
  w.field(1, std::int64_t{m.file_index});
  w.field(2, std::int64_t{m.line});
  w.field(3, std::int64_t{m.col});
  w.field(4, m.func);
  w.field(5, m.code);
}

inline void encode(WireWriter& w, const StackFrameWithId& m) {
  w.field(1, m.id);
  if (m.file_line_col) w.message(2, [&](WireWriter& sub) { encode(sub, *m.file_line_col); });
}

inline void encode(WireWriter& w, const CodeLocation& m) {
  w.field(1, m.host_name);
  for (const auto& id : m.stack_frame_ids) w.element(2, id);
}

inline void encode(WireWriter& w, const DebuggedGraph& m) {
  w.field(1, m.graph_id);
  w.field(2, m.graph_name);
  for (const auto& op : m.instrumented_ops) w.element(3, op);
  w.field(4, m.original_graph_def);
  w.field(5, m.instrumented_graph_def);
  w.field(6, m.outer_context_id);
}

inline void encode(WireWriter& w, const GraphOpCreation& m) {
  w.field(1, m.op_type);
  w.field(2, m.op_name);
  w.field(3, m.graph_name);
  w.field(4, m.graph_id);
  w.field(5, m.device_name);
  for (const auto& name : m.input_names) w.element(6, name);
  w.field(7, std::int64_t{m.num_outputs});
  if (m.code_location) w.message(8, [&](WireWriter& sub) { encode(sub, *m.code_location); });
  w.packed(9, items(m.output_tensor_ids));
}

inline void encode(WireWriter& w, const DebuggedDevice& m) {
  w.field(1, m.device_name);
  w.field(2, std::int64_t{m.device_id});
}

inline void encode(WireWriter& w, const TensorProto& m) {
  w.field(1, std::int64_t{m.dtype});
  if (m.shape)
    w.message(2, [&](WireWriter& shape) {
      for (const auto& dim : m.shape->dims)
        shape.message(2, [&](WireWriter& sub) {
          sub.field(1, dim.size);
          sub.field(2, dim.name);
        });
      shape.field(3, std::int64_t{m.shape->unknown_rank});
    });
  w.field(3, std::int64_t{m.version_number});
  w.field(4, m.tensor_content);
  w.packed_fixed(5, items(m.float_val));
  w.packed_fixed(6, items(m.double_val));
  w.packed(7, items(m.int_val));
  for (const auto& s : m.string_val) w.element(8, s);
  w.packed_fixed(9, items(m.scomplex_val));
  w.packed(10, items(m.int64_val));
  w.packed(11, items(m.bool_val));
  w.packed_fixed(12, items(m.dcomplex_val));
  w.packed(13, items(m.half_val));
  w.packed(16, items(m.uint32_val));
  w.packed(17, items(m.uint64_val));
  w.field(18, m.float8_val);
}

inline void encode(WireWriter& w, const Execution& m) {
  w.field(1, m.op_type);
  w.field(2, std::int64_t{m.num_outputs});
  w.field(3, m.graph_id);
  w.packed(4, items(m.input_tensor_ids));
  w.packed(5, items(m.output_tensor_ids));
  w.field(6, std::int64_t{m.tensor_debug_mode});
  for (const auto& proto : m.tensor_protos) w.message(7, [&](WireWriter& sub) { encode(sub, proto); });
  if (m.code_location) w.message(8, [&](WireWriter& sub) { encode(sub, *m.code_location); });
  w.packed(9, items(m.output_tensor_device_ids));
}

inline void encode(WireWriter& w, const GraphExecutionTrace& m) {
  w.field(1, m.tfdbg_context_id);
  w.field(2, m.op_name);
  w.field(3, std::int64_t{m.output_slot});
  w.field(4, std::int64_t{m.tensor_debug_mode});
  if (m.tensor_proto) w.message(5, [&](WireWriter& sub) { encode(sub, *m.tensor_proto); });
  w.field(6, m.device_name);
}

inline void encode(WireWriter& w, const TensorStats& m) {
  w.field(1, m.min);
  w.field(2, m.max);
  w.field(3, m.mean);
  w.packed(4, items(m.exponent_histogram));
  w.fixed64_field(5, m.content_hash);
  w.field(6, std::int64_t{m.outside_source});
  w.field(7, static_cast<std::int64_t>(m.nonfinite_complex));
}

inline void encode(WireWriter& w, const NanlensExtension& m) {
  w.field(1, static_cast<std::int64_t>(m.thread_id));
  w.field(2, static_cast<std::int64_t>(m.call_id));
  w.field(3, static_cast<std::int64_t>(m.duration_ns));
  w.field(4, static_cast<std::int64_t>(m.dropped_executions));
  w.field(5, static_cast<std::int64_t>(m.dropped_traces));
  w.field(6, std::int64_t{m.fp_flags});
  w.field(7, static_cast<std::int64_t>(m.graph_run));
  for (const auto& stats : m.outputs) w.message(8, [&](WireWriter& sub) { encode(sub, stats); });
  w.packed(9, items(m.variable_ids));
  w.packed(10, items(m.read_variable_ids));
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
  w.field(1, wall_time);
  w.field(2, step);
  constexpr auto number = static_cast<std::uint32_t>(detail::kind_of<What>);
  if constexpr (std::is_same_v<What, GraphId>) {
    w.element(number, what.id);
  } else if constexpr (number != 0) {
    w.message(number, [&](WireWriter& sub) { detail::encode(sub, what); });
  }
  if (extension != nullptr) w.message(extension_field, [&](WireWriter& sub) { detail::encode(sub, *extension); });
}

/// Appends one event as a framed TFRecord to `out`.
template <class What>
void append_event(std::string& out, double wall_time, const What& what, const NanlensExtension* extension = nullptr) {
  append_record_of(out, [&](WireWriter& w) { encode_event(w, wall_time, 0, what, extension); });
}

}  // namespace nanlens::logdir
