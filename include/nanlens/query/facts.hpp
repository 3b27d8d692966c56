/// @file
/// What is known of one tensor: dtype, rank, size, counts, and statistics where there are any.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <nanlens/config.hpp>
#include <nanlens/logdir/recorded_health.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Statistics of a tensor's finite elements. What is not a number is not on record, or there is no such element.
struct Statistics {
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double norm = std::numeric_limits<double>::quiet_NaN();
  bool has_norm = false;  ///< the record tells the norm, if there is one

  [[nodiscard]] double absmax() const noexcept { return std::max(std::fabs(min), std::fabs(max)); }
};

/// The members of `health` are −1 where they are not on record.
struct TensorFacts {
  logdir::TensorHealth health;
  std::optional<Statistics> statistics;
};

/// Statistics as they are written down: min above max says that there is no finite element.
inline Statistics recorded_statistics(double min, double max, double mean, double norm) {
  Statistics s;
  if (min > max) {
    s.has_norm = true;  // it tells that there is none
    return s;
  }
  s.min = min;
  s.max = max;
  s.mean = mean;
  s.norm = norm;
  s.has_norm = norm != 0 || (min == 0 && max == 0);
  return s;
}

}  // namespace nanlens::inline NANLENS_ABI::query
