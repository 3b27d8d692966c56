#include "rule_faults.hpp"

#include <algorithm>

#include <nanlens/query/rule.hpp>

#include "regex/regex.hpp"
#include "rows.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

std::string rule_error_text(const query::Error& error) {
  using query::Problem;
  switch (error.problem) {
    case Problem::name_missing:
    case Problem::colon_missing: return tr(Text::rule_no_name);
    case Problem::name_taken: return tr(Text::rule_name_taken, {{"name", error.name}});
    case Problem::name_reserved: return tr(Text::rule_name_reserved);
    case Problem::change_wording: return tr(Text::rule_change);
    case Problem::calls_wording: return tr(Text::rule_calls);
    case Problem::not_on_top: return tr(Text::rule_not_on_top);
    case Problem::change_field: return tr(Text::rule_change_field, {{"name", error.name}});
    case Problem::two_totals: return tr(Text::rule_two_counts);
    case Problem::two_dashes: return tr(Text::rule_two_dashes);
    case Problem::too_many_rules: return tr(Text::rule_too_many, {{"n", query::most_rules}});
    case Problem::rule_has_more: return tr(Text::rule_has_more);
    default: return filter_error_text(error);
  }
}

std::string rule_fault_text(std::string_view rule, std::size_t begin, std::size_t end, const std::string& expected) {
  if (begin < rule.find(':')) return expected;
  begin = std::min(begin, rule.size());
  const std::string part(rule.substr(begin, std::max(end, begin) - begin));
  return tr(part.empty() ? Text::filter_bad_end : Text::filter_bad_part, {{"part", part}, {"reason", expected}});
}

std::string why_unreadable(std::string_view rule) {
  query::Error error;
  if (query::parse_rule(rule, error, regex::compiler())) return {};
  return rule_fault_text(rule, error.begin, error.end, rule_error_text(error));
}

}  // namespace nanlens::viewer
