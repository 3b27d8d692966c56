/// @file
/// Rectangles on the screen, in logical pixels of the window, and cutting them into parts.
#pragma once

#include <algorithm>

#include "imgui.h"

namespace nanlens::viewer {

struct Rect {
  float x = 0;
  float y = 0;
  float w = 0;
  float h = 0;

  [[nodiscard]] float right() const { return x + w; }
  [[nodiscard]] float bottom() const { return y + h; }
  [[nodiscard]] ImVec2 min() const { return {x, y}; }
  [[nodiscard]] ImVec2 max() const { return {x + w, y + h}; }
  [[nodiscard]] bool contains(ImVec2 p) const { return p.x >= x && p.y >= y && p.x < right() && p.y < bottom(); }
  [[nodiscard]] Rect inset(float by) const { return inset(by, by); }
  [[nodiscard]] Rect inset(float dx, float dy) const {
    return {x + dx, y + dy, std::max(0.0f, w - 2 * dx), std::max(0.0f, h - 2 * dy)};
  }
  [[nodiscard]] Rect intersect(const Rect& other) const {
    const float left = std::max(x, other.x);
    const float top = std::max(y, other.y);
    return {left, top, std::max(0.0f, std::min(right(), other.right()) - left),
            std::max(0.0f, std::min(bottom(), other.bottom()) - top)};
  }

  /// @name Cutting a strip off one side; it is returned, and this is what is left
  ///@{
  Rect cut_top(float size) {
    size = std::clamp(size, 0.0f, h);
    const Rect strip{x, y, w, size};
    y += size;
    h -= size;
    return strip;
  }
  Rect cut_bottom(float size) {
    size = std::clamp(size, 0.0f, h);
    h -= size;
    return {x, y + h, w, size};
  }
  Rect cut_left(float size) {
    size = std::clamp(size, 0.0f, w);
    const Rect strip{x, y, size, h};
    x += size;
    w -= size;
    return strip;
  }
  Rect cut_right(float size) {
    size = std::clamp(size, 0.0f, w);
    w -= size;
    return {x + w, y, size, h};
  }
  ///@}
};

}  // namespace nanlens::viewer
