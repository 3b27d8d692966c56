/// @file
/// Words that several formats use.
#pragma once

#include <string>

#include "findings.hpp"
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

/// Rules that are about nothing on record: "dead relu, loss jump".
inline std::string idle_rules(const Report& report) {
  std::string names;
  for (const RuleOutcome& rule : report.rules)
    if (rule.findings == 0 && rule.seen == 0) names += (names.empty() ? "" : ", ") + rule.name;
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
