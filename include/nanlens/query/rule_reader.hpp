/// @file
/// The grammar of rules, and of texts of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/parser.hpp>
#include <nanlens/query/rule_parts.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return without_end_space(text);
}

// The end of the pattern in quotes or slashes that begins the text, behind its closing one.
inline std::size_t end_of_pattern(std::string_view text) {
  const char quote = text.front();
  std::size_t i = 1;
  while (i < text.size() && text[i] != quote) i += quote == '/' && text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// Where " -- " and what follows it begins; the end if there is none. What stands in quotes or slashes is no such text.
// They are such where a pattern can begin alone: those in "file:mnist/model.cpp" are a part of it.
inline std::size_t begin_of_reason(std::string_view text) {
  bool at_begin = true;
  bool has_colon = false;  // the word so far
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with(" -- ")) return i;
    const char c = text[i];
    const bool is_pattern = at_begin && (c == '"' || c == '/');
    const bool first_colon = c == ':' && !has_colon;
    const bool negates = at_begin && !has_colon && (c == '-' || c == '!');
    at_begin = is_pattern || first_colon || negates || ends_word(c);
    has_colon = !is_pattern && !ends_word(c) && (has_colon || first_colon);
    i += is_pattern ? end_of_pattern(text.substr(i)) : 1;
  }
  return text.size();
}

// Is this the end of a name, rather than a condition such as type:Relu?
inline bool ends_name(std::string_view text, std::size_t colon) {
  const std::size_t begin = text.substr(0, colon).find_last_of(" \t") + 1;  // 0: there is no blank
  const std::string word = lower_case(text.substr(begin, colon - begin));
  const bool names_field = find_name(text_names, word) || find_name(number_names, word);
  return !names_field || colon + 1 == text.size() || is_space(text[colon + 1]);
}

inline void take_level(Rule& rule, std::string_view& name) {
  for (const Level level : {Level::error, Level::warning, Level::note}) {
    const std::string_view word = name_of(level);
    if (name.size() <= word.size() || lower_case(name.substr(0, word.size())) != word || !is_space(name[word.size()]))
      continue;
    rule.level = level;
    name = trimmed(name.substr(word.size()));
    return;
  }
}

inline std::optional<Rule> read_rule(std::string_view text, Error& error, RegexCompiler regexes, Grammar grammar) {
  const auto fail = [&](std::size_t begin, std::size_t end, Problem problem) {
    error = {begin, std::min(end, text.size()), problem};
    return std::nullopt;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail(text.size(), text.size(), Problem::colon_missing);
  Rule rule;
  std::string_view name = trimmed(text.substr(0, colon));
  if (name.empty() || !ends_name(text, colon)) return fail(0, colon + 1, Problem::name_missing);
  take_level(rule, name);
  rule.name = name;
  if (lower_case(name).starts_with("rc.")) return fail(0, colon, Problem::name_reserved);
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t reason = begin_of_reason(rest);
  rule.expression = trimmed(rest.substr(0, reason));
  if (reason < rest.size()) rule.reason = trimmed(rest.substr(reason + 4));
  auto conditions = Parser(rest.substr(0, reason), error, regexes, grammar).conditions();
  if (!conditions) {
    error.begin += colon + 1;
    error.end += colon + 1;
    return std::nullopt;
  }
  rule.conditions = std::move(*conditions);
  return rule;
}

inline bool add_rule_to(std::vector<Rule>& rules, Rule rule, std::string_view text, Error& error) {
  const bool taken =
      std::any_of(rules.begin(), rules.end(), [&](const Rule& other) { return other.name == rule.name; });
  if (!taken && rules.size() < most_rules) {
    rules.push_back(std::move(rule));
    return true;
  }
  error = {0, std::min(text.find(':'), text.size()), taken ? Problem::name_taken : Problem::too_many_rules, rule.name};
  return false;
}

// Reads one rule per line; `on_fault` is told of each that can't be read, and says whether to go on.
template <class OnFault>
void read_rules(std::string_view text, std::vector<Rule>& rules, RegexCompiler regexes, Grammar grammar,
                const OnFault& on_fault) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_end_space(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    Error error;
    auto rule = read_rule(line, error, regexes, grammar);
    if (rule && add_rule_to(rules, std::move(*rule), line, error)) continue;
    if (!on_fault(RuleFault{number, std::string(line), error})) return;
  }
}

}  // namespace detail

}  // namespace nanlens::inline NANLENS_ABI::query
