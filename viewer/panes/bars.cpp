// The top bar, the verdict strip and the status bar.
#include <algorithm>
#include <cmath>

#include <nanlens/summary/debug_mode.hpp>

#include "engine/badges.hpp"
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

// The sentence of the strip: the cause; until that is known, what went bad first and where it was made.
std::string verdict_text(const Verdict& v) {
  if (v.explained) return v.cause.sentence + " " + v.cause.consequence;
  const std::string tensor = tensor_text(v.tensor, v.graph_name);
  if (v.path.empty()) return tr(Text::verdict_first, {{"tensor", tensor}});
  return tr(Text::verdict_first_at, {{"tensor", tensor}, {"place", place_text(v.path, v.line)}});
}

float draw_loading(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect bar = area.cut_top(ui.px(30));
  ui.mark("loading", bar);
  ui.fill(bar, ui.theme.warnsoft);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  const auto& o = app.overview;
  const double share = o.bytes_total == 0 ? 0 : static_cast<double>(o.bytes_done) / static_cast<double>(o.bytes_total);
  Rect inner = bar.inset(ui.px(10), 0);
  if (ui.button("loading:cancel",
                inner.cut_right(std::max(ui.px(90), ui.label_width(tr(Text::loading_cancel)))).inset(0, ui.px(3)),
                tr(Text::loading_cancel)))
    app.command("cancel");
  inner.cut_right(ui.px(12));
  const Rect gauge = inner.cut_right(std::min(ui.px(200), inner.w * 0.3f)).inset(0, ui.px(10));
  ui.fill(gauge, ui.theme.badge, ui.px(3));
  ui.fill({gauge.x, gauge.y, gauge.w * static_cast<float>(share), gauge.h}, ui.theme.link, ui.px(3));
  ui.text_in(inner, ui.sans, 13, ui.theme.warn,
             tr(o.verdict.alert < 0 ? Text::loading : Text::loading_bad,
                {{"done", o.bytes_done},
                 {"total", o.bytes_total},
                 {"tensor", tensor_text(o.verdict.tensor, o.verdict.graph_name)}}));
  return bar.h;
}

float draw_stopped(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect bar = area.cut_top(ui.px(30));
  ui.fill(bar, ui.theme.warnsoft);
  Rect inner = bar.inset(ui.px(10), 0);
  if (ui.button("loading:go_on", inner.cut_right(ui.px(90)).inset(0, ui.px(3)), tr(Text::stopped_go_on), true))
    app.command("reload");
  const auto& o = app.overview;
  const double share =
      o.bytes_total == 0 ? 0 : 100.0 * static_cast<double>(o.bytes_done) / static_cast<double>(o.bytes_total);
  ui.text_in(inner, ui.sans, 13, ui.theme.warn, tr(Text::stopped, {{"percent", std::floor(share)}}));
  return bar.h;
}

}  // namespace

void draw_top_bar(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.fill(area, ui.theme.panel);
  ui.hline(area.x, area.bottom() - 1, area.w, ui.theme.line);
  Rect bar = area.inset(ui.px(10), 0);
  const auto tool = [&](const char* id, const char* label, const char* hint, float width) {
    return ui.tool(id, bar.cut_right(ui.px(width)).inset(ui.px(2), ui.px(5)), label, hint);
  };
  if (tool("help", "?", tr(Text::bar_keys), 30)) app.command("help");
  if (tool("settings", "⚙", tr(Text::settings_title), 30)) app.command("show_settings");
  if (tool("theme", "☾", tr(Text::bar_theme), 30)) app.command("theme");
  if (tool("open", tr(Text::bar_open), tr(Text::bar_open_hint),
           std::max(46.0f, ui.label_width(tr(Text::bar_open)) / ui.scale))) {
    const Result result = app.command("open_logdir");
    if (!result.ok) app.toast(result.message);
  }
  const auto faults = static_cast<double>(app.overview.num_diagnostics);
  if (faults > 0) {
    const std::string label = "⚠ " + format_count(faults);
    const Rect at = bar.cut_right(ui.text_width(ui.sans, 12, label) + ui.px(12)).inset(ui.px(2), ui.px(5));
    const Hit hit = ui.item("diagnostics", at);
    ui.fill(at, ui.theme.warnsoft, ui.px(3));
    ui.text_in(at.inset(ui.px(4), 0), ui.sans, 12, ui.theme.warn, label);
    if (hit.hovered) ui.tooltip(tr(Text::bar_diagnostics));
    if (hit.clicked) app.command("show_diagnostics");
  } else if (app.overview.run >= 0 && tool("diagnostics", "✓", tr(Text::bar_no_diagnostics), 28)) {
    app.command("show_diagnostics");
  }
  bar.cut_left(ui.bold_in(bar, 15, ui.theme.text, "nanlens") + ui.px(14));
  const Rect search = bar.cut_right(std::clamp(bar.w * 0.4f, ui.px(120), ui.px(380))).inset(ui.px(6), ui.px(5));
  const Hit hit = ui.item("palette", search);
  ui.fill(search, ui.theme.bg, ui.px(4));
  ui.frame(search, hit.hovered ? ui.theme.link : ui.theme.line, ui.px(4));
  Rect inner = search.inset(ui.px(8), 0);
  const Rect key = inner.cut_right(ui.text_width(ui.sans, 12, "Ctrl+P") + ui.px(2));
  ui.text_in(key, ui.sans, 12, ui.theme.dim, "Ctrl+P");
  ui.text_in(inner, ui.sans, 12, ui.theme.dim, tr(Text::bar_palette));
  if (hit.clicked) app.command("palette");
  if (app.overview.run < 0) return;
  const RunInfo& run = app.run();
  Rect where = bar;
  const bool several = app.overview.runs.size() > 1;
  const std::string text = app.overview.name + "   " + run_text(run) +
                           (several ? "   " + tr(Text::runs_to_choose, {{"n", app.overview.runs.size()}}) : "");
  const Hit selector = ui.item("run", where, several);
  if (selector.hovered && several) ui.fill(where.inset(0, ui.px(5)), ui.theme.badge, ui.px(3));
  ui.text_in(where, ui.sans, 13, ui.theme.text, text);
  if (selector.hovered)
    ui.tooltip(
        tr(Text::run_hint, {{"id", run.run_id}, {"time", format_wall_time(run.start)}, {"version", run.version}}));
  if (selector.clicked && several) app.command("show_runs");
}

