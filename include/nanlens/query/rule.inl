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

namespace detail {

inline std::optional<RuleFault> first_fault(std::string_view text, std::vector<Rule>& rules, RegexCompiler regexes,
                                            Grammar grammar) {
  std::optional<RuleFault> first;
  read_rules(text, rules, regexes, grammar, [&](RuleFault fault) {
    first = std::move(fault);
    return false;
  });
  return first;
}

}  // namespace detail

NANLENS_API std::optional<RuleFault> parse_rules(std::string_view text, std::vector<Rule>& rules,
                                                 RegexCompiler regexes) {
  return detail::first_fault(text, rules, regexes, detail::Grammar::rule);
}

NANLENS_API std::optional<RuleFault> parse_program_rules(std::string_view text, std::vector<Rule>& rules) {
  return detail::first_fault(text, rules, nullptr, detail::Grammar::rule_in_program);
}

}  // namespace nanlens::inline NANLENS_ABI::query
