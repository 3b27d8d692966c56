/// @file
/// An order between what many threads do all the time and what one does now and then, at the cost of the latter.
#pragma once

#include <atomic>
#include <ctime>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Two threads that each store to a place and then load from the other's: at least one must see what the other stored.
/// The frequent one stores by `store`, the rare one calls `wait` in between; all else is sequentially consistent. On
/// Linux a store then costs no more than any: the rare thread has the kernel pass a fence on every processor that runs
/// the process (membarrier(2)).
class UnevenFence {
 public:
  static UnevenFence& get() noexcept {
    static UnevenFence fence;
    return fence;
  }
  /// Once, before stores can be cheap.
  void prepare() noexcept {
#if defined(SYS_membarrier)
    if (ask(register_process)) cheap_.store(true);
#endif
  }
  void store(std::atomic<bool>& to, bool value) const noexcept {
    if (!cheap_.load(std::memory_order_relaxed)) return to.store(value);
    to.store(value, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// Stores of other threads that began before it are seen after it, or those threads see what this one has stored.
  void wait() noexcept {
#if defined(SYS_membarrier)
    if (!cheap_.load() || ask(fence_process) || (ask(register_process) && ask(fence_process))) return;
    cheap_.store(false);  // a sandbox forbids it by now: what is still on its way is there long before this ends
    constexpr std::timespec some{0, 1'000'000};
    ::nanosleep(&some, nullptr);
#endif
  }

 private:
#if defined(SYS_membarrier)
  // MEMBARRIER_CMD_PRIVATE_EXPEDITED and its registration: <linux/membarrier.h> is not everywhere.
  static constexpr int fence_process = 1 << 3;
  static constexpr int register_process = 1 << 4;
  static bool ask(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }
#endif
  std::atomic<bool> cheap_{false};
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
