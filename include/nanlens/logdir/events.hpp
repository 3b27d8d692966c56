/// @file
/// The records of a logdir as C++ structs: TensorFlow's `debug_event.proto`, field by field, with its names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/exchange.hpp>
#include <nanlens/logdir/tags.hpp>
#include <nanlens/logdir/tensor_origin.hpp>
#include <nanlens/summary/debug_mode.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// First record of a `metadata` file. Every further one is nanlens' own: it marks the end of a recording (see FileSet).
struct DebugMetadata {
  std::string tensorflow_version;
  std::string file_version;
  std::string tfdbg_run_id;
};

/// A source file that appears on a stack; its text is split at '\n' only. No lines: the file could not be read.
struct SourceFile {
  std::string file_path;
  std::string host_name;
  std::vector<std::string> lines;
};

/// GraphDebugInfo.FileLineCol: `file_index` is the ordinal of a SourceFile in the `source_files` file of the same set.
struct FileLineCol {
  std::int32_t file_index = 0;
  std::int32_t line = 0;
  std::int32_t col = 0;
  std::string func;
  std::string code;
};

struct StackFrameWithId {
  std::string id;
  std::optional<FileLineCol> file_line_col;
};

/// A stack: ids of StackFrameWithId records, outermost first.
struct CodeLocation {
  std::string host_name;
  std::vector<std::string> stack_frame_ids;
};

struct DebuggedGraph {
  std::string graph_id;
  std::string graph_name;
  std::vector<std::string> instrumented_ops;
  std::string original_graph_def;
  std::string instrumented_graph_def;
  std::string outer_context_id;
};

/// `input_names` are "op_name:slot"; `output_tensor_ids` has one id per output.
struct GraphOpCreation {
  std::string op_type;
  std::string op_name;
  std::string graph_name;
  std::string graph_id;
  std::string device_name;
  std::vector<std::string> input_names;
  std::int32_t num_outputs = 0;
  std::optional<CodeLocation> code_location;
  std::vector<std::int32_t> output_tensor_ids;
};

struct DebuggedDevice {
  std::string device_name;
  std::int32_t device_id = 0;  // from 1
};

struct TensorDim {
  std::int64_t size = 0;
  std::string name;
};

struct TensorShapeProto {
  std::vector<TensorDim> dims;
  bool unknown_rank = false;
};

/// TensorProto without the fields that hold resource handles and variants (they are skipped when read).
struct TensorProto {
  std::int32_t dtype = 0;
  std::optional<TensorShapeProto> shape;
  std::int32_t version_number = 0;
  std::string tensor_content;
  std::vector<float> float_val;
  std::vector<double> double_val;
  std::vector<std::int32_t> int_val;
  std::vector<std::string> string_val;
  std::vector<float> scomplex_val;
  std::vector<std::int64_t> int64_val;
  std::vector<std::uint8_t> bool_val;
  std::vector<double> dcomplex_val;
  std::vector<std::int32_t> half_val;
  std::vector<std::uint32_t> uint32_val;
  std::vector<std::uint64_t> uint64_val;
  std::string float8_val;
};

/// One op, or one call of a function, that ran. `tensor_protos` may be shorter than `num_outputs` in TensorFlow's own
/// logdirs.
struct Execution {
  std::string op_type;
  std::int32_t num_outputs = 0;
  std::string graph_id;
  std::vector<std::int64_t> input_tensor_ids;
  std::vector<std::int64_t> output_tensor_ids;
  std::int32_t tensor_debug_mode = 0;
  std::vector<TensorProto> tensor_protos;
  std::optional<CodeLocation> code_location;
  std::vector<std::int32_t> output_tensor_device_ids;
};

/// One output tensor of one op of a graph, each time the graph runs.
struct GraphExecutionTrace {
  std::string tfdbg_context_id;
  std::string op_name;
  std::int32_t output_slot = 0;
  std::int32_t tensor_debug_mode = 0;
  std::optional<TensorProto> tensor_proto;
  std::string device_name;
};

/// What counts don't tell of a tensor. `exponent_histogram`: finite, non-zero elements by magnitude, in bins of 8
/// powers of two from 2^−128 on. `outside_source`: the tensor came in from outside the record.
struct TensorStats {
  double min = 0;
  double max = 0;
  double mean = 0;
  std::vector<std::uint32_t> exponent_histogram;
  std::uint64_t content_hash = 0;
  bool outside_source = false;
  std::uint64_t nonfinite_complex = 0;
  double norm = 0;  ///< 0 beside a min or max other than 0: not recorded
};

/// Which slices of a tensor along one axis hold bad elements: how many, and the first of them.
struct AxisEvidence {
  std::uint64_t affected = 0;
  std::vector<std::int64_t> slices;
};

