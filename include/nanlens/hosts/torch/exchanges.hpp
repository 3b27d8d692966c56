/// @file
/// What ranks of a PyTorch program exchange by gloo: all_reduce, broadcast, send and so on, called from Python, from
/// C++ or by DistributedDataParallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/exchange_ops.hpp>
#include <nanlens/hosts/torch/forks.hpp>
#include <nanlens/hosts/torch/process_group.hpp>
#include <nanlens/hosts/torch/running_op.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Tensors that go in or come out; they are kept until they are looked at.
struct ExchangedTensors {
  std::vector<OutputRef> refs;
  std::vector<TensorIdentity> identities;
  std::vector<::c10::Storage> kept;
  bool looked_at = true;  ///< false: there is one that can't be

  void add(const ::c10::IValue& value) {
    each_tensor(value, [&](const ::c10::TensorImpl& tensor) {
      const TensorView view = view_of_impl(tensor);
      const DTypeKind kind = dtype_kind(view.dtype);
      const bool can_be = kind == DTypeKind::floating || kind == DTypeKind::complex;
      if (!can_be || (view.data == nullptr && num_elements(view.shape) != 0)) looked_at = false;
      if (!looked_at) return;
      refs.push_back({view, nanlens::detail::key_of(view)});
      identities.push_back(identity_of(tensor));
      kept.push_back(tensor.storage());
    });
  }
  [[nodiscard]] bool recorded() const noexcept { return looked_at && !refs.empty(); }

  static void name_of(const void* self, bool /*is_output*/, std::size_t index,
                      void (*take)(void* to, nanlens::detail::TextRef name), void* to) {
    const auto& identities = static_cast<const ExchangedTensors*>(self)->identities;
    if (index < identities.size()) take(to, std::string_view(TensorNames::get().find(identities[index])));
  }
};

/// What PyTorch does of an exchange, with what it keeps for those who hold its lock.
struct OpenWork : ::c10d::Work {
  /// Asked by the thread that ends it, which does.
  static bool has_succeeded(const ::c10d::Work& work) {
    return work.*(&OpenWork::completed_) && work.*(&OpenWork::exception_) == nullptr;
  }
};

/// What a rank is going to get. Whoever sees first that it is there records it.
class Receiving {
 public:
  using Weak = ::c10::weak_intrusive_ptr<::c10d::Work>;
  std::string_view type;
  nanlens::detail::SourcePlace where;
  Exchange exchange;
  ExchangedTensors tensors;
  std::uint64_t thread = 0;
  std::uint64_t begun_ns = 0;
  ::c10::intrusive_ptr<::c10::ivalue::Future> future;      ///< null for messages, and for what comes by a copy
  Weak work = Weak(::c10::intrusive_ptr<::c10d::Work>());  ///< where there is no future
  std::vector<const ::c10::StorageImpl*> buffers;          ///< memory of tensors that the op made for itself
  std::size_t copied = 0;                                  ///< tensors that have been, or are being, copied from there

  [[nodiscard]] bool has_come() const { return future != nullptr && future->completed(); }
  /// The program has dropped it: nothing comes.
  [[nodiscard]] bool is_dropped() const { return future == nullptr && work.expired(); }
  /// Is one of the tensors what a copy from such memory brings, while the program waits?
  [[nodiscard]] bool comes_by_copy(const void* from, const nanlens::detail::TensorKey& to) const {
    return future == nullptr && !work.expired() && std::find(buffers.begin(), buffers.end(), from) != buffers.end() &&
           std::any_of(tensors.refs.begin(), tensors.refs.end(),
                       [&](const OutputRef& tensor) { return tensor.key.same_bytes(to); });
  }
  [[nodiscard]] bool is_copied() const { return copied >= tensors.refs.size(); }
  /// The wait for a message ends: false if that failed, or if there was none, as the program has dropped the receive.
  [[nodiscard]] bool message_has_come() const {
    const auto waited_for = work.lock();
    return waited_for.defined() && OpenWork::has_succeeded(*waited_for);
  }

