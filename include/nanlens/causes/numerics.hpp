/// @file
/// What an op can do to numbers: which kinds of non-finite values it makes of finite ones, and whether the counts of
/// its inputs account for its output. Sources: IEEE 754, and TensorFlow's kernels where they choose (noted beside
/// them).
#pragma once

#include <algorithm>
#include <span>

#include <nanlens/causes/limits.hpp>
#include <nanlens/causes/op_code.hpp>
#include <nanlens/reader/event_digest.hpp>

namespace nanlens::causes {

using reader::TensorHealth;

/// Kinds of non-finite values, as bits: `reader::nan_flag`, `neg_inf_flag`, `pos_inf_flag`.
using Kinds = std::uint8_t;

/// Negative values are nothing odd: they count where few are, all are, or as many as there are NaN in the result.
inline bool are_negatives_odd(const TensorHealth& input, double num_nan) {
  const double count = input.num_negative;
  const double few = std::max(1.0, input.size / 4);
  return count > 0 && (count == num_nan || count == input.size || count <= few);
}

/// Do the counts of the inputs account for the output?
enum class Verdict : std::uint8_t {
  none,          ///< no rule, or no counts
  explained,     ///< they match exactly
  consistent,    ///< possible; counts alone can't prove it
  contradicted,  ///< impossible from these inputs
};

/// What happened, as a sentence can tell it. Names in `sentence.hpp`.
enum class Mechanism : std::uint8_t {
  generic,
  log0,
  logneg,
  sqrtneg,
  rsqrt0,
  sqrtgrad0,
  div0,
  div00,
  empty,
  exp,
  overflow,
  cast,
  pow,
  domain,
  matrix,
  zero_inf,
  inf_inf,
  inf_over_inf,
  softmax_inf,
  softmax_masked,
  inf_products,
  allmasked,
};

struct Judgement {
  Verdict verdict = Verdict::none;
  Mechanism mechanism = Mechanism::generic;
};

/// Kinds that only finite inputs give: whatever else came in, the op made these itself. log(0) = −∞ and 1/√0 = +∞; 1/0
/// too (1/±∞ is 0).
constexpr Kinds created_kinds(OpCode op) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::log1p: return reader::neg_inf_flag;
    case OpCode::rsqrt: return reader::pos_inf_flag;
    case OpCode::reciprocal: return reader::pos_inf_flag | reader::neg_inf_flag;
    default: return 0;
  }
}

/// Kinds that an op with an input off the record made by itself more likely than not.
constexpr Kinds likely_made(OpCode op) noexcept {
  switch (op) {
    case OpCode::exp:
    case OpCode::matmul:
    case OpCode::sqrt_grad: return reader::pos_inf_flag;
    case OpCode::divide:
    case OpCode::xlogy:
    case OpCode::open_domain:
    case OpCode::add_quotient: return reader::bad_flags;
    case OpCode::pow: return reader::nan_flag | reader::pos_inf_flag;
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::modulo:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::inverse_trigonometric: return reader::nan_flag;
    default: return 0;
  }
}

/// Kinds that an op makes of finite numbers, where one of them may be any.
constexpr Kinds made_with_number(OpCode op) noexcept {
  switch (op) {
    case OpCode::multiply:
    case OpCode::matmul: return reader::pos_inf_flag | reader::neg_inf_flag;
    case OpCode::divide:
    case OpCode::modulo:
    case OpCode::pow: return reader::bad_flags;
    default: return 0;
  }
}

