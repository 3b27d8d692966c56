/// @file
/// The panes, each drawn into a rectangle from what the App knows. They change it only through its commands.
#pragma once

#include <string>
#include <string_view>

#include "app/app.hpp"

namespace nanlens::viewer {

void draw_alerts(App& app, Rect area);
void draw_timeline(App& app, Rect area);
void draw_execution_card(App& app, Rect area);
void draw_graph_executions(App& app, Rect area);
void draw_graph_structure(App& app, Rect area);
/// The selected op with what feeds it and what it feeds; there is a selected op.
void draw_graph_canvas(App& app, Rect area);
void draw_source_code(App& app, Rect area);
void draw_stack_trace(App& app, Rect area);

void draw_top_bar(App& app, Rect area);
/// The strip that says what is wrong, or how far reading has come. Returns its height at the given width.
float draw_verdict(App& app, Rect area);
void draw_status_bar(App& app, Rect area);
void draw_start_screen(App& app, Rect area);
/// The steps from the cause to what is selected, below the alerts. Returns the height it took off `area`.
void draw_chain(App& app, Rect& area);
/// Why there is a NaN: causes, what is expected, what removed bad values.
void draw_causes(App& app, Rect window);
void draw_settings(App& app, Rect window);
/// A sign for a class, which never relies on colour: ✱ made here, ⊘ removed, ⇥ came in bad.
const char* class_sign(EventClass event_class);
/// Palette, help, diagnostics, notices.
void draw_popups(App& app, Rect window);
void draw_toasts(App& app, Rect window);

/// Title bar of a pane: cut off `area`; returns what is left of it for the pane's own tools.
Rect draw_pane_header(App& app, Pane pane, Rect& area, std::string_view title, std::string_view count);
/// Says why a pane is empty.
void draw_empty(App& app, const Rect& area, std::string_view text);
/// The context menu of a row: copy, filter, go to source. `open`: it was asked for just now.
void row_menu(App& app, const std::string& id, const Row& row, bool open);

}  // namespace nanlens::viewer
