/// @file
/// Judges a run by a rule, row by row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/calls.hpp>
#include <nanlens/query/row_matcher.hpp>
#include <nanlens/query/rule.hpp>
#include <nanlens/query/seen.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Where a rule holds: at one output of one op in one process, or, of a total, in the run.
struct Hit {
  EventRef row;         ///< the first; of a total without rows there is none
  std::string tensor;   ///< "Relu:0"
  std::string op_name;  ///< of an eager op without a name: empty
  std::string op_type;
  std::uint64_t count = 0;          ///< rows at which it holds
  std::vector<NumberSeen> numbers;  ///< of the first row
  std::vector<ChangeSeen> changes;
};

/// A row at which a rule holds.
struct HitRow {
  EventRef row;
  std::uint32_t hit = 0;  ///< its number in Judgement::hits
};

/// What became of a rule in a run.
struct Judgement {
  std::vector<Hit> hits;
  std::vector<HitRow> hit_rows;     ///< as many as are kept
  std::uint64_t hits_left_out = 0;  ///< that are not in the list
  std::uint64_t held = 0;           ///< rows at which it holds, whatever is listed
  std::uint64_t rows = 0;           ///< that the rule is about, and that could be judged
  std::uint64_t unjudged = 0;       ///< that it is about, but what it asks is not on record
  std::uint64_t seen = 0;  ///< that it is about whatever their values: also those that are not bad, if it asks that
  bool is_open = false;    ///< a total that those not judged would decide
  std::vector<std::string_view> missing;  ///< names in the rule: "max", "dtype"

  /// Nothing it is about could be judged; or not all that its total needs.
  [[nodiscard]] bool could_not_be_judged() const noexcept { return is_open || (rows == 0 && unjudged > 0); }
};

/// How much of what was found is listed; what is beyond is counted.
struct Kept {
  std::size_t hits = static_cast<std::size_t>(-1);
  std::size_t rows = 0;
};

/// Judges by one rule. A rule is about the rows that pass all of its conditions but those that ask numbers. A call of a
/// function is a row of its own only where none is on record of its inside, or where the rule asks of calls: what it
/// returns was made by an op in it.
class Judge {
 public:
  Judge(reader::Run& run, const Rule& rule, Surroundings& around, Kept kept = {});

  /// Looks at all rows of the run.
  Judgement judge();

  /// @name In slices, and on in a run that grows
  ///@{
  /// Looks at so many further rows, or at fewer whose names take long to be matched; true if it has seen all.
  bool advance(std::size_t rows);
  /// What was found so far.
  [[nodiscard]] Judgement judgement() const;
  [[nodiscard]] std::uint64_t rows_seen() const noexcept { return std::uint64_t{next_trace_} + next_execution_; }
  /// An estimate of what is remembered of single ops.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  ///@}

 private:
  // One output of one op in one process.
  struct State {
    Calls calls;
    std::size_t hit = 0;  // its number in the list + 1; 0: none
  };
  static constexpr std::size_t unlisted = static_cast<std::size_t>(-1);
  using Key = std::tuple<bool, std::uint32_t, std::int32_t, std::size_t>;  // execution, op, slot, process

  void look_at(EventRef row);
  void look_at_execution(std::size_t index);
  void pass_by(EventRef row, bool remember);
  [[nodiscard]] Key key_of(EventRef row);
  Truth ask_changes(State& state);
  void add_hit(State& state, EventRef row);
  void add_total(Judgement& judgement) const;
  void note_missing();
  [[nodiscard]] Hit describe(EventRef row);

  reader::Run& run_;
  const Rule& rule_;
  RowMatcher matcher_;
  ConditionsApart conditions_;
  bool remembers_ = false;  // it asks of several calls
  Kept kept_;
  std::size_t next_trace_ = 0;
  std::size_t next_execution_ = 0;
  std::map<Key, State> states_;
  std::map<std::string, std::uint32_t> eager_ops_;
  std::vector<ChangeSeen> changes_;  // of the row under test
  Judgement judgement_;
};

}  // namespace nanlens::inline NANLENS_ABI::query

#if !defined(NANLENS_SPLIT)
#include <nanlens/query/judge.inl>
#endif
