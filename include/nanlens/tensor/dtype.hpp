/// @file
/// The element types of tensors, with the numbers of TensorFlow's `DataType` enum.
///
/// Part of every file that records, with or without NANLENS_DISABLE: it includes next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nanlens {

/// Element type. The numbers are those of TensorFlow's `types.proto`; they appear inside summaries and TensorProtos.
/// A reader may meet numbers that are not listed, and `_REF` variants (number + 100).
enum class DType : std::int32_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bfloat16 = 14,
  qint16 = 15,
  quint16 = 16,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
  float8_e5m2 = 24,
  float8_e4m3fn = 25,
  float8_e4m3fnuz = 26,
  float8_e4m3b11fnuz = 27,
  float8_e5m2fnuz = 28,
  int4 = 29,
  uint4 = 30,
  int2 = 31,
  uint2 = 32,
  float4_e2m1fn = 33,
};

/// What a summary may say of a dtype.
enum class DTypeKind : std::uint8_t {
  none,       ///< invalid or unknown
  floating,   ///< float16/32/64, bfloat16 and the float8 family: health modes and SHAPE
  integer,    ///< (u)int8…64: SHAPE
  boolean,    ///< bool: SHAPE
  complex,    ///< a placeholder in every summary mode
  string,     ///< a placeholder in every summary mode
  quantized,  ///< a placeholder in every summary mode
  sub_byte,   ///< 2 and 4 bit types: a placeholder in every summary mode
  handle,     ///< resource and variant: values that no tensor of numbers can show
};

namespace detail {

struct DTypeFacts {
  const char* name;
  std::uint8_t bytes;  // 0 where one element has no fixed whole number of bytes
  DTypeKind kind;
};

inline constexpr DTypeFacts dtype_facts[] = {
    {"invalid", 0, DTypeKind::none},
    {"float32", 4, DTypeKind::floating},
    {"float64", 8, DTypeKind::floating},
    {"int32", 4, DTypeKind::integer},
    {"uint8", 1, DTypeKind::integer},
    {"int16", 2, DTypeKind::integer},
    {"int8", 1, DTypeKind::integer},
    {"string", 0, DTypeKind::string},
    {"complex64", 8, DTypeKind::complex},
    {"int64", 8, DTypeKind::integer},
    {"bool", 1, DTypeKind::boolean},
    {"qint8", 1, DTypeKind::quantized},
    {"quint8", 1, DTypeKind::quantized},
    {"qint32", 4, DTypeKind::quantized},
    {"bfloat16", 2, DTypeKind::floating},
    {"qint16", 2, DTypeKind::quantized},
    {"quint16", 2, DTypeKind::quantized},
    {"uint16", 2, DTypeKind::integer},
    {"complex128", 16, DTypeKind::complex},
    {"float16", 2, DTypeKind::floating},
    {"resource", 0, DTypeKind::handle},
    {"variant", 0, DTypeKind::handle},
    {"uint32", 4, DTypeKind::integer},
    {"uint64", 8, DTypeKind::integer},
    {"float8_e5m2", 1, DTypeKind::floating},
    {"float8_e4m3fn", 1, DTypeKind::floating},
    {"float8_e4m3fnuz", 1, DTypeKind::floating},
    {"float8_e4m3b11fnuz", 1, DTypeKind::floating},
    {"float8_e5m2fnuz", 1, DTypeKind::floating},
    {"int4", 0, DTypeKind::sub_byte},
    {"uint4", 0, DTypeKind::sub_byte},
    {"int2", 0, DTypeKind::sub_byte},
    {"uint2", 0, DTypeKind::sub_byte},
    {"float4_e2m1fn", 0, DTypeKind::sub_byte},
};

inline constexpr std::int32_t num_dtypes = sizeof dtype_facts / sizeof dtype_facts[0];

constexpr const DTypeFacts& facts_of(DType dtype) noexcept {
  const auto number = static_cast<std::int32_t>(dtype);
  return dtype_facts[number >= 0 && number < num_dtypes ? number : 0];
}

}  // namespace detail

/// Bytes of one element in memory; 0 for dtypes whose elements have no fixed whole number of bytes.
constexpr std::size_t dtype_bytes(DType dtype) noexcept { return detail::facts_of(dtype).bytes; }

/// The family of a dtype, which decides what a summary says of it.
constexpr DTypeKind dtype_kind(DType dtype) noexcept { return detail::facts_of(dtype).kind; }

/// True for float16/32/64, bfloat16 and the float8 family. Complex is not floating (as in TensorFlow).
constexpr bool is_floating(DType dtype) noexcept { return dtype_kind(dtype) == DTypeKind::floating; }

}  // namespace nanlens
