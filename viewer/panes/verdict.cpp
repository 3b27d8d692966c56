// The strip that says what is wrong and why, or how far reading has come.
#include <algorithm>
#include <cmath>

#include <nanlens/summary/debug_mode.hpp>

#include "engine/badges.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

// The sentence of the strip: the cause; until that is known, what went bad first and where it was made.
std::string verdict_text(const Verdict& v) {
  if (v.all_muted) return tr(Text::verdict_all_muted, {{"n", v.num_causes}, {"place", v.muted_by}});
  const std::string muted =
      v.num_muted == 0 ? "" : " " + tr(Text::verdict_muted, {{"n", v.num_muted}, {"place", v.muted_by}});
  if (v.explained) return v.cause.sentence + " " + v.cause.consequence + muted;
  const std::string tensor = tensor_text(v.tensor, v.graph_name);
  if (v.path.empty()) return tr(Text::verdict_first, {{"tensor", tensor}});
  return tr(Text::verdict_first_at, {{"tensor", tensor}, {"place", place_text(v.path, v.line)}});
}

// An alarm, as `nanlens check` gives one; a warning where all that is bad does no harm; nothing where all is muted.
struct Look {
  ImU32 back;
  ImU32 text;
  const char* sign;
};

Look look_of(const Verdict& v, const Theme& theme) {
  if (v.all_muted) return {theme.panel, theme.dim, "∅  "};
  if (v.harmless) return {theme.warnsoft, theme.warn, "△  "};
  return {theme.badsoft, theme.bad, "▲  "};
}

float draw_loading(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect bar = area.cut_top(ui.bar(30));
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
  std::string text = tr(Text::loading, {{"done", o.bytes_done}, {"total", o.bytes_total}});
  const double seconds = app.now - app.loading_since();
  if (const double rate = static_cast<double>(o.bytes_done) / seconds; rate > 0 && o.bytes_done < o.bytes_total)
    text += "  " + tr(Text::loading_rate,
                      {{"rate", rate}, {"left", static_cast<double>(o.bytes_total - o.bytes_done) / rate}});
  if (o.verdict.alert >= 0)
    text += "   ▲ " + tr(Text::loading_bad, {{"tensor", tensor_text(o.verdict.tensor, o.verdict.graph_name)}});
  ui.text_in(inner, ui.sans, 13, ui.theme.warn, text);
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

// What to do about the cause, on a line of its own while it is asked for.
float draw_remedy(App& app, Rect area) {
  if (!app.remedy_shown) return 0;
  Ui& ui = app.ui;
  const std::string& remedy = app.overview.verdict.cause.remedy;
  const bool wraps = ui.finger;
  const float lines = wraps ? ui.paragraph_height(ui.sans, 13, remedy, area.w - ui.px(20)) + ui.px(12) : ui.px(26);
  const Rect bar = area.cut_top(lines);
  const Hit hit = ui.item("verdict:remedy", bar, false);
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (wraps) {
    ui.paragraph(bar.inset(ui.px(10), ui.px(6)), ui.sans, 13, ui.theme.text, remedy);
    return bar.h;
  }
  ui.text_in(bar.inset(ui.px(28), 0), ui.sans, 13, ui.theme.text, remedy);
  if (hit.hovered) ui.tooltip(remedy);
  return bar.h;
}

// The strip goes until it is asked for, or another run is shown.
void draw_close(App& app, Rect& inner) {
  Ui& ui = app.ui;
  if (ui.tool("verdict:close", inner.cut_right(ui.bar(24)).inset(ui.finger ? 0 : ui.px(1), ui.finger ? 0 : ui.px(3)),
              "×", tr(Text::verdict_close)))
    app.command("show_verdict", {{"on", false}});
  inner.cut_right(ui.px(4));
}

float draw_clean_verdict(App& app, const Rect& bar) {
  Ui& ui = app.ui;
  const RunInfo& run = app.run();
  const auto mode = static_cast<TensorDebugMode>(run.mode);
  Rect inner = bar.inset(ui.px(10), 0);
  draw_close(app, inner);
  if (run.num_traces + run.num_executions == 0)
    ui.text_in(inner, ui.sans, 14, ui.theme.dim, tr(Text::run_empty));
  else if (!tells(mode, Told::health))
    ui.text_in(inner, ui.sans, 14, ui.theme.warn, tr(Text::verdict_no_health, {{"mode", debug_mode_name(mode)}}));
  else if (const Verdict& v = app.overview.verdict; v.trapped) {
    const std::string text =
        "▲ " + (v.path.empty() ? tr(Text::trapped_itself, {{"op", v.op_type}})
                               : tr(Text::trapped_itself_at, {{"op", v.op_type}, {"place", v.path}}));
    const Hit hit = ui.item("verdict", inner);
    if (hit.clicked) app.command("focus_execution", {{"index", v.execution}});
    if (hit.hovered) ui.tooltip(text);
    ui.text_in(inner, ui.sans, 14, ui.theme.warn, text);
  } else if (run.num_bad_complex > 0) {
    const std::string text = "▲ " + complex_text(run);
    const Hit hit = ui.item("verdict", inner);
    if (hit.clicked) app.command("focus_execution", {{"index", run.first_bad_complex}});
    if (hit.hovered) ui.tooltip(text);
    ui.text_in(inner, ui.sans, 14, ui.theme.warn, text);
  } else
    ui.text_in(inner, ui.sans, 14, ui.theme.ok, tr(Text::verdict_none));
  return bar.h;
}

// "Why" and "Fix", at the right end.
void draw_verdict_buttons(App& app, Rect& inner) {
  Ui& ui = app.ui;
  const Verdict& v = app.overview.verdict;
  const float inset = ui.finger ? 0 : ui.px(3);
  const auto cut = [&](Text label) {
    return inner.cut_right(ui.bar_width(ui.label_width(tr(label)) + ui.px(12))).inset(ui.finger ? 0 : ui.px(2), inset);
  };
  if (ui.button("verdict:why", cut(Text::verdict_why), tr(Text::verdict_why))) app.command("show_causes");
  inner.cut_right(ui.px(4));
  const Rect fix = cut(Text::verdict_fix);
  if (!v.cause.remedy.empty() && ui.button("verdict:fix", fix, tr(Text::verdict_fix), app.remedy_shown))
    app.command("show_remedy");
  inner.cut_right(ui.px(6));
}

void handle_verdict(App& app, const Hit& hit) {
  const Verdict& v = app.overview.verdict;
  // What is selected may follow from a muted cause; the strip speaks of another one then.
  if (hit.clicked && v.num_muted > 0)
    app.command("focus_cause", {{"index", 0}});
  else if (hit.clicked)
    app.command(v.explained ? "focus_cause" : "first_bad");
  if (hit.hovered && v.explained)
    app.ui.tooltip(v.cause.sentence + "\n" + v.cause.consequence + "\n" + v.cause.remedy +
                   (v.reasons.empty() ? "" : "\n" + tr(Text::muted_by, {{"place", v.reasons}})));
  else if (hit.hovered)
    app.ui.tooltip(v.path + ":" + std::to_string(v.line) + "\n" + v.code);
}

// On a phone the sentence has as many lines as it needs, but leaves most of the window to the pane.
float draw_wrapped_verdict(App& app, Rect area) {
  Ui& ui = app.ui;
  const Verdict& v = app.overview.verdict;
  const Look look = look_of(v, ui.theme);
  const std::string text = look.sign + verdict_text(v);
  const float padding = ui.px(8);
  const float needed = ui.paragraph_height(ui.sans, 14, text, area.w - 2 * ui.px(10)) + 2 * padding;
  const Rect sentence = area.cut_top(std::clamp(needed, ui.bar(30), area.h * 0.3f));
  ui.fill(sentence, look.back);
  handle_verdict(app, ui.item("verdict", sentence));
  ui.paragraph(sentence.inset(ui.px(10), padding), ui.sans, 14, look.text, text);
  float height = sentence.h;
  if (v.explained) {
    const Rect bar = area.cut_top(ui.bar(30));
    ui.fill(bar, look.back);
    Rect inner = bar.inset(ui.px(8), 0);
    draw_close(app, inner);
    draw_verdict_buttons(app, inner);
    height += bar.h + draw_remedy(app, area);
  }
  ui.hline(area.x, area.y - 1, area.w, ui.theme.line);
  return height;
}

}  // namespace

