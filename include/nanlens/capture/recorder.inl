/// @file
/// From an op that ran to the events that a logdir holds of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nanlens/capture/check_numerics.inl>
#include <nanlens/capture/dump.inl>
#include <nanlens/capture/evidence.hpp>
#include <nanlens/capture/full_tensor.hpp>
#include <nanlens/capture/host_state.hpp>
#include <nanlens/capture/plain_trace.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/capture/rule_hits.inl>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/capture/uneven_fence.hpp>
#include <nanlens/capture/variables.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/statistics.hpp>
#include <nanlens/summary/summarize.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The tensor that one with other bytes is a copy of, as far as this thread can know. From then on it is found by its
/// own bytes.
inline void identify_copy(ThreadState& state, InputRef& input) {
  ContentMark mark;
  const TensorLink link = state.recent_outputs.of(registry().generation()).find(input.key, mark);
  if (!link.known()) return;
  input.link = link;
  input.origin = logdir::TensorOrigin::copy;
  input.was = -1;
  TensorKey key = input.key;
  key.copied = true;
  registry().put(key, link, mark.sample);
}

/// Finds out what a tensor is, once. `look`: its memory holds what the op got.
inline void identify(ThreadState& state, InputRef& input, bool look, TensorIdentity* identity = nullptr) {
  if (input.identified) return;
  input.identified = true;
  using enum logdir::TensorOrigin;
  if (input.link.known()) {  // a handle
    input.origin = recorded;
    return;
  }
  if (!registry().find_exact(input.key, look, input.link, input.origin)) {
    const TensorIdentity found = registry().find(input.key, look);
    input.link = found.link;
    input.origin = found.origin;
    if (identity != nullptr) *identity = found;
  } else if (identity != nullptr) {
    *identity = {input.link, input.origin, input.key, {}};
  }
  if (input.origin == changed) {
    input.was = input.link.id;
    input.link = {};
  }
  if (!input.link.known() && look) identify_copy(state, input);
  if (identity == nullptr || (input.origin != changed && input.origin != copy)) return;
  *identity = {input.link, input.origin, input.key, {}};
}

/// The op has written a target: from now on its memory is that of a variable, with what it holds now.
inline void know_target(ThreadState& state, TensorKey key) {
  VariableTable& variables = VariableTable::get();
  key.copied = false;
  if (variables.find(key) < 0) variables.declare(key, state.take_eager_id());
  registry().put(key, {variables.find(key), nullptr, 0, 0}, ContentSample(key));
}

/// The same for all inputs of an op that has run. What it has written over is no evidence.
inline void identify_all(ThreadState& state, std::span<InputRef> inputs, std::span<const OutputRef> outputs) {
  bool writes = false;
  for (InputRef& input : inputs) {
    const TensorKey key = input.key.empty() ? key_of(input.view) : input.key;
    for (const OutputRef& output : outputs) input.overwritten = input.overwritten || output.key.overlaps(key);
    input.here = input.here && !input.overwritten;
    const bool known = input.before == nullptr && (input.identified || input.link.known());
    input.unseen = input.overwritten && !known;
    identify(state, input, input.here);
    writes = writes || input.written;
  }
  if (!writes) return;
  for (const InputRef& input : inputs)
    if (input.written) know_target(state, input.key);
}

/// Marks this thread as recording while it lives; `session` is null if dumping is off.
class RecordingScope {
 public:
  enum class Host : std::uint8_t {
    kept,       ///< its state is kept, whatever is done
    untouched,  ///< what may touch its state is to keep it itself: to look at it costs as much as a tenth of a trace
  };
  explicit RecordingScope(ThreadState& state, Host host = Host::kept) noexcept
      : state_(state), nested_(state.recording.load(std::memory_order_relaxed)) {
    if (!nested_ && host == Host::kept) host_.emplace();
    if (!nested_) enter();
    session = current_session.load();
  }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  ~RecordingScope() {
    if (nested_) return;
    state_.recording.store(false, std::memory_order_release);
    if (state_.rules == nullptr || state_.rules->to_tell.empty()) return;
    const HostState host;
    tell_rules(*state_.rules);
  }
  Session* session;

