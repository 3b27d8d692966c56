/// @file
/// Why an op makes a non-finite value of finite ones, in words, as far as the facts prove it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/input_words.hpp>
#include <nanlens/causes/op_code.hpp>
#include <nanlens/causes/unknown_op.hpp>

namespace nanlens::causes::detail {

/// The numbers an op is made for.
inline std::string_view domain_words(std::string_view op) noexcept {
  constexpr std::pair<std::string_view, std::string_view> domains[] = {
      {"cosh", "x ≥ 1"},      {"tanh", "−1 < x < 1"}, {"erfinv", "−1 < x < 1"}, {"Erfinv", "−1 < x < 1"},
      {"logit", "0 < x < 1"}, {"dtri", "0 < x < 1"},  {"entr", "x ≥ 0"},        {"essel", "x > 0"}};
  for (const auto& [part, domain] : domains)
    if (op.find(part) != std::string_view::npos) return domain;
  return "−1 ≤ x ≤ 1";
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

// A power of what has no zeros is infinite only where it overflowed.
inline bool is_power_overflow(const CauseFacts& f) {
  const bool infinite = f.kinds_known && f.kinds != 0 && (f.kinds & reader::nan_flag) == 0;
  return f.code == OpCode::pow && infinite && !f.inputs.empty() && f.inputs.front().known &&
         f.inputs.front().health.num_zero == 0;
}

inline std::string because_of_power(const CauseFacts& f, const Speech& speech) {
  if (!f.kinds_known) return say(speech, Saying::any_power);
  if (f.kinds == reader::nan_flag) return only(f, speech, Saying::do_power);
  if ((f.kinds & reader::nan_flag) != 0) return {};
  return say(speech, is_power_overflow(f) ? Saying::it_overflowed : Saying::infinite_power);
}

// What is normalised: not its scale and offset, whose zeros do no harm. Of a gradient it is the second input.
inline std::span<const InputFacts> normalised(const CauseFacts& f) {
  const std::size_t most = f.op.ends_with("backward") ? 2 : 1;
  return std::span(f.inputs).first(std::min(f.inputs.size(), most));
}

// Is it given one value alone of each channel, of which the second input, a scale or a mean, has one, too?
inline bool is_of_one_sample(const CauseFacts& f) {
  return f.code == OpCode::batch_norm && f.inputs.size() > 1 && f.inputs[0].known && f.inputs[1].known &&
         f.inputs[1].health.size > 0 && f.inputs[0].health.size == f.inputs[1].health.size;
}

// By statistics of its own input, whose squares are added up, in float32 at least. What is negative in it does no harm.
inline std::string because_of_own_statistics(const CauseFacts& f, const Speech& speech) {
  const double max = dtype_max(f.out.dtype);
  const double size = f.inputs.empty() ? 1 : std::max(1.0, f.inputs.front().health.size);
  const InputFacts* const large = max > 1e30 ? large_input(f, std::sqrt(max / size)) : nullptr;
  if (large != nullptr) return large_words(f, speech, *large);
  if (std::string zeros = zeros_inside(normalised(f), num_bad(f), speech, Met::everywhere); !zeros.empty())
    return zeros;
  if (!takes_mean_away(f.op)) return zeros_inside(normalised(f), num_bad(f), speech, Met::perhaps);
  if (f.kinds_known && (f.kinds & reader::nan_flag) == 0) return {};
  if (is_of_one_sample(f)) return say(speech, Saying::single_values);
  const bool measured = !f.inputs.empty() && f.inputs.front().largest >= 0;
  return say(speech, measured ? Saying::variance_zero : Saying::variance_zero_or_overflow);
}

// Its inputs are x, scale, offset, mean and variance, in TensorFlow, PyTorch and ONNX. The last are empty where it
// reckons them itself.
inline std::string because_of_normalisation(const CauseFacts& f, const Speech& speech) {
  constexpr std::size_t variance = 4;
  const bool known = variance < f.inputs.size() && f.inputs[variance].known && f.inputs[variance].health.size > 0;
  if (!known) return because_of_own_statistics(f, speech);
  const std::string below = negatives_words(f.inputs[variance].health, speech);
  if (!below.empty() && (!f.kinds_known || (f.kinds & reader::nan_flag) != 0))
    return say(speech, Saying::variance_negative, {{"input", name_of(f.inputs[variance], speech)}, {"count", below}});
  const auto given = std::span(f.inputs).subspan(variance, 1);
  for (const Met where : {Met::everywhere, Met::perhaps})
    if (std::string zeros = zeros_inside(given, num_bad(f), speech, where); !zeros.empty()) return zeros;
  return because_of_own_statistics(f, speech);
}

// Of a loss against classes, whose third input weighs these: a mean divides by what the weights add up to. Negative
// values are what its input is made of.
inline std::string because_of_loss(const CauseFacts& f, const Speech& speech) {
  constexpr std::size_t weight = 2;
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const bool known = weight < f.inputs.size() && f.inputs[weight].known;
  const std::string zeros = known ? zeros_words(f.inputs[weight].health, speech) : std::string();
  if (nan && !zeros.empty())
    return say(speech, Saying::inside_zeros, {{"input", name_of(f.inputs[weight], speech)}, {"count", zeros}});
  if (!nan) return say(speech, Saying::it_overflowed);
  const double max = dtype_max(f.out.dtype);
  const InputFacts* const large = max > 0 ? large_input(f, std::sqrt(max)) : nullptr;
  return large != nullptr ? large_words(f, speech, *large) : std::string();
}

inline std::string because_of_domain(const CauseFacts& f, const Speech& speech) {
  const bool only_infinite = f.kinds_known && (f.kinds & reader::nan_flag) == 0;
  const std::string_view domain = domain_words(f.op);
  if (domain == "−1 < x < 1" && only_infinite) return only(f, speech, Saying::do_ones);
  return only(f, speech, say(speech, Saying::do_domain, {{"domain", std::string(domain)}}));
}

// Which are one domain's limits; what is large may overflow, too.
inline std::string because_of_poles(const Speech& speech) {
  const std::string outside = say(speech, Saying::do_domain, {{"domain", "x ≠ 0, −1, −2, …"}});
  return say(speech, Saying::also_by, {{"values", outside}});
}

// x · log(y): 0 where x is 0.
inline std::string because_of_xlogy(const CauseFacts& f, const Speech& speech) {
  constexpr RootValues shifted = {Saying::do_minus_one, Saying::do_below_minus_one, Saying::do_minus_one_and_below,
                                  reader::neg_inf_flag | reader::pos_inf_flag};  // x · log(1 + y)
  const bool infinite = !f.kinds_known || (f.kinds & ~reader::nan_flag) != 0;    // which a large x gives, too
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const Saying below = nan ? Saying::do_minus_one_and_below : Saying::do_minus_one;
  if (f.op.find("1p") != std::string::npos)
    return infinite ? say(speech, Saying::also_by, {{"values", std::string(speech[below])}})
                    : because_of_root(f, speech, shifted);
  if (!f.kinds_known || f.inputs.size() < 2 || !f.inputs[1].known) return because_of_unknown_op(f, speech);
  const TensorHealth& y = f.inputs[1].health;
  const std::string count = infinite ? zeros_words(y, speech) : negatives_words(y, speech);
  if (count.empty()) return because_of_unknown_op(f, speech);
  return say(speech, Saying::log_of_such, {{"input", name_of(f.inputs[1], speech)}, {"count", count}});
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

// Is it a deviation, of n elements, one of which is one too few where the sum is divided by n − 1?
inline bool has_single_values(const CauseFacts& f) {
  if (f.code != OpCode::deviation || f.inputs.size() != 1 || !f.inputs.front().known) return false;
  return f.inputs.front().health.size > 0 && f.inputs.front().health.size == f.out.size;
}

inline std::string because_of_deviation(const CauseFacts& f, const Speech& speech) {
  if (f.kinds_known && (f.kinds & reader::nan_flag) == 0) return say(speech, Saying::it_overflowed);
  return has_single_values(f) ? say(speech, Saying::single_values) : std::string();
}

/// To follow "made NaN": with its punctuation; empty where nothing is known.
inline std::string because(const CauseFacts& f, const Speech& speech) {
  switch (f.code) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt: return because_of_logarithm_or_root(f, speech);
    case OpCode::xlogy: return because_of_xlogy(f, speech);
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
    case OpCode::open_domain: return because_of_domain(f, speech);
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad:
      return say(speech, Saying::gradient_at_0, {{"function", std::string(function_of_gradient(f.op))}});
    case OpCode::batch_norm: return because_of_normalisation(f, speech);
    case OpCode::layer_norm: return because_of_own_statistics(f, speech);
    case OpCode::nll_loss:
    case OpCode::cross_entropy:
    case OpCode::sparse_cross_entropy: return because_of_loss(f, speech);
    case OpCode::matrix: return say(speech, Saying::singular_matrix);
    case OpCode::softmax:
    case OpCode::log_softmax: return say(speech, Saying::softmax_overflows);
    default: break;
  }
  if (has_poles(f.op)) return because_of_poles(speech);
  if (only_overflows(f.code) || sums(f.code))
    return f.missing.empty() ? say(speech, Saying::it_overflowed)
                             : say(speech, Saying::overflowed_or_unknown, {{"input", f.missing}});
  const bool known = only_preserves(f.code);  // nothing of the kind is inside
  return known ? std::string() : because_of_unknown_op(f, speech);
}

}  // namespace nanlens::causes::detail
