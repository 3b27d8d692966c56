/// @file
/// Health of a whole tensor: counts over any TensorView, contiguous or strided, in one pass over its memory.
#pragma once

#include <nanlens/config.hpp>
#include <nanlens/summary/kernels.hpp>
#include <nanlens/summary/strided.hpp>
#include <nanlens/summary/work_sharing.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

inline HealthCounts count_view(const Counting& counting, const TensorView& view) noexcept {
  const std::int64_t n = num_elements(view.shape);
  if (n <= 0 || counting.count == nullptr) return {};
  if (view.data == nullptr) return view.counted != nullptr ? *view.counted : HealthCounts{};
  if (is_dense(view)) return count_dense(counting, view.data, static_cast<std::size_t>(n));
  const Folded folded = fold(view, counting.element_bytes);
  HealthCounts counts;
  visit_runs(folded, counting.element_bytes, [&](const unsigned char* p, std::size_t count) noexcept {
    counts += count_dense(counting, p, count);
    return counting.question != Question::curt || counts.non_finite() == 0;
  });
  counts *= folded.repeats;
  return counts;
}

}  // namespace detail

/// All six counts of a floating tensor; all zero for other dtypes and for memory that can't be read.
inline HealthCounts full_health(const TensorView& view) noexcept {
  return detail::count_view(detail::counting_of<detail::Question::full>(view.dtype), view);
}

/// The counts of −inf, +inf and NaN only (cheaper than full_health); the finite categories of the result are not
/// meaningful.
inline HealthCounts concise_health(const TensorView& view) noexcept {
  return detail::count_view(detail::counting_of<detail::Question::concise>(view.dtype), view);
}

/// True if a floating tensor holds any NaN or infinity; stops at the first.
inline bool has_non_finite(const TensorView& view) noexcept {
  return detail::count_view(detail::counting_of<detail::Question::curt>(view.dtype), view).non_finite() != 0;
}

namespace detail {

// A dense complex tensor as its parts.
inline TensorView parts_of(const TensorView& view) noexcept {
  TensorView parts;
  parts.dtype = view.dtype == DType::complex64 ? DType::float32 : DType::float64;
  parts.shape.push_back(2 * num_elements(view.shape));
  parts.data = view.data;
  return parts;
}

}  // namespace detail

/// Number of elements of a complex tensor with a NaN or infinite part; 0 for other dtypes.
inline std::uint64_t count_non_finite_complex(const TensorView& view) noexcept {
  const std::int64_t n = num_elements(view.shape);
  if (n <= 0 || view.data == nullptr || dtype_kind(view.dtype) != DTypeKind::complex) return 0;
  const std::size_t bytes = dtype_bytes(view.dtype);
  std::uint64_t bad = 0;
  const auto bad_part = [](auto word, auto special) {
    return (word & (decltype(word)(~decltype(word){0}) >> 1)) >= special;
  };
  if (is_dense(view) && !has_non_finite(detail::parts_of(view))) return 0;
  const detail::Folded folded = detail::fold(view, bytes);
  detail::visit_runs(folded, bytes, [&](const unsigned char* p, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i, p += bytes) {
      if (bytes == 8) {
        std::uint32_t part[2];
        std::memcpy(part, p, sizeof part);
        bad += bad_part(part[0], Float32Bits::special) || bad_part(part[1], Float32Bits::special);
      } else {
        std::uint64_t part[2];
        std::memcpy(part, p, sizeof part);
        bad += bad_part(part[0], Float64Bits::special) || bad_part(part[1], Float64Bits::special);
      }
    }
    return true;
  });
  return bad * folded.repeats;
}

}  // namespace nanlens::inline NANLENS_ABI
