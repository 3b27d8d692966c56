// The cells of a row of Graph Executions, and the titles above them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/badges.hpp"
#include "engine/row_order.hpp"
#include "panes/rows_parts.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"

namespace nanlens::viewer {

namespace {

struct Column {
  const char* id;
  Text title;
  float width;       // 0: takes what is left
  float from_width;  // shown by default in panes at least this wide
};

constexpr std::array<Column, 12> columns = {{{"index", Text::column_index, 64, 0},
                                             {"tensor", Text::column_tensor, 0, 0},
                                             {"op", Text::column_op, 92, 380},
                                             {"health", Text::column_health, 190, 0},
                                             {"dtype", Text::column_dtype, 74, 620},
                                             {"shape", Text::column_shape, 74, 660},
                                             {"size", Text::column_size, 72, 700},
                                             {"graph", Text::column_graph, 110, 900},
                                             {"call", Text::column_call, 62, 960},
                                             {"time", Text::column_time, 84, 1100},
                                             {"device", Text::column_device, 100, 1200},
                                             {"job_rank", Text::column_job_rank, 44, 0}}};

bool is_shown(const App& app, const Column& c, float width) {
  if (std::strcmp(c.id, "job_rank") == 0 && !app.several_ranks()) return false;
  const bool of_graphs = std::strcmp(c.id, "graph") == 0 || std::strcmp(c.id, "call") == 0;
  if ((of_graphs && app.rows.of_executions) || app.rows_pane.hidden.contains(c.id)) return false;
  return app.rows_pane.forced.contains(c.id) || width >= c.from_width;
}

struct Cells {
  std::array<Rect, columns.size()> at{};
  std::array<bool, columns.size()> shown{};
};

Cells cells_of(const App& app, const Rect& row) {
  const Ui& ui = app.ui;
  Cells cells;
  const float logical = row.w / ui.scale;
  float fixed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    cells.shown[i] = is_shown(app, columns[i], logical);
    if (cells.shown[i]) fixed += ui.px(columns[i].width);
  }
  // Health gives way first, then it grows with the room there is.
  const float health = std::clamp(row.w - fixed - ui.px(120), -ui.px(80), ui.px(200));
  const float rest = std::max(ui.px(90), row.w - fixed - health);
  float x = row.x;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!cells.shown[i]) continue;
    float w = columns[i].width == 0 ? rest : ui.px(columns[i].width);
    if (std::strcmp(columns[i].id, "health") == 0) w += health;
    cells.at[i] = Rect{x, row.y, w, row.h}.inset(ui.px(4), 0);
    x += w;
  }
  return cells;
}

std::vector<Badge> health_badges(const Row& row, const Cells& cells) {
  std::vector<Badge> out;
  for (const Badge& b : row.badges) {
    const bool own_column = (b.kind == BadgeKind::dtype && cells.shown[4]) ||
                            ((b.kind == BadgeKind::rank || b.kind == BadgeKind::shape) && cells.shown[5]) ||
                            (b.kind == BadgeKind::size && cells.shown[6]);
    if (!own_column) out.push_back(b);
  }
  return out;
}

// The bar, then the numbers. Where all is finite the bar says enough, but for zeros: they are what NaN is made of.
void draw_health(Ui& ui, Rect cell, const std::vector<Badge>& all, std::vector<Badge> badges) {
  if (cell.w >= ui.px(health_bar_width + 70)) {
    const float width = draw_health_bar(ui, cell, all);
    if (width > 0) {
      cell.cut_left(width + ui.px(6));
      if (!is_bad(all))
        std::erase_if(badges, [](const Badge& b) { return b.kind == BadgeKind::neg || b.kind == BadgeKind::pos; });
    }
  }
  ui.badges({cell.x, cell.y}, cell.w, cell.h, badges);
}

void draw_index(Ui& ui, Rect cell, const Row& row, bool focused) {
  if (focused)
    ui.text_in(cell, ui.sans, 11, ui.theme.text, "▶");
  else if (row.bad || row.event_class == EventClass::killer)
    ui.text_in(cell, ui.sans, 11, row.bad ? ui.theme.bad : ui.theme.text,
               row.event_class == EventClass::clean ? "▲" : class_sign(row.event_class));
  cell.cut_left(ui.px(14));
  ui.text_in(cell, ui.mono, 12, ui.theme.dim, std::to_string(row.index), Ellipsis::left, true);
}

void draw_name(Ui& ui, Rect cell, const Row& row, const Role& role, const std::string& id) {
  const bool plain = role.kind == Role::Kind::consumer || role.kind == Role::Kind::twin;
  if (role.kind != Role::Kind::none)
    cell.cut_right(ui.tag({cell.right() - ui.text_width(ui.mono, 11, role.text) - ui.px(8), cell.y}, cell.h, role.text,
                          plain ? ui.theme.badge : ui.theme.warnsoft, plain ? ui.theme.onbadge : ui.theme.warn) +
                   ui.px(4));
  ui.mark(id + ":name", cell);
  ui.text_in(cell, ui.mono, 12, ui.theme.link, row.op_name + ":" + std::to_string(row.slot), Ellipsis::left);
}

