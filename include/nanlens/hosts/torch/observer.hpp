/// @file
/// PyTorch's callbacks around every op: from what they are given to what the recorder takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/record_function.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/stacks.hpp>
#include <nanlens/hosts/torch/forward_stacks.hpp>
#include <nanlens/hosts/torch/nested_results.hpp>
#include <nanlens/hosts/torch/op_facts.hpp>
#include <nanlens/hosts/torch/tensor_views.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

using nanlens::detail::InputRef;
using nanlens::detail::OutputRef;
using nanlens::detail::SourcePlace;

/// A node of the autograd graph that runs: what an op of the backward pass is named after.
struct BackwardNode final : ::at::ObserverContext {
  std::string name;                             ///< "SqrtBackward0"
  std::uint32_t stack = SourcePlace::no_stack;  ///< where the backward pass was when the node began
  std::uint32_t forward_stack = SourcePlace::no_stack;
  const BackwardNode* around = nullptr;
};

/// What a thread has under way. Without a destructor: callbacks may come while the thread ends.
struct ThreadRecord {
  bool inside = false;  ///< of a callback: what it calls is not recorded
  std::size_t depth = 0;
  const BackwardNode* node = nullptr;
  NestedResults results;
};
inline ThreadRecord& this_thread_record() noexcept {
  static thread_local ThreadRecord record{};
  return record;
}

/// Marks the thread as inside of a callback, also while an exception leaves it.
class Inside {
 public:
  explicit Inside(ThreadRecord& record) noexcept : record_(record) { record_.inside = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { record_.inside = false; }

 private:
  ThreadRecord& record_;
};

inline ForwardStacks& forward_stacks() {
  static auto* const stacks = new ForwardStacks;
  return *stacks;
}

/// The stack of a backward op: where the pass was started, then where its forward op ran.
inline std::uint32_t joined_stack(std::uint32_t backward, std::uint32_t forward) noexcept {
  struct Known {
    std::uint32_t backward;
    std::uint32_t forward;
    std::uint32_t joined;
  };
  static thread_local std::array<Known, 256> known{};
  if (forward == SourcePlace::no_stack) return backward;
  Known& entry = known[nanlens::detail::mix(backward, forward) % known.size()];
  if (entry.backward == backward && entry.forward == forward && entry.joined != 0) return entry.joined - 1;
  const std::uint32_t joined = nanlens::detail::recorder().join_stacks(backward, forward);
  entry = {backward, forward, joined + 1};
  return joined;
}

/// An op that runs. Arguments can only be looked at when it begins; their memory is kept until it ends.
struct RunningOp final : ::at::ObserverContext {
  const OpFacts* facts = nullptr;
  std::vector<InputRef> inputs;
  std::vector<OutputRef> written;  ///< arguments that it writes in place
  std::vector<OutputRef> around;   ///< tensors that the written ones are parts of
  std::vector<OutputRef> hidden;   ///< arguments of which only their content can tell whether they are written
  std::vector<nanlens::detail::ContentSample> hidden_before;
  std::vector<HealthCounts> counts;
  std::vector<::c10::Storage> kept;
  std::uint64_t first_result = 0;
  std::uint64_t begun_ns = 0;
  std::uint32_t stack = SourcePlace::no_stack;
};

// Where an op writes a part of a tensor that is on record, by a view, the whole is another tensor than before.
inline void add_around(RunningOp& op, const ::c10::TensorImpl& tensor, const TensorView& view) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 20;  // it is looked at at every such write
  if (view.data == nullptr) return;
  const ::c10::Storage& storage = tensor.storage();
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  const auto element = static_cast<std::int64_t>(tensor.itemsize());
  if (bytes > most_bytes || bytes <= element * tensor.numel() || bytes % element != 0) return;
  const TensorView whole = dense_view(storage.data(), view.dtype, Shape{bytes / element});
  InputRef before{whole, nanlens::detail::key_of(whole), {}};
  nanlens::detail::recorder().identify(&before, 1);
  if (!before.link.known()) return;
  op.around.push_back({whole, before.key});
  op.inputs.push_back(before);
}

inline void add_argument(RunningOp& op, const ::c10::TensorImpl& tensor, Arguments bit) {
  const OpFacts& facts = *op.facts;
  const TensorView view = view_of_impl(tensor);
  if (num_elements(view.shape) == 0 || view.dtype == DType::invalid) return;
  const nanlens::detail::TensorKey key = nanlens::detail::key_of(view);
  if ((facts.written & bit) != 0) op.written.push_back({view, key});
  if ((facts.hidden & bit) != 0) {
    op.hidden.push_back({view, key});
    op.hidden_before.emplace_back(key);
  }
  if ((facts.written & bit) != 0) add_around(op, tensor, view);
  if ((facts.unread & bit) == 0) op.inputs.push_back({view, key, {}});
  if (view.data != nullptr) op.kept.push_back(tensor.storage());
}

// What is about to be written over is identified, and looked at, now.
inline void look_at_inputs(RunningOp& op) {
  const nanlens::detail::RecorderTable& recorder = nanlens::detail::recorder();
  op.counts.resize(op.inputs.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    InputRef& input = op.inputs[i];
    const auto overlaps = [&](const OutputRef& output) { return output.key.overlaps(input.key); };
    if (std::none_of(op.written.begin(), op.written.end(), overlaps)) continue;
    recorder.identify(&input, 1);
    recorder.look(&input, 1, &op.counts[i]);
  }
}

