/// @file
/// Ranges of floating dtypes. Source: the formats' definitions (IEEE 754; OCP 8-bit floating point, and its fnuz
/// variants).
#pragma once

#include <nanlens/tensor/dtype.hpp>

namespace nanlens::causes {

/// True for the 8-bit formats without infinity: what is too large becomes NaN.
constexpr bool dtype_lacks_infinity(DType dtype) noexcept {
  return dtype == DType::float8_e4m3fn || dtype == DType::float8_e4m3fnuz || dtype == DType::float8_e4m3b11fnuz ||
         dtype == DType::float8_e5m2fnuz;
}

/// The largest finite value; 0 for dtypes that are not floating.
constexpr double dtype_max(DType dtype) noexcept {
  switch (dtype) {
    case DType::float64: return 1.7976931348623157e308;
    case DType::float32: return 3.4028234663852886e38;
    case DType::bfloat16: return 3.3895313892515355e38;
    case DType::float16: return 65504.0;
    case DType::float8_e5m2: return 57344.0;
    case DType::float8_e4m3fn: return 448.0;
    case DType::float8_e4m3fnuz: return 240.0;
    case DType::float8_e4m3b11fnuz: return 30.0;
    case DType::float8_e5m2fnuz: return 57344.0;
    default: return 0;
  }
}

/// exp(x) overflows above this: the natural logarithm of the largest value, to two digits; 0 where it is not listed.
constexpr double exp_limit(DType dtype) noexcept {
  switch (dtype) {
    case DType::float64: return 709.78;
    case DType::float32:
    case DType::bfloat16: return 88.72;
    case DType::float16: return 11.09;
    default: return 0;
  }
}

}  // namespace nanlens::causes