// What to do about the cause, on a line of its own while it is asked for.
float draw_remedy(App& app, Rect area) {
  if (!app.remedy_shown) return 0;
  Ui& ui = app.ui;
  const std::string& remedy = app.overview.verdict.cause.remedy;
  const Rect bar = area.cut_top(ui.px(26));
  ui.mark("verdict:remedy", bar);
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  const float drawn = ui.text_in(bar.inset(ui.px(28), 0), ui.sans, 13, ui.theme.text, remedy);
  if (drawn > bar.w - ui.px(60) && ImGui::IsMouseHoveringRect(bar.min(), bar.max())) ui.tooltip(remedy);
  return bar.h;
}

float draw_verdict(App& app, Rect area) {
  Ui& ui = app.ui;
  constexpr double patience = 0.2;  // shorter reading is not worth a bar
  if (app.overview.loading && app.now - app.loading_since() > patience) return draw_loading(app, area);
  if (app.overview.stopped) return draw_stopped(app, area);
  if (app.overview.run < 0) {
    if (!app.overview.error.empty()) draw_empty(app, area, app.overview.error);
    return 0;
  }
  const Verdict& v = app.overview.verdict;
  Rect bar = area.cut_top(ui.px(30));
  ui.fill(bar, v.alert >= 0 ? ui.theme.badsoft : ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  Rect inner = bar.inset(ui.px(10), 0);
  if (v.alert < 0) {
    const RunInfo& run = app.run();
    const auto mode = static_cast<TensorDebugMode>(run.mode);
    if (run.num_traces + run.num_executions == 0)
      ui.text_in(inner, ui.sans, 14, ui.theme.dim, tr(Text::run_empty));
    else if (mode == TensorDebugMode::no_tensor || mode == TensorDebugMode::shape)
      ui.text_in(inner, ui.sans, 14, ui.theme.warn, tr(Text::verdict_no_health, {{"mode", debug_mode_name(mode)}}));
    else
      ui.text_in(inner, ui.sans, 14, ui.theme.ok, tr(Text::verdict_none));
    return bar.h;
  }
  const Hit hit = ui.item("verdict", bar);
  if (v.explained && inner.w > ui.px(300)) {
    const Rect why = inner.cut_right(ui.label_width(tr(Text::verdict_why)) + ui.px(12)).inset(ui.px(2), ui.px(3));
    if (ui.button("verdict:why", why, tr(Text::verdict_why))) app.command("show_causes");
    inner.cut_right(ui.px(4));
    const Rect fix = inner.cut_right(ui.label_width(tr(Text::verdict_fix)) + ui.px(12)).inset(ui.px(2), ui.px(3));
    if (!v.cause.remedy.empty() && ui.button("verdict:fix", fix, tr(Text::verdict_fix), app.remedy_shown))
      app.command("show_remedy");
    inner.cut_right(ui.px(6));
  }
  if (hit.clicked) app.command(v.explained ? "focus_cause" : "first_bad");
  if (hit.hovered && v.explained)
    ui.tooltip(v.cause.sentence + "\n" + v.cause.consequence + "\n" + v.cause.remedy);
  else if (hit.hovered)
    ui.tooltip(v.path + ":" + std::to_string(v.line) + "\n" + v.code);
  inner.cut_left(ui.text_in(inner, ui.sans, 14, ui.theme.bad, "▲  ") + ui.px(2));
  inner.cut_left(ui.bold_in(inner, 14, ui.theme.bad, verdict_text(v)) + ui.px(10));
  if (v.explained) return bar.h + draw_remedy(app, area);
  const std::vector<Badge> bad = bad_badges(v.badges);
  if (inner.w > ui.px(80)) inner.cut_left(ui.badges({inner.x, inner.y}, inner.w, inner.h, bad) + ui.px(10));
  const std::size_t text_begin = v.code.find_first_not_of(" \t");
  if (inner.w > ui.px(80) && text_begin != std::string::npos)
    ui.text_in(inner, ui.mono, 12, ui.theme.text, v.code.substr(text_begin));
  return bar.h;
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
  if (app.follow) text_right(tr(app.platform.can_follow ? Text::status_following : Text::status_cannot_follow));
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
