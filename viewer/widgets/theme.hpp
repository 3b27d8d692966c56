/// @file
/// Colours by meaning. All text pairs have a contrast of 4.5 or more (7 in high contrast).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "imgui.h"

namespace nanlens::viewer {

enum class ThemeName : std::uint8_t { light, dark, contrast };

struct Theme {
  ImU32 bg, panel, raised;
  ImU32 text, dim, link;
  ImU32 bad, badfill, onbad, badsoft;
  ImU32 warn, warnsoft, ok;
  ImU32 focus, input;
  ImU32 func, onfunc;
  ImU32 badge, onbadge;
  ImU32 fin, onfin;
  ImU32 card, line;
  ImU32 keyword, literal, comment;  ///< of source code
};

const Theme& theme_of(ThemeName name);
std::string_view name_of(ThemeName name);
/// Sets what Dear ImGui draws itself: input boxes, tooltips, menus.
void apply_to_imgui(const Theme& theme, float scale);

}  // namespace nanlens::viewer