  void end() {
    const std::lock_guard guard(lock_);
    if (std::exchange(ended_, true)) return;
    if (future != nullptr && future->hasError()) return;
    const nanlens::detail::Observation observed{nullptr, 0, thread};
    const nanlens::detail::TensorNames names{&tensors, &ExchangedTensors::name_of};
    const nanlens::detail::Measured measured{nanlens::detail::steady_now_ns() - begun_ns, 0, &observed, &names,
                                             &exchange};
    tell(nanlens::detail::recorder().record({type, type, where}, nullptr, 0, tensors.refs.data(), tensors.refs.size(),
                                            measured));
    tensors = {};
  }

 private:
  std::mutex lock_;
  bool ended_ = false;
};

/// What is under way. PyTorch wakes who waits for a future before it calls back: an op looks here first.
class Exchanging {
 public:
  static Exchanging& get() { return fresh_in_each_process<Exchanging>(); }
  void add(std::shared_ptr<Receiving> receiving) {
    const std::lock_guard guard(lock_);
    all_.push_back(std::move(receiving));
    count_.store(all_.size(), std::memory_order_release);
  }
  /// Records what has come.
  void end_what_has_come() {
    if (count_.load(std::memory_order_acquire) == 0) return;
    std::vector<std::shared_ptr<Receiving>> come;
    {
      const std::lock_guard guard(lock_);
      std::copy_if(all_.begin(), all_.end(), std::back_inserter(come), [](const auto& r) { return r->has_come(); });
    }
    for (const auto& receiving : come) receiving->end();
    const std::lock_guard guard(lock_);  // only now: another thread waits in end() for what is being recorded
    std::erase_if(
        all_, [&](const auto& r) { return r->is_dropped() || std::find(come.begin(), come.end(), r) != come.end(); });
    count_.store(all_.size(), std::memory_order_release);
  }
  /// What a copy brings, of which it is the last tensor or not; null if it brings nothing.
  std::shared_ptr<Receiving> begin_copy(const void* from, const nanlens::detail::TensorKey& to) {
    if (count_.load(std::memory_order_acquire) == 0) return nullptr;
    const std::lock_guard guard(lock_);
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& r) { return r->comes_by_copy(from, to); });
    if (at == all_.end()) return nullptr;
    std::shared_ptr<Receiving> found = *at;
    ++found->copied;
    if (found->is_copied()) all_.erase(at);
    count_.store(all_.size(), std::memory_order_release);
    return found;
  }

 private:
  std::mutex lock_;
  std::vector<std::shared_ptr<Receiving>> all_;
  std::atomic<std::size_t> count_{0};
};

// An object of one of PyTorch's own classes that an op was called with; null if it is none of that class.
template <class Object>
Object* object_of(const ::c10::IValue& value, std::string_view name) {
  if (!value.isObject() || !std::string_view(value.toObjectRef().name()).ends_with(name)) return nullptr;
  return static_cast<Object*>(value.toObjectRef().getSlot(0).toCapsule().get());
}

/// The arguments of an op that exchanges tensors.
struct ExchangeArguments {
  ::c10d::ProcessGroup* group = nullptr;
  Reduction reduction = Reduction::none;
  std::vector<std::int64_t> numbers;  ///< those behind the group: the root, or the other end and the tag

  explicit ExchangeArguments(::c10::ArrayRef<const ::c10::IValue> arguments) {
    for (const ::c10::IValue& value : arguments) {
      if (group == nullptr)
        group = object_of<::c10d::ProcessGroup>(value, "c10d.ProcessGroup");
      else if (const auto* const op = object_of<::c10d::ReduceOp>(value, "c10d.ReduceOp"))
        reduction = reduction_of(op->op_);
      else if (value.isInt())
        numbers.push_back(value.toInt());
    }
    numbers.resize(std::max<std::size_t>(numbers.size(), 2));
  }

