// The selected op between its inputs and its consumers: downwards, or to the right in a wide pane.
#include <algorithm>
#include <vector>

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
};
constexpr Sizes roomy = {62, 16, 24};
constexpr Sizes compact = {38, 0, 11};

/// How cards lie: hops follow each other along the flow, cards of one hop lie side by side across it.
struct Flow {
  bool sideways;
  Sizes sizes;
  float hop;    ///< from one hop to the next
  float pitch;  ///< from one card to its neighbour
};

Flow flow_for(const Ui& ui, const Rect& area) {
  constexpr float gap_of_edges = 56;
  const Sizes& sizes = area.h < ui.px(290) ? compact : roomy;
  const float high = ui.px(sizes.card + sizes.label);
  const bool sideways = area.w > 2 * area.h && area.w > 3 * ui.px(card_width) + 2 * ui.px(gap_of_edges);
  if (sideways) return {true, sizes, ui.px(card_width + gap_of_edges), high + ui.px(card_gap)};
  return {false, sizes, high + ui.px(sizes.gap), ui.px(card_width + card_gap)};
}

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
    ui.text_in(middle, ui.mono, 11, ui.theme.dim, card.known ? card.op_type : tr(Text::graph_unknown_op));
  }
  if (card.badges.empty())
    ui.text_in(inner, ui.sans, 11, ui.theme.dim,
               tr(card.op_type == "_Retval" ? Text::graph_returned : Text::graph_no_row));
  else
    ui.badges({inner.x, inner.y}, inner.w, inner.h, card.badges);
  if (hit.hovered)
    ui.tooltip(
        card.op_name + "\n" + card.op_type + "  " + format_badges(card.badges) +
        (card.bad || card.event_class == EventClass::killer ? "\n" + std::string(class_text(card.event_class)) : ""));
  if (hit.clicked && !self)
    app.command("focus_op", {{"graph_id", app.selection.neighbourhood.graph_id}, {"op_name", card.op_name}});
  if (hit.double_clicked) app.command("go_to_source");
}

// A line from one card to one of the next hop.
void draw_edge(Ui& ui, const Flow& flow, const Rect& from, const Rect& to, bool bad) {
  const ImU32 color = bad ? ui.theme.bad : ui.theme.dim;
  const float width = bad ? 2.0f : 1.0f;
  if (flow.sideways) {
    const ImVec2 a{from.right(), from.y + from.h / 2};
    const ImVec2 b{to.x, to.y + to.h / 2};
    const float bend = (b.x - a.x) / 2;
    ui.draw()->AddBezierCubic(a, {a.x + bend, a.y}, {b.x - bend, b.y}, b, color, width);
    return;
  }
  const ImVec2 a{from.x + from.w / 2, from.bottom()};
  const ImVec2 b{to.x + to.w / 2, to.y};
  const float bend = (b.y - a.y) / 2;
  ui.draw()->AddBezierCubic(a, {a.x, a.y + bend}, {b.x, b.y - bend}, b, color, width);
}

/// Where the selected op is on the screen: everything else lies around it.
struct Canvas {
  Flow flow;
  ImVec2 middle;  ///< along the flow where the op's cards begin, across it their middle

  /// The cards of one hop; 0 is the op itself, −1 its inputs, 1 its consumers.
  [[nodiscard]] std::vector<Rect> hop(const Ui& ui, int number, std::size_t count) const {
    std::vector<Rect> rects;
    const float w = ui.px(card_width);
    const float h = ui.px(flow.sizes.card);
    const float label = flow.sideways || number != 0 ? ui.px(flow.sizes.label) : 0;
    const float along = (flow.sideways ? middle.x : middle.y) + static_cast<float>(number) * flow.hop;
    const float first = -(static_cast<float>(count) - 1) * flow.pitch / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const float across = first + static_cast<float>(i) * flow.pitch;
      if (flow.sideways)
        rects.push_back({along, middle.y + across - h / 2 + label / 2, w, h});
      else
        rects.push_back({middle.x + across - w / 2, along + label, w, h});
    }
    return rects;
  }
  [[nodiscard]] Rect label(const Ui& ui, const Rect& card) const {
    return {card.x, card.y - ui.px(flow.sizes.label), card.w, ui.px(flow.sizes.label - 1)};
  }
};

constexpr float boundary_width = 340;
constexpr float boundary_height = 40;

