/// @file
/// A report in the formats that people, CI systems and other programs read.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "findings.hpp"

namespace nanlens::findings {

/// For people: the verdict, further findings, what is incomplete, the coverage.
std::string text_format(const Report& report);

/// One JSON object; its fields are in README.md.
std::string json_format(const Report& report);

/// JUnit's XML, as pytest writes and Jenkins reads it: a finding is a failed test, a known or muted one is skipped.
std::string junit_format(const Report& report);

/// SARIF 2.1.0, with the chain of a cause as a code flow.
std::string sarif_format(const Report& report);

/// Workflow commands of GitHub Actions: annotations with file and line.
std::string github_format(const Report& report);

/// Markdown for a job's summary.
std::string markdown_format(const Report& report);

/// By the name that the command line takes.
struct Format {
  std::string_view name;
  std::string (*write)(const Report&);
  bool for_people;  ///< programs get English unless they ask for another language
};

inline constexpr std::array formats{
    Format{"text", &text_format, true},      Format{"json", &json_format, false},
    Format{"junit", &junit_format, false},   Format{"sarif", &sarif_format, false},
    Format{"github", &github_format, false}, Format{"markdown", &markdown_format, true}};

}  // namespace nanlens::findings
