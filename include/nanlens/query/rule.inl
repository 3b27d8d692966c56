// Part of rule.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <nanlens/query/names.hpp>
#include <nanlens/query/parser.hpp>
#include <nanlens/query/query.hpp>
#include <nanlens/query/rule.hpp>

namespace nanlens::query {

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return without_end_space(text);
}

// Where " -- " and what follows it begins; the end if there is none. What stands in quotes or slashes is no such text.
inline std::size_t begin_of_reason(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != '\0' && text[i] == '\\' && quote == '/') {
      ++i;
    } else if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '/') {
      quote = text[i];
    } else if (text.substr(i).starts_with(" -- ")) {
      return i;
    }
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

}  // namespace detail

NANLENS_API std::optional<Rule> parse_rule(std::string_view text, Error& error, RegexCompiler regexes) {
  const auto fail = [&](std::size_t begin, std::size_t end, Problem problem) {
    error = {begin, std::min(end, text.size()), problem};
    return std::nullopt;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail(text.size(), text.size(), Problem::colon_missing);
  Rule rule;
  std::string_view name = detail::trimmed(text.substr(0, colon));
  if (name.empty() || !detail::ends_name(text, colon)) return fail(0, colon + 1, Problem::name_missing);
  detail::take_level(rule, name);
  rule.name = name;
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t reason = detail::begin_of_reason(rest);
  rule.expression = detail::trimmed(rest.substr(0, reason));
  if (reason < rest.size()) rule.reason = detail::trimmed(rest.substr(reason + 4));
  auto conditions = parse_conditions(rest.substr(0, reason), error, regexes);
  if (!conditions) {
    error.begin += colon + 1;
    error.end += colon + 1;
    return std::nullopt;
  }
  rule.conditions = std::move(*conditions);
  return rule;
}

NANLENS_API bool add_rule(std::vector<Rule>& rules, Rule rule, std::string_view text, Error& error) {
  const bool taken =
      std::any_of(rules.begin(), rules.end(), [&](const Rule& other) { return other.name == rule.name; });
  if (taken) error = {0, std::min(text.find(':'), text.size()), Problem::name_taken, rule.name};
  if (!taken) rules.push_back(std::move(rule));
  return !taken;
}

NANLENS_API std::optional<RuleFault> parse_rules(std::string_view text, std::vector<Rule>& rules,
                                                 RegexCompiler regexes) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = detail::without_end_space(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (detail::trimmed(line).empty() || detail::trimmed(line).front() == '#') continue;
    Error error;
    auto rule = parse_rule(line, error, regexes);
    if (!rule || !add_rule(rules, std::move(*rule), line, error)) return RuleFault{number, std::string(line), error};
  }
  return std::nullopt;
}

}  // namespace nanlens::query
