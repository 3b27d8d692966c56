#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/capture/op_name.hpp>
#include <nanlens/capture/recorder.inl>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace NANLENS_HIDDEN detail {

inline void name_graph(CatalogGraph& graph, const CallRef& call, int uid) {
  const std::string plain(call.name.view());
  const std::string number = std::to_string(uid);
  switch (static_cast<FunctionKind>(call.kind)) {
    case FunctionKind::inference:
      graph.name = plain;
      graph.mangled = "__inference_" + plain + "_" + number;
      return;
    case FunctionKind::forward:
      graph.name = plain;
      graph.mangled = "__forward_" + plain + "_" + number;
      return;
    case FunctionKind::backward:
      graph.name = "__backward_" + plain + "_" + number;
      graph.mangled = "__inference___backward_" + plain + "_" + number + "_" + std::to_string(uid + 1);
      return;
  }
}

// A retrace happens when count, dtype or rank of the arguments change, as tf.function does it.
inline std::uint64_t function_key(const CallRef& call, const CatalogGraph* outer) {
  std::uint64_t key = mix(reinterpret_cast<std::uintptr_t>(outer), static_cast<std::uint64_t>(call.kind));
  key = mix(key, mix(hash_text(call.name.view()), hash_place(call.where)));
  for (const InputRef& a : std::span(call.arguments, call.num_arguments))
    key = mix(key, static_cast<std::uint64_t>(static_cast<std::int32_t>(a.view.dtype)) << 32 | a.view.shape.size());
  return key;
}

inline FunctionFrame& push_frame(ThreadState& state) {
  constexpr std::size_t most_spare = 16;
  std::unique_ptr<FunctionFrame> frame;
  if (state.spare_frames.empty()) {
    state.spare_frames.reserve(most_spare);
    frame = std::make_unique<FunctionFrame>();
  } else {
    frame = std::move(state.spare_frames.back());
    state.spare_frames.pop_back();
  }
  frame->state = &state;
  frame->handed_over = false;
  frame->ended.store(false, std::memory_order_relaxed);
  frame->outer = state.function;
  frame->arguments.clear();
  frame->identities.clear();
  frame->inner_links.clear();
  frame->results.clear();
  frame->result_protos.clear();
  frame->written_variables.clear();
  frame->read_variables.clear();
  frame->sites_used = 0;
  state.function = frame.get();
  return *frame.release();
}

/// Keeps a few frames for calls to come; that needs no memory.
inline void recycle(ThreadState& state, FunctionFrame* frame) noexcept {
  std::unique_ptr<FunctionFrame> ended(frame);
  if (state.spare_frames.size() < state.spare_frames.capacity()) state.spare_frames.push_back(std::move(ended));
}

inline void pop_frame(ThreadState& state) noexcept {
  FunctionFrame* const frame = state.function;
  state.function = frame->outer;
  recycle(state, frame);
}

// Is it an argument of a call that this one is not within: of another thread, which has been given the same tensor?
inline bool is_argument_elsewhere(const FunctionFrame& frame, const TensorLink& link) noexcept {
  if (link.op == nullptr || link.op->type != "Placeholder") return false;
  const FunctionFrame* around = &frame;
  while (around != nullptr && around->graph_run != link.graph_run) around = around->outer;
  return around == nullptr;
}

/// Calls that are given the same tensor at the same time each know its memory as their own argument, and the last one
/// that began or ended has said what it is: in this call it is this one's.
inline void find_arguments(FunctionFrame& frame, std::span<InputRef> inputs) noexcept {
  for (InputRef& input : inputs) {
    if (!input.link.known() || input.key.empty() || input.link.graph_run == frame.graph_run) continue;
    const std::lock_guard guard(frame.lock);
    for (std::size_t i = 0; i < frame.arguments.size(); ++i) {
      const InputRef& argument = frame.arguments[i];
      if (!argument.key.same_bytes(input.key) && !argument.key.contains(input.key)) continue;
      if (input.link == frame.identities[i].link || is_argument_elsewhere(frame, input.link)) {
        input.link = frame.inner_links[i];
        break;
      }
    }
  }
}

