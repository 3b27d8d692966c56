/// @file
/// Regular expressions for queries.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/query/regex.hpp>

namespace nanlens::regex {

/// Bytes of a regular expression, and of the program made from it.
inline constexpr std::size_t longest = 1000;
inline constexpr std::int64_t largest_program = std::int64_t{1} << 20;

/// RE2's syntax, without regard to case, in linear time. Null where this program was built without RE2.
query::RegexCompiler compiler() noexcept;

}  // namespace nanlens::regex
