// Part of query.hpp.
#pragma once

#include <nanlens/query/parser.hpp>
#include <nanlens/query/query.hpp>

namespace nanlens::inline NANLENS_ABI::query {

NANLENS_API std::optional<Query> parse(std::string_view text, Error& error, RegexCompiler regexes) {
  return detail::Parser(text, error, regexes).query();
}

NANLENS_API std::optional<Conditions> parse_conditions(std::string_view text, Error& error, RegexCompiler regexes) {
  return detail::Parser(text, error, regexes, detail::Grammar::rule).conditions();
}

NANLENS_API std::vector<std::string> parts(std::string_view query) {
  Error ignored;
  return detail::Parser(query, ignored, nullptr).parts();
}

}  // namespace nanlens::inline NANLENS_ABI::query