 private:
  void enter() noexcept {
    const UnevenFence& fence = UnevenFence::get();
    fence.store(state_.recording, true);
    while (forking.load()) {
      state_.recording.store(false);
      while (forking.load()) std::this_thread::yield();
      fence.store(state_.recording, true);
    }
  }
  ThreadState& state_;
  bool nested_;
  std::optional<HostState> host_;
};

inline void leave_out() noexcept {
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  state->ops_at_rest.store(state->ops_at_rest.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// What happens to an op that somebody looks at, all the same, while recording rests. What a host has seen before and
/// tells later was never asked for in steps.
inline bool is_left_out(unsigned bits, const Measured& measured) noexcept {
  if ((bits & resting_bit) == 0 || measured.observed != nullptr) return false;
  leave_out();
  return true;
}

/// Runs a part of a recording call. False if memory ran out: the event is lost and counted, the program goes on.
template <class Body>
bool without_throwing([[maybe_unused]] ThreadState& state, Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
    return true;
  } catch (...) {
    state.dropped_executions.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
#else
  body();
  return true;
#endif
}

/// What was found when a tensor was written.
struct TensorOutcome {
  bool unreadable = false;                 ///< the mode would have had something to say, if the tensor could be read
  bool bad = false;                        ///< it holds a NaN or infinity, as far as the mode looks
  logdir::TensorHealth* health = nullptr;  ///< where to put what the record tells, if somebody wants to know
};

/// Writes the tensor_proto of one output as field `number`. False if the mode has nothing to say of it: then nothing is
/// written.
inline bool write_tensor(logdir::WireWriter& w, logdir::FieldNumber number, const Session& session,
                         std::string_view op_type, const TensorView& view, std::int64_t tensor_id, bool eager,
                         TensorOutcome& outcome) {
  const TensorDebugMode mode = session.options().tensor_debug_mode;
  if (!session.filter().takes(op_type, view.dtype) || dtype_kind(view.dtype) == DTypeKind::handle) return false;
  if (mode == TensorDebugMode::no_tensor) {
    if (eager) return false;
    w.message(number, [](logdir::WireWriter& proto) {  // float32 of shape [0], as the reference writes it
      proto.field(logdir::tags::TensorProto::dtype, std::int64_t{static_cast<std::int32_t>(DType::float32)});
      write_shape(proto, Shape{0});
    });
    return true;
  }
  if (mode == TensorDebugMode::full_tensor) {
    std::string proto;
    {
      logdir::WireWriter inner(proto);
      outcome.unreadable = !write_full_tensor(inner, view, eager);
    }
    if (outcome.unreadable) {
      outcome.unreadable = !is_absent(view);
      return false;
    }
    outcome.bad = has_non_finite(view) || count_non_finite_complex(view) > 0;
    if (outcome.health != nullptr) *outcome.health = health_of_values(view);
    w.element(number, proto);
    return true;
  }
  if (!has_summary(mode, view.dtype)) return false;
  const Summary summary = summarize(mode, view, tensor_id);
  if (summary.size == 0) {
    outcome.unreadable = !is_absent(view);
    return false;
  }
  outcome.bad = summary.bad;
  if (outcome.health != nullptr) *outcome.health = logdir::health_of_summary(mode, summary.span());
  w.put(most_summary_bytes, [&](unsigned char* p) { return put_summary(p, number, summary); });
  return true;
}

/// The proto of an eager output, or an empty one as a placeholder: slots never shift. True if the output is bad.
inline bool write_eager_tensor(logdir::WireWriter& w, ThreadState& state, const Session& session,
                               std::string_view op_type, const TensorView& view, RuleState* judged = nullptr) {
  constexpr logdir::FieldNumber tensor_protos = logdir::tags::Execution::tensor_protos;
  if (session.options().tensor_debug_mode == TensorDebugMode::no_tensor) return false;
  TensorOutcome outcome;
  if (judged != nullptr) outcome.health = &judged->healths.emplace_back();
  if (write_tensor(w, tensor_protos, session, op_type, view, -1, true, outcome)) return outcome.bad;
  w.message(tensor_protos, [](logdir::WireWriter&) {});
  if (outcome.unreadable) state.unread_tensors.fetch_add(1, std::memory_order_relaxed);
  // No alert, as in TensorFlow, and yet what is worth its evidence.
  return session.filter().takes(op_type, view.dtype) && count_non_finite_complex(view) > 0;
}

/// What the extension field of one event holds.
struct ExtensionFields {
  const FunctionFrame* frame = nullptr;
  std::uint64_t duration_ns = 0;
  std::span<const OutputRef> outputs = {};
  std::span<const std::uint64_t> variables = {};  ///< of an execution: those it wrote; of a trace: the one that it is
  std::span<const std::uint64_t> read_variables = {};  ///< of a call
  bool outside_source = false;                         ///< the tensor came from outside the record
  std::string_view op_name = {};                       ///< of an eager op, where it has one
  std::span<const InputRef> inputs = {};               ///< of the op
  std::span<const TensorLink> before = {};             ///< what each output's bytes were known as before
  bool in_place = false;                               ///< of a trace: the op may have read these
  bool bad = false;                                    ///< an output is: evidence is taken
  std::uint64_t site = 0;                              ///< of the op: its values are stored once
  std::uint64_t graph_run = 0;                         ///< of a graph without calls
  const RuleState* judged = nullptr;                   ///< with the rules that hold
};

inline bool has_stats(const Session& session, const TensorView& view) noexcept {
  const DTypeKind kind = dtype_kind(view.dtype);
  return kind == DTypeKind::complex || (kind == DTypeKind::floating && session.options().statistics);
}

inline bool needs_stats(const Session& session, const ExtensionFields& fields) noexcept {
  if (fields.outside_source) return true;
  return std::any_of(fields.outputs.begin(), fields.outputs.end(),
                     [&](const OutputRef& o) { return has_stats(session, o.view); });
}

inline void write_stats(logdir::WireWriter& w, const Session& session, const TensorView& view, bool outside_source,
                        const Statistics* known) {
  using Tag = logdir::tags::TensorStats;
  if (session.options().statistics && is_floating(view.dtype)) {
    const Statistics s = known != nullptr ? *known : statistics(view);
    w.field(Tag::min, s.min);
    w.field(Tag::max, s.max);
    w.field(Tag::mean, s.mean);
    w.field(Tag::norm, s.norm);
    w.packed(Tag::exponent_histogram, std::span<const std::uint32_t>(s.exponents));
  }
  w.field(Tag::outside_source, static_cast<std::int64_t>(outside_source));
  if (dtype_kind(view.dtype) == DTypeKind::complex)
    w.field(Tag::nonfinite_complex, static_cast<std::int64_t>(count_non_finite_complex(view)));
}

/// Asks the host what it calls the tensors that evidence is of.
inline void add_names(std::vector<logdir::TensorEvidence>& evidence, bool are_outputs, const TensorNames* names) {
  if (names == nullptr) return;
  const auto take = [](void* to, TextRef name) { static_cast<logdir::TensorEvidence*>(to)->name = name.view(); };
  for (std::size_t i = 0; i < evidence.size(); ++i) names->name_of(names->op, are_outputs, i, take, &evidence[i]);
}

/// What an output was written over: its op may have read that, too, if it was still there.
inline void add_before(logdir::TensorEvidence& e, const TensorLink& before, bool in_place) {
  if (!before.known()) return;
  e.origin = in_place ? logdir::TensorOrigin::recorded : logdir::TensorOrigin::lay_there;
  set_recorded(e, before);
}

inline void write_evidence(logdir::WireWriter& w, const Session& session, const ExtensionFields& fields,
                           const TensorNames* names) {
  using Tag = logdir::tags::NanlensExtension;
  std::vector<logdir::TensorEvidence> inputs;
  std::vector<logdir::TensorEvidence> outputs;
  logdir::TensorEvidence none;
  const logdir::TensorEvidence* bad_output = &none;
  for (const OutputRef& output : fields.outputs) {
    std::uint64_t bad = 0;
    outputs.push_back(look_at(output.view, bad));
    if (outputs.size() <= fields.before.size())
      add_before(outputs.back(), fields.before[outputs.size() - 1], output.in_place);
  }
  for (std::size_t i = outputs.size(); i-- > 0;)
    if (!outputs[i].positions.empty()) bad_output = &outputs[i];
  const bool with_content = session.values().begin(fields.site);
  for (const InputRef& input : fields.inputs) {
    const InputMemory memory(input);
    inputs.push_back(look_at_input(input, memory, *bad_output));
    if (with_content && memory.here()) add_content(inputs.back(), memory.view(), session.values());
  }
  for (std::size_t i = 0; with_content && i < outputs.size(); ++i)
    add_content(outputs[i], fields.outputs[i].view, session.values());
  add_names(inputs, false, names);
  add_names(outputs, true, names);
  for (const auto& e : inputs)
    w.message(Tag::input_evidence, [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, e); });
  for (const auto& e : outputs)
    w.message(Tag::output_evidence, [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, e); });
}

