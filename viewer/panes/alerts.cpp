#include <algorithm>
#include <cmath>

#include <nanlens/summary/debug_mode.hpp>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr float alert_height = 22;

void draw_sparkline(const Ui& ui, const Rect& rect, const std::vector<std::uint8_t>& cells, ImU32 color) {
  const float step = rect.w / static_cast<float>(std::max<std::size_t>(1, cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == 0) continue;
    const float h = std::max(ui.px(2), rect.h * static_cast<float>(cells[i]) / 255.0f);
    ui.fill({rect.x + static_cast<float>(i) * step, rect.bottom() - h, std::max(1.0f, step), h}, color);
  }
}

// Alerts that no mark mutes.
std::uint64_t num_open(const App& app) { return app.alerts.total - std::min(app.alerts.total, app.alerts.muted); }

const char* by_text(const std::string& by) {
  if (by == "call") return tr(Text::alerts_by_call);
  if (by == "graph") return tr(Text::alerts_by_graph);
  if (by == "line") return tr(Text::alerts_by_line);
  if (by == "rank") return tr(Text::alerts_by_rank);
  return tr(by == "class" ? Text::alerts_by_class : Text::alerts_by_op);
}

std::string group_text(const App& app, const AlertLine& line) {
  const std::string& by = app.alerts_pane.by;
  if (line.key == "expected") return tr(Text::alerts_expected_group);
  if (line.key == "muted") return tr(Text::alerts_muted_group);
  if (line.text.empty()) return tr(by == "line" ? Text::alerts_no_line : Text::alerts_no_group);
  return by == "class" ? class_text(line.event_class) : line.text;
}

