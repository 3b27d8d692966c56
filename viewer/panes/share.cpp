// What of a recording is handed on, as one file.
#include <algorithm>

#include "panes/overlay.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

// Two things of which one holds, as buttons behind a name.
struct Alternative {
  const char* id;
  const char* label;
  bool chosen;
};

void draw_alternatives(App& app, Rect row, const char* name, std::initializer_list<Alternative> ways, bool& second) {
  Ui& ui = app.ui;
  ui.text_in(row.cut_left(ui.px(ui.finger ? 100.0F : 130.0F)), ui.sans, 13, ui.theme.text, name);
  for (const Alternative& way : ways) {
    const float width = std::min(row.w, ui.bar_width(ui.label_width(way.label) + ui.px(14)));
    if (ui.button(std::string("share:") + way.id, row.cut_left(width), way.label, way.chosen))
      second = &way != ways.begin();
    row.cut_left(ui.px(6));
  }
}

void draw_choices_of_share(App& app, Rect& inside) {
  Ui& ui = app.ui;
  auto& pane = app.share_pane;
  const float line = ui.bar(28);
  draw_alternatives(
      app, inside.cut_top(line), tr(Text::share_what),
      {{"run", tr(Text::share_run), !pane.around_cause}, {"cause", tr(Text::share_cause), pane.around_cause}},
      pane.around_cause);
  inside.cut_top(ui.px(8));
  draw_alternatives(
      app, inside.cut_top(line), tr(Text::share_source),
      {{"source", tr(Text::share_with), !pane.no_source}, {"no_source", tr(Text::share_without), pane.no_source}},
      pane.no_source);
  inside.cut_top(ui.px(10));
}

// Of the popup, title and all, if it is `width` wide.
float height_of_share(const App& app, float width) {
  const Ui& ui = app.ui;
  const auto paragraph = [&](Text text) {
    return ui.paragraph_height(ui.sans, 13, tr(text), width - ui.px(32)) + ui.px(10);
  };
  const float choices = app.platform.is_page ? paragraph(Text::share_page_limits) : 2 * ui.bar(28) + ui.px(18);
  const float note = app.share_pane.around_cause ? paragraph(Text::share_other_rows) : 0;
  return ui.bar(34) + ui.px(20) + paragraph(Text::share_note) + choices + note + ui.bar(30) + ui.px(4);
}

}  // namespace

void draw_share(App& app, const Rect& window) {
  const float width = centered(window, app.ui.px(640), 0).w;
  overlay(app, tr(Text::share_title), centered(window, width, height_of_share(app, width)), [&](Rect inside) {
    Ui& ui = app.ui;
    inside = inside.inset(ui.px(16), ui.px(10));
    const auto paragraph = [&](const std::string& text) {
      const float used = ui.paragraph(inside, ui.sans, 13, ui.theme.dim, text);
      inside.cut_top(used + ui.px(10));
    };
    paragraph(tr(Text::share_note));
    if (app.platform.is_page)
      paragraph(tr(Text::share_page_limits));
    else
      draw_choices_of_share(app, inside);
    if (app.share_pane.around_cause) paragraph(tr(Text::share_other_rows));
    Rect foot = inside.cut_top(ui.bar(30));
    const char* const label = tr(app.platform.is_page ? Text::share_download : Text::share_write);
    if (ui.button("share:write", foot.cut_left(ui.bar_width(ui.label_width(label) + ui.px(20))), label, true)) {
      const Result result = app.command("write_share");
      if (!result.ok) app.toast(result.message);
    }
    foot.cut_left(ui.px(12));
    const std::string place = app.platform.share_place ? app.platform.share_place() : "";
    ui.text_in(foot, ui.mono, 12, ui.theme.dim, place, Ellipsis::left);
  });
}

}  // namespace nanlens::viewer
