// What all panes share: the title bar, and the sentence of an empty pane.
#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

Rect draw_pane_header(App& app, Pane pane, Rect& area, std::string_view title, std::string_view count) {
  Ui& ui = app.ui;
  const std::string id = pane_ids[static_cast<std::size_t>(pane)];
  Rect bar = area.cut_top(ui.px(26));
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (app.active == pane) ui.fill({bar.x, bar.bottom() - ui.px(2), bar.w, ui.px(2)}, ui.theme.link);
  const bool maximized = app.layout.maximized.has_value();
  Rect tools = bar;
  const Rect maximize = tools.cut_right(ui.px(26)).inset(ui.px(2), ui.px(3));
  tools.cut_left(ui.px(8));
  // The whole bar takes double clicks; what is drawn after it lies above.
  const Hit hit = ui.item("pane:" + id, bar, false);
  if (hit.clicked) app.command("activate_pane", {{"pane", id}});
  if (hit.double_clicked) app.command(maximized ? "restore_panes" : "maximize_pane", {{"pane", id}});
  const float width = ui.bold_in(tools, 12, ui.theme.text, title);
  tools.cut_left(width + ui.px(8));
  if (!count.empty()) tools.cut_left(ui.text_in(tools, ui.sans, 12, ui.theme.dim, count) + ui.px(8));
  if (ui.tool("pane:" + id + ":maximize", maximize, maximized ? "×" : "□",
              tr(maximized ? Text::pane_restore : Text::pane_maximize)))
    app.command(maximized ? "restore_panes" : "maximize_pane", {{"pane", id}});
  return tools;
}

void draw_empty(App& app, const Rect& area, std::string_view text) {
  app.ui.paragraph(area.inset(app.ui.px(12), app.ui.px(12)), app.ui.sans, 13, app.ui.theme.dim, text);
}

}  // namespace nanlens::viewer
