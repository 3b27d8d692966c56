/// @file
/// What Graph Executions is made of: cells of a row, titles of columns, the filter above them.
#pragma once

#include <cstdint>
#include <string>

#include "panes/panes.hpp"

namespace nanlens::viewer {

/// What a row is to the selected one.
struct Role {
  enum class Kind : std::uint8_t { none, input, caller, consumer } kind = Kind::none;
  std::string text = {};  ///< "in 0", "caller", "c"
};
Role role_of(const App& app, const Row& row);

/// The cells of a row; in two lines where one pane fills a phone. `id` is that of the row.
void draw_cells(App& app, const Rect& rect, const Row& row, const Role& role, const std::string& id);
/// Titles of the columns. A click on one orders the rows by it.
void draw_column_titles(App& app, const Rect& bar);
/// The filter's box with its buttons and its count, its parts, and what is wrong with it: cut off `area`.
void draw_rows_filter(App& app, Rect& area);

}  // namespace nanlens::viewer
