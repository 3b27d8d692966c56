// The keyboard. Single keys work when no text field has it.
#include "app/app.hpp"

#include <algorithm>

namespace nanlens::viewer {

namespace {

bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key, true); }

// Was a modifier down when this frame's keys were pressed? When frames are slow it may have been released since.
bool held(ImGuiKey left, ImGuiKey right) {
  return ImGui::IsKeyDown(left) || ImGui::IsKeyDown(right) || ImGui::IsKeyReleased(left) || ImGui::IsKeyReleased(right);
}
bool shift_held() { return held(ImGuiKey_LeftShift, ImGuiKey_RightShift); }
bool control_held() {
  return held(ImGuiKey_LeftCtrl, ImGuiKey_RightCtrl) || held(ImGuiKey_LeftSuper, ImGuiKey_RightSuper);
}

// Shift and an arrow: one more row is selected together with the others.
void extend_range(App& app, std::int64_t by) {
  const auto& pane = app.rows_pane;
  const std::int64_t begin = pane.range_begin >= 0 ? pane.range_begin : app.rows.focus_position;
  if (begin < 0) return;
  const std::int64_t end = (pane.range_begin >= 0 ? pane.range_end : begin) + by;
  if (const Result result = app.command("select_range", {{"begin", begin}, {"end", end}}); !result.ok && end > begin)
    app.toast(result.message);
}

// Arrows and page keys mean something else in each pane.
bool handle_movement(App& app, bool shift) {
  const double page = std::max(1.0, static_cast<double>(app.rows_pane.fitting) - 3);
  double by = 0;
  if (pressed(ImGuiKey_DownArrow)) by = 1;
  if (pressed(ImGuiKey_UpArrow)) by = -1;
  if (pressed(ImGuiKey_PageDown)) by = page;
  if (pressed(ImGuiKey_PageUp)) by = -page;
  if (pressed(ImGuiKey_Home)) by = -1e12;
  if (pressed(ImGuiKey_End)) by = 1e12;
  double sideways = 0;
  if (pressed(ImGuiKey_RightArrow)) sideways = 1;
  if (pressed(ImGuiKey_LeftArrow)) sideways = -1;
  if (by == 0 && sideways == 0) return false;
  const std::int64_t sign = by > 0 ? 1 : -1;
  switch (app.active) {
    case Pane::alerts:
      if (by == -1e12)
        app.command("first_bad");
      else if (by != 0)
        app.command(sign > 0 ? "next_alert" : "previous_alert");
      break;
    case Pane::graph:
      if (by != 0) app.command(sign < 0 ? "next_input" : "next_consumer");
      break;
    case Pane::source:
      if (app.tab() != nullptr) {
        Tab& tab = app.source_pane.tabs[app.source_pane.tab];
        tab.first += by == 1 || by == -1 ? by
                     : by > 0            ? std::min(by, std::max(1.0, app.source_pane.visible - 2))
                                         : std::max(by, -std::max(1.0, app.source_pane.visible - 2));
        if (std::abs(by) > 1e9) tab.first = by > 0 ? 1e9 : 0;
      }
      break;
    case Pane::stack: {
      const auto count = static_cast<std::int64_t>(app.selection.stack.frames.size());
      const std::int64_t to = std::clamp<std::int64_t>(
          app.stack_pane.frame + sign * (app.stack_pane.inner_first ? -1 : 1), 0, std::max<std::int64_t>(0, count - 1));
      if (by != 0 && count > 0) app.show_frame(to);
      break;
    }
    case Pane::rows:
      if (shift && std::abs(by) == 1)
        extend_range(app, static_cast<std::int64_t>(by));
      else if (by == 1e12)
        app.command("follow_tail");
      else if (by != 0)
        app.command("step_row", {{"by", by}});
      break;
    case Pane::timeline: break;
  }
  if (app.active == Pane::timeline && by == -1e12)
    app.command("focus_execution", {{"index", 0}});
  else if (app.active == Pane::timeline && by == 1e12)
    app.command("focus_execution", {{"index", app.timeline.total == 0 ? 0 : app.timeline.total - 1}});
  else if (app.active == Pane::timeline && by != 0)
    sideways = static_cast<double>(sign);
  if (sideways != 0 && app.active == Pane::graph)
    app.command("next_consumer", {{"dir", sideways}});
  else if (sideways != 0)
    app.command("step_execution", {{"dir", sideways}});
  return true;
}

