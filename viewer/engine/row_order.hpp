/// @file
/// The order of Graph Executions by a column. Rows are compared by one number each, which is worked out in slices.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "run_index.hpp"

namespace nanlens::viewer {

/// Can rows be sorted by this column? By its id, as in `row_columns`.
[[nodiscard]] bool is_sortable(const std::string& column);

/// Orders a list of rows. Rows that do not tell the value come last, equal ones stay in the order of the file.
class RowOrder {
 public:
  explicit RowOrder(RunIndex& index) : index_(index) {}

  /// By this column from now on; "" and "index" ascending: as in the file. True if it differs from before.
  bool set(const std::string& column, bool descending);
  /// Starts over; rows or their values have changed.
  void restart();
  /// As in the file, without an order of its own?
  [[nodiscard]] bool natural() const { return column_.empty(); }
  [[nodiscard]] bool complete() const { return natural() || sorted_; }
  [[nodiscard]] bool by_call() const { return natural() || column_ == "call"; }

  /// Goes on until `deadline`. Row `row_at(position)` of `count` ones is what `position` holds in the file's order.
  template <class RowAt>
  void step(std::uint64_t count, RowAt&& row_at, std::chrono::steady_clock::time_point deadline) {
    constexpr std::uint64_t slice = 512;
    while (entries_.size() < count) {
      const std::uint64_t end = std::min<std::uint64_t>(count, entries_.size() + slice);
      for (std::uint64_t i = entries_.size(); i < end; ++i) {
        const std::uint64_t row = row_at(i);
        entries_.push_back({value_of(row), static_cast<std::uint32_t>(row)});
      }
      if (std::chrono::steady_clock::now() >= deadline) return;
    }
    sort();
  }
  /// The row at a position; only if it is complete and not natural.
  [[nodiscard]] std::uint64_t row_at(std::uint64_t position) const {
    return order_[static_cast<std::size_t>(position)];
  }
  /// Where a row is; the number of rows if it is not there.
  [[nodiscard]] std::uint64_t position_of(std::uint64_t row) const;

 private:
  struct Entry {
    double value;
    std::uint32_t row;
  };
  [[nodiscard]] double value_of(std::uint64_t row);
  [[nodiscard]] double recorded_value(std::uint64_t row);
  void rank_ops();
  void sort();

  RunIndex& index_;
  std::string column_;
  bool descending_ = false;
  bool sorted_ = false;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> rank_of_op_;  // among the names, types or graphs of ops: whichever the column shows
};

}  // namespace nanlens::viewer
