/// @file
/// The panes, each drawn into a rectangle from what the App knows. They change it only through its commands.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "app/app.hpp"

namespace nanlens::viewer {

void draw_alerts(App& app, Rect area);
void draw_timeline(App& app, Rect area);
void draw_graph_executions(App& app, Rect area);
void draw_graph_structure(App& app, Rect area);
void draw_source_code(App& app, Rect area);
void draw_stack_trace(App& app, Rect area);
/// In the order of the panes.
inline constexpr std::array<void (*)(App&, Rect), num_panes> draw_pane = {
    draw_alerts, draw_timeline, draw_graph_executions, draw_graph_structure, draw_source_code, draw_stack_trace};

void draw_execution_card(App& app, Rect area);
/// A line on what was in memory when the selected op had run: of its output, or of an input (Selection::seen).
void draw_seen(App& app, Rect row, std::size_t k);
/// Which it is: "output", "input 0 grad of net.fc.weight".
std::string seen_name(const SeenTensor& tensor);
/// All of them as lines of a tooltip, each after a line end; "" if nothing was looked at.
std::string seen_text(const Selection& selection);
/// The selected op with what feeds it and what it feeds; there is a selected op.
void draw_graph_canvas(App& app, Rect area);

void draw_top_bar(App& app, Rect area);
/// The strip that says what is wrong, or how far reading has come. Returns its height at the given width.
float draw_verdict(App& app, Rect area);
void draw_status_bar(App& app, Rect area);
void draw_start_screen(App& app, Rect area);
/// The steps from the cause to what is selected, below the alerts. Returns the height it took off `area`.
void draw_chain(App& app, Rect& area);
/// Why there is a NaN: causes, what is expected, what removed bad values.
void draw_causes(App& app, const Rect& window);
/// By which rules the run is judged, and where they hold: at the foot of `area`, which it takes room from. `all`: it
/// may fill it.
void draw_rules(App& app, Rect& area, bool all);
/// How many rules hold, in a narrow strip, which it takes room from.
void draw_rules_tag(App& app, Rect& area);
/// The rule that is written.
void draw_rule_editor(App& app, const Rect& window);
/// Colours of what a rule's level is told with.
struct LevelColors {
  ImU32 fill;
  ImU32 on;
};
LevelColors level_colors(const Theme& theme, RuleLevel level);
void draw_settings(App& app, const Rect& window);
/// The line of nanlens.mutes that mutes a cause, and where it may go.
void draw_mute(App& app, const Rect& window);
/// What of the recording is handed on, as one file.
void draw_share(App& app, const Rect& window);
/// The values of a tensor as a heat map.
void draw_values(App& app, const Rect& window);
/// A sign for a class, which never relies on colour: ✱ made here, ⊘ removed, ⇥ came in bad.
const char* class_sign(EventClass event_class);
/// Runs a command of somebody who is told where it can't be done.
inline void run_or_tell(App& app, const char* command, const Json& arguments = Json::object()) {
  if (const Result result = app.command(command, arguments); !result.ok) app.toast(result.message);
}
/// Palette, help, diagnostics, notices.
void draw_popups(App& app, const Rect& window);
void draw_toasts(App& app, const Rect& window);

/// The panes' names at the bottom of a phone's window, to choose the one that fills it.
void draw_pane_tabs(App& app, Rect bar);
/// Name of a pane.
const char* pane_title(const App& app, Pane pane);
/// The context menu of this id, if it is open: `entries` draws what it offers.
void context_menu(App& app, const std::string& id, const std::function<void()>& entries);
/// Its title's context menu: other places.
void draw_pane_menu(App& app, Pane pane);
/// A pane in a window of its own.
void draw_detached_pane(App& app, Pane pane, void (*draw)(App&, Rect));
/// While a pane's title is dragged: where it would go; it goes there when it is let go.
void draw_dragged_pane(App& app, const Rect& window);

/// Title bar of a pane: cut off `area`; returns what is left of it for the pane's own tools.
Rect draw_pane_header(App& app, Pane pane, Rect& area, std::string_view title, std::string_view count);
/// A faint ring around a tensor, in every pane, while the mouse is on it in one of them.
void draw_ring(App& app, const Rect& rect, const TensorKey& key, bool hovered);
/// Says why a pane is empty.
void draw_empty(App& app, const Rect& area, std::string_view text);
/// The context menu of a row: copy, filter, go to source. `open`: it was asked for just now.
void row_menu(App& app, const std::string& id, const Row& row, bool open);

}  // namespace nanlens::viewer