void handle_control_keys(App& app, bool shift) {
  if (pressed(ImGuiKey_P)) app.command("palette", {{"text", shift ? ">" : ""}});
  if (pressed(ImGuiKey_F) && !app.typing()) app.command("find_here");
  if (pressed(ImGuiKey_O)) app.command("open_logdir");
  if (pressed(ImGuiKey_C) && !app.typing()) {
    const Result result = shift ? app.command("copy_link") : app.command("copy");
    if (!result.ok) app.toast(result.message);
  }
  if (app.platform.is_page) return;  // the browser zooms itself, and closes its tabs
  if (pressed(ImGuiKey_Equal) || pressed(ImGuiKey_KeypadAdd)) app.command("scale", {{"by", 10}});
  if (pressed(ImGuiKey_Minus) || pressed(ImGuiKey_KeypadSubtract)) app.command("scale", {{"by", -10}});
  if (pressed(ImGuiKey_0)) app.command("scale", {{"percent", 100}});
  if (pressed(ImGuiKey_Q)) app.command("quit");
}

void handle_panes(App& app, bool shift) {
  constexpr ImGuiKey digits[] = {ImGuiKey_1, ImGuiKey_2, ImGuiKey_3, ImGuiKey_4, ImGuiKey_5, ImGuiKey_6};
  constexpr Pane order[] = {Pane::alerts, Pane::timeline, Pane::rows, Pane::graph, Pane::source, Pane::stack};
  for (std::size_t i = 0; i < num_panes; ++i)
    if (pressed(digits[i]))
      app.command(shift ? "maximize_pane" : "activate_pane", {{"pane", pane_ids[static_cast<std::size_t>(order[i])]}});
  if (!pressed(ImGuiKey_Tab)) return;
  std::size_t at = 0;
  while (order[at] != app.active) ++at;
  at = (at + (shift ? num_panes - 1 : 1)) % num_panes;
  app.command("activate_pane", {{"pane", pane_ids[static_cast<std::size_t>(order[at])]}});
}

}  // namespace

bool App::takes_tab(bool backwards) const {
  if (popup != Popup::none) return true;
  if (!at_start()) return active != (backwards ? Pane::alerts : Pane::stack);
  if (ui.stops.cursor == KeyStops::nowhere) return !backwards && ui.stops.count > 0;
  return backwards ? ui.stops.cursor > 0 : ui.stops.cursor + 1 < ui.stops.count;
}

// What is chosen by arrows, Tab and Enter. A popup that is there to be read scrolls.
void App::handle_popup_keys() {
  constexpr std::size_t page = 10;
  KeyStops& stops = ui.stops;
  const std::size_t before = stops.cursor;
  const std::size_t count = stops.count;
  const int down = pressed(ImGuiKey_DownArrow) ? 1 : pressed(ImGuiKey_UpArrow) ? -1 : 0;
  const int pages = pressed(ImGuiKey_PageDown) ? 1 : pressed(ImGuiKey_PageUp) ? -1 : 0;
  if (popup != Popup::none && stops.lines_only) {
    popup_first += down + static_cast<double>(page) * pages;
    if (pressed(ImGuiKey_Home)) popup_first = 0;
    if (pressed(ImGuiKey_End)) popup_first = 1e9;
  } else if (count > 0) {
    if (down != 0) stops.go_vertically(down);
    const bool somewhere = before < count;
    if (pages > 0 && somewhere) stops.cursor = std::min(stops.cursor + page, count - 1);
    if (pages < 0 && somewhere) stops.cursor -= std::min(stops.cursor, page);
    if (pressed(ImGuiKey_Home)) stops.cursor = 0;
    if (pressed(ImGuiKey_End)) stops.cursor = count - 1;
    if (pressed(ImGuiKey_RightArrow)) stops.cursor = std::min(stops.cursor + 1, count - 1);
    if (pressed(ImGuiKey_LeftArrow) && somewhere && stops.cursor > 0) --stops.cursor;
  }
  if (count > 0 && pressed(ImGuiKey_Tab)) {
    const bool nowhere = before == KeyStops::nowhere;
    stops.cursor = shift_held() ? (nowhere || before == 0 ? count - 1 : before - 1)
                   : nowhere    ? 0
                                : (before + 1) % count;
  }
  stops.moved = stops.moved || stops.cursor != before;
  stops.activate = ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false) ||
                   ImGui::IsKeyPressed(ImGuiKey_Space, false);
}

