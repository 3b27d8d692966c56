// What a line of nanlens.mutes says, and where it goes.
#include <algorithm>

#include "panes/overlay.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

void keep(App& app, const char* to) {
  const Result result = app.command("keep_mute", {{"to", to}});
  if (!result.ok) app.toast(result.message);
}

void draw_reason(App& app, const Rect& input) {
  Ui& ui = app.ui;
  auto& pane = app.mute_pane;
  ui.mark("mute:reason", input);
  if (std::exchange(pane.take_keyboard, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetCursorScreenPos(input.min());
  ImGui::SetNextItemWidth(input.w);
  ImGui::PushFont(ui.sans, ui.px(14));
  const std::string before = pane.reason;
  const bool enter = ImGui::InputTextWithHint("##reason", tr(Text::mute_reason_hint), pane.reason, sizeof pane.reason,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  if (before != pane.reason) pane.confirming = false;
  if (enter) keep(app, "copy");
}

// What can be done with the line, from left to right; the last thing asks before it is done.
void draw_ways(App& app, Rect row) {
  Ui& ui = app.ui;
  const auto way = [&](const char* to, const char* label, bool primary) {
    const float width = std::min(row.w, ui.bar_width(ui.label_width(label) + ui.px(12)));
    if (ui.button(std::string("mute:") + to, row.cut_left(width), label, primary)) keep(app, to);
    row.cut_left(ui.px(8));
  };
  way("copy", tr(Text::mute_copy), !app.mute_pane.confirming);
  if (app.platform.is_page) return way("save", tr(Text::mute_save), false);
  if (app.platform.mutes_file && !app.platform.mutes_file().empty())
    way("write", tr(app.mute_pane.confirming ? Text::mute_write_now : Text::mute_write), app.mute_pane.confirming);
}

}  // namespace

void draw_mute(App& app, const Rect& window) {
  const float width = centered(window, app.ui.px(720), 0).w;
  const float note = app.ui.paragraph_height(app.ui.sans, 13, tr(Text::mute_note), width - app.ui.px(32));
  const float height = note + 2 * app.ui.bar(30) + app.ui.px(148);
  overlay(app, tr(Text::mute_title), centered(window, width, height), [&](Rect inside) {
    Ui& ui = app.ui;
    inside = inside.inset(ui.px(16), ui.px(10));
    const auto paragraph = [&](ImFont* font, ImU32 color, const std::string& text) {
      const float used = ui.paragraph(inside, font, 13, color, text);
      inside.cut_top(used + ui.px(10));
    };
    paragraph(ui.sans, ui.theme.dim, tr(Text::mute_note));
    const Rect line = inside.cut_top(ui.px(46));
    ui.fill(line, ui.theme.badge, ui.px(3));
    ui.mark("mute:line", line);
    ui.paragraph(line.inset(ui.px(8), ui.px(5)), ui.mono, 12, ui.theme.text, app.mute_pane.line());
    inside.cut_top(ui.px(10));
    draw_reason(app, inside.cut_top(ui.px(26)));
    inside.cut_top(ui.px(12));
    draw_ways(app, inside.cut_top(ui.bar(28)));
    inside.cut_top(ui.px(6));
    if (app.mute_pane.confirming)
      ui.text_in(inside.cut_top(ui.px(18)), ui.sans, 12, ui.theme.warn,
                 tr(Text::mute_confirm, {{"place", app.platform.mutes_file()}}), Ellipsis::middle);
  });
}

}  // namespace nanlens::viewer
