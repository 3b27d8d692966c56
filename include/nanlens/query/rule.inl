// Part of rule.hpp.
#pragma once

#include <utility>

#include <nanlens/query/rule.hpp>
#include <nanlens/query/rule_reader.hpp>

namespace nanlens::inline NANLENS_ABI::query {

NANLENS_API std::optional<Rule> parse_rule(std::string_view text, Error& error, RegexCompiler regexes) {
  return detail::read_rule(text, error, regexes, detail::Grammar::rule);
}

NANLENS_API bool add_rule(std::vector<Rule>& rules, Rule rule, std::string_view text, Error& error) {
  return detail::add_rule_to(rules, std::move(rule), text, error);
}

NANLENS_API std::optional<RuleFault> parse_rules(std::string_view text, std::vector<Rule>& rules,
                                                 RegexCompiler regexes) {
  std::optional<RuleFault> first;
  detail::read_rules(text, rules, regexes, detail::Grammar::rule, [&](RuleFault fault) {
    first = std::move(fault);
    return false;
  });
  return first;
}

}  // namespace nanlens::inline NANLENS_ABI::query
