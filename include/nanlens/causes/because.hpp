/// @file
/// Why an op makes a non-finite value of finite ones, in words, as far as the facts prove it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/limits.hpp>
#include <nanlens/causes/speech.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::causes::detail {

inline std::string short_number(double value, const Speech& speech) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1e6 ? "%.2e" : "%.10g", value);
  return with_point(text, speech);
}

// Of a number that need not be exact.
inline std::string about(double value, const Speech& speech) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return with_point(text, speech);
}

inline std::string zeros_words(const TensorHealth& h, const Speech& speech) {
  return counted(speech, Saying::zeros, h.num_zero);
}
inline std::string negatives_words(const TensorHealth& h, const Speech& speech) {
  return counted(speech, Saying::negatives, h.num_negative);
}

inline std::string name_of(const InputFacts& input, const Speech& speech) {
  return input.name.empty() ? say(speech, Saying::its_input) : input.name;
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
inline std::string only(const CauseFacts& f, const Speech& speech, const std::string& values) {
  return say(speech, f.all_clean ? Saying::only_by : Saying::also_by, {{"values", values}});
}
inline std::string only(const CauseFacts& f, const Speech& speech, Saying values) {
  return only(f, speech, say(speech, values));
}

// What makes ∞ of a value, what NaN, and both in one breath.
struct RootValues {
  Saying zeros;
  Saying negatives;
  Saying both;
  Kinds from_zeros;
};

inline std::string because_of_root(const CauseFacts& f, const Speech& speech, const RootValues& values) {
  if (!f.kinds_known || f.kinds == 0) return only(f, speech, values.both);
  const bool zero = (f.kinds & values.from_zeros) != 0;
  const bool nan = (f.kinds & reader::nan_flag) != 0;
  if ((f.kinds & ~(values.from_zeros | reader::nan_flag)) != 0) return {};
  return only(f, speech, zero && nan ? values.both : zero ? values.zeros : values.negatives);
}

// Which input is divided, and which it is divided by.
constexpr std::size_t dividend_of(OpCode code) noexcept { return code == OpCode::add_quotient ? 1 : 0; }
constexpr std::size_t divisor_of(OpCode code) noexcept {
  return code == OpCode::reciprocal ? 0 : dividend_of(code) + 1;
}

inline std::string because_of_division(const CauseFacts& f, const Speech& speech) {
  if (f.code == OpCode::modulo) return only(f, speech, Saying::do_modulo);
  const std::size_t divisor = divisor_of(f.code);
  const bool counted = divisor < f.inputs.size() && f.inputs[divisor].known;
  const bool nan = f.kinds_known && (f.kinds & reader::nan_flag) != 0;
  const bool infinite = !f.kinds_known || (f.kinds & ~reader::nan_flag) != 0;
  if (counted && f.inputs[divisor].health.num_zero == 0)
    return nan ? std::string() : say(speech, Saying::it_overflowed);
  if (nan && !infinite) return f.code == OpCode::divide ? only(f, speech, Saying::do_zero_by_zero) : std::string();
  return say(speech, nan ? Saying::division_by_0 : Saying::division_or_overflow);
}

inline std::string because_of_power(const CauseFacts& f, const Speech& speech) {
  if (!f.kinds_known) return say(speech, Saying::any_power);
  if (f.kinds == reader::nan_flag) return only(f, speech, Saying::do_power);
  return (f.kinds & reader::nan_flag) != 0 ? std::string() : say(speech, Saying::infinite_power);
}

// Did the op meet such a value where its output is bad? Where that is not known, an input that has one will do.
template <class Pick>
bool met(const InputFacts& input, double count, Pick&& pick) {
  return input.known && count > 0 &&
         (input.at_bad.empty() || std::any_of(input.at_bad.begin(), input.at_bad.end(), pick));
}
inline bool met_zeros(const InputFacts& input) {
  return met(input, input.health.num_zero, [](double x) { return x == 0; });
}
inline bool met_negatives(const InputFacts& input) {
  return met(input, input.health.num_negative, [](double x) { return x < 0; });
}

// Up to two inputs with zeros, those first that are nothing else.
inline std::vector<const InputFacts*> inputs_with_zeros(const CauseFacts& f) {
  std::vector<const InputFacts*> list;
  for (const bool whole : {true, false})
    for (const InputFacts& input : f.inputs)
      if (met_zeros(input) && (input.health.num_zero == input.health.size) == whole) list.push_back(&input);
  if (list.size() > 2) list.resize(2);
  std::sort(list.begin(), list.end());  // in input order
  return list;
}

// The input with the largest numbers, where these reach `limit`.
inline const InputFacts* large_input(const CauseFacts& f, double limit) {
  const auto largest = std::max_element(f.inputs.begin(), f.inputs.end(),
                                        [](const InputFacts& a, const InputFacts& b) { return a.largest < b.largest; });
  const bool reaches = largest != f.inputs.end() && largest->known && largest->largest >= limit;
  return reaches ? &*largest : nullptr;
}

inline std::string large_words(const CauseFacts& f, const Speech& speech, const InputFacts& input) {
  return say(speech, Saying::inside_large,
             {{"input", name_of(input, speech)},
              {"magnitude", about(input.largest, speech)},
              {"dtype", std::string(dtype_name(f.out.dtype))},
              {"max", short_number(dtype_max(f.out.dtype), speech)}});
}

// What goes on inside the op is not known: only a hint.
inline std::string because_of_unknown_op(const CauseFacts& f, const Speech& speech) {
  constexpr double few = 1024;  // so many of these overflow when they are added up
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const double max = dtype_max(f.out.dtype);
  const InputFacts* const large = max > 0 ? large_input(f, std::sqrt(max)) : nullptr;  // its square overflows
  if (large != nullptr && large->largest >= max / few) return large_words(f, speech, *large);
  const auto zeros = inputs_with_zeros(f);
  if (zeros.size() == 1)
    return say(speech, Saying::inside_zeros,
               {{"input", name_of(*zeros[0], speech)}, {"count", zeros_words(zeros[0]->health, speech)}});
  if (zeros.size() == 2)
    return say(speech, Saying::inside_zeros_of_two,
               {{"input", name_of(*zeros[0], speech)},
                {"count", zeros_words(zeros[0]->health, speech)},
                {"other", name_of(*zeros[1], speech)},
                {"other_count", zeros_words(zeros[1]->health, speech)}});
  for (const InputFacts& input : f.inputs)
    if (nan && met_negatives(input))
      return say(speech, Saying::inside_negatives,
                 {{"input", name_of(input, speech)}, {"count", negatives_words(input.health, speech)}});
  const bool infinite = f.kinds_known && (f.kinds & ~reader::nan_flag) != 0;
  return large != nullptr && infinite ? large_words(f, speech, *large) : std::string();
}

// Its inputs are x, scale, offset, mean and variance, in TensorFlow, PyTorch and ONNX.
inline std::string because_of_normalisation(const CauseFacts& f, const Speech& speech) {
  constexpr std::size_t variance = 4;
  const bool known = variance < f.inputs.size() && f.inputs[variance].known;
  const std::string below = known ? negatives_words(f.inputs[variance].health, speech) : std::string();
  if (below.empty() || (f.kinds_known && (f.kinds & reader::nan_flag) == 0)) return because_of_unknown_op(f, speech);
  return say(speech, Saying::variance_negative, {{"input", name_of(f.inputs[variance], speech)}, {"count", below}});
}

inline std::string because_of_domain(const CauseFacts& f, const Speech& speech) {
  const bool only_infinite = f.kinds_known && (f.kinds & reader::nan_flag) == 0;
  if (f.code == OpCode::atanh && only_infinite) return only(f, speech, Saying::do_ones);
  return only(f, speech, say(speech, Saying::do_domain, {{"domain", std::string(domain_words(f.op))}}));
}

// log and log1p, sqrt and rsqrt.
inline std::string because_of_logarithm_or_root(const CauseFacts& f, const Speech& speech) {
  constexpr Kinds both_infinities = reader::neg_inf_flag | reader::pos_inf_flag;
  constexpr RootValues log = {Saying::do_zeros, Saying::do_negatives, Saying::do_zeros_and_negatives,
                              reader::neg_inf_flag};
  constexpr RootValues log1p = {Saying::do_minus_one, Saying::do_below_minus_one, Saying::do_minus_one_and_below,
                                reader::neg_inf_flag};
  constexpr RootValues rsqrt = {Saying::do_zeros, Saying::do_negatives, Saying::do_zeros_and_negatives,
                                both_infinities};
  constexpr RootValues sqrt = {Saying::do_negatives, Saying::do_negatives, Saying::do_negatives, Kinds{0}};
  return because_of_root(f, speech,
                         f.code == OpCode::log     ? log
                         : f.code == OpCode::log1p ? log1p
                         : f.code == OpCode::rsqrt ? rsqrt
                                                   : sqrt);
}

inline Saying because_of_mean(const CauseFacts& f) {
  const bool had_elements = f.out.size >= 0 && f.mode != TensorDebugMode::curt_health && !f.inputs.empty() &&
                            f.inputs.front().health.size > 0;
  return had_elements ? Saying::it_overflowed : Saying::overflowed_or_empty;
}

// Of n elements, one of which is one too few where the sum is divided by n − 1.
inline std::string because_of_deviation(const CauseFacts& f, const Speech& speech) {
  if (f.kinds_known && (f.kinds & reader::nan_flag) == 0) return say(speech, Saying::it_overflowed);
  const bool known = f.inputs.size() == 1 && f.inputs.front().known && f.inputs.front().health.size > 0;
  const bool single = known && f.inputs.front().health.size == f.out.size;
  return single ? say(speech, Saying::single_values) : std::string();
}

/// To follow "made NaN": with its punctuation; empty where nothing is known.
inline std::string because(const CauseFacts& f, const Speech& speech) {
  switch (f.code) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt: return because_of_logarithm_or_root(f, speech);
    case OpCode::reciprocal:
    case OpCode::divide:
    case OpCode::add_quotient:
    case OpCode::modulo: return because_of_division(f, speech);
    case OpCode::deviation: return because_of_deviation(f, speech);
    case OpCode::mean: return say(speech, because_of_mean(f));
    case OpCode::maximum_of:
    case OpCode::minimum_of: return only(f, speech, Saying::do_empty);
    case OpCode::exp:
    case OpCode::sinh: return say(speech, Saying::it_overflowed);
    case OpCode::cast: return say(speech, Saying::out_of_range);
    case OpCode::pow: return because_of_power(f, speech);
    case OpCode::inverse_trigonometric:
    case OpCode::atanh: return because_of_domain(f, speech);
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad:
      return say(speech, Saying::gradient_at_0, {{"function", std::string(function_of_gradient(f.op))}});
    case OpCode::batch_norm: return because_of_normalisation(f, speech);
    case OpCode::matrix: return say(speech, Saying::singular_matrix);
    case OpCode::softmax:
    case OpCode::log_softmax: return say(speech, Saying::softmax_overflows);
    default: break;
  }
  if (only_overflows(f.code) || sums(f.code)) return say(speech, Saying::it_overflowed);
  const bool known = only_preserves(f.code) && f.code != OpCode::cross_entropy;  // nothing of the kind is inside
  return known ? std::string() : because_of_unknown_op(f, speech);
}

}  // namespace nanlens::causes::detail
