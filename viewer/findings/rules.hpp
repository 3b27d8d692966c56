/// @file
/// Findings by rules.
#pragma once

#include <vector>

#include <nanlens/query/rule.hpp>
#include <nanlens/reader/reader.hpp>

#include "findings.hpp"
#include "places.hpp"

namespace nanlens::findings {

/// Judges all runs of a logdir by each rule, and by those of the programs that recorded them: adds what they find, one
/// finding per op and line, and what became of them.
void judge(const reader::Logdir& logdir, const std::vector<query::Rule>& rules, const SourceRoot& sources,
           Report& report);

/// What rules have found, in one line: "9 rules: 1 error, 2 notes, 1 could not be judged". Empty without rules.
std::string rules_line(const Report& report);

}  // namespace nanlens::findings