namespace detail {

/// Finite numbers can overflow in it, and do nothing else.
constexpr bool only_overflows(OpCode op) noexcept {
  return op == OpCode::square || op == OpCode::multiply || op == OpCode::add || op == OpCode::subtract;
}
/// It adds many numbers up, or multiplies them: on the way infinities can meet.
constexpr bool sums(OpCode op) noexcept {
  return op == OpCode::add_n || op == OpCode::reduce_sum || op == OpCode::mean || op == OpCode::cumulative_sum ||
         op == OpCode::matmul || op == OpCode::product;
}

inline bool counted(const TensorHealth* h) noexcept { return h != nullptr && h->num_zero >= 0; }
/// Is there an input without elements, or with `all` nothing but such inputs, as far as they are known?
inline bool any_empty(std::span<const TensorHealth* const> inputs, bool all) noexcept {
  bool any = false;
  for (const auto* h : inputs) {
    if (h == nullptr) continue;
    any = any || h->size == 0;
    if (all && h->size != 0) return false;
  }
  return any;
}

inline Judgement judge_log(const TensorHealth& out, const TensorHealth& in) {
  const double below = in.num_negative + in.num_nan + in.num_neg_inf;
  const bool negatives_match = out.num_nan == below;
  if (out.num_neg_inf > 0 && out.num_neg_inf == in.num_zero && negatives_match)
    return {Verdict::explained, Mechanism::log0};
  if (out.num_nan > 0 && negatives_match) return {Verdict::explained, Mechanism::logneg};
  // Threads that flush subnormals to zero: more −∞ than zeros were counted.
  if (out.num_neg_inf > 0 && out.num_neg_inf >= in.num_zero && in.num_positive > 0 && negatives_match)
    return {Verdict::consistent, Mechanism::log0};
  return {in.num_zero > 0 || in.num_negative > 0 ? Verdict::consistent : Verdict::contradicted,
          out.num_neg_inf > 0 ? Mechanism::log0 : Mechanism::logneg};
}

inline Judgement judge_root(OpCode op, const TensorHealth& out, const TensorHealth& in) {
  if (out.num_nan > 0 && out.num_nan == in.num_negative + in.num_nan + in.num_neg_inf)
    return {Verdict::explained, Mechanism::sqrtneg};
  const bool reciprocal = op == OpCode::rsqrt;
  if (reciprocal && out.num_pos_inf > 0 && in.num_zero >= out.num_pos_inf)
    return {Verdict::explained, Mechanism::rsqrt0};
  const bool possible = in.num_negative > 0 || (reciprocal && in.num_positive + in.num_zero > 0);
  return {possible ? Verdict::consistent : Verdict::contradicted,
          out.num_nan > 0 ? Mechanism::sqrtneg : Mechanism::rsqrt0};
}

inline Judgement judge_division(const TensorHealth& out, const TensorHealth* a, const TensorHealth* b) {
  if (!counted(b)) return {};
  if (b->num_zero > 0) {
    const bool both = out.num_nan > 0 && (!counted(a) || a->num_zero > 0);
    if (out.num_nan > 0 && !both) return {Verdict::contradicted, Mechanism::div0};
    return {Verdict::explained, both && out.num_pos_inf + out.num_neg_inf == 0 ? Mechanism::div00 : Mechanism::div0};
  }
  // Without a zero below, finite numbers can only overflow.
  return {out.num_nan > 0 ? Verdict::contradicted : Verdict::consistent, Mechanism::overflow};
}

// Whatever is divided: the rest is NaN where the divisor is 0, and a number everywhere else.
inline Judgement judge_modulo(const TensorHealth& out, const TensorHealth* b) {
  if (!counted(b)) return {};
  return {out.num_nan > 0 && b->num_zero > 0 ? Verdict::explained : Verdict::contradicted, Mechanism::div0};
}

// It is multiplied by a number that is not on record, and may be 0.
inline Judgement judge_added_quotient(const TensorHealth& out, const TensorHealth* a, const TensorHealth* b) {
  const Judgement judged = judge_division(out, a, b);
  return judged.verdict == Verdict::contradicted ? Judgement{Verdict::consistent, judged.mechanism} : judged;
}

inline Judgement judge_reciprocal(const TensorHealth& out, const TensorHealth& in) {
  const double infinities = out.num_pos_inf + out.num_neg_inf;
  if (in.num_zero > 0 && infinities >= in.num_zero) return {Verdict::explained, Mechanism::div0};
  return {infinities > 0 && out.num_nan <= 0 ? Verdict::consistent : Verdict::contradicted,
          in.num_zero > 0 ? Mechanism::div0 : Mechanism::overflow};
}

// Ops that are judged by their first input alone.
inline Judgement judge_by_first(OpCode op, const TensorHealth& out, const TensorHealth& in) {
  switch (op) {
    case OpCode::log: return judge_log(out, in);
    case OpCode::log1p:
      return {in.num_negative > 0 ? Verdict::consistent : Verdict::contradicted,
              out.num_neg_inf > 0 ? Mechanism::log0 : Mechanism::logneg};
    case OpCode::sqrt:
    case OpCode::rsqrt: return judge_root(op, out, in);
    case OpCode::reciprocal: return judge_reciprocal(out, in);
    case OpCode::exp:
      return {out.num_nan <= 0 && in.num_positive >= out.num_pos_inf ? Verdict::explained : Verdict::contradicted,
              Mechanism::exp};
    default: return {in.num_zero > 0 ? Verdict::explained : Verdict::consistent, Mechanism::sqrtgrad0};
  }
}

inline Judgement judge_overflow(const TensorHealth& out, bool nan_possible, bool all_known) {
  if (out.num_nan <= 0) return {all_known ? Verdict::explained : Verdict::none, Mechanism::overflow};
  return {nan_possible ? Verdict::consistent : Verdict::contradicted, Mechanism::overflow};
}

// What an op's nature tells, with all counts of the output known.
inline Judgement judge_by_counts(OpCode op, const TensorHealth& out, std::span<const TensorHealth* const> inputs,
                                 bool all_known) {
  const TensorHealth* const a = inputs.empty() ? nullptr : inputs[0];
  const TensorHealth* const b = inputs.size() > 1 ? inputs[1] : nullptr;
  switch (op) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::reciprocal:
    case OpCode::exp:
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad: return counted(a) ? judge_by_first(op, out, *a) : Judgement{};
    case OpCode::divide: return judge_division(out, a, b);
    case OpCode::modulo: return judge_modulo(out, b);
    case OpCode::add_quotient: return inputs.size() > 2 ? judge_added_quotient(out, b, inputs[2]) : Judgement{};
    case OpCode::sinh:
      if (!all_known) return {};
      return {out.num_nan > 0 ? Verdict::contradicted : Verdict::explained, Mechanism::exp};
    case OpCode::cast:
      if (out.dtype == DType::float64) return {Verdict::contradicted, Mechanism::cast};  // no type's range is larger
      if (!all_known) return {};
      // float8_e4m3fn and the fnuz types have no infinity: too large becomes NaN.
      return {out.num_nan > 0 && !dtype_lacks_infinity(out.dtype) ? Verdict::contradicted : Verdict::explained,
              Mechanism::cast};
    case OpCode::pow: return {Verdict::consistent, Mechanism::pow};
    case OpCode::inverse_trigonometric:
    case OpCode::open_domain: return {Verdict::consistent, Mechanism::domain};
    case OpCode::matrix: return {Verdict::consistent, Mechanism::matrix};
    default:
      if (only_preserves(op)) return {Verdict::contradicted, Mechanism::generic};
      if (only_overflows(op)) return judge_overflow(out, false, all_known);
      return sums(op) ? judge_overflow(out, true, all_known) : Judgement{};
  }
}

}  // namespace detail

