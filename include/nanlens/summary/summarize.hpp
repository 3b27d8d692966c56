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

#include <nanlens/summary/debug_mode.hpp>
#include <nanlens/summary/health.hpp>

namespace nanlens {

/// Length of the longest summary (FULL_HEALTH).
inline constexpr std::size_t max_summary_size = 11;

/// The numbers recorded for one tensor in a summary mode.
struct Summary {
  std::array<double, max_summary_size> values{};
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
  switch (mode) {
    case TensorDebugMode::curt_health:
    case TensorDebugMode::concise_health:
    case TensorDebugMode::full_health: return kind == DTypeKind::floating;
    case TensorDebugMode::shape:
      return kind == DTypeKind::floating || kind == DTypeKind::integer || kind == DTypeKind::boolean;
    default: return false;
  }
}

namespace detail {

inline void put(Summary& s, double value) noexcept { s.values[s.size++] = value; }

inline void shape_summary(Summary& s, const TensorView& view) noexcept {
  constexpr std::size_t slots = 6;
  const std::size_t rank = view.shape.size();
  put(s, static_cast<double>(static_cast<std::int32_t>(view.dtype)));
  put(s, static_cast<double>(rank));
  put(s, static_cast<double>(num_elements(view.shape)));
  // Up to six extents, left-aligned; of higher ranks the last six.
  const std::size_t first = rank > slots ? rank - slots : 0;
  for (std::size_t i = 0; i < slots; ++i) put(s, first + i < rank ? static_cast<double>(view.shape[first + i]) : 0.0);
}

}  // namespace detail

/// The summary of a tensor. `tensor_id` is the graph tensor's id, or −1 for eager tensors.
/// Its size is 0 for the dtypes and modes without one, and for tensors whose memory can't be read in a mode that needs
/// it.
inline Summary summarize(TensorDebugMode mode, const TensorView& view, std::int64_t tensor_id) noexcept {
  Summary s;
  if (!has_summary(mode, view.dtype) || view.shape.overflowed()) return s;
  const std::int64_t n = num_elements(view.shape);
  if (n < 0 || (mode != TensorDebugMode::shape && view.data == nullptr && n > 0)) return s;
  const auto id = static_cast<double>(tensor_id);
  // Signed: one instruction, where 64 unsigned bits take a dozen. No tensor has 2^63 elements.
  const auto number = [](auto count) { return static_cast<double>(static_cast<std::int64_t>(count)); };
  if (mode == TensorDebugMode::full_health) {
    const HealthCounts c = full_health(view);
    constexpr double device_id = -1;  // the reference never fills it
    s.values = {id,
                device_id,
                number(static_cast<std::int32_t>(view.dtype)),
                number(view.shape.size()),
                number(n),
                number(c.neg_inf),
                number(c.pos_inf),
                number(c.nan),
                number(c.negative),
                number(c.zero),
                number(c.positive)};
    s.size = 11;
    s.bad = c.non_finite() != 0;
  } else if (mode == TensorDebugMode::concise_health) {
    const HealthCounts c = concise_health(view);
    s.values = {id, number(n), number(c.neg_inf), number(c.pos_inf), number(c.nan)};
    s.size = 5;
    s.bad = c.non_finite() != 0;
  } else if (mode == TensorDebugMode::curt_health) {
    s.bad = has_non_finite(view);
    s.values = {id, s.bad ? 1.0 : 0.0};
    s.size = 2;
  } else {
    detail::put(s, id);
    detail::shape_summary(s, view);
  }
  return s;
}

}  // namespace nanlens