void App::handle_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  const bool shift = shift_held();
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) command("escape");  // held, it would undo more than was meant
  if (pressed(ImGuiKey_F1)) command("help");
  if (pressed(ImGuiKey_F3))
    if (const Result hit = command("next_hit", {{"dir", shift ? -1 : 1}}); !hit.ok) toast(hit.message);
  if (!platform.is_page && pressed(ImGuiKey_F11)) command("full_screen");  // a browser does that itself
  if (control_held()) return handle_control_keys(*this, shift);
  if (io.KeyAlt && !platform.is_page) {  // in a page these are the browser's, whose history is the same
    if (pressed(ImGuiKey_LeftArrow)) command("back");
    if (pressed(ImGuiKey_RightArrow)) command("forward");
    return;
  }
  if (typing() || popup == Popup::palette) return;
  const auto report = [&](const Result& result) {
    if (!result.ok) toast(result.message);
  };
  if (popup != Popup::none || at_start()) handle_popup_keys();
  // Keys that go by the character, since layouts differ.
  for (const ImWchar c : io.InputQueueCharacters) {
    switch (c) {
      case '?': command("help"); break;
      case '/': command("edit_filter"); break;
      case ':': command("palette", {{"text", ":"}}); break;
      case '.': report(command("next_alert")); break;
      case ',': report(command("previous_alert")); break;
      case '>': report(command("next_alert", {{"by", "op"}})); break;
      case '<': report(command("previous_alert", {{"by", "op"}})); break;
      case '[': report(command("back")); break;
      case ']': report(command("forward")); break;
      default: break;
    }
  }
  if (popup != Popup::none) return;
  if (at_start()) {
    if (pressed(ImGuiKey_O)) report(command("open_logdir"));
    if (pressed(ImGuiKey_T) && shift) report(command("theme"));
    return;
  }
  struct Key {
    ImGuiKey key;
    const char* command;
    Json arguments;
  };
  const int direction = shift ? -1 : 1;
  const Key keys[] = {{ImGuiKey_N, "first_bad", {}},
                      {ImGuiKey_Y, "focus_cause", {}},
                      {ImGuiKey_C, "show_causes", {}},
                      {ImGuiKey_U, "cause_step", {{"dir", -1}}},
                      {ImGuiKey_J, "cause_step", {{"dir", 1}}},
                      {ImGuiKey_I, "next_input", {{"dir", direction}}},
                      {ImGuiKey_O, "next_consumer", {{"dir", direction}}},
                      {ImGuiKey_K, "follow_boundary", {}},
                      {ImGuiKey_B, "only_bad", {}},
                      {ImGuiKey_G, "group_alerts", {}},
                      {ImGuiKey_L, "fold_library", {}},
                      {ImGuiKey_P, "pin", {}},
                      {ImGuiKey_X, "mark_expected", {}},
                      {ImGuiKey_T, shift ? "theme" : "timeline_mode", {}},
                      {ImGuiKey_R, "show_runs", {}},
                      {ImGuiKey_F, "center_selection", {}},
                      {ImGuiKey_W, "timeline_zoom", {{"factor", 1.5}}},
                      {ImGuiKey_S, "timeline_zoom", {{"factor", 1 / 1.5}}},
                      {ImGuiKey_A, "timeline_pan_page", {{"dir", -1}}},
                      {ImGuiKey_D, "timeline_pan_page", {{"dir", 1}}}};
  if (io.KeyAlt) return;
  for (const Key& k : keys)
    if (pressed(k.key)) report(command(k.command, k.arguments));
  handle_panes(*this, shift);
  handle_movement(*this, shift);
}

}  // namespace nanlens::viewer
