/// @file
/// The filter language: `type:Log nan>0`, `graph:loss -type:Placeholder`, `/dense_\d+/ bad`.
///
/// Grammar (words beside each other mean "and"):
///     query = [ or ]; or = and {("or" | "|") and}; and = not {["and"] not}; not = ["not" | "-" | "!"] prim
///     prim  = "(" or ")" | flag | text ":" match | number comparison value | number ":" range | match
/// Rules (rule.hpp) add what only they can ask: changes, totals, and for how long.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/regex.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Parses a query. Nothing, with `error`, if it can't be read or asks for more than the limits allow. Without `regexes`
/// regular expressions are such an error.
NANLENS_API std::optional<Query> parse(std::string_view text, Error& error, RegexCompiler regexes = nullptr);

/// The same of a rule's conditions.
NANLENS_API std::optional<Conditions> parse_conditions(std::string_view text, Error& error,
                                                       RegexCompiler regexes = nullptr);

/// The parts of a query that must all hold, as they are written; the whole query if "or" binds it at the top. From what
/// can't be read on, the rest is one part.
NANLENS_API std::vector<std::string> parts(std::string_view query);

}  // namespace nanlens::inline NANLENS_ABI::query

#if !defined(NANLENS_SPLIT)
#include <nanlens/query/parse.inl>
#endif
