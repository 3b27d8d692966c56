/// @file
/// Trapped exceptions on their way from signal handlers to the thread that records them. No lock, no allocation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nanlens/hosts/traps/trap.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

class TrapQueue {
 public:
  struct Slot {
    enum State : std::uint32_t { free, filling, ready };
    std::atomic<std::uint32_t> state{free};
    std::atomic<std::uint32_t> uses{0};  ///< that are over
    Trap trap;
  };

  /// A slot to fill; null if all are taken: then the trap is lost, and that is counted.
  Slot* take() noexcept {
    const std::size_t begin = next_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[(begin + i) % slots_.size()];
      std::uint32_t state = Slot::free;
      if (!slot.state.compare_exchange_strong(state, Slot::filling)) continue;
      taken_.fetch_add(1);
      slot.trap = {};
      return &slot;
    }
    lost_.fetch_add(1);
    return nullptr;
  }
  /// Hands a filled slot over, and wakes the thread that waits.
  void hand_over(Slot& slot) noexcept {
    slot.state.store(Slot::ready, std::memory_order_release);
    wake();
  }
  /// A slot that is not needed after all.
  void give_back(Slot& slot) noexcept {
    slot.uses.fetch_add(1, std::memory_order_relaxed);
    slot.state.store(Slot::free, std::memory_order_release);
    taken_.fetch_sub(1);
  }
  /// Is there more than is recorded soon? Then what need not be handed over should not be: the slots that are left are
  /// for threads that trap right now.
  [[nodiscard]] bool is_crowded() const noexcept {
    return taken_.load() > static_cast<std::int64_t>(slots_.size() / 2);
  }
  /// A trap waits at its place, to be recorded once there is time.
  void defer() noexcept {
    deferred_.fetch_add(1);
    wake();
  }
  [[nodiscard]] bool has_deferred() const noexcept { return deferred_.load() > 0; }
  /// One that waited is recorded.
  void end_deferral() noexcept { deferred_.fetch_sub(1); }
  void wake() noexcept {
    signal_.fetch_add(1);
    ::syscall(SYS_futex, &signal_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  [[nodiscard]] std::uint32_t signal() const noexcept { return signal_.load(); }
  /// Waits until there was a wake-up since `seen` was read, or so long; 0: for ever.
  void wait(std::uint32_t seen, int milliseconds) noexcept {
    const timespec most{0, milliseconds * 1'000'000L};
    ::syscall(SYS_futex, &signal_, FUTEX_WAIT_PRIVATE, seen, milliseconds == 0 ? nullptr : &most, nullptr, 0);
  }
  /// Calls `record(Trap&)` for all that is ready, in the order of their times as far as they are there.
  template <class Record>
  void drain(Record&& record) noexcept {
    while (Slot* const slot = earliest()) {
      record(slot->trap);
      give_back(*slot);
    }
  }
  /// Waits until all is recorded, for at most two seconds. Another thread drains meanwhile.
  void flush() noexcept {
    constexpr timespec millisecond{0, 1000000};
    for (int i = 0; i < 2000 && taken_.load() + deferred_.load() > 0; ++i) {
      wake();
      ::nanosleep(&millisecond, nullptr);
    }
  }
  /// Traps of which nothing is known: more threads trapped at once than there are slots.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(); }
  /// In a forked child: what the parent had under way is the parent's.
  void clear() noexcept {
    for (Slot& slot : slots_) slot.state.store(Slot::free);
    taken_.store(0);
    deferred_.store(0);
    lost_.store(0);
  }

 private:
  Slot* earliest() noexcept {
    Slot* first = nullptr;
    for (Slot& slot : slots_)
      if (slot.state.load(std::memory_order_acquire) == Slot::ready &&
          (first == nullptr || slot.trap.wall_time < first->trap.wall_time))
        first = &slot;
    return first;
  }

  std::array<Slot, 256> slots_{};
  std::atomic<std::size_t> next_{0};
  std::atomic<std::int64_t> taken_{0};
  std::atomic<std::int64_t> deferred_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint32_t> signal_{0};
};

}  // namespace nanlens::inline NANLENS_ABI::traps
