/// @file
/// Rules: what must not happen in a run, in the filter language and what it takes beyond one row.
///
///     dead relu: zero>95% type:Relu for 5 calls
///     warning exploding gradient: norm grows 10x in 3 calls type:*Grad -- the learning rate is too high
///     note no update: count=0 type:*Apply*
///
/// Grammar:
///     rule       = ["error" | "warning" | "note"] name ":" conditions [" -- " reason]
///     conditions = query [ "for" n "calls" ], where the query may have, beside all its other conditions,
///                  number ("grows" | "shrinks") factor "x in" n "calls"   and   "count" comparison number
/// Calls are those of one output of one op, in one process. A change compares magnitudes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>
#include <nanlens/query/regex.hpp>
#include <nanlens/query/rule_parts.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Reads one rule. Nothing, with `error`, whose place is one in `text`, if it can't be read.
NANLENS_API std::optional<Rule> parse_rule(std::string_view text, Error& error, RegexCompiler regexes = nullptr);

/// Reads one rule per line; empty lines, and those that begin with #, are none. Adds to `rules` up to the first fault.
NANLENS_API std::optional<RuleFault> parse_rules(std::string_view text, std::vector<Rule>& rules,
                                                 RegexCompiler regexes = nullptr);

/// The same of rules that a program judges by while it runs: what only the whole recording tells is a fault, as are
/// regular expressions.
NANLENS_API std::optional<RuleFault> parse_program_rules(std::string_view text, std::vector<Rule>& rules);

/// Adds a rule; false, with `error`, if another one has its name, or there are too many. `text`: as it was written.
NANLENS_API bool add_rule(std::vector<Rule>& rules, Rule rule, std::string_view text, Error& error);

}  // namespace nanlens::inline NANLENS_ABI::query

#if !defined(NANLENS_SPLIT)
#include <nanlens/query/rule.inl>
#endif
