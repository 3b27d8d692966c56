/// @file
/// Rows and alerts as text: one JSON object or one CSV line each.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alerts.hpp"
#include "rows.hpp"

namespace nanlens::viewer {

/// One line with everything that Graph Executions shows of a row, without a line break.
std::string row_text(const Row& row, bool csv);
std::string alert_text(const AlertLine& line, bool csv);

/// Makes the text of a list in parts. Its lines are those that the list shows when the first part is made.
class ListExport {
 public:
  /// "rows" (those that pass the filter, in their order) or "alerts".
  ListExport(std::string what, bool csv) : what_(std::move(what)), csv_(csv) {}

  [[nodiscard]] const std::string& what() const { return what_; }
  /// The next part, made until `deadline` or until it has about a megabyte; complete if it is the last one.
  Exported step(RowFilter& rows, AlertList& alerts, std::chrono::steady_clock::time_point deadline);

 private:
  std::string what_;
  bool csv_;
  std::optional<std::vector<std::uint32_t>> indices_;  // of rows or alerts
  std::size_t next_ = 0;
};

/// What a file of a tensor's values is called after: "row88-input1", "execution3-output0"; −1: the output.
std::string tensor_in_name(const Focus& focus, std::int32_t input);

/// A report as the only part of its list.
Exported whole_report(std::string text);

}  // namespace nanlens::viewer
