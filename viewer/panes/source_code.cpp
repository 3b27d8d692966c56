#include <algorithm>
#include <cmath>
#include <utility>

#include "panes/source_text.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

void draw_tabs(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.source_pane;
  for (std::size_t i = 0; i < pane.tabs.size() && bar.w > ui.px(60); ++i) {
    const std::string name = base_name(pane.tabs[i].path);
    Rect tab = bar.cut_left(std::min(bar.w, ui.text_width(ui.sans, 12, name) + ui.px(12) + ui.bar(18)));
    bar.cut_left(ui.px(2));
    const Hit hit = ui.item("source:tab:" + std::to_string(i), tab);
    if (i == pane.tab) ui.fill(tab, ui.theme.bg);
    if (i == pane.tab) ui.fill({tab.x, tab.y, tab.w, ui.px(2)}, ui.theme.link);
    if (hit.hovered) ui.tooltip(pane.tabs[i].path);
    Rect close = tab.cut_right(ui.bar(18));
    ui.text_in(tab.inset(ui.px(6), 0), ui.sans, 12, i == pane.tab ? ui.theme.text : ui.theme.dim, name);
    const bool closed = ui.tool("source:tab:" + std::to_string(i) + ":close", close.inset(0, ui.finger ? 0 : ui.px(5)),
                                "×", tr(Text::source_close));
    if (closed || hit.middle_clicked) {
      app.command("close_tab", {{"index", i}});
      return;
    }
    if (hit.clicked)
      app.command("focus_source",
                  {{"host", pane.tabs[i].host}, {"path", pane.tabs[i].path}, {"line", pane.tabs[i].line}});
  }
  if (const Tab* tab = app.tab(); tab != nullptr && bar.w > ui.px(40))
    ui.text_in(bar.inset(ui.px(6), 0), ui.mono, 11, ui.theme.dim, tab->path, Ellipsis::left, true);
}

void draw_find(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.source_pane;
  ui.fill(bar, ui.theme.panel);
  if (ui.tool("source:find:close", bar.cut_right(ui.bar(24)).inset(ui.px(2)), "×", tr(Text::source_find_close)))
    app.command("find", {{"text", ""}, {"open", false}});
  if (ui.tool("source:find:next", bar.cut_right(ui.bar(24)).inset(ui.px(2)), "▼", tr(Text::source_find_next)))
    app.command("find", {{"dir", 1}});
  if (ui.tool("source:find:previous", bar.cut_right(ui.bar(24)).inset(ui.px(2)), "▲", tr(Text::source_find_previous)))
    app.command("find", {{"dir", -1}});
  ui.mark("source:find", bar);
  ImGui::SetCursorScreenPos({bar.x + ui.px(4), bar.y + ui.px(2)});
  ImGui::SetNextItemWidth(bar.w - ui.px(8));
  if (pane.take_keyboard) ImGui::SetKeyboardFocusHere();
  pane.take_keyboard = false;
  ImGui::PushFont(ui.mono, ui.px(12));
  if (ImGui::InputTextWithHint("##find", tr(Text::source_find), pane.find, sizeof pane.find,
                               ImGuiInputTextFlags_EnterReturnsTrue)) {
    app.command("find", {{"dir", ImGui::GetIO().KeyShift ? -1 : 1}});
    pane.take_keyboard = true;
  }
  ImGui::PopFont();
}

// With much room, the file that calls the shown one: that of the nearest own frame of the stack in another file.
const Frame* caller_file(const App& app) {
  const auto& frames = app.selection.stack.frames;
  const auto shown = std::clamp<std::int64_t>(app.stack_pane.frame, 0, static_cast<std::int64_t>(frames.size()));
  for (auto i = static_cast<std::size_t>(shown); i-- > 0;)
    if (frames[i].own && frames[i].has_text && frames[i].path != app.tab()->path) return &frames[i];
  return nullptr;
}

void draw_beside(App& app, Rect area) {
  Ui& ui = app.ui;
  auto& pane = app.source_pane;
  const Frame& frame = *caller_file(app);
  const Tab wanted{frame.host, frame.path, frame.line, 0};
  const bool moved = !(pane.beside == wanted) || pane.beside.line != wanted.line;
  if (moved) pane.beside = wanted;
  ui.vline(area.x, area.y, area.h, ui.theme.line);
  area.cut_left(1);
  const Rect head = area.cut_top(ui.px(20));
  ui.fill(head, ui.theme.panel);
  const std::string title = tr(Text::source_called_from, {{"place", place_text(frame.path, frame.line)}});
  if (ui.link("source:beside", head.inset(ui.px(8), 0), ui.sans, 12, title))
    app.command("focus_source", {{"host", frame.host}, {"path", frame.path}, {"line", frame.line}});
  pane.beside_center = pane.beside_center || moved;
  if (app.source_beside.path != frame.path || app.source_beside.lines.empty()) return;  // on the way
  draw_source_text(app, area, {pane.beside, app.source_beside, pane.beside_scroll_x, true}, pane.beside_center);
  pane.beside_center = false;
}

// What is to be known before the text is read.
void draw_notes(App& app, Rect& area, const Tab& tab) {
  Ui& ui = app.ui;
  const auto note = [&](const char* id, const std::string& text) {
    const Rect bar = area.cut_top(ui.px(20));
    ui.mark(id, bar);
    ui.fill(bar, ui.theme.warnsoft);
    ui.text_in(bar.inset(ui.px(8), 0), ui.sans, 12, ui.theme.warn, text);
  };
  if (app.source_is_given()) note("source:given", tr(Text::source_given));
  if (tab.line > static_cast<std::int32_t>(app.source.lines.size()))
    note("source:line_gone", tr(Text::source_line_gone, {{"n", app.source.lines.size()}, {"line", tab.line}}));
}

}  // namespace

void draw_source_code(App& app, Rect area) {
  Ui& ui = app.ui;
  const Rect tools = draw_pane_header(app, Pane::source, area, tr(Text::pane_source), "");
  if (app.overview.run < 0) return;
  draw_tabs(app, tools);
  const Tab* tab = app.tab();
  if (tab == nullptr) {
    draw_empty(app, area, tr(Text::source_pick));
    return;
  }
  if (app.source_pane.finding) draw_find(app, area.cut_top(ui.bar(26)));
  if (app.source.path != tab->path) return;  // its text is on the way
  if (app.source.lines.empty()) {
    draw_empty(app, area, tr(Text::source_no_text, {{"path", tab->path}}));
    return;
  }
  draw_notes(app, area, *tab);
  auto& pane = app.source_pane;
  constexpr float both_from = 1300;  // two columns of a hundred characters
  pane.two = area.w >= ui.px(both_from) && caller_file(app) != nullptr;
  if (pane.two) draw_beside(app, area.cut_right(std::floor(area.w / 2)));
  draw_source_text(app, area, {pane.tabs[pane.tab], app.source, pane.scroll_x, false},
                   std::exchange(pane.center, false));
}

}  // namespace nanlens::viewer
