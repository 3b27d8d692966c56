// Lines of a source file: gutter, colours, what is found and what is selected in them.
#include "panes/source_text.hpp"

#include <algorithm>
#include <cmath>

#include "widgets/syntax.hpp"

namespace nanlens::viewer {

namespace {

constexpr float font_size = 12;
constexpr float source_line = 17;
constexpr float finger_source_line = 24;

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

float source_line_height(const Ui& ui) { return ui.px(ui.finger ? finger_source_line : source_line); }

std::string prefix_of(const ShownFile& shown) { return shown.beside ? "beside:" : "source:"; }

void draw_hits(App& app, const std::string& line, float x, const Rect& row) {
  Ui& ui = app.ui;
  const std::string needle = app.source_pane.find;
  if (!app.source_pane.finding || needle.empty()) return;
  for (std::size_t at = line.find(needle); at != std::string::npos; at = line.find(needle, at + needle.size())) {
    const float begin = ui.text_width(ui.mono, font_size, std::string_view(line).substr(0, at));
    ui.fill({x + begin, row.y, ui.text_width(ui.mono, font_size, needle), row.h}, ui.theme.input);
  }
}

// Dragging over lines of the open tab selects them.
void select_lines(App& app, const Rect& row, std::int32_t number, const Hit& hit) {
  auto& pane = app.source_pane;
  if (ImGui::IsItemActivated()) {
    pane.select_begin = pane.select_end = number;
    app.active = Pane::source;
  }
  if (hit.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    const float h = source_line_height(app.ui);
    pane.select_end =
        std::max(1, number + static_cast<std::int32_t>(std::floor((ImGui::GetIO().MousePos.y - row.y) / h)));
  } else if (hit.clicked && pane.select_begin == pane.select_end) {
    pane.select_begin = pane.select_end = 0;
  }
}

void draw_gutter(App& app, const ShownFile& shown, const Rect& row, float gutter, std::int32_t number,
                 const LineMark* mark) {
  Ui& ui = app.ui;
  ui.text_in({row.x, row.y, gutter - ui.px(24), row.h}, ui.mono, 11, ui.theme.dim, std::to_string(number),
             Ellipsis::left, true);
  if (mark == nullptr) return;
  const Rect dot =
      ui.finger ? Rect{row.x, row.y, gutter, row.h} : Rect{row.x + gutter - ui.px(22), row.y, ui.px(18), row.h};
  const Hit hit = ui.item(prefix_of(shown) + "mark:" + std::to_string(number), dot, !shown.beside);
  const float radius = ui.px(mark->ops < 3 ? 2.5f : mark->ops < 20 ? 3.5f : 4.5f);
  ui.draw()->AddCircleFilled({row.x + gutter - ui.px(13), dot.y + dot.h / 2}, radius,
                             mark->bad ? ui.theme.badfill : ui.theme.link);
  if (hit.hovered) ui.tooltip(tr(mark->bad ? Text::source_ops_bad : Text::source_ops, {{"n", mark->ops}}));
  if (hit.clicked && !shown.beside) app.command("ops_of_line", {{"line", number}});
}

// The text of a line right of the gutter; ▲ behind it if an op of it went bad.
void draw_code(App& app, const ShownFile& shown, const Rect& area, const std::vector<Token>& tokens,
               const std::string& line, bool bad) {
  Ui& ui = app.ui;
  ImGui::PushClipRect(area.min(), area.max(), true);
  const float x = area.x - shown.scroll_x;
  if (!shown.beside) draw_hits(app, line, x, area);
  float at = x;
  for (const Token& t : tokens) {
    if (at > area.right()) break;
    const std::string_view part = std::string_view(line).substr(t.begin, t.end - t.begin);
    at += ui.text({at, area.y + (area.h - ui.px(font_size)) / 2 - ui.px(1)}, ui.mono, font_size,
                  color_of(ui.theme, t.kind), part);
  }
  if (bad) ui.text({std::max(at + ui.px(12), area.right() - ui.px(24)), area.y}, ui.sans, font_size, ui.theme.bad, "▲");
  ImGui::PopClipRect();
}

void draw_line(App& app, const ShownFile& shown, const Rect& row, float gutter, std::int32_t number,
               const std::vector<Token>& tokens, const std::string& line) {
  Ui& ui = app.ui;
  const auto& pane = app.source_pane;
  const bool focused = shown.tab.line == number;
  const bool chosen = !shown.beside && pane.select_begin > 0 &&
                      number >= std::min(pane.select_begin, pane.select_end) &&
                      number <= std::max(pane.select_begin, pane.select_end);
  const Rect text{row.x + gutter, row.y, row.w - gutter, row.h};
  const Hit hit = ui.item(prefix_of(shown) + "line:" + std::to_string(number), text, false);
  if (focused) ui.fill(row, ui.theme.focus);
  if (chosen) ui.fill(text, ui.theme.func);
  if (focused) ui.fill({row.x, row.y, ui.px(4), row.h}, ui.theme.link);
  if (!shown.beside)
    select_lines(app, row, number, hit);
  else if (hit.clicked)
    app.command("focus_source", {{"host", shown.tab.host}, {"path", shown.tab.path}, {"line", number}});
  const LineMark* const mark = mark_of(shown.source, number);
  draw_gutter(app, shown, row, gutter, number, mark);
  draw_code(app, shown, text, tokens, line, mark != nullptr && mark->bad);
}

// Wheel, the asked for line into the middle, and the scroll bar.
void scroll_text(App& app, Rect& area, const ShownFile& shown, bool center) {
  Ui& ui = app.ui;
  Tab& tab = shown.tab;
  const double visible = static_cast<double>(area.h / source_line_height(ui));
  const double total = static_cast<double>(shown.source.lines.size());
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
  ui.scrollbar(prefix_of(shown) + "scroll", area.cut_right(ui.px(12)), total, visible, tab.first);
}

}  // namespace

void draw_source_text(App& app, Rect area, const ShownFile& shown, bool center) {
  Ui& ui = app.ui;
  scroll_text(app, area, shown, center);
  const auto& lines = shown.source.lines;
  const float h = source_line_height(ui);
  const float gutter = ui.text_width(ui.mono, 11, std::to_string(lines.size())) + ui.px(34);
  const Language language = language_of(shown.tab.path);
  const auto first = static_cast<std::size_t>(shown.tab.first);
  // Strings and comments of several lines are followed from some lines above.
  LineState state;
  for (std::size_t i = first > 400 ? first - 400 : 0; i < first && i < lines.size(); ++i)
    tokenize(language, lines[i], state);
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = first; i < lines.size(); ++i) {
    const Rect row{area.x, area.y + static_cast<float>(static_cast<double>(i) - shown.tab.first) * h, area.w, h};
    if (row.y >= area.bottom()) break;
    const std::string line = expand_tabs(lines[i]);
    draw_line(app, shown, row, gutter, static_cast<std::int32_t>(i + 1), tokenize(language, line, state), line);
  }
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