inline ExtensionNumbers numbers_of(const ThreadState& state, const ExtensionFields& fields) noexcept {
  const Observation* const observed = state.measured.observed;
  const FunctionFrame* const frame = fields.frame;
  return {observed != nullptr ? observed->thread_id : state.thread_id, frame != nullptr ? frame->call_id : 0,
          fields.duration_ns, state.measured.fp_flags, frame != nullptr ? frame->graph_run : fields.graph_run};
}

inline void write_extension(logdir::WireWriter& w, const ThreadState& state, const Session& session,
                            const ExtensionFields& fields) {
  if (!session.options().extension) return;
  using Tag = logdir::tags::NanlensExtension;
  w.message(logdir::tags::DebugEvent::nanlens, [&](logdir::WireWriter& e) {
    const Observation* const observed = state.measured.observed;
    const ExtensionNumbers numbers = numbers_of(state, fields);
    e.put(ExtensionNumbers::most_bytes, [&](unsigned char* p) { return numbers.put(p); });
    if (needs_stats(session, fields))
      for (std::size_t i = 0; i < fields.outputs.size(); ++i)
        e.message(Tag::outputs, [&](logdir::WireWriter& stats) {
          const bool known =
              fields.judged != nullptr && i < fields.judged->statistics.size() && fields.judged->statistics[i];
          write_stats(stats, session, fields.outputs[i].view, fields.outside_source,
                      known ? &*fields.judged->statistics[i] : nullptr);
        });
    e.packed(Tag::variable_ids, fields.variables);
    e.packed(Tag::read_variable_ids, fields.read_variables);
    e.field(Tag::op_name, fields.op_name);
    if (fields.bad) write_evidence(e, session, fields, state.measured.names);
    if (state.measured.exchange != nullptr)
      e.message(Tag::exchange, [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, *state.measured.exchange); });
    if (fields.judged != nullptr)
      for (const logdir::RuleHit& hit : fields.judged->hits)
        e.message(Tag::rule_hits, [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, hit); });
    if (observed == nullptr) return;
    e.field(Tag::hits, static_cast<std::int64_t>(observed->hits));
    e.field(Tag::since_start_ns, static_cast<std::int64_t>(observed->since_start_ns));
    e.field(Tag::hits_at_least, std::int64_t{observed->hits_at_least});
  });
}

