/// @file
/// The rows of Graph Executions: which of them pass the filter, and those on screen in full.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "explain.hpp"
#include "filter.hpp"
#include "protocol.hpp"
#include "row_order.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Rows next to the selected one, for the words `input` and `consumer`.
struct RowRoles {
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> consumers;
};

/// Filters rows in slices and answers for windows of what passes.
class RowFilter {
 public:
  RowFilter(RunIndex& index, Explain& explain) : index_(index), explain_(explain), order_(index) {}

  /// Starts over with this query if it differs from the current one. A query that can't be read leaves the last valid
  /// one in force and is reported by `fill`.
  void set(const std::string& query, bool only_bad);
  /// Orders what passes by a column; true if that is another order than before.
  bool sort(const std::string& column, bool descending) { return order_.set(column, descending); }
  void set_roles(RowRoles roles);
  /// Rows that the word `pinned` means.
  void set_pinned(const std::vector<std::int64_t>& rows);
  /// Goes on filtering, then sorting, until `deadline`; true if rows are left.
  bool step(std::chrono::steady_clock::time_point deadline);
  /// Forgets all results, since rows' calls may have changed.
  void restart();
  /// Does the query ask what the cause analysis found?
  [[nodiscard]] bool uses_classes() const { return query_.uses_classes; }
  [[nodiscard]] bool filtered() const { return next_ >= index_.run().num_traces(); }
  [[nodiscard]] bool complete() const { return filtered() && order_.complete(); }

  /// How many rows pass, as far as it is known; which ones, in their order; and a row by its index.
  [[nodiscard]] std::uint64_t num_shown() const { return everything_ ? index_.run().num_traces() : hits_.size(); }
  [[nodiscard]] std::vector<std::uint32_t> shown() const;
  [[nodiscard]] Row describe(std::uint64_t row);
  /// Answers for a window of the rows that pass.
  [[nodiscard]] Rows fill(const View& view, std::int64_t focus_row);

 private:
  struct RowContext;
  bool leaf_matches_op(const filter::Node& node, std::uint32_t op, std::optional<reader::OpDetail>& detail);
  bool matches(const filter::Node& node, RowContext& row);
  bool matches_flag(filter::Flag flag, RowContext& row);
  bool matches_text(const filter::Node& node, RowContext& row);
  bool matches_number(const filter::Node& node, RowContext& row);
  bool passes(std::size_t row);
  [[nodiscard]] std::uint64_t row_at(std::uint64_t position) const {
    if (complete() && !order_.natural()) return order_.row_at(position);
    return passing(position);
  }
  // In the order of the file.
  [[nodiscard]] std::uint64_t passing(std::uint64_t position) const {
    return everything_ ? position : hits_[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] std::uint64_t position_of(std::int64_t row) const;
  // What the files say of a row, and the op type of a call. Kept, since rows on screen are described again and again
  // while a filter runs, and in the page each read takes a millisecond.
  const Row& recorded(std::uint64_t row);
  const std::string& call_name(std::uint32_t call);
  // Which words of the query the run's mode can't tell, as a sentence; "" if it tells all.
  [[nodiscard]] std::string missing_facts() const;
  void find_mode();

  RunIndex& index_;
  Explain& explain_;
  RowOrder order_;
  std::string text_;
  std::string asked_;
  bool only_bad_ = false;
  filter::Query query_;
  std::optional<filter::Error> error_;
  bool everything_ = true;
  bool counts_ = false;  // the run's mode counts kinds of values
  std::vector<std::uint32_t> hits_;
  static constexpr std::size_t most_kept = 512;
  std::unordered_map<std::uint64_t, Row> recorded_;
  std::unordered_map<std::uint32_t, std::string> call_names_;
  std::size_t next_ = 0;  // first row that has not been looked at
  RowRoles roles_;
  std::vector<std::int64_t> pinned_;
  std::vector<std::vector<std::uint8_t>> leaf_of_op_;  // [leaf][op]: 0 unknown, 1 no, 2 yes
};

}  // namespace nanlens::viewer
