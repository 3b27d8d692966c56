#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/badges.hpp"
#include "engine/filter.hpp"
#include "engine/row_order.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

struct Column {
  const char* id;
  Text title;
  float width;       // 0: takes what is left
  float from_width;  // shown by default in panes at least this wide
};

constexpr std::array<Column, 11> columns = {{{"index", Text::column_index, 64, 0},
                                             {"tensor", Text::column_tensor, 0, 0},
                                             {"op", Text::column_op, 92, 380},
                                             {"health", Text::column_health, 190, 0},
                                             {"dtype", Text::column_dtype, 74, 620},
                                             {"shape", Text::column_shape, 74, 660},
                                             {"size", Text::column_size, 72, 700},
                                             {"graph", Text::column_graph, 110, 900},
                                             {"call", Text::column_call, 62, 960},
                                             {"time", Text::column_time, 84, 1100},
                                             {"device", Text::column_device, 100, 1200}}};

bool is_shown(const App& app, const Column& c, float width) {
  if (app.rows_pane.hidden.contains(c.id)) return false;
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

// What a row is to the selected one.
struct Role {
  enum class Kind : std::uint8_t { none, input, caller, consumer } kind = Kind::none;
  std::string text = {};  ///< "in 0", "caller", "c"
};

Role role_of(const App& app, const Row& row) {
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

std::string tooltip_of(const Row& row) {
  std::string text =
      row.op_name + ":" + std::to_string(row.slot) + "\n" + row.op_type + "  " + format_badges(row.badges);
  if (!row.graph_name.empty()) text += "\n" + tr(Text::graph_named, {{"name", row.graph_name}});
  text += "\n" + format_time(row.time) + "  " + row.device;
  if (row.execution >= 0) text += "\n" + tr(Text::execution_numbered, {{"index", row.execution}});
  if (row.bad || row.event_class == EventClass::killer) text.append("\n").append(class_text(row.event_class));
  return text;
}

void draw_cells(App& app, const Cells& cells, const Row& row, const Role& role, const std::string& id) {
  Ui& ui = app.ui;
  const bool focused = app.selection.focus.trace == static_cast<std::int64_t>(row.index);
  if (cells.shown[0]) {
    Rect cell = cells.at[0];
    if (focused)
      ui.text_in(cell, ui.sans, 11, ui.theme.text, "▶");
    else if (row.bad || row.event_class == EventClass::killer)
      ui.text_in(cell, ui.sans, 11, row.bad ? ui.theme.bad : ui.theme.text,
                 row.event_class == EventClass::clean ? "▲" : class_sign(row.event_class));
    ui.text_in({cell.x + ui.px(14), cell.y, cell.w - ui.px(14), cell.h}, ui.mono, 12, ui.theme.dim,
               std::to_string(row.index), Ellipsis::left, true);
  }
  if (cells.shown[1]) {
    Rect cell = cells.at[1];
    const bool consumer = role.kind == Role::Kind::consumer;
    if (role.kind != Role::Kind::none)
      cell.cut_right(ui.tag({cell.right() - ui.text_width(ui.mono, 11, role.text) - ui.px(8), cell.y}, cell.h,
                            role.text, consumer ? ui.theme.badge : ui.theme.warnsoft,
                            consumer ? ui.theme.onbadge : ui.theme.warn) +
                     ui.px(4));
    ui.mark(id + ":name", cell);
    ui.text_in(cell, ui.mono, 12, ui.theme.link, row.op_name + ":" + std::to_string(row.slot), Ellipsis::left);
  }
  if (cells.shown[2]) ui.text_in(cells.at[2], ui.mono, 12, ui.theme.text, row.op_type.empty() ? "?" : row.op_type);
  if (cells.shown[3])
    ui.badges({cells.at[3].x, cells.at[3].y}, cells.at[3].w, cells.at[3].h, health_badges(row, cells));
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
}

// `prefix` tells the pinned copy of a row from the row itself.
void draw_row(App& app, const Rect& rect, const Row& row, const char* prefix = "") {
  Ui& ui = app.ui;
  const std::string id = prefix + ("trace:" + std::to_string(row.index));
  const bool focused = app.selection.focus.trace == static_cast<std::int64_t>(row.index);
  const Hit hit = ui.item(id, rect);
  const Role role = role_of(app, row);
  const bool input = role.kind == Role::Kind::input || role.kind == Role::Kind::caller;
  const bool of_call = app.selection.focus.trace < 0 && app.selection.focus.execution >= 0 &&
                       row.execution == app.selection.focus.execution;
  if (focused)
    ui.fill(rect, ui.theme.focus);
  else if (input)
    ui.fill(rect, ui.theme.input);
  else if (row.bad)
    ui.fill(rect, ui.theme.badsoft);
  else if (hit.hovered || of_call)
    ui.fill(rect, ui.theme.panel);
  if (hit.hovered && !focused) ui.frame(rect, ui.theme.line);
  if (role.kind == Role::Kind::caller) ui.dashed_frame(rect.inset(1), ui.theme.warn);
  draw_cells(app, cells_of(app, rect), row, role, id);
  if (row.call_begins) ui.hline(rect.x, rect.y, rect.w, ui.theme.dim);
  if (hit.clicked) app.command("focus_trace", {{"index", row.index}});
  if (hit.double_clicked) app.command("go_to_source");
  if (hit.hovered) ui.tooltip(tooltip_of(row));
  row_menu(app, id, row, hit.right_clicked);
}

// Pinned rows, above the list; the bar folds them away.
void draw_pins(App& app, Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  if (pane.pins.empty()) return;
  Rect bar = area.cut_top(ui.px(20));
  ui.fill(bar, ui.theme.panel);
  const char* const unpin = tr(Text::rows_unpin);
  if (ui.tool("pins:clear", bar.cut_right(ui.label_width(unpin)), unpin, tr(Text::rows_unpin_hint)))
    app.command("clear_pins");
  const Hit hit = ui.item("pins", bar);
  if (hit.clicked) pane.pins_folded = !pane.pins_folded;
  ui.text_in(bar.inset(ui.px(8), 0), ui.sans, 11, ui.theme.dim,
             (pane.pins_folded ? "▸ " : "▾ ") + tr(Text::rows_pinned, {{"n", pane.pins.size()}}));
  if (pane.pins_folded) return;
  const float h = ui.px(pane.row_height);
  for (const Row& row : app.rows.pinned) {
    if (area.h < 3 * h) return;
    Rect line = area.cut_top(h);
    line.cut_right(ui.px(24));
    draw_row(app, line, row, "pin:");
  }
  ui.hline(area.x, area.y - 1, area.w, ui.theme.dim);
}

// The call of the topmost row stays in view.
void draw_call_header(App& app, const Rect& bar, const Row* top) {
  Ui& ui = app.ui;
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (top == nullptr) return;
  std::string text = tr(Text::rows_no_call, {{"name", top->graph_name}});
  if (top->execution >= 0) {
    std::string call;
    for (const Row& row : app.rows.rows)
      if (row.execution == top->execution && !row.call.empty()) call = row.call;
    text = tr(Text::rows_call, {{"index", top->execution}, {"name", call}});
  }
  const Rect inner = bar.inset(ui.px(8), 0);
  if (top->execution >= 0) {
    if (ui.link("rows:call", inner, ui.sans, 11, text, Ellipsis::middle))
      app.command("focus_execution", {{"index", top->execution}});
  } else {
    ui.text_in(inner, ui.sans, 11, ui.theme.dim, text, Ellipsis::middle);
  }
}

// A click on a title orders the rows by its column.
void draw_column_titles(App& app, const Rect& bar) {
  Ui& ui = app.ui;
  const Cells cells = cells_of(app, bar);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!cells.shown[i]) continue;
    const bool right = i == 0 || i == 6 || i == 9;
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

void draw_filter(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  const bool filtered = pane.filter[0] != '\0' || pane.only_bad;
  std::string count = tr(Text::rows_total, {{"n", app.rows.total}});
  if (filtered)
    count = tr(app.rows.complete ? Text::rows_shown : Text::rows_shown_so_far,
               {{"n", app.rows.shown}, {"total", app.rows.total}});
  if (app.rows.sorting) count = tr(Text::rows_sorting, {{"count", count}});
  const Rect count_at = bar.cut_right(ui.text_width(ui.sans, 12, count) + ui.px(8));
  ui.text_in(count_at, ui.sans, 12, ui.theme.dim, count, Ellipsis::right, true);
  const char* const bad = tr(Text::rows_bad);
  if (ui.tool("filter:bad", bar.cut_right(ui.label_width(bad)).inset(ui.px(2)), bad, tr(Text::rows_bad_hint),
              pane.only_bad))
    app.command("only_bad", {{"on", !pane.only_bad}});
  if (filtered && ui.tool("filter:clear", bar.cut_right(ui.px(24)).inset(ui.px(2)), "×", tr(Text::rows_clear_hint)))
    app.command("clear_filter");
  ui.mark("filter", bar);
  if (pane.take_keyboard) {
    ImGui::SetKeyboardFocusHere();
    pane.take_keyboard = false;
  }
  ImGui::PushFont(ui.mono, ui.px(12));
  ImGui::SetCursorScreenPos({bar.x, bar.y + std::floor((bar.h - ImGui::GetFrameHeight()) / 2)});
  ImGui::SetNextItemWidth(bar.w - ui.px(4));
  const bool error = !app.rows.filter_error.empty();
  if (error) ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.bad);
  if (ImGui::InputTextWithHint("##filter", tr(Text::rows_filter_hint), pane.filter, sizeof pane.filter))
    app.command("filter", {{"query", pane.filter}});
  if (error) ImGui::PopStyleColor();
  ImGui::PopFont();
}

// The parts of a filter that has several, each to be taken out by a click.
void draw_filter_parts(App& app, Rect bar, const std::vector<std::string>& parts) {
  Ui& ui = app.ui;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string label = parts[i] + "  ×";
    const float w = ui.text_width(ui.sans, 12, label) + ui.px(14);
    if (w > bar.w) return;  // the box shows the rest
    if (ui.button("filter:part:" + std::to_string(i), bar.cut_left(w).inset(0, ui.px(2)), label)) {
      std::string rest;
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (k != i) rest += (rest.empty() ? "" : " ") + parts[k];
      app.command("filter", {{"query", rest}});
      return;
    }
    bar.cut_left(ui.px(4));
  }
}

