/// @file
/// What is wrong with a query or a rule: where, and what was expected there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// What can be wrong.
enum class Problem : std::uint8_t {
  condition_missing,
  no_open,
  no_close,
  too_deep,
  too_many,
  no_field,   ///< `name` before ':'
  no_number,  ///< `name` before a comparison
  number_missing,
  number_odd,
  text_missing,
  quote_missing,
  slash_missing,
  regex_unknown,
  regex_escape,
  regex_class,
  regex_bracket,
  regex_repeat,
  regex_group,
  regex_large,
  regex_unsupported,  ///< nothing here understands regular expressions
  name_missing,       ///< of a rule
  name_taken,         ///< two rules are called `name`
  colon_missing,      ///< behind a rule's name
  change_wording,     ///< "grows" without "10x in 3 calls"
  calls_wording,      ///< "for" without "5 calls"
  not_on_top,         ///< a change or a total within brackets, "or", "not"
  change_field,       ///< of what is no number of a tensor, such as `name`
  two_totals,
  two_dashes,     ///< in a rule, elsewhere than before its reason
  name_reserved,  ///< a rule is called as kinds of causes are
  too_many_rules,
  rule_has_more,  ///< behind "for 5 calls"
  check_only      ///< `name` is no question for a program that runs
};

/// A text that can't be read: the part of it, and why.
struct Error {
  std::size_t begin = 0;
  std::size_t end = 0;
  Problem problem = Problem::condition_missing;
  std::string name = {};     ///< what is not known
  std::string nearest = {};  ///< the most similar name that is
};

/// No text has more conditions than this: each is asked of millions of rows.
inline constexpr std::uint32_t most_conditions = 200;
/// A run is judged by no more rules than these.
inline constexpr std::size_t most_rules = 1000;
/// A number is compared with no more calls before than these: each keeps what it had.
inline constexpr std::uint32_t most_calls_compared = 1000;

/// What is wrong and what was expected, in words.
inline std::string words(const Error& error) {
  switch (error.problem) {
    case Problem::condition_missing: return "a condition is missing here, such as bad, type:Log or nan>0";
    case Problem::no_open: return "a closing bracket without an opening one";
    case Problem::no_close: return "the bracket is not closed";
    case Problem::too_deep: return "brackets are nested too deep";
    case Problem::too_many: return "more than " + std::to_string(most_conditions) + " conditions";
    case Problem::no_field: return "there is no \"" + error.name + ":\"; did you mean \"" + error.nearest + ":\"?";
    case Problem::no_number: return "\"" + error.name + "\" is no number; did you mean \"" + error.nearest + "\"?";
    case Problem::number_missing: return "a number is missing here";
    case Problem::number_odd: return "the number goes on in a way that can't be read";
    case Problem::text_missing: return "a text to look for is missing here";
    case Problem::quote_missing: return "the closing quote is missing";
    case Problem::slash_missing: return "the closing / is missing";
    case Problem::regex_unknown: return "this is not a valid regular expression";
    case Problem::regex_escape: return "the regular expression has a backslash that means nothing here";
    case Problem::regex_class: return "the regular expression has a set in [ ] that can't be read";
    case Problem::regex_bracket: return "the regular expression has a bracket without its partner";
    case Problem::regex_repeat: return "the regular expression repeats nothing, or too often";
    case Problem::regex_group: return "the regular expression has a kind of group that does not exist here";
    case Problem::regex_large: return "the regular expression is too large";
    case Problem::regex_unsupported: return "there are no regular expressions here; * and ? are wildcards";
    case Problem::name_missing: return "a name is missing here: NAME: CONDITIONS, such as \"dead relu: zero>95%\"";
    case Problem::name_taken: return "another rule is called \"" + error.name + "\"";
    case Problem::colon_missing: return "a colon is missing behind the rule's name: NAME: CONDITIONS";
    case Problem::change_wording:
      return "how it changes is expected here: \"grows 10x in 3 calls\", at most " +
             std::to_string(most_calls_compared);
    case Problem::calls_wording: return "a number of calls is expected here: \"for 5 calls\"";
    case Problem::not_on_top: return "\"count\", \"grows\" and \"shrinks\" can't be within brackets, \"or\" or \"not\"";
    case Problem::change_field: return "\"" + error.name + "\" is no number of a tensor: it can't grow or shrink";
    case Problem::two_totals: return "a rule has one \"count\"";
    case Problem::two_dashes: return "two dashes begin a reason, with a blank on both sides: CONDITIONS -- REASON";
    case Problem::name_reserved: return "a rule's name can't begin with \"rc.\": so do those of kinds of causes";
    case Problem::too_many_rules: return "more than " + std::to_string(most_rules) + " rules";
    case Problem::rule_has_more: return "nothing can follow \"for ... calls\"";
    case Problem::check_only:
      return "\"" + error.name + "\" is judged by `nanlens check` alone, not while a program runs";
  }
  return {};
}

namespace detail {

// Columns of a terminal that the letter takes whose first byte, in UTF-8, the text begins with; none inside a letter.
inline std::size_t columns_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if ((byte(0) & 0xc0) == 0x80) return 0;
  if (byte(0) < 0xe0) return 1;
  char32_t letter = 0;
  if (byte(0) < 0xf0)
    letter = (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  else
    letter = (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  // Hangul, CJK and what is set beside it, full-width forms, pictures.
  constexpr char32_t wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                                  {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x3fffd}};
  for (const auto& [first, last] : wide)
    if (letter >= first && letter <= last) return 2;
  return 1;
}

}  // namespace detail

/// The text with its fault marked by carets in a line below. What is no letter is shown as a blank.
inline std::string marked(std::string_view text, const Error& error) {
  const std::size_t begin = std::min(error.begin, text.size());
  const std::size_t end = std::min(std::max(error.end, begin), text.size());
  std::string shown;
  std::string carets;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    shown += control ? ' ' : text[i];
    if (i < end) carets.append(detail::columns_of(text.substr(i)), i < begin ? ' ' : '^');
  }
  if (carets.empty() || carets.back() != '^') carets += '^';
  return shown + "\n" + carets;
}

}  // namespace nanlens::inline NANLENS_ABI::query
