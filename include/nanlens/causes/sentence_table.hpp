/// @file
/// Which sentences tell what, in one table; their texts are in sayings.inl. Which one is told depends on what is known:
/// a wording with a name in braces that has no value is passed over for the next, so none ever has a hole.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nanlens/causes/numerics.hpp>
#include <nanlens/causes/speech.hpp>

namespace nanlens::causes {

/// A wording of a sentence or a remedy. Arguments: see `word`. Those that may be empty bring their blank or their
/// punctuation along: {at} {in_bad} {share} {from} {because} {wider} {arrived_bad} {in_function} {bad_lanes}.
struct Wording {
  std::string_view key;
  Saying text;
};

/// By key, the most telling first. A key without a fitting wording falls back to "made".
inline constexpr Wording wordings[] = {
    {"log", Saying::say_log_1},
    {"log", Saying::say_log_2},
    {"log", Saying::say_log_3},
    {"log_softmax", Saying::say_log_masked_1},
    {"log_softmax", Saying::say_log_masked_2},
    {"log_softmax", Saying::say_log_softmax_1},
    {"log_softmax", Saying::say_log_softmax_2},
    {"root", Saying::say_root},
    {"rsqrt", Saying::say_rsqrt_1},
    {"rsqrt", Saying::say_rsqrt_2},
    {"rsqrt", Saying::say_rsqrt_3},
    {"gradient", Saying::say_gradient},
    {"division", Saying::say_division_1},
    {"zero_by_zero", Saying::say_zero_by_zero_1},
    {"zero_by_zero", Saying::say_zero_by_zero_2},
    {"zero_by_zero", Saying::say_zero_by_zero_3},
    {"division", Saying::say_division_2},
    {"empty", Saying::say_empty},
    {"exp", Saying::say_exp},
    {"overflow", Saying::say_overflow_small},
    {"overflow", Saying::say_overflow},
    {"narrow", Saying::say_narrow},
    {"cast", Saying::say_cast},
    {"pow", Saying::say_pow_1},
    {"pow", Saying::say_pow_2},
    {"pow", Saying::say_pow_3},
    {"domain", Saying::say_domain_1},
    {"domain", Saying::say_domain_2},
    {"matrix", Saying::say_matrix},
    {"ignored", Saying::say_ignored},
    {"ctc", Saying::say_ctc},
    {"degenerate", Saying::say_degenerate},
    {"allmasked", Saying::say_allmasked},
    {"zero_times", Saying::say_zero_times},
    {"arrived", Saying::say_arrived},
    {"changed", Saying::say_changed_1},
    {"changed", Saying::say_changed_2},
    {"data", Saying::say_data_1},
    {"data", Saying::say_data_2},
    {"const", Saying::say_filled},
    {"const", Saying::say_const},
    {"expected", Saying::say_expected_filled_1},
    {"expected", Saying::say_expected_filled_2},
    {"expected", Saying::say_expected_1},
    {"expected", Saying::say_expected_in},
    {"expected", Saying::say_expected_unread},
    {"expected", Saying::say_expected_2},
    {"guarded", Saying::say_guarded_1},
    {"guarded", Saying::say_guarded_2},
    {"scaled", Saying::say_scaled},
    {"scaled_in", Saying::say_scaled_in},
    {"opaque", Saying::say_opaque_1},
    {"opaque", Saying::say_opaque_2},
    {"opaque", Saying::say_opaque_3},
    {"unknown_gone", Saying::say_unknown_gone},
    {"unknown_lost", Saying::say_unknown_lost},
    {"unknown_alone", Saying::say_unknown_alone},
    {"unknown", Saying::say_unknown_there},
    {"unknown", Saying::say_unknown_1},
    {"unknown", Saying::say_unknown_2},
    {"contradicted", Saying::say_contradicted},
    {"contradicted_seen", Saying::say_contradicted_seen},
    {"trap", Saying::say_trap},
    {"made", Saying::say_made},
};

/// What to do, by the same rules. A key without a wording has no remedy but that of "made".
inline constexpr Wording remedies[] = {
    {"log", Saying::remedy_log},
    {"logneg", Saying::remedy_logneg},
    {"log1p", Saying::remedy_log1p},
    {"log_softmax", Saying::remedy_log_softmax},
    {"root", Saying::remedy_root},
    {"rsqrt", Saying::remedy_rsqrt},
    {"gradient", Saying::remedy_gradient},
    {"division", Saying::remedy_division},
    {"division_native", Saying::remedy_division_native},
    {"division_gradient", Saying::remedy_division_gradient},
    {"single_values", Saying::remedy_single_values},
    {"empty", Saying::remedy_empty},
    {"exp", Saying::remedy_exp},
    {"softmax", Saying::remedy_softmax},
    {"overflow", Saying::remedy_overflow},
    {"narrow", Saying::remedy_narrow},
    {"cast", Saying::remedy_cast},
    {"pow", Saying::remedy_pow},
    {"domain", Saying::remedy_domain},
    {"matrix", Saying::remedy_matrix},
    {"ignored", Saying::remedy_ignored},
    {"ctc", Saying::remedy_ctc},
    {"degenerate", Saying::remedy_degenerate},
    {"allmasked", Saying::remedy_allmasked},
    {"zero_times", Saying::remedy_zero_times},
    {"arrived", Saying::remedy_arrived},
    {"arrived_torch", Saying::remedy_arrived_torch},
    {"changed", Saying::remedy_changed},
    {"changed_torch", Saying::remedy_changed_torch},
    {"data", Saying::remedy_data},
    {"assigned", Saying::remedy_assigned},
    {"const_nan", Saying::remedy_const_nan},
    {"filled_nan", Saying::remedy_filled_nan},
    {"into_result", Saying::remedy_into_result},
    {"const", Saying::remedy_const},
    {"expected", Saying::remedy_expected},
    {"guarded", Saying::remedy_guarded},
    {"scaled", Saying::remedy_scaled},
    {"scaled_in", Saying::remedy_scaled},
    {"opaque_native", Saying::remedy_opaque_native},
    {"opaque", Saying::remedy_opaque},
    {"contradicted_native", Saying::remedy_contradicted_native},
    {"contradicted_seen", Saying::remedy_contradicted_seen},
    {"contradicted", Saying::remedy_contradicted},
    {"unknown_there", Saying::remedy_unknown_there},
    {"unknown_native", Saying::remedy_unknown_native},
    {"unknown_torch", Saying::remedy_unknown_torch},
    {"unknown_rank", Saying::remedy_unknown_rank},
    {"unknown_unread", Saying::remedy_unknown_unread},
    {"unknown_written_over", Saying::remedy_unknown_written_over},
    {"scope", Saying::remedy_scope},
    {"unknown_eager", Saying::remedy_unknown_eager},
    {"unknown_alone", Saying::remedy_unknown_alone},
    {"unknown_lost", Saying::remedy_unknown_lost},
    {"unknown_filtered", Saying::remedy_unknown_filtered},
    {"unknown_variable", Saying::remedy_unknown_variable},
    {"unknown", Saying::remedy_unknown_1},
    {"unknown", Saying::remedy_unknown_2},
    {"unknown_full", Saying::remedy_unknown_full},
    {"made", Saying::remedy_made},
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
    case Mechanism::inf_products:
    case Mechanism::softmax_inf:
    case Mechanism::softmax_masked:
    case Mechanism::generic: break;
  }
  return "generic";
}

/// Why infinity became NaN, in words; empty where nothing is known.
constexpr std::string_view change_words(Mechanism mechanism, const Speech& speech = english_speech) noexcept {
  switch (mechanism) {
    case Mechanism::zero_inf: return "0 × ∞";
    case Mechanism::inf_inf: return "∞ − ∞";
    case Mechanism::inf_over_inf: return "∞ / ∞";
    case Mechanism::inf_products: return speech[Saying::change_products];
    case Mechanism::softmax_inf: return speech[Saying::change_softmax];
    case Mechanism::softmax_masked: return speech[Saying::change_masked];
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
std::string worded(const Wording (&table)[N], std::string_view key, const Arguments& arguments, const Speech& speech) {
  std::string out;
  for (const Wording& wording : table)
    if (wording.key == key && fill(speech[wording.text], arguments, out)) return out;
  return {};
}

}  // namespace detail

}  // namespace nanlens::causes
