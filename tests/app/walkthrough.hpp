/// @file
/// A viewer with the walkthrough open.
#pragma once

#include <cstdint>
#include <string>

#include "headless.hpp"
#include "imgui.h"

namespace nanlens::test {

struct Walkthrough : Headless {
  explicit Walkthrough(bool opened = true) {
    if (opened) open(walkthrough());
  }
  Json rows() { return state()["graph_executions"]; }
  std::string layout() { return state()["layout"].get<std::string>(); }
  /// The focused row, or -1.
  std::int64_t trace() {
    const Json s = state()["focus"]["trace"];
    return s.is_null() ? -1 : s.get<std::int64_t>();
  }
  /// The focused op's name, or "".
  std::string op() {
    const Json s = state()["focus"]["op_name"];
    return s.is_null() ? "" : s.get<std::string>();
  }
  /// Holds Ctrl, or lets it go.
  void control(bool down) {
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, down);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_LeftCtrl, down);
    app().wake();
    settle();
  }
};

}  // namespace nanlens::test
