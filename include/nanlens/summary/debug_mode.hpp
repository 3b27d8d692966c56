/// @file
/// What is kept of each tensor: TensorFlow's `TensorDebugMode`.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

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

/// Places of the numbers in a mode's summary. 0, where every summary has the tensor's id, is the place of what the mode
/// does not tell. Source: TensorFlow's DebugNumericSummaryV2.
struct SummaryPlaces {
  std::uint8_t bad = 0;  ///< 1 if there is a NaN or infinity, else 0
  std::uint8_t dtype = 0;
  std::uint8_t rank = 0;
  std::uint8_t size = 0;  ///< elements
  std::uint8_t neg_inf = 0;
  std::uint8_t pos_inf = 0;
  std::uint8_t nan = 0;
  std::uint8_t negative = 0;
  std::uint8_t zero = 0;
  std::uint8_t positive = 0;
  std::uint8_t extents = 0;  ///< the first of six: left-aligned, of higher ranks the last six
};

/// Extents in a summary that has them.
inline constexpr std::uint8_t summary_extents = 6;

namespace detail {

struct DebugModeFacts {
  TensorDebugMode mode;
  std::string_view name;
  bool recordable;            // TensorFlow raises NotImplementedError for the others
  std::uint8_t summary_size;  // numbers; 0: there is no summary, or none that nanlens reads
  SummaryPlaces at;
};

// All that is known of each mode, at the place of its number.
inline constexpr DebugModeFacts debug_mode_facts[] = {
    {TensorDebugMode::unspecified, "UNSPECIFIED", false, 0, {}},
    {TensorDebugMode::no_tensor, "NO_TENSOR", true, 0, {}},
    {TensorDebugMode::curt_health, "CURT_HEALTH", true, 2, {.bad = 1}},
    {TensorDebugMode::concise_health, "CONCISE_HEALTH", true, 5, {.size = 1, .neg_inf = 2, .pos_inf = 3, .nan = 4}},
    {TensorDebugMode::full_health,
     "FULL_HEALTH",
     true,
     11,
     {.dtype = 2,
      .rank = 3,
      .size = 4,
      .neg_inf = 5,
      .pos_inf = 6,
      .nan = 7,
      .negative = 8,
      .zero = 9,
      .positive = 10}},
    {TensorDebugMode::shape, "SHAPE", true, 10, {.dtype = 1, .rank = 2, .size = 3, .extents = 4}},
    {TensorDebugMode::full_numerics, "FULL_NUMERICS", false, 0, {}},
    {TensorDebugMode::full_tensor, "FULL_TENSOR", true, 0, {}},
    {TensorDebugMode::reduce_inf_nan_three_slots, "REDUCE_INF_NAN_THREE_SLOTS", false, 0, {}},
};

// Numbers outside the enum are like `unspecified`, but for the name.
constexpr const DebugModeFacts& facts_of(TensorDebugMode mode) noexcept {
  const auto number = static_cast<std::int32_t>(mode);
  const bool known = number >= 0 && number < static_cast<std::int32_t>(std::size(debug_mode_facts));
  return debug_mode_facts[known ? number : 0];
}

// Each number of a summary has one place of its own.
constexpr bool is_consistent(const DebugModeFacts& f) noexcept {
  const SummaryPlaces& at = f.at;
  bool taken[16] = {};
  for (const std::uint8_t place : {at.bad, at.dtype, at.rank, at.size, at.neg_inf, at.pos_inf, at.nan, at.negative,
                                   at.zero, at.positive, at.extents}) {
    if (place != 0 && (place >= f.summary_size || taken[place])) return false;
    taken[place] = true;
  }
  return &facts_of(f.mode) == &f && (at.extents == 0 || at.extents + summary_extents == f.summary_size);
}
static_assert([] {
  for (const DebugModeFacts& f : debug_mode_facts)
    if (!is_consistent(f)) return false;
  return true;
}());

}  // namespace detail

/// The format's name of a mode ("FULL_HEALTH"); empty for numbers outside the enum.
constexpr std::string_view debug_mode_name(TensorDebugMode mode) noexcept {
  const detail::DebugModeFacts& facts = detail::facts_of(mode);
  return facts.mode == mode ? facts.name : std::string_view{};
}

/// The mode with this name, in any letter case; `unspecified` if there is none.
constexpr TensorDebugMode debug_mode_from_name(std::string_view name) noexcept {
  constexpr auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  for (const detail::DebugModeFacts& facts : detail::debug_mode_facts) {
    bool equal = facts.name.size() == name.size();
    for (std::size_t k = 0; equal && k < name.size(); ++k) equal = facts.name[k] == upper(name[k]);
    if (equal) return facts.mode;
  }
  return TensorDebugMode::unspecified;
}

/// True for the modes that can be recorded.
constexpr bool is_recordable(TensorDebugMode mode) noexcept { return detail::facts_of(mode).recordable; }

/// How many numbers a mode's summary has; 0 for the modes without one.
constexpr std::size_t summary_size(TensorDebugMode mode) noexcept { return detail::facts_of(mode).summary_size; }

/// Where a mode's summary has which number.
constexpr const SummaryPlaces& summary_places(TensorDebugMode mode) noexcept { return detail::facts_of(mode).at; }

/// Length of the longest summary.
inline constexpr std::size_t max_summary_size = [] {
  std::size_t longest = 0;
  for (const detail::DebugModeFacts& facts : detail::debug_mode_facts)
    if (facts.summary_size > longest) longest = facts.summary_size;
  return longest;
}();

/// What a record may tell of a floating tensor.
enum class Told : std::uint8_t {
  health,             ///< is there any NaN or infinity
  non_finite_counts,  ///< how many of −inf, +inf and NaN
  finite_counts,      ///< how many negative, zero and positive elements
  size,
  rank,
};

/// Does a record in this mode tell it?
constexpr bool tells(TensorDebugMode mode, Told what) noexcept {
  if (mode == TensorDebugMode::full_tensor) return true;
  const SummaryPlaces& at = summary_places(mode);
  switch (what) {
    case Told::health: return at.bad != 0 || at.nan != 0;
    case Told::non_finite_counts: return at.nan != 0;
    case Told::finite_counts: return at.zero != 0;
    case Told::size: return at.size != 0;
    case Told::rank: return at.rank != 0;
  }
  return false;
}

}  // namespace nanlens::inline NANLENS_ABI
