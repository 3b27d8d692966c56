/// @file
/// The six numbers that say how healthy a floating-point tensor is, and the plain scalar way to count them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanlens/config.hpp>
#include <nanlens/tensor/float_bits.hpp>

namespace nanlens::inline NANLENS_ABI {

/// Element counts by category; the six add up to the number of elements counted.
/// −0.0 is zero; subnormals count by their sign.
struct HealthCounts {
  std::uint64_t neg_inf = 0;
  std::uint64_t pos_inf = 0;
  std::uint64_t nan = 0;
  std::uint64_t negative = 0;
  std::uint64_t zero = 0;
  std::uint64_t positive = 0;

  constexpr HealthCounts& operator+=(const HealthCounts& o) noexcept {
    neg_inf += o.neg_inf;
    pos_inf += o.pos_inf;
    nan += o.nan;
    negative += o.negative;
    zero += o.zero;
    positive += o.positive;
    return *this;
  }
  /// Every element counted `times` times: for dimensions along which one value is broadcast.
  constexpr HealthCounts& operator*=(std::uint64_t times) noexcept {
    neg_inf *= times;
    pos_inf *= times;
    nan *= times;
    negative *= times;
    zero *= times;
    positive *= times;
    return *this;
  }
  friend constexpr bool operator==(const HealthCounts&, const HealthCounts&) noexcept = default;

  [[nodiscard]] constexpr std::uint64_t non_finite() const noexcept { return neg_inf + pos_inf + nan; }
  [[nodiscard]] constexpr std::uint64_t total() const noexcept { return non_finite() + negative + zero + positive; }
};

/// Counts one element at a time: the reference that every vectorised kernel is tested against, and the fallback.
/// Integer tests on the bits alone, so -ffast-math and flush-to-zero modes change nothing.
template <class Layout>
HealthCounts count_scalar(const void* data, std::size_t n) noexcept {
  using Word = typename Layout::word;
  HealthCounts counts;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < n; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
    const Word magnitude = word & Layout::magnitude;
    const bool negative = (word & Layout::sign) != 0;
    const bool nan =
        Layout::unsigned_zero ? word == Layout::sign : magnitude > Layout::special - (Layout::has_infinity ? 0 : 1);
    const bool infinite = Layout::has_infinity && magnitude == Layout::special;
    const bool zero = magnitude == 0 && !nan;
    const bool finite = !nan && !infinite && !zero;
    counts.nan += nan;
    counts.neg_inf += infinite && negative;
    counts.pos_inf += infinite && !negative;
    counts.zero += zero;
    counts.negative += finite && negative;
    counts.positive += finite && !negative;
  }
  return counts;
}

}  // namespace nanlens::inline NANLENS_ABI