/// The variable that a tensor's memory is; −1 if it is none.
inline std::int64_t variable_of(const TensorKey& key) noexcept {
  const VariableTable& table = VariableTable::get();
  return table.empty() ? -1 : table.find(key);
}

inline void add_once(std::vector<std::uint64_t>& to, std::uint64_t id) {
  if (std::find(to.begin(), to.end(), id) == to.end()) to.push_back(id);
}

/// Variables that an op writes: targets among its inputs, and outputs that are a variable's memory. An op without
/// inputs only reads what it gives.
inline void add_written(std::vector<std::uint64_t>& to, std::span<const InputRef> inputs,
                        std::span<const OutputRef> outputs) {
  if (VariableTable::get().empty()) return;
  const auto add = [&](const TensorKey& key) {
    if (const std::int64_t id = variable_of(key); id >= 0) to.push_back(static_cast<std::uint64_t>(id));
  };
  for (const InputRef& input : inputs)
    if (input.written) add(input.key);
  if (inputs.empty()) return;
  for (const OutputRef& output : outputs) add(output.key);
}

/// By what copies of an output are known. Its address need not last: it is the key of no memory, then.
inline ContentMark mark_of(const OutputRef& output, const ContentSample& sample) noexcept {
  return output.key.empty() ? ContentMark(key_of(output.view)) : ContentMark(output.key, sample);
}

