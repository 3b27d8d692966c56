#include <algorithm>
#include <cmath>

#include "panes/rows_parts.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

std::string tooltip_of(const App& app, const Row& row) {
  std::string text =
      row.op_name + ":" + std::to_string(row.slot) + "\n" + row.op_type + "  " + format_badges(row.badges);
  if (!row.graph_name.empty()) text += "\n" + tr(Text::graph_named, {{"name", row.graph_name}});
  text += "\n" + format_time(row.time);
  if (!row.device.empty()) text += "  " + row.device;
  if (app.several_ranks() && row.job_rank >= 0) text += "\n" + tr(Text::rank_named, {{"rank", row.job_rank}});
  if (row.execution >= 0) text += "\n" + tr(Text::execution_numbered, {{"index", row.execution}});
  if (row.bad || row.event_class == EventClass::killer) text.append("\n").append(class_text(row.event_class));
  return text;
}

// Plainly a row is selected; with Ctrl it is pinned, with Shift those from the selected one up to it are. An execution
// is no tensor to be pinned.
void row_clicked(App& app, const Row& row, std::int64_t position) {
  const ImGuiIO& io = ImGui::GetIO();
  Result result;
  if ((io.KeyCtrl || io.KeySuper) && !row.is_execution)
    result = app.command("pin", {{"trace", row.index}});
  else if (io.KeyShift && position >= 0)
    result = app.command("select_range", {{"begin", app.rows.focus_position >= 0 ? app.rows.focus_position : position},
                                          {"end", position}});
  else
    result = app.command(row.is_execution ? "focus_execution" : "focus_trace", {{"index", row.index}});
  if (!result.ok) app.toast(result.message);
}

void draw_row_back(App& app, const Rect& rect, const Row& row, const Role& role, std::int64_t position, bool hovered) {
  Ui& ui = app.ui;
  const bool focused = app.is_focused(row);
  const bool input = role.kind == Role::Kind::input || role.kind == Role::Kind::caller;
  const bool of_call = !row.is_execution && app.selection.focus.trace < 0 && app.selection.focus.execution >= 0 &&
                       row.execution == app.selection.focus.execution;
  const bool ranged = app.rows_pane.in_range(position);
  if (focused)
    ui.fill(rect, ui.theme.focus);
  else if (ranged)
    ui.fill(rect, ui.theme.func);
  else if (input)
    ui.fill(rect, ui.theme.input);
  else if (row.bad)
    ui.fill(rect, ui.theme.badsoft);
  else if (hovered || of_call)
    ui.fill(rect, ui.theme.panel);
  if (role.kind == Role::Kind::caller) ui.dashed_frame(rect.inset(1), ui.theme.warn);
  // A bar at the left: one of the rows that are selected together, or a hit of the filter.
  const bool filtered = app.rows_pane.filter[0] != '\0' || app.rows_pane.only_bad;
  if (ranged || (filtered && position >= 0))
    ui.fill({rect.x, rect.y, ui.px(2), rect.h}, ranged ? ui.theme.text : ui.theme.link);
}

TensorKey key_of(const Row& row) {
  if (row.is_execution) return {-1, row.execution, row.slot, -1};
  return {static_cast<std::int64_t>(row.index), -1, -1, row.execution};
}

// The call of the topmost row stays in view.
void draw_call_header(App& app, const Rect& bar, const Row* top) {
  Ui& ui = app.ui;
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (top == nullptr) return;
  std::string text =
      top->graph_name.empty() ? tr(Text::rows_no_call_unnamed) : tr(Text::rows_no_call, {{"name", top->graph_name}});
  if (top->execution >= 0) {
    std::string call;
    for (const Row& row : app.rows.rows)
      if (row.execution == top->execution && !row.call.empty()) call = row.call;
    text = tr(Text::rows_call, {{"index", top->execution}, {"name", call}});
  }
  if (app.several_ranks() && top->job_rank >= 0) text += " · " + tr(Text::rank_named, {{"rank", top->job_rank}});
  const Rect inner = bar.inset(ui.px(8), 0);
  if (top->execution >= 0) {
    if (ui.link("rows:call", inner, ui.sans, 11, text, Ellipsis::middle))
      app.command("focus_execution", {{"index", top->execution}});
  } else {
    ui.text_in(inner, ui.sans, 11, ui.theme.dim, text, Ellipsis::middle);
  }
}

void move_list(App& app, const Rect& area, double total, double visible) {
  auto& pane = app.rows_pane;
  const float turned = app.ui.wheel(area).y;
  if (turned > 0) pane.tail = false;
  if (pane.tail) pane.first = total;
  pane.first -= static_cast<double>(turned) * (ImGui::GetIO().KeyCtrl ? 30 : 3);
  pane.first = std::clamp(pane.first, 0.0, std::max(0.0, total - visible));
}

// Of how many rows the last one has been in view: more have arrived since. Another filter begins anew, and what comes
// until the logdir has been read once was there before.
void count_seen(App& app, double visible) {
  auto& pane = app.rows_pane;
  const std::string query = pane.filter + std::string(pane.only_bad ? "\n" : "");
  if (query != pane.seen_query || app.rows.shown < pane.seen) pane.settled = false;
  pane.seen_query = query;
  const bool end_in_view = pane.first + visible >= static_cast<double>(app.rows.shown);
  if (!pane.settled || end_in_view) pane.seen = app.rows.shown;
  const bool read = !app.overview.loading && !app.overview.stopped;
  pane.settled = pane.settled || (read && app.rows.complete && app.answered());
}