// An argument becomes a placeholder: from here on its memory is known as that, until the call ends. It is the same node
// of the graph in every call: found by its name, and by how often that name came before.
inline void enter_argument(ThreadState& state, Session* session, FunctionFrame& frame, std::string_view name,
                           InputRef argument, bool traced) {
  TensorIdentity outside{argument.link, {}, argument.key, {}};
  identify(state, argument, true, &outside);
  if (is_argument_elsewhere(frame, argument.link))  // the other call may end first: it is what it was before that, too
    outside.link = argument.link = {argument.link.id, nullptr, 0, 0};
  frame.arguments.push_back(argument);
  frame.arguments.back().here = false;  // it may have ended when the call does
  frame.arguments.back().view.counted = nullptr;
  frame.identities.push_back(outside);
  const std::uint64_t site = mix(0x617267, hash_text(name));  // apart from call sites
  const std::uint64_t key = mix(site, frame.occurrence(site));
  const std::uint64_t cached = mix(key, reinterpret_cast<std::uintptr_t>(frame.graph));
  ThreadState::OpEntry& entry = state.op_cache[cached % state.op_cache.size()];
  if (entry.op == nullptr || entry.key != cached) {
    const std::lock_guard guard(frame.graph->lock);
    GraphOp*& node = frame.graph->op_by_key[key];
    if (node == nullptr) {
      const StackMode mode = session == nullptr ? StackMode::call_site : session->options().stack;
      node = &Catalog::get().add_op(*frame.graph, "Placeholder", name, {}, 1, state.stack_number(mode, frame.where));
    }
    entry = {cached, node};
  }
  const GraphOp* const op = entry.op;
  const TensorLink inner{argument.link.id, op, frame.graph_run, 0};
  frame.inner_links.push_back(inner);
  registry().put(argument.key, inner, ContentSample(argument.key));
  const std::int64_t id = variable_of(argument.key);
  const auto variable = static_cast<std::uint64_t>(id);
  if (id >= 0) add_once(frame.read_variables, variable);
  if (session == nullptr || !traced) return;
  ExtensionFields fields{&frame, 0};
  if (id >= 0)
    fields.variables = {&variable, 1};
  else
    fields.outside_source = !argument.link.known();
  fields.inputs = {&argument, 1};
  submit_trace(state, *session, *op, 0, argument.view, fields);
}

// Arguments are known outside again as what they were, unless something was written over them meanwhile.
inline void restore_arguments(const FunctionFrame& frame) {
  for (std::size_t i = frame.arguments.size(); i-- > 0;)
    registry().relink(frame.arguments[i].key, frame.inner_links[i], frame.identities[i]);
}

// What each result is in the function's own graph: an op of type _Retval per result, as in TensorFlow's runtime.
inline void record_returns(ThreadState& state, const Session* session, FunctionFrame& frame) {
  for (std::size_t i = 0; i < frame.results.size(); ++i)
    graph_op(state, session, frame, {"_Retval", "retval", frame.where}, {&frame.results[i].inside, 1}, 0);
}

// The call as its caller sees it: an op of the caller's graph, without traces of its own, or an Execution.
inline void end_call(ThreadState& state, Session* session, FunctionFrame& frame) {
  for (auto& r : frame.results) r.output.mark = &r.mark;
  record_returns(state, session, frame);
  restore_arguments(frame);
  if (frame.outer != nullptr) {
    {
      const std::lock_guard guard(frame.outer->lock);
      auto& written = frame.outer->written_variables;
      written.insert(written.end(), frame.written_variables.begin(), frame.written_variables.end());
      for (const std::uint64_t id : frame.read_variables) add_once(frame.outer->read_variables, id);
    }
    std::vector<OutputRef>& outs = state.inner_results;
    outs.clear();
    for (const auto& r : frame.results) outs.push_back(r.output);
    const OpRef name("StatefulPartitionedCall", frame.graph->name, frame.where);
    state.function = frame.outer;
    record_in_graph(state, session, name, frame.arguments, outs, 0, false);
    state.function = &frame;
    return;
  }
  auto& [input_ids, output_ids, devices, written, before] = state.scratch;
  input_ids.clear();
  output_ids.clear();
  devices.clear();
  for (const InputRef& argument : frame.arguments)
    input_ids.push_back(argument.link.id >= 0 ? argument.link.id : state.take_eager_id());
  for (const auto& r : frame.results) {
    output_ids.push_back(state.take_eager_id());
    set_link(state, r.output, {output_ids.back(), nullptr, 0, 0});
    if (session != nullptr) devices.push_back(state.device_id(r.output.view.device));
  }
  if (session == nullptr) return;
  ExtensionFields extension{
      &frame, steady_now_ns() - frame.started_ns, {}, frame.written_variables, frame.read_variables};
  submit_execution(state, *session,
                   {frame.graph->mangled, frame.graph->id, input_ids, output_ids, devices, frame.where}, extension,
                   [&](logdir::WireWriter& w, std::uint32_t) {
                     w.raw(frame.result_protos);
                     return false;
                   });
}

