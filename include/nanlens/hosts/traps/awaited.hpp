/// @file
/// A thread that traps at a new place waits until that is on record: what comes of a NaN is often the end of the
/// program (an index that was computed of it, a check that calls exit_group), and what ends a process ends its
/// recording thread, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include <pthread.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

inline std::int64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec now{};
  return ::clock_gettime(clock, &now) == 0 ? now.tv_sec * 1'000'000'000 + now.tv_nsec : 0;
}

/// How the recording thread gets on, and who waits for it.
class Awaited {
 public:
  /// From the recording thread, as it begins.
  void begin() noexcept {
    clockid_t clock{};
    known_.store(::pthread_getcpuclockid(::pthread_self(), &clock) == 0);
    clock_.store(clock);
    stuck_.store(false);
    waited_.store(0);
    began_.store(nanoseconds_of(CLOCK_MONOTONIC));
  }
  /// Something is on record.
  void get_on() noexcept { stuck_.store(false, std::memory_order_relaxed); }
  /// Waits until `done()`, as long as the recording thread computes: the first trap needs all symbols of the program.
  /// If that thread doesn't run for half a second, it may need a lock that the calling one holds; then nobody waits any
  /// more until it gets on. In all, threads wait for two seconds and an eighth of the time since it began.
  /// For signal handlers.
  template <class Done>
  void wait(Done&& done) noexcept {
    constexpr timespec pause{0, 50'000};
    constexpr std::int64_t longest_rest = 500'000'000;
    const std::int64_t begin = nanoseconds_of(CLOCK_MONOTONIC);
    std::int64_t used = processor_time();
    for (std::int64_t moved = begin; !done() && !stuck_.load(std::memory_order_relaxed) && has_time(begin);) {
      ::nanosleep(&pause, nullptr);
      const std::int64_t now = nanoseconds_of(CLOCK_MONOTONIC);
      if (const std::int64_t uses = processor_time(); uses != used) {
        used = uses;
        moved = now;
      }
      if (now - moved > longest_rest) stuck_.store(true, std::memory_order_relaxed);
    }
    waited_.fetch_add(nanoseconds_of(CLOCK_MONOTONIC) - begin);
  }

 private:
  [[nodiscard]] std::int64_t processor_time() const noexcept {
    return known_.load() ? nanoseconds_of(clock_.load()) : 0;
  }
  [[nodiscard]] bool has_time(std::int64_t begin) const noexcept {
    constexpr std::int64_t at_once = 2'000'000'000;
    const std::int64_t now = nanoseconds_of(CLOCK_MONOTONIC);
    return waited_.load() + (now - begin) < at_once + (now - began_.load()) / 8;
  }

  std::atomic<clockid_t> clock_{};
  std::atomic<bool> known_{false};
  std::atomic<bool> stuck_{false};
  std::atomic<std::int64_t> waited_{0};  // nanoseconds, by all threads
  std::atomic<std::int64_t> began_{0};   // nanoseconds of the monotonic clock
};

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