/// What a tensor held when an op had run that gave a NaN or infinity.
struct TensorEvidence {
  /// Of an input; of an output `recorded` where its bytes held, before, what an op on record had made.
  TensorOrigin origin = TensorOrigin::not_recorded;
  /// Its memory was read then and there. Not where the op has written over it, or where it can't be read.
  bool looked_at = false;
  std::int32_t dtype = 0;
  std::vector<std::int64_t> shape;
  /// Of a floating tensor that was looked at: −∞, +∞, NaN, negative, zero, positive. Of a complex one the third number
  /// alone counts: elements with a bad part.
  std::vector<std::uint64_t> counts;
  /// Up to 16 elements, as one index per axis each: the bad ones; of a clean input of the output's shape those where
  /// the output is bad.
  std::vector<std::int64_t> positions;
  std::vector<double> values;      ///< at these positions; of floating tensors
  std::vector<AxisEvidence> axes;  ///< of tensors with bad elements
  /// Of the first bad event of an op and place, as long as the budget lasts: all elements, in row-major order.
  std::string content;
  /// What was recorded there: its eager id, plus 1; or −1 less the id that it has in its graph. 0: unknown.
  std::int64_t recorded_id = 0;
  std::uint64_t recorded_run = 0;  ///< of that graph: NanlensExtension::graph_run
  /// What the host calls the tensor: "net.fc.weight", "grad of net.fc.weight". Empty for most.
  std::string name;
  /// Of a bad input: the same for tensors with the same values in the same order. 0: too few of them are numbers to
  /// tell.
  std::uint64_t values_hash = 0;
  /// Of an input: the op had written over it before anybody looked, so that nobody knows whether it still was what was
  /// recorded there.
  bool written_over = false;
};

/// What was not recorded, as the program or its user wished.
struct LeftOut {
  std::uint64_t ops = 0;  ///< 0: they were not counted
  std::uint64_t steps = 0;
  std::uint64_t ns = 0;  ///< for how long

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

/// Where a rule of the recording program holds, or, in metadata, what became of it.
struct RuleHit {
  std::string rule;
  std::string level;  ///< "error", "warning" or "note"
  std::string expression;
  std::string reason;
  std::int32_t output_slot = 0;
  std::uint64_t hits = 0;          ///< at how many rows it has held by then, this one included
  bool stopped = false;            ///< it has ended the program
  std::uint64_t not_followed = 0;  ///< in metadata: rows that it could not judge, of more outputs than are followed
  bool idle = false;               ///< in metadata: no output was one that it is about
};

/// In `fp_flags`: the program itself trapped the exception, so that the op never came to a result.
inline constexpr std::uint32_t fp_taken_by_program = 32;
/// In `fp_flags`: what came of it is not known, since the instruction that raised them is not.
inline constexpr std::uint32_t fp_result_unknown = 64;

/// Facts that TensorFlow has no field for, in DebugEvent field 1000, which proto3 readers skip. `fp_flags`:
/// floating-point exceptions raised by the op, 1 invalid, 2 divide by zero, 4 overflow, 8 underflow; and 32 and 64, see
/// above. Of an op with 32 its inputs are told as of one with a bad output. `graph_run`: which run of its graph a trace
/// belongs to. `variable_ids`: of a trace, the variable whose memory its tensor is; of an execution, the variables it
/// wrote. `op_name`: the name of an eager op, where it has one beside its type. With a bad output come
/// `input_evidence`, one for each input, and `output_evidence`, one for each output of the event.
struct NanlensExtension {
  std::uint64_t thread_id = 0;
  std::uint64_t call_id = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t dropped_executions = 0;
  std::uint64_t dropped_traces = 0;
  std::uint32_t fp_flags = 0;
  std::uint64_t graph_run = 0;
  std::vector<TensorStats> outputs;
  std::vector<std::uint64_t> variable_ids;
  std::vector<std::uint64_t> read_variable_ids;  ///< of a call
  std::string op_name;
  std::vector<TensorEvidence> input_evidence;
  std::vector<TensorEvidence> output_evidence;
  std::uint64_t hits = 0;            ///< trapped instructions: how often this one has trapped here by then
  std::uint64_t since_start_ns = 0;  ///< trapped instructions: when, from the beginning of the program
  std::uint64_t unread_tensors = 0;  ///< in metadata: those of which the values could not be read, on a device say
  LeftOut left_out;                  ///< in metadata: by then
  std::uint64_t circular_buffer_size = 0;  ///< in metadata: the last so many events of each kind are kept; 0: all
  bool hits_at_least = false;              ///< trapped instructions: not all were counted
  std::optional<Exchange> exchange;        ///< of an execution that takes part in one
  std::vector<RuleHit> rule_hits;  ///< of the first event of an output at which a rule holds; in metadata: of all rules
};

/// A member of the oneof that TensorFlow defines and never writes: the id of a graph, as bare text.
struct GraphId {
  std::string id;
};

/// The kinds of records: the members of DebugEvent's oneof.
enum class EventKind : std::uint32_t {
  none = 0,
  debug_metadata = static_cast<std::uint32_t>(tags::DebugEvent::debug_metadata),
  source_file = static_cast<std::uint32_t>(tags::DebugEvent::source_file),
  stack_frame_with_id = static_cast<std::uint32_t>(tags::DebugEvent::stack_frame_with_id),
  graph_op_creation = static_cast<std::uint32_t>(tags::DebugEvent::graph_op_creation),
  debugged_graph = static_cast<std::uint32_t>(tags::DebugEvent::debugged_graph),
  execution = static_cast<std::uint32_t>(tags::DebugEvent::execution),
  graph_execution_trace = static_cast<std::uint32_t>(tags::DebugEvent::graph_execution_trace),
  graph_id = static_cast<std::uint32_t>(tags::DebugEvent::graph_id),
  debugged_device = static_cast<std::uint32_t>(tags::DebugEvent::debugged_device),
};

}  // namespace nanlens::inline NANLENS_ABI::logdir
