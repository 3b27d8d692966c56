/// @file
/// What a rule found, and why it found nothing, in words.
#pragma once

#include <string>

#include <nanlens/config.hpp>
#include <nanlens/query/judge.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/seen.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Where a rule holds, as a sentence.
inline std::string words(const Rule& rule, const Hit& hit) {
  std::string text = "The rule \"" + rule.name + "\" holds";
  if (!hit.tensor.empty()) text += " of " + hit.tensor;
  std::string facts = detail::words_of(hit.numbers, hit.changes, rule.conditions.calls);
  if (rule.conditions.total) facts = "count is " + std::to_string(hit.count);
  return text + (facts.empty() ? "" : ": " + facts) + ".";
}

/// What a recording lacks for a rule; empty if it lacks nothing.
inline std::string why_not_judged(const Rule& rule, const Judgement& judgement) {
  if (!judgement.could_not_be_judged()) return {};
  std::string names;
  const char* hint = "";  // recorders differ in how they are asked for stacks
  for (const std::string_view name : judgement.missing) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    const auto field = detail::find_name(detail::number_names, name);
    const bool of_stack = name == "line" || name == "file" || name == "fn" || name == "host";
    if (field && needed_for(*field) == Needed::statistics)
      hint = " (record with .statistics = true)";
    else if (!of_stack && *hint == '\0')
      hint = " (record with FULL_HEALTH)";
  }
  return "rule \"" + rule.name + "\" could not be judged: no recording of " + names + hint;
}

}  // namespace nanlens::inline NANLENS_ABI::query
