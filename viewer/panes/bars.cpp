// The top bar, the verdict strip and the status bar.
#include <algorithm>
#include <cmath>

#include <nanlens/summary/debug_mode.hpp>

#include "engine/badges.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

const RunInfo* run_of(const App& app) {
  if (app.overview.run < 0 || static_cast<std::size_t>(app.overview.run) >= app.overview.runs.size()) return nullptr;
  return &app.overview.runs[static_cast<std::size_t>(app.overview.run)];
}

std::string run_text(const RunInfo& run) {
  std::string text = run.run_id.empty() ? "run without an id" : "run " + run.run_id.substr(0, 8);
  if (const auto mode = debug_mode_name(static_cast<TensorDebugMode>(run.mode)); run.mode != 0 && !mode.empty())
    text += " · " + std::string(mode);
  return text;
}

// The sentence of the strip: the cause; until that is known, what went bad first and where it was made.
std::string verdict_text(const Verdict& v) {
  if (v.explained) return v.cause.sentence + " " + v.cause.consequence;
  std::string text = v.tensor;
  if (!v.graph_name.empty()) text += " in " + v.graph_name;
  text += " is the first bad tensor";
  if (!v.path.empty()) text += ": " + base_name(v.path) + ":" + std::to_string(v.line);
  return text;
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
  if (ui.button("loading:cancel", inner.cut_right(ui.px(90)).inset(0, ui.px(3)), "Cancel")) app.command("cancel");
  inner.cut_right(ui.px(12));
  const Rect gauge = inner.cut_right(std::min(ui.px(200), inner.w * 0.3f)).inset(0, ui.px(10));
  ui.fill(gauge, ui.theme.badge, ui.px(3));
  ui.fill({gauge.x, gauge.y, gauge.w * static_cast<float>(share), gauge.h}, ui.theme.link, ui.px(3));
  std::string text = "Reading  " + format_bytes(static_cast<double>(o.bytes_done)) + " of " +
                     format_bytes(static_cast<double>(o.bytes_total));
  if (o.verdict.alert >= 0)
    text += "   ▲ first bad tensor so far: " + o.verdict.tensor +
            (o.verdict.graph_name.empty() ? "" : " in " + o.verdict.graph_name);
  ui.text_in(inner, ui.sans, 13, ui.theme.warn, text);
  return bar.h;
}

float draw_stopped(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect bar = area.cut_top(ui.px(30));
  ui.fill(bar, ui.theme.warnsoft);
  Rect inner = bar.inset(ui.px(10), 0);
  if (ui.button("loading:go_on", inner.cut_right(ui.px(90)).inset(0, ui.px(3)), "Go on", true)) app.command("reload");
  const auto& o = app.overview;
  const double share =
      o.bytes_total == 0 ? 0 : 100.0 * static_cast<double>(o.bytes_done) / static_cast<double>(o.bytes_total);
  ui.text_in(inner, ui.sans, 13, ui.theme.warn,
             "Stopped at " + format_count(std::floor(share)) + " %. Everything read so far is shown.");
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
  if (tool("help", "?", "Keys (?)", 30)) app.command("help");
  if (tool("settings", "⚙", "Settings", 30)) app.command("show_settings");
  if (tool("theme", "☾", "Light or dark", 30)) app.command("theme");
  if (tool("open", "open", "Open a folder (Ctrl+O)", 46)) {
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
    if (hit.hovered) ui.tooltip("What could not be read, and why");
    if (hit.clicked) app.command("show_diagnostics");
  } else if (app.overview.run >= 0 && tool("diagnostics", "✓", "Everything was read without a fault", 28)) {
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
  ui.text_in(inner, ui.sans, 12, ui.theme.dim, "Go to, filter, command…");
  if (hit.clicked) app.command("palette");
  const RunInfo* const run = run_of(app);
  if (run == nullptr) return;
  Rect where = bar;
  const bool several = app.overview.runs.size() > 1;
  const std::string text = app.overview.name + "   " + run_text(*run) +
                           (several ? "   ▾ " + std::to_string(app.overview.runs.size()) + " runs" : "");
  const Hit selector = ui.item("run", where, several);
  if (selector.hovered && several) ui.fill(where.inset(0, ui.px(5)), ui.theme.badge, ui.px(3));
  ui.text_in(where, ui.sans, 13, ui.theme.text, text);
  if (selector.hovered)
    ui.tooltip("Run " + run->run_id + "\nstarted " + format_wall_time(run->start) + "\nwritten by " + run->version);
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
    const RunInfo& run = *run_of(app);
    const auto mode = static_cast<TensorDebugMode>(run.mode);
    if (run.num_traces + run.num_executions == 0)
      ui.text_in(inner, ui.sans, 14, ui.theme.dim, "Nothing was recorded in this run.");
    else if (mode == TensorDebugMode::no_tensor || mode == TensorDebugMode::shape)
      ui.text_in(inner, ui.sans, 14, ui.theme.warn,
                 "Recorded in mode " + std::string(debug_mode_name(mode)) + ": nothing here can be checked for NaN.");
    else
      ui.text_in(inner, ui.sans, 14, ui.theme.ok, "✓ No NaN or infinity was recorded.");
    return bar.h;
  }
  const Hit hit = ui.item("verdict", bar);
  if (v.explained && inner.w > ui.px(300)) {
    const Rect why = inner.cut_right(ui.px(52)).inset(ui.px(2), ui.px(3));
    if (ui.button("verdict:why", why, "Why")) app.command("show_causes");
    inner.cut_right(ui.px(4));
    const Rect fix = inner.cut_right(ui.px(44)).inset(ui.px(2), ui.px(3));
    if (!v.cause.remedy.empty() && ui.button("verdict:fix", fix, "Fix", app.remedy_shown)) app.command("show_remedy");
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
  const RunInfo* const run = run_of(app);
  if (run == nullptr) return;
  const auto text_right = [&](const std::string& text) {
    bar.cut_right(ui.text_in(bar, ui.sans, 11, ui.theme.dim, text, Ellipsis::right, true) + ui.px(16));
  };
  if (app.platform.memory_bytes) text_right(format_bytes(app.platform.memory_bytes()));
  if (app.follow)
    text_right(app.platform.can_follow ? "● following"
                                       : "not followed: this browser can't watch a dropped folder, Open folder may");
  const Focus& f = app.selection.focus;
  std::string text;
  if (f.trace >= 0) text = "row " + format_count(static_cast<double>(f.trace)) + " · ";
  if (!f.op_name.empty()) text += f.op_name + (f.slot >= 0 ? ":" + std::to_string(f.slot) : "") + " · ";
  if (f.execution >= 0) text += "execution #" + format_count(static_cast<double>(f.execution)) + " · ";
  text += format_count(static_cast<double>(run->num_traces)) + " rows, " +
          format_count(static_cast<double>(run->num_executions)) + " executions, " +
          format_count(static_cast<double>(run->num_graphs)) + " graphs";
  if (!app.exporting.empty()) text = app.exporting;
  ui.text_in(bar, ui.sans, 11, app.exporting.empty() ? ui.theme.dim : ui.theme.warn, text);
}

}  // namespace nanlens::viewer
