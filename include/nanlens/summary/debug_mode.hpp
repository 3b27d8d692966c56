/// @file
/// What is kept of each tensor: TensorFlow's `TensorDebugMode`.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace nanlens {

/// The numbers are those of `debug_event.proto`. Recording takes no_tensor … shape and full_tensor;
/// the others are TensorFlow-internal or never written, and a reader only tolerates them.
enum class TensorDebugMode : std::int32_t {
  unspecified = 0,
  no_tensor = 1,       ///< that the op ran, nothing about its tensors
  curt_health = 2,     ///< one flag per tensor: is there any NaN or infinity
  concise_health = 3,  ///< counts of elements, −inf, +inf, NaN
  full_health = 4,     ///< dtype, rank and all six counts
  shape = 5,           ///< dtype, rank, element count and extents
  full_numerics = 6,
  full_tensor = 7,  ///< the values themselves
  reduce_inf_nan_three_slots = 8,
};

namespace detail {
inline constexpr std::string_view debug_mode_names[] = {"UNSPECIFIED",    "NO_TENSOR",   "CURT_HEALTH",
                                                        "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE",
                                                        "FULL_NUMERICS",  "FULL_TENSOR", "REDUCE_INF_NAN_THREE_SLOTS"};
}

/// The format's name of a mode ("FULL_HEALTH"); empty for numbers outside the enum.
constexpr std::string_view debug_mode_name(TensorDebugMode mode) noexcept {
  const auto number = static_cast<std::int32_t>(mode);
  const bool known = number >= 0 && number < static_cast<std::int32_t>(std::size(detail::debug_mode_names));
  return known ? detail::debug_mode_names[number] : std::string_view{};
}

/// The mode with this name, in any letter case; `unspecified` if there is none.
constexpr TensorDebugMode debug_mode_from_name(std::string_view name) noexcept {
  constexpr auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  for (std::size_t i = 1; i < std::size(detail::debug_mode_names); ++i) {
    const std::string_view candidate = detail::debug_mode_names[i];
    bool equal = candidate.size() == name.size();
    for (std::size_t k = 0; equal && k < name.size(); ++k) equal = candidate[k] == upper(name[k]);
    if (equal) return static_cast<TensorDebugMode>(i);
  }
  return TensorDebugMode::unspecified;
}

/// True for the modes that can be recorded (TensorFlow raises NotImplementedError for the others).
constexpr bool is_recordable(TensorDebugMode mode) noexcept {
  return (mode >= TensorDebugMode::no_tensor && mode <= TensorDebugMode::shape) || mode == TensorDebugMode::full_tensor;
}

}  // namespace nanlens
