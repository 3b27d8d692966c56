#include <algorithm>
#include <cmath>
#include <utility>

#include "panes/panes.hpp"
#include "widgets/format.hpp"
#include "widgets/syntax.hpp"

namespace nanlens::viewer {

namespace {

constexpr float font_size = 12;
constexpr float row_height = 17;

const LineMark* mark_of(const Source& source, std::int32_t line) {
  const auto found = std::lower_bound(source.marks.begin(), source.marks.end(), line,
                                      [](const LineMark& m, std::int32_t l) { return m.line < l; });
  return found != source.marks.end() && found->line == line ? &*found : nullptr;
}

ImU32 color_of(const Theme& t, TokenKind kind) {
  switch (kind) {
    case TokenKind::keyword: return t.keyword;
    case TokenKind::literal: return t.literal;
    case TokenKind::comment: return t.comment;
    default: return t.text;
  }
}

// Tabs as spaces up to the next fourth column.
std::string expand_tabs(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c != '\t')
      out += c;
    else
      do out += ' ';
      while (out.size() % 4 != 0);
  }
  return out;
}

void draw_tabs(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.source_pane;
  for (std::size_t i = 0; i < pane.tabs.size() && bar.w > ui.px(60); ++i) {
    const std::string name = base_name(pane.tabs[i].path);
    Rect tab = bar.cut_left(std::min(bar.w, ui.text_width(ui.sans, 12, name) + ui.px(30)));
    bar.cut_left(ui.px(2));
    const Hit hit = ui.item("source:tab:" + std::to_string(i), tab);
    if (i == pane.tab) ui.fill(tab, ui.theme.bg);
    if (i == pane.tab) ui.fill({tab.x, tab.y, tab.w, ui.px(2)}, ui.theme.link);
    if (hit.hovered) ui.tooltip(pane.tabs[i].path);
    Rect close = tab.cut_right(ui.px(18));
    ui.text_in(tab.inset(ui.px(6), 0), ui.sans, 12, i == pane.tab ? ui.theme.text : ui.theme.dim, name);
    const bool closed =
        ui.tool("source:tab:" + std::to_string(i) + ":close", close.inset(0, ui.px(5)), "×", tr(Text::source_close));
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
  if (ui.tool("source:find:close", bar.cut_right(ui.px(24)).inset(ui.px(2)), "×", tr(Text::source_find_close)))
    app.command("find", {{"text", ""}, {"open", false}});
  if (ui.tool("source:find:next", bar.cut_right(ui.px(24)).inset(ui.px(2)), "▼", tr(Text::source_find_next)))
    app.command("find", {{"dir", 1}});
  if (ui.tool("source:find:previous", bar.cut_right(ui.px(24)).inset(ui.px(2)), "▲", tr(Text::source_find_previous)))
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

void draw_hits(App& app, const std::string& line, float x, const Rect& row) {
  Ui& ui = app.ui;
  const std::string needle = app.source_pane.find;
  if (!app.source_pane.finding || needle.empty()) return;
  for (std::size_t at = line.find(needle); at != std::string::npos; at = line.find(needle, at + needle.size())) {
    const float begin = ui.text_width(ui.mono, font_size, std::string_view(line).substr(0, at));
    ui.fill({x + begin, row.y, ui.text_width(ui.mono, font_size, needle), row.h}, ui.theme.input);
  }
}

/// A file as it is shown: the open tab's, or that of a caller beside it.
struct Shown {
  Tab& tab;
  const Source& source;
  float& scroll_x;
  bool beside;
};

// Dragging over lines of the open tab selects them.
void select_lines(App& app, const Rect& row, std::int32_t number, const Hit& hit) {
  auto& pane = app.source_pane;
  if (ImGui::IsItemActivated()) {
    pane.select_begin = pane.select_end = number;
    app.active = Pane::source;
  }
  if (hit.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    const float h = app.ui.px(row_height);
    pane.select_end =
        std::max(1, number + static_cast<std::int32_t>(std::floor((ImGui::GetIO().MousePos.y - row.y) / h)));
  } else if (hit.clicked && pane.select_begin == pane.select_end) {
    pane.select_begin = pane.select_end = 0;
  }
}

void draw_line(App& app, const Shown& shown, const Rect& row, float gutter, std::int32_t number,
               const std::vector<Token>& tokens, const std::string& line) {
  Ui& ui = app.ui;
  const auto& pane = app.source_pane;
  const std::string prefix = shown.beside ? "beside:" : "source:";
  const bool focused = shown.tab.line == number;
  const bool chosen = !shown.beside && pane.select_begin > 0 &&
                      number >= std::min(pane.select_begin, pane.select_end) &&
                      number <= std::max(pane.select_begin, pane.select_end);
  const LineMark* mark = mark_of(shown.source, number);
  const Hit hit =
      ui.item(prefix + "line:" + std::to_string(number), {row.x + gutter, row.y, row.w - gutter, row.h}, false);
  if (focused) ui.fill(row, ui.theme.focus);
  if (chosen) ui.fill({row.x + gutter, row.y, row.w - gutter, row.h}, ui.theme.func);
  if (focused) ui.fill({row.x, row.y, ui.px(4), row.h}, ui.theme.link);
  if (!shown.beside)
    select_lines(app, row, number, hit);
  else if (hit.clicked)
    app.command("focus_source", {{"host", shown.tab.host}, {"path", shown.tab.path}, {"line", number}});
  Rect gutter_cell{row.x, row.y, gutter, row.h};
  ui.text_in({gutter_cell.x, gutter_cell.y, gutter - ui.px(24), gutter_cell.h}, ui.mono, 11, ui.theme.dim,
             std::to_string(number), Ellipsis::left, true);
  if (mark != nullptr) {
    const Rect dot{row.x + gutter - ui.px(22), row.y, ui.px(18), row.h};
    const Hit on_dot = ui.item(prefix + "mark:" + std::to_string(number), dot, !shown.beside);
    const float radius = ui.px(mark->ops < 3 ? 2.5f : mark->ops < 20 ? 3.5f : 4.5f);
    ui.draw()->AddCircleFilled({dot.x + dot.w / 2, dot.y + dot.h / 2}, radius,
                               mark->bad ? ui.theme.badfill : ui.theme.link);
    if (on_dot.hovered) ui.tooltip(tr(mark->bad ? Text::source_ops_bad : Text::source_ops, {{"n", mark->ops}}));
    if (on_dot.clicked && !shown.beside) app.command("ops_of_line", {{"line", number}});
  }
  ImGui::PushClipRect({row.x + gutter, row.y}, row.max(), true);
  const float x = row.x + gutter - shown.scroll_x;
  if (!shown.beside) draw_hits(app, line, x, row);
  float at = x;
  for (const Token& t : tokens) {
    if (at > row.right()) break;
    const std::string_view part = std::string_view(line).substr(t.begin, t.end - t.begin);
    at += ui.text({at, row.y + (row.h - ui.px(font_size)) / 2 - ui.px(1)}, ui.mono, font_size,
                  color_of(ui.theme, t.kind), part);
  }
  if (mark != nullptr && mark->bad)
    ui.text({std::max(at + ui.px(12), row.right() - ui.px(24)), row.y}, ui.sans, font_size, ui.theme.bad, "▲");
  ImGui::PopClipRect();
}

void draw_text(App& app, Rect area, const Shown& shown, bool center) {
  Ui& ui = app.ui;
  Tab& tab = shown.tab;
  const auto& lines = shown.source.lines;
  const float h = ui.px(row_height);
  const double visible = static_cast<double>(area.h / h);
  const double total = static_cast<double>(lines.size());
  if (!shown.beside) app.source_pane.visible = visible;
  if (center) {
    tab.first = tab.line - 1 - visible / 2;
    shown.scroll_x = 0;
  }
  const ImVec2 wheel = ui.wheel(area);
  if (ImGui::GetIO().KeyShift)
    shown.scroll_x -= wheel.y * ui.px(40);
  else
    tab.first -= static_cast<double>(wheel.y) * 3;
  shown.scroll_x = std::max(0.0f, shown.scroll_x - wheel.x * ui.px(40));
  tab.first = std::clamp(tab.first, 0.0, std::max(0.0, total - visible));
  ui.scrollbar(shown.beside ? "beside:scroll" : "source:scroll", area.cut_right(ui.px(12)), total, visible, tab.first);
  const std::string widest = std::to_string(lines.size());
  const float gutter = ui.text_width(ui.mono, 11, widest) + ui.px(34);
  const Language language = language_of(tab.path);
  const auto first = static_cast<std::size_t>(tab.first);
  // Strings and comments of several lines are followed from some lines above.
  LineState state;
  for (std::size_t i = first > 400 ? first - 400 : 0; i < first && i < lines.size(); ++i)
    tokenize(language, lines[i], state);
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = first; i < lines.size(); ++i) {
    const Rect row{area.x, area.y + static_cast<float>(static_cast<double>(i) - tab.first) * h, area.w, h};
    if (row.y >= area.bottom()) break;
    const std::string line = expand_tabs(lines[i]);
    draw_line(app, shown, row, gutter, static_cast<std::int32_t>(i + 1), tokenize(language, line, state), line);
  }
  ImGui::PopClipRect();
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
  draw_text(app, area, {pane.beside, app.source_beside, pane.beside_scroll_x, true}, pane.beside_center);
  pane.beside_center = false;
}

}  // namespace

