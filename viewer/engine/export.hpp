/// @file
/// Rows and alerts as text: one JSON object or one CSV line each.
#pragma once

#include <chrono>
#include <string>

#include "alerts.hpp"
#include "rows.hpp"

namespace nanlens::viewer {

/// Name of a kind of badge: "dtype", "nan", …
const char* badge_kind_name(BadgeKind kind);

/// One line with everything that Graph Executions shows of a row, without a line break.
std::string row_text(const Row& row, bool csv);
std::string alert_text(const AlertLine& line, bool csv);

/// Makes the text of a list in parts, from what the list shows when each part is made.
class ListExport {
 public:
  /// "rows" (those that pass the filter, in their order) or "alerts".
  ListExport(std::string what, bool csv) : what_(std::move(what)), csv_(csv) {}

  /// The next part, made until `deadline` or until it has about a megabyte; complete if it is the last one.
  Exported step(RowFilter& rows, AlertList& alerts, std::chrono::steady_clock::time_point deadline);

 private:
  std::string what_;
  bool csv_;
  std::uint64_t next_ = 0;
};

}  // namespace nanlens::viewer
