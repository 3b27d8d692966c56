/// @file
/// The element types of CUDA: halves, and its 8-bit numbers. They don't say what they are by
/// std::numeric_limits.
#pragma once

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

// NOLINTBEGIN(bugprone-reserved-identifier): their names
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e5m2;
struct __nv_fp8_e4m3;

namespace nanlens::inline NANLENS_ABI {

template <>
struct DTypeOf<::__half> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<::__nv_bfloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<::__nv_fp8_e5m2> {
  static constexpr DType value = DType::float8_e5m2;
};
template <>
struct DTypeOf<::__nv_fp8_e4m3> {
  static constexpr DType value = DType::float8_e4m3fn;
};

}  // namespace nanlens::inline NANLENS_ABI
// NOLINTEND(bugprone-reserved-identifier)
