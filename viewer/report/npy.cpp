#include "report/npy.hpp"

#include <cstdint>

namespace nanlens::report {

bool numpy_has(DType dtype) {
  return !is_floating(dtype) || dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
}

std::string npy_type(DType dtype) {
  const std::string bytes = std::to_string(dtype_bytes(dtype));
  if (bytes == "0") return {};
  const std::string order = bytes == "1" ? "|" : "<";
  if (!numpy_has(dtype)) return order + "u" + bytes;
  switch (dtype_kind(dtype)) {
    case DTypeKind::floating: return order + "f" + bytes;
    case DTypeKind::complex: return order + "c" + bytes;
    case DTypeKind::boolean: return order + "b" + bytes;
    default: break;
  }
  const bool has_no_sign = dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32 ||
                           dtype == DType::uint64 || dtype == DType::quint8 || dtype == DType::quint16;
  return order + (has_no_sign ? "u" : "i") + bytes;
}

std::string npy_file(const reader::StoredTensor& tensor) {
  std::string shape;
  for (const std::int64_t dim : tensor.shape) shape += std::to_string(dim) + ", ";
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + npy_type(tensor.dtype) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10;  // magic, version, length of the header
  constexpr std::size_t alignment = 64;
  while ((before + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + tensor.content;
}

}  // namespace nanlens::report
