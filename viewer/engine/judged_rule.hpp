/// @file
/// One rule and what became of it in a run: judged in slices, its hits put together by op and source line.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/rule.hpp>

#include "protocol.hpp"
#include "rule_limits.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// An op and a line at which a rule holds: what `nanlens check` calls a finding.
struct RulePlace {
  causes::EventRef first;
  std::string tensor;
  std::string place;  ///< "model.cpp:52"
  std::string facts;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> rows;  ///< numbers in Judgement::hit_rows
};

/// "model.cpp:52" of an event, and what tells its op and line from others, as `check` does.
class RulePlaces {
 public:
  explicit RulePlaces(reader::Run& run) : run_(run) {}
  struct Named {
    std::string place;
    std::string key;
  };
  [[nodiscard]] Named name(const query::Hit& hit);

 private:
  reader::Run& run_;
  std::map<std::string, std::string> line_texts_;  // reading a source is slow
};

/// Holds a rule where it is: its judge refers to it.
class JudgedRule {
 public:
  JudgedRule(query::Rule rule, std::string text) : rule_(std::move(rule)), text_(std::move(text)) {}
  JudgedRule(const JudgedRule&) = delete;
  JudgedRule& operator=(const JudgedRule&) = delete;

  [[nodiscard]] const query::Rule& rule() const noexcept { return rule_; }
  /// Does the other one ask the same? Then what was found holds for it, too.
  [[nodiscard]] bool asks_as(const query::Rule& other) const { return rule_.expression == other.expression; }
  void rename(const query::Rule& other) {
    rule_.name = other.name;
    rule_.level = other.level;
    rule_.reason = other.reason;
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Goes on for a while; true if there is more to do. `rows`: how many of them may be kept.
  bool step(reader::Run& run, query::Surroundings& around, RulePlaces& places, std::size_t rows);
  /// The run has grown; it has so many rows of graphs now. `anew`: what it has seen may have changed.
  void grow(bool anew, std::size_t num_traces);
  /// What it remembers of single ops goes; it begins anew when the run has grown.
  void forget_history() { judge_.reset(); }
  [[nodiscard]] std::size_t history_bytes() const { return judge_ ? judge_->memory_bytes() : 0; }
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// Has it ever been judged to the end?
  [[nodiscard]] bool was_judged() const noexcept { return was_judged_; }
  [[nodiscard]] std::uint64_t rows_seen() const { return judge_ ? judge_->rows_seen() : 0; }
  [[nodiscard]] bool uses_classes() const noexcept { return rule_.conditions.rows.uses_classes; }
  [[nodiscard]] bool uses_calls() const noexcept { return rule_.conditions.rows.uses_calls; }

  [[nodiscard]] const query::Judgement& found() const noexcept { return found_; }
  [[nodiscard]] const std::vector<RulePlace>& places() const noexcept { return places_; }
  [[nodiscard]] bool holds() const noexcept { return !found_.hits.empty(); }
  /// As many as hits are not listed, at most.
  [[nodiscard]] std::uint64_t num_places() const noexcept { return places_.size() + found_.hits_left_out; }
  [[nodiscard]] bool is_cut() const noexcept { return found_.held > found_.hit_rows.size() && !rule_.conditions.total; }

 private:
  void place_next(RulePlaces& places);
  void publish(std::size_t rows);

  query::Rule rule_;
  std::string text_;
  std::unique_ptr<query::Judge> judge_;
  std::size_t had_traces_ = 0;
  bool complete_ = false;
  bool was_judged_ = false;
  bool again_ = false;   // what it has seen may have changed already
  bool behind_ = false;  // there are more rows than when all had been seen
  query::Judgement found_;
  std::vector<RulePlace> places_;
  // On the way there.
  std::optional<query::Judgement> next_;
  std::vector<RulePlace> next_places_;
  std::vector<std::uint32_t> place_of_hit_;
  std::unordered_map<std::string, std::uint32_t> place_by_key_;
};

}  // namespace nanlens::viewer
