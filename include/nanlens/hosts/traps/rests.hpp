/// @file
/// Places that trap again and again: once one has been counted often enough, its thread goes on with the exception
/// masked for a while of its own CPU time, so that a program with billions of them comes to an end.
///
/// A timer of the thread's CPU time unmasks it again. It runs out while the thread computes, so that it breaks into no
/// system call (Linux 5.10 and later raise its signal on the way back to the program). Of a signal handler of the
/// program that it meets, the state is given up when the handler returns: so it goes on ticking until the thread has
/// trapped again, or long enough.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

#include <nanlens/hosts/traps/machine_state.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// Up to so many times all traps of a place are counted.
inline constexpr std::uint64_t most_counted = 10'000;

/// What a thread doesn't trap for now. Used in its own signal handlers, and before it starts another thread.
class Rests {
 public:
  /// One more of a place that was counted often enough, with these flags of MXCSR. The masks to leave set: some traps
  /// are taken between two rests, since rarer places can only be seen then.
  std::uint32_t after_trap(std::uint32_t flags) noexcept {
    constexpr std::uint32_t between_rests = 48;
    if (++taken_ < between_rests) return 0;
    taken_ = 0;
    if (!start_timer()) return 0;
    masked_ = flags << mxcsr_mask_shift;
    ticks_ = 0;
    any_.store(true, std::memory_order_relaxed);
    return masked_;
  }
  /// Was the signal raised by the timer?
  [[nodiscard]] static bool is_tick(const siginfo_t& info) noexcept {
    return info.si_code == SI_TIMER && info.si_value.sival_ptr == &any_;
  }
  /// The masks to clear, at a tick.
  std::uint32_t at_tick() noexcept {
    constexpr std::uint32_t long_enough = 50;
    if (++ticks_ >= long_enough) set_timer(0);
    return masked_;
  }
  /// The thread has trapped: it doesn't rest. The masks to clear, before it starts another, which would begin with
  /// them.
  std::uint32_t end() noexcept {
    if (masked_ == 0) return 0;
    const std::uint32_t masked = masked_;
    masked_ = 0;
    set_timer(0);
    return masked;
  }
  /// In a forked child, which has none of its parent's timers.
  std::uint32_t end_in_child() noexcept {
    timer_ = none;
    const std::uint32_t masked = masked_;
    masked_ = 0;
    return masked;
  }
  /// True once any thread has rested: from then on counts are what is known.
  [[nodiscard]] static bool any() noexcept { return any_.load(std::memory_order_relaxed); }
  static void forget() noexcept { any_.store(false); }

 private:
  static constexpr int none = -1;
  static constexpr long pause_ns = 20'000'000;

  // By the system call: the C library's function is not made for signal handlers.
  bool start_timer() noexcept {
    // A thread that ends leaves its timer; they must not use up what the process may have.
    static std::atomic<int> num_timers{0};
    constexpr int most_timers = 1024;
    if (timer_ == none) {
      struct sigevent event{};
      event.sigev_notify = SIGEV_THREAD_ID;
      event.sigev_signo = SIGTRAP;
      event.sigev_value.sival_ptr = &any_;
      event._sigev_un._tid = static_cast<int>(::syscall(SYS_gettid));
      if (num_timers.fetch_add(1) >= most_timers ||
          ::syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0)
        return false;
    }
    return set_timer(pause_ns);
  }
  bool set_timer(
      long nanoseconds) const noexcept {  // NOLINT(modernize-use-nodiscard): where it stops one, nothing can fail
    const struct itimerspec every{{0, nanoseconds}, {0, nanoseconds}};
    return timer_ != none && ::syscall(SYS_timer_settime, timer_, 0, &every, nullptr) == 0;
  }

  inline static std::atomic<bool> any_{false};
  int timer_ = none;
  std::uint32_t taken_ = 0;   // since the last rest
  std::uint32_t masked_ = 0;  // bits of MXCSR
  std::uint32_t ticks_ = 0;   // since it was masked
};

/// Of each thread, where a handler finds it without a call into the loader.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit Rests rests{};

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