// Where a placeholder's tensor comes from: a box before it in the flow.
void draw_boundary(App& app, const Canvas& canvas) {
  Ui& ui = app.ui;
  const Boundary& b = app.selection.neighbourhood.boundary;
  if (!b.exists) return;
  const float w = ui.px(boundary_width);
  const float h = ui.px(boundary_height);
  const Rect box = canvas.flow.sideways ? Rect{canvas.middle.x - w - ui.px(16), canvas.middle.y - h / 2, w, h}
                                        : Rect{canvas.middle.x - w / 2, canvas.middle.y - h - ui.px(8), w, h};
  ui.frame(box, b.bad ? ui.theme.bad : ui.theme.dim, ui.px(4));
  const Hit hit = ui.item("boundary", box);
  if (hit.hovered) ui.frame(box, ui.theme.link, ui.px(4), 2);
  if (hit.clicked) app.command("follow_boundary");
  Rect inner = box.inset(ui.px(7), ui.px(2));
  if (!b.known) {
    ui.text_in(inner, ui.sans, 12, ui.theme.dim,
               tr(Text::graph_argument_unknown, {{"index", b.argument}, {"function", b.function}}));
    return;
  }
  ui.text_in(inner.cut_top(ui.px(18)), ui.sans, 12, ui.theme.link,
             tr(Text::graph_argument,
                {{"index", b.argument}, {"function", b.function}, {"tensor", b.tensor}, {"execution", b.execution}}));
  ui.badges({inner.x, inner.y}, inner.w, inner.h, b.badges);
}

// Cards of hop 2 and beyond on one side, each joined to its parent.
void draw_farther(App& app, const Canvas& canvas, const std::vector<std::vector<OpCard>>& hops,
                  std::vector<Rect> parents, int direction, const char* role) {
  Ui& ui = app.ui;
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    const auto rects = canvas.hop(ui, direction * (static_cast<int>(hop) + 2), hops[hop].size());
    for (std::size_t i = 0; i < hops[hop].size(); ++i) {
      const OpCard& card = hops[hop][i];
      if (card.parent < parents.size())
        direction < 0 ? draw_edge(ui, canvas.flow, rects[i], parents[card.parent], card.bad)
                      : draw_edge(ui, canvas.flow, parents[card.parent], rects[i], card.bad);
      draw_card(app, rects[i], "op:" + std::string(role) + ":hop" + std::to_string(hop + 2) + ":" + std::to_string(i),
                card, tr(direction < 0 ? Text::graph_output : Text::graph_input, {{"slot", card.slot}}), false);
    }
    parents = rects;
  }
}

std::size_t num_consumers(const Neighbourhood& n) {
  std::size_t count = 0;
  for (const auto& slot : n.consumers) count += slot.size();
  return count;
}

// How far the content goes from the op's own cards: before them and after, along the flow, and in all across it.
struct Extent {
  float before;
  float after;
  float across;
};

Extent extent_of(const Ui& ui, const Flow& flow, const Neighbourhood& n) {
  const bool starts_here = n.inputs.empty() && n.boundary.exists;
  const float hops = starts_here ? 0 : 1 + static_cast<float>(n.farther_inputs.size());
  const float boundary = !n.boundary.exists ? 0
                         : flow.sideways    ? ui.px(boundary_width + 24)
                                            : ui.px(boundary_height + 8);
  const float after = 2 + static_cast<float>(n.farther_consumers.size());
  const float last_gap = flow.sideways          ? flow.hop - ui.px(card_width)
                         : flow.sizes.label > 0 ? 0
                                                : ui.px(flow.sizes.gap);
  std::size_t widest = std::max({n.inputs.size(), num_consumers(n), n.outputs.size(), std::size_t{1}});
  for (const auto& hop : n.farther_inputs) widest = std::max(widest, hop.size());
  for (const auto& hop : n.farther_consumers) widest = std::max(widest, hop.size());
  return {hops * flow.hop + boundary, after * flow.hop - last_gap + ui.px(6), static_cast<float>(widest) * flow.pitch};
}

