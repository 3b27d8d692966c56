// Part of event_digest.hpp: how the bytes of a record are read.
#pragma once

#include <algorithm>
#include <array>

#include <nanlens/logdir/decode.hpp>
#include <nanlens/logdir/tensor_values.hpp>

namespace nanlens::reader {

/// Numbers of a summary, without a heap allocation.
class SummaryNumbers {
 public:
  using value_type = double;
  void push_back(double v) noexcept {
    if (size_ < values.size()) values[size_++] = v;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  std::array<double, 16> values{};

 private:
  std::size_t size_ = 0;
};

namespace detail {

inline bool is_function_name(std::string_view op_type) noexcept {
  return op_type.starts_with("__forward_") || op_type.starts_with("__backward_") || op_type.starts_with("__inference_");
}

// A summary's numbers: float64 content or list in every logdir that TensorFlow writes.
inline SummaryNumbers summary_numbers(logdir::Bytes proto) noexcept {
  using Tag = logdir::tags::TensorProto;
  SummaryNumbers numbers;
  std::int32_t dtype = 0;
  for (logdir::WireReader r(proto); r.next();) {
    if (r.is(Tag::dtype)) dtype = r.i32();
    if (static_cast<DType>(dtype) != DType::float64) continue;
    if (r.is(Tag::tensor_content, logdir::WireType::length_delimited))
      for (std::size_t i = 0; i + 8 <= r.bytes().size(); i += 8)
        numbers.push_back(std::bit_cast<double>(logdir::detail::load_le<std::uint64_t>(r.bytes().data() + i)));
    if (r.is(Tag::double_val)) r.append_fixed_to(numbers);
  }
  return numbers;
}

inline TensorHealth full_tensor_health(logdir::Bytes proto) {
  TensorHealth h;
  logdir::TensorProto full;
  if (!logdir::detail::decode(proto, full)) return h;
  h.cut = logdir::is_cut(full);
  if (h.cut) return h;
  h.dtype = static_cast<DType>(full.dtype);
  if (full.shape) h.rank = static_cast<double>(full.shape->dims.size());
  if (const auto c = logdir::tensor_health(full)) {
    h.size = static_cast<double>(c->total());
    h.num_neg_inf = static_cast<double>(c->neg_inf);
    h.num_pos_inf = static_cast<double>(c->pos_inf);
    h.num_nan = static_cast<double>(c->nan);
    h.num_negative = static_cast<double>(c->negative);
    h.num_zero = static_cast<double>(c->zero);
    h.num_positive = static_cast<double>(c->positive);
    h.flags = logdir::flags_of(h);
  }
  return h;
}

}  // namespace detail

NANLENS_API TensorHealth tensor_health(TensorDebugMode mode, logdir::Bytes proto) {
  if (mode == TensorDebugMode::full_tensor) return detail::full_tensor_health(proto);
  SummaryNumbers numbers = detail::summary_numbers(proto);
  if (numbers.size() == 0) {  // the kernel's other output type, which TensorFlow's dumping does not use
    logdir::TensorProto rare;
    if (logdir::detail::decode(proto, rare))
      for (const double v : logdir::summary_values(rare)) numbers.push_back(v);
  }
  return tensor_health(mode, std::span(numbers.values).first(numbers.size()));
}

namespace detail {

// Bad, and only that is on record (CURT_HEALTH).
inline bool is_untold(const TensorHealth& h) noexcept { return h.bad() && h.num_nan < 0; }

inline bool read_trace(logdir::Bytes bytes, TraceDigest& d) {
  using Tag = logdir::tags::GraphExecutionTrace;
  logdir::WireReader r(bytes);
  TensorDebugMode mode = TensorDebugMode::unspecified;
  logdir::Bytes proto;
  while (r.next()) {
    switch (r.tag<Tag>()) {
      case Tag::tfdbg_context_id: d.graph_id = r.text(); break;
      case Tag::op_name: d.op_name = r.text(); break;
      case Tag::output_slot: d.output_slot = r.i32(); break;
      case Tag::tensor_debug_mode: mode = static_cast<TensorDebugMode>(r.i32()); break;
      case Tag::tensor_proto: proto = r.bytes(); break;
      default: break;
    }
  }
  d.health = tensor_health(mode, proto);
  return !r.failed();
}

// Keeps the first number of a list.
class FirstOfList {
 public:
  using value_type = std::int64_t;
  void push_back(std::int64_t v) noexcept {
    if (size_++ == 0) front_ = v;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t front() const noexcept { return front_; }

 private:
  std::int64_t front_ = -1;
  std::size_t size_ = 0;
};

inline bool read_execution(logdir::Bytes bytes, ExecutionDigest& d) {
  using Tag = logdir::tags::Execution;
  logdir::WireReader r(bytes);
  TensorDebugMode mode = TensorDebugMode::unspecified;
  while (r.next()) {
    switch (r.tag<Tag>()) {
      case Tag::op_type: d.op_type = r.text(); break;
      case Tag::graph_id: d.graph_id = r.text(); break;
      case Tag::tensor_debug_mode: mode = static_cast<TensorDebugMode>(r.i32()); break;
      case Tag::tensor_protos: {  // the mode goes before the tensors on the wire
        if (++d.num_outputs > limits::elements) break;
        const TensorHealth h = tensor_health(mode, r.bytes());
        d.flags = static_cast<std::uint8_t>(d.flags | (h.flags & ~empty_flag));
        d.num_bad_outputs += h.bad();
        d.num_untold += is_untold(h);
        d.cut = d.cut || h.cut;
        break;
      }
      case Tag::input_tensor_ids:
      case Tag::output_tensor_ids:
      case Tag::output_tensor_device_ids: {  // what can't be read later is no execution now
        FirstOfList ids;
        r.append_to(ids);
        break;
      }
      case Tag::code_location: d.code_location = r.bytes(); break;
      default: break;
    }
  }
  if (is_function_name(d.op_type)) d.flags |= function_flag;
  return !r.failed();
}

inline bool read_links(logdir::Bytes bytes, ExecutionLinks& links) {
  using Tag = logdir::tags::Execution;
  logdir::WireReader r(bytes);
  TensorDebugMode mode = TensorDebugMode::unspecified;
  while (r.next()) {
    switch (r.tag<Tag>()) {
      case Tag::op_type: links.op_type = r.text(); break;
      case Tag::graph_id: links.graph_id = r.text(); break;
      case Tag::input_tensor_ids: r.append_to(links.input_tensor_ids); break;
      case Tag::output_tensor_ids: r.append_to(links.output_tensor_ids); break;
      case Tag::output_tensor_device_ids: r.append_to(links.output_device_ids); break;
      case Tag::tensor_debug_mode: mode = static_cast<TensorDebugMode>(r.i32()); break;
      case Tag::tensor_protos:
        if (links.outputs.size() < limits::elements) links.outputs.push_back(tensor_health(mode, r.bytes()));
        break;
      default: break;
    }
  }
  return !r.failed();
}

using ExtensionTag = logdir::tags::NanlensExtension;

// True for a complex tensor with a NaN or infinite part. It has no summary, as in TensorFlow.
inline bool is_bad_complex(logdir::Bytes stats) noexcept {
  bool bad = false;
  for (logdir::WireReader r(stats); r.next();)
    if (r.is(logdir::tags::TensorStats::nonfinite_complex, logdir::WireType::varint)) bad = r.u64() > 0;
  return bad;
}

// Which kinds of bad elements a tensor had when it was looked at; nothing if it was not.
inline std::optional<std::uint8_t> seen_kinds(logdir::Bytes evidence) noexcept {
  using Tag = logdir::tags::TensorEvidence;
  bool looked_at = false;
  SummaryNumbers counts;
  for (logdir::WireReader r(evidence); r.next();) {
    if (r.is(Tag::looked_at, logdir::WireType::varint)) looked_at = r.u64() != 0;
    if (r.is(Tag::counts, logdir::WireType::length_delimited)) r.append_to(counts, counts.values.size());
  }
  if (!looked_at || counts.size() < 3) return std::nullopt;
  return static_cast<std::uint8_t>((counts.values[0] > 0 ? neg_inf_flag : 0) |
                                   (counts.values[1] > 0 ? pos_inf_flag : 0) | (counts.values[2] > 0 ? nan_flag : 0));
}

inline std::uint8_t with_kinds(std::uint8_t flags, std::uint8_t kinds) noexcept {
  return static_cast<std::uint8_t>((flags & ~bad_flags) | kinds);
}

// What is bad in a tensor has the kinds that were seen, where its summary does not tell them.
inline void take_seen_kinds(logdir::Bytes evidence, TensorHealth& h) noexcept {
  if (!is_untold(h)) return;
  if (const std::uint8_t kinds = seen_kinds(evidence).value_or(0); kinds != 0) h.flags = with_kinds(h.flags, kinds);
}

inline void read_extension(logdir::Bytes extension, TraceDigest& d) noexcept {
  std::size_t seen = 0;
  for (logdir::WireReader r(extension); r.next();) {
    if (r.is(ExtensionTag::output_evidence, logdir::WireType::length_delimited) && seen++ == 0)
      take_seen_kinds(r.bytes(), d.health);
    if (r.is(ExtensionTag::call_id, logdir::WireType::varint)) d.call_id = r.u64();
    if (r.is(ExtensionTag::fp_flags, logdir::WireType::varint)) d.fp_flags = static_cast<std::uint32_t>(r.u64());
    if (r.is(ExtensionTag::graph_run, logdir::WireType::varint)) d.graph_run = r.u64();
    if (r.is(ExtensionTag::rule_hits, logdir::WireType::length_delimited)) d.has_rule_hits = true;
    if (r.is(ExtensionTag::outputs, logdir::WireType::length_delimited))
      for (logdir::WireReader stats(r.bytes()); stats.next();)
        if (stats.is(logdir::tags::TensorStats::outside_source, logdir::WireType::varint))
          d.outside_source = stats.u64() != 0;
    if (r.is(ExtensionTag::variable_ids, logdir::WireType::length_delimited)) {
      FirstOfList ids;
      r.append_to(ids, 1);
      if (ids.size() > 0) d.variable_id = ids.front();
    }
  }
}
inline void read_extension(logdir::Bytes extension, ExecutionDigest& d) noexcept {
  std::size_t looked_at = 0;
  std::uint32_t num_seen = 0;
  std::uint8_t seen = 0;
  for (logdir::WireReader r(extension); r.next();)
    if (r.is(ExtensionTag::call_id, logdir::WireType::varint))
      d.call_id = r.u64();
    else if (r.is(ExtensionTag::fp_flags, logdir::WireType::varint))
      d.fp_flags = static_cast<std::uint32_t>(r.u64());
    else if (r.is(ExtensionTag::rule_hits, logdir::WireType::length_delimited))
      d.has_rule_hits = true;
    else if (r.is(ExtensionTag::outputs, logdir::WireType::length_delimited))
      d.has_bad_complex = is_bad_complex(r.bytes()) || d.has_bad_complex;
    else if (d.num_untold > 0 && r.is(ExtensionTag::output_evidence, logdir::WireType::length_delimited) &&
             looked_at++ < limits::elements) {
      const std::uint8_t kinds = seen_kinds(r.bytes()).value_or(0);
      num_seen += kinds != 0;
      seen |= kinds;
    }
  if (num_seen > 0 && num_seen == d.num_untold) d.flags = with_kinds(d.flags, seen);
}
inline void read_extension(logdir::Bytes extension, ExecutionLinks& links) {
  std::size_t seen = 0;
  for (logdir::WireReader r(extension); r.next();)
    if (r.is(ExtensionTag::variable_ids))
      r.append_to(links.written_variables);
    else if (r.is(ExtensionTag::op_name, logdir::WireType::length_delimited))
      links.op_name = r.text();
    else if (r.is(ExtensionTag::read_variable_ids))
      r.append_to(links.read_variables);
    else if (r.is(ExtensionTag::exchange, logdir::WireType::length_delimited))
      logdir::detail::decode(r.bytes(), links.exchange.emplace());
    else if (r.is(ExtensionTag::outputs, logdir::WireType::length_delimited) &&
             links.bad_complex.size() < limits::elements)
      links.bad_complex.push_back(is_bad_complex(r.bytes()));
    else if (r.is(ExtensionTag::output_evidence, logdir::WireType::length_delimited) && seen++ < links.outputs.size())
      take_seen_kinds(r.bytes(), links.outputs[seen - 1]);
}

template <class Digest>
bool read_event(logdir::Bytes payload, logdir::EventKind kind, Digest& d, bool (*read)(logdir::Bytes, Digest&)) {
  logdir::WireReader r(payload);
  bool found = false;
  bool valid = true;
  while (r.next()) {
    if constexpr (requires { d.wall_time; })
      if (r.is(logdir::tags::DebugEvent::wall_time)) d.wall_time = r.f64();
    if (r.is(kind, logdir::WireType::length_delimited)) {
      found = true;
      valid = read(r.bytes(), d) && valid;
    }
    if (r.is(logdir::tags::DebugEvent::nanlens, logdir::WireType::length_delimited)) read_extension(r.bytes(), d);
  }
  return found && valid && !r.failed();
}

}  // namespace detail

NANLENS_API std::uint64_t clean_inputs(logdir::Bytes payload) {
  std::uint64_t clean = 0;
  std::uint64_t input = 1;
  for (logdir::WireReader event(payload); event.next();)
    if (event.is(logdir::tags::DebugEvent::nanlens, logdir::WireType::length_delimited))
      for (logdir::WireReader r(event.bytes()); r.next();)
        if (r.is(detail::ExtensionTag::input_evidence, logdir::WireType::length_delimited)) {
          if (detail::seen_kinds(r.bytes()) == std::uint8_t{0}) clean |= input;
          input <<= 1;
        }
  return clean;
}

NANLENS_API std::optional<TraceDigest> trace_digest(logdir::Bytes payload) {
  TraceDigest d;
  if (!detail::read_event(payload, logdir::EventKind::graph_execution_trace, d, &detail::read_trace))
    return std::nullopt;
  return d;
}

NANLENS_API bool execution_links(logdir::Bytes payload, ExecutionLinks& links) {
  links.op_type = links.graph_id = links.op_name = {};
  links.input_tensor_ids.clear();
  links.output_tensor_ids.clear();
  links.output_device_ids.clear();
  links.outputs.clear();
  links.bad_complex.clear();
  links.written_variables.clear();
  links.read_variables.clear();
  links.exchange.reset();
  return detail::read_event(payload, logdir::EventKind::execution, links, &detail::read_links);
}

NANLENS_API std::optional<ExecutionDigest> execution_digest(logdir::Bytes payload) {
  ExecutionDigest d;
  if (!detail::read_event(payload, logdir::EventKind::execution, d, &detail::read_execution)) return std::nullopt;
  return d;
}

}  // namespace nanlens::reader
