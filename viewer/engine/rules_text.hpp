/// @file
/// A text of rules, line by line: what a person wrote around the rules stays as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/query/rule_parts.hpp>

#include "report/rules_files.hpp"

namespace nanlens::viewer {

/// Before a rule that is kept, but not judged: a comment for who only reads rules.
inline constexpr std::string_view rule_off = "#off ";

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text);

/// @name The text with one line changed, from 0; each other byte is kept, as is the way in which lines end
///@{
std::string with_line(std::string_view text, std::size_t number, std::string_view line);
std::string without_line(std::string_view text, std::size_t number);
/// A further one before that line; behind the last where there are fewer.
std::string with_line_before(std::string_view text, std::size_t number, std::string_view line);
///@}

/// The rule in a line, without the sign that it is off; empty if there is none.
std::string_view rule_in(std::string_view line);
inline bool is_off(std::string_view line) { return line.starts_with(rule_off); }

/// A rule taken apart, also one that can't be read.
struct RuleParts {
  std::string name;  ///< empty if it has none
  query::Level level = query::Level::error;
  std::string conditions;
  std::string reason;
};
RuleParts parts_in(std::string_view rule);

}  // namespace nanlens::viewer
