/// @file
/// A call of a TorchScript function: one call of a graph, which is made of the ops that run in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/device_look.hpp>
#include <nanlens/hosts/torch/forward_stacks.hpp>
#include <nanlens/hosts/torch/tensor_views.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

using nanlens::detail::InputRef;
using nanlens::detail::OutputRef;
using nanlens::detail::SourcePlace;

/// One call under way. Its results are the tensors made in it that somebody still holds when it ends: what it returns,
/// and what is kept for the backward pass. PyTorch may suspend a call and end it on another thread, so whoever records
/// in it holds its lock.
class ScriptCall {
 public:
  ScriptCall(std::string function, const ForwardPlace& caller) : function_(std::move(function)), caller_(caller) {}
  ScriptCall(const ScriptCall&) = delete;
  ScriptCall& operator=(const ScriptCall&) = delete;
  ~ScriptCall() { end(true); }

  [[nodiscard]] const ForwardPlace& caller() const noexcept { return caller_; }
  /// Was the memory made in it?
  [[nodiscard]] bool has_made(const ::c10::StorageImpl* storage) {
    const std::lock_guard guard(lock_);
    return std::any_of(results_.begin(), results_.end(),
                       [&](const Result& result) { return result.storage._unsafe_get_target() == storage; });
  }

  /// Before anything runs in it.
  void add_argument(const ::c10::TensorImpl& tensor, const std::string& name) {
    const SeenTensor seen = see(tensor);
    if (!is_recordable(seen.view)) return;
    arguments_.push_back({seen.view, seen.key, {}});
    names_.push_back(name);
    if (!seen.key.empty()) kept_.push_back(tensor.storage());
  }

  /// Begins with the first op that is recorded: many calls have none.
  void open() {
    const std::lock_guard guard(lock_);
    if (ended_ || std::exchange(opened_, true)) return;
    DeviceLook look;
    for (InputRef& argument : arguments_) look.add(argument, DeviceLook::Role::output);
    look.look_and_fetch(nanlens::detail::hash_text(function_));
    const nanlens::detail::RecorderTable& recorder = nanlens::detail::recorder();
    recorder.identify(arguments_.data(), arguments_.size());
    // What is on record has been read there.
    const std::unique_ptr<bool[]> traced(new bool[arguments_.size()]);
    for (std::size_t i = 0; i < arguments_.size(); ++i) traced[i] = !arguments_[i].link.known();
    const std::vector<nanlens::detail::TextRef> names(names_.begin(), names_.end());
    nanlens::detail::CallRef call;
    call.name = std::string_view(function_);
    if (caller_.stack != SourcePlace::no_stack) call.where = SourcePlace::of_stack(caller_.stack);
    call.arguments = arguments_.data();
    call.names = names.data();
    call.traced = traced.get();
    call.num_arguments = arguments_.size();
    call_ = recorder.enter_function(call);
    arguments_.clear();
    if (call_ != nullptr) recorder.hand_over_function(call_);
  }

  /// Records something within the call. False if that has ended, or is not on record.
  template <class Record>
  bool within(const Record& record) {
    const std::lock_guard guard(lock_);
    if (call_ == nullptr) return false;
    const Adoption adoption(call_);
    record();
    return true;
  }

  /// What an op in it has made; within `within`.
  void add_result(const OutputRef& output, ::c10::StorageImpl* storage) {
    if (storage == nullptr || output.key.empty()) return;
    if (results_.size() >= next_look_) {
      std::erase_if(results_, [](const Result& result) { return result.storage.expired(); });
      next_look_ = 2 * results_.size() + few_results;
    }
    OutputRef later = output;
    if (later.key.far != 0) {  // what was looked at then
      later.view.data = nullptr;
      later.view.counted = nullptr;
    }
    results_.push_back(
        {later, Weak(::c10::intrusive_ptr<::c10::StorageImpl>::unsafe_reclaim_from_nonowning(storage)), {}});
  }

  /// `unwinding`: an exception has left it. Any thread may end it.
  void end(bool unwinding) noexcept {
    // They go once the lock is free: whoever frees memory that is Python's waits for the interpreter's lock, which
    // somebody may have who waits for this one.
    std::vector<Result> results;
    std::vector<::c10::Storage> kept;
    const std::lock_guard guard(lock_);
    ended_ = true;
    if (call_ != nullptr) {
      if (!unwinding) tell_results();
      nanlens::detail::recorder().leave_function(call_, unwinding);
    }
    call_ = nullptr;
    results.swap(results_);
    kept.swap(kept_);
  }

 private:
  using Weak = ::c10::weak_intrusive_ptr<::c10::StorageImpl>;
  struct Result {
    OutputRef output;
    Weak storage;
    ::c10::intrusive_ptr<::c10::StorageImpl> held{};  ///< while the call ends
  };
  static constexpr std::size_t few_results = 256;

  /// What this thread records belongs to the call while it lives.
  class Adoption {
   public:
    explicit Adoption(void* call) noexcept : before_(nanlens::detail::recorder().adopt_function(call)) {}
    Adoption(const Adoption&) = delete;
    Adoption& operator=(const Adoption&) = delete;
    ~Adoption() { nanlens::detail::recorder().give_back_function(before_); }

   private:
    void* before_;
  };

  // The last one first, which is most often what the function returns.
  void tell_results() noexcept {
    constexpr std::size_t most_results = 1024;
    std::array<std::pair<std::uintptr_t, std::uintptr_t>, most_results> told;
    std::size_t num_told = 0;
    for (std::size_t i = results_.size(); i-- > 0 && num_told < most_results;) {
      const auto& storage = results_[i].held = results_[i].storage.lock();
      const OutputRef& result = results_[i].output;
      if (storage == nullptr || !holds(*storage, result.key)) continue;
      const auto overlaps = [&](const auto& other) {
        return result.key.begin < other.second && other.first < result.key.end;
      };
      if (std::any_of(told.begin(), told.begin() + num_told, overlaps)) continue;
      told[num_told++] = {result.key.begin, result.key.end};
      tell_result(result);
    }
  }
  void tell_result(OutputRef result) noexcept {
    DeviceLook look;
    try {
      look.add(result);
      look.look_and_fetch(nanlens::detail::hash_text(function_));
    } catch (...) {
      result.key = {};  // nobody has looked at it
    }
    nanlens::detail::recorder().add_result(call_, result, InputRef{result.view, result.key, {}});
  }
  // It may have been given other memory meanwhile.
  static bool holds(const ::c10::StorageImpl& storage, const nanlens::detail::TensorKey& key) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(storage.data());
    return begin <= key.begin && key.end <= begin + storage.nbytes();
  }

  std::mutex lock_;
  std::string function_;
  ForwardPlace caller_;
  std::vector<InputRef> arguments_;
  std::vector<std::string> names_;
  std::vector<::c10::Storage> kept_;
  std::vector<Result> results_;
  std::size_t next_look_ = few_results;
  bool opened_ = false;
  bool ended_ = false;
  void* call_ = nullptr;  // the recorder's
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
