/// @file
/// PyTorch's callbacks around every op: from what they are given to what the recorder takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/record_function.h>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/stacks.hpp>
#include <nanlens/hosts/torch/exchange_hooks.hpp>
#include <nanlens/hosts/torch/forward_stacks.hpp>
#include <nanlens/hosts/torch/module_naming.hpp>
#include <nanlens/hosts/torch/running_op.hpp>
#include <nanlens/hosts/torch/script_scopes.hpp>
#include <nanlens/hosts/torch/script_stack.hpp>
#include <nanlens/summary/health.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// A node of the autograd graph that runs: what an op of the backward pass is named after.
struct BackwardNode final : ::at::ObserverContext {
  std::string name;                             ///< "SqrtBackward0", "AddmmBackward0 of net.fc"
  std::uint32_t stack = SourcePlace::no_stack;  ///< where the backward pass was when the node began
  ForwardPlace forward;
  const BackwardNode* around = nullptr;
};

/// What a thread has under way. Without a destructor: callbacks may come while the thread ends.
struct ThreadRecord {
  bool inside = false;  ///< of a callback: what it calls is not recorded
  std::size_t depth = 0;
  std::uint64_t first_result = 0;        ///< of the outermost op
  const RunningOp* outermost = nullptr;  ///< if it is known what that op reads
  const BackwardNode* node = nullptr;
  const std::shared_ptr<Receiving>* receiving = nullptr;  ///< of the op that exchanges tensors now
  NestedResults results;
};
inline ThreadRecord& this_thread_record() noexcept {
  static thread_local ThreadRecord record{};
  return record;
}

/// Marks the thread as inside of a callback, also while an exception leaves it, and one callback comes within another.
class Inside {
 public:
  explicit Inside(ThreadRecord& record) noexcept : record_(record), was_inside_(record.inside) { record.inside = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { record_.inside = was_inside_; }

 private:
  ThreadRecord& record_;
  bool was_inside_;
};

inline ForwardStacks& forward_stacks() {
  static auto* const stacks = new ForwardStacks;
  return *stacks;
}

// The place of an op; in the backward pass with that of its forward op.
inline SourcePlace where_of(const RunningOp& op, const ThreadRecord& thread) {
  std::uint32_t stack = op.place.stack;
  // What a custom function's own backward code calls has its own place.
  if (thread.node != nullptr && stack == thread.node->stack) stack = joined_stack(stack, thread.node->forward.stack);
  return stack == SourcePlace::no_stack ? SourcePlace() : SourcePlace::of_stack(stack);
}

// In TorchScript, and in which call of it; ops of the backward pass are in none. What is told is the function that the
// thread has a mark of, but is not in: it has left that.
inline std::shared_ptr<ScriptScope> find_place(RunningOp& op, const ForwardPlace& caller, const ThreadRecord& thread) {
  std::shared_ptr<ScriptScope> scope = ScriptScopes::get().find();
  const bool is_on_pool = scope != nullptr && caller.stack == SourcePlace::no_stack;
  const ScriptPlace found = script_place(is_on_pool ? scope->call->caller() : caller,
                                         scope != nullptr ? scope->root : ScriptRoot{caller.module});
  op.place = found.path != nullptr ? found.place : caller;
  if (thread.node != nullptr) return nullptr;
  op.script_path = found.path;
  if (scope == nullptr || found.path == nullptr) return scope;
  if (scope->thread != ::at::RecordFunction::currentThreadId()) scope->has_left.store(true, std::memory_order_release);
  op.script = scope->call;
  return nullptr;
}

// A call that went on on another thread has ended when the program goes on behind it, though PyTorch may not have said
// so yet: a Python program waits for it, and any has what it made only then.
inline void end_left(ScriptScope& scope, const RunningOp& op, const ForwardPlace& caller) {
  if (!scope.begins_call || scope.thread != ::at::RecordFunction::currentThreadId()) return;
  const auto is_made_there = [&](const TensorIdentity& input) {
    return input.storage != nullptr && scope.call->has_made(input.storage);
  };
  if (caller.stack == SourcePlace::no_stack &&
      std::none_of(op.input_identities.begin(), op.input_identities.end(), is_made_there))
    return;
  end_call(scope);
}

// Says once that the program has code in which there are no ops any more.
inline void pass_over_compiled() noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fputs(
        "nanlens: what torch.compile has compiled is not on record; TORCH_COMPILE_DISABLE=1 has every op recorded\n",
        stderr);
}

