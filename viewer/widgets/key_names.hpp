/// @file
/// Keys by the names that browsers give them.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "imgui.h"

namespace nanlens::viewer {

/// The key of a KeyboardEvent's `code` ("KeyA", "ArrowLeft"); ImGuiKey_None for one that ImGui has no name for.
inline ImGuiKey key_of(std::string_view code) {
  constexpr auto names = std::to_array<std::pair<std::string_view, ImGuiKey>>({{"Tab", ImGuiKey_Tab},
                                                                               {"ArrowLeft", ImGuiKey_LeftArrow},
                                                                               {"ArrowRight", ImGuiKey_RightArrow},
                                                                               {"ArrowUp", ImGuiKey_UpArrow},
                                                                               {"ArrowDown", ImGuiKey_DownArrow},
                                                                               {"PageUp", ImGuiKey_PageUp},
                                                                               {"PageDown", ImGuiKey_PageDown},
                                                                               {"Home", ImGuiKey_Home},
                                                                               {"End", ImGuiKey_End},
                                                                               {"Insert", ImGuiKey_Insert},
                                                                               {"Delete", ImGuiKey_Delete},
                                                                               {"Backspace", ImGuiKey_Backspace},
                                                                               {"Space", ImGuiKey_Space},
                                                                               {"Enter", ImGuiKey_Enter},
                                                                               {"NumpadEnter", ImGuiKey_KeypadEnter},
                                                                               {"Escape", ImGuiKey_Escape},
                                                                               {"Equal", ImGuiKey_Equal},
                                                                               {"Minus", ImGuiKey_Minus},
                                                                               {"Slash", ImGuiKey_Slash},
                                                                               {"ControlLeft", ImGuiKey_LeftCtrl},
                                                                               {"ControlRight", ImGuiKey_RightCtrl},
                                                                               {"ShiftLeft", ImGuiKey_LeftShift},
                                                                               {"ShiftRight", ImGuiKey_RightShift},
                                                                               {"AltLeft", ImGuiKey_LeftAlt},
                                                                               {"AltRight", ImGuiKey_RightAlt},
                                                                               {"MetaLeft", ImGuiKey_LeftSuper},
                                                                               {"MetaRight", ImGuiKey_RightSuper}});
  for (const auto& [name, key] : names)
    if (name == code) return key;
  if (code.size() == 4 && code.starts_with("Key")) return static_cast<ImGuiKey>(ImGuiKey_A + (code[3] - 'A'));
  if (code.size() == 6 && code.starts_with("Digit")) return static_cast<ImGuiKey>(ImGuiKey_0 + (code[5] - '0'));
  if (code.size() == 2 && code[0] == 'F' && code[1] >= '1' && code[1] <= '9')
    return static_cast<ImGuiKey>(ImGuiKey_F1 + (code[1] - '1'));
  return ImGuiKey_None;
}

}  // namespace nanlens::viewer
