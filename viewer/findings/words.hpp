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

/// What a person has to do about a finding: "error", "warning", nothing where it is "known" or "muted".
inline const char* state_words(const Finding& f) {
  if (f.state == State::known) return "known";
  if (f.state == State::muted) return "muted";
  return f.level == Level::error ? "error" : "warning";
}

}  // namespace nanlens::findings
