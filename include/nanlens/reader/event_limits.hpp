/// @file
/// What of an event is too much to be read (limits.hpp).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <variant>

#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/reader/event_digest.hpp>
#include <nanlens/reader/fault.hpp>

namespace nanlens::reader {

/// A fault of an event that is too large. `skip`: the event is passed over; else a part of it is.
struct OverLimit {
  Fault what;  ///< empty: there is none
  bool skip = false;
};

namespace detail {

inline OverLimit check_names(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (name.size() > limits::name_bytes)
      return {{FaultId::long_name, {{"n", name.size()}, {"most", limits::name_bytes}}}, true};
  return {};
}

inline OverLimit check_count(std::size_t count, FaultId too_many, std::size_t most = limits::elements) {
  if (count < most) return {};
  return {{too_many, {{"n", most}}}, false};
}

inline OverLimit check_cut(bool cut) {
  if (!cut) return {};
  return {FaultId::cut_tensor, false};
}

inline OverLimit first_of(std::initializer_list<OverLimit> faults) {
  for (const OverLimit& fault : faults)
    if (!fault.what.empty()) return fault;
  return {};
}

struct OverLimitOf {
  OverLimit operator()(const logdir::SourceFile& m) const {
    return first_of(
        {check_names({m.file_path, m.host_name}), check_count(m.lines.size(), FaultId::many_lines, limits::texts)});
  }
  OverLimit operator()(const logdir::StackFrameWithId& m) const {
    return check_names({m.id, m.file_line_col ? std::string_view(m.file_line_col->func) : std::string_view{}});
  }
  OverLimit operator()(const logdir::DebuggedGraph& m) const {
    return first_of({check_names({m.graph_id, m.graph_name, m.outer_context_id}),
                     check_count(m.instrumented_ops.size(), FaultId::many_ops)});
  }
  OverLimit operator()(const logdir::GraphOpCreation& m) const {
    return first_of({check_names({m.op_type, m.op_name, m.graph_name, m.graph_id}),
                     check_count(m.input_names.size(), FaultId::many_inputs),
                     check_count(m.output_tensor_ids.size(), FaultId::many_outputs),
                     check_count(m.code_location ? m.code_location->stack_frame_ids.size() : 0, FaultId::many_frames)});
  }
  OverLimit operator()(const logdir::DebuggedDevice& m) const { return check_names({m.device_name}); }
  template <class Other>
  OverLimit operator()(const Other&) const {
    return {};
  }
};

}  // namespace detail

inline OverLimit over_limit(const logdir::DebugEvent& event) { return std::visit(detail::OverLimitOf{}, event.what); }
inline OverLimit over_limit(const TraceDigest& d) {
  return detail::first_of({detail::check_names({d.graph_id, d.op_name}), detail::check_cut(d.health.cut)});
}
inline OverLimit over_limit(const ExecutionDigest& d) {
  return detail::first_of({detail::check_names({d.graph_id, d.op_type}),
                           detail::check_count(d.num_outputs, FaultId::many_tensors), detail::check_cut(d.cut)});
}

}  // namespace nanlens::reader
