/// @file
/// What is wrong with a query or a rule: where, and what was expected there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanlens::query {

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
  two_totals,
  rule_has_more  ///< behind "for 5 calls"
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
    case Problem::change_wording: return "how it changes is expected here: \"grows 10x in 3 calls\"";
    case Problem::calls_wording: return "a number of calls is expected here: \"for 5 calls\"";
    case Problem::not_on_top: return "\"count\", \"grows\" and \"shrinks\" can't be within brackets, \"or\" or \"not\"";
    case Problem::two_totals: return "a rule has one \"count\"";
    case Problem::rule_has_more: return "nothing can follow \"for ... calls\"";
  }
  return {};
}

/// The text with its fault marked by carets in a line below. What is no letter is shown as a blank.
inline std::string marked(std::string_view text, const Error& error) {
  const auto begins_letter = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80; };
  const std::size_t begin = std::min(error.begin, text.size());
  const std::size_t end = std::min(std::max(error.end, begin), text.size());
  std::string shown;
  std::string carets;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7f;
    shown += control ? ' ' : text[i];
    if (i < end && begins_letter(i)) carets += i < begin ? ' ' : '^';
  }
  if (carets.empty() || carets.back() != '^') carets += '^';
  return shown + "\n" + carets;
}

}  // namespace nanlens::query
