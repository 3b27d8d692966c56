/// @file
/// Bit layouts of the floating-point dtypes, as far as health needs them: zero, sign, NaN and infinity.
///
/// Layouts: IEEE 754 binary16/32/64; bfloat16 = upper half of binary32; float8 as in "FP8 Formats for Deep Learning"
/// (e5m2, e4m3fn) and their `fnuz` forms, which have one zero, no infinity, and one NaN, whose pattern is 0x80.
#pragma once

#include <cstdint>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI {

/// One floating-point layout. `special` is the least magnitude (bits without the sign) that is not finite;
/// with `has_infinity` that one is the infinity and all above are NaN, else it and all above are NaN.
/// `unsigned_zero` marks the fnuz layouts: the sign bit alone is the only NaN, everything else is finite.
template <class Word, Word Special, bool HasInfinity, bool UnsignedZero = false>
struct FloatLayout {
  using word = Word;
  static constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  static constexpr Word magnitude = static_cast<Word>(sign - 1);
  static constexpr Word special = Special;
  static constexpr bool has_infinity = HasInfinity;
  static constexpr bool unsigned_zero = UnsignedZero;
};

using Float16Bits = FloatLayout<std::uint16_t, 0x7c00, true>;
using BFloat16Bits = FloatLayout<std::uint16_t, 0x7f80, true>;
using Float32Bits = FloatLayout<std::uint32_t, 0x7f800000u, true>;
using Float64Bits = FloatLayout<std::uint64_t, 0x7ff0000000000000u, true>;
using Float8E5M2Bits = FloatLayout<std::uint8_t, 0x7c, true>;
using Float8E4M3FNBits = FloatLayout<std::uint8_t, 0x7f, false>;
using Float8FnuzBits = FloatLayout<std::uint8_t, 0x80, false, true>;

/// Calls `f` with the layout of a floating dtype as an object; returns `fallback` for any other dtype.
template <class F, class R>
constexpr R with_float_layout(DType dtype, R fallback, F&& f) {
  switch (dtype) {
    case DType::float32: return f(Float32Bits{});
    case DType::float64: return f(Float64Bits{});
    case DType::float16: return f(Float16Bits{});
    case DType::bfloat16: return f(BFloat16Bits{});
    case DType::float8_e5m2: return f(Float8E5M2Bits{});
    case DType::float8_e4m3fn: return f(Float8E4M3FNBits{});
    case DType::float8_e4m3fnuz:
    case DType::float8_e4m3b11fnuz:
    case DType::float8_e5m2fnuz: return f(Float8FnuzBits{});
    default: return fallback;
  }
}

namespace detail {

// Does a layout say of a dtype what the table of dtypes says?
template <class Layout>
constexpr bool is_layout_of(Layout, DType dtype) noexcept {
  const FloatFormat& f = float_format(dtype);
  const bool ieee = f.specials == FloatSpecials::ieee;
  const bool minus_zero = f.specials == FloatSpecials::minus_zero;
  const std::uint64_t infinity = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.fraction_bits;
  return dtype_bytes(dtype) == sizeof(typename Layout::word) && Layout::has_infinity == ieee &&
         Layout::unsigned_zero == minus_zero &&
         Layout::special == (ieee         ? infinity
                             : minus_zero ? Layout::sign
                                          : Layout::magnitude);
}
static_assert([] {
  for (const DTypeFacts& facts : dtype_facts) {
    const auto fits = [&](auto layout) { return is_layout_of(layout, facts.dtype); };
    if (!with_float_layout(facts.dtype, !is_floating(facts.dtype), fits)) return false;
  }
  return true;
}());

}  // namespace detail

}  // namespace nanlens::inline NANLENS_ABI
