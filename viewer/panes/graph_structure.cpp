#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

void draw_crumbs(App& app, Rect bar) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  for (std::size_t i = 0; i < n.crumbs.size() && bar.w > ui.px(20); ++i) {
    const std::string name = n.crumbs[i].name.empty() ? tr(Text::graph_unnamed) : n.crumbs[i].name;
    const Rect cell = bar.cut_left(std::min(bar.w, ui.text_width(ui.sans, 12, name) + ui.px(2)));
    if (ui.link("crumb:" + std::to_string(i), cell, ui.sans, 12, name))
      app.command("focus_op", {{"graph_id", n.crumbs[i].graph_id}, {"op_name", ""}});
    bar.cut_left(ui.text_in(bar, ui.sans, 12, ui.theme.dim, "  ›  "));
  }
  if (n.graph_id.empty()) {
    bar.cut_left(ui.bold_in(bar, 12, ui.theme.text, "#" + std::to_string(n.call)) + ui.px(6));
    bar.cut_left(ui.text_in(bar, ui.sans, 12, ui.theme.text, n.op_type, Ellipsis::middle) + ui.px(8));
    if (n.op_name == n.op_type || bar.w < ui.px(30)) return;
  }
  ui.text_in(bar, ui.sans, 12, ui.theme.text, n.op_name.empty() ? tr(Text::graph_ops, {{"n", n.num_ops}}) : n.op_name,
             Ellipsis::left);
}

void draw_header_tools(App& app, Rect tools) {
  Ui& ui = app.ui;
  if (ui.tool("graph:forward", tools.cut_right(ui.bar(22)).inset(0, ui.px(3)), "›", tr(Text::graph_forward)))
    app.command("forward");
  if (ui.tool("graph:back", tools.cut_right(ui.bar(22)).inset(0, ui.px(3)), "‹", tr(Text::graph_back)))
    app.command("back");
  const std::string hops = tr(Text::graph_hops, {{"n", app.graph_pane.hops}});
  if (ui.tool("graph:hops", tools.cut_right(std::min(tools.w, ui.bar_width(ui.label_width(hops)))).inset(0, ui.px(3)),
              hops, tr(Text::graph_hops_hint), app.graph_pane.hops > 1))
    app.command("graph_hops", {{"n", app.graph_pane.hops % 4 + 1}});
}

// How often the op ran, at the right end of the breadcrumb.
void draw_instances(App& app, Rect& bar) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  const std::string text = tr(Text::graph_instances, {{"rows", n.num_instances}, {"bad", n.num_bad_instances}});
  const float width = ui.text_width(ui.sans, 11, text) + ui.px(2);
  if (bar.w < 2 * width) return;
  if (ui.link("graph:instances", bar.cut_right(width), ui.sans, 11, text))
    app.command("filter", {{"query", "op:\"" + n.op_name + "\"" +
                                         (n.graph_name.empty() ? "" : " graph:\"" + n.graph_name + "\"")}});
}

void draw_graph_overview(App& app, Rect area) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  const std::string name = n.graph_name.empty() ? tr(Text::graph_unnamed) : n.graph_name;
  const bool has_rows = app.selection.card.first_row >= 0;
  const std::string text = tr(Text::graph_size, {{"name", name}, {"n", n.num_ops}}) + "\n" +
                           tr(has_rows ? Text::graph_pick_row : Text::graph_pick_tensor);
  ui.paragraph(area.inset(ui.px(12), ui.px(6)), ui.sans, 13, ui.theme.dim, text);
  area.cut_top(ui.px(60));
  if (has_rows && ui.button("graph:first_row", area.cut_top(ui.bar(28)).inset(ui.px(12), 0).cut_left(ui.px(180)),
                            tr(Text::graph_first_row)))
    app.command("focus_trace", {{"index", app.selection.card.first_row}});
}

// What was in memory when the selected row was made, above the graph; as much of it as leaves room for that.
void draw_seen_lines(App& app, Rect& area) {
  Ui& ui = app.ui;
  const float h = ui.px(20);
  constexpr float graph = 146;
  const auto fitting = static_cast<std::size_t>(std::max(0.0F, (area.h - ui.px(graph)) / h));
  const std::size_t count = app.selection.focus.trace < 0 ? 0 : std::min(app.selection.seen.size(), fitting);
  for (std::size_t k = 0; k < count; ++k) draw_seen(app, area.cut_top(h).inset(ui.px(10), 0), k);
  if (count > 0) ui.hline(area.x, area.y, area.w, ui.theme.line);
}

}  // namespace

void draw_graph_structure(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect tools = draw_pane_header(app, Pane::graph, area, tr(Text::pane_graph), "");
  if (app.overview.run < 0) return;
  draw_header_tools(app, tools);
  const auto& n = app.selection.neighbourhood;
  if (!app.selection.has_neighbourhood) {
    draw_empty(app, area, tr(Text::graph_pick));
    return;
  }
  Rect crumbs = area.cut_top(ui.bar(24)).inset(ui.px(10), 0);
  if (!n.op_name.empty() && n.num_instances > 1) draw_instances(app, crumbs);
  draw_crumbs(app, crumbs);
  if (n.op_name.empty()) {
    draw_graph_overview(app, area);
    return;
  }
  draw_seen_lines(app, area);
  draw_graph_canvas(app, area);
}

}  // namespace nanlens::viewer