// Wheel and drag; then the place of the op, which is in view unless the user scrolled away.
Canvas place_canvas(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.graph_pane;
  const Flow flow = flow_for(ui, area);
  const Extent extent = extent_of(ui, flow, app.selection.neighbourhood);
  const float length = extent.before + extent.after;
  const float room = flow.sideways ? area.w : area.h;
  float& along = flow.sideways ? pane.scroll_x : pane.scroll_y;
  float& across = flow.sideways ? pane.scroll_y : pane.scroll_x;
  const ImVec2 wheel = ui.wheel(area);
  // The wheel scrolls where there is something to scroll to.
  const bool turned = ImGui::GetIO().KeyShift || (flow.sideways ? extent.across <= area.h : length <= area.h);
  pane.scroll_x += wheel.x * ui.px(40) + (turned ? wheel.y * ui.px(40) : 0);
  pane.scroll_y += turned ? 0 : wheel.y * ui.px(40);
  const Hit back = ui.item("graph:canvas", area, false);
  if (back.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    pane.scroll_x += ImGui::GetIO().MouseDelta.x;
    pane.scroll_y += ImGui::GetIO().MouseDelta.y;
  }
  const float lowest = std::min(0.0f, room - length);
  if (pane.center) {
    const float half = flow.sideways ? ui.px(card_width) / 2 : ui.px(flow.sizes.card) / 2;
    along = room / 2 - extent.before - half;
    across = 0;
    pane.center = false;
  }
  along = std::clamp(along, lowest, 0.0f);
  const float spare = std::max(0.0f, (extent.across - (flow.sideways ? area.h : area.w)) / 2 + ui.px(20));
  across = std::clamp(across, -spare, spare);
  // What is shorter than a wide pane stands in its middle.
  const float start = flow.sideways ? std::max(0.0f, (room - length) / 2) : ui.px(4);
  if (flow.sideways) return {flow, {area.x + start + along + extent.before, area.y + area.h / 2 + across}};
  return {flow, {area.x + area.w / 2 + across, area.y + start + along + extent.before}};
}

void draw_inputs(App& app, const Canvas& canvas, const std::vector<Rect>& rects, const Rect& self) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    draw_edge(ui, canvas.flow, rects[i], self, n.inputs[i].bad);
    if (canvas.flow.sizes.label > 0) {
      const Rect label = canvas.label(ui, rects[i]);
      ui.fill(label, ui.theme.input, ui.px(2));
      ui.text_in(label.inset(ui.px(6), 0), ui.sans, 11, ui.theme.text, tr(Text::graph_input_slot, {{"slot", i}}));
    }
    draw_card(app, rects[i], "op:input:" + std::to_string(i), n.inputs[i],
              tr(Text::graph_output, {{"slot", n.inputs[i].slot}}), false);
  }
  if (!n.inputs.empty() || n.boundary.exists) return;
  const Rect place = canvas.hop(ui, -1, 1).front();
  ui.text_in(place.inset(-ui.px(6), 0), ui.sans, 12, ui.theme.dim, tr(Text::graph_no_inputs));
}

void draw_consumers(App& app, const Canvas& canvas, const std::vector<Rect>& rects, const std::vector<Rect>& selves) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  std::size_t k = 0;
  for (std::size_t slot = 0; slot < n.consumers.size(); ++slot)
    for (std::size_t i = 0; i < n.consumers[slot].size(); ++i, ++k) {
      const std::size_t from = std::min(slot, n.outputs.size() - 1);
      draw_edge(ui, canvas.flow, selves[from], rects[k], n.outputs[from].bad);
      if (canvas.flow.sizes.label > 0)
        ui.text_in(canvas.label(ui, rects[k]), ui.sans, 11, ui.theme.dim,
                   tr(Text::graph_output_slot, {{"slot", slot}, {"n", n.consumers[slot].size()}}));
      draw_card(app, rects[k], "op:consumer:" + std::to_string(slot) + ":" + std::to_string(i), n.consumers[slot][i],
                tr(Text::graph_input, {{"slot", n.consumers[slot][i].slot}}), false);
    }
  if (k > 0) return;
  const Rect place = canvas.hop(ui, 1, 1).front();
  ui.text_in(place.inset(-ui.px(6), 0), ui.sans, 12, ui.theme.dim, tr(Text::graph_no_consumers));
}

}  // namespace

void draw_graph_canvas(App& app, Rect area) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  ImGui::PushClipRect(area.min(), area.max(), true);
  const Canvas canvas = place_canvas(app, area);
  const auto inputs = canvas.hop(ui, -1, n.inputs.size());
  const auto selves = canvas.hop(ui, 0, n.outputs.size());
  const auto consumers = canvas.hop(ui, 1, num_consumers(n));
  Rect self = selves.front();
  self.w = selves.back().right() - self.x;
  self.h = selves.back().bottom() - self.y;
  draw_farther(app, canvas, n.farther_inputs, inputs, -1, "input");
  draw_inputs(app, canvas, inputs, self);
  draw_boundary(app, canvas);
  for (std::size_t slot = 0; slot < n.outputs.size(); ++slot)
    draw_card(app, selves[slot], slot == 0 ? "op:self" : "op:self:" + std::to_string(slot), n.outputs[slot],
              tr(Text::graph_output, {{"slot", slot}}), true);
  draw_consumers(app, canvas, consumers, selves);
  draw_farther(app, canvas, n.farther_consumers, consumers, 1, "consumer");
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
