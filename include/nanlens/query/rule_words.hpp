/// @file
/// What a rule found, and why it found nothing, in words.
#pragma once

#include <cstdio>
#include <string>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::query {

namespace detail {

inline std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

inline std::string words_of(const NumberSeen& seen) {
  const std::string name(name_of(seen.field));
  if (seen.size <= 0) return name + " is " + short_number(seen.value);
  char percent[40];
  std::snprintf(percent, sizeof percent, "%.4g%%", 100 * seen.value / seen.size);
  return name + " is " + percent + " of " + short_number(seen.size);
}

inline std::string words_of(const ChangeSeen& change) {
  return std::string(name_of(change.field)) + " went from " + short_number(change.from) + " to " +
         short_number(change.to) + " in " + std::to_string(change.calls) + (change.calls == 1 ? " call" : " calls");
}

}  // namespace detail

/// Where a rule holds, as a sentence.
inline std::string words(const Rule& rule, const Hit& hit) {
  std::string text = "The rule \"" + rule.name + "\" holds";
  if (!hit.tensor.empty()) text += " of " + hit.tensor;
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  for (const NumberSeen& seen : hit.numbers) add(detail::words_of(seen));
  for (const ChangeSeen& change : hit.changes) add(detail::words_of(change));
  if (rule.conditions.calls > 1) add("for " + std::to_string(rule.conditions.calls) + " calls");
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

}  // namespace nanlens::query