void draw_group(App& app, const Rect& row, const AlertLine& line) {
  Ui& ui = app.ui;
  const bool folded = app.alerts_pane.folded_groups.contains(line.key);
  const Hit hit = ui.item("alerts:group:" + line.key, row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  if (hit.clicked) app.command("fold_alerts", {{"group", line.key}, {"on", !folded}});
  Rect inner = row.inset(ui.px(6), 0);
  ui.text_in(inner.cut_left(ui.px(14)), ui.sans, 12, ui.theme.dim, folded ? "▸" : "▾");
  const std::string count = format_count(static_cast<double>(line.count));
  const bool muted = line.key == "expected" || line.key == "muted";
  ui.text_in(inner.cut_right(ui.text_width(ui.mono, 12, count) + ui.px(2)), ui.mono, 12,
             muted ? ui.theme.dim : ui.theme.bad, count, Ellipsis::right, true);
  if (hit.hovered && line.key == "muted") ui.tooltip(app.overview.verdict.reasons);
  if (inner.w > ui.px(110))
    draw_sparkline(ui, inner.cut_right(ui.px(44)).inset(ui.px(2), ui.px(5)), line.sparkline,
                   muted ? ui.theme.dim : ui.theme.bad);
  ui.bold_in(inner, 12, muted ? ui.theme.dim : ui.theme.text, group_text(app, line));
}

void draw_alert(App& app, const Rect& row, const AlertLine& line) {
  Ui& ui = app.ui;
  const bool selected = app.selection.alert == line.index;
  const Hit hit = ui.item("alert:" + std::to_string(line.index), row);
  if (selected)
    ui.fill(row, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(row, ui.theme.badge);
  draw_ring(app, row, {line.trace, line.trace < 0 ? line.execution : -1, line.output_slot, line.call}, hit.hovered);
  const bool pins = ImGui::GetIO().KeyCtrl && line.trace >= 0;
  if (hit.clicked && pins)
    app.command("pin", {{"trace", line.trace}});
  else if (hit.clicked)
    app.command("focus_alert", {{"index", line.index}});
  Rect inner = row.inset(ui.px(6), 0);
  inner.cut_left(ui.px(10));
  ui.text_in(inner.cut_left(ui.px(14)), ui.sans, 11, ui.theme.bad,
             !line.muted.empty()                            ? class_sign(EventClass::expected)
             : line.index == app.overview.verdict.first_bad ? "★"
             : selected                                     ? "▶"
                                                            : class_sign(line.event_class));
  std::string call = line.call < 0 ? "" : "#" + std::to_string(line.call);
  if (app.several_ranks() && line.job_rank >= 0) {
    const std::string rank = tr(Text::rank_named, {{"rank", line.job_rank}});
    const bool both = inner.w > ui.px(210);  // which process is more than which call
    call = both ? rank + " " + call : rank;
  }
  ui.text_in(inner.cut_right(ui.text_width(ui.mono, 11, call) + ui.px(4)), ui.mono, 11, ui.theme.dim, call,
             Ellipsis::right, true);
  // A long name gives way to the counts, down to the smaller half of the row.
  Rect place = inner;
  place.w = std::max(inner.w * 0.45F, inner.w - ui.badges_width(line.badges) - ui.px(8));
  const float name =
      ui.text_in(place, ui.mono, 12, line.muted.empty() ? ui.theme.text : ui.theme.dim, line.text, Ellipsis::left);
  inner.cut_left(name + ui.px(8));
  ImGui::PushClipRect(inner.min(), inner.max(), true);
  ui.badges({inner.x, inner.y}, inner.w, inner.h, line.badges);
  ImGui::PopClipRect();
  const bool ranks = app.several_ranks() && line.job_rank >= 0;
  if (hit.hovered)
    ui.tooltip(std::string(class_text(line.event_class)) + "\n" + tensor_text(line.text, line.graph_name) + "\n" +
               line.op_type + "  " + format_badges(line.badges) +
               (line.muted.empty() ? "" : "\n" + tr(Text::muted_by, {{"place", line.muted}})) +
               (ranks ? "\n" + tr(Text::rank_named, {{"rank", line.job_rank}}) : ""));
}

void draw_type_row(App& app, const Rect& row) {
  Ui& ui = app.ui;
  const Hit hit = ui.item("alert:InfNanAlert", row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  if (hit.clicked) app.command("focus_alert_type", {{"type", "InfNanAlert"}});
  Rect inner = row.inset(ui.px(6), 0);
  const Rect arrow = inner.cut_left(ui.bar(16));
  if (ui.tool("alerts:fold", arrow.inset(0, ui.finger ? 0 : ui.px(4)), app.alerts_pane.folded ? "▸" : "▾",
              tr(Text::alerts_fold)))
    app.command("fold_alerts");
  const std::uint64_t open = num_open(app);
  const std::string count = "∞: " + format_count(static_cast<double>(open));
  const float width = ui.text_width(ui.mono, 11, count) + ui.px(8);
  ui.tag({inner.right() - width, inner.y}, inner.h, count, open > 0 ? ui.theme.badfill : ui.theme.fin,
         open > 0 ? ui.theme.onbad : ui.theme.onfin);
  inner.cut_right(width + ui.px(6));
  inner.cut_left(ui.bold_in(inner, 13, ui.theme.text, "NaN/∞") + ui.px(8));
  if (app.alerts.muted > 0)
    ui.text_in(inner, ui.sans, 11, ui.theme.dim, tr(Text::alerts_muted, {{"n", app.alerts.muted}}), Ellipsis::right,
               true);
}

void draw_footer(App& app, Rect bar) {
  Ui& ui = app.ui;
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.y, bar.w, ui.theme.line);
  if (ui.tool("alerts:previous", bar.cut_left(ui.bar(28)).inset(ui.px(ui.finger ? 0.0f : 2.0f)), "‹",
              tr(Text::alerts_previous)))
    app.command("previous_alert");
  if (ui.tool("alerts:next", bar.cut_right(ui.bar(28)).inset(ui.px(ui.finger ? 0.0f : 2.0f)), "›",
              tr(Text::alerts_next)))
    app.command("next_alert");
  const std::string place = app.selection.alert >= 0
                                ? tr(Text::alerts_place, {{"n", app.selection.alert + 1}, {"total", app.alerts.total}})
                                : tr(Text::alerts_no_place, {{"total", app.alerts.total}});
  const float width = ui.text_width(ui.sans, 12, place);
  ui.text_in({bar.x + std::max(0.0f, (bar.w - width) / 2), bar.y, bar.w, bar.h}, ui.sans, 12, ui.theme.dim, place);
}

// Bad values that were removed again are no alerts: a line leads to them.
void draw_removed_line(App& app, Rect& area) {
  Ui& ui = app.ui;
  std::uint64_t count = 0;
  for (const RemovedLine& r : app.explanation.removed) count += r.count;
  if (count == 0 || area.h < ui.px(120)) return;
  const Rect row = area.cut_bottom(ui.bar(alert_height));
  const Hit hit = ui.item("alerts:removed", row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  ui.hline(row.x, row.y, row.w, ui.theme.line);
  Rect inner = row.inset(ui.px(6), 0);
  ui.text_in(inner.cut_left(ui.px(14)), ui.sans, 12, ui.theme.dim, class_sign(EventClass::killer));
  const std::string number = format_count(static_cast<double>(count));
  ui.text_in(inner.cut_right(ui.text_width(ui.mono, 12, number) + ui.px(2)), ui.mono, 12, ui.theme.dim, number,
             Ellipsis::right, true);
  ui.text_in(inner, ui.sans, 12, ui.theme.dim, tr(Text::alerts_removed));
  if (hit.hovered) ui.tooltip(tr(Text::causes_removed));
  if (hit.clicked) app.command("show_causes");
}

std::string empty_alerts_text(const App& app) {
  if (app.overview.loading) return tr(Text::list_reading);
  const RunInfo& run = app.run();
  const auto mode = static_cast<TensorDebugMode>(run.mode);
  if (run.num_traces + run.num_executions == 0) return tr(Text::run_empty);
  if (!tells(mode, Told::health)) return tr(Text::alerts_no_health, {{"mode", debug_mode_name(mode)}});
  if (run.num_bad_complex > 0) return complex_text(run);
  return tr(Text::alerts_none, {{"rows", run.num_traces}, {"executions", run.num_executions}});
}

// What is left of the pane in a narrow strip: how many, and the way from one to the next.
void draw_rail(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.mark("pane:alerts", area);
  const auto tool = [&](const char* id, const char* label, const char* hint) {
    return ui.tool(id, area.cut_top(ui.px(28)).inset(ui.px(4), ui.px(2)), label, hint);
  };
  if (tool("alerts:widen", "»", tr(Text::alerts_widen)))
    app.command("set_splitter", {{"id", Layout::ids[0]}, {"at", Layout::defaults[0]}});
  if (app.overview.run < 0) return;
  draw_rules_tag(app, area);
  if (app.alerts.total == 0) return;
  const Rect count = area.cut_top(ui.px(28));
  const Hit hit = ui.item("alert:InfNanAlert", count);
  const std::uint64_t open = num_open(app);
  const std::string text = format_short_count(static_cast<double>(open));
  const float w = ui.text_width(ui.mono, 11, text) + ui.px(8);
  ui.tag({count.x + (count.w - w) / 2, count.y}, count.h, text, open > 0 ? ui.theme.badfill : ui.theme.fin,
         open > 0 ? ui.theme.onbad : ui.theme.onfin);
  if (hit.hovered) ui.tooltip(tr(Text::alerts_total, {{"n", app.alerts.total}}));
  if (hit.clicked) app.command("focus_alert_type", {{"type", "InfNanAlert"}});
  if (tool("alerts:previous", "▲", tr(Text::alerts_previous))) app.command("previous_alert");
  if (tool("alerts:next", "▼", tr(Text::alerts_next))) app.command("next_alert");
}

}  // namespace

void draw_alerts(App& app, Rect area) {
  Ui& ui = app.ui;
  if (area.w < ui.px(Layout::rail_below)) return draw_rail(app, area);
  Rect tools = draw_pane_header(app, Pane::alerts, area, tr(Text::pane_alerts),
                                app.overview.open ? format_count(static_cast<double>(app.alerts.total)) : "");
  if (app.overview.run < 0) return;
  if (app.alerts.total == 0) {
    const std::string text = empty_alerts_text(app);
    const float height = ui.paragraph_height(ui.sans, 13, text, area.w - ui.px(24)) + ui.px(24);
    draw_empty(app, area.cut_top(std::min(height, area.h)), text);
    draw_rules(app, area, true);
    return;
  }
  const std::string_view by = by_text(app.alerts_pane.by);
  const float by_width = ui.bar_width(ui.text_width(ui.sans, 12, by) + ui.px(10));
  if (tools.w >= by_width &&
      ui.tool("alerts:by", tools.cut_right(by_width).inset(0, ui.px(3)), by, tr(Text::alerts_by_hint)))
    app.command("group_alerts");
  draw_type_row(app, area.cut_top(ui.bar(26)));
  draw_chain(app, area);
  draw_rules(app, area, app.alerts_pane.folded);
  draw_footer(app, area.cut_bottom(ui.bar(26)));
  draw_removed_line(app, area);
  if (app.alerts_pane.folded) return;

  const float h = ui.bar(alert_height);
  const double total = static_cast<double>(app.alerts.num_lines);
  const double visible = static_cast<double>(area.h / h);
  app.alerts_pane.fitting = static_cast<std::uint32_t>(std::ceil(visible)) + 1;
  double& first = app.alerts_pane.first;
  first -= static_cast<double>(ui.wheel(area).y) * 3;
  if (total > visible) ui.scrollbar("alerts:scroll", area.cut_right(ui.px(12)), total, visible, first);
  first = std::clamp(first, 0.0, std::max(0.0, total - visible));
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = 0; i < app.alerts.lines.size(); ++i) {
    const double position = static_cast<double>(app.alerts.first + i) - first;
    const Rect row{area.x, area.y + static_cast<float>(position) * h, area.w, h};
    if (row.bottom() <= area.y || row.y >= area.bottom()) continue;
    const AlertLine& line = app.alerts.lines[i];
    line.group ? draw_group(app, row, line) : draw_alert(app, row, line);
  }
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
