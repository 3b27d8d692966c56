/// @file
/// A window above the panes, and a list inside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "panes/panes.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

/// A window above the panes; `body` gets what is inside. A click beside it closes it.
template <class Body>
void overlay(App& app, const char* title, Rect rect, Body&& body) {
  Ui& ui = app.ui;
  rect.x = std::floor(rect.x);
  rect.y = std::floor(rect.y);
  ImGui::SetNextWindowPos(rect.min());
  ImGui::SetNextWindowSize({rect.w, rect.h});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.dim);
  ImGui::Begin("##overlay", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ui.mark("popup", rect);
  Rect inside = rect;
  if (title[0] != '\0') {
    Rect head = inside.cut_top(ui.px(34));
    ui.fill(head, ui.theme.panel, ui.px(4));
    if (ui.tool("popup:close", head.cut_right(ui.px(34)).inset(ui.px(4)), "×", tr(Text::popup_close)))
      app.close_popup();
    ui.bold_in(head.inset(ui.px(14), 0), 14, ui.theme.text, title);
  }
  body(inside);
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
  return {(window.w - w) / 2, (window.h - h) / 2, w, h};
}

/// A list of equal lines that scrolls; `line` draws one.
template <class Line>
void list(App& app, Rect area, std::size_t count, float height, Line&& line) {
  Ui& ui = app.ui;
  const double visible = static_cast<double>(area.h / height);
  app.popup_first = std::clamp(app.popup_first - static_cast<double>(ui.wheel(area).y) * 3, 0.0,
                               std::max(0.0, static_cast<double>(count) - visible));
  if (static_cast<double>(count) > visible)
    ui.scrollbar("popup:scroll", area.cut_right(ui.px(12)), static_cast<double>(count), visible, app.popup_first);
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = static_cast<std::size_t>(app.popup_first); i < count; ++i) {
    const Rect row{area.x, area.y + static_cast<float>(static_cast<double>(i) - app.popup_first) * height, area.w,
                   height};
    if (row.y >= area.bottom()) break;
    line(i, row);
  }
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
