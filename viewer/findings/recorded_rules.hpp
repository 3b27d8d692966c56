/// @file
/// What programs found by rules of their own while they recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/query.hpp>
#include <nanlens/query/rule.hpp>
#include <nanlens/reader/reader.hpp>

namespace nanlens::findings {

/// A rule that programs judged by.
struct RecordedRule {
  query::Rule rule;
  std::uint64_t hits = 0;          ///< at so many rows, as far as programs have ended in order
  bool stopped = false;            ///< it ended one
  std::uint64_t not_followed = 0;  ///< rows that it could not judge, of more outputs than are followed
  std::optional<bool> idle;        ///< it was about nothing that they did; nothing: none has ended in order
};

/// The rules of all programs that have ended in order, and those of others that held; one of several programs once.
std::vector<RecordedRule> recorded_rules(const reader::Logdir& logdir);

/// Where one held, by what programs noted themselves.
std::vector<query::Hit> recorded_hits(reader::Run& run, const query::Rule& rule);

/// The sentence of a finding, and what the program did about its rule.
std::string with_program(const std::string& sentence, const RecordedRule& rule);

}  // namespace nanlens::findings
