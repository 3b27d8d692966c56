#include <algorithm>
#include <cmath>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr float card_width = 190;
constexpr float card_gap = 10;

// Heights in pixels at 100 %. In a low pane cards have two lines instead of three, and no labels above them.
struct Sizes {
  float card;
  float label;
  float gap;
  [[nodiscard]] float step() const { return card + label + gap; }
};
constexpr Sizes roomy = {62, 16, 24};
constexpr Sizes compact = {38, 0, 11};

const Sizes& sizes_for(const Ui& ui, const Rect& area) { return area.h < ui.px(290) ? compact : roomy; }

// One op. Its name is a link, unless it is the selected op itself.
void draw_card(App& app, const Rect& rect, const std::string& id, const OpCard& card, const std::string& slot_text,
               bool self) {
  Ui& ui = app.ui;
  const Hit hit = ui.item(id, rect, !self);
  ui.fill(rect, ui.theme.raised, ui.px(4));
  if (self) ui.fill(rect, ui.theme.focus, ui.px(4));
  ui.frame(rect,
           card.bad      ? ui.theme.bad
           : hit.hovered ? ui.theme.link
                         : ui.theme.line,
           ui.px(4), self || card.bad ? 2.0f : 1.0f);
  const bool low = rect.h < ui.px(roomy.card - 1);
  Rect inner = rect.inset(ui.px(7), ui.px(low ? 1.0f : 4.0f));
  Rect top = inner.cut_top(ui.px(18));
  if (card.bad)
    ui.text_in(top.cut_right(ui.px(14)), ui.sans, 12, ui.theme.bad,
               card.event_class == EventClass::clean ? "▲" : class_sign(card.event_class), Ellipsis::right, true);
  if (low) {
    const std::string label = card.known ? card.op_type + " " + slot_text : slot_text;
    const float name = std::min(top.w * 0.45f, ui.text_width(ui.mono, 13, card.op_name));
    const float width = std::min(top.w - name - ui.px(6), ui.text_width(ui.sans, 11, label) + ui.px(4));
    ui.text_in(top.cut_right(width), ui.sans, 11, ui.theme.dim, label, Ellipsis::left, true);
  }
  if (self)
    ui.bold_in(top, 13, ui.theme.text, card.op_name, Ellipsis::left);
  else
    ui.text_in(top, ui.mono, 12, ui.theme.link, card.op_name, Ellipsis::left);
  if (!low) {
    Rect middle = inner.cut_top(ui.px(18));
    const float slot_width = std::min(middle.w * 0.5f, ui.text_width(ui.sans, 11, slot_text) + ui.px(2));
    ui.text_in(middle.cut_right(slot_width), ui.sans, 11, ui.theme.dim, slot_text, Ellipsis::right, true);
    ui.text_in(middle, ui.mono, 11, ui.theme.dim, card.known ? card.op_type : "op not in the graphs file");
  }
  if (card.badges.empty())
    ui.text_in(inner, ui.sans, 11, ui.theme.dim,
               card.op_type == "_Retval" ? "returned to the caller" : "no row in this call");
  else
    ui.badges({inner.x, inner.y}, inner.w, inner.h, card.badges);
  if (hit.hovered)
    ui.tooltip(card.op_name + "\n" + card.op_type + "  " + format_badges(card.badges) +
               (card.bad || card.event_class == EventClass::killer
                    ? "\n" + std::string(causes::class_words(card.event_class))
                    : ""));
  if (hit.clicked && !self)
    app.command("focus_op", {{"graph_id", app.selection.neighbourhood.graph_id}, {"op_name", card.op_name}});
  if (hit.double_clicked) app.command("go_to_source");
}

// A line from the bottom of one card to the top of another.
void draw_edge(Ui& ui, const Rect& from, const Rect& to, bool bad) {
  const ImVec2 a{from.x + from.w / 2, from.bottom()};
  const ImVec2 b{to.x + to.w / 2, to.y};
  const float bend = (b.y - a.y) / 2;
  ui.draw()->AddBezierCubic(a, {a.x, a.y + bend}, {b.x, b.y - bend}, b, bad ? ui.theme.bad : ui.theme.dim,
                            bad ? 2.0f : 1.0f);
}

struct Line {
  std::vector<Rect> rects;
  float height = 0;
};

