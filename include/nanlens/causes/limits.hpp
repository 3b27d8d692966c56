/// @file
/// Ranges of floating dtypes, from their formats.
#pragma once

#include <array>
#include <cmath>

#include <nanlens/tensor/dtype.hpp>

namespace nanlens::causes {

/// True for the 8-bit formats without infinity: what is too large becomes NaN.
constexpr bool dtype_lacks_infinity(DType dtype) noexcept {
  return is_floating(dtype) && float_format(dtype).specials != FloatSpecials::ieee;
}

namespace detail {

// The largest fraction with the largest exponent, but for the bits that are kept for NaN and infinity.
constexpr double largest_value(const FloatFormat& f) noexcept {
  if (f.specials == FloatSpecials::none) return 0;
  const double steps = static_cast<double>(std::uint64_t{1} << f.fraction_bits);
  const double fraction = steps - (f.specials == FloatSpecials::all_ones ? 2 : 1);
  const int exponent = (1 << f.exponent_bits) - (f.specials == FloatSpecials::ieee ? 2 : 1) - f.bias;
  double value = 1 + fraction / steps;
  for (int i = 0; i < exponent; ++i) value *= 2;
  return value;
}

inline constexpr auto largest_values = [] {
  std::array<double, nanlens::detail::num_dtypes> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = largest_value(nanlens::detail::dtype_facts[i].format);
  return values;
}();

}  // namespace detail

/// The largest finite value; 0 for dtypes that are not floating.
constexpr double dtype_max(DType dtype) noexcept {
  return detail::largest_values[static_cast<std::size_t>(nanlens::detail::facts_of(dtype).dtype)];
}

/// exp(x) overflows above this: the natural logarithm of the largest value, to two digits; 0 for dtypes that are not
/// floating, and for those of 8 bits, where rounding moves it by more than that.
inline double exp_limit(DType dtype) noexcept {
  return is_floating(dtype) && dtype_bytes(dtype) > 1 ? std::round(std::log(dtype_max(dtype)) * 100) / 100 : 0;
}

}  // namespace nanlens::causes