float draw_verdict(App& app, Rect area) {
  Ui& ui = app.ui;
  constexpr double patience = 0.2;  // shorter reading is not worth a bar
  if (app.overview.loading && app.now - app.loading_since() > patience) return draw_loading(app, area);
  if (app.overview.stopped) return draw_stopped(app, area);
  if (app.overview.run < 0) {
    if (!app.overview.error.empty()) draw_empty(app, area, app.overview.error);
    return 0;
  }
  if (app.verdict_closed == app.run().key) return 0;
  const Verdict& v = app.overview.verdict;
  if (v.alert >= 0 && ui.finger) return draw_wrapped_verdict(app, area);
  const Rect bar = area.cut_top(ui.px(30));
  const Look look = look_of(v, ui.theme);
  ui.fill(bar, v.alert >= 0 ? look.back : ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (v.alert < 0) return draw_clean_verdict(app, bar);
  Rect inner = bar.inset(ui.px(10), 0);
  const Hit hit = ui.item("verdict", bar);
  draw_close(app, inner);
  if (v.explained && inner.w > ui.px(300)) draw_verdict_buttons(app, inner);
  handle_verdict(app, hit);
  inner.cut_left(ui.text_in(inner, ui.sans, 14, look.text, look.sign) + ui.px(2));
  inner.cut_left(ui.bold_in(inner, 14, look.text, verdict_text(v)) + ui.px(10));
  if (v.explained) return bar.h + draw_remedy(app, area);
  const std::vector<Badge> bad = bad_badges(v.badges);
  if (inner.w > ui.px(80)) inner.cut_left(ui.badges({inner.x, inner.y}, inner.w, inner.h, bad) + ui.px(10));
  const std::size_t text_begin = v.code.find_first_not_of(" \t");
  if (inner.w > ui.px(80) && text_begin != std::string::npos)
    ui.text_in(inner, ui.mono, 12, ui.theme.text, v.code.substr(text_begin));
  return bar.h;
}

}  // namespace nanlens::viewer
