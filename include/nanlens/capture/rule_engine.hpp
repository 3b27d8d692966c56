/// @file
/// What judges recorded outputs by rules, as the recorder sees it: plain structs and a table of functions, so that only
/// those bring the language of rules who use it. <nanlens/capture/rules.hpp> is the one there is.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/recorded_health.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// One recorded output of one op. It tells what the record tells, and no more.
struct RuleEvent {
  TextRef op_name;  ///< of an op without one: its type
  TextRef op_type;
  TextRef graph_name;
  TextRef device;
  std::uint64_t op_key = 0;  ///< of the op's output: its calls have the same
  std::int32_t slot = 0;
  std::int32_t mode = 0;
  bool is_execution = false;
  std::uint8_t row_flags = 0;  ///< of an execution: of all its outputs
  logdir::TensorHealth health;
  bool has_statistics = false;
  double min = 0;
  double max = 0;
  double mean = 0;
  double norm = 0;
};

/// A rule, as far as others see it.
struct RuleRef {
  TextRef name;
  TextRef level;
  TextRef expression;
  TextRef reason;
  bool is_error = false;
};

/// A rule that holds.
struct RuleHolds {
  std::size_t rule = 0;
  std::uint64_t hits = 0;      ///< at how many rows by now
  bool first_of_rule = false;  ///< nowhere before
  TextRef numbers;
};

/// What became of a rule so far.
struct RuleCounts {
  std::uint64_t hits = 0;          ///< rows at which it has held
  std::uint64_t not_followed = 0;  ///< rows that it could not judge, of more outputs than are followed
  bool idle = true;                ///< it was about no output
};

/// Which rules may be about an output, as a bit for each; the last one stands for all from there on.
struct RulesAbout {
  std::uint64_t rules = 0;
  std::uint64_t selected = 0;  ///< among them: what they ask besides values, calls and numbers holds
};

/// What rules are read for.
struct RuleTexts {
  const TextRef* items = nullptr;  ///< each a rule, "standard", or @ and the path of a file of rules
  std::size_t num_items = 0;
  std::int32_t mode = 0;    ///< of the recording
  bool statistics = false;  ///< it has them
};

struct RuleEngine {
  /// Null: there is no rule. `say` is told of each that can't be read or judged, in a thread that records if that is
  /// known only then.
  void* (*begin)(const RuleTexts& texts, void (*say)(void* to, TextRef what), void* to) noexcept;
  void (*end)(void* engine) noexcept;
  std::size_t (*num_rules)(const void* engine) noexcept;
  RuleRef (*rule)(const void* engine, std::size_t number) noexcept;
  RuleCounts (*counts)(const void* engine, std::size_t number) noexcept;
  /// Does any rule ask minimum, maximum, mean or norm?
  bool (*asks_statistics)(const void* engine) noexcept;
  /// Which rules may be about this output of this op where it has this dtype. Asks nothing else that calls differ in.
  RulesAbout (*about)(const void* engine, const RuleEvent& event) noexcept;
  /// Judges by those rules. `take` gets each that holds at an output where it has not held before.
  void (*judge)(void* engine, const RulesAbout& about, const RuleEvent& event,
                void (*take)(void* to, const RuleHolds& what), void* to) noexcept;
};

/// The one that this program or library contains; null: none.
NANLENS_HIDDEN inline constinit const RuleEngine* own_rule_engine = nullptr;

}  // namespace nanlens::inline NANLENS_ABI::detail
