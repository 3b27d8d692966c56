/// @file
/// A window above the panes, and a list inside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

/// Where the next window goes, and how it looks: above the panes, or above a pane's own window, without a title bar.
void begin_popup(App& app, const Rect& rect);

/// A window above the panes; `body` gets what is inside. A click beside it closes it.
template <class Body>
void overlay(App& app, const char* title, Rect rect, Body&& body) {
  Ui& ui = app.ui;
  rect.x = std::floor(rect.x);
  rect.y = std::floor(rect.y);
  begin_popup(app, rect);
  ImGui::Begin("##overlay", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ui.mark("popup", rect);
  Rect inside = rect;
  Rect head = inside.cut_top(ui.bar(34));
  ui.fill(head, ui.theme.panel, ui.px(4));
  const Rect close = head.cut_right(ui.bar(34)).inset(ui.px(ui.finger ? 0.0f : 4.0f));
  ui.bold_in(head.inset(ui.px(14), 0), 14, ui.theme.text, title);
  ui.stops.on = true;
  body(inside);
  // Last, so that the keyboard begins with what the popup is there for.
  if (ui.tool("popup:close", close, "×", tr(Text::popup_close))) app.close_popup();
  ui.stops.on = ui.stops.moved = ui.stops.activate = false;
  const bool away = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !rect.contains(ImGui::GetIO().MousePos);
  ImGui::End();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  if (away) app.close_popup();
}

/// A rectangle in the middle of the window, no larger than it.
inline Rect centered(const Rect& window, float w, float h) {
  w = std::min(w, window.w * 0.94f);
  h = std::min(h, window.h * 0.9f);
  return {window.x + (window.w - w) / 2, window.y + (window.h - h) / 2, w, h};
}

/// Lines that are there to be read.
inline bool no_line(std::size_t) { return false; }
/// Lines of which every one can be chosen.
inline bool every_line(std::size_t) { return true; }

/// A list of equal lines that scrolls; `line` draws one, `stops` tells which of them hold one thing to choose.
template <class Line, class Stops>
void list(App& app, Rect area, std::size_t count, float height, Line&& line, Stops&& stops) {
  Ui& ui = app.ui;
  const double visible = static_cast<double>(area.h / height);
  std::vector<std::size_t> numbers(count);  // of the first stop at or below each line
  std::size_t number = ui.stops.count;
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = number;
    if (!stops(i)) continue;
    const auto at = static_cast<double>(i);
    if (number == ui.stops.cursor && ui.stops.moved)
      app.popup_first = std::clamp(app.popup_first, at + 1 - std::floor(visible), at);
    ++number;
  }
  ui.stops.lines_only = ui.stops.lines_only || number == ui.stops.count;
  app.popup_first = std::clamp(app.popup_first - static_cast<double>(ui.wheel(area).y) * 3, 0.0,
                               std::max(0.0, static_cast<double>(count) - visible));
  if (static_cast<double>(count) > visible)
    ui.scrollbar("popup:scroll", area.cut_right(ui.px(12)), static_cast<double>(count), visible, app.popup_first);
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = static_cast<std::size_t>(app.popup_first); i < count; ++i) {
    const Rect row{area.x, area.y + static_cast<float>(static_cast<double>(i) - app.popup_first) * height, area.w,
                   height};
    if (row.y >= area.bottom()) break;
    ui.stops.count = numbers[i];
    line(i, row);
  }
  ui.stops.count = number;
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
