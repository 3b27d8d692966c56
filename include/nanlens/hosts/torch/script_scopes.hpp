/// @file
/// Which functions of TorchScript are running, on which thread, and in which call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

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
  std::string function;               ///< as PyTorch names it
  std::atomic<bool> has_left{false};  ///< the thread that it began on, and goes on on another one
  std::atomic<bool> has_ended{false};
};

/// All that are the beginning of a call: PyTorch may go on with one on another thread, and have tasks of it run there.
class OpenScripts {
 public:
  static OpenScripts& get() { return fresh_in_each_process<OpenScripts>(); }

  void add(const std::shared_ptr<ScriptScope>& scope) {
    const std::lock_guard guard(lock_);
    scopes_.push_back(scope);
  }
  void remove(const ScriptScope* scope) {
    const std::lock_guard guard(lock_);
    std::erase_if(scopes_, [&](const auto& open) { return open.get() == scope; });
  }
  /// The one that knows one of these memories, and is of the function, unless that is empty; null if several are.
  template <class Storages>
  [[nodiscard]] std::shared_ptr<ScriptScope> find(const std::string& function, const Storages& storages) {
    const std::lock_guard guard(lock_);
    std::shared_ptr<ScriptScope> found;
    for (const std::shared_ptr<ScriptScope>& scope : scopes_) {
      if (!function.empty() && scope->function != function) continue;
      const auto is_known = [&](const auto* storage) { return storage != nullptr && scope->call->knows(storage); };
      if (std::none_of(storages.begin(), storages.end(), is_known)) continue;
      if (found != nullptr) return nullptr;
      found = scope;
    }
    return found;
  }

 private:
  std::mutex lock_;
  std::vector<std::shared_ptr<ScriptScope>> scopes_;
};

/// The functions that a thread is in, innermost first. Without a destructor: callbacks may come while the thread ends.
struct ThreadScripts {
  struct Entry {
    std::shared_ptr<ScriptScope> scope;
    Entry* around;
  };
  Entry* innermost = nullptr;

  void push(std::shared_ptr<ScriptScope> scope) { innermost = new Entry{std::move(scope), innermost}; }
  /// Null outside of any.
  [[nodiscard]] const ScriptScope* find() noexcept {
    while (innermost != nullptr && innermost->scope->has_ended.load(std::memory_order_acquire))
      delete std::exchange(innermost, innermost->around);
    return innermost == nullptr ? nullptr : innermost->scope.get();
  }
  /// The program goes on behind the innermost call, which has ended on another thread, though PyTorch has not said so
  /// yet.
  void end_innermost() {
    const std::shared_ptr<ScriptScope> scope = innermost->scope;
    OpenScripts::get().remove(scope.get());
    scope->call->end(false);
    scope->has_ended.store(true, std::memory_order_release);
    (void)find();
  }
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
