/// @file
/// What is wrong in a logdir, and how far it was looked at: made once, and written in every format from this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/mutes.hpp"

namespace nanlens::findings {

/// A line of a source file.
struct Place {
  std::string file;       ///< as recorded; empty: not on record
  std::string in_root;    ///< the same from the source root on, with '/'; empty if it is not below it
  std::int64_t line = 0;  ///< 0: not on record
  std::string function;   ///< without its parameters

  [[nodiscard]] bool known() const noexcept { return !file.empty() && line > 0; }
  /// The path to show.
  [[nodiscard]] const std::string& shown() const noexcept { return in_root.empty() ? file : in_root; }
};

/// One event on the way from a cause to the last that follows from it.
struct Step {
  std::string tensor;  ///< "Log:0"
  std::string where;   ///< "row 88"
  std::string what;    ///< "made here"
  Place place;
};

/// What a reader has to do about it: an error breaks results; a warning is an infinity that does no harm. Of rules it
/// is what the rule says.
enum class Level : std::uint8_t { error, warning, note };

/// Whether it makes the check fail.
enum class State : std::uint8_t {
  fresh,  ///< it does
  known,  ///< the baseline has it
  muted,  ///< a mark of a mutes file says that it is meant to be
};

/// One cause, or one rule that holds: what one op did on one line, however often.
struct Finding {
  std::string rule;  ///< "rc.log0": the kind of cause; or the name of a rule
  bool of_rule = false;
  std::string expression;  ///< of the rule
  Level level = Level::error;
  State state = State::fresh;
  std::string sentence;
  std::string consequence;
  std::string remedy;
  std::string op_type;
  std::string op_name;  ///< empty for most eager ops
  std::string graph;    ///< name of the op's graph; empty for eager ops
  std::string tensor;   ///< "Log:0"
  std::string where;    ///< "row 88", "execution 3"
  std::optional<std::uint32_t> row;
  std::optional<std::uint32_t> execution;
  Place place;
  std::vector<Step> chain;           ///< from the cause on
  std::uint64_t steps_left_out = 0;  ///< in the middle of the chain
  std::uint64_t reach = 0;           ///< bad tensors that follow from it
  std::uint64_t count = 0;           ///< how often it happened
  std::string confidence;            ///< "probably", "perhaps"; empty: no doubt to speak of
  std::string run_id;
  std::string host;         ///< if several processes recorded
  std::string fingerprint;  ///< the same for the same cause in another recording, whatever its line number
  std::string muted_by;     ///< "nanlens.mutes:4"
  std::string mute_reason;

  /// Does it make the check fail?
  [[nodiscard]] bool fails() const noexcept { return state == State::fresh && level == Level::error; }
  /// Bad tensors, or tensors of which the rule holds.
  [[nodiscard]] std::uint64_t tensors() const noexcept { return of_rule ? count : reach; }
};

/// What became of a rule.
struct RuleOutcome {
  std::string name;
  Level level = Level::error;
  std::string expression;
  std::string reason;
  std::uint64_t findings = 0;
  std::uint64_t rows = 0;      ///< that it is about, and that could be judged
  std::uint64_t unjudged = 0;  ///< that it is about, but what it asks is not on record
  std::uint64_t seen = 0;      ///< that it is about whatever their values
  std::string not_judged;      ///< why it could not be judged; empty if it could
  /// Of a rule of the program: how much it could not judge while that ran, in words; empty if all.
  std::string not_followed;
  std::optional<bool> idle;  ///< of a rule of the program: it was about nothing that it did
};

/// A file of rules that nobody named: it was found.
struct RuleFile {
  std::string name;
  std::uint64_t rules = 0;  ///< in it
};

/// What of a program's numbers was looked at. Nothing that the logdir does not tell.
struct Coverage {
  std::uint64_t runs = 0;
  std::uint64_t processes = 0;           ///< file sets
  std::vector<std::string> modes;        ///< of events all over the recording
  std::uint64_t traces = 0;              ///< rows: tensors of graphs
  std::uint64_t traces_checked = 0;      ///< those with health
  std::uint64_t executions = 0;          ///< eager ops and calls
  std::uint64_t executions_checked = 0;  ///< those with health of an output at least
  std::uint64_t graph_ops = 0;           ///< ops of graphs, as they were defined
  std::uint64_t graph_ops_seen = 0;      ///< those with a row
  std::uint64_t bad = 0;                 ///< tensors with a NaN or infinity
  std::uint64_t bad_runs = 0;
  std::uint64_t causes_unknown = 0;     ///< findings that can't tell what made it
  std::uint64_t traps = 0;              ///< findings that are trapped instructions
  std::uint64_t trapped = 0;            ///< places at which programs trapped exceptions themselves
  std::uint64_t lost = 0;               ///< events that could not be recorded, as the recorder counted them
  bool all_losses_known = true;         ///< that is all of them: every recording ended in order, and tells
  std::uint64_t unreadable = 0;         ///< faults of the logdir
  std::vector<std::string> unfinished;  ///< why more may have happened than is on record
  std::vector<std::string> left_out;    ///< what nobody wanted to be recorded
  std::optional<std::uint64_t> bytes;   ///< of the recording, if they could be counted

