/// @file
/// What a record tells of a tensor's health, and the byte of it that an index keeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <nanlens/config.hpp>
#include <nanlens/summary/debug_mode.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// @name One byte of health per event
/// For an execution it covers all its outputs.
///@{
inline constexpr std::uint8_t has_summary_flag = 1;
inline constexpr std::uint8_t nan_flag = 2;
inline constexpr std::uint8_t neg_inf_flag = 4;
inline constexpr std::uint8_t pos_inf_flag = 8;
inline constexpr std::uint8_t negative_flag = 16;
inline constexpr std::uint8_t zero_flag = 32;
inline constexpr std::uint8_t positive_flag = 64;
inline constexpr std::uint8_t empty_flag = 128;     ///< traces: a tensor with no elements
inline constexpr std::uint8_t function_flag = 128;  ///< executions: a call of a function
inline constexpr std::uint8_t bad_flags = nan_flag | neg_inf_flag | pos_inf_flag;
///@}

/// Health of one recorded tensor, as far as the mode tells it (−1 and `DType::invalid`: it does not).
struct TensorHealth {
  std::uint8_t flags = 0;
  bool cut = false;       ///< the record holds more of the tensor than is read
  bool no_alert = false;  ///< complex and bad: nanlens' extension tells it, while a summary has nothing to say
  DType dtype = DType::invalid;
  double rank = -1;
  double size = -1;
  double num_neg_inf = -1;
  double num_pos_inf = -1;
  double num_nan = -1;
  double num_negative = -1;
  double num_zero = -1;
  double num_positive = -1;
  [[nodiscard]] bool bad() const noexcept { return (flags & bad_flags) != 0; }
  /// False if the record tells nothing of the tensor's elements.
  [[nodiscard]] bool known() const noexcept { return flags != 0 || size >= 0; }
};

/// The byte of a tensor whose counts are known.
inline std::uint8_t flags_of(const TensorHealth& h) noexcept {
  const auto flag = [](bool set, std::uint8_t bit) { return set ? bit : std::uint8_t{0}; };
  return static_cast<std::uint8_t>(flag(h.num_nan >= 0, has_summary_flag) | flag(h.num_nan > 0, nan_flag) |
                                   flag(h.num_neg_inf > 0, neg_inf_flag) | flag(h.num_pos_inf > 0, pos_inf_flag) |
                                   flag(h.num_negative > 0, negative_flag) | flag(h.num_zero > 0, zero_flag) |
                                   flag(h.num_positive > 0, positive_flag) | flag(h.size == 0, empty_flag));
}

namespace detail {

// A dtype as a summary tells it: a number that any damaged record may hold.
inline DType summary_dtype(double number) noexcept {
  return number > 0 && number < 1000 ? static_cast<DType>(static_cast<std::int32_t>(number)) : DType::invalid;
}

// A summary whose counts are no counts (negative, not a number, beyond what 64 bits hold) tells nothing.
inline bool are_counts(std::span<const double> numbers) noexcept {
  return std::all_of(numbers.begin(), numbers.end(), [](double n) { return n >= 0 && n < 9e18; });
}

}  // namespace detail

/// Health of a tensor from the numbers of its summary.
inline TensorHealth health_of_summary(TensorDebugMode mode, std::span<const double> summary) noexcept {
  TensorHealth h;
  const SummaryPlaces& at = summary_places(mode);
  const std::size_t first_count = at.rank != 0 ? at.rank : 1;  // behind the ids and the dtype
  if (summary.empty() || summary.size() != summary_size(mode) || !detail::are_counts(summary.subspan(first_count)))
    return h;
  const auto told = [&](std::uint8_t place) { return place != 0 ? summary[place] : -1; };
  h.dtype = detail::summary_dtype(told(at.dtype));
  h.rank = told(at.rank);
  h.size = told(at.size);
  h.num_neg_inf = told(at.neg_inf);
  h.num_pos_inf = told(at.pos_inf);
  h.num_nan = told(at.nan);
  h.num_negative = told(at.negative);
  h.num_zero = told(at.zero);
  h.num_positive = told(at.positive);
  h.flags =
      at.bad == 0 ? flags_of(h) : static_cast<std::uint8_t>(has_summary_flag | (summary[at.bad] != 0 ? bad_flags : 0));
  return h;
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
