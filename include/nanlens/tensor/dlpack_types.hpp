/// @file
/// DLPack's numbers: element types and devices.
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// The dtype of a DLDataType of one lane. Its codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool.
constexpr DType dtype_of_dlpack(std::uint8_t code, std::uint8_t bits) noexcept {
  switch (code << 8 | bits) {
    case 0 << 8 | 8: return DType::int8;
    case 0 << 8 | 16: return DType::int16;
    case 0 << 8 | 32: return DType::int32;
    case 0 << 8 | 64: return DType::int64;
    case 1 << 8 | 8: return DType::uint8;
    case 1 << 8 | 16: return DType::uint16;
    case 1 << 8 | 32: return DType::uint32;
    case 1 << 8 | 64: return DType::uint64;
    case 2 << 8 | 16: return DType::float16;
    case 2 << 8 | 32: return DType::float32;
    case 2 << 8 | 64: return DType::float64;
    case 4 << 8 | 16: return DType::bfloat16;
    case 5 << 8 | 64: return DType::complex64;
    case 5 << 8 | 128: return DType::complex128;
    case 6 << 8 | 8: return DType::boolean;
    default: return DType::invalid;
  }
}

/// True of the memory that this process reads: kDLCPU, kDLCUDAHost, kDLROCMHost and kDLCUDAManaged.
constexpr bool is_readable_dlpack(std::int32_t device_type) noexcept {
  return device_type == 1 || device_type == 3 || device_type == 11 || device_type == 13;
}

}  // namespace nanlens::inline NANLENS_ABI::detail
