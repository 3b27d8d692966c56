/// @file
/// The wordings of the sentences, in one table. Which one is told depends on what is known: a wording with a name in
/// braces that has no value is passed over for the next, so none ever has a hole.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nanlens/causes/numerics.hpp>

namespace nanlens::causes {

/// A wording of a sentence or a remedy. Arguments: see `word`. Those that may be empty bring their blank or their
/// punctuation along: {at} {in_bad} {share} {from} {because} {wider} {arrived_bad} {in_function} {bad_lanes}.
struct Wording {
  std::string_view key;
  std::string_view text;
};

/// By key, the most telling first. A key without a fitting wording falls back to "made".
inline constexpr Wording wordings[] = {
    {"log", "{op}{at} turned {exact_zeros} of {in} into −∞ and {exact_negatives} into NaN ({bad} of {size})"},
    {"log", "{op}{at} turned {exact_zeros} of {in} into −∞ ({ninf} of {size})"},
    {"log", "{op}{at} got {exact_negatives} from {in} ({nan} of {size})"},
    {"log_softmax",
     "{op}{at} turned {exact_zeros} of {in} into −∞ ({ninf} of {size}), because {origin} underflowed to 0"},
    {"log_softmax", "{op}{at} made {kinds}{in_bad}{from}, because {origin} underflowed to 0"},
    {"root", "{op}{at} got {exact_negatives} from {in} ({nan} of {size})"},
    {"rsqrt", "1/√x{named}{at} divided by {exact_zeros} of {in} and got {exact_negatives} ({bad} of {size})"},
    {"rsqrt", "1/√x{named}{at} divided by {exact_zeros} of {in} ({bad} of {size})"},
    {"rsqrt", "1/√x{named}{at} got {exact_negatives} from {in} ({nan} of {size})"},
    {"gradient", "The gradient of {function} is infinite at 0: {in} has {in_zeros} ({op}{at})"},
    {"division", "{op}{at} divides {itself} by itself, and that has {den_zeros}"},
    {"zero_by_zero", "{op}{at} divides {itself} by itself, and that has {den_zeros}"},
    {"zero_by_zero", "0/0{named}{at}: {in} has {in_zeros}, and {den} has {den_zeros}"},
    {"zero_by_zero", "{op}{at} divides by {den}, which has {den_zeros}"},
    {"division", "{op}{at} divides by {den}, which has {den_zeros}"},
    {"empty", "{op} over no elements{at} ({in} is empty)"},
    {"exp", "{op}{at} overflowed: {pinf} of {size} values exceed {limit} ({dtype})"},
    {"overflow", "{op}{at} exceeded the range of {range}{in_bad}"},
    {"cast", "{op} to {dtype}{at}: {bad} of {size} values are beyond {max}"},
    {"pow", "{op}{at} made {kinds}{in_bad} of {in}, which has {in_negatives} and {in_zeros}"},
    {"pow", "{op}{at} made {kinds}{in_bad} of {in}, which has {in_negatives}"},
    {"pow", "{op}{at} made {kinds}{in_bad} of {in}, which has {in_zeros}"},
    {"domain", "{op}{at} left its domain ({domain}), probably by rounding: {in} reaches {slightly_beyond}"},
    {"domain", "{op}{at} left its domain ({domain}): {in} reaches {magnitude}"},
    {"matrix", "{op}{at}: the matrix is singular or not positive definite"},
    {"allmasked", "Every entry of a row was masked (−∞){named}{at}"},
    {"arrived", "The {arrived_kinds} in {arrived} of {op}{at}{arrived_bad}, which was not recorded before"},
    {"changed",
     "The {arrived_kinds} in {arrived} of {op}{at}{arrived_bad}: its memory, which held {recorded_there}, was changed "
     "since that was recorded, by something that is not on record"},
    {"changed",
     "The {arrived_kinds} in {arrived} of {op}{at}{arrived_bad}: its memory was changed since something was recorded "
     "there, by something that is not on record"},
    {"data", "{incoming} came in bad: made outside the record ({why})"},
    {"data", "{incoming} came in bad: made outside the record"},
    {"const", "The constant {t}{at} itself holds {kinds}"},
    {"expected", "The constant {t}{at} holds {kinds}, as a mask does: no NaN follows"},
    {"opaque",
     "{call} made {kinds}{in_bad}; its rows are not on record. Most likely {inside}{at}: {in} has {inside_found}"},
    {"opaque", "{call} made {kinds}{in_bad}; its rows are not on record. Most likely it was {inside}{at}"},
    {"opaque", "{call} made {kinds}{in_bad}, though no input of it on record is bad; its rows are not on record"},
    {"unknown", "Can't tell what made {t} ({op}{at}): {missing} was not recorded ({why})"},
    {"unknown", "Can't tell what made {t} ({op}{at}): no input on record accounts for it"},
    {"contradicted",
     "{op}{at} made {kinds}{in_bad}, which its inputs on record can't give: one of them may have been changed by "
     "something that is not on record"},
    {"contradicted_seen", "{op}{at} made {kinds}{in_bad}, and its inputs were clean when it had run"},
    {"trap", "{trap}{at}{in_function}{bad_lanes}, {times}; first at +{since} s"},
    {"made", "{op}{at} made {kinds}{in_bad}{from}{because}"},
};

/// What to do, by the same rules. A key without a wording has no remedy but that of "made".
inline constexpr Wording remedies[] = {
    {"log", "Keep {in} away from 0 (for example max(x, 1e-7)), or compute from logits what is now log(softmax)."},
    {"logneg", "Check the sign of {in}; softplus, abs or clip make it positive."},
    {"log1p", "Keep {in} above −1."},
    {"log_softmax", "Use the fused form (log_softmax, cross-entropy from logits), or clip {in} from below."},
    {"root", "Take max(x, 0) first, or add a small ε inside the root."},
    {"rsqrt", "Take max(x, 0) first, and add a small ε inside the root."},
    {"gradient", "Use sqrt(x + ε), or a norm that is safe at 0 (select before and after it)."},
    {"division", "Use divide_no_nan, or add a small ε to the divisor."},
    {"empty", "Guard against the empty batch or mask."},
    {"exp", "Subtract the maximum first, use softplus, or clip {in}."},
    {"softmax", "Subtract the maximum of each row first."},
    {"overflow", "Scale the inputs down, or clip gradients{wider}."},
    {"cast", "Scale the values first{wider}."},
    {"pow", "Keep the base positive, or clip the exponent."},
    {"domain", "Clip {in} to the domain ({domain})."},
    {"matrix", "Add a small value to the diagonal."},
    {"allmasked", "Mask with a large negative number instead of −∞, or leave such rows out."},
    {"arrived",
     "Check it before it goes in. nanlens::op(\"Name\", value, inputs) where it is made, or nanlens::record where it "
     "is "
     "written in place, shows where it comes from."},
    {"changed",
     "Record what changes it with nanlens::op or nanlens::record. If {op} itself writes over its input, record that as "
     "an output, too."},
    {"data", "Check the data before it goes in; recording the loader's ops shows where in it."},
    {"const", "If it is meant as a mask, mark it as expected."},
    {"expected", "Nothing to do if it is meant as a mask."},
    {"opaque_native", "Record with circular_buffer_size = -1, so that its rows stay."},
    {"opaque", "Record with circular_buffer_size=-1 and without op_regex, so that its rows stay."},
    {"contradicted_native",
     "Record what changes it with nanlens::op or nanlens::record, and call nanlens::forget where its memory is "
     "reused."},
    {"contradicted_seen",
     "Look at the values that go in there, and at what may have written over its result before it was recorded."},
    {"contradicted", "Look at the values that go in there (tf.print, tf.debugging.check_numerics)."},
    {"unknown_native",
     "Record the code that makes {missing}: nanlens::op(\"Name\", value, inputs) where it comes from an expression, "
     "nanlens::record where it is written in place; nanlens::tensor(x) links scalars."},
    {"unknown_rank",
     "Record every rank, with what each of them puts in, into one logdir, and without a ring; data of a type that "
     "nanlens does not look at is unknown, too."},
    {"unknown_eager", "{Missing} is a constant or was converted from Python: tf.identity around it puts it on record."},
    {"unknown_lost", "Record with circular_buffer_size=-1 and without op_regex, so that no row is missing."},
    {"unknown_filtered", "Record without op_regex and tensor_dtypes."},
    {"unknown_variable", "Call enable_dump_debug_info before the variable is made."},
    {"unknown",
     "Record with tensor_debug_mode=\"FULL_HEALTH\" and circular_buffer_size=-1; "
     "tf.debugging.check_numerics on {missing} narrows it down."},
    {"unknown", "Record with tensor_debug_mode=\"FULL_HEALTH\" and circular_buffer_size=-1."},
    {"made", "Look at the values that go in there."},
};

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

namespace detail {

using Arguments = std::map<std::string, std::string>;

// Arguments that may be empty.
constexpr bool is_optional(std::string_view name) noexcept {
  return name == "at" || name == "named" || name == "in_bad" || name == "from" || name == "because" ||
         name == "wider" || name == "arrived_bad" || name == "in_function" || name == "bad_lanes";
}

// The text with its names filled in; false, with `out` in pieces, if one has no value.
inline bool fill(std::string_view text, const Arguments& arguments, std::string& out) {
  out.clear();
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) return true;
    const std::size_t close = text.find('}', open);
    const std::string name(text.substr(open + 1, close - open - 1));
    const auto found = arguments.find(name);
    if (found == arguments.end() || found->second.empty()) {
      if (!is_optional(name)) return false;
    } else {
      out.append(found->second);
    }
    text.remove_prefix(close + 1);
  }
  return true;
}

// The first wording of a key that can be filled; empty if there is none.
template <std::size_t N>
std::string worded(const Wording (&table)[N], std::string_view key, const Arguments& arguments) {
  std::string out;
  for (const Wording& wording : table)
    if (wording.key == key && fill(wording.text, arguments, out)) return out;
  return {};
}

}  // namespace detail

}  // namespace nanlens::causes
