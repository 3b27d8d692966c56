/// @file
/// The numbers of a tensor that a query compares, and what a record must hold for each.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <nanlens/config.hpp>
#include <nanlens/query/facts.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/summary/debug_mode.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// What a record must tell for a number to be known.
enum class Needed : std::uint8_t { nothing, non_finite_counts, finite_counts, rank, size, statistics };

inline Needed needed_for(NumberField field) {
  switch (field) {
    case NumberField::nan:
    case NumberField::inf:
    case NumberField::ninf:
    case NumberField::pinf: return Needed::non_finite_counts;
    case NumberField::neg:
    case NumberField::zero:
    case NumberField::pos: return Needed::finite_counts;
    case NumberField::rank: return Needed::rank;
    case NumberField::size: return Needed::size;
    case NumberField::min:
    case NumberField::max:
    case NumberField::mean:
    case NumberField::absmax:
    case NumberField::norm: return Needed::statistics;
    default: return Needed::nothing;
  }
}

/// Do records of a mode tell it? `statistics`: they come with statistics.
inline bool tells_needed(TensorDebugMode mode, bool statistics, Needed needed) {
  switch (needed) {
    case Needed::nothing: return true;
    case Needed::non_finite_counts: return tells(mode, Told::non_finite_counts);
    case Needed::finite_counts: return tells(mode, Told::finite_counts);
    case Needed::rank: return tells(mode, Told::rank);
    case Needed::size: return tells(mode, Told::size);
    default: return statistics;
  }
}

/// The number; nothing if it is not on record. Not a number: the tensor has none, as a norm without finite elements.
inline std::optional<double> number_of(const TensorFacts& facts, NumberField field) {
  const logdir::TensorHealth& h = facts.health;
  const auto known = [](double count) { return count >= 0 ? std::optional(count) : std::nullopt; };
  const auto statistic = [&](auto of) {
    return facts.statistics ? std::optional(of(*facts.statistics)) : std::nullopt;
  };
  switch (field) {
    case NumberField::nan: return known(h.num_nan);
    case NumberField::ninf: return known(h.num_neg_inf);
    case NumberField::pinf: return known(h.num_pos_inf);
    case NumberField::inf:
      return h.num_neg_inf >= 0 && h.num_pos_inf >= 0 ? known(h.num_neg_inf + h.num_pos_inf) : std::nullopt;
    case NumberField::neg: return known(h.num_negative);
    case NumberField::zero: return known(h.num_zero);
    case NumberField::pos: return known(h.num_positive);
    case NumberField::size: return known(h.size);
    case NumberField::rank: return known(h.rank);
    case NumberField::min: return statistic([](const Statistics& s) { return s.min; });
    case NumberField::max: return statistic([](const Statistics& s) { return s.max; });
    case NumberField::mean: return statistic([](const Statistics& s) { return s.mean; });
    case NumberField::absmax: return statistic([](const Statistics& s) { return s.absmax(); });
    case NumberField::norm:
      return facts.statistics && facts.statistics->has_norm ? std::optional(facts.statistics->norm) : std::nullopt;
    default: return std::nullopt;
  }
}

/// Are all elements, more than one, the same? Nothing if the record can't tell.
inline std::optional<bool> is_constant(const TensorFacts& facts) {
  const logdir::TensorHealth& h = facts.health;
  if (h.size >= 0 && h.size <= 1) return false;
  if (h.num_nan > 0) return false;  // which equals nothing
  for (const double of_one_value : {h.num_zero, h.num_pos_inf, h.num_neg_inf})
    if (of_one_value > 0) return h.size < 0 ? std::nullopt : std::optional(of_one_value == h.size);
  if (h.num_negative > 0 && h.num_positive > 0) return false;
  if (!facts.statistics) return std::nullopt;
  if (facts.statistics->min < facts.statistics->max) return false;
  // Elements that statistics leave out are told by counts alone.
  const bool all_finite = h.num_nan == 0 && h.num_pos_inf == 0 && h.num_neg_inf == 0;
  return h.size >= 0 && all_finite ? std::optional(facts.statistics->min == facts.statistics->max) : std::nullopt;
}

/// So many elements of a tensor are a share of it. Products with decimal fractions are off by an ulp or two: what is
/// that near to a whole number is meant to be one.
inline double share_of(double percent, double size) {
  const double exact = percent * size / 100;
  const double whole = std::round(exact);
  return std::fabs(exact - whole) <= 4 * std::numeric_limits<double>::epsilon() * whole ? whole : exact;
}

/// Does a number fulfil a condition?
inline bool compare(double value, Comparison comparison, double with) {
  switch (comparison) {
    case Comparison::equal: return value == with;
    case Comparison::not_equal: return value != with;
    case Comparison::less: return value < with;
    case Comparison::less_equal: return value <= with;
    case Comparison::greater: return value > with;
    case Comparison::greater_equal: return value >= with;
  }
  return false;
}

}  // namespace nanlens::inline NANLENS_ABI::query
