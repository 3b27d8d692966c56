/// @file
/// Memory that keeps its identity while its content changes: weights, states, buffers that are updated in place.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Variables by address. Looked up by every op once there is one, so that reading takes no lock: a change makes a new
/// table, and old ones are kept.
class VariableTable {
 public:
  static VariableTable& get() {
    static VariableTable* const table = new VariableTable;
    return *table;
  }
  [[nodiscard]] bool empty() const noexcept { return current_.load(std::memory_order_acquire) == nullptr; }
  /// The id of the variable whose memory begins here; −1 if there is none.
  [[nodiscard]] std::int64_t find(const TensorKey& key) const noexcept {
    const Entries* const entries = current_.load(std::memory_order_acquire);
    if (entries == nullptr || key.begin == key.end) return -1;
    const auto at = std::lower_bound(entries->begin(), entries->end(), key.begin, before);
    return at != entries->end() && at->begin == key.begin && at->end == key.end ? at->id : -1;
  }
  /// Makes a variable of a tensor, or keeps the one that is there; what it overlaps is no variable any more.
  void declare(const TensorKey& key, std::int64_t new_id) {
    const std::lock_guard guard(lock_);
    if (key.begin == key.end || find(key) >= 0) return;
    change(key.begin, key.end, {key.begin, key.end, new_id});
  }
  void forget(std::uintptr_t begin, std::uintptr_t end) {
    const std::lock_guard guard(lock_);
    if (!empty()) change(begin, end, {});
  }

 private:
  struct Entry {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::int64_t id = -1;
  };
  using Entries = std::vector<Entry>;
  static bool before(const Entry& e, std::uintptr_t address) noexcept { return e.begin < address; }

  void change(std::uintptr_t begin, std::uintptr_t end, const Entry& added) {
    auto next = std::make_unique<Entries>();
    if (const Entries* const entries = current_.load(std::memory_order_relaxed))
      for (const Entry& e : *entries)
        if (e.end <= begin || e.begin >= end) next->push_back(e);
    if (added.id >= 0) next->insert(std::lower_bound(next->begin(), next->end(), added.begin, before), added);
    current_.store(next.get(), std::memory_order_release);
    tables_.push_back(std::move(next));
  }

  std::mutex lock_;
  std::atomic<const Entries*> current_{nullptr};
  std::vector<std::unique_ptr<Entries>> tables_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
