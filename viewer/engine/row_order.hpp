/// @file
/// The order of Graph Executions by a column. Rows are compared by one number each, which is worked out in slices.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "row_source.hpp"

namespace nanlens::viewer {

/// Can rows be sorted by this column? By its id, as in `row_columns`.
[[nodiscard]] bool is_sortable(const std::string& column);

/// Orders a list of rows that only grows at its end. Rows that do not tell the value come last, equal ones stay in the
/// order of the file. While rows are added, the order so far stays in force; the new ones come into it all at once.
class RowOrder {
 public:
  explicit RowOrder(const RowSource& source) : source_(&source) {}

  /// By this column from now on; "" and "index" ascending: as in the file. True if it differs from before.
  bool set(const std::string& column, bool descending);
  /// Starts over; other rows are to be ordered.
  void restart();
  /// The run has grown: what is cheap to know of the rows in order is looked at again.
  void grow();
  /// As in the file, without an order of its own?
  [[nodiscard]] bool natural() const { return column_.empty(); }
  /// Is there an order of its own to be shown?
  [[nodiscard]] bool ready() const { return sorted_; }
  /// Are all of `count` rows in it?
  [[nodiscard]] bool complete(std::uint64_t count) const { return natural() || (sorted_ && entries_.size() == count); }
  [[nodiscard]] bool by_call() const { return natural() || column_ == "call"; }

  /// Goes on until `deadline`. Row `row_at(position)` of `count` ones is what `position` holds in the file's order.
  template <class RowAt>
  void step(std::uint64_t count, RowAt&& row_at, std::chrono::steady_clock::time_point deadline) {
    constexpr std::uint64_t slice = 512;
    while (entries_.size() + coming_.size() < count) {
      const std::uint64_t begin = entries_.size() + coming_.size();
      const std::uint64_t end = std::min<std::uint64_t>(count, begin + slice);
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t row = row_at(i);
        coming_.push_back({value_of(row), static_cast<std::uint32_t>(row)});
      }
      if (std::chrono::steady_clock::now() >= deadline) return;
    }
    merge();
  }
  /// Rows in order, and the row at a position; only if it is ready.
  [[nodiscard]] std::uint64_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t row_at(std::uint64_t position) const {
    return entries_[static_cast<std::size_t>(position)].row;
  }
  /// Where a row is; the number of rows if it is not there.
  [[nodiscard]] std::uint64_t position_of(std::uint64_t row) const;

 private:
  struct Entry {
    double value;
    std::uint32_t row;
  };
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;
  [[nodiscard]] double value_of(std::uint64_t row);
  [[nodiscard]] double recorded_value(std::uint64_t row);
  [[nodiscard]] double value_of_execution(std::uint64_t row);
  [[nodiscard]] double number_of_text(std::string text);
  void rank_ops();
  void rank_texts();
  void merge();

  const RowSource* source_;
  std::string column_;
  bool descending_ = false;
  bool sorted_ = false;
  std::vector<Entry> entries_;             // in order
  std::vector<Entry> coming_;              // in the order of the file
  std::vector<std::uint32_t> rank_of_op_;  // among the names, types or graphs of ops: whichever the column shows
  // Of executions, whose names are read one by one, the value is the number of the name, and names are ranked when all
  // are known.
  std::unordered_map<std::string, std::uint32_t> number_of_text_;
  std::vector<std::uint32_t> rank_of_text_;
};

}  // namespace nanlens::viewer