  [[nodiscard]] std::uint64_t events() const noexcept { return traces + executions; }
  [[nodiscard]] std::uint64_t checked() const noexcept { return traces_checked + executions_checked; }
};

/// What a baseline did.
struct Baseline {
  std::string path;
  std::set<std::string> fingerprints;
  std::uint64_t gone = 0;  ///< its findings that are not found any more

  [[nodiscard]] bool has(const std::string& fingerprint) const { return fingerprints.contains(fingerprint); }
};

/// How the check ends.
enum class Verdict : std::uint8_t { clean, findings, cannot_tell };

/// All that a format writes.
struct Report {
  std::string logdir;  ///< as it was named
  Place recording;     ///< the same as a file, without a line
  std::string root;    ///< the source root, absolute
  Verdict verdict = Verdict::clean;
  int exit_code = 0;
  std::string headline;  ///< the verdict in one line
  std::vector<Finding> findings;
  std::uint64_t causes_not_listed = 0;              ///< further ones, which are only counted; they are fresh
  std::array<std::uint64_t, 3> rules_not_listed{};  ///< further findings of rules, by their level
  Coverage coverage;
  std::vector<std::string> mute_files;
  std::vector<report::MuteProblem> mute_problems;
  std::optional<Baseline> baseline;
  std::vector<RuleOutcome> rules;
  std::vector<RuleFile> rule_files;
  bool bad = false;  ///< there is a NaN or infinity that does harm, and is neither muted nor known

  [[nodiscard]] std::uint64_t not_listed(bool of_rules) const noexcept {
    return of_rules ? rules_not_listed[0] + rules_not_listed[1] + rules_not_listed[2] : causes_not_listed;
  }
  [[nodiscard]] std::uint64_t not_listed() const noexcept { return not_listed(false) + not_listed(true); }
  /// Findings in a state.
  [[nodiscard]] std::uint64_t count(State state) const { return count(state, false) + count(state, true); }
  /// Findings of causes, or of rules, in a state.
  [[nodiscard]] std::uint64_t count(State state, bool of_rules) const {
    std::uint64_t n = state == State::fresh ? not_listed(of_rules) : 0;
    for (const Finding& finding : findings) n += finding.state == state && finding.of_rule == of_rules;
    return n;
  }
  /// Is there a cause that makes the check fail?
  [[nodiscard]] bool fails_by_cause() const {
    return causes_not_listed > 0 || std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
             return !finding.of_rule && finding.fails();
           });
  }
  /// Findings in the list that make the check fail.
  [[nodiscard]] std::uint64_t listed_failures() const {
    std::uint64_t n = 0;
    for (const Finding& finding : findings) n += finding.fails();
    return n;
  }
};

}  // namespace nanlens::findings
