// The keyboard. Single keys work when no text field has it.
#include <algorithm>

#include "app/key_bindings.hpp"

namespace nanlens::viewer {

namespace {

bool pressed(ImGuiKey key, bool goes_on = true) { return ImGui::IsKeyPressed(key, goes_on); }

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

constexpr double all_the_way = 1e12;

// What arrows and page keys wish: lines down, and steps to the right.
struct Movement {
  double by = 0;
  double sideways = 0;
  [[nodiscard]] double sign() const { return by > 0 ? 1 : by < 0 ? -1 : 0; }
};

Movement movement(double page) {
  Movement m;
  if (pressed(ImGuiKey_DownArrow)) m.by = 1;
  if (pressed(ImGuiKey_UpArrow)) m.by = -1;
  if (pressed(ImGuiKey_PageDown)) m.by = page;
  if (pressed(ImGuiKey_PageUp)) m.by = -page;
  if (pressed(ImGuiKey_Home)) m.by = -all_the_way;
  if (pressed(ImGuiKey_End)) m.by = all_the_way;
  if (pressed(ImGuiKey_RightArrow)) m.sideways = 1;
  if (pressed(ImGuiKey_LeftArrow)) m.sideways = -1;
  return m;
}

void move_in_alerts(App& app, const Movement& m) {
  if (m.by == -all_the_way)
    app.command("first_bad");
  else if (m.by != 0)
    app.command(m.by > 0 ? "next_alert" : "previous_alert");
}

void move_in_source(App& app, const Movement& m) {
  if (app.tab() == nullptr) return;
  Tab& tab = app.source_pane.tabs[app.source_pane.tab];
  const double page = std::max(1.0, app.source_pane.visible - 2);
  if (std::abs(m.by) == all_the_way)
    tab.first = m.by > 0 ? 1e9 : 0;
  else
    tab.first += std::abs(m.by) == 1 ? m.by : std::clamp(m.by, -page, page);
}

void move_in_stack(App& app, const Movement& m) {
  const auto last = static_cast<std::int64_t>(app.selection.stack.frames.size()) - 1;
  if (m.by == 0 || last < 0) return;
  const auto step = static_cast<std::int64_t>(m.sign()) * (app.stack_pane.inner_first ? -1 : 1);
  app.show_frame(std::clamp<std::int64_t>(app.stack_pane.frame + step, 0, last));
}

void move_in_rows(App& app, const Movement& m, bool shift) {
  if (shift && std::abs(m.by) == 1)
    extend_range(app, static_cast<std::int64_t>(m.by));
  else if (m.by == all_the_way)
    app.command("follow_tail");
  else if (m.by != 0)
    app.command("step_row", {{"by", m.by}});
}

// Down is like right; with several ranks it leads to the next one.
void move_in_timeline(App& app, Movement& m) {
  const bool ranks = !app.timeline.tracks.empty();
  if (ranks && std::abs(m.by) == all_the_way)
    app.command("step_execution", {{"dir", m.by}});
  else if (ranks && std::abs(m.by) == 1)
    app.command("step_rank", {{"dir", m.by}});
  else if (m.by == -all_the_way)
    app.command("focus_execution", {{"index", 0}});
  else if (m.by == all_the_way)
    app.command("focus_execution", {{"index", app.timeline.total == 0 ? 0 : app.timeline.total - 1}});
  else if (m.by != 0)
    m.sideways = m.sign();
}

// Arrows and page keys mean something else in each pane.
void handle_movement(App& app, bool shift) {
  Movement m = movement(std::max(1.0, static_cast<double>(app.rows_pane.fitting) - 3));
  switch (app.active) {
    case Pane::alerts: move_in_alerts(app, m); break;
    case Pane::graph:
      if (m.by != 0) app.command(m.by < 0 ? "next_input" : "next_consumer");
      break;
    case Pane::source: move_in_source(app, m); break;
    case Pane::stack: move_in_stack(app, m); break;
    case Pane::rows: move_in_rows(app, m, shift); break;
    case Pane::timeline: move_in_timeline(app, m); break;
  }
  if (m.sideways != 0)
    app.command(app.active == Pane::graph ? "next_consumer" : "step_execution", {{"dir", m.sideways}});
}

using Kind = KeyBinding::Kind;

bool is_pressed(const KeyBinding& b, bool shift) {
  if (b.kind == Kind::character) {
    const auto& typed = ImGui::GetIO().InputQueueCharacters;
    return std::find(typed.begin(), typed.end(), b.character) != typed.end();
  }
  const bool down = pressed(b.keys[0], b.goes_on) || (b.keys[1] != ImGuiKey{} && pressed(b.keys[1], b.goes_on));
  return down && (b.any_shift || b.shift == shift);
}

// A browser zooms by itself, fills the screen, and closes its tabs.
bool is_browsers(std::string_view command) {
  return command == "scale" || command == "quit" || command == "full_screen";
}

// A text field copies and finds by itself.
bool is_text_fields(std::string_view command) {
  return command == "copy" || command == "copy_link" || command == "find_here";
}

// Runs the commands whose keys are pressed, of one kind.
template <class Takes>
void run_keys(App& app, Kind kind, bool shift, Takes&& takes) {
  for (const KeyBinding& b : key_bindings()) {
    if (b.kind != kind || !takes(b.command) || !is_pressed(b, shift)) continue;
    if (app.platform.is_page && is_browsers(b.command)) continue;
    if (const Result result = app.command(b.command, b.arguments); !result.ok) app.toast(result.message);
  }
}

bool any_command(std::string_view) { return true; }

void go_through_panes(App& app, bool backwards) {
  const auto at = static_cast<std::size_t>(app.active) + (backwards ? num_panes - 1 : 1);
  app.command("activate_pane", {{"pane", pane_ids[at % num_panes]}});
}

}  // namespace

bool App::takes_tab(bool backwards) const {
  if (popup != Popup::none) return true;
  if (!at_start()) return static_cast<std::size_t>(active) != (backwards ? 0 : num_panes - 1);
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
  const bool shift = shift_held();
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) command("escape");  // held, it would undo more than was meant
  run_keys(*this, Kind::function, shift, any_command);
  if (control_held())
    return run_keys(*this, Kind::control, shift,
                    [&](std::string_view name) { return !typing() || !is_text_fields(name); });
  const bool alt = ImGui::GetIO().KeyAlt;
  // In a page these are the browser's, whose history is the same.
  if (alt && !platform.is_page) return run_keys(*this, Kind::alt, shift, any_command);
  if (typing() || popup == Popup::palette) return;
  if (popup != Popup::none || at_start()) handle_popup_keys();
  run_keys(*this, Kind::character, shift, any_command);
  if (popup != Popup::none) return;
  if (at_start()) {  // most keys mean nothing yet
    if (pressed(ImGuiKey_O, false))
      if (const Result result = command("open_logdir"); !result.ok) toast(result.message);
    return run_keys(*this, Kind::plain, shift, [](std::string_view name) { return name == "theme"; });
  }
  if (alt) return;
  run_keys(*this, Kind::plain, shift, any_command);
  if (pressed(ImGuiKey_Tab)) go_through_panes(*this, shift);
  handle_movement(*this, shift);
}

}  // namespace nanlens::viewer
