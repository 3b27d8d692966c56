// One frame of the whole window. It is here, not beside the rest of App, since only this layer knows the panes.
#include <algorithm>
#include <utility>

#include "imgui_internal.h"
#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

void draw_panes(App& app, const Rect& area) {
  app.layout.arrange(area, app.ui, app.ui.finger, app.all_eager());
  for (std::size_t i = 0; i < num_panes; ++i) {
    const Rect& rect = app.layout.place(static_cast<Pane>(i));
    if (rect.w < 1 || rect.h < 1) continue;
    ImGui::PushClipRect(rect.min(), rect.max(), true);
    draw_pane[i](app, rect);
    ImGui::PopClipRect();
  }
  if (app.layout.splitters(app.ui)) app.wake();
}

void draw_detached_panes(App& app) {
  for (std::size_t i = 0; i < num_panes; ++i)
    if (app.layout.detached(static_cast<Pane>(i)) && app.overview.open)
      draw_detached_pane(app, static_cast<Pane>(i), draw_pane[i]);
}

// A popup that was asked for in a pane with a window of its own opens there; it may be larger than that window.
Rect popup_area(const App& app, const Rect& window) {
  if (!app.popup_of || !app.layout.detached(*app.popup_of)) return window;
  const Rect& pane = app.layout.windows[static_cast<std::size_t>(*app.popup_of)];
  constexpr float width = 1000;
  constexpr float height = 640;
  const Ui& ui = app.ui;
  const float w = std::max(pane.w, ui.px(width));
  const float h = std::max(pane.h, ui.px(height));
  return {pane.x + (pane.w - w) / 2, pane.y + (pane.h - h) / 2, w, h};
}

// Everything but what lies above it.
void draw_window(App& app, const Rect& window) {
  Ui& ui = app.ui;
  Rect area = window;
  constexpr float least = 300;
  if (area.w < ui.px(least) || area.h < ui.px(least)) {
    draw_empty(app, area, tr(Text::window_too_small));
    return;
  }
  const bool start = app.at_start();
  ui.stops.on = start && app.popup == Popup::none;
  draw_top_bar(app, area.cut_top(ui.bar(34)));
  if (start) {
    draw_start_screen(app, area);
    ui.stops.on = ui.stops.activate = false;
    return;
  }
  const Rect strip = area;
  area.cut_top(draw_verdict(app, strip));
  const Rect bottom = area.cut_bottom(ui.px(ui.finger ? 50.0f : 22.0f));
  draw_panes(app, area);
  if (ui.finger)
    draw_pane_tabs(app, bottom);
  else
    draw_status_bar(app, bottom);
}

}  // namespace

void App::begin_frame(double at, const Rect& window) {
  now = at;
  // Every press waits as a finger's does, but only under fingers are tooltips placed for them.
  if (!touch) ImGui::GetIO().MouseSource = ImGuiMouseSource_Mouse;
  ++frames_;
  if (frames_wanted_ > 0) --frames_wanted_;
  std::erase_if(toasts, [&](const Toast& t) { return t.until <= now && !t.held; });
  apply_theme();
  // Below these sizes, as on a phone, one pane fills the window.
  constexpr float phone_width = 640;
  constexpr float phone_height = 400;
  ui.finger = window.w < ui.px(phone_width) || window.h < ui.px(phone_height);
  constexpr float mouse_gap = 5;
  constexpr float finger_gap = 9;
  layout.gap = touch ? finger_gap : mouse_gap;
  ui.rects.clear();
  ui.cut.clear();
  ui.tooltip_pending = false;
  handle_keys();
  ui.stops.begin();
  menu_open = false;
  // What is under the mouse is known only when every pane is drawn: rings follow in the next frame.
  if (const TensorKey under = std::exchange(hovering_, {}); !(under == hovered)) {
    hovered = under;
    wake(2);
  }
}

void App::frame(double at) {
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const Rect window{screen.Pos.x, screen.Pos.y, screen.Size.x, screen.Size.y};
  begin_frame(at, window);
  ImGui::SetNextWindowPos(window.min());
  ImGui::SetNextWindowSize({window.w, window.h});
  ImGui::SetNextWindowViewport(screen.ID);
  ImGui::PushFont(ui.sans, ui.px(13));
  ImGui::Begin("nanlens", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  draw_window(*this, window);
  ImGui::End();
  draw_detached_panes(*this);
  draw_dragged_pane(*this, window);
  draw_popups(*this, popup_area(*this, window));
  if (popup != Popup::none) ui.held = {};  // Ctrl was that of a command
  ui.held_tooltip();
  draw_toasts(*this, window);
  ImGui::PopFont();
  close_menu = false;
  restore_first_row();
  sync_view();
  publish_link();
  // Tooltips come after a while without any event.
  tooltip_at_ = ui.tooltip_pending ? now + 0.36 : 0;
  if (std::exchange(ui.clicked, false)) wake(2);
  // ImGui takes what came at once (a press and its release) one by one.
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) wake(1);
  keep_of_run();
  if (settings_due()) save_settings();
}

}  // namespace nanlens::viewer