inline std::unique_ptr<::at::ObserverContext> begin_op(const ::at::RecordFunction& function, ThreadRecord& thread) {
  const OpFacts& facts = facts_of(function);
  if (facts.is_compiled) pass_over_compiled();
  if (!facts.is_op) return nullptr;
  auto op = std::make_unique<RunningOp>();
  op->facts = &facts;
  const python::ThreadStack stack = python::this_thread_stack(&is_module_call);
  const ForwardPlace caller{stack.number, module_of(stack)};
  const std::shared_ptr<ScriptScope> left = find_place(*op, caller, thread);
  if (function.seqNr() >= 0 && op->place.stack != SourcePlace::no_stack && thread.node == nullptr)
    forward_stacks().set(function.threadId(), function.seqNr(), op->place);
  op->first_result = thread.results.count();
  if (thread.depth > 0) op->inside_of = thread.outermost;
  if (thread.depth == 0) {
    thread.first_result = op->first_result;
    thread.outermost = facts.makes_nothing || facts.allocates ? nullptr : op.get();
  }
  if (!facts.makes_nothing && !facts.allocates) {
    const auto arguments = arguments_of(function, facts);
    op->reserve(arguments.size());
    std::size_t index = 0;
    for (const ::c10::IValue& argument : arguments) {
      const Arguments bit = index < 64 ? Arguments{1} << index : 0;
      each_tensor(argument, [&](const ::c10::TensorImpl& tensor) { add_argument(*op, tensor, bit); });
      if (static_cast<int>(index) == facts.non_blocking) op->copies_later = argument.isBool() && argument.toBool();
      if (argument.isDouble() && !std::isfinite(argument.toDouble()))
        add_number(*op, function, argument.toDouble(), index);
      ++index;
    }
    add_before(*op);
    op->copies_later = op->copies_later && op->from_device;
    if (op->is_around_others && thread.depth == 0) thread.outermost = nullptr;
    if (left != nullptr) end_left(*left, *op, caller);
    if (op->script != nullptr) op->script->open();
    if (!op->written.empty()) look_at_inputs(*op);
    if (!op->hidden.empty()) look_at_hidden(*op);
    if (facts.copies) begin_copy(*op);
  }
  if (facts.exchange != nullptr) {
    begin_exchange(function, *op, where_of(*op, thread));
    thread.receiving = &op->receiving;
  }
  ++thread.depth;
  op->begun_ns = nanlens::detail::steady_now_ns();
  return op;
}

inline std::unique_ptr<::at::ObserverContext> begin_node(const ::at::RecordFunction& function, ThreadRecord& thread) {
  auto node = std::make_unique<BackwardNode>();
  std::string_view name = function.name();  // "autograd::engine::evaluate_function: SqrtBackward0" comes around it
  name.remove_prefix(name.find_last_of(": ") + 1);
  node->name = name;
  if (function.seqNr() >= 0) node->forward = forward_stacks().find(function.forwardThreadId(), function.seqNr());
  node->stack = python::this_thread_stack(&is_module_call).number;
  node->around = thread.node;
  if (node->forward.stack == SourcePlace::no_stack && thread.node != nullptr) node->forward = thread.node->forward;
  if (node->forward.module != nullptr) node->name += " of " + *node->forward.module;
  thread.node = node.get();
  return node;
}

// "net/fc/addmm": PyTorch's own ops without their namespace.
inline std::string node_name(const RunningOp& op) {
  constexpr std::string_view own = "aten::";
  std::string_view name = op.facts->name;
  if (name.starts_with(own)) name.remove_prefix(own.size());
  return op.script_path->empty() ? std::string(name) : *op.script_path + "/" + std::string(name);
}