// Places `count` cards side by side around a centre.
Line place(const Ui& ui, const Sizes& sizes, std::size_t count, float center, float y) {
  Line line;
  const float w = ui.px(card_width);
  const float step = w + ui.px(card_gap);
  const float left = center - (static_cast<float>(count) * step - ui.px(card_gap)) / 2;
  for (std::size_t i = 0; i < count; ++i)
    line.rects.push_back({left + static_cast<float>(i) * step, y, w, ui.px(sizes.card)});
  line.height = ui.px(sizes.card);
  return line;
}

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

float draw_boundary(App& app, const Rect& at) {
  Ui& ui = app.ui;
  const Boundary& b = app.selection.neighbourhood.boundary;
  if (!b.exists) return 0;
  Rect box{at.x, at.y, at.w, ui.px(40)};
  ui.frame(box, b.bad ? ui.theme.bad : ui.theme.dim, ui.px(4));
  const Hit hit = ui.item("boundary", box);
  if (hit.hovered) ui.frame(box, ui.theme.link, ui.px(4), 2);
  if (hit.clicked) app.command("follow_boundary");
  Rect inner = box.inset(ui.px(7), ui.px(2));
  const std::string place = "argument " + std::to_string(b.argument) + " of " + b.function;
  if (!b.known) {
    ui.text_in(inner, ui.sans, 12, ui.theme.dim, place + "; the caller's tensor is not on record");
    return box.h;
  }
  ui.text_in(inner.cut_top(ui.px(18)), ui.sans, 12, ui.theme.link,
             place + " = " + b.tensor + " of execution #" + std::to_string(b.execution) + "  (K)");
  ui.badges({inner.x, inner.y}, inner.w, inner.h, b.badges);
  return box.h;
}

// Cards of hop 2 and beyond on one side, each joined to its parent.
void draw_farther(App& app, const Sizes& sizes, const std::vector<std::vector<OpCard>>& hops, std::vector<Rect> parents,
                  float center, float y, float direction, const char* role) {
  Ui& ui = app.ui;
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    const Line line = place(ui, sizes, hops[hop].size(), center, y);
    for (std::size_t i = 0; i < hops[hop].size(); ++i) {
      const OpCard& card = hops[hop][i];
      if (card.parent < parents.size())
        direction < 0 ? draw_edge(ui, line.rects[i], parents[card.parent], card.bad)
                      : draw_edge(ui, parents[card.parent], line.rects[i], card.bad);
      draw_card(app, line.rects[i],
                "op:" + std::string(role) + ":hop" + std::to_string(hop + 2) + ":" + std::to_string(i), card,
                (direction < 0 ? "output " : "input ") + std::to_string(card.slot), false);
    }
    parents = line.rects;
    y += direction * ui.px(sizes.step());
  }
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

