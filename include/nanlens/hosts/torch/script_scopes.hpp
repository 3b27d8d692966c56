/// @file
/// Which functions of TorchScript are running, on which thread, and in which call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/record_function.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/forks.hpp>
#include <nanlens/hosts/torch/script_call.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// What a program's outermost module or function is called.
struct ScriptRoot {
  const std::string* module = nullptr;  ///< null in a function that no module calls
  const std::string* path = nullptr;    ///< "net", or the function's name
};

/// A function that runs: the beginning of a call, or what such a call gives to Python or to another thread to run.
struct ScriptScope {
  std::shared_ptr<ScriptCall> call;
  ScriptRoot root;
  std::string function;  ///< as PyTorch names it
  bool begins_call = false;
  std::uint64_t thread = 0;           ///< that it began on, as PyTorch numbers them
  std::atomic<bool> has_left{false};  ///< that thread: it goes on on another one
  ::at::CallbackHandle mark = ::at::INVALID_CALLBACK_HANDLE;
};

/// The functions that run, and the thread's own: marked by callbacks of the thread that do nothing. PyTorch gives those
/// on to whatever thread goes on with a function or runs a task of it, while that does, and to no other one. On the
/// thread that a function began on, its mark may stay when it has left.
class ScriptScopes {
 public:
  static ScriptScopes& get() { return fresh_in_each_process<ScriptScopes>(); }

  /// This thread is in the function now.
  void add(const std::shared_ptr<ScriptScope>& scope) {
    scope->mark = ::at::addThreadLocalCallback(
        ::at::RecordFunctionCallback(&do_nothing).scopes({::at::RecordScope::LITE_INTERPRETER}));
    const std::lock_guard guard(lock_);
    scopes_.emplace(scope->mark, scope);
  }
  /// It has ended. True if this thread was in it.
  bool remove(const ScriptScope& scope) {
    {
      const std::lock_guard guard(lock_);
      scopes_.erase(scope.mark);  // its caller has it, too: nothing ends here
    }
    return erase_marks([&](::at::CallbackHandle mark) { return mark == scope.mark; });
  }
  /// The innermost one that this thread is in; null outside of any.
  [[nodiscard]] std::shared_ptr<ScriptScope> find() {
    bool has_ended = false;
    std::shared_ptr<ScriptScope> found = find(has_ended);
    if (has_ended)
      erase_marks([&](::at::CallbackHandle mark) {
        const std::lock_guard guard(lock_);
        return !scopes_.contains(mark);
      });
    return found;
  }

 private:
  static std::unique_ptr<::at::ObserverContext> do_nothing(const ::at::RecordFunction& /*function*/) { return nullptr; }
  static bool is_mark(const ::at::RecordFunctionCallbacksEntry& entry) {
    return entry.callback_.start() == &do_nothing;
  }

  // PyTorch sorts them by their numbers: the last is the innermost.
  std::shared_ptr<ScriptScope> find(bool& has_ended) {
    const ::at::RecordFunctionCallbacks& marks = ::at::get_record_function_tls_().sorted_tls_callbacks_;
    if (marks.empty()) return nullptr;
    const std::lock_guard guard(lock_);
    for (std::size_t i = marks.size(); i-- > 0;) {
      if (!is_mark(marks[i])) continue;
      if (const auto found = scopes_.find(marks[i].handle_); found != scopes_.end()) return found->second;
      has_ended = true;
    }
    return nullptr;
  }
  template <class Gone>
  static bool erase_marks(const Gone& is_gone) {
    ::at::RecordFunctionTLS own = ::at::get_record_function_tls_();
    const auto erased = std::erase_if(own.sorted_tls_callbacks_,
                                      [&](const auto& entry) { return is_mark(entry) && is_gone(entry.handle_); });
    if (erased > 0) ::at::set_record_function_tls_(own);
    return erased > 0;
  }

  std::mutex lock_;
  std::unordered_map<::at::CallbackHandle, std::shared_ptr<ScriptScope>> scopes_;
};

/// Ends the call that the function is the beginning of, which has returned.
inline void end_call(const ScriptScope& scope) {
  (void)ScriptScopes::get().remove(scope);
  scope.call->end(false);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
