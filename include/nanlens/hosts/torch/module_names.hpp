/// @file
/// The dotted names of a Python program's modules: "net.layers.3".
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Modules' dotted names, by the addresses of their Python objects.
class ModuleNames {
 public:
  static ModuleNames& get() {
    static auto* const names = new ModuleNames;
    return *names;
  }
  /// Null for a module that has no name yet, or can't have one.
  [[nodiscard]] const std::string* find(std::uintptr_t module, bool& is_known) {
    struct Known {
      std::uintptr_t module;
      std::uint64_t change;
      const std::string* name;
    };
    static thread_local std::array<Known, 128> known{};
    const std::uint64_t now = changes_.load(std::memory_order_acquire);
    Known& entry = known[module / 16 % known.size()];
    is_known = true;
    if (entry.module == module && entry.change == now) return entry.name;
    const std::lock_guard guard(lock_);
    const auto found = names_.find(module);
    is_known = found != names_.end();
    if (is_known) entry = {module, now, found->second};
    return is_known ? found->second : nullptr;
  }
  [[nodiscard]] bool has(std::uintptr_t module) {
    const std::lock_guard guard(lock_);
    return names_.contains(module);
  }
  void set(std::uintptr_t module, const std::string* name) {
    const std::lock_guard guard(lock_);
    names_[module] = name;
    changes_.fetch_add(1, std::memory_order_release);
  }
  void forget(std::uintptr_t module) {
    const std::lock_guard guard(lock_);
    names_.erase(module);
    changes_.fetch_add(1, std::memory_order_release);
  }

 private:
  std::mutex lock_;
  std::unordered_map<std::uintptr_t, const std::string*> names_;
  std::atomic<std::uint64_t> changes_{1};
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
