/// @file
/// Memory that keeps its identity while its content changes: weights, states, buffers that are updated in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Variables by address. Looked up by every op once there is one, so that reading takes no lock: it is done again if
/// there was a change meanwhile. Changes are rare.
class VariableTable {
 public:
  /// So many are kept; beyond that, the one that was declared first is none any more.
  static constexpr std::size_t most_variables = 65'536;

  static VariableTable& get() {
    static VariableTable* const table = new VariableTable;
    return *table;
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// The id of the variable whose memory this is; −1 if there is none.
  [[nodiscard]] std::int64_t find(const TensorKey& key) const noexcept {
    if (empty() || key.empty()) return -1;
    for (;;) {
      const std::uint64_t before = changes_.load(std::memory_order_acquire);
      const Slots* const slots = slots_.load(std::memory_order_acquire);
      const std::int64_t id = slots == nullptr ? -1 : slots->find(key.begin, key.end);
      if (before % 2 == 0 && changes_.load(std::memory_order_relaxed) == before) return id;
    }
  }
  /// Makes a variable of a tensor, or keeps the one that is there; what it overlaps is no variable any more.
  void declare(const TensorKey& key, std::int64_t new_id) {
    const std::lock_guard guard(lock_);
    if (key.empty() || find(key) >= 0) return;
    forget_overlapped(key.begin, key.end);
    while (by_address_.size() >= most_variables) forget_oldest();
    const Slots* const slots = slots_.load(std::memory_order_relaxed);
    if (slots == nullptr || 2 * (by_address_.size() + 1) > slots->size) grow();
    by_age_.emplace(new_id, key.begin);
    by_address_.emplace(key.begin, Variable{key.end, new_id});
    const Change change(*this);
    slots_.load(std::memory_order_relaxed)->add(key.begin, key.end, new_id);
  }
  void forget(std::uintptr_t begin, std::uintptr_t end) {
    if (empty()) return;
    const std::lock_guard guard(lock_);
    forget_overlapped(begin, end);
  }
  /// Slots of the tables that were ever made: those that have become too small are kept, as somebody may look into one.
  [[nodiscard]] std::size_t num_slots() const {
    const std::lock_guard guard(lock_);
    std::size_t sum = 0;
    for (const auto& table : tables_) sum += table->size;
    return sum;
  }

 private:
  struct Variable {
    std::uintptr_t end;
    std::int64_t id;
  };
  using ByAddress = std::map<std::uintptr_t, Variable>;

  // A hash table, at most half full. Read while it is changed: what is found then is not believed.
  // Who sees any of a change in it sees that there is one.
  struct Slots {
    struct Slot {
      std::atomic<std::uintptr_t> begin{0};  // 0: nothing
      std::atomic<std::uintptr_t> end{0};
      std::atomic<std::int64_t> id{0};
    };
    explicit Slots(std::size_t count) : size(count), slots(std::make_unique<Slot[]>(count)) {}
    std::size_t size;  // a power of two
    std::unique_ptr<Slot[]> slots;

    [[nodiscard]] std::size_t home_of(std::uintptr_t begin) const noexcept {
      return static_cast<std::size_t>(mix(begin, 0)) & (size - 1);
    }
    [[nodiscard]] std::int64_t find(std::uintptr_t begin, std::uintptr_t end) const noexcept {
      std::size_t at = home_of(begin);
      for (std::size_t tries = 0; tries < size; ++tries, at = (at + 1) & (size - 1)) {
        const std::uintptr_t there = slots[at].begin.load(std::memory_order_acquire);
        if (there == 0) return -1;
        if (there == begin)
          return slots[at].end.load(std::memory_order_acquire) == end ? slots[at].id.load(std::memory_order_acquire)
                                                                      : -1;
      }
      return -1;
    }
    void add(std::uintptr_t begin, std::uintptr_t end, std::int64_t id) noexcept {
      std::size_t at = home_of(begin);
      while (slots[at].begin.load(std::memory_order_acquire) != 0) at = (at + 1) & (size - 1);
      set(at, begin, end, id);
    }
    // Those behind it move up, so that none is left behind a gap.
    void remove(std::uintptr_t begin) noexcept {
      std::size_t gap = home_of(begin);
      while (slots[gap].begin.load(std::memory_order_acquire) != begin) gap = (gap + 1) & (size - 1);
      for (std::size_t at = (gap + 1) & (size - 1);; at = (at + 1) & (size - 1)) {
        const std::uintptr_t there = slots[at].begin.load(std::memory_order_acquire);
        if (there == 0) break;
        if (((at - home_of(there)) & (size - 1)) < ((at - gap) & (size - 1))) continue;
        set(gap, there, slots[at].end.load(std::memory_order_acquire), slots[at].id.load(std::memory_order_acquire));
        gap = at;
      }
      set(gap, 0, 0, 0);
    }
    void set(std::size_t at, std::uintptr_t begin, std::uintptr_t end, std::int64_t id) noexcept {
      slots[at].begin.store(begin, std::memory_order_release);
      slots[at].end.store(end, std::memory_order_release);
      slots[at].id.store(id, std::memory_order_release);
    }
  };

  // While it lives, readers wait.
  class Change {
   public:
    explicit Change(VariableTable& table) noexcept : table_(table) {
      table_.changes_.fetch_add(1, std::memory_order_relaxed);
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    ~Change() {
      table_.count_.store(table_.by_address_.size(), std::memory_order_relaxed);
      table_.changes_.fetch_add(1, std::memory_order_release);
    }

   private:
    VariableTable& table_;
  };

  void forget_overlapped(std::uintptr_t begin, std::uintptr_t end) noexcept {
    auto at = by_address_.lower_bound(begin);
    if (at != by_address_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != by_address_.end() && at->first < end) at = forget(at);
  }
  ByAddress::iterator forget(ByAddress::iterator at) noexcept {
    const std::uintptr_t begin = at->first;
    by_age_.erase(at->second.id);
    const auto next = by_address_.erase(at);
    const Change change(*this);
    slots_.load(std::memory_order_relaxed)->remove(begin);
    return next;
  }
  void forget_oldest() noexcept {
    const auto oldest = by_age_.begin();
    const auto at = by_address_.find(oldest->second);
    if (at != by_address_.end() && at->second.id == oldest->first)
      forget(at);
    else
      by_age_.erase(oldest);  // memory ran out when it was declared
  }
  void grow() {
    const Slots* const slots = slots_.load(std::memory_order_relaxed);
    auto larger = std::make_unique<Slots>(slots == nullptr ? 64 : 2 * slots->size);
    for (const auto& [begin, variable] : by_address_) larger->add(begin, variable.end, variable.id);
    tables_.push_back(std::move(larger));
    slots_.store(tables_.back().get(), std::memory_order_release);
  }

  mutable std::mutex lock_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> changes_{0};  // odd: one is under way
  std::atomic<Slots*> slots_{nullptr};
  ByAddress by_address_;
  std::map<std::int64_t, std::uintptr_t> by_age_;
  std::vector<std::unique_ptr<Slots>> tables_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