// How many rows arrived below, as a button that leads to them.
void draw_new_rows(App& app, const Rect& area) {
  if (app.new_rows() == 0) return;
  Ui& ui = app.ui;
  const std::string label = tr(Text::rows_new, {{"n", app.new_rows()}}) + " ↓";
  const float w = ui.text_width(ui.sans, 13, label) + ui.px(20);
  const float h = ui.bar(24);
  const Rect chip{area.x + (area.w - w) / 2, area.bottom() - h - ui.px(6), w, h};
  ui.fill(chip.inset(-ui.px(2)), ui.theme.bg, ui.px(5));
  if (ui.button("rows:new", chip, label, true)) app.command("follow_tail");
  ui.tooltip(tr(Text::rows_new_hint));
}

std::string empty_rows_text(const App& app) {
  if (app.rows.total > 0) return tr(Text::rows_filtered);
  if (app.overview.loading) return tr(Text::list_reading);
  return tr(Text::rows_none);
}

// The rows that fit; returns the topmost.
const Row* draw_rows(App& app, const Rect& area, float h) {
  Ui& ui = app.ui;
  const double first = app.rows_pane.first;
  const Row* top = nullptr;
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = 0; i < app.rows.rows.size(); ++i) {
    const double position = static_cast<double>(app.rows.first + i) - first;
    if (position <= -1 || position * static_cast<double>(h) >= static_cast<double>(area.h)) continue;
    if (top == nullptr) top = &app.rows.rows[i];
    draw_row(app, {area.x, area.y + static_cast<float>(position) * h, area.w, h}, app.rows.rows[i],
             role_of(app, app.rows.rows[i]), static_cast<std::int64_t>(app.rows.first + i));
  }
  ImGui::PopClipRect();
  // Rows that have not come yet: their places, until the next frame brings them.
  if (top == nullptr)
    for (float y = area.y; y < area.bottom(); y += h)
      ui.fill({area.x + ui.px(70), y + ui.px(8), area.w * 0.4f, ui.px(6)}, ui.theme.badge, ui.px(3));
  return top;
}

void draw_list(App& app, Rect area) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  const Rect header = area.cut_top(app.rows.of_executions ? 0 : ui.px(20));  // executions are no parts of calls
  Rect bars = area.cut_right(ui.px(24));
  const float h = row_height(app);
  const double total = static_cast<double>(app.rows.shown);
  const double visible = static_cast<double>(area.h / h);
  pane.fitting = static_cast<std::uint32_t>(std::ceil(visible)) + 1;
  move_list(app, area, total, visible);
  bool scrubbing = draw_minimap(app, bars.cut_right(ui.px(10)));
  if (ui.scrollbar("rows:scroll", bars, total, visible, pane.first)) pane.tail = false;
  scrubbing = scrubbing || (total > visible && ImGui::IsItemActive());
  pane.first = std::clamp(pane.first, 0.0, std::max(0.0, total - visible));
  count_seen(app, visible);
  if (app.rows.shown == 0) {
    if (app.rows.complete) draw_empty(app, area, empty_rows_text(app));
    return;
  }
  const Row* const top = draw_rows(app, area, h);
  draw_new_rows(app, area);
  if (!app.rows.of_executions) draw_call_header(app, header, top);
  if (scrubbing && top != nullptr) draw_bubble(app, *top);
}

void draw_rows_tools(App& app, Rect tools) {
  Ui& ui = app.ui;
  if (ui.finger) return;  // there are no columns
  const char* const choose = tr(Text::rows_columns);
  if (ui.tool("rows:columns", tools.cut_right(std::min(tools.w, ui.label_width(choose))).inset(0, ui.px(3)), choose,
              tr(Text::rows_columns_hint)))
    app.command("columns");
}

}  // namespace

float row_height(const App& app) {
  constexpr float finger_row = 48;  // two lines
  return app.ui.px(app.ui.finger ? finger_row : app.row_height());
}

void draw_row(App& app, const Rect& rect, const Row& row, const Role& role, std::int64_t position) {
  Ui& ui = app.ui;
  const char* const kind = row.is_execution ? "execution:" : position < 0 ? "pin:trace:" : "trace:";
  const std::string id = kind + std::to_string(row.index);
  const Hit hit = ui.item(id, rect);
  const bool focused = app.is_focused(row);
  if (hit.hovered) ui.tooltip(tooltip_of(app, row) + (focused ? seen_text(app.selection) : ""));
  draw_row_back(app, rect, row, role, position, hit.hovered);
  draw_ring(app, rect, key_of(row), hit.hovered);
  draw_cells(app, rect, row, role, id);
  if (row.call_begins) ui.hline(rect.x, rect.y, rect.w, ui.theme.dim);
  if (hit.clicked) row_clicked(app, row, position);
  if (hit.double_clicked) app.command("go_to_source");
  row_menu(app, id, row, hit.right_clicked);
}

void draw_graph_executions(App& app, Rect area) {
  Ui& ui = app.ui;
  const Rect tools = draw_pane_header(app, Pane::rows, area, pane_title(app, Pane::rows),
                                      app.overview.run >= 0 ? format_count(static_cast<double>(app.rows.total)) : "");
  if (app.overview.run < 0) return;
  draw_rows_tools(app, tools);
  if (app.rows.total == 0) {
    draw_empty(app, area, empty_rows_text(app));
    return;
  }
  draw_rows_filter(app, area);
  if (!ui.finger) {
    Rect titles = area.cut_top(ui.px(18));
    titles.cut_right(ui.px(24));
    draw_column_titles(app, titles);
  }
  draw_pins(app, area);
  draw_list(app, area);
}

}  // namespace nanlens::viewer
