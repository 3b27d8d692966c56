// The top bar, the status bar, and a phone's tabs.
#include <algorithm>

#include <nanlens/summary/debug_mode.hpp>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

std::string run_text(const RunInfo& run) {
  std::string text =
      run.run_id.empty() ? tr(Text::run_without_id) : tr(Text::run_named, {{"id", run.run_id.substr(0, 8)}});
  if (const auto mode = debug_mode_name(static_cast<TensorDebugMode>(run.mode)); run.mode != 0 && !mode.empty())
    text += " · " + std::string(mode);
  return text;
}

// A tool of the top bar, cut off its right end.
bool draw_bar_tool(App& app, Rect& bar, const char* id, const char* label, const char* hint) {
  Ui& ui = app.ui;
  const float width = std::max(ui.bar(30), ui.label_width(label));
  return ui.tool(id, bar.cut_right(width).inset(ui.finger ? 0 : ui.px(2), ui.finger ? 0 : ui.px(5)), label, hint);
}

void draw_faults(App& app, Rect& bar) {
  Ui& ui = app.ui;
  const auto faults = static_cast<double>(app.overview.num_diagnostics);
  if (faults > 0) {
    const std::string label = "⚠ " + format_count(faults);
    const float width = ui.bar_width(ui.text_width(ui.sans, 12, label) + ui.px(12));
    const Rect at = bar.cut_right(width).inset(ui.px(2), ui.px(5));
    const Hit hit = ui.item("diagnostics", at);
    ui.fill(at, ui.theme.warnsoft, ui.px(3));
    ui.text_in(at.inset(ui.px(4), 0), ui.sans, 12, ui.theme.warn, label);
    if (hit.hovered) ui.tooltip(tr(Text::bar_diagnostics));
    if (hit.clicked) app.command("show_diagnostics");
  } else if (app.overview.run >= 0 && draw_bar_tool(app, bar, "diagnostics", "✓", tr(Text::bar_no_diagnostics))) {
    app.command("show_diagnostics");
  }
}

void draw_bar_tools(App& app, Rect& bar) {
  if (draw_bar_tool(app, bar, "help", "?", tr(Text::bar_keys))) app.command("help");
  if (draw_bar_tool(app, bar, "settings", "⚙", tr(Text::settings_title))) app.command("show_settings");
  if (!app.ui.finger && draw_bar_tool(app, bar, "theme", "☾", tr(Text::bar_theme))) app.command("theme");
  if (draw_bar_tool(app, bar, "open", tr(Text::bar_open), tr(Text::bar_open_hint))) {
    const Result result = app.command("open_logdir");
    if (!result.ok) app.toast(result.message);
  }
  const bool shares = app.platform.share && app.overview.run >= 0 && !app.ui.finger;
  if (shares && draw_bar_tool(app, bar, "share", tr(Text::bar_share), tr(Text::cmd_share))) app.command("share");
  draw_faults(app, bar);
}

void draw_palette_box(App& app, Rect& bar) {
  Ui& ui = app.ui;
  const float share = ui.finger ? 0.5f : 0.4f;
  const Rect box =
      bar.cut_right(std::clamp(bar.w * share, ui.px(100), ui.px(380))).inset(ui.px(6), ui.finger ? 0 : ui.px(5));
  const Hit hit = ui.item("palette", box);
  const Rect drawn = ui.finger ? box.inset(0, ui.px(6)) : box;
  ui.fill(drawn, ui.theme.bg, ui.px(4));
  ui.frame(drawn, hit.hovered ? ui.theme.link : ui.theme.line, ui.px(4));
  Rect inner = drawn.inset(ui.px(8), 0);
  if (!ui.finger)
    ui.text_in(inner.cut_right(ui.text_width(ui.sans, 12, "Ctrl+P") + ui.px(2)), ui.sans, 12, ui.theme.dim, "Ctrl+P");
  ui.text_in(inner, ui.sans, 12, ui.theme.dim, tr(Text::bar_palette));
  if (hit.clicked) app.command("palette");
}

