/// @file
/// The rules by which a run is judged while it is looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explain.hpp"
#include "judged_rule.hpp"
#include "protocol.hpp"
#include "rules_text.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Judges in slices, the rule that is written just now before all others.
class RuleBook {
 public:
  RuleBook(RunIndex& index, Explain& explain)
      : index_(index), explain_(explain), around_(explain), places_(index.run()) {}

  /// Takes rules in place of those before. What asks the same as one of them is not judged again.
  void set(const std::vector<RulesText>& texts);
  /// Takes the rule that is written just now, in place of the one before; that one is given up.
  void set_draft(const RulesView& view);
  /// The run has grown.
  void grow();
  /// The cause analysis has come to its end: rules that ask of it can be judged.
  void explained();
  /// It was given up: they can't.
  void unexplained() { unexplained_ = true; }
  /// Goes on until `deadline`; true if there is more to do.
  bool step(std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool draft_complete() const;
  /// Gives up on what could not be worked out.
  void give_up(const std::string& reason);

  [[nodiscard]] RuleList fill(const RulesView& view);
  /// The next hit of a rule from what is selected, the first behind the last; empty with `notice` if there is none.
  [[nodiscard]] Focus step_hit(const std::string& rule, const Focus& from, std::int64_t direction, std::string& notice);
  /// Which rows of graphs rules hold at: MinimapSign of each row, as far as they are listed. Empty if none does.
  [[nodiscard]] const std::vector<std::uint8_t>& signs();
  /// Adds them to the boxes of executions at which rules hold, or at rows of which.
  void mark(Timeline& timeline);
  /// Have they changed?
  [[nodiscard]] bool signs_due() const noexcept { return signs_due_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  // The analysis; nothing that is selected or pinned, as in `check`.
  class Around final : public query::Surroundings {
   public:
    explicit Around(Explain& explain) : explain_(explain) {}
    causes::EventClass class_of(causes::EventRef row) override {
      return row.is_execution ? explain_.of_output(row.index, row.slot) : explain_.of_row(row.index);
    }

   private:
    Explain& explain_;
  };
  struct Entry {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::string text;
    RuleParts parts;
    bool off = false;
    query::Error error;
    std::string failure;               // why it was given up
    std::unique_ptr<JudgedRule> rule;  // none: it can't be read
  };
  struct Taken;
  void take(const RulesText& text, Entry entry, Taken& taken);
  [[nodiscard]] std::unique_ptr<JudgedRule> judged(query::Rule rule, const std::string& text);
  [[nodiscard]] bool waits(const JudgedRule& rule) const { return rule.uses_classes() && !explain_.complete(); }
  [[nodiscard]] JudgedRule* next_rule();
  [[nodiscard]] std::size_t rows_left(const JudgedRule& rule) const;
  void bound_history();
  [[nodiscard]] bool definitions_changed();
  [[nodiscard]] const Entry* entry_of(const std::string& name) const;
  [[nodiscard]] const Entry* named(const std::string& name) const;
  [[nodiscard]] const Entry* holding(const std::string& name) const;
  [[nodiscard]] RuleState state_of(const Entry& entry) const;
  [[nodiscard]] std::string why_given_up(const Entry& entry) const;
  [[nodiscard]] std::string problem_of(const Entry& entry) const;
  [[nodiscard]] RuleDraft describe_draft() const;
  [[nodiscard]] RuleLine describe(const Entry& entry) const;
  [[nodiscard]] RuleLine describe(const RulePlace& place) const;
  [[nodiscard]] RuleLine describe(causes::EventRef row, const RulePlace& place) const;
  void count(RuleList& list) const;
  class Window;
  void add_place(const Entry& entry, const RulePlace& place, const std::string& key, Window& window) const;
  void find_signs();

  RunIndex& index_;
  Explain& explain_;
  Around around_;
  RulePlaces places_;
  std::vector<Entry> entries_;
  std::size_t num_left_out_ = 0;                    // lines of rules that are no entries
  std::vector<std::unique_ptr<JudgedRule>> spare_;  // of the rules before, while others are set
  RulesView asked_;                                 // draft and draft_of alone
  Entry draft_;
  bool has_draft_ = false;
  std::vector<std::uint8_t> signs_;
  std::vector<std::uint8_t> call_signs_;
  bool signs_due_ = true;
  bool unexplained_ = false;
  std::string last_;  // whose hits were stepped through
  std::size_t num_declared_ = 0;
  std::size_t num_undeclared_ = 0;
};

}  // namespace nanlens::viewer
