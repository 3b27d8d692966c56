/// @file
/// Reads NumPy's file of one array, for the inputs of a model.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

/// What an .npy file holds, its elements in row-major order; or why it can't be used.
struct NpyArray {
  DType dtype = DType::invalid;
  std::vector<std::int64_t> shape;
  std::string content;
  std::string why_not;
};

namespace npy {

inline DType dtype_of(std::string_view type) noexcept {
  constexpr std::pair<std::string_view, DType> types[] = {
      {"f2", DType::float16},   {"f4", DType::float32},    {"f8", DType::float64}, {"b1", DType::boolean},
      {"u1", DType::uint8},     {"u2", DType::uint16},     {"u4", DType::uint32},  {"u8", DType::uint64},
      {"i1", DType::int8},      {"i2", DType::int16},      {"i4", DType::int32},   {"i8", DType::int64},
      {"c8", DType::complex64}, {"c16", DType::complex128}};
  for (const auto& [name, dtype] : types)
    if (type.substr(1) == name) return dtype;
  return DType::invalid;
}

/// What stands behind a key of the header's dictionary.
inline std::string_view value_of(std::string_view header, std::string_view key) noexcept {
  const std::size_t at = header.find(key);
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos) return {};
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

/// The numbers of "(2, 3)"; false if there is anything else.
inline bool read_shape(std::string_view text, std::vector<std::int64_t>& shape) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) return false;
  for (text = text.substr(1, end - 1); !text.empty();) {
    const std::size_t begin = text.find_first_not_of(" ,");
    if (begin == std::string_view::npos) return true;
    std::int64_t number = 0;
    const auto [stopped, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return false;
    shape.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  }
  return true;
}

inline std::string read_header(std::string_view header, NpyArray& array) {
  const std::string_view type = value_of(header, "'descr'").substr(0, 5);
  const std::size_t quote = type.find('\'', 1);
  if (!type.starts_with('\'') || quote == std::string_view::npos) return "it is of a structured type";
  const std::string_view name = type.substr(1, quote - 1);
  array.dtype = name.starts_with('>') ? DType::invalid : dtype_of(name);
  if (array.dtype == DType::invalid) return "its type, " + std::string(name) + ", can't be used";
  if (!value_of(header, "'fortran_order'").starts_with("False"))
    return "it is in column-major order: save numpy.ascontiguousarray of it";
  return read_shape(value_of(header, "'shape'"), array.shape) ? "" : "its header is damaged";
}

}  // namespace npy

/// The array in these bytes.
inline NpyArray parse_npy(std::string_view file) {
  NpyArray array;
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(file[i])); };
  constexpr std::string_view magic("\x93NUMPY", 6);
  constexpr std::size_t shortest = 12;
  if (!file.starts_with(magic) || file.size() < shortest) {
    array.why_not = "it is no .npy file";
    return array;
  }
  const bool is_first = byte(6) == 1;
  const std::size_t begin = is_first ? 10 : 12;
  const std::size_t length =
      is_first ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  array.why_not =
      length > file.size() - begin ? "it is cut short" : npy::read_header(file.substr(begin, length), array);
  if (!array.why_not.empty()) return array;
  array.content = file.substr(begin + length);
  std::uint64_t bytes = dtype_bytes(array.dtype);
  for (const std::int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) bytes = ~std::uint64_t{0};
  if (array.content.size() < bytes) array.why_not = "it is cut short";
  array.content.resize(array.why_not.empty() ? bytes : 0);
  return array;
}

inline NpyArray read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file && bytes.empty()) {
    NpyArray none;
    none.why_not = "it can't be read";
    return none;
  }
  return parse_npy(bytes);
}

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