// Which logdir and run is shown; a click leads to the others.
void draw_run(App& app, const Rect& bar) {
  Ui& ui = app.ui;
  const RunInfo& run = app.run();
  const bool several = app.overview.runs.size() > 1;
  const std::string text = app.overview.name + "   " + run_text(run) +
                           (several ? "   " + tr(Text::runs_to_choose, {{"n", app.overview.runs.size()}}) : "");
  const Hit selector = ui.item("run", bar, several);
  if (selector.hovered && several) ui.fill(bar.inset(0, ui.px(5)), ui.theme.badge, ui.px(3));
  ui.text_in(bar, ui.sans, 13, ui.theme.text, text);
  if (selector.hovered)
    ui.tooltip(
        tr(Text::run_hint, {{"id", run.run_id}, {"time", format_wall_time(run.start)}, {"version", run.version}}));
  if (selector.clicked && several) app.command("show_runs");
}

}  // namespace

void draw_top_bar(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.fill(area, ui.theme.panel);
  ui.hline(area.x, area.bottom() - 1, area.w, ui.theme.line);
  Rect bar = area.inset(ui.finger ? ui.px(4) : ui.px(10), 0);
  draw_bar_tools(app, bar);
  if (!ui.finger || app.overview.run < 0) bar.cut_left(ui.bold_in(bar, 15, ui.theme.text, "nanlens") + ui.px(14));
  draw_palette_box(app, bar);
  if (app.overview.run >= 0) draw_run(app, bar);
}

void draw_pane_tabs(App& app, Rect bar) {
  Ui& ui = app.ui;
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.y, bar.w, ui.theme.line);
  const float width = bar.w / static_cast<float>(num_panes);
  for (std::size_t i = 0; i < num_panes; ++i) {
    const auto pane = static_cast<Pane>(i);
    const Rect cell = bar.cut_left(width);
    const bool on = app.layout.place(pane).w > 0;
    if (ui.tool("tab:" + std::string(pane_ids[i]), cell.inset(ui.px(1), ui.px(2)), tr(pane_infos[i].tab),
                pane_title(app, pane), on))
      app.command("activate_pane", {{"pane", pane_ids[i]}});
    if (pane == Pane::alerts && app.alerts.total > app.alerts.muted)
      ui.fill({cell.right() - ui.px(12), cell.y + ui.px(8), ui.px(6), ui.px(6)}, ui.theme.badfill, ui.px(3));
  }
}

void draw_status_bar(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.fill(area, ui.theme.panel);
  ui.hline(area.x, area.y, area.w, ui.theme.line);
  Rect bar = area.inset(ui.px(10), 0);
  if (app.overview.run < 0) return;
  const RunInfo& run = app.run();
  const auto text_right = [&](const std::string& text) {
    bar.cut_right(ui.text_in(bar, ui.sans, 11, ui.theme.dim, text, Ellipsis::right, true) + ui.px(16));
  };
  if (app.platform.memory_bytes) text_right(format_bytes(app.platform.memory_bytes()));
  if (app.follow && !app.platform.is_copy)
    text_right(tr(app.platform.can_follow ? Text::status_following : Text::status_cannot_follow));
  const Focus& f = app.selection.focus;
  std::string text;
  if (f.trace >= 0) text = tr(Text::status_row, {{"index", f.trace}}) + " · ";
  if (!f.op_name.empty()) text += f.op_name + (f.slot >= 0 ? ":" + std::to_string(f.slot) : "") + " · ";
  if (f.execution >= 0) text += tr(Text::status_execution, {{"index", f.execution}}) + " · ";
  text +=
      tr(Text::status_size, {{"rows", run.num_traces}, {"executions", run.num_executions}, {"graphs", run.num_graphs}});
  if (!app.exporting.empty()) text = app.exporting;
  ui.text_in(bar, ui.sans, 11, app.exporting.empty() ? ui.theme.dim : ui.theme.warn, text);
}

}  // namespace nanlens::viewer
