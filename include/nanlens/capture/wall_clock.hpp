/// @file
/// The time of events.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <nanlens/capture/tick_line.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The system's time of day. While a recording's writer compares them again and again, it is computed from the
/// processor's counter, where that is what the system itself computes it from.
class WallClock {
 public:
  static WallClock& get() noexcept {
    static WallClock clock;  // nothing to construct or destroy: threads may ask while the program ends
    return clock;
  }

  /// Seconds since the epoch, as the format wants them. Whatever the thread's floating-point state is, it is not
  /// touched: the time is rounded as a whole number of the parts of a second that a double of today tells apart.
  [[nodiscard]] double now() const noexcept {
    std::uint64_t time = 0;
#if NANLENS_X86_64
    if (follows_.load(std::memory_order_relaxed)) time = line_.at(__builtin_ia32_rdtsc());
#endif
    return seconds(time != 0 ? time : system_time());
  }

  /// A recording begins: is the counter one to rely on?
  void begin() noexcept {
#if NANLENS_X86_64
    line_.end();
    compared_ = 0;
    interval_ = first_interval;
    follows_.store(system_uses_counter(), std::memory_order_relaxed);
    compare();
#endif
  }
  /// Compares counter and system. To be called while a recording runs, by one thread at a time.
  void compare() noexcept {
#if NANLENS_X86_64
    if (!follows_.load(std::memory_order_relaxed) || __builtin_ia32_rdtsc() - compared_ < interval_) return;
    const ClockSample sample = narrowest_sample();
    if (compared_ != 0) interval_ = std::min(2 * interval_, most_interval);
    compared_ = sample.ticks;
    if (!line_.add(sample)) follows_.store(false, std::memory_order_relaxed);
#endif
  }

 private:
  static std::uint64_t system_time() noexcept {
    std::timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    constexpr std::uint64_t second = 1'000'000'000;
    const std::uint64_t fraction = (static_cast<std::uint64_t>(t.tv_nsec) << 32) / second;
    return (static_cast<std::uint64_t>(t.tv_sec) << 32) + fraction;
  }
  static double seconds(std::uint64_t time) noexcept {
    constexpr unsigned fraction_bits = 22;
    constexpr unsigned too_fine = 32 - fraction_bits;
    const std::uint64_t rounded = (time + (1U << (too_fine - 1))) >> too_fine;
    const std::uint64_t odd = rounded >> 53;  // from 2038 on, a double tells half as many apart
    return static_cast<double>(static_cast<std::int64_t>(rounded & ~odd)) * 0x1p-22;
  }

#if NANLENS_X86_64
  static bool system_uses_counter() noexcept {
    std::FILE* const file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file == nullptr) return false;
    char name[8] = {};
    const bool read = std::fgets(name, sizeof name, file) != nullptr;
    std::fclose(file);
    return read && std::strcmp(name, "tsc\n") == 0;
  }
  // Of several, the one that least time passed in between.
  static ClockSample narrowest_sample() noexcept {
    ClockSample best;
    std::uint64_t width = ~std::uint64_t{0};
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t before = __builtin_ia32_rdtsc();
      const std::uint64_t time = system_time();
      const std::uint64_t after = __builtin_ia32_rdtsc();
      if (after - before >= width) continue;
      width = after - before;
      best = {before + width / 2, time};
    }
    return best;
  }
  // Ticks. What is known after the first millisecond is right to some 10^-5, and better from one to the next.
  static constexpr std::uint64_t first_interval = std::uint64_t{1} << 20;
  static constexpr std::uint64_t most_interval = std::uint64_t{1} << 26;
  std::uint64_t interval_ = first_interval;
  std::uint64_t compared_ = 0;
#endif
  std::atomic<bool> follows_{false};
  TickLine line_;
};

/// Seconds since the epoch (see WallClock::now).
inline double wall_time_now() noexcept { return WallClock::get().now(); }

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