/// Returns what the output's bytes were known as before, where the op may have read them.
inline TensorLink set_link(ThreadState& state, const OutputRef& output, const TensorLink& link) {
  const ContentSample sample = output.mark != nullptr ? output.mark->sample : ContentSample(output.key);
  const TensorLink before = registry().put(output.key, link, sample);
  if (output.may_be_copied)
    state.recent_outputs.of(registry().generation())
        .add(output.mark != nullptr ? *output.mark : mark_of(output, sample), link);
  if (output.handle != nullptr) *output.handle = link;
  return (output.in_place || output.of_program) && !output.key.copied ? before : TensorLink{};
}

/// The eager id of an input; one that nothing on record made gets a fresh id, since two uses of a buffer need not be
/// one tensor.
inline std::int64_t eager_id(ThreadState& state, const InputRef& input) {
  if (input.written)
    if (const std::int64_t id = variable_of(input.key); id >= 0) return id;
  return input.link.id >= 0 ? input.link.id : state.take_eager_id();
}

/// What an Execution record is made of, but for its tensors.
struct ExecutionFields {
  std::string_view op_type;
  std::string_view graph_id;
  std::span<const std::int64_t> inputs;
  std::span<const std::int64_t> outputs;
  std::span<const std::int32_t> devices;
  SourcePlace where;
};

/// Encodes an Execution and hands it on; `write_protos(WireWriter&, stack)` writes its tensor_protos, and says if one
/// is bad.
template <class WriteProtos>
void submit_execution(ThreadState& state, Session& session, const ExecutionFields& e, ExtensionFields& extension,
                      WriteProtos&& write_protos) {
  using Tag = logdir::tags::Execution;
  QueuedEvent event{};
  event.stack = state.stack_number(session.options().stack, e.where);
  {
    logdir::WireWriter w(state.content);
    w.field(Tag::op_type, e.op_type);
    w.field(Tag::num_outputs, static_cast<std::int64_t>(e.outputs.size()));
    w.field(Tag::graph_id, e.graph_id);
    w.packed(Tag::input_tensor_ids, e.inputs);
    w.packed(Tag::output_tensor_ids, e.outputs);
    w.field(Tag::tensor_debug_mode, std::int64_t{static_cast<std::int32_t>(session.options().tensor_debug_mode)});
    extension.bad = write_protos(w, event.stack);
    const std::size_t before = w.size();  // the writer thread puts the code location here
    w.packed(Tag::output_tensor_device_ids, e.devices);
    const std::size_t message = w.size();
    write_extension(w, state, session, extension);
    event.set_parts(before, message, w.size());
  }
  event.wall_time = state.take_time();
  event.is_execution = 1;
  session.submit(state, event, extension.bad ? extension.site : 0,
                 extension.judged != nullptr && extension.judged->pins);
}

inline std::uint64_t site_of(const OpRef& name, std::size_t num_outputs) noexcept {
  const std::uint64_t place = hash_place(name.where());
  const std::uint64_t names = hash_text(name.type());
  return mix(place, mix(name.has_own_name() ? mix(names, hash_text(name.name())) : names, num_outputs));
}

/// Records an op outside of any function.
inline void record_eager(ThreadState& state, Session* session, const OpRef& name, std::span<const InputRef> inputs,
                         std::span<OutputRef> outputs, std::uint64_t duration_ns) {
  auto& [input_ids, output_ids, devices, written, before] = state.scratch;
  input_ids.clear();
  output_ids.clear();
  devices.clear();
  written.clear();
  before.clear();
  for (const InputRef& input : inputs) input_ids.push_back(eager_id(state, input));
  for (const OutputRef& output : outputs) {
    output_ids.push_back(state.take_eager_id());
    before.push_back(set_link(state, output, {output_ids.back(), nullptr, 0, 0}));
    if (session != nullptr) devices.push_back(state.device_id(output.view.device));
  }
  if (session == nullptr) return;
  add_written(written, inputs, outputs);
  ExtensionFields extension{nullptr, duration_ns, outputs, written};
  if (name.has_own_name()) extension.op_name = name.name();
  extension.inputs = inputs;
  extension.before = before;
  submit_execution(state, *session, {name.type(), {}, input_ids, output_ids, devices, name.where()}, extension,
                   [&](logdir::WireWriter& w, std::uint32_t stack) {
                     bool bad = false;
                     RuleState* const judged = begin_judging(state, *session);
                     for (const OutputRef& o : outputs)
                       bad = write_eager_tensor(w, state, *session, name.type(), o.view, judged) || bad;
                     if (judged != nullptr) judge_eager(*judged, *session, name, outputs, stack);
                     extension.judged = judged;
                     bad = bad || (state.measured.fp_flags & logdir::fp_taken_by_program) != 0;
                     if (bad) extension.site = site_of(name, outputs.size());
                     return bad;
                   });
}

