/// @file
/// The numbers of all fields: an enum for each message of tfdbg2.proto, with its names. They are spelt here and nowhere
/// else; writers and readers take no bare number (see FieldNumber).
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::logdir::tags {

/// `nanlens` is no field of TensorFlow's: its readers skip it.
enum class DebugEvent : std::uint32_t {
  wall_time = 1,
  step = 2,
  debug_metadata = 3,
  source_file = 4,
  stack_frame_with_id = 6,
  graph_op_creation = 7,
  debugged_graph = 8,
  execution = 9,
  graph_execution_trace = 10,
  graph_id = 11,
  debugged_device = 12,
  nanlens = 1000,
};

enum class DebugMetadata : std::uint32_t {
  tensorflow_version = 1,
  file_version = 2,
  tfdbg_run_id = 3,
};

enum class SourceFile : std::uint32_t {
  file_path = 1,
  host_name = 2,
  lines = 3,
};

enum class FileLineCol : std::uint32_t {
  file_index = 1,
  line = 2,
  col = 3,
  func = 4,
  code = 5,
};

enum class StackFrameWithId : std::uint32_t {
  id = 1,
  file_line_col = 2,
};

enum class CodeLocation : std::uint32_t {
  host_name = 1,
  stack_frame_ids = 2,
};

enum class DebuggedGraph : std::uint32_t {
  graph_id = 1,
  graph_name = 2,
  instrumented_ops = 3,
  original_graph_def = 4,
  instrumented_graph_def = 5,
  outer_context_id = 6,
};

enum class DebuggedDevice : std::uint32_t {
  device_name = 1,
  device_id = 2,
};

enum class GraphOpCreation : std::uint32_t {
  op_type = 1,
  op_name = 2,
  graph_name = 3,
  graph_id = 4,
  device_name = 5,
  input_names = 6,
  num_outputs = 7,
  code_location = 8,
  output_tensor_ids = 9,
};

enum class Execution : std::uint32_t {
  op_type = 1,
  num_outputs = 2,
  graph_id = 3,
  input_tensor_ids = 4,
  output_tensor_ids = 5,
  tensor_debug_mode = 6,
  tensor_protos = 7,
  code_location = 8,
  output_tensor_device_ids = 9,
};

enum class GraphExecutionTrace : std::uint32_t {
  tfdbg_context_id = 1,
  op_name = 2,
  output_slot = 3,
  tensor_debug_mode = 4,
  tensor_proto = 5,
  device_name = 6,
};

/// TensorShapeProto.Dim.
enum class TensorDim : std::uint32_t {
  size = 1,
  name = 2,
};

enum class TensorShapeProto : std::uint32_t {
  dim = 2,
  unknown_rank = 3,
};

/// Without the fields that hold resource handles and variants.
enum class TensorProto : std::uint32_t {
  dtype = 1,
  tensor_shape = 2,
  version_number = 3,
  tensor_content = 4,
  float_val = 5,
  double_val = 6,
  int_val = 7,
  string_val = 8,
  scomplex_val = 9,
  int64_val = 10,
  bool_val = 11,
  dcomplex_val = 12,
  half_val = 13,
  uint32_val = 16,
  uint64_val = 17,
  float8_val = 18,
};

enum class TensorStats : std::uint32_t {
  min = 1,
  max = 2,
  mean = 3,
  exponent_histogram = 4,
  content_hash = 5,
  outside_source = 6,
  nonfinite_complex = 7,
  norm = 8,
};

enum class AxisEvidence : std::uint32_t {
  affected = 1,
  slices = 2,
};

enum class TensorEvidence : std::uint32_t {
  origin = 1,
  looked_at = 2,
  dtype = 3,
  shape = 4,
  counts = 5,
  positions = 6,
  values = 7,
  axes = 8,
  recorded_id = 9,
  content = 10,
  name = 11,
  recorded_run = 12,
  values_hash = 13,
  written_over = 14,
};

enum class Exchange : std::uint32_t {
  kind = 1,
  received = 2,
  per_rank = 3,
  reduction = 4,
  communicator = 5,
  sequence = 6,
  rank = 7,
  size = 8,
  peer = 9,
  tag = 10,
};

enum class RuleHit : std::uint32_t {
  rule = 1,
  level = 2,
  expression = 3,
  reason = 4,
  output_slot = 5,
  hits = 6,
  stopped = 7,
  not_followed = 8,
  idle = 9,
};

enum class NanlensExtension : std::uint32_t {
  thread_id = 1,
  call_id = 2,
  duration_ns = 3,
  dropped_executions = 4,
  dropped_traces = 5,
  fp_flags = 6,
  graph_run = 7,
  outputs = 8,
  variable_ids = 9,
  read_variable_ids = 10,
  op_name = 11,
  input_evidence = 12,
  output_evidence = 13,
  hits = 14,
  since_start_ns = 15,
  left_out_ops = 16,
  left_out_steps = 17,
  left_out_ns = 18,
  hits_at_least = 19,
  exchange = 20,
  rule_hits = 21,
  unread_tensors = 22,
  circular_buffer_size = 23,
};

}  // namespace nanlens::inline NANLENS_ABI::logdir::tags