void move_list(App& app, const Rect& area, double total, double visible) {
  double& first = app.rows_pane.first;
  first -= static_cast<double>(app.ui.wheel(area).y) * (ImGui::GetIO().KeyCtrl ? 30 : 3);
  first = std::clamp(first, 0.0, std::max(0.0, total - visible));
}

// Returns true while it is dragged.
bool draw_minimap(App& app, const Rect& area) {
  Ui& ui = app.ui;
  app.view.minimap_cells = static_cast<std::uint32_t>(std::max(8.0f, area.h / 3));
  const auto& cells = app.rows.minimap;
  const Hit hit = ui.item("rows:minimap", area, false);
  if (hit.held && app.rows.shown > 0) {
    const double share = static_cast<double>((ImGui::GetIO().MousePos.y - area.y) / area.h);
    const double fitting = static_cast<double>(app.rows_pane.fitting) - 1;
    app.rows_pane.first = std::clamp(share, 0.0, 1.0) * static_cast<double>(app.rows.shown) - fitting / 2;
  }
  if (cells.empty()) return hit.held;
  const float step = area.h / static_cast<float>(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i] != 0)
      ui.fill({area.x, area.y + static_cast<float>(i) * step, area.w, std::max(2.0f, step)}, ui.theme.badfill);
  if (app.rows.shown == app.rows.total)
    for (const std::int64_t row : app.rows_pane.pins) {
      const double share = static_cast<double>(row) / static_cast<double>(app.rows.total);
      ui.fill({area.x, area.y + area.h * static_cast<float>(share), area.w, ui.px(2)}, ui.theme.warn);
    }
  if (app.rows.focus_position >= 0 && app.rows.shown > 0)
    ui.fill({area.x,
             area.y + area.h * static_cast<float>(static_cast<double>(app.rows.focus_position) /
                                                  static_cast<double>(app.rows.shown)),
             area.w, ui.px(2)},
            ui.theme.link);
  return hit.held;
}