/// "op:slot" of an input inside a graph. One that was not made in this run of the graph comes in through a placeholder,
/// as does any of a node whose inputs are not `fixed`; it is named after the tensor, where the host has a name for it.
inline std::string input_name(FunctionFrame& frame, const InputRef& input, std::string_view consumer, std::size_t index,
                              std::uint32_t stack, bool fixed, const TensorNames* names) {
  const TensorLink& link = input.link;
  if (fixed && link.op != nullptr && link.op->graph == frame.graph && link.graph_run == frame.graph_run)
    return link.op->name + ":" + std::to_string(link.slot);
  const char* const kind = num_elements(input.view.shape) == 0 ? "/empty_" : "/input_";  // without elements, no address
  std::string name;
  if (names != nullptr)
    names->name_of(
        names->op, false, index, [](void* to, TextRef text) { *static_cast<std::string*>(to) = text.view(); }, &name);
  if (name.empty()) name = consumer;
  const GraphOp& capture =
      Catalog::get().add_op(*frame.graph, "Placeholder", name + kind + std::to_string(index), {}, 1, stack);
  return capture.name + ":0";
}

/// The node of the graph that this op is: found by call site, type and occurrence in this call; added if it is new.
inline GraphOp& graph_op(ThreadState& state, const Session* session, FunctionFrame& frame, const OpRef& name,
                         std::span<const InputRef> inputs, std::size_t num_outputs) {
  const std::uint64_t site = site_of(name, num_outputs);
  const std::uint32_t occurrence = frame.occurrence(site);
  std::uint64_t key = mix(site, occurrence);
  // The same line may get tensors of other ops the next time: that is another node, since a node has fixed inputs. Not
  // for ever: a node that stands for the rest of a loop takes what comes.
  const bool takes_all = FunctionFrame::is_last(occurrence) || frame.graph->full.load(std::memory_order_relaxed);
  for (const InputRef& input : takes_all ? std::span<const InputRef>{} : inputs) {
    const TensorLink& link = input.link;
    const bool inside = link.op != nullptr && link.op->graph == frame.graph && link.graph_run == frame.graph_run;
    const std::uint64_t outside = num_elements(input.view.shape) == 0 ? 2 : 1;
    key = mix(key,
              inside ? mix(reinterpret_cast<std::uintptr_t>(link.op), static_cast<std::uint64_t>(link.slot)) : outside);
  }
  const std::uint64_t cached = mix(key, reinterpret_cast<std::uintptr_t>(frame.graph));
  ThreadState::OpEntry& entry = state.op_cache[cached % state.op_cache.size()];
  if (entry.op != nullptr && entry.key == cached) return *entry.op;
  const std::lock_guard guard(frame.graph->lock);
  auto& known = frame.graph->op_by_key;
  if (const auto found = known.find(key); found != known.end()) {
    entry = {cached, found->second};
    return *found->second;
  }
  if (!Catalog::get().has_room_for_ops()) return Catalog::get().further_ops(*frame.graph, num_outputs);
  const StackMode mode = session == nullptr ? StackMode::call_site : session->options().stack;
  const std::uint32_t stack = state.stack_number(mode, name.where());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    names.push_back(input_name(frame, inputs[i], name.name(), i, stack, !takes_all, state.measured.names));
  GraphOp& op = Catalog::get().add_op(*frame.graph, name.type(), name.name(), std::move(names), num_outputs, stack);
  known.emplace(key, &op);
  known.try_emplace(mix(site, occurrence), &op);  // for when the graph is full
  if (known.size() > CatalogGraph::most_keys) frame.graph->full.store(true);
  entry = {cached, &op};
  return op;
}

