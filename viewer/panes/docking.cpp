// Moving panes: what a dragged title shows, the menu of a title, and windows of panes that were taken out.
#include <algorithm>

#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

Json names_of(Pane pane) { return {{"pane", pane_ids[static_cast<std::size_t>(pane)]}}; }

void drop(App& app, const std::optional<DropPlace>& place, const Rect& window) {
  const Pane pane = *app.layout.dragged;
  app.layout.dragged.reset();
  Json arguments = names_of(pane);
  if (place) {
    arguments["side"] = side_ids[static_cast<std::size_t>(place->side)];
    if (place->target) arguments["to"] = pane_ids[static_cast<std::size_t>(*place->target)];
    app.command("move_pane", arguments);
  } else if (!window.contains(ImGui::GetIO().MousePos)) {
    if (const Result result = app.command("detach_pane", arguments); !result.ok) app.toast(result.message);
  }
}

}  // namespace

void draw_dragged_pane(App& app, const Rect& window) {
  if (!app.layout.dragged) return;
  Ui& ui = app.ui;
  const auto place = app.layout.drop_at(ImGui::GetIO().MousePos, ui);
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) return drop(app, place, window);
  ImDrawList& draw = *ImGui::GetForegroundDrawList(ImGui::GetMainViewport());
  if (place) {
    constexpr ImU32 see_through = 0x50000000;
    ui.rects["drop:preview"] = place->preview;
    draw.AddRectFilled(place->preview.min(), place->preview.max(), (ui.theme.link & 0x00ffffff) | see_through);
    draw.AddRect(place->preview.min(), place->preview.max(), ui.theme.link, 0, ui.px(2));
  }
  const std::string title = pane_title(app, *app.layout.dragged);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Rect label{mouse.x + ui.px(12), mouse.y + ui.px(10), ui.text_width(ui.sans, 12, title) + ui.px(16), ui.px(24)};
  draw.AddRectFilled(label.min(), label.max(), ui.theme.text, ui.px(4));
  draw.AddText(ui.sans, ui.px(12), {label.x + ui.px(8), label.y + ui.px(5)}, ui.theme.bg, title.c_str());
}

void draw_pane_menu(App& app, Pane pane) {
  const std::string id = "pane:" + std::string(pane_ids[static_cast<std::size_t>(pane)]) + ":menu";
  context_menu(app, id, [&] {
    const bool alone = app.layout.detached(pane);
    const auto entry = [&](Text text, const char* command, const Json& arguments) {
      if (ImGui::MenuItem(tr(text))) app.command(command, arguments);
    };
    if (alone) entry(Text::pane_dock, "dock_pane", names_of(pane));
    if (!alone && app.platform.can_detach) entry(Text::pane_detach, "detach_pane", names_of(pane));
    constexpr Text to_edge[] = {Text::pane_to_left, Text::pane_to_right, Text::pane_to_top, Text::pane_to_bottom};
    for (std::size_t side = 0; side < 4 && !app.ui.finger; ++side) {
      Json arguments = names_of(pane);
      arguments["side"] = side_ids[side];
      entry(to_edge[side], "move_pane", arguments);
    }
    if (!app.layout.is_default()) entry(Text::cmd_reset_layout, "reset_layout", Json::object());
  });
}

void draw_detached_pane(App& app, Pane pane, void (*draw)(App&, Rect)) {
  Ui& ui = app.ui;
  const auto index = static_cast<std::size_t>(pane);
  Rect& place = app.layout.windows[index];
  const ImGuiViewport& main = *ImGui::GetMainViewport();
  if (place.w < 1) {
    const float step = ui.px(40) * static_cast<float>(index + 1);
    place = {main.Pos.x + step, main.Pos.y + step, ui.px(640), ui.px(480)};
  }
  ImGuiWindowClass own_window;  // decorated by the system, never drawn into the main one
  own_window.ViewportFlagsOverrideSet = ImGuiViewportFlags_NoAutoMerge;
  own_window.ViewportFlagsOverrideClear = ImGuiViewportFlags_NoDecoration | ImGuiViewportFlags_NoTaskBarIcon;
  ImGui::SetNextWindowClass(&own_window);
  ImGui::SetNextWindowPos(place.min(), ImGuiCond_Appearing);
  ImGui::SetNextWindowSize({place.w, place.h}, ImGuiCond_Appearing);
  ImGui::SetNextWindowSizeConstraints({ui.px(240), ui.px(160)}, {1e6f, 1e6f});
  const std::string title = "nanlens: " + std::string(pane_title(app, pane)) + "###detached:" + pane_ids[index];
  bool open = true;
  if (ImGui::Begin(title.c_str(), &open,
                   ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                       ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav |
                       ImGuiWindowFlags_NoMove)) {
    const ImVec2 at = ImGui::GetWindowPos();
    const ImVec2 size = ImGui::GetWindowSize();
    place = {at.x, at.y, size.x, size.y};
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && app.ui.over(place)) app.active = pane;
    app.drawing = pane;
    draw(app, place);
    app.drawing.reset();
  }
  ImGui::End();
  if (!open) app.command("dock_pane", names_of(pane));
}

}  // namespace nanlens::viewer