inline std::unique_ptr<::at::ObserverContext> begin_op(const ::at::RecordFunction& function, ThreadRecord& thread) {
  const OpFacts& facts = facts_of(function);
  if (!facts.is_op) return nullptr;
  auto op = std::make_unique<RunningOp>();
  op->facts = &facts;
  op->stack = python::this_thread_stack();
  if (function.seqNr() >= 0 && op->stack != SourcePlace::no_stack && thread.node == nullptr)
    forward_stacks().set(function.threadId(), function.seqNr(), op->stack);
  op->first_result = thread.results.count();
  if (!facts.makes_nothing && !facts.allocates) {
    std::size_t index = 0;
    for (const ::c10::IValue& argument : function.inputs()) {
      const Arguments bit = index < 64 ? Arguments{1} << index : 0;
      each_tensor(argument, [&](const ::c10::TensorImpl& tensor) { add_argument(*op, tensor, bit); });
      ++index;
    }
    if (!op->written.empty()) look_at_inputs(*op);
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
  if (function.seqNr() >= 0) node->forward_stack = forward_stacks().find(function.forwardThreadId(), function.seqNr());
  node->stack = python::this_thread_stack();
  node->around = thread.node;
  if (node->forward_stack == SourcePlace::no_stack && thread.node != nullptr)
    node->forward_stack = thread.node->forward_stack;
  thread.node = node.get();
  return node;
}

// Some views are not called so in their schema.
inline bool is_view(const OutputRef& result, const RunningOp& op) noexcept {
  return op.facts->written == 0 && op.facts->hidden == 0 &&
         std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const InputRef& input) { return input.key.overlaps(result.key); });
}

// The results of an op that no op inside it has made.
inline std::vector<OutputRef> own_results(const ::at::RecordFunction& function, const RunningOp& op,
                                          const ThreadRecord& thread) {
  std::vector<OutputRef> results;
  const auto add = [&](const OutputRef& result) {
    if (is_recordable(result.view) && !is_view(result, op) && !thread.results.covers(result.key, op.first_result))
      results.push_back(result);
  };
  for (const ::c10::IValue& value : function.outputs())
    each_tensor(value, [&](const ::c10::TensorImpl& tensor) {
      const TensorView view = view_of_impl(tensor);
      add({view, nanlens::detail::key_of(view)});
    });
  if (results.empty())
    for (const OutputRef& argument : op.written) add(argument);
  if (!results.empty()) results.insert(results.end(), op.around.begin(), op.around.end());
  for (std::size_t i = 0; i < op.hidden.size(); ++i)
    if (!op.hidden_before[i].holds(op.hidden[i].key)) add(op.hidden[i]);
  return results;
}

// A verdict of check_numerics can't leave a callback as an exception: PyTorch would swallow it.
inline void tell(const nanlens::detail::NumericsRef* found) noexcept {
  if (found == nullptr) return;
  if (found->handler != nullptr)
    found->handler(found->context, found);
  else
    std::fprintf(stderr, "nanlens: %.*s\n", static_cast<int>(found->message.size), found->message.data);
  found->release(found);
}

inline void record(const ::at::RecordFunction& function, RunningOp& op, ThreadRecord& thread) {
  std::vector<OutputRef> results = own_results(function, op, thread);
  if (results.empty()) return;
  const std::string_view type = op.facts->name;
  std::uint32_t stack = op.stack;
  std::string_view name = type;
  if (thread.node != nullptr) {
    name = thread.node->name;
    // What a custom function's own backward code calls has its own place.
    if (stack != SourcePlace::no_stack && stack == thread.node->stack)
      stack = joined_stack(stack, thread.node->forward_stack);
  }
  const SourcePlace where = stack == SourcePlace::no_stack ? SourcePlace() : SourcePlace::of_stack(stack);
  const nanlens::detail::Measured measured{nanlens::detail::steady_now_ns() - op.begun_ns, 0};
  tell(nanlens::detail::recorder().record({type, name, where}, op.inputs.data(), op.inputs.size(), results.data(),
                                          results.size(), measured));
  for (const OutputRef& result : results) thread.results.add(result.key);
}

inline void end_op(const ::at::RecordFunction& function, RunningOp& op, ThreadRecord& thread) {
  if (thread.depth > 0) --thread.depth;
  if (op.facts->makes_nothing) return;
  // What an op allocates, fills or copies on its way is part of its own work.
  if (thread.depth > 0 && (op.facts->allocates || op.facts->initialises)) return;
  if (!op.facts->allocates) return record(function, op, thread);
  for (const ::c10::IValue& value : function.outputs())
    each_tensor(value, [](const ::c10::TensorImpl& tensor) {
      const nanlens::detail::TensorKey key = nanlens::detail::key_of(view_of_impl(tensor));
      if (!key.empty()) nanlens::detail::recorder().forget(key.begin, key.end);
    });
}

/// The start callback. What it throws, for want of memory, PyTorch swallows: the op is not recorded then.
inline std::unique_ptr<::at::ObserverContext> begin(const ::at::RecordFunction& function) {
  if (!nanlens::detail::is_active() || nanlens::detail::active_bits() == 0) return nullptr;
  ThreadRecord& thread = this_thread_record();
  if (thread.inside || function.isAsync()) return nullptr;
  const Inside inside(thread);
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
