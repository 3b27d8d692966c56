/// @file
/// Rules in the recording program: DumpOptions::rules and NANLENS_RULES. A program that includes <nanlens/nanlens.hpp>
/// as headers alone includes this one, too, in one of its files; with `nanlens::compiled` it is there already.
///
/// The grammar is that of query/rule.hpp, without regular expressions and without what only the whole recording tells:
/// `count`, `first`, the words of the analysis, calls, lines and rows.
#pragma once

#include <nanlens/config.hpp>

#if !defined(NANLENS_DISABLE)
#include <nanlens/capture/rule_book.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

NANLENS_HIDDEN inline const bool has_rule_engine = (own_rule_engine = &rule_engine, true);

}  // namespace nanlens::inline NANLENS_ABI::detail
#endif
