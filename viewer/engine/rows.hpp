/// @file
/// The rows of Graph Executions (row_source.hpp): which of them pass the filter, and those on screen in full.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nanlens/query/query.hpp>
#include <nanlens/query/row_matcher.hpp>

#include "explain.hpp"
#include "protocol.hpp"
#include "row_order.hpp"
#include "row_source.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Why a query is not in force: which part of it, and the reason in the language of the viewer.
struct FilterError {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string reason;
};

/// What is wrong with a query, in the language of the viewer.
std::string filter_error_text(const query::Error& error);

/// Cells of a minimap, however many are asked for.
inline constexpr std::uint32_t most_minimap_cells = 1 << 14;

/// The rows that pass a query, as far as they have been looked at, and their order.
struct RowList {
  explicit RowList(const RowSource& source) : order(source) {}

  std::vector<std::uint32_t> hits;  // in the order of the file; none if everything passes
  std::size_t next = 0;             // first row that has not been looked at
  RowOrder order;
};

/// Filters rows in slices and answers for windows of what passes. What is on show is only ever added to while the run
/// grows; where an answer may have changed for rows on show, a new list is made beside and takes the place when it is
/// complete.
class RowFilter {
 public:
  RowFilter(RunIndex& index, Explain& explain)
      : index_(index),
        source_(index),
        explain_(explain),
        around_(*this),
        matcher_(index.run(), around_),
        shown_(source_) {}

  /// Starts over with this query if it differs from the current one. A query that can't be read leaves the last valid
  /// one in force and is reported by `fill`.
  void set(const std::string& text, bool only_bad);
  /// Orders what passes by a column; true if that is another order than before.
  bool sort(const std::string& column, bool descending);
  /// What is next to what is selected, for the words `input` and `consumer`.
  void set_roles(const Selection& selection);
  /// Rows of graphs that the word `pinned` means.
  void set_pinned(const std::vector<std::int64_t>& rows);
  /// Goes on filtering, then sorting, until `deadline`; true if rows are left.
  bool step(std::chrono::steady_clock::time_point deadline);
  /// Forgets all results.
  void restart();
  /// The run has grown. `loading`: reading has not come to its end yet.
  void grow(bool loading);
  /// The cause analysis has come to its end.
  void explained();
  /// The language has changed.
  void say_again();
  /// Gives up on a query that could not be worked out; everything is shown, and `reason` with it.
  void give_up(const std::string& reason);
  [[nodiscard]] bool filtered() const { return shown_.next >= source_.size(); }
  [[nodiscard]] bool complete() const { return is_complete(shown_) && !renewed_; }

  /// How many rows pass, as far as it is known; which ones, in their order; and a row by its index.
  [[nodiscard]] std::uint64_t num_shown() const {
    return shown_.order.ready() ? shown_.order.size() : num_passing(shown_);
  }
  [[nodiscard]] std::vector<std::uint32_t> shown() const;
  [[nodiscard]] Row describe(std::uint64_t row);
  /// What rules say of each row, MinimapSign; none, or empty: nothing.
  void set_signs(const std::vector<std::uint8_t>* signs) { signs_ = signs; }
  /// Answers for a window of the rows that pass.
  [[nodiscard]] Rows fill(const View& view, const Focus& focus);

 private:
  // What the panes know of rows, for the words of a query.
  class Around final : public query::Surroundings {
   public:
    explicit Around(const RowFilter& filter) : filter_(filter) {}
    causes::EventClass class_of(causes::EventRef row) override;
    bool is_pinned(causes::EventRef row) override;
    bool is_input(causes::EventRef row) override;
    bool is_consumer(causes::EventRef row) override;

   private:
    const RowFilter& filter_;
  };
  bool passes(std::size_t row);
  void renew();
  void step(RowList& list, std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] bool definitions_changed();
  [[nodiscard]] bool is_complete(const RowList& list) const {
    return list.next >= source_.size() && list.order.complete(num_passing(list));
  }
  [[nodiscard]] std::uint64_t num_passing(const RowList& list) const {
    return everything_ ? list.next : list.hits.size();
  }
  [[nodiscard]] std::uint64_t row_at(std::uint64_t position) const {
    return shown_.order.ready() ? shown_.order.row_at(position) : passing(shown_, position);
  }
  // In the order of the file.
  [[nodiscard]] std::uint64_t passing(const RowList& list, std::uint64_t position) const {
    return everything_ ? position : list.hits[static_cast<std::size_t>(position)];
  }
  void fill_window(const View& view, Rows& rows);
  void fill_focus(std::int64_t focus_row, Rows& rows) const;
  void fill_minimap(const View& view, Rows& rows) const;
  void fill_minimap_of_run(Rows& rows) const;
  void fill_minimap_of_list(Rows& rows) const;
  // What rules say is told of rows of graphs.
  [[nodiscard]] std::uint8_t signs_of(std::size_t row) const {
    return signs_ != nullptr && !source_.of_executions() && row < signs_->size() ? (*signs_)[row] : std::uint8_t{0};
  }
  [[nodiscard]] std::uint64_t position_of(std::int64_t row) const;
  // What the files say of a row, and the op type of a call. Kept, since rows on screen are described again and again
  // while a filter runs, and in the page each read takes a millisecond.
  const Row& recorded(std::uint64_t row);
  const std::string& call_name(std::uint32_t call);
  // Which words of the query the run's mode can't tell, as a sentence; "" if it tells all.
  [[nodiscard]] std::string missing_facts() const;

  RunIndex& index_;
  RowSource source_;
  Explain& explain_;
  std::string text_;
  std::string asked_;
  bool only_bad_ = false;
  query::Query query_;
  std::optional<FilterError> error_;
  bool everything_ = true;
  Around around_;
  query::RowMatcher matcher_;
  RowList shown_;
  std::optional<RowList> renewed_;  // will take the place of `shown_`
  bool renew_again_ = false;        // what `renewed_` has seen may have changed already
  static constexpr std::size_t most_kept = 512;
  std::unordered_map<std::uint64_t, Row> recorded_;
  std::unordered_map<std::uint32_t, std::string> call_names_;
  std::vector<std::int64_t> inputs_;  // in order, as consumers_
  std::vector<std::int64_t> consumers_;
  const std::vector<std::uint8_t>* signs_ = nullptr;
  std::vector<std::int64_t> pinned_;
  std::size_t num_declared_ = 0;  // graphs and ops, when they were last looked at
  std::size_t num_undeclared_ = 0;
};

}  // namespace nanlens::viewer