/// Judges an output by the counts of its inputs, in input order; null where an input is not known. Without counts
/// (modes below FULL_HEALTH) only what is impossible for any finite input is told. `all_known`: no input is missing.
inline Judgement judge(OpCode op, const TensorHealth& out, std::span<const TensorHealth* const> inputs,
                       bool all_known) {
  // Whatever else an op does: it has made one NaN of nothing, or elements of nothing but nothing.
  const bool reduces =
      op == OpCode::mean || op == OpCode::maximum_of || op == OpCode::minimum_of || (out.size == 1 && out.num_nan == 1);
  const bool impossible = out.size > 0 && needs_elements(op);  // that is not the input, then
  if (!impossible && detail::any_empty(inputs, !reduces)) return {Verdict::explained, Mechanism::empty};
  if (detail::only_overflows(op) && out.num_nan > 0) return {Verdict::contradicted, Mechanism::overflow};
  return out.num_negative < 0 ? Judgement{} : detail::judge_by_counts(op, out, inputs, all_known);
}

/// The mechanism that an op and the kinds of its output suggest where counts are missing.
constexpr Mechanism likely_mechanism(OpCode op, Kinds kinds) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::log1p: return (kinds & reader::neg_inf_flag) != 0 ? Mechanism::log0 : Mechanism::logneg;
    case OpCode::sqrt: return Mechanism::sqrtneg;
    case OpCode::rsqrt: return (kinds & reader::pos_inf_flag) != 0 ? Mechanism::rsqrt0 : Mechanism::sqrtneg;
    case OpCode::reciprocal: return Mechanism::div0;
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad: return Mechanism::sqrtgrad0;
    case OpCode::inverse_trigonometric:
    case OpCode::open_domain: return Mechanism::domain;
    case OpCode::matrix: return Mechanism::matrix;
    case OpCode::exp:
    case OpCode::sinh: return Mechanism::exp;
    case OpCode::cast: return Mechanism::cast;
    case OpCode::pow: return Mechanism::pow;
    case OpCode::divide:
    case OpCode::add_quotient: return (kinds & reader::nan_flag) != 0 ? Mechanism::div00 : Mechanism::div0;
    case OpCode::modulo: return Mechanism::div0;
    default: return detail::only_overflows(op) || detail::sums(op) ? Mechanism::overflow : Mechanism::generic;
  }
}

/// Why infinity became NaN in an op that got no NaN, but infinities of these kinds; `generic` where there is nothing to
/// say.
constexpr Mechanism kind_change(OpCode op, Kinds in) noexcept {
  switch (op) {
    case OpCode::multiply: return Mechanism::zero_inf;
    case OpCode::matmul: return Mechanism::inf_products;
    case OpCode::add:
    case OpCode::subtract:
    case OpCode::add_n:
    case OpCode::reduce_sum:
    case OpCode::mean:
    case OpCode::cumulative_sum: return Mechanism::inf_inf;
    case OpCode::divide: return Mechanism::inf_over_inf;
    case OpCode::softmax:
    case OpCode::log_softmax:
      return (in & reader::pos_inf_flag) != 0 ? Mechanism::softmax_inf : Mechanism::softmax_masked;
    default: return Mechanism::generic;
  }
}

}  // namespace nanlens::causes
