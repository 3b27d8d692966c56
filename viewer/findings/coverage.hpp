/// @file
/// How far a recording tells what happened.
#pragma once

#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "findings.hpp"

namespace nanlens::findings {

/// Counts what the runs of a logdir hold; its causes are not looked for here.
Coverage coverage_of(const reader::Logdir& logdir);

/// The coverage in one line: "looked at 600 of 600 graph tensors and 30 of 30 calls (FULL_HEALTH); …".
std::string coverage_line(const Coverage& coverage);

/// One thing that is known of a recording, or not known.
struct CoverageDetail {
  const char* about;  ///< for programs, in every language: "lost"
  const char* title;  ///< the same for people
  std::string words;
};

/// The same in full.
std::vector<CoverageDetail> coverage_details(const Coverage& coverage);

}  // namespace nanlens::findings
