/// @file
/// The element types of tensors, with the numbers of TensorFlow's `DataType` enum.
///
/// Part of every file that records, with or without NANLENS_DISABLE: it includes next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

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

/// What a floating dtype has besides finite numbers.
enum class FloatSpecials : std::uint8_t {
  none,        ///< not a floating dtype
  ieee,        ///< with the largest exponent, an infinity and above it NaN (IEEE 754)
  all_ones,    ///< no infinity; NaN is where all bits but the sign are set (OCP 8-bit floating point's e4m3)
  minus_zero,  ///< no infinity; the only NaN has the bits of −0 (the fnuz formats)
};

/// The bits of a floating dtype, behind its sign: exponent, then fraction.
struct FloatFormat {
  std::uint8_t exponent_bits;
  std::uint8_t fraction_bits;
  std::int16_t bias;
  FloatSpecials specials;
};

namespace detail {

struct DTypeFacts {
  DType dtype;
  const char* name;
  std::uint8_t bytes;  // 0 where one element has no fixed whole number of bytes
  DTypeKind kind;
  FloatFormat format;
};

// All that is known of each dtype, at the place of its number. Sources of the formats: IEEE 754; OCP 8-bit floating
// point; for bfloat16 and the fnuz formats their definitions in ml_dtypes.
inline constexpr DTypeFacts dtype_facts[] = {
    {DType::invalid, "invalid", 0, DTypeKind::none, {}},
    {DType::float32, "float32", 4, DTypeKind::floating, {8, 23, 127, FloatSpecials::ieee}},
    {DType::float64, "float64", 8, DTypeKind::floating, {11, 52, 1023, FloatSpecials::ieee}},
    {DType::int32, "int32", 4, DTypeKind::integer, {}},
    {DType::uint8, "uint8", 1, DTypeKind::integer, {}},
    {DType::int16, "int16", 2, DTypeKind::integer, {}},
    {DType::int8, "int8", 1, DTypeKind::integer, {}},
    {DType::string, "string", 0, DTypeKind::string, {}},
    {DType::complex64, "complex64", 8, DTypeKind::complex, {}},
    {DType::int64, "int64", 8, DTypeKind::integer, {}},
    {DType::boolean, "bool", 1, DTypeKind::boolean, {}},
    {DType::qint8, "qint8", 1, DTypeKind::quantized, {}},
    {DType::quint8, "quint8", 1, DTypeKind::quantized, {}},
    {DType::qint32, "qint32", 4, DTypeKind::quantized, {}},
    {DType::bfloat16, "bfloat16", 2, DTypeKind::floating, {8, 7, 127, FloatSpecials::ieee}},
    {DType::qint16, "qint16", 2, DTypeKind::quantized, {}},
    {DType::quint16, "quint16", 2, DTypeKind::quantized, {}},
    {DType::uint16, "uint16", 2, DTypeKind::integer, {}},
    {DType::complex128, "complex128", 16, DTypeKind::complex, {}},
    {DType::float16, "float16", 2, DTypeKind::floating, {5, 10, 15, FloatSpecials::ieee}},
    {DType::resource, "resource", 0, DTypeKind::handle, {}},
    {DType::variant, "variant", 0, DTypeKind::handle, {}},
    {DType::uint32, "uint32", 4, DTypeKind::integer, {}},
    {DType::uint64, "uint64", 8, DTypeKind::integer, {}},
    {DType::float8_e5m2, "float8_e5m2", 1, DTypeKind::floating, {5, 2, 15, FloatSpecials::ieee}},
    {DType::float8_e4m3fn, "float8_e4m3fn", 1, DTypeKind::floating, {4, 3, 7, FloatSpecials::all_ones}},
    {DType::float8_e4m3fnuz, "float8_e4m3fnuz", 1, DTypeKind::floating, {4, 3, 8, FloatSpecials::minus_zero}},
    {DType::float8_e4m3b11fnuz, "float8_e4m3b11fnuz", 1, DTypeKind::floating, {4, 3, 11, FloatSpecials::minus_zero}},
    {DType::float8_e5m2fnuz, "float8_e5m2fnuz", 1, DTypeKind::floating, {5, 2, 16, FloatSpecials::minus_zero}},
    {DType::int4, "int4", 0, DTypeKind::sub_byte, {}},
    {DType::uint4, "uint4", 0, DTypeKind::sub_byte, {}},
    {DType::int2, "int2", 0, DTypeKind::sub_byte, {}},
    {DType::uint2, "uint2", 0, DTypeKind::sub_byte, {}},
    {DType::float4_e2m1fn, "float4_e2m1fn", 0, DTypeKind::sub_byte, {}},
};

inline constexpr std::int32_t num_dtypes = sizeof dtype_facts / sizeof dtype_facts[0];

constexpr const DTypeFacts& facts_of(DType dtype) noexcept {
  const auto number = static_cast<std::int32_t>(dtype);
  return dtype_facts[number >= 0 && number < num_dtypes ? number : 0];
}

constexpr bool is_consistent(const DTypeFacts& f) noexcept {
  const bool floating = f.kind == DTypeKind::floating;
  return &facts_of(f.dtype) == &f && floating == (f.format.specials != FloatSpecials::none) &&
         (!floating || 1 + f.format.exponent_bits + f.format.fraction_bits == 8 * f.bytes);
}
static_assert([] {
  for (const DTypeFacts& f : dtype_facts)
    if (!is_consistent(f)) return false;
  return true;
}());

}  // namespace detail

/// Bytes of one element in memory; 0 for dtypes whose elements have no fixed whole number of bytes.
constexpr std::size_t dtype_bytes(DType dtype) noexcept { return detail::facts_of(dtype).bytes; }

/// The family of a dtype, which decides what a summary says of it.
constexpr DTypeKind dtype_kind(DType dtype) noexcept { return detail::facts_of(dtype).kind; }

/// True for float16/32/64, bfloat16 and the float8 family. Complex is not floating (as in TensorFlow).
constexpr bool is_floating(DType dtype) noexcept { return dtype_kind(dtype) == DTypeKind::floating; }

/// The layout of a floating dtype; without bits for any other.
constexpr const FloatFormat& float_format(DType dtype) noexcept { return detail::facts_of(dtype).format; }

}  // namespace nanlens::inline NANLENS_ABI
