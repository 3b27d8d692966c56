#include "app/layout.hpp"

#include <algorithm>
#include <cmath>

namespace nanlens::viewer {

namespace {

// A size that leaves at least `low` to this side and `high_rest` to the other, as far as there is room.
float limited(float size, float whole, float low, float rest) {
  return std::floor(std::clamp(size, std::min(low, whole * 0.5f), std::max(whole * 0.5f, whole - rest)));
}

}  // namespace

std::array<Layout::Cut, 5> Layout::cuts(Rect area, const Ui& ui) const {
  std::array<Cut, 5> c{};
  const float g = ui.px(gap);
  const Rect whole = area;
  Rect top = area.cut_top(limited(at[2] * area.h, area.h, ui.px(200), ui.px(110)));
  c[2] = {area.cut_top(g), false, whole, false};
  const Rect band = top;
  // Alerts that are dragged narrow become a rail.
  const float alerts = at[0] * band.w;
  top.cut_left(alerts < ui.px(rail_below) ? ui.px(rail_width) : limited(alerts, band.w, ui.px(160), ui.px(600)));
  c[0] = {top.cut_left(g), true, band, false};
  const Rect rest = top;
  top.cut_right(limited(at[1] * band.w, rest.w, ui.px(300), ui.px(300)));
  c[1] = {top.cut_right(g), true, band, true};
  const Rect middle = top;
  top.cut_top(limited(at[3] * middle.h, middle.h, ui.px(120), ui.px(100)));
  c[3] = {top.cut_top(g), false, middle, false};
  const Rect bottom = area;
  area.cut_left(limited(at[4] * bottom.w, bottom.w, ui.px(240), ui.px(240)));
  c[4] = {area.cut_left(g), true, bottom, false};
  return c;
}

std::array<Rect, num_panes> Layout::panes(Rect area, const Ui& ui) const {
  std::array<Rect, num_panes> out{};
  const auto set = [&](Pane pane, const Rect& rect) { out[static_cast<std::size_t>(pane)] = rect; };
  if (maximized) {
    set(*maximized, area);
    return out;
  }
  const auto c = cuts(area, ui);
  const float top_h = c[2].rect.y - area.y;
  set(Pane::source, {area.x, c[2].rect.bottom(), c[4].rect.x - area.x, area.bottom() - c[2].rect.bottom()});
  set(Pane::stack,
      {c[4].rect.right(), c[2].rect.bottom(), area.right() - c[4].rect.right(), area.bottom() - c[2].rect.bottom()});
  if (narrow(area, ui)) {
    // Alerts and Timeline share the left column; the right one has tabs.
    const float left = std::floor(area.w * 0.46f);
    const float alerts_h = std::floor(top_h * 0.42f);
    set(Pane::alerts, {area.x, area.y, left, alerts_h});
    set(Pane::timeline, {area.x, area.y + alerts_h + ui.px(gap), left, top_h - alerts_h - ui.px(gap)});
    set(show_graph_tab ? Pane::graph : Pane::rows,
        {area.x + left + ui.px(gap), area.y, area.w - left - ui.px(gap), top_h});
    return out;
  }
  set(Pane::alerts, {area.x, area.y, c[0].rect.x - area.x, top_h});
  const float middle_x = c[0].rect.right();
  const float middle_w = c[1].rect.x - middle_x;
  set(Pane::timeline, {middle_x, area.y, middle_w, c[3].rect.y - area.y});
  set(Pane::graph, {middle_x, c[3].rect.bottom(), middle_w, area.y + top_h - c[3].rect.bottom()});
  set(Pane::rows, {c[1].rect.right(), area.y, area.right() - c[1].rect.right(), top_h});
  return out;
}

bool Layout::splitters(Rect area, Ui& ui) {
  if (maximized) return false;
  const auto c = cuts(area, ui);
  bool moved = false;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (narrow(area, ui) && i != 2 && i != 4) continue;
    const Hit hit = ui.item(std::string("splitter:") + ids[i], c[i].rect, false);
    if (hit.hovered || hit.held) {
      ImGui::SetMouseCursor(c[i].vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
      ui.fill(c[i].rect, ui.theme.func);
    } else if (c[i].vertical) {
      ui.vline(c[i].rect.x + c[i].rect.w / 2, c[i].rect.y, c[i].rect.h, ui.theme.line);
    } else {
      ui.hline(c[i].rect.x, c[i].rect.y + c[i].rect.h / 2, c[i].rect.w, ui.theme.line);
    }
    if (hit.double_clicked) {
      at[i] = defaults[i];
      moved = true;
    } else if (hit.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1)) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      const float size = c[i].vertical ? c[i].whole.w : c[i].whole.h;
      const float place = c[i].vertical ? mouse.x - c[i].whole.x : mouse.y - c[i].whole.y;
      at[i] = std::clamp((c[i].from_end ? size - place : place) / size, 0.05f, 0.95f);
      moved = true;
    }
  }
  return moved;
}

}  // namespace nanlens::viewer
