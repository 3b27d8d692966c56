#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

void draw_crumbs(App& app, Rect bar) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  for (std::size_t i = 0; i < n.crumbs.size() && bar.w > ui.px(20); ++i) {
    const std::string name = n.crumbs[i].name.empty() ? "(unnamed)" : n.crumbs[i].name;
    const Rect cell = bar.cut_left(std::min(bar.w, ui.text_width(ui.sans, 12, name) + ui.px(2)));
    if (ui.link("crumb:" + std::to_string(i), cell, ui.sans, 12, name))
      app.command("focus_op", {{"graph_id", n.crumbs[i].graph_id}, {"op_name", ""}});
    bar.cut_left(ui.text_in(bar, ui.sans, 12, ui.theme.dim, "  ›  "));
  }
  ui.text_in(bar, ui.sans, 12, ui.theme.text,
             n.op_name.empty() ? format_count(static_cast<double>(n.num_ops)) + " ops" : n.op_name, Ellipsis::left);
}

void draw_header_tools(App& app, Rect tools) {
  Ui& ui = app.ui;
  if (ui.tool("graph:forward", tools.cut_right(ui.px(22)).inset(0, ui.px(3)), "›", "Forward ( ] )"))
    app.command("forward");
  if (ui.tool("graph:back", tools.cut_right(ui.px(22)).inset(0, ui.px(3)), "‹", "Back ( [ )")) app.command("back");
  const std::string hops = "hops " + std::to_string(app.graph_pane.hops);
  if (ui.tool("graph:hops", tools.cut_right(std::min(tools.w, ui.px(52))).inset(0, ui.px(3)), hops,
              "How far around the op to look: 1 to 4", app.graph_pane.hops > 1))
    app.command("graph_hops", {{"n", app.graph_pane.hops % 4 + 1}});
  if (app.layout.narrow(Rect{0, 0, ImGui::GetIO().DisplaySize.x, 1}, ui) &&
      ui.tool("tab:rows", tools.cut_right(ui.px(56)).inset(0, ui.px(3)), "rows ▸", "Show Graph Executions instead"))
    app.command("activate_pane", {{"pane", "graph_executions"}});
}

// How often the op ran, at the right end of the breadcrumb.
void draw_instances(App& app, Rect& bar) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  const std::string text = format_count(static_cast<double>(n.num_instances)) + " rows, " +
                           format_count(static_cast<double>(n.num_bad_instances)) + " bad";
  const float width = ui.text_width(ui.sans, 11, text) + ui.px(2);
  if (bar.w < 2 * width) return;
  if (ui.link("graph:instances", bar.cut_right(width), ui.sans, 11, text))
    app.command("filter", {{"query", "op:\"" + n.op_name + "\"" +
                                         (n.graph_name.empty() ? "" : " graph:\"" + n.graph_name + "\"")}});
}

void draw_graph_overview(App& app, Rect area) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  std::string text = "Graph " + (n.graph_name.empty() ? "(unnamed)" : n.graph_name) + " has " +
                     format_count(static_cast<double>(n.num_ops)) + " ops.";
  text += app.selection.card.first_row >= 0
              ? "\nSelect one of the call's rows to see what feeds it and what it feeds."
              : "\nSelect a tensor in Graph Executions to see what feeds it and what it feeds.";
  ui.paragraph(area.inset(ui.px(12), ui.px(6)), ui.sans, 13, ui.theme.dim, text);
  area.cut_top(ui.px(60));
  if (app.selection.card.first_row >= 0 &&
      ui.button("graph:first_row", area.cut_top(ui.px(28)).inset(ui.px(12), 0).cut_left(ui.px(180)),
                "Go to its first row"))
    app.command("focus_trace", {{"index", app.selection.card.first_row}});
}

}  // namespace

void draw_graph_structure(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect tools = draw_pane_header(app, Pane::graph, area, "Graph Structure", "");
  if (app.overview.run < 0) return;
  draw_header_tools(app, tools);
  const auto& n = app.selection.neighbourhood;
  if (!app.selection.has_neighbourhood) {
    draw_empty(app, area, "Select a tensor to see what feeds it and what it feeds.");
    return;
  }
  Rect crumbs = area.cut_top(ui.px(24)).inset(ui.px(10), 0);
  if (!n.op_name.empty() && n.num_instances > 1) draw_instances(app, crumbs);
  draw_crumbs(app, crumbs);
  if (n.op_name.empty()) {
    draw_graph_overview(app, area);
    return;
  }
  draw_graph_canvas(app, area);
}

}  // namespace nanlens::viewer
