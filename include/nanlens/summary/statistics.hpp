/// @file
/// What counts don't tell: range, mean, norm and magnitudes of a tensor's finite values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <nanlens/config.hpp>
#include <nanlens/summary/strided.hpp>

namespace nanlens::inline NANLENS_ABI {

/// Statistics of the finite elements; min = +∞, max = −∞, mean = NaN and norm = 0 where there are none.
struct Statistics {
  /// Bins of 8 powers of two each, from 2^−128 on; the outermost take what lies beyond. Zeros are in none.
  static constexpr std::size_t num_bins = 32;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double norm = 0;  ///< the root of the sum of squares
  std::array<std::uint32_t, num_bins> exponents{};
};

namespace detail {

// The value of a format narrower than float32.
NANLENS_HIDDEN inline double small_value(std::uint32_t bits, const FloatFormat& f) noexcept {
  const std::uint32_t sign = bits >> (f.exponent_bits + f.fraction_bits) & 1;
  const auto exponent = static_cast<int>(bits >> f.fraction_bits & ((1U << f.exponent_bits) - 1));
  const std::uint32_t all_ones = (1U << f.fraction_bits) - 1;
  const std::uint32_t fraction = bits & all_ones;
  const int top = (1 << f.exponent_bits) - 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (exponent == top && f.specials == FloatSpecials::ieee)
    return fraction != 0 ? nan : sign != 0 ? -infinity : infinity;
  if (exponent == top && f.specials == FloatSpecials::all_ones && fraction == all_ones) return nan;
  if (f.specials == FloatSpecials::minus_zero && sign != 0 && exponent == 0 && fraction == 0) return nan;
  const double value = exponent == 0
                           ? std::ldexp(fraction, 1 - f.bias - f.fraction_bits)
                           : std::ldexp(fraction | 1U << f.fraction_bits, exponent - f.bias - f.fraction_bits);
  return sign != 0 ? -value : value;
}

/// The root of the sum of the squares of finite values, whose squares may be too large or too small for a double: those
/// far from 1 are scaled, by powers of two, and added up apart.
class NANLENS_HIDDEN SumOfSquares {
 public:
  void add(double value, double times = 1) noexcept {
    const double size = std::fabs(value);
    if (size > 0x1p480)
      large_ += value * 0x1p-600 * (value * 0x1p-600) * times;
    else if (size >= 0x1p-480 || size == 0)
      middle_ += value * value * times;
    else
      small_ += value * 0x1p600 * (value * 0x1p600) * times;
  }
  [[nodiscard]] double root() const noexcept {
    return std::hypot(std::hypot(std::sqrt(large_) * 0x1p600, std::sqrt(middle_)), std::sqrt(small_) * 0x1p-600);
  }

 private:
  double large_ = 0;
  double middle_ = 0;
  double small_ = 0;
};

class NANLENS_HIDDEN StatisticsPass {
 public:
  void add(double value) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024) return;  // NaN or infinity
    result.min = std::min(result.min, value);
    result.max = std::max(result.max, value);
    sum_ += value;
    squares_.add(value);
    ++count_;
    if (value != 0) ++result.exponents[static_cast<std::size_t>(std::clamp((exponent + 128) >> 3, 0, 31))];
  }
  Statistics finish() noexcept {
    if (count_ > 0) result.mean = sum_ / static_cast<double>(count_);
    result.norm = squares_.root();
    return result;
  }
  Statistics result;

 private:
  double sum_ = 0;
  SumOfSquares squares_;
  std::uint64_t count_ = 0;
};

template <class Bits, class ToDouble>
void add_run(StatisticsPass& pass, const void* data, std::size_t n, ToDouble&& to_double) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < n; ++i, p += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, p, sizeof bits);
    pass.add(to_double(bits));
  }
}

}  // namespace detail

/// Statistics of a floating tensor, in one pass. Tensors of other dtypes, without elements or without readable memory
/// have none. Broadcast elements count once.
NANLENS_HIDDEN inline Statistics statistics(const TensorView& view) noexcept {
  detail::StatisticsPass pass;
  if (!is_floating(view.dtype) || view.data == nullptr || num_elements(view.shape) <= 0) return pass.finish();
  const std::size_t bytes = dtype_bytes(view.dtype);
  const FloatFormat small = float_format(view.dtype);
  detail::visit_runs(detail::fold(view, bytes), bytes, [&](const void* data, std::size_t n) {
    switch (bytes) {
      case 8: detail::add_run<double>(pass, data, n, [](double v) { return v; }); break;
      case 4: detail::add_run<float>(pass, data, n, [](float v) { return static_cast<double>(v); }); break;
      case 2:
        detail::add_run<std::uint16_t>(pass, data, n, [&](std::uint16_t v) { return detail::small_value(v, small); });
        break;
      default:
        detail::add_run<std::uint8_t>(pass, data, n, [&](std::uint8_t v) { return detail::small_value(v, small); });
        break;
    }
    return true;
  });
  return pass.finish();
}

}  // namespace nanlens::inline NANLENS_ABI