/// May the trace be a plain one, if its tensor is not bad? What follows then, up to the ring or queue, leaves errno and
/// the floating-point state alone: numbers are only converted, and exactly.
inline bool may_be_plain(const ThreadState& state, const Session& session, const TensorView& view,
                         const ExtensionFields& fields) noexcept {
  constexpr std::int64_t most_elements = 4096;  // beyond, the usual way costs nothing that is seen
  const DumpOptions& options = session.options();
  const TensorDebugMode mode = options.tensor_debug_mode;
  const bool health = mode == TensorDebugMode::full_health || mode == TensorDebugMode::concise_health ||
                      mode == TensorDebugMode::curt_health;
  return health && is_floating(view.dtype) && num_elements(view.shape) <= most_elements && !options.statistics &&
         session.filter().takes_all() && !session.rules().active() && !fields.outside_source &&
         fields.variables.empty() && state.measured.observed == nullptr && state.measured.exchange == nullptr;
}

/// Hands on the trace of a tensor that is not bad, if that is all there is to say. False: the usual way has to.
inline bool submit_plain_trace(ThreadState& state, Session& session, const GraphOp& op, std::int32_t slot,
                               const TensorView& view, const ExtensionFields& extension) {
  if (!may_be_plain(state, session, view, extension)) return false;
  const DumpOptions& options = session.options();
  const TensorDebugMode mode = options.tensor_debug_mode;
  const Summary summary = summarize(mode, view, op.output_tensor_ids[static_cast<std::size_t>(slot)]);
  if (summary.size == 0 || summary.bad) return false;
  const bool usual_device = view.device == cpu_device;  // whose length is known
  return session.submit(
      state,
      PlainTrace{op, slot, mode, summary, usual_device ? std::string_view(cpu_device) : std::string_view(view.device),
                 options.extension, numbers_of(state, extension), state.take_time(), state.sequence});
}

/// Writes the trace of one output of a graph's op, if the mode and the filters want it.
inline void submit_trace(ThreadState& state, Session& session, const GraphOp& op, std::int32_t slot,
                         const TensorView& view, const ExtensionFields& extension) {
  using Tag = logdir::tags::GraphExecutionTrace;
  if (submit_plain_trace(state, session, op, slot, view, extension)) return;
  const HostState host;
  QueuedEvent event{};
  TensorOutcome outcome;
  logdir::TensorHealth health;
  RuleState* const judged = begin_judging(state, session);
  if (judged != nullptr) outcome.health = &health;
  {
    logdir::WireWriter w(state.content);
    w.raw(op.trace_head);
    w.field(Tag::output_slot, std::int64_t{slot});
    w.field(Tag::tensor_debug_mode, std::int64_t{static_cast<std::int32_t>(session.options().tensor_debug_mode)});
    const std::int32_t tensor_id = op.output_tensor_ids[static_cast<std::size_t>(slot)];
    if (!write_tensor(w, Tag::tensor_proto, session, op.type, view, tensor_id, false, outcome)) {
      if (outcome.unreadable) state.unread_tensors.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    w.field(Tag::device_name, std::string_view(view.device));
    const std::size_t message = w.size();
    if (judged != nullptr) judge_trace(*judged, session, op, slot, view, health);
    if (extension.outside_source || outcome.bad || judged != nullptr || has_stats(session, view)) {
      OutputRef output{view, {}};
      output.in_place = extension.in_place;
      ExtensionFields fields = extension;
      fields.judged = judged;
      fields.outputs = {&output, 1};
      fields.bad = outcome.bad;
      fields.site = mix(reinterpret_cast<std::uintptr_t>(&op), static_cast<std::uint64_t>(slot));
      write_extension(w, state, session, fields);
    } else {
      write_extension(w, state, session, extension);
    }
    event.set_parts(message, message, w.size());
  }
  event.wall_time = state.take_time();
  event.stack = no_stack;
  // The nodes of a line that runs again and again are one call site.
  session.submit(state, event, outcome.bad ? mix(hash_text(op.type), op.stack) : 0, judged != nullptr && judged->pins);
}

/// Records an op inside a function: a node of its graph, and a trace of each output.
inline const GraphOp& record_in_graph(ThreadState& state, Session* session, const OpRef& name,
                                      std::span<const InputRef> inputs, std::span<OutputRef> outputs,
                                      std::uint64_t duration_ns, bool traced = true) {
  FunctionFrame& frame = *state.function;
  const GraphOp& op = [&]() -> const GraphOp& {
    const std::lock_guard guard(frame.lock);
    return graph_op(state, session, frame, name, inputs, outputs.size());
  }();
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const auto number = static_cast<std::int32_t>(slot);
    const TensorLink before = set_link(state, outputs[slot], {-1, &op, frame.graph_run, number});
    if (session == nullptr || !traced) continue;
    const std::int64_t id = variable_of(outputs[slot].key);
    const auto variable = static_cast<std::uint64_t>(id);
    ExtensionFields fields{&frame, duration_ns};
    if (id >= 0) fields.variables = {&variable, 1};
    fields.inputs = inputs;
    fields.before = {&before, 1};
    fields.in_place = outputs[slot].in_place;
    submit_trace(state, *session, op, number, outputs[slot].view, fields);
  }
  if (!VariableTable::get().empty()) {
    const std::lock_guard guard(frame.lock);
    add_written(frame.written_variables, inputs, outputs);
    for (const InputRef& input : inputs)
      if (const std::int64_t id = variable_of(input.key); id >= 0 && !input.written)
        add_once(frame.read_variables, static_cast<std::uint64_t>(id));
    for (const OutputRef& output : outputs)
      if (const std::int64_t id = variable_of(output.key); id >= 0 && inputs.empty())
        add_once(frame.read_variables, static_cast<std::uint64_t>(id));
  }
  return op;
}

