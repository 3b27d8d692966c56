/// @file
/// The value layouts of the debug modes: what a TensorView becomes in a logdir.
///
/// Layouts and rules: TensorFlow's DebugNumericSummaryV2 (all numbers are float64).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <nanlens/config.hpp>
#include <nanlens/summary/debug_mode.hpp>
#include <nanlens/summary/health.hpp>

namespace nanlens::inline NANLENS_ABI {

/// The numbers recorded for one tensor in a summary mode.
struct Summary {
  std::array<double, max_summary_size> values;  ///< the first `size` of them have a meaning
  /// 0 if the mode has nothing to say of this dtype: then a placeholder (eager) or no record (graph) is written.
  std::size_t size = 0;
  /// True if the summary shows a NaN or infinity.
  bool bad = false;

  [[nodiscard]] std::span<const double> span() const noexcept { return {values.data(), size}; }
};

/// True if tensors of this dtype get a summary in this mode: floating dtypes in the health modes; floating, integer and
/// bool in SHAPE; none otherwise.
constexpr bool has_summary(TensorDebugMode mode, DType dtype) noexcept {
  const DTypeKind kind = dtype_kind(dtype);
  if (summary_size(mode) == 0) return false;
  return kind == DTypeKind::floating ||
         (mode == TensorDebugMode::shape && (kind == DTypeKind::integer || kind == DTypeKind::boolean));
}

namespace detail {

// Signed: one instruction, where 64 unsigned bits take a dozen. No tensor has 2^63 elements.
template <class Count>
double as_number(Count count) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(count));
}

// Counts into their places.
template <TensorDebugMode mode>
void put_counts(Summary& s, const TensorView& view, std::int64_t size, const HealthCounts& c) noexcept {
  constexpr SummaryPlaces at = summary_places(mode);
  s.values[at.size] = as_number(size);
  s.values[at.neg_inf] = as_number(c.neg_inf);
  s.values[at.pos_inf] = as_number(c.pos_inf);
  s.values[at.nan] = as_number(c.nan);
  if constexpr (at.zero != 0) {
    constexpr std::size_t device_id = 1;  // the reference never fills it
    s.values[device_id] = -1;
    s.values[at.dtype] = as_number(static_cast<std::int32_t>(view.dtype));
    s.values[at.rank] = as_number(view.shape.size());
    s.values[at.negative] = as_number(c.negative);
    s.values[at.zero] = as_number(c.zero);
    s.values[at.positive] = as_number(c.positive);
  }
  s.bad = c.non_finite() != 0;
}

inline void put_shape(Summary& s, const TensorView& view, std::int64_t size) noexcept {
  constexpr SummaryPlaces at = summary_places(TensorDebugMode::shape);
  const std::size_t rank = view.shape.size();
  s.values[at.dtype] = as_number(static_cast<std::int32_t>(view.dtype));
  s.values[at.rank] = as_number(rank);
  s.values[at.size] = as_number(size);
  const std::size_t first = rank > summary_extents ? rank - summary_extents : 0;
  for (std::size_t i = 0; i < summary_extents; ++i)
    s.values[at.extents + i] = first + i < rank ? as_number(view.shape[first + i]) : 0;
}

}  // namespace detail

/// The summary of a tensor. `tensor_id` is the graph tensor's id, or −1 for eager tensors.
/// Its size is 0 for the dtypes and modes without one, and for tensors whose memory can't be read in a mode that needs
/// it.
inline Summary summarize(TensorDebugMode mode, const TensorView& view, std::int64_t tensor_id) noexcept {
  Summary s;
  if (!has_summary(mode, view.dtype) || view.shape.overflowed()) return s;
  const std::int64_t n = num_elements(view.shape);
  const bool is_told = view.data != nullptr || view.counted != nullptr || n == 0;
  if (n < 0 || (mode != TensorDebugMode::shape && !is_told)) return s;
  s.size = summary_size(mode);
  if (s.size < s.values.size()) s.values.fill(0);  // a full one is written over: to clear it first would take its time
  s.values[0] = detail::as_number(tensor_id);
  if (mode == TensorDebugMode::full_health) {
    detail::put_counts<TensorDebugMode::full_health>(s, view, n, full_health(view));
  } else if (mode == TensorDebugMode::concise_health) {
    detail::put_counts<TensorDebugMode::concise_health>(s, view, n, concise_health(view));
  } else if (mode == TensorDebugMode::curt_health) {
    s.bad = has_non_finite(view);
    s.values[summary_places(mode).bad] = s.bad ? 1.0 : 0.0;
  } else {
    detail::put_shape(s, view, n);
  }
  return s;
}

/// The extents in a summary, at most six; of higher ranks the last ones. None where the mode's summary has none.
inline std::span<const double> extents_in(TensorDebugMode mode, std::span<const double> summary) noexcept {
  const SummaryPlaces& at = summary_places(mode);
  if (at.extents == 0 || summary.size() != summary_size(mode)) return {};
  const double rank = summary[at.rank];
  return summary.subspan(at.extents,
                         rank < summary_extents ? static_cast<std::size_t>(std::max(rank, 0.0)) : summary_extents);
}

}  // namespace nanlens::inline NANLENS_ABI
