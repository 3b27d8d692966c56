/// @file
/// How far a recording tells what happened.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "findings.hpp"

namespace nanlens::findings {

/// Counts what the runs of a logdir hold; its causes are not looked for here.
Coverage coverage_of(const reader::Logdir& logdir);

/// The coverage in one line: "looked at 600 of 600 graph tensors and 30 of 30 calls (FULL_HEALTH); …".
std::string coverage_line(const Coverage& coverage);

/// The same in full: what each line is about, and what is known of it.
std::vector<std::pair<std::string, std::string>> coverage_details(const Coverage& coverage);

}  // namespace nanlens::findings