 private:
  static Reduction reduction_of(::c10d::ReduceOp::RedOpType op) noexcept {
    if (op == ::c10d::ReduceOp::SUM) return Reduction::sum;
    if (op == ::c10d::ReduceOp::MIN) return Reduction::minimum;
    if (op == ::c10d::ReduceOp::MAX) return Reduction::maximum;
    return op == ::c10d::ReduceOp::PRODUCT ? Reduction::product : Reduction::other;
  }
};

/// What an exchange is called in all ranks; kind `none` where the group is not known.
inline Exchange exchange_of(const ExchangeOp& op, const ExchangeArguments& arguments) {
  Exchange exchange;
  if (arguments.group == nullptr) return exchange;
  Groups::get().with(*arguments.group, [&](GroupFacts& group) {
    exchange.kind = op.kind;
    exchange.reduction = arguments.reduction;
    exchange.communicator = group.identity;
    exchange.rank = group.rank;
    exchange.size = group.size;
    exchange.peer = static_cast<std::int32_t>(op.kind == ExchangeKind::all ? 0 : arguments.numbers[0]);
    if (op.kind != ExchangeKind::message) {
      exchange.sequence = group.next_collective(*arguments.group);
    } else {
      exchange.tag = static_cast<std::int32_t>(arguments.numbers[1]);
      exchange.sequence = group.next_message(op.name == "c10d::send", exchange.peer, exchange.tag);
    }
  });
  return exchange;
}

inline bool puts_in(const ExchangeOp& op, const Exchange& e) noexcept {
  if (op.kind == ExchangeKind::message) return op.name == "c10d::send";
  return op.kind != ExchangeKind::from_root || e.rank == e.peer;
}
inline bool gets(const ExchangeOp& op, const Exchange& e) noexcept {
  if (op.kind == ExchangeKind::message) return op.name != "c10d::send";
  if (op.kind == ExchangeKind::to_root) return e.rank == e.peer;
  return op.kind != ExchangeKind::from_root || op.two_lists || e.rank != e.peer;
}

// The parts of a tensor that were written one by one. False, and none, unless all of them are on record.
inline bool add_parts(std::vector<InputRef>& inputs, const OutputRef& tensor) {
  const auto element = static_cast<std::int64_t>(dtype_bytes(tensor.view.dtype));
  const std::vector<WrittenParts::Part> parts = WrittenParts::get().of(tensor.key);
  std::vector<InputRef> found;
  for (const WrittenParts::Part& part : parts) {
    const auto bytes = static_cast<std::int64_t>(part.end - part.begin);
    const TensorView view =
        dense_view(reinterpret_cast<const void*>(part.begin), tensor.view.dtype, Shape{bytes / element});
    found.push_back({view, nanlens::detail::key_of(view), {}});
    nanlens::detail::recorder().identify(&found.back(), 1);
    if (!found.back().link.known()) return false;
  }
  inputs.insert(inputs.end(), found.begin(), found.end());
  return !found.empty();
}

/// What a tensor is; where that is not on record as a whole, what its parts are.
inline void add_input(std::vector<InputRef>& inputs, const OutputRef& tensor) {
  InputRef whole{tensor.view, tensor.key, {}};
  nanlens::detail::recorder().identify(&whole, 1);
  if (whole.link.known() || !add_parts(inputs, tensor)) inputs.push_back(whole);
}

/// Records what a rank puts in, before gloo has it.
inline void record_sent(std::string_view type, const nanlens::detail::SourcePlace& where, Exchange exchange,
                        const ExchangedTensors& tensors, bool per_rank) {
  exchange.per_rank = per_rank && tensors.refs.size() == static_cast<std::size_t>(exchange.size);
  std::vector<InputRef> inputs;
  std::vector<OutputRef> outputs;
  for (const OutputRef& tensor : tensors.refs) {
    add_input(inputs, tensor);
    outputs.push_back({tensor.view, {}});
  }
  // The parts of a buffer have no names of their own.
  const nanlens::detail::TensorNames names{&tensors, &ExchangedTensors::name_of};
  const bool are_whole = inputs.size() == outputs.size();
  const nanlens::detail::Measured measured{0, 0, nullptr, are_whole ? &names : nullptr, &exchange};
  tell(nanlens::detail::recorder().record({type, type, where}, inputs.data(), inputs.size(), outputs.data(),
                                          outputs.size(), measured));
}