void draw_facts(App& app, const Cells& cells, const Row& row, const std::string& id) {
  Ui& ui = app.ui;
  const auto text = [&](std::size_t i, const std::string& value, bool right = false) {
    if (cells.shown[i]) ui.text_in(cells.at[i], ui.mono, 12, ui.theme.text, value, Ellipsis::left, right);
  };
  if (const Badge* b = find_badge(row.badges, BadgeKind::dtype)) text(4, b->text);
  if (const Badge* b = find_badge(row.badges, BadgeKind::shape))
    text(5, b->text);
  else if (const Badge* rank = find_badge(row.badges, BadgeKind::rank))
    text(5, format_badge(*rank));
  if (const Badge* b = find_badge(row.badges, BadgeKind::size)) text(6, format_short_count(b->number), true);
  text(7, row.graph_name);
  if (cells.shown[8] && row.execution >= 0 &&
      ui.link(id + ":call", cells.at[8], ui.mono, 12, "#" + std::to_string(row.execution)))
    app.command("focus_execution", {{"index", row.execution}});
  text(9, format_time(row.time), true);
  text(10, device_name(row.device));
  if (row.job_rank >= 0) text(11, std::to_string(row.job_rank), true);
}

// Name above op and health.
void draw_two_lines(Ui& ui, Rect rect, const Row& row, const Role& role, const std::string& id, bool focused) {
  const Rect index = rect.cut_left(ui.px(58)).inset(ui.px(4), 0);
  draw_index(ui, {index.x, index.y, index.w, rect.h / 2}, row, focused);
  rect = rect.inset(ui.px(4), ui.px(2));
  draw_name(ui, rect.cut_top(rect.h / 2), row, role, id);
  const Rect op = rect.cut_left(std::min(rect.w * 0.34f, ui.px(110)));
  ui.text_in({op.x, op.y, op.w - ui.px(6), op.h}, ui.mono, 12, ui.theme.text, row.op_type.empty() ? "?" : row.op_type);
  draw_health(ui, rect, row.badges, row.badges);
}

}  // namespace

namespace {

Role role_of_execution(const App& app, const Row& row) {
  const auto is_it = [&row](const Focus& place) { return place.execution == row.execution; };
  const auto& inputs = app.selection.neighbourhood.inputs;
  const auto& consumers = app.selection.consumer_places;
  std::string slots;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].execution == row.execution) slots += (slots.empty() ? "" : ", ") + std::to_string(k);
  if (!slots.empty()) return {Role::Kind::input, tr(Text::rows_role_inputs, {{"slots", slots}})};
  if (std::any_of(consumers.begin(), consumers.end(), is_it))
    return {Role::Kind::consumer, tr(Text::rows_role_consumer)};
  return {};
}

}  // namespace

Role role_of(const App& app, const Row& row) {
  if (row.is_execution) return role_of_execution(app, row);
  const auto index = static_cast<std::int64_t>(row.index);
  const auto& consumers = app.selection.consumer_rows;
  std::string slots;
  for (std::size_t k = 0; k < app.selection.input_rows.size(); ++k)
    if (app.selection.input_rows[k] == index) slots += (slots.empty() ? "" : ", ") + std::to_string(k);
  if (!slots.empty()) return {Role::Kind::input, tr(Text::rows_role_inputs, {{"slots", slots}})};
  if (app.selection.caller_row == index) return {Role::Kind::caller, tr(Text::rows_role_caller)};
  if (std::find(consumers.begin(), consumers.end(), index) != consumers.end())
    return {Role::Kind::consumer, tr(Text::rows_role_consumer)};
  return {};
}

void draw_cells(App& app, const Rect& rect, const Row& row, const Role& role, const std::string& id) {
  Ui& ui = app.ui;
  const bool focused = app.is_focused(row);
  if (ui.finger) return draw_two_lines(ui, rect, row, role, id, focused);
  const Cells cells = cells_of(app, rect);
  if (cells.shown[0]) draw_index(ui, cells.at[0], row, focused);
  if (cells.shown[1]) draw_name(ui, cells.at[1], row, role, id);
  if (cells.shown[2]) ui.text_in(cells.at[2], ui.mono, 12, ui.theme.text, row.op_type.empty() ? "?" : row.op_type);
  if (cells.shown[3]) draw_health(ui, cells.at[3], row.badges, health_badges(row, cells));
  draw_facts(app, cells, row, id);
}

void draw_column_titles(App& app, const Rect& bar) {
  Ui& ui = app.ui;
  const Cells cells = cells_of(app, bar);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!cells.shown[i]) continue;
    const bool right = i == 0 || i == 6 || i == 9 || i == 11;
    const bool sorted = app.rows_pane.sort == columns[i].id;
    const std::string title = tr(columns[i].title) + std::string(!sorted                         ? ""
                                                                 : app.rows_pane.sort_descending ? " ↓"
                                                                                                 : " ↑");
    if (!is_sortable(columns[i].id)) {
      ui.text_in(cells.at[i], ui.sans, 11, ui.theme.dim, title, Ellipsis::right, right);
      continue;
    }
    const Hit hit = ui.item(std::string("sort:") + columns[i].id, cells.at[i]);
    ui.text_in(cells.at[i], ui.sans, 11, sorted || hit.hovered ? ui.theme.link : ui.theme.dim, title, Ellipsis::right,
               right);
    if (hit.hovered) ui.tooltip(tr(Text::column_sort_hint));
    if (hit.clicked) app.command("sort", {{"column", columns[i].id}});
  }
}

}  // namespace nanlens::viewer
