#include "heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <nanlens/summary/bad_elements.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::viewer {

namespace {

template <class Number>
double number_at(const char* p) {
  Number value{};
  std::memcpy(&value, p, sizeof value);
  return static_cast<double>(value);
}

double integer_at(DType dtype, const char* p) {
  switch (dtype) {
    case DType::int8:
    case DType::qint8: return number_at<std::int8_t>(p);
    case DType::int16:
    case DType::qint16: return number_at<std::int16_t>(p);
    case DType::uint16:
    case DType::quint16: return number_at<std::uint16_t>(p);
    case DType::int32:
    case DType::qint32: return number_at<std::int32_t>(p);
    case DType::uint32: return number_at<std::uint32_t>(p);
    case DType::int64: return number_at<std::int64_t>(p);
    case DType::uint64: return number_at<std::uint64_t>(p);
    default: return number_at<std::uint8_t>(p);
  }
}

// Of a complex number its magnitude; NaN if a part is.
double value_at(const reader::StoredTensor& tensor, std::int64_t at) {
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  const char* const p = tensor.content.data() + static_cast<std::size_t>(at) * bytes;
  if (is_floating(tensor.dtype)) return element_value(tensor.dtype, p);
  if (tensor.dtype == DType::complex64) return std::hypot(number_at<float>(p), number_at<float>(p + 4));
  if (tensor.dtype == DType::complex128) return std::hypot(number_at<double>(p), number_at<double>(p + 8));
  return integer_at(tensor.dtype, p);
}

void add_to(HeatCell& cell, double value) {
  if (std::isnan(value)) {
    ++cell.nan;
  } else if (std::isinf(value)) {
    ++(value < 0 ? cell.ninf : cell.pinf);
  } else {
    cell.low = std::min(cell.low, value);
    cell.high = std::max(cell.high, value);
  }
}

// What the colours go from and to: over the whole tensor, so that slices can be compared.
void find_range(const reader::StoredTensor& tensor, std::int64_t n, HeatMap& map) {
  HeatCell all = empty_cell();
  for (std::int64_t i = 0; i < n; ++i) add_to(all, value_at(tensor, i));
  map.low = all.low;
  map.high = all.high;
  map.nan = all.nan;
  map.ninf = all.ninf;
  map.pinf = all.pinf;
}

}  // namespace

HeatCell empty_cell() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {infinity, -infinity, 0, 0, 0};
}

std::string HeatMap::slice_index() const {
  std::string text;
  std::int64_t rest = slice;
  for (std::size_t d = shape.size() > 2 ? shape.size() - 2 : 0; d-- > 0; rest /= shape[d])
    text = std::to_string(rest % shape[d]) + "," + text;
  return text;
}

HeatMap heat_map(const reader::StoredTensor& tensor, std::int64_t slice) {
  HeatMap map;
  map.stored = true;
  const std::size_t rank = tensor.shape.size();
  const std::int64_t n = num_elements(Shape(tensor.shape));
  map.dtype = dtype_name(tensor.dtype);
  map.shape = tensor.shape;
  map.columns = rank < 1 ? 1 : tensor.shape[rank - 1];
  map.rows = rank < 2 ? 1 : tensor.shape[rank - 2];
  find_range(tensor, n, map);
  if (n <= 0) return map;
  map.slices = n / (map.rows * map.columns);
  map.slice = std::clamp<std::int64_t>(slice, 0, map.slices - 1);
  map.cells_down = std::min(map.rows, most_cells);
  map.cells_across = std::min(map.columns, most_cells);
  map.cells.assign(static_cast<std::size_t>(map.cells_down * map.cells_across), empty_cell());
  const std::int64_t begin = map.slice * map.rows * map.columns;
  for (std::int64_t r = 0; r < map.rows; ++r)
    for (std::int64_t c = 0; c < map.columns; ++c) {
      const std::int64_t cell = r * map.cells_down / map.rows * map.cells_across + c * map.cells_across / map.columns;
      add_to(map.cells[static_cast<std::size_t>(cell)], value_at(tensor, begin + r * map.columns + c));
    }
  return map;
}

}  // namespace nanlens::viewer
