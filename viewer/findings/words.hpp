/// @file
/// Words that several formats use.
#pragma once

#include <cstdint>
#include <string>

#include "findings.hpp"
#include "report/describe.hpp"

namespace nanlens::findings {

/// "1 thing", "2,000 things".
inline std::string counted(std::uint64_t n, const char* one, const char* many) {
  return report::with_separators(n) + " " + (n == 1 ? one : many);
}

/// "error", "warning", "note"
constexpr const char* level_name(Level level) noexcept {
  return level == Level::error ? "error" : level == Level::warning ? "warning" : "note";
}

/// What the column of tensors counts.
inline const char* tensors_title(const Report& report) {
  for (const Finding& f : report.findings)
    if (f.of_rule) return "tensors";
  return "bad tensors";
}

/// Rules that are about nothing on record: "dead relu, loss jump".
inline std::string idle_rules(const Report& report) {
  std::string names;
  for (const RuleOutcome& rule : report.rules)
    if (rule.findings == 0 && rule.seen == 0) names += (names.empty() ? "" : ", ") + rule.name;
  return names;
}

/// What a person has to do about a finding: "error", "warning", "note", nothing where it is "known" or "muted".
inline const char* state_words(const Finding& f) {
  if (f.state == State::known) return "known";
  if (f.state == State::muted) return "muted";
  return level_name(f.level);
}

}  // namespace nanlens::findings
