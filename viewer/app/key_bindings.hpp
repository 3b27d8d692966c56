/// @file
/// The keys of the commands, as their entries name them (see CommandEntry).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/commands.hpp"
#include "imgui.h"

namespace nanlens::viewer {

/// A key that runs a command.
struct KeyBinding {
  enum class Kind : std::uint8_t {
    none,       ///< what moves in a pane, and Esc: more than one command, see keys.cpp
    function,   ///< F1 … F12: work everywhere
    control,    ///< with Ctrl
    alt,        ///< with Alt
    character,  ///< what was typed, since layouts differ
    plain,      ///< a letter or digit by its key
  };
  Kind kind = Kind::none;
  std::array<ImGuiKey, 2> keys{};  ///< either of them; the second may be none
  ImWchar character = 0;
  bool shift = false;
  bool any_shift = true;  ///< no other binding is this key with or without Shift
  bool goes_on = false;   ///< while the key is held: it moves, and does not switch
  std::string_view command = {};
  Json arguments = {};
};

/// A key by its name, without a command.
KeyBinding parse_key(std::string_view name);

/// All keys of all commands.
const std::vector<KeyBinding>& key_bindings();

}  // namespace nanlens::viewer
