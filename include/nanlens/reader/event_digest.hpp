/// @file
/// The part of an event that the index needs, read straight from its bytes: no allocation per event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/recorded_health.hpp>
#include <nanlens/logdir/wire.hpp>
#include <nanlens/reader/columns.hpp>
#include <nanlens/summary/debug_mode.hpp>

namespace nanlens::reader {

using logdir::TensorHealth;

/// Health of a tensor from the numbers of its summary.
inline TensorHealth tensor_health(TensorDebugMode mode, std::span<const double> summary) noexcept {
  return logdir::health_of_summary(mode, summary);
}

/// Health of a tensor from what a record holds of it. Modes and dtypes that tell nothing give no flag at all.
TensorHealth tensor_health(TensorDebugMode mode, logdir::Bytes proto);

/// What the index keeps of a GraphExecutionTrace. Views point into the record.
struct TraceDigest {
  double wall_time = 0;
  std::string_view graph_id;
  std::string_view op_name;
  std::int32_t output_slot = 0;
  std::uint64_t call_id = 0;
  std::uint64_t graph_run = 0;    ///< which run of its graph, in nanlens' logdirs; else 0
  std::int64_t variable_id = -1;  ///< the variable whose memory the tensor is, in nanlens' logdirs; else −1
  std::uint32_t fp_flags = 0;     ///< floating-point exceptions of the op, in nanlens' logdirs
  bool outside_source = false;    ///< the tensor is known to come from outside the record
  bool has_rule_hits = false;     ///< a rule of the recording program holds here
  TensorHealth health;  ///< CURT_HEALTH does not tell NaN from infinity; its flags do if nanlens saw the tensor
};

/// What the index keeps of an Execution.
struct ExecutionDigest {
  double wall_time = 0;
  std::string_view op_type;
  std::string_view graph_id;
  std::uint64_t call_id = 0;
  std::uint32_t fp_flags = 0;
  std::uint8_t flags = 0;
  bool cut = false;               ///< a tensor is
  bool has_rule_hits = false;     ///< a rule of the recording program holds here
  bool has_bad_complex = false;   ///< a complex output is bad, in nanlens' logdirs; that is no alert
  std::uint32_t num_outputs = 0;  ///< recorded tensors; no more than `limits::elements` of them are looked at
  std::uint32_t num_bad_outputs = 0;
  std::uint32_t num_untold = 0;  ///< of these, how many have a summary that does not tell NaN from infinity
  logdir::Bytes code_location;
};

/// What ties an Execution to others. Views point into the record; the vectors are reused from event to event.
struct ExecutionLinks {
  std::string_view op_type;
  std::string_view graph_id;
  std::string_view op_name;  ///< of an eager op that has one beside its type, in nanlens' logdirs
  std::vector<std::int64_t> input_tensor_ids;
  std::vector<std::int64_t> output_tensor_ids;
  std::vector<std::int64_t> output_device_ids;
  std::vector<TensorHealth> outputs;            ///< of the recorded tensors; may be shorter than the ids
  std::vector<bool> bad_complex;                ///< of the outputs, as far as there are any: complex, and bad
  std::vector<std::int64_t> written_variables;  ///< ids, in nanlens' logdirs
  std::vector<std::int64_t> read_variables;     ///< the same
  std::optional<logdir::Exchange> exchange;     ///< with other processes
};

/// Reads a trace's digest; nothing if the payload is not a valid DebugEvent with a GraphExecutionTrace.
std::optional<TraceDigest> trace_digest(logdir::Bytes payload);

/// Which inputs were seen clean when the op of a trace had run, in nanlens' logdirs: a bit for each of the first 64.
std::uint64_t clean_inputs(logdir::Bytes payload);

/// Reads what ties an execution to others; false if the payload is not a valid DebugEvent with an Execution.
bool execution_links(logdir::Bytes payload, ExecutionLinks& links);

/// Reads an execution's digest; nothing if the payload is not a valid DebugEvent with an Execution.
std::optional<ExecutionDigest> execution_digest(logdir::Bytes payload);

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/event_digest.inl>
#endif
