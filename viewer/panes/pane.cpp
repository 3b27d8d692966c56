// What all panes share: the title bar, the ring of a tensor, and the sentence of an empty pane.
#include <algorithm>

#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

std::string id_of(Pane pane) { return pane_ids[static_cast<std::size_t>(pane)]; }

bool is_dragged(const Ui& ui, bool held) {
  constexpr float begin = 8;  // pixels at 100 % that a click may tremble
  return held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, ui.px(begin));
}

// The whole bar takes clicks: one activates the pane, two fill the window with it or put it back, dragging moves it.
void handle_bar(App& app, Pane pane, const Rect& bar) {
  const std::string id = id_of(pane);
  const Hit hit = app.ui.item("pane:" + id, bar, false);
  const bool alone = app.layout.detached(pane);
  if (hit.clicked) app.command("activate_pane", {{"pane", id}});
  if (hit.double_clicked)
    app.command(alone ? "dock_pane" : app.layout.maximized ? "restore_panes" : "maximize_pane", {{"pane", id}});
  const bool dragging = is_dragged(app.ui, hit.held);
  if (dragging && alone) {
    const ImVec2 at = ImGui::GetWindowPos();
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    ImGui::SetWindowPos({at.x + by.x, at.y + by.y});
  } else if (dragging && !app.layout.maximized && !app.ui.finger) {
    app.layout.dragged = pane;
  }
  if (hit.right_clicked) ImGui::OpenPopup(("pane:" + id + ":menu").c_str());
  draw_pane_menu(app, pane);
}

// The names of the panes that share the place; the one in front is bold.
void draw_titles(App& app, Pane pane, Rect& tools, std::string_view title, std::string_view count) {
  Ui& ui = app.ui;
  const std::vector<Pane>& group = app.layout.group_of(pane);
  const bool tabs = group.size() > 1 && !app.layout.detached(pane) && !app.layout.maximized && !ui.finger;
  for (const Pane other : tabs ? group : std::vector<Pane>{pane}) {
    if (other == pane) {
      tools.cut_left(ui.bold_in(tools, 12, ui.theme.text, title) + ui.px(8));
      if (!count.empty()) tools.cut_left(ui.text_in(tools, ui.sans, 12, ui.theme.dim, count) + ui.px(8));
    } else if (!app.layout.detached(other)) {
      const std::string_view name = pane_title(app, other);
      const Rect at = tools.cut_left(std::min(tools.w, ui.label_width(name))).inset(0, ui.px(3));
      if (ui.tool("tab:" + id_of(other), at, name, tr(Text::pane_tab)))
        app.command("activate_pane", {{"pane", id_of(other)}});
      if (is_dragged(ui, ImGui::IsItemActive())) app.layout.dragged = other;
      tools.cut_left(ui.px(6));
    }
  }
}

}  // namespace

const char* pane_title(const App& app, Pane pane) {
  const bool executions = pane == Pane::rows && app.all_eager();  // its list is of those then
  return tr(executions ? Text::pane_executions : info_of(pane).title);
}

Rect draw_pane_header(App& app, Pane pane, Rect& area, std::string_view title, std::string_view count) {
  Ui& ui = app.ui;
  const std::string id = id_of(pane);
  constexpr float finger_bar = 50;  // with a margin around its tools
  const Rect bar = area.cut_top(ui.px(ui.finger ? finger_bar : 26));
  ui.fill(bar, ui.theme.panel);
  ui.hline(bar.x, bar.bottom() - 1, bar.w, ui.theme.line);
  if (app.active == pane) ui.fill({bar.x, bar.bottom() - ui.px(2), bar.w, ui.px(2)}, ui.theme.link);
  Rect tools = bar;
  handle_bar(app, pane, bar);  // what is drawn after it lies above
  tools.cut_left(ui.px(8));
  if (app.layout.detached(pane)) {
    const char* const dock = tr(Text::pane_dock);
    const Rect at = tools.cut_right(ui.label_width(dock)).inset(ui.px(2), ui.px(3));
    if (ui.tool("pane:" + id + ":dock", at, dock, tr(Text::pane_dock_hint))) app.command("dock_pane", {{"pane", id}});
  } else if (!ui.finger) {
    const bool maximized = app.layout.maximized.has_value();
    if (ui.tool("pane:" + id + ":maximize", tools.cut_right(ui.px(26)).inset(ui.px(2), ui.px(3)), maximized ? "×" : "□",
                tr(maximized ? Text::pane_restore : Text::pane_maximize)))
      app.command(maximized ? "restore_panes" : "maximize_pane", {{"pane", id}});
  }
  draw_titles(app, pane, tools, title, count);
  return tools;
}

void draw_ring(App& app, const Rect& rect, const TensorKey& key, bool hovered) {
  if (hovered) app.hover(key);
  constexpr ImU32 faint = 0xa0000000;
  if (key.same(app.hovered))
    app.ui.frame(rect.inset(1), (app.ui.theme.link & 0x00ffffff) | faint, app.ui.px(3), app.ui.px(2));
}

void draw_empty(App& app, const Rect& area, std::string_view text) {
  app.ui.paragraph(area.inset(app.ui.px(12), app.ui.px(12)), app.ui.sans, 13, app.ui.theme.dim, text);
}

}  // namespace nanlens::viewer