/// An exchange begins: records what this rank puts in. What it is going to get, if anything.
inline std::shared_ptr<Receiving> begin_exchange(const ExchangeOp& op, std::string_view type,
                                                 ::c10::ArrayRef<const ::c10::IValue> arguments,
                                                 const nanlens::detail::SourcePlace& where) {
  const Exchange exchange = exchange_of(op, ExchangeArguments(arguments));
  if (exchange.kind == ExchangeKind::none) return nullptr;
  if (puts_in(op, exchange)) {
    ExchangedTensors sent;
    sent.add(arguments[op.two_lists ? 1 : 0]);
    if (sent.recorded()) record_sent(type, where, exchange, sent, op.per_rank);
  }
  if (!gets(op, exchange)) return nullptr;
  auto receiving = std::make_shared<Receiving>();
  receiving->tensors.add(arguments[0]);
  if (!receiving->tensors.recorded()) return nullptr;
  receiving->type = type;
  receiving->where = where;
  receiving->exchange = exchange;
  receiving->exchange.received = true;
  receiving->thread = nanlens::detail::thread_number();
  receiving->begun_ns = nanlens::detail::steady_now_ns();
  return receiving;
}

/// Does gloo itself work on this thread? What ops it calls are a part of that.
inline bool& gloo_works_here() noexcept {
  static thread_local bool works = false;
  return works;
}

/// Null where PyTorch has no future for the work, as for gloo's reduce_scatter: while the program waits for that, it
/// copies what has come from a buffer that the op has made.
inline ::c10::intrusive_ptr<::c10::ivalue::Future> future_of(::c10d::Work& work) {
  try {
    return work.getFuture();
  } catch (const std::exception&) {
    return {};
  }
}

/// The op has returned, maybe before its tensors are there: what it returned tells when they are.
inline void end_exchange(const std::shared_ptr<Receiving>& receiving, const ::c10::IValue& returned) {
  auto* const work = object_of<::c10d::Work>(returned, "c10d.Work");
  if (work == nullptr) return;
  const bool is_message = receiving->exchange.kind == ExchangeKind::message;
  if (!is_message) receiving->future = future_of(*work);
  if (!receiving->future.defined()) {
    receiving->work = Receiving::Weak(::c10::intrusive_ptr<::c10d::Work>::unsafe_reclaim_from_nonowning(work));
    if (!is_message && !receiving->buffers.empty()) Exchanging::get().add(receiving);
    return;
  }
  Exchanging::get().add(receiving);
  receiving->future->addCallback([](::c10::ivalue::Future&) {
    try {
      Exchanging::get().end_what_has_come();
    } catch (const std::exception&) {  // memory ran out: it is not recorded, and gloo's thread goes on
    }
    gloo_works_here() = false;  // what the program has attached to the future comes next, on the same thread
  });
}

/// What gloo does, as PyTorch tells profilers.
struct GlooScope : ::at::ObserverContext {
  virtual void end() = 0;
};

/// Its own work, on a thread of its own: what ops it calls there are a part of it.
struct GlooWork final : GlooScope {
  GlooWork() noexcept { gloo_works_here() = true; }
  void end() override { gloo_works_here() = false; }
};

/// A message, from the call that receives it to the end of the wait for it.
struct MessageWait final : GlooScope {
  explicit MessageWait(std::shared_ptr<Receiving> of) : receiving(std::move(of)) {}
  void end() override {
    if (receiving->message_has_come()) receiving->end();
  }
  std::shared_ptr<Receiving> receiving;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
