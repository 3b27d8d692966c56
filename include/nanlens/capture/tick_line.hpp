/// @file
/// The time of day as a line over the ticks of a counter: asking the system costs more than twice as much.
#pragma once

#include <atomic>
#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// What counter and clock said at one moment. Time is in 2^-32 s since the epoch.
struct ClockSample {
  std::uint64_t ticks = 0;
  std::uint64_t time = 0;
};

/// Any number of threads read, one at a time adds samples. Each turns the line towards the clock, without a step, so
/// that time does not go back. The line ends some time after the last sample.
class TickLine {
 public:
  /// A line is not followed further than this, so that no product overflows.
  static constexpr std::uint64_t most_ticks = std::uint64_t{1} << 30;
  /// What counter and clock may differ by from one sample to the next: 1 ms.
  static constexpr double most_error = 0x1p32 / 1000;

  /// The time at a tick, or 0: not known.
  [[nodiscard]] NANLENS_INLINE std::uint64_t at(std::uint64_t ticks) const noexcept {
    // Each load before the next one, which a fence does too, but not for ThreadSanitizer.
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    const std::uint64_t begin = begin_.load(std::memory_order_acquire);
    const std::uint64_t time = time_.load(std::memory_order_acquire);
    const std::uint64_t slope = slope_.load(std::memory_order_acquire);
    // While it changes it isn't waited for: after fork nobody may go on with that.
    if ((version & 1) != 0 || version_.load(std::memory_order_relaxed) != version) return 0;
    // Read just before the line began: time stands still until it does.
    const auto behind = static_cast<std::int64_t>(ticks - begin);
    const std::uint64_t since = behind < 0 ? 0 : ticks - begin;
    if (slope == 0 || since > most_ticks || behind < -static_cast<std::int64_t>(most_ticks)) return 0;
    return time + (since * slope >> slope_bits);
  }

  /// False where counter and clock contradict each other: the clock was set, or the counter can't be relied on. Then
  /// the line has ended.
  bool add(const ClockSample& sample) noexcept {
    const bool fits = last_.ticks == 0 || turn(sample);
    if (fits)
      last_ = sample;
    else
      end();
    return fits;
  }
  /// There is no line until there are two more samples.
  void end() noexcept {
    last_ = {};
    change(0, 0, 0);
  }

 private:
  static constexpr unsigned slope_bits = 30;

  bool turn(const ClockSample& sample) noexcept {
    const auto ticks = static_cast<std::int64_t>(sample.ticks - last_.ticks);
    const auto time = static_cast<std::int64_t>(sample.time - last_.time);
    if (ticks <= 0 || time <= 0) return false;
    const std::uint64_t expected = at(sample.ticks);
    const double error = expected == 0 ? 0 : static_cast<double>(static_cast<std::int64_t>(sample.time - expected));
    if (error > most_error || error < -most_error) return false;
    // What is missing is made up for in as long as the next samples take.
    constexpr double samples = 4;
    const double slope =
        (static_cast<double>(time) + error / samples) / static_cast<double>(ticks) * (1U << slope_bits);
    constexpr double largest = 0x1p33;  // a counter of half a gigahertz
    if (slope < 1 || slope > largest) return false;
    change(sample.ticks, expected == 0 ? sample.time : expected, static_cast<std::uint64_t>(slope));
    return true;
  }
  void change(std::uint64_t begin, std::uint64_t time, std::uint64_t slope) noexcept {
    const std::uint32_t version = version_.load(std::memory_order_relaxed) | 1;
    version_.store(version, std::memory_order_relaxed);
    begin_.store(begin, std::memory_order_release);
    time_.store(time, std::memory_order_release);
    slope_.store(slope, std::memory_order_release);
    version_.store(version + 1, std::memory_order_release);
  }

  std::atomic<std::uint32_t> version_{0};  // odd while it is being changed
  std::atomic<std::uint64_t> begin_{0};
  std::atomic<std::uint64_t> time_{0};
  std::atomic<std::uint64_t> slope_{0};  // time per tick, in 2^-slope_bits; 0: no line
  ClockSample last_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