// Where in the run a fast drag has come to, beside the mouse.
void draw_bubble(App& app, const Row& top) {
  Ui& ui = app.ui;
  const std::string text = tr(top.execution < 0 ? Text::rows_bubble : Text::rows_bubble_call,
                              {{"index", top.index}, {"call", top.execution}, {"time", top.time}});
  const float w = ui.text_width(ui.sans, 12, text) + ui.px(16);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Rect box{mouse.x - w - ui.px(30), mouse.y - ui.px(12), w, ui.px(24)};
  ui.mark("rows:bubble", box);
  ui.fill(box, ui.theme.text, ui.px(4));
  ui.text_in(box.inset(ui.px(8), 0), ui.sans, 12, ui.theme.bg, text);
}

std::string empty_text(const App& app) {
  if (app.rows.total > 0) return tr(Text::rows_filtered);
  if (app.overview.loading) return tr(Text::list_reading);
  return tr(app.timeline.total > 0 ? Text::rows_none_eager : Text::rows_none);
}

}  // namespace

void row_menu(App& app, const std::string& id, const Row& row, bool open) {
  Ui& ui = app.ui;
  if (open) ImGui::OpenPopup(id.c_str());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
  if (ImGui::BeginPopup(id.c_str())) {
    app.menu_open = true;
    if (app.close_menu) ImGui::CloseCurrentPopup();
    ImGui::PushFont(ui.sans, ui.px(13));
    if (ImGui::MenuItem(tr(Text::menu_copy_name))) app.command("copy", {{"what", "name"}, {"index", row.index}});
    if (ImGui::MenuItem(tr(Text::menu_copy_row))) app.command("copy", {{"what", "row"}, {"index", row.index}});
    if (ImGui::MenuItem(tr(Text::menu_only_type, {{"type", row.op_type}}).c_str()))
      app.command("filter", {{"query", "type:" + row.op_type}});
    if (ImGui::MenuItem(tr(Text::menu_only_graph, {{"graph", row.graph_name}}).c_str()))
      app.command("filter", {{"query", "graph:\"" + row.graph_name + "\""}});
    if (row.execution >= 0 && ImGui::MenuItem(tr(Text::menu_only_call)))
      app.command("filter", {{"query", "exec=" + std::to_string(row.execution)}});
    if (ImGui::MenuItem(tr(Text::menu_pin), "P")) app.command("pin", {{"trace", row.index}});
    if (ImGui::MenuItem(tr(Text::menu_source))) {
      app.command("focus_trace", {{"index", row.index}});
      app.command("activate_pane", {{"pane", "source_code"}});
    }
    ImGui::PopFont();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void draw_graph_executions(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect tools = draw_pane_header(app, Pane::rows, area, tr(Text::pane_rows),
                                app.overview.run >= 0 ? format_count(static_cast<double>(app.rows.total)) : "");
  if (app.overview.run < 0) return;
  if (app.layout.narrow(Rect{0, 0, ImGui::GetIO().DisplaySize.x, 1}, ui) &&
      ui.tool("tab:graph", tools.cut_right(ui.label_width(tr(Text::rows_to_graph))).inset(0, ui.px(3)),
              tr(Text::rows_to_graph), tr(Text::rows_to_graph_hint)))
    app.command("activate_pane", {{"pane", "graph_structure"}});
  const char* const choose = tr(Text::rows_columns);
  if (ui.tool("rows:columns", tools.cut_right(std::min(tools.w, ui.label_width(choose))).inset(0, ui.px(3)), choose,
              tr(Text::rows_columns_hint)))
    app.command("columns");
  if (app.rows.total == 0) {
    draw_empty(app, area, empty_text(app));
    return;
  }
  draw_filter(app, area.cut_top(ui.px(28)).inset(ui.px(6), 0));
  if (const auto parts = filter::parts(app.rows_pane.filter); parts.size() > 1)
    draw_filter_parts(app, area.cut_top(ui.px(22)).inset(ui.px(6), 0), parts);
  if (!app.rows.filter_error.empty()) {
    Rect note = area.cut_top(ui.px(20));
    ui.fill(note, ui.theme.warnsoft);
    const std::string query = app.rows_pane.filter;
    const std::size_t begin = std::min<std::size_t>(app.rows.error_begin, query.size());
    const std::string part = query.substr(begin, app.rows.error_end - begin);
    ui.text_in(note.inset(ui.px(8), 0), ui.sans, 12, ui.theme.warn,
               tr(part.empty() ? Text::filter_bad_end : Text::filter_bad_part,
                  {{"part", part}, {"reason", app.rows.filter_error}}));
  }
  if (app.rows.filter_error.empty() && !app.rows.filter_note.empty()) {
    Rect note = area.cut_top(ui.px(20));
    ui.mark("filter:note", note);
    ui.fill(note, ui.theme.warnsoft);
    ui.text_in(note.inset(ui.px(8), 0), ui.sans, 12, ui.theme.warn, app.rows.filter_note);
  }
  Rect titles = area.cut_top(ui.px(18));
  titles.cut_right(ui.px(24));
  draw_column_titles(app, titles);
  draw_pins(app, area);
  const Rect header = area.cut_top(ui.px(20));
  Rect bars = area.cut_right(ui.px(24));
  const float h = ui.px(app.rows_pane.row_height);
  const double total = static_cast<double>(app.rows.shown);
  const double visible = static_cast<double>(area.h / h);
  app.rows_pane.fitting = static_cast<std::uint32_t>(std::ceil(visible)) + 1;
  move_list(app, area, total, visible);
  bool scrubbing = draw_minimap(app, bars.cut_right(ui.px(10)));
  ui.scrollbar("rows:scroll", bars, total, visible, app.rows_pane.first);
  scrubbing = scrubbing || (total > visible && ImGui::IsItemActive());
  app.rows_pane.first = std::clamp(app.rows_pane.first, 0.0, std::max(0.0, total - visible));
  if (app.rows.shown == 0) {
    if (app.rows.complete) draw_empty(app, area, empty_text(app));
    return;
  }
  const double first = app.rows_pane.first;
  const Row* top = nullptr;
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = 0; i < app.rows.rows.size(); ++i) {
    const double position = static_cast<double>(app.rows.first + i) - first;
    if (position <= -1 || position * static_cast<double>(h) >= static_cast<double>(area.h)) continue;
    if (top == nullptr) top = &app.rows.rows[i];
    draw_row(app, {area.x, area.y + static_cast<float>(position) * h, area.w, h}, app.rows.rows[i]);
  }
  ImGui::PopClipRect();
  // Rows that have not come yet: their places, until the next frame brings them.
  if (top == nullptr)
    for (float y = area.y; y < area.bottom(); y += h)
      ui.fill({area.x + ui.px(70), y + ui.px(8), area.w * 0.4f, ui.px(6)}, ui.theme.badge, ui.px(3));
  draw_call_header(app, header, top);
  if (scrubbing && top != nullptr) draw_bubble(app, *top);
}

}  // namespace nanlens::viewer