// The op with inputs above and consumers below.
void draw_op(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.graph_pane;
  const auto& n = app.selection.neighbourhood;
  std::size_t num_consumers = 0;
  for (const auto& slot : n.consumers) num_consumers += slot.size();
  const Sizes& sizes = sizes_for(ui, area);
  const float step = ui.px(sizes.step());
  const float label_h = ui.px(sizes.label);
  const float hops = static_cast<float>(n.farther_inputs.size());
  const float above =
      step * (n.inputs.empty() && n.boundary.exists ? 0 : 1 + hops) + (n.boundary.exists ? ui.px(48) : 0);
  const float height = above + step * (2 + static_cast<float>(n.farther_consumers.size())) + ui.px(6) -
                       (sizes.label > 0 ? 0 : ui.px(sizes.gap));
  std::size_t widest = std::max({n.inputs.size(), num_consumers, n.outputs.size(), std::size_t{1}});
  for (const auto& hop : n.farther_inputs) widest = std::max(widest, hop.size());
  for (const auto& hop : n.farther_consumers) widest = std::max(widest, hop.size());
  const float width = static_cast<float>(widest) * ui.px(card_width + card_gap);
  const ImVec2 wheel = ui.wheel(area);
  const bool sideways = ImGui::GetIO().KeyShift || height <= area.h;
  pane.scroll_x += wheel.x * ui.px(40) + (sideways ? wheel.y * ui.px(40) : 0);
  pane.scroll_y += sideways ? 0 : wheel.y * ui.px(40);
  const Hit back = ui.item("graph:canvas", area, false);
  if (back.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    pane.scroll_x += ImGui::GetIO().MouseDelta.x;
    pane.scroll_y += ImGui::GetIO().MouseDelta.y;
  }
  const float room_x = std::max(0.0f, (width - area.w) / 2 + ui.px(20));
  pane.scroll_x = std::clamp(pane.scroll_x, -room_x, room_x);
  // Without a wish to scroll, the op itself is in view.
  const float lowest = std::min(0.0f, area.h - height);
  if (pane.center) {
    pane.scroll_y = std::clamp(area.h / 2 - above - ui.px(sizes.card) / 2, lowest, 0.0f);
    pane.scroll_x = 0;
    pane.center = false;
  }
  pane.scroll_y = std::clamp(pane.scroll_y, lowest, 0.0f);

  ImGui::PushClipRect(area.min(), area.max(), true);
  const float center = area.x + area.w / 2 + pane.scroll_x;
  const float top = area.y + pane.scroll_y + ui.px(4);
  float y = top + step * hops;
  const Line inputs = place(ui, sizes, n.inputs.size(), center, y + label_h);
  const float self_y = top + above;
  const Line selves = place(ui, sizes, n.outputs.size(), center, self_y);
  draw_farther(app, sizes, n.farther_inputs, inputs.rects, center, y + label_h - step, -1, "input");
  const Rect self_whole{selves.rects.front().x, self_y, selves.rects.back().right() - selves.rects.front().x,
                        ui.px(sizes.card)};
  if (n.inputs.empty() && !n.boundary.exists)
    ui.text_in({center - ui.px(90), y + ui.px(30), ui.px(180), ui.px(20)}, ui.sans, 12, ui.theme.dim,
               "This op has no input tensors.");
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    draw_edge(ui, inputs.rects[i], self_whole, n.inputs[i].bad);
    if (sizes.label > 0) {
      const Rect label{inputs.rects[i].x, y, inputs.rects[i].w, ui.px(sizes.label - 1)};
      ui.fill(label, ui.theme.input, ui.px(2));
      ui.text_in(label.inset(ui.px(6), 0), ui.sans, 11, ui.theme.text, "Input slot " + std::to_string(i));
    }
    draw_card(app, inputs.rects[i], "op:input:" + std::to_string(i), n.inputs[i],
              "output " + std::to_string(n.inputs[i].slot), false);
  }
  if (n.boundary.exists) draw_boundary(app, {center - ui.px(170), self_y - ui.px(48), ui.px(340), ui.px(40)});
  for (std::size_t slot = 0; slot < n.outputs.size(); ++slot)
    draw_card(app, selves.rects[slot], slot == 0 ? "op:self" : "op:self:" + std::to_string(slot), n.outputs[slot],
              "output " + std::to_string(slot), true);

  const float consumers_y = self_y + step;
  const Line consumers = place(ui, sizes, num_consumers, center, consumers_y + label_h);
  std::size_t k = 0;
  for (std::size_t slot = 0; slot < n.consumers.size(); ++slot)
    for (std::size_t i = 0; i < n.consumers[slot].size(); ++i, ++k) {
      draw_edge(ui, slot < selves.rects.size() ? selves.rects[slot] : self_whole, consumers.rects[k],
                n.outputs[std::min(slot, n.outputs.size() - 1)].bad);
      const Rect label{consumers.rects[k].x, consumers_y, consumers.rects[k].w, ui.px(sizes.label - 1)};
      if (sizes.label > 0)
        ui.text_in(label, ui.sans, 11, ui.theme.dim,
                   "Output slot " + std::to_string(slot) + ": " + std::to_string(n.consumers[slot].size()) +
                       (n.consumers[slot].size() == 1 ? " consumer" : " consumers"));
      draw_card(app, consumers.rects[k], "op:consumer:" + std::to_string(slot) + ":" + std::to_string(i),
                n.consumers[slot][i], "input " + std::to_string(n.consumers[slot][i].slot), false);
    }
  if (num_consumers == 0)
    ui.text_in({center - ui.px(130), consumers_y + ui.px(4), ui.px(260), ui.px(20)}, ui.sans, 12, ui.theme.dim,
               "No consumers in this graph.");
  draw_farther(app, sizes, n.farther_consumers, consumers.rects, center, consumers_y + label_h + step, 1, "consumer");
  ImGui::PopClipRect();
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
  draw_op(app, area);
}

}  // namespace nanlens::viewer
