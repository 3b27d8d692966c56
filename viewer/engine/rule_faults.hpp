/// @file
/// What is wrong with a rule that can't be read, in the language of the viewer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nanlens/query/error.hpp>

namespace nanlens::viewer {

/// What was expected.
std::string rule_error_text(const query::Error& error);

/// The same behind the part of the rule at which it was expected; where that is its name, alone.
std::string rule_fault_text(std::string_view rule, std::size_t begin, std::size_t end, const std::string& expected);

/// Why this rule, by itself, can't be read; empty if it can.
std::string why_unreadable(std::string_view rule);

}  // namespace nanlens::viewer
