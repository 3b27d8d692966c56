/// @file
/// Words that several formats use.
#pragma once

#include <string>
#include <vector>

#include "findings.hpp"
#include "report/describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::findings {

/// "error", "warning", "note": for programs, in every language.
constexpr const char* level_name(Level level) noexcept {
  return level == Level::error ? "error" : level == Level::warning ? "warning" : "note";
}

/// What the column of tensors counts.
inline const char* tensors_title(const Report& report) {
  for (const Finding& f : report.findings)
    if (f.of_rule) return viewer::tr(viewer::Text::page_tensors);
  return viewer::tr(viewer::Text::page_bad_tensors);
}

/// What the rules leave open, one line each: those that could not be judged, and what programs did not judge by theirs.
inline std::vector<std::string> open_questions(const Report& report) {
  std::vector<std::string> lines;
  for (const RuleOutcome& rule : report.rules) {
    if (!rule.not_judged.empty()) lines.push_back(rule.not_judged);
    if (!rule.not_followed.empty()) lines.push_back(rule.not_followed);
  }
  return lines;
}

/// Rules of programs that were about nothing that these did, in words; empty if there are none.
inline std::string idle_program_rules(const Report& report) {
  std::vector<std::string> names;
  for (const RuleOutcome& rule : report.rules)
    if (rule.idle == true && rule.seen == 0) names.push_back(rule.name);
  return report::idle_rules_words(names);
}

/// Other rules that are about nothing on record: "dead relu, loss jump".
inline std::string idle_rules(const Report& report) {
  std::string names;
  for (const RuleOutcome& rule : report.rules)
    if (rule.findings == 0 && rule.seen == 0 && !rule.idle) names += (names.empty() ? "" : ", ") + rule.name;
  return names;
}

/// "error", "warning", "note": for people.
inline const char* level_words(Level level) {
  using viewer::Text;
  return viewer::tr(level == Level::error     ? Text::level_error
                    : level == Level::warning ? Text::level_warning
                                              : Text::level_note);
}

/// What a person has to do about a finding: "error", "warning", "note", nothing where it is "known" or "muted".
inline const char* state_words(const Finding& f) {
  if (f.state == State::known) return viewer::tr(viewer::Text::state_known);
  if (f.state == State::muted) return viewer::tr(viewer::Text::state_muted);
  return level_words(f.level);
}

}  // namespace nanlens::findings
