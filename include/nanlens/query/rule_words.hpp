/// @file
/// What a rule found, and why it found nothing, in words of a language.
#pragma once

#include <cstdio>
#include <string>

#include <nanlens/causes/speech.hpp>
#include <nanlens/config.hpp>
#include <nanlens/query/judge.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/seen.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

inline std::string short_number(double value, const causes::Speech& speech) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return causes::detail::with_point(text, speech);
}

inline std::string words_of(const NumberSeen& seen, const causes::Speech& speech) {
  using causes::Saying;
  const std::string name(name_of(seen.field));
  if (seen.size <= 0)
    return causes::say(speech, Saying::rule_number, {{"name", name}, {"value", short_number(seen.value, speech)}});
  char percent[40];
  std::snprintf(percent, sizeof percent, "%.4g", 100 * seen.value / seen.size);
  return causes::say(speech, Saying::rule_share,
                     {{"name", name},
                      {"percent", causes::detail::with_point(percent, speech)},
                      {"size", short_number(seen.size, speech)}});
}

inline std::string words_of(const ChangeSeen& change, const causes::Speech& speech) {
  return causes::say(speech, causes::Saying::rule_change,
                     {{"name", std::string(name_of(change.field))},
                      {"from", short_number(change.from, speech)},
                      {"to", short_number(change.to, speech)},
                      {"n", std::to_string(change.calls)}},
                     change.calls);
}

inline std::string facts_of(const Rule& rule, const Hit& hit, const causes::Speech& speech) {
  using causes::Saying;
  if (rule.conditions.total) return causes::say(speech, Saying::rule_total, {{"n", std::to_string(hit.count)}});
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  for (const NumberSeen& seen : hit.numbers) add(words_of(seen, speech));
  for (const ChangeSeen& change : hit.changes) add(words_of(change, speech));
  if (rule.conditions.calls > 1)
    add(causes::say(speech, Saying::rule_calls, {{"n", std::to_string(rule.conditions.calls)}}));
  return facts;
}

}  // namespace detail

/// Where a rule holds, as a sentence.
inline std::string words(const Rule& rule, const Hit& hit, const causes::Speech& speech = causes::english_speech) {
  using causes::Saying;
  std::string text = causes::say(speech, hit.tensor.empty() ? Saying::rule_holds : Saying::rule_holds_of,
                                 {{"rule", rule.name}, {"tensor", hit.tensor}});
  if (const std::string facts = detail::facts_of(rule, hit, speech); !facts.empty())
    text = causes::say(speech, Saying::rule_facts, {{"text", text}, {"facts", facts}});
  return causes::say(speech, Saying::full_stop, {{"text", text}});
}

/// What a recording lacks for a rule; empty if it lacks nothing.
inline std::string why_not_judged(const Rule& rule, const Judgement& judgement,
                                  const causes::Speech& speech = causes::english_speech) {
  using causes::Saying;
  if (!judgement.could_not_be_judged()) return {};
  std::string names;
  std::string needs;  // recorders differ in how they are asked for stacks
  for (const std::string_view name : judgement.missing) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    const auto field = detail::find_name(detail::number_names, name);
    const bool of_stack = name == "line" || name == "file" || name == "fn" || name == "host";
    if (field && needed_for(*field) == Needed::statistics)
      needs = causes::say(speech, Saying::rule_needs_statistics);
    else if (!of_stack && needs.empty())
      needs = causes::say(speech, Saying::rule_needs_health);
  }
  return causes::say(speech, Saying::rule_not_judged, {{"rule", rule.name}, {"names", names}, {"needs", needs}});
}

}  // namespace nanlens::inline NANLENS_ABI::query
