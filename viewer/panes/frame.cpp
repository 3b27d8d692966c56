// One frame of the whole window. It is here, not beside the rest of App, since only this layer knows the panes.
#include <algorithm>

#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

void App::frame(double at) {
  now = at;
  ++frames_;
  if (frames_wanted_ > 0) --frames_wanted_;
  std::erase_if(toasts, [&](const Toast& t) { return t.until <= now; });
  apply_theme();
  constexpr float mouse_gap = 5;
  constexpr float finger_gap = 9;
  layout.gap = touch ? finger_gap : mouse_gap;
  if (touch) rows_pane.row_height = std::max(rows_pane.row_height, 30.0f);
  ui.rects.clear();
  ui.cut.clear();
  ui.tooltip_pending = false;
  handle_keys();
  menu_open = false;

  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushFont(ui.sans, ui.px(13));
  ImGui::Begin("nanlens", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  Rect area{0, 0, size.x, size.y};
  const Rect window = area;
  if (area.w < ui.px(640) || area.h < ui.px(400)) {
    draw_empty(*this, area, tr(Text::window_too_small));
  } else {
    draw_top_bar(*this, area.cut_top(ui.px(34)));
    if (!overview.open && !overview.loading) {
      draw_start_screen(*this, area);
    } else {
      Rect strip = area;
      area.cut_top(draw_verdict(*this, strip));
      draw_status_bar(*this, area.cut_bottom(ui.px(22)));
      const auto panes = layout.panes(area, ui);
      const auto show = [&](Pane pane, void (*draw)(App&, Rect)) {
        const Rect& rect = panes[static_cast<std::size_t>(pane)];
        if (rect.w < 1 || rect.h < 1) return;
        ImGui::PushClipRect(rect.min(), rect.max(), true);
        draw(*this, rect);
        ImGui::PopClipRect();
      };
      show(Pane::alerts, draw_alerts);
      show(Pane::timeline, draw_timeline);
      show(Pane::rows, draw_graph_executions);
      show(Pane::graph, draw_graph_structure);
      show(Pane::source, draw_source_code);
      show(Pane::stack, draw_stack_trace);
      if (layout.splitters(area, ui)) wake();
    }
  }
  ImGui::End();
  draw_popups(*this, window);
  draw_toasts(*this, window);
  ImGui::PopFont();
  close_menu = false;
  sync_view();
  publish_link();
  save_settings();
  // Tooltips come after a while without any event.
  tooltip_at_ = ui.tooltip_pending ? now + 0.36 : 0;
}

}  // namespace nanlens::viewer