// The graph of a call that begins, and its arguments.
inline void begin_call(ThreadState& state, Session* session, FunctionFrame& frame, const CallRef& call) {
  const CatalogGraph* const outer = frame.outer == nullptr ? nullptr : frame.outer->graph;
  Catalog& catalog = Catalog::get();
  const std::uint64_t key = function_key(call, outer);
  ThreadState::GraphEntry& entry = state.graph_cache[key % state.graph_cache.size()];
  if (entry.graph == nullptr || entry.key != key)
    entry = {key, &catalog.graph(key, outer, [&](CatalogGraph& graph, int uid) { name_graph(graph, call, uid); })};
  frame.graph = entry.graph;
  frame.call_id = frame.outer == nullptr ? catalog.next_call_id() : frame.outer->call_id;
  frame.graph_run = catalog.next_graph_run();
  frame.where = catalog.kept_place(call.where);
  frame.started_ns = steady_now_ns();
  for (std::size_t i = 0; i < call.num_arguments; ++i)
    enter_argument(state, session, frame, call.names[i].view(), call.arguments[i], call.traced[i]);
}

/// Lets go of calls that other threads have ended.
inline void drop_ended(ThreadState& state) {
  while (state.function != nullptr && state.function->ended.load(std::memory_order_acquire)) pop_frame(state);
}

inline void* enter_function(const CallRef& call) noexcept {
  ThreadState* const state = recording_thread(Dropped::execution);
  if (state == nullptr || (Clients::get().bits() & resting_bit) != 0) return nullptr;
  drop_ended(*state);
  const RecordingScope scope(*state);
  FunctionFrame* const outer = state->function;
  if (without_throwing(*state, [&] { begin_call(*state, scope.session, push_frame(*state), call); }))
    return state->function;
  if (state->function != outer) pop_frame(*state);  // what runs in it is recorded without the function
  return nullptr;
}

inline void leave_function(void* call, bool unwinding) noexcept {
  FunctionFrame& frame = *static_cast<FunctionFrame*>(call);
  ThreadState* const state = recording_thread();
  if (state == nullptr) return;  // its rows stay, without an Execution
  const RecordingScope scope(*state);
  FunctionFrame* const current = state->function;
  state->function = &frame;
  without_throwing(*state, [&] {
    if (unwinding)
      restore_arguments(frame);
    else
      end_call(*state, scope.session, frame);
  });
  state->function = &frame;
  if (frame.state == state && !frame.handed_over) return pop_frame(*state);
  state->function = current == &frame ? frame.outer : current;
  if (frame.handed_over)
    recycle(*state, &frame);
  else
    frame.ended.store(true, std::memory_order_release);  // its thread lets go of it
}

/// This thread's ops belong to the call, until they belong to `before` again, which may be null.
inline void* adopt_function(void* call) noexcept {
  ThreadState* const state = this_thread();
  if (state == nullptr) return nullptr;
  FunctionFrame* const before = state->function;
  state->function = static_cast<FunctionFrame*>(call);
  return before;
}
inline void give_back_function(void* before) noexcept {
  if (ThreadState* const state = this_thread()) state->function = static_cast<FunctionFrame*>(before);
}

/// No op of this thread belongs to the call any more, which any thread may end.
inline void hand_over_function(void* call) noexcept {
  FunctionFrame& frame = *static_cast<FunctionFrame*>(call);
  frame.handed_over = true;
  if (ThreadState* const state = this_thread(); state != nullptr && state->function == &frame)
    state->function = frame.outer;
}

inline void capture_argument(void* call, TextRef name, const InputRef& input) noexcept {
  FunctionFrame& frame = *static_cast<FunctionFrame*>(call);
  ThreadState* const state = recording_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    const std::lock_guard guard(frame.lock);
    enter_argument(*state, scope.session, frame, name.view(), input, true);
  });
}

inline void add_result(void* call, const OutputRef& output, const InputRef& value) noexcept {
  FunctionFrame& frame = *static_cast<FunctionFrame*>(call);
  ThreadState* const current = recording_thread();
  if (current == nullptr) return;
  ThreadState& state = *current;
  const RecordingScope scope(state);
  without_throwing(state, [&] {
    InputRef inside = value;
    identify(state, inside, true);
    find_arguments(frame, {&inside, 1});
    inside.here = false;
    const std::lock_guard guard(frame.lock);
    // A result that is a handle need not live until the call ends: it is linked by its address only.
    const OutputRef later{
        {nullptr, DType::invalid, {}, {}, output.view.device}, output.key, nullptr, output.may_be_copied};
    frame.results.push_back({later, inside, mark_of(output, ContentSample(output.key))});
    if (scope.session == nullptr || frame.outer != nullptr) return;
    logdir::WireWriter w(frame.result_protos);
    write_eager_tensor(w, state, *scope.session, frame.graph->mangled, output.view);
  });
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
