// The filter above the rows: its box, its parts, what is wrong with it.
#include <string>
#include <vector>

#include <nanlens/query/query.hpp>

#include "panes/rows_parts.hpp"

namespace nanlens::viewer {

namespace {

std::string count_text(const App& app, bool filtered) {
  std::string count = tr(Text::rows_total, {{"n", app.rows.total}});
  if (filtered)
    count = tr(app.rows.complete ? Text::rows_shown : Text::rows_shown_so_far,
               {{"n", app.rows.shown}, {"total", app.rows.total}});
  return app.rows.sorting ? tr(Text::rows_sorting, {{"count", count}}) : count;
}

void draw_text_field(App& app, const Rect& bar) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  ui.mark("filter", bar);
  if (pane.take_keyboard) {
    ImGui::SetKeyboardFocusHere();
    pane.take_keyboard = false;
  }
  ImGui::PushFont(ui.mono, ui.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(4), ui.finger ? (bar.h - ui.px(14)) / 2 : ui.px(3)});
  ImGui::SetCursorScreenPos({bar.x, bar.y + std::floor((bar.h - ImGui::GetFrameHeight()) / 2)});
  ImGui::SetNextItemWidth(bar.w - ui.px(4));
  const bool error = !app.rows.filter_error.empty();
  if (error) ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.bad);
  if (ImGui::InputTextWithHint("##filter", tr(Text::rows_filter_hint), pane.filter, sizeof pane.filter))
    app.command("filter", {{"query", pane.filter}});
  if (error) ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

void draw_box(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  const bool filtered = pane.filter[0] != '\0' || pane.only_bad;
  const std::string count = count_text(app, filtered);
  const Rect count_at = bar.cut_right(ui.text_width(ui.sans, 12, count) + ui.px(8));
  ui.text_in(count_at, ui.sans, 12, ui.theme.dim, count, Ellipsis::right, true);
  const char* const bad = tr(Text::rows_bad);
  if (ui.tool("filter:bad", bar.cut_right(ui.bar_width(ui.label_width(bad))).inset(ui.finger ? 0 : ui.px(2)), bad,
              tr(Text::rows_bad_hint), pane.only_bad))
    app.command("only_bad", {{"on", !pane.only_bad}});
  if (filtered && ui.tool("filter:clear", bar.cut_right(ui.bar(24)).inset(ui.finger ? 0 : ui.px(2)), "×",
                          tr(Text::rows_clear_hint)))
    app.command("clear_filter");
  if (filtered) {
    const char* const rule = tr(Text::rules_add);
    if (ui.tool("filter:rule", bar.cut_right(ui.bar_width(ui.label_width(rule))).inset(ui.finger ? 0 : ui.px(2)), rule,
                tr(Text::rules_add_hint)))
      app.command("add_rule");
  }
  draw_text_field(app, bar);
}

// The parts of a filter that has several, each to be taken out by a click.
void draw_parts(App& app, Rect bar, const std::vector<std::string>& parts) {
  Ui& ui = app.ui;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string label = parts[i] + "  ×";
    const float w = ui.text_width(ui.sans, 13, label) + ui.px(14);
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

// Why it can't be read, or what it can't know.
void draw_note(App& app, Rect& area) {
  Ui& ui = app.ui;
  std::string text = app.rows.filter_note;
  if (!app.rows.filter_error.empty()) {
    const std::string query = app.rows_pane.filter;
    const std::size_t begin = std::min<std::size_t>(app.rows.error_begin, query.size());
    const std::string part = query.substr(begin, app.rows.error_end - begin);
    text = tr(part.empty() ? Text::filter_bad_end : Text::filter_bad_part,
              {{"part", part}, {"reason", app.rows.filter_error}});
  }
  if (text.empty()) return;
  const Rect note = area.cut_top(ui.px(20));
  if (app.rows.filter_error.empty()) ui.mark("filter:note", note);
  ui.fill(note, ui.theme.warnsoft);
  ui.text_in(note.inset(ui.px(8), 0), ui.sans, 12, ui.theme.warn, text);
}

}  // namespace

void draw_rows_filter(App& app, Rect& area) {
  Ui& ui = app.ui;
  draw_box(app, area.cut_top(ui.bar(28)).inset(ui.px(6), 0));
  if (const auto parts = query::parts(app.rows_pane.filter); parts.size() > 1)
    draw_parts(app, area.cut_top(ui.bar(22)).inset(ui.px(6), 0), parts);
  draw_note(app, area);
}

}  // namespace nanlens::viewer
