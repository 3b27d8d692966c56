/// @file
/// A report as a page of HTML that needs neither scripts nor the network: to print, to mail, to have read aloud.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "findings.hpp"

namespace nanlens::findings {

/// Source lines around a finding.
struct Excerpt {
  std::int64_t first = 0;          ///< number of the first line
  std::vector<std::string> lines;  ///< empty: the source is not on record
};

/// Where the bad tensors of a run are: rows or executions from first to last, in stretches of one size.
struct Overview {
  std::string title;            ///< "graph executions", "executions"; with the run, where there are several
  std::uint64_t count = 0;      ///< of rows or executions
  std::uint64_t bad = 0;        ///< how many of them
  std::vector<double> shares;   ///< of the bad ones in each stretch, 0 to 1
  std::optional<double> cause;  ///< where the first finding began, 0 to 1
};

/// What a page shows besides the report: excerpts of its first findings, and an overview of each run.
struct Illustrations {
  std::vector<Excerpt> excerpts;
  std::vector<Overview> overviews;
};

/// No more findings than these are shown in full.
inline constexpr std::size_t most_shown = 20;

Illustrations illustrate(const reader::Logdir& logdir, const Report& report);

std::string html_page(const Report& report, const Illustrations& illustrations);

}  // namespace nanlens::findings
