// Pinned rows above the list. Those of one tensor are counted, and a line says what differs between them.
#include <algorithm>

#include "app/pins.hpp"
#include "panes/rows_parts.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

void draw_pins_bar(App& app, Rect bar) {
  Ui& ui = app.ui;
  auto& pane = app.rows_pane;
  ui.fill(bar, ui.theme.panel);
  const char* const unpin = tr(Text::rows_unpin);
  if (ui.tool("pins:clear", bar.cut_right(ui.bar_width(ui.label_width(unpin))), unpin, tr(Text::rows_unpin_hint)))
    app.command("clear_pins");
  const Hit hit = ui.item("pins", bar);
  if (hit.clicked) pane.pins_folded = !pane.pins_folded;
  ui.text_in(bar.inset(ui.px(8), 0), ui.sans, 11, ui.theme.dim,
             (pane.pins_folded ? "▸ " : "▾ ") + tr(Text::rows_pinned, {{"n", pane.pins.size()}}));
}

Role pin_role(const App& app, const std::vector<Comparison>& comparisons, std::size_t pin) {
  for (const Comparison& c : comparisons)
    if (const auto at = std::find(c.pins.begin(), c.pins.end(), pin); at != c.pins.end())
      return {Role::Kind::twin, tr(Text::alerts_place, {{"n", at - c.pins.begin() + 1}, {"total", c.pins.size()}})};
  return role_of(app, app.rows.pinned[pin]);
}

void draw_comparison(Ui& ui, const Rect& bar, std::size_t number, const Comparison& comparison) {
  const Hit hit = ui.item("pins:compared:" + std::to_string(number), bar, false);
  ui.fill(bar, ui.theme.card);
  const std::string text = comparison_text(comparison);
  ui.text_in(bar.inset(ui.px(8), 0), ui.sans, 12, ui.theme.text, text);
  if (hit.hovered) ui.tooltip(text);
}

}  // namespace

void draw_pins(App& app, Rect& area) {
  Ui& ui = app.ui;
  if (app.rows_pane.pins.empty()) return;
  draw_pins_bar(app, area.cut_top(ui.bar(20)));
  if (app.rows_pane.pins_folded) return;
  const std::vector<Comparison> comparisons = compare_pins(app.rows.pinned);
  const float h = row_height(app);
  for (std::size_t i = 0; i < app.rows.pinned.size(); ++i) {
    if (area.h < 3 * h) return;
    Rect line = area.cut_top(h);
    line.cut_right(ui.px(24));
    draw_row(app, line, app.rows.pinned[i], pin_role(app, comparisons, i), -1);
  }
  for (std::size_t i = 0; i < comparisons.size() && area.h > 4 * h; ++i)
    draw_comparison(ui, area.cut_top(ui.px(20)), i, comparisons[i]);
  ui.hline(area.x, area.y - 1, area.w, ui.theme.dim);
}

}  // namespace nanlens::viewer
