/// @file
/// What Graph Executions is made of: cells of a row, titles of columns, the filter above them.
#pragma once

#include <cstdint>
#include <string>

#include "panes/panes.hpp"

namespace nanlens::viewer {

/// What a row is to the selected one.
struct Role {
  enum class Kind : std::uint8_t { none, input, caller, consumer, twin } kind = Kind::none;
  std::string text = {};  ///< "in 0", "caller", "c", "1 of 3"
};
Role role_of(const App& app, const Row& row);

[[nodiscard]] float row_height(const App& app);
/// A row with everything that the mouse does to it. `position` among the rows shown; −1: the copy above the list of a
/// pinned row.
void draw_row(App& app, const Rect& rect, const Row& row, const Role& role, std::int64_t position);
/// Pinned rows above the list, and what differs between those of one tensor: cut off `area`.
void draw_pins(App& app, Rect& area);
/// Where bad rows, hits of the filter, calls, pins and the selection are. True while it is dragged.
bool draw_minimap(App& app, const Rect& area);
/// Where in the run a fast drag has come to, beside the mouse.
void draw_bubble(App& app, const Row& top);

/// The cells of a row; in two lines where one pane fills a phone. `id` is that of the row.
void draw_cells(App& app, const Rect& rect, const Row& row, const Role& role, const std::string& id);
/// Titles of the columns. A click on one orders the rows by it.
void draw_column_titles(App& app, const Rect& bar);
/// The filter's box with its buttons and its count, its parts, and what is wrong with it: cut off `area`.
void draw_rows_filter(App& app, Rect& area);

}  // namespace nanlens::viewer
