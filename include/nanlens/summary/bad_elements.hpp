/// @file
/// Where in a tensor its NaNs and infinities are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanlens/config.hpp>
#include <nanlens/summary/health.hpp>
#include <nanlens/summary/statistics.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

template <class Layout>
bool is_bad_word(const unsigned char* p) noexcept {
  typename Layout::word word;
  std::memcpy(&word, p, sizeof word);
  if (Layout::unsigned_zero) return word == Layout::sign;
  return (word & Layout::magnitude) >= Layout::special;
}

// One element of a floating or complex tensor.
inline bool is_bad_element(DType dtype, const unsigned char* p) noexcept {
  if (dtype == DType::complex64) return is_bad_word<Float32Bits>(p) || is_bad_word<Float32Bits>(p + 4);
  if (dtype == DType::complex128) return is_bad_word<Float64Bits>(p) || is_bad_word<Float64Bits>(p + 8);
  return with_float_layout(dtype, false, [&](auto layout) { return is_bad_word<decltype(layout)>(p); });
}

// False if none of the elements is bad; cheap for long contiguous runs, which are clean most of the time.
inline bool may_be_bad(const TensorView& view, const unsigned char* p, std::int64_t count, std::int64_t stride) {
  if (stride != 1 || !is_floating(view.dtype)) return true;
  return has_non_finite(dense_view(p, view.dtype, {count}));
}

}  // namespace detail

/// The value of an element of a floating tensor, whose bytes begin at `p`.
inline double element_value(DType dtype, const void* p) noexcept {
  switch (dtype_bytes(dtype)) {
    case 8: {
      double value = 0;
      std::memcpy(&value, p, sizeof value);
      return value;
    }
    case 4: {
      float value = 0;
      std::memcpy(&value, p, sizeof value);
      return static_cast<double>(value);
    }
    case 2: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, p, sizeof bits);
      return detail::small_value(bits, float_format(dtype));
    }
    default: {
      std::uint8_t bits = 0;
      std::memcpy(&bits, p, sizeof bits);
      return detail::small_value(bits, float_format(dtype));
    }
  }
}

/// Calls `visit(index)` for each NaN or infinite element of a floating or complex tensor that can be read, in row-major
/// order, until it says false. `index` holds one number per dimension.
template <class Visit>
void visit_bad_elements(const TensorView& view, Visit&& visit) {
  const std::int64_t n = num_elements(view.shape);
  const DTypeKind kind = dtype_kind(view.dtype);
  if (n <= 0 || view.data == nullptr || (kind != DTypeKind::floating && kind != DTypeKind::complex)) return;
  constexpr std::int64_t chunk = 256;
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(view.dtype));
  const std::size_t rank = view.shape.size();
  const std::int64_t inner = rank == 0 ? 1 : view.shape[rank - 1];
  const Shape strides = strides_of(view);
  const std::int64_t stride = rank == 0 ? 1 : strides[rank - 1];
  std::array<std::int64_t, max_rank> index{};
  const auto* row = static_cast<const unsigned char*>(view.data);
  for (std::int64_t rows = n / inner; rows > 0; --rows) {
    for (std::int64_t begin = 0; begin < inner; begin += chunk) {
      const std::int64_t end = std::min(inner, begin + chunk);
      if (!detail::may_be_bad(view, row + begin * stride * bytes, end - begin, stride)) continue;
      for (std::int64_t i = begin; i < end; ++i) {
        if (!detail::is_bad_element(view.dtype, row + i * stride * bytes)) continue;
        if (rank > 0) index[rank - 1] = i;
        if (!visit(index.data())) return;
      }
    }
    for (std::size_t d = rank; d-- > 1;) {
      row += strides[d - 1] * bytes;
      if (++index[d - 1] < view.shape[d - 1]) break;
      row -= strides[d - 1] * view.shape[d - 1] * bytes;
      index[d - 1] = 0;
    }
  }
}

}  // namespace nanlens::inline NANLENS_ABI