// As a node of the graph that the op is in; false if it is in none.
template <class Record>
bool record_in_script(const RunningOp& op, const Results& results, const Record& record) {
  if (op.script == nullptr) return false;
  return op.script->within([&] {
    record(node_name(op));
    for (std::size_t i = 0; i < results.identities.size(); ++i)
      op.script->add_result(results.refs[i], results.identities[i].storage);
  });
}

// Does it read what an op around it has made by no op at all? Then its work, too, is part of that op's: what the value
// comes from are the arguments of that one.
inline bool reads_unseen(const RunningOp& op, const ThreadRecord& thread) {
  if (thread.depth == 0 || thread.outermost == nullptr) return false;
  const auto is_argument = [&](const InputRef& input) {
    const auto overlaps = [&](const InputRef& argument) { return argument.key.overlaps(input.key); };
    const auto is_written = [&](const OutputRef& argument) { return argument.key.overlaps(input.key); };
    return std::any_of(thread.outermost->inputs.begin(), thread.outermost->inputs.end(), overlaps) ||
           std::any_of(thread.outermost->written.begin(), thread.outermost->written.end(), is_written);
  };
  std::uint64_t numbers = op.numbers;
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const InputRef& input) {
    const bool is_number = (std::exchange(numbers, numbers >> 1) & 1) != 0;
    return !is_number && is_floating(input.view.dtype) && !input.key.empty() && !is_argument(input) &&
           !thread.results.touches(input.key, thread.first_result);
  });
}

// Does it hand on what an op inside made, and is all else that it reads clean? Then nothing unseen is to blame.
inline bool hands_on(const RunningOp& op, const Results& results, const ThreadRecord& thread) {
  const auto is_bad = [](const OutputRef& result) { return has_non_finite(result.view); };
  if (std::none_of(results.refs.begin(), results.refs.end(), is_bad)) return false;
  bool any = false;
  for (const InputRef& input : op.inputs) {
    if (!has_non_finite(input.view)) continue;
    if (!thread.results.touches(input.key, thread.first_result)) return false;
    any = true;
  }
  return any;
}

// What the host's memory holds when such an op ends is not its result yet, and no longer what was known of it.
inline void leave_to_device(Results& results) {
  for (OutputRef& result : results.refs) {
    if (result.key.empty() || result.key.far != 0) continue;
    nanlens::detail::recorder().forget(result.key.begin, result.key.end);
    result.view.data = nullptr;
    result.view.device = unreadable_device;
    result.key = {};
  }
}

// What lies in a device's memory is counted there. Its values come where something is bad, or all are recorded.
inline void look_at_devices(DeviceLook& look, RunningOp& op, Results& results, const SourcePlace& where) {
  for (OutputRef& result : results.refs) look.add(result);
  for (InputRef& input : op.inputs)
    if (!overlaps_any(input.key, results.refs)) look.add(input);
  look.look_and_fetch(nanlens::detail::mix(reinterpret_cast<std::uintptr_t>(op.facts), where.stack()));
}

inline void record(const ::at::RecordFunction& function, RunningOp& op, ThreadRecord& thread) {
  Results results = own_results(function, op, thread.results);
  if (results.refs.empty()) return;
  const SourcePlace where = where_of(op, thread);
  DeviceLook look;
  look_at_devices(look, op, results, where);
  if (op.copies_later && !look.answered()) leave_to_device(results);
  if (reads_unseen(op, thread) && !hands_on(op, results, thread)) {
    for (const OutputRef& result : results.refs) thread.results.forget(result.key, thread.first_result);
    return;
  }
  const std::string_view type = op.facts->name;
  std::string_view name = op.place.module == nullptr ? type : std::string_view(*op.place.module);
  if (thread.node != nullptr) name = thread.node->name;
  const NamedOp named{op, results};
  const nanlens::detail::TensorNames names{&named, &NamedOp::name_of};
  const nanlens::detail::Measured measured{nanlens::detail::steady_now_ns() - op.begun_ns, 0, nullptr, &names};
  const auto record = [&](std::string_view as) {
    tell(nanlens::detail::recorder().record({type, as, where}, op.inputs.data(), op.inputs.size(), results.refs.data(),
                                            results.refs.size(), measured));
  };
  if (!record_in_script(op, results, record)) record(name);
  for (const OutputRef& result : results.refs) thread.results.add(result.key);
}

