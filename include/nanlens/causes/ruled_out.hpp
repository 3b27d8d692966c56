/// @file
/// Can an op have made its output of what it held where that is bad? Its name may promise less than the program does
/// there: `log(x - y)`, recorded as a Log of x.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <nanlens/causes/because.hpp>
#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/limits.hpp>

namespace nanlens::causes::detail {

// Half and less of a limit is taken for the limit: no function here is rounded by more, and exp10 reaches it sooner.
constexpr double margin = 4;

inline bool can_overflow_exp(double x, const CauseFacts& f) {
  const double limit = exp_limit(f.out.dtype);
  return limit == 0 || std::fabs(x) * margin > limit;
}

// Of a function of one number: can it be NaN or infinite there?
inline bool can_be_bad_at(double x, const CauseFacts& f) {
  const double smallest_normal = margin / dtype_max(f.out.dtype);  // what is smaller may have been flushed to 0
  switch (f.code) {
    case OpCode::log: return x < smallest_normal;
    case OpCode::log1p: return x < -1 + 1 / margin;
    case OpCode::sqrt: return x < 0;
    case OpCode::rsqrt: return x < smallest_normal;
    case OpCode::reciprocal: return std::fabs(x) < margin * smallest_normal;
    case OpCode::exp:
    case OpCode::sinh: return can_overflow_exp(x, f);
    case OpCode::inverse_trigonometric: return domain_words(f.op) != "−1 ≤ x ≤ 1" || std::fabs(x) > 1;
    default: return true;
  }
}

// Of a quotient, or a power, of two numbers; `a` is not known where it is NaN.
inline bool can_be_bad_at(double a, double b, const CauseFacts& f) {
  const double max = dtype_max(f.out.dtype);
  if (f.code == OpCode::divide) return b == 0 || (std::isnan(a) ? max : std::fabs(a)) > max / margin * std::fabs(b);
  if (std::isnan(a)) return true;
  const double power = std::pow(a, b);
  return !std::isfinite(power) || std::fabs(power) > max / margin;
}

/// Is the output of an op that is blamed for it impossible, from the values that its inputs held where it is bad? Of
/// one input, in a single place; of two, whose places may belong together otherwise, in all. Only where these are on
/// record, and nothing has written over them.
inline bool values_rule_out(const CauseFacts& f) {
  if (f.event_class != EventClass::producer || f.written_over || f.complex || dtype_max(f.out.dtype) <= 0) return false;
  const auto values_of = [&](std::size_t i) {
    return i < f.inputs.size() ? f.inputs[i].at_bad : std::vector<double>{};
  };
  const std::vector<double> a = values_of(0);
  if (f.code != OpCode::divide && f.code != OpCode::pow)
    return !std::all_of(a.begin(), a.end(), [&](double x) { return can_be_bad_at(x, f); });
  const std::vector<double> b = values_of(1);
  const bool by_root = f.code == OpCode::pow && f.kinds_known && f.kinds == reader::nan_flag;
  if (b.empty() && by_root) return !a.empty() && std::all_of(a.begin(), a.end(), [](double x) { return x >= 0; });
  const bool as_many = a.size() == b.size();
  for (std::size_t i = 0; i < b.size(); ++i)
    if (can_be_bad_at(as_many ? a[i] : std::numeric_limits<double>::quiet_NaN(), b[i], f)) return false;
  return !b.empty();
}

}  // namespace nanlens::causes::detail
