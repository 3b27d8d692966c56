/// @file
/// The texts of the sentences, in one table: ids stay, texts may be translated.
#pragma once

#include <array>
#include <string_view>

#include <nanlens/causes/numerics.hpp>

namespace nanlens::causes {

/// One sentence in its three degrees of detail. Words in braces are arguments; see `Sentence`.
struct SentenceText {
  std::string_view id;
  std::string_view full;     ///< with counts of the inputs (FULL_HEALTH, FULL_TENSOR)
  std::string_view concise;  ///< with kinds and counts of the output alone (CONCISE_HEALTH)
  std::string_view does;     ///< what the op does that with, where only presence is known (CURT_HEALTH)
  std::string_view remedy;
};

inline constexpr std::array sentence_texts{
    SentenceText{"log0", "{op} at {src} turned {in_zeros} of {in} into −∞ ({ninf} of {size})",
                 "{op} at {src} made −∞ in {ninf} of {size} elements of clean input {in}; only zeros do that",
                 "zeros and negative values",
                 "Keep {in} away from 0 (for example max(x, 1e-7)), or compute from logits what is now log(softmax)."},
    SentenceText{
        "log_softmax",
        "{op} at {src} turned {in_zeros} of {in} into −∞ ({ninf} of {size}), because {origin} underflowed to 0",
        "{op} at {src} made −∞ in {ninf} of {size} elements of {in}, because {origin} underflowed to 0",
        "zeros, and {origin} underflows to 0",
        "Use the fused form (log_softmax, cross-entropy from logits), or clip {in} from below."},
    SentenceText{"logneg", "{op} at {src} got {in_negatives} from {in}",
                 "{op} at {src} made NaN in {nan} of {size} elements of clean input {in}; only negative values do that",
                 "zeros and negative values", "Check the sign of {in}; softplus, abs or clip make it positive."},
    SentenceText{"sqrtneg", "{op} at {src} got {in_negatives} from {in}",
                 "{op} at {src} made NaN in {nan} of {size} elements of clean input {in}; only negative values do that",
                 "negative values", "Take max(x, 0) first, or add a small ε inside the root."},
    SentenceText{"rsqrt0", "1/√x at {src} divided by {in_zeros} of {in}",
                 "1/√x at {src} made +∞ in {pinf} of {size} elements of clean input {in}; only zeros do that", "zeros",
                 "Add a small ε inside the root."},
    SentenceText{
        "sqrtgrad0", "The gradient of sqrt is infinite at 0: {in} has {in_zeros} ({op} at {src})",
        "{op} at {src} made {kinds} in {bad} of {size} elements of clean inputs; the gradient of sqrt is infinite at 0",
        "zeros, where the gradient of sqrt is infinite",
        "Use sqrt(x + ε), or a norm that is safe at 0 (select before and after it)."},
    SentenceText{
        "div0", "{op} at {src} divides by {den}, which has {den_zeros}",
        "{op} at {src} made {kinds} in {bad} of {size} elements of clean inputs: a division by zero, or an overflow",
        "a zero divisor", "Use divide_no_nan, or add a small ε to the divisor."},
    SentenceText{"div00", "0/0 at {src}: {in} and {den} both have zeros",
                 "{op} at {src} made {kinds} in {bad} of {size} elements of clean inputs: 0/0", "0/0",
                 "Use divide_no_nan, or add a small ε to the divisor."},
    SentenceText{"empty", "{op} over no elements at {src} ({in} is empty)",
                 "{op} over no elements at {src} ({in} is empty)", "an empty input",
                 "Guard against the empty batch or mask."},
    SentenceText{"exp", "exp overflowed at {src}: {pinf} of {size} values exceed {limit} ({dtype})",
                 "{op} at {src} made {kinds} in {bad} of {size} elements of clean input {in}: it overflowed",
                 "large values", "Subtract the maximum first, use softplus, or clip {in}."},
    SentenceText{"overflow", "{op} at {src} exceeded the range of {dtype} ({max}): {bad} of {size}",
                 "{op} at {src} made {kinds} in {bad} of {size} elements of clean inputs: it overflowed",
                 "values too large, or none at all",
                 "Scale the inputs down, clip gradients, or use a wider dtype (with float16: loss scaling)."},
    SentenceText{"cast", "Cast to {dtype} at {src}: {bad} values are beyond {max}",
                 "{op} at {src} made {kinds} in {bad} of {size} elements of clean input {in}: they are out of range",
                 "values out of range", "Use bfloat16, or scale the values first."},
    SentenceText{"pow", "{op} at {src} made {kinds} of {in}, which has {in_negatives} and {in_zeros}",
                 "{op} at {src} made {kinds} in {bad} of {size} elements of clean inputs",
                 "a negative base with a fraction, zero with a negative exponent, or an overflow",
                 "Keep the base positive, or clip the exponent."},
    SentenceText{"domain", "{op} at {src} left its domain (|x| > 1, probably by rounding)",
                 "{op} at {src} left its domain (|x| > 1, probably by rounding)", "values outside its domain",
                 "Clip the input to its domain, for example to [−1, 1]."},
    SentenceText{"matrix", "{op} at {src}: the matrix is singular or not positive definite",
                 "{op} at {src}: the matrix is singular or not positive definite", "such a matrix",
                 "Add a small value to the diagonal."},
    SentenceText{"allmasked", "Every entry of a row was masked (−∞) at {src}",
                 "Every entry of a row was masked (−∞) at {src}", "rows that are masked whole",
                 "Mask with a large negative number instead of −∞, or leave such rows out."},
    SentenceText{"data", "{in} came in bad: made outside the record ({why})",
                 "{in} came in bad: made outside the record ({why})", "",
                 "Check the data before it goes in; recording the loader's ops shows where in it."},
    SentenceText{"const", "The constant {in} at {src} itself holds {kinds}",
                 "The constant {in} at {src} itself holds {kinds}", "",
                 "If it is meant as a mask, mark it as expected."},
    SentenceText{"expected", "The constant {in} at {src} holds {kinds}, as a mask does: no NaN follows",
                 "The constant {in} at {src} holds {kinds}, as a mask does: no NaN follows", "",
                 "Nothing to do if it is meant as a mask."},
    SentenceText{"opaque",
                 "{call} made it from clean inputs; its rows are not on record. Most likely {inside} at {src}: {in} "
                 "has {in_zeros}",
                 "{call} made it, though no recorded input of it is bad; its rows are not on record", "",
                 "Record without a ring buffer (circular_buffer_size −1), or with all its ops."},
    SentenceText{"unknown", "Can't tell what made {t} ({op} at {src}): {in} was not recorded ({why})",
                 "Can't tell what made {t} ({op} at {src}): {in} was not recorded ({why})", "",
                 "Record the missing input, with FULL_HEALTH and without a ring buffer."},
    SentenceText{"generic", "{op} at {src} made {kinds} from clean inputs ({bad} of {size})",
                 "{op} at {src} made {kinds} from clean inputs ({bad} of {size})", "",
                 "Look at the values that go in there."},
};

/// The text with an id; `generic` for ids that are not in the table.
constexpr const SentenceText& sentence_text(std::string_view id) noexcept {
  for (const SentenceText& text : sentence_texts)
    if (text.id == id) return text;
  return sentence_texts.back();
}

/// The id of a mechanism's sentence.
constexpr std::string_view sentence_id(Mechanism mechanism) noexcept {
  switch (mechanism) {
    case Mechanism::log0: return "log0";
    case Mechanism::logneg: return "logneg";
    case Mechanism::sqrtneg: return "sqrtneg";
    case Mechanism::rsqrt0: return "rsqrt0";
    case Mechanism::sqrtgrad0: return "sqrtgrad0";
    case Mechanism::div0: return "div0";
    case Mechanism::div00: return "div00";
    case Mechanism::empty: return "empty";
    case Mechanism::exp: return "exp";
    case Mechanism::overflow: return "overflow";
    case Mechanism::cast: return "cast";
    case Mechanism::pow: return "pow";
    case Mechanism::domain: return "domain";
    case Mechanism::matrix: return "matrix";
    case Mechanism::allmasked: return "allmasked";
    case Mechanism::zero_inf:
    case Mechanism::inf_inf:
    case Mechanism::inf_over_inf:
    case Mechanism::softmax_inf:
    case Mechanism::generic: break;
  }
  return "generic";
}

/// Why infinity became NaN, in words; empty where nothing is known.
constexpr std::string_view change_words(Mechanism mechanism) noexcept {
  switch (mechanism) {
    case Mechanism::zero_inf: return "0 × ∞";
    case Mechanism::inf_inf: return "∞ − ∞";
    case Mechanism::inf_over_inf: return "∞ / ∞";
    case Mechanism::softmax_inf: return "a row holds +∞";
    default: return "";
  }
}

}  // namespace nanlens::causes
