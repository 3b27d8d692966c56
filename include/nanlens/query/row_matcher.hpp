/// @file
/// Asks rows of a run whether they fulfil a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/row_record.hpp>
#include <nanlens/query/surroundings.hpp>
#include <nanlens/query/truth.hpp>
#include <nanlens/reader/stack.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Holds for a filter: a condition on what is not on record is false, and its negation true. For a rule: nothing is
/// known of it then, as of all that depends on it.
enum class Unrecorded : std::uint8_t { is_false, is_unknown };

/// Matches the rows of one run. What is asked of an op's name, type, graph or stack is asked once per op.
class RowMatcher {
 public:
  RowMatcher(reader::Run& run, Surroundings& around, Unrecorded unrecorded = Unrecorded::is_false)
      : run_(run), around_(around), unrecorded_(unrecorded), reader_(run) {}

  /// Takes another query; `restart` besides, and whenever the run's definitions have changed.
  void set(const Query& query) {
    query_ = query;
    restart();
  }
  /// Forgets what was found of ops.
  void restart() {
    leaf_of_op_.assign(query_.leaves, {});
    kinds_told_.reset();
    reader_.forget();
  }
  [[nodiscard]] Truth truth(EventRef row) {
    begin(row);
    return ask(query_.root);
  }
  [[nodiscard]] bool passes(EventRef row) { return truth(row) == Truth::yes; }

  /// @name Of one row
  ///@{
  /// Turns to a row without asking anything.
  void begin(EventRef row) {
    reader_.begin(row);
    missing_.clear();
  }
  /// Asks it another part of the query.
  [[nodiscard]] Truth also(const Node& node) { return ask(node); }
  /// Its record; null if it can't be read.
  const RowRecord* record() { return reader_.record(); }
  /// The execution whose output it is.
  const std::optional<reader::ExecutionDetail>& execution() { return reader_.execution(); }
  /// What was asked for in vain: "max", "dtype". Filters do not note it.
  [[nodiscard]] const std::vector<std::string_view>& missing() const noexcept { return missing_; }
  void note_missing(std::string_view name);
  ///@}

  /// Bytes of names that were matched, for those who work in slices of time.
  [[nodiscard]] std::size_t effort() const noexcept { return effort_; }
  void reset_effort() noexcept { effort_ = 0; }

 private:
  // Does a text condition hold for all rows of an op? `by_slot`: it depends on which output a row is of.
  enum class OfOp : std::uint8_t { unknown, no, yes, by_slot, not_recorded };
  Truth not_recorded(std::string_view name) {
    note_missing(name);
    return unrecorded_ == Unrecorded::is_false ? Truth::no : Truth::unknown;
  }
  Truth ask(const Node& node);
  Truth ask_leaf(const Node& node);
  Truth ask_flag(Flag flag);
  bool lacks_health();
  bool ask_class_flag(Flag flag, bool bad);
  Truth ask_text(const Node& node);
  Truth ask_text_of_execution(const Node& node);
  Truth ask_record_text(const Node& node);
  Truth ask_dtype(const Match& match);
  bool ask_class(const Node& node);
  Truth ask_number(const Node& node);
  Truth ask_tensor_number(const Node& node);
  Truth ask_line(const Node& node);
  OfOp leaf_of_op(const Node& node, std::uint32_t op);
  bool leaf_matches_op(const Node& node, std::uint32_t op);
  bool any_frame(const std::vector<reader::StackFrame>& frames, const Node& node) const;
  std::vector<reader::StackFrame> stack();
  [[nodiscard]] std::uint8_t flags() const;
  [[nodiscard]] std::uint32_t call() const;
  bool kinds_told();

  reader::Run& run_;
  Surroundings& around_;
  Unrecorded unrecorded_;
  RowReader reader_;
  Query query_;
  std::vector<std::vector<OfOp>> leaf_of_op_;  // [leaf][op]
  std::optional<bool> kinds_told_;
  std::vector<std::string_view> missing_;
  std::size_t effort_ = 0;
};

}  // namespace nanlens::inline NANLENS_ABI::query

#if !defined(NANLENS_SPLIT)
#include <nanlens/query/row_matcher.inl>
#endif