/// The frames of a verdict. The symbols of the program are read once: that takes tens of megabytes.
inline std::vector<ResolvedFrame> resolve_for_verdict(const SourcePlace& where) {
  if (where.stack() != no_stack) {
    std::vector<ResolvedFrame> frames;
    for (const SourcePlace& frame : Catalog::get().stack(where.stack()).given) frames.push_back(frame_of(frame));
    return frames;
  }
  StackAddresses stack;
  walk_stack(StackMode::unwind, stack);
  static std::mutex lock;
  static Symbolizer* const symbolizer = new Symbolizer;  // never destroyed: threads may check while the program ends
  const std::lock_guard guard(lock);
  return symbolizer->resolve(stack.span(), where);
}

/// What check_numerics has to say of an op's outputs: of the first bad one; null if nothing.
inline const NumericsRef* check_outputs(const std::shared_ptr<const CheckOptions>& options, std::string_view op_type,
                                        const GraphOp* op, const SourcePlace& where, std::span<const InputRef> inputs,
                                        std::span<const OutputRef> outputs) {
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const TensorView& view = outputs[slot].view;
    const std::uint64_t bad_complex = count_non_finite_complex(view);
    if (bad_complex == 0 && !has_non_finite(view)) continue;
    if (!is_checked(*options, op_type, static_cast<std::int32_t>(slot))) continue;
    NumericsEvent event;
    event.op_type = op_type;
    if (op != nullptr) {
      event.op_name = op->name;
      event.graph_name = op->graph->name;
    }
    event.output_slot = static_cast<std::int32_t>(slot);
    event.num_outputs = static_cast<std::int32_t>(outputs.size());
    event.dtype = view.dtype;
    event.shape = view.shape;
    event.counts = full_health(view);
    event.nonfinite_complex = bad_complex;
    for (const InputRef& input : inputs) {
      const TensorLink& link = input.link;
      event.inputs.push_back({link.op == nullptr ? "" : link.op->name + ":" + std::to_string(link.slot),
                              input.view.dtype, input.view.shape});
    }
    event.stack = resolve_for_verdict(where);
    return new FoundNumerics(std::move(event), options);
  }
  return nullptr;
}

/// The same, as far as it is on and there is memory to tell of it.
inline const NumericsRef* checked_outputs(ThreadState& state, std::string_view op_type, const GraphOp* op,
                                          const SourcePlace& where, std::span<const InputRef> inputs,
                                          std::span<const OutputRef> outputs) noexcept {
  const HostState host;
  const NumericsRef* found = nullptr;
  without_throwing(state, [&] {
    if (const auto options = CheckSettings::get().current())
      found = check_outputs(options, op_type, op, where, inputs, outputs);
  });
  return found;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