// What an op outputs is not what was recorded in its memory before.
inline void forget_outputs(const ::at::RecordFunction& function, const RunningOp& op, ThreadRecord& thread,
                           bool filled) {
  for (const ::c10::IValue& value : results_of(function, *op.facts))
    each_tensor(value, [&](const ::c10::TensorImpl& tensor) {
      const nanlens::detail::TensorKey key = see(tensor).key;
      if (key.empty()) return;
      nanlens::detail::recorder().forget(key.begin, key.end);
      if (filled) thread.results.add_filled(key, thread.first_result);
    });
}

// Is it a number of the op around it, in another type? An infinite one is compared with there, as a rule.
inline bool converts_number(const RunningOp& op) noexcept {
  return op.facts->name == "aten::_to_copy" && op.inputs.size() == 1 && op.numbers == 1;
}

inline void end_op(const ::at::RecordFunction& function, RunningOp& op, ThreadRecord& thread) {
  if (thread.depth > 0) --thread.depth;
  if (thread.depth == 0) thread.outermost = nullptr;
  if (op.facts->exchange != nullptr) {
    thread.receiving = nullptr;
    end_exchange(function, op);
  } else if (thread.receiving != nullptr && *thread.receiving != nullptr) {
    return keep_buffers(function, op, **thread.receiving);
  }
  if (op.facts->makes_nothing) return;
  if (op.arriving != nullptr) return end_copy(*op.arriving);
  // What a mean divides, say, where there is nothing to add up, is no more than how it says so.
  if (thread.depth > 0 && thread.outermost != nullptr && thread.outermost->is_of_nothing) return;
  // What an op allocates, fills or copies on its way is part of its own work: the result is that op's.
  if (thread.depth > 0 && (op.facts->allocates || op.facts->initialises)) {
    for (const OutputRef& written : op.written)
      if (op.facts->copies)
        thread.results.add_copied(written.key, thread.first_result);
      else
        thread.results.add_filled(written.key, thread.first_result);
    return;
  }
  if (op.facts->allocates) return forget_outputs(function, op, thread, false);
  if (thread.depth > 0 && (op.facts->is_constant || converts_number(op)))
    return forget_outputs(function, op, thread, true);
  record(function, op, thread);
}

/// The start callback. What it throws, for want of memory, PyTorch swallows: the op is not recorded then.
inline std::unique_ptr<::at::ObserverContext> begin(const ::at::RecordFunction& function) {
  const bool is_recording = nanlens::detail::is_active() && nanlens::detail::active_bits() != 0;
  ThreadRecord& thread = this_thread_record();
  if (!is_recording || thread.inside || is_gloo_work() || function.isAsync()) {
    pass_over_exchange(function);
    return nullptr;
  }
  const Inside inside(thread);
  end_what_has_come();
  if (function.scope() == ::at::RecordScope::BACKWARD_FUNCTION) return begin_node(function, thread);
  return function.scope() == ::at::RecordScope::FUNCTION ? begin_op(function, thread) : nullptr;
}

/// The end callback; without a context where the start callback gave none.
inline void end(const ::at::RecordFunction& function, ::at::ObserverContext* context) {
  ThreadRecord& thread = this_thread_record();
  if (thread.inside || context == nullptr) return;
  const Inside inside(thread);
  if (function.scope() == ::at::RecordScope::BACKWARD_FUNCTION)
    thread.node = static_cast<BackwardNode*>(context)->around;
  else
    end_op(function, *static_cast<RunningOp*>(context), thread);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
