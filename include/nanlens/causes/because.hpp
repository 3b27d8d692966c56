/// @file
/// Why an op makes a non-finite value of finite ones, in words, as far as the facts prove it.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include <nanlens/causes/cause_facts.hpp>

namespace nanlens::causes::detail {

// A count that a sentence may name: a whole number above 0 that a tensor can have.
inline bool is_count(double n) noexcept { return n >= 1 && n < 9e15; }

inline std::string grouped(double value) {
  std::string text = std::to_string(is_count(value) ? static_cast<std::uint64_t>(value) : 0);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}
// "1 zero", "3 zeros"; empty where there is nothing to count.
inline std::string counted_noun(double n, const char* one, const char* many) {
  return is_count(n) ? grouped(n) + " " + (n == 1 ? one : many) : std::string();
}
inline std::string zeros_words(const TensorHealth& h) { return counted_noun(h.num_zero, "zero", "zeros"); }
inline std::string negatives_words(const TensorHealth& h) {
  return counted_noun(h.num_negative, "negative value", "negative values");
}

/// The numbers an op is made for.
inline std::string_view domain_words(std::string_view op) noexcept {
  if (op.find("cosh") != std::string_view::npos) return "x ≥ 1";
  return op.find("tanh") != std::string_view::npos ? "−1 < x < 1" : "−1 ≤ x ≤ 1";
}
/// The function that a gradient op belongs to.
inline std::string_view function_of_gradient(std::string_view op) noexcept {
  if (op.starts_with("Rsqrt")) return "1/√x";
  return op.starts_with("Sqrt") || op.starts_with("sqrt") ? "√x" : "1/x";
}

// "; only zeros do that". Certain where every input is known to be clean.
inline std::string only(const CauseFacts& f, const char* values) {
  return std::string(f.all_clean ? "; only " : "; ") + values;
}

inline std::string because_of_root(const CauseFacts& f, const char* zeros, const char* negatives, const char* both,
                                   Kinds from_zeros) {
  if (!f.kinds_known || f.kinds == 0) return only(f, both);
  const bool zero = (f.kinds & from_zeros) != 0;
  const bool nan = (f.kinds & reader::nan_flag) != 0;
  if ((f.kinds & ~(from_zeros | reader::nan_flag)) != 0) return {};
  return only(f, zero && nan ? both : zero ? zeros : negatives);
}

inline std::string because_of_division(const CauseFacts& f) {
  if (f.code == OpCode::modulo) return only(f, "a modulo by 0 does that");
  const std::size_t divisor = f.code == OpCode::reciprocal ? 0 : 1;
  const bool counted = divisor < f.inputs.size() && f.inputs[divisor].known;
  const bool nan = f.kinds_known && (f.kinds & reader::nan_flag) != 0;
  const bool infinite = !f.kinds_known || (f.kinds & ~reader::nan_flag) != 0;
  if (counted && f.inputs[divisor].health.num_zero == 0) return nan ? "" : ": it overflowed";
  if (nan && !infinite) return f.code == OpCode::divide ? only(f, "0/0 does that") : std::string();
  return nan ? ": a division by 0" : ": a division by 0, or an overflow";
}

inline std::string because_of_power(const CauseFacts& f) {
  if (!f.kinds_known) return ": a negative base with a fraction, 0 with a negative exponent, or an overflow";
  if (f.kinds == reader::nan_flag) return only(f, "a negative base with a fraction as its exponent does that");
  return (f.kinds & reader::nan_flag) != 0 ? "" : ": 0 with a negative exponent, or an overflow";
}

// What goes on inside the op is not known: only a hint.
inline std::string because_of_unknown_op(const CauseFacts& f) {
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  for (const InputFacts& input : f.inputs)
    if (const std::string zeros = zeros_words(input.health); input.known && !zeros.empty())
      return "; " + input.name + " has " + zeros + ": a division by 0 or a logarithm of 0 inside may have made it";
  for (const InputFacts& input : f.inputs)
    if (const std::string below = negatives_words(input.health); input.known && nan && !below.empty())
      return "; " + input.name + " has " + below + ": a root or logarithm of these inside may have made it";
  return {};
}

// Its inputs are x, scale, offset, mean and variance, in TensorFlow, PyTorch and ONNX.
inline std::string because_of_normalisation(const CauseFacts& f) {
  constexpr std::size_t variance = 4;
  const bool known = variance < f.inputs.size() && f.inputs[variance].known;
  const std::string below = known ? negatives_words(f.inputs[variance].health) : std::string();
  if (below.empty() || (f.kinds_known && (f.kinds & reader::nan_flag) == 0)) return because_of_unknown_op(f);
  return "; the variance, " + f.inputs[variance].name + ", has " + below + ": their root does that";
}

inline std::string because_of_domain(const CauseFacts& f) {
  const bool only_infinite = f.kinds_known && (f.kinds & reader::nan_flag) == 0;
  if (f.code == OpCode::atanh && only_infinite) return only(f, "−1 and 1 do that");
  return only(f, ("values outside its domain (" + std::string(domain_words(f.op)) + ") do that").c_str());
}

// log and log1p, sqrt and rsqrt.
inline std::string because_of_logarithm_or_root(const CauseFacts& f) {
  constexpr Kinds both_infinities = reader::neg_inf_flag | reader::pos_inf_flag;
  switch (f.code) {
    case OpCode::log:
      return because_of_root(f, "zeros do that", "negative values do that", "zeros and negative values do that",
                             reader::neg_inf_flag);
    case OpCode::log1p:
      return because_of_root(f, "−1 does that", "values below −1 do that", "−1 and values below it do that",
                             reader::neg_inf_flag);
    case OpCode::rsqrt:
      return because_of_root(f, "zeros do that", "negative values do that", "zeros and negative values do that",
                             both_infinities);
    default: return because_of_root(f, "", "negative values do that", "negative values do that", Kinds{0});
  }
}

inline std::string because_of_mean(const CauseFacts& f) {
  const bool had_elements = f.out.size >= 0 && f.mode != TensorDebugMode::curt_health && !f.inputs.empty() &&
                            f.inputs.front().health.size > 0;
  return had_elements ? ": it overflowed" : ": it overflowed, or had no elements";
}

/// To follow "made NaN": with its punctuation; empty where nothing is known.
inline std::string because(const CauseFacts& f) {
  switch (f.code) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt: return because_of_logarithm_or_root(f);
    case OpCode::reciprocal:
    case OpCode::divide:
    case OpCode::modulo: return because_of_division(f);
    case OpCode::mean: return because_of_mean(f);
    case OpCode::maximum_of:
    case OpCode::minimum_of: return only(f, "an empty input does that");
    case OpCode::exp:
    case OpCode::sinh: return ": it overflowed";
    case OpCode::cast: return ": values out of range";
    case OpCode::pow: return because_of_power(f);
    case OpCode::inverse_trigonometric:
    case OpCode::atanh: return because_of_domain(f);
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad:
      return ": the gradient of " + std::string(function_of_gradient(f.op)) + " is infinite at 0";
    case OpCode::batch_norm: return because_of_normalisation(f);
    case OpCode::matrix: return ": the matrix is singular or not positive definite";
    case OpCode::softmax:
    case OpCode::log_softmax: return "; exponentials overflow in it unless the maximum is taken away first";
    default: break;
  }
  if (only_overflows(f.code) || sums(f.code)) return ": it overflowed";
  const bool known = only_preserves(f.code) && f.code != OpCode::cross_entropy;  // nothing of the kind is inside
  return known ? std::string() : because_of_unknown_op(f);
}

}  // namespace nanlens::causes::detail