void draw_source_code(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect tools = draw_pane_header(app, Pane::source, area, tr(Text::pane_source), "");
  if (app.overview.run < 0) return;
  draw_tabs(app, tools);
  const Tab* tab = app.tab();
  if (tab == nullptr) {
    draw_empty(app, area, tr(Text::source_pick));
    return;
  }
  if (app.source_pane.finding) draw_find(app, area.cut_top(ui.px(26)));
  if (app.source.path != tab->path) return;  // its text is on the way
  if (app.source.lines.empty()) {
    draw_empty(app, area, tr(Text::source_no_text, {{"path", tab->path}}));
    return;
  }
  if (tab->line > static_cast<std::int32_t>(app.source.lines.size())) {
    Rect note = area.cut_top(ui.px(20));
    ui.fill(note, ui.theme.warnsoft);
    ui.text_in(note.inset(ui.px(8), 0), ui.sans, 12, ui.theme.warn,
               tr(Text::source_line_gone, {{"n", app.source.lines.size()}, {"line", tab->line}}));
  }
  auto& pane = app.source_pane;
  constexpr float both_from = 1300;  // two columns of a hundred characters
  pane.two = area.w >= ui.px(both_from) && caller_file(app) != nullptr;
  if (pane.two) draw_beside(app, area.cut_right(std::floor(area.w / 2)));
  draw_text(app, area, {pane.tabs[pane.tab], app.source, pane.scroll_x, false}, std::exchange(pane.center, false));
}

}  // namespace nanlens::viewer
