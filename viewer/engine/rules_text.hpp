/// @file
/// A text of rules, line by line: what a person wrote around the rules stays as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/rules_files.hpp"

namespace nanlens::viewer {

/// Before a rule that is kept, but not judged: a comment for who only reads rules.
inline constexpr std::string_view rule_off = "#off ";

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);
std::string text_of_lines(const std::vector<std::string>& lines);

/// The rule in a line, without the sign that it is off; empty if there is none.
std::string_view rule_in(std::string_view line);
inline bool is_off(std::string_view line) { return line.starts_with(rule_off); }

}  // namespace nanlens::viewer
