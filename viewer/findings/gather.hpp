/// @file
/// Makes the list of findings of a logdir.
#pragma once

#include <nanlens/reader/reader.hpp>

#include "findings.hpp"
#include "places.hpp"
#include "report/muted_causes.hpp"

namespace nanlens::findings {

/// No more findings than these are listed; further ones are only counted.
inline constexpr std::size_t most_findings = report::most_compared;

/// Looks for the causes of every bad run: those of the run that went bad first lead, the most important one before all.
/// Fills findings, their number, and what they tell of the coverage, which must be there.
void gather(const reader::Logdir& logdir, const SourceRoot& sources, Report& report);

/// Marks findings that marks mute.
void mute(Report& report, report::Mutes& mutes);

/// Marks findings that a baseline has, muted ones aside, and counts those of the baseline that are gone.
void compare(Report& report, Baseline baseline);

/// Concludes the verdict, its line and the exit code: 0 clean, 1 something is wrong that is neither muted nor known, 3
/// where that can't be told. `strict`: nothing that is damaged, incomplete or sampled is clean.
void conclude(Report& report, bool strict);

}  // namespace nanlens::findings
