// The selected op between its inputs and its consumers: downwards, or to the right in a wide pane.
#include <algorithm>
#include <numeric>
#include <vector>

#include "panes/graph_parts.hpp"

namespace nanlens::viewer {

namespace {

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
      draw_op_card(app, rects[i],
                   "op:" + std::string(role) + ":hop" + std::to_string(hop + 2) + ":" + std::to_string(i), card,
                   tr(direction < 0 ? Text::graph_output : Text::graph_input, {{"slot", card.slot}}), false);
    }
    parents = rects;
  }
}

std::size_t num_consumers(const Neighbourhood& n) {
  std::size_t count = 0;
  for (const auto& slot : n.consumers) count += slot.size();
  return count;
}

// How many cards lie side by side, hop by hop.
std::vector<std::size_t> hop_sizes(const Neighbourhood& n) {
  std::vector<std::size_t> sizes{n.inputs.size(), n.outputs.size(), num_consumers(n)};
  for (const auto& hop : n.farther_inputs) sizes.push_back(hop.size());
  for (const auto& hop : n.farther_consumers) sizes.push_back(hop.size());
  return sizes;
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
  const float last_gap = flow.sideways ? flow.hop - flow.card : flow.sizes.label > 0 ? 0 : ui.px(flow.sizes.gap);
  const auto widest = static_cast<float>(std::ranges::max(hop_sizes(n)));
  return {hops * flow.hop + boundary, after * flow.hop - last_gap + ui.px(6), widest * flow.pitch};
}

// Wheel and drag; then the place of the op, which is in view unless the user scrolled away.
Canvas place_canvas(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.graph_pane;
  const Neighbourhood& n = app.selection.neighbourhood;
  const Flow flow = flow_for(ui, area, hop_sizes(n));
  const Extent extent = extent_of(ui, flow, n);
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
    const float half = flow.sideways ? flow.card / 2 : ui.px(flow.sizes.card) / 2;
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

// Says beside the last card how many more there are, so that a cut list is never taken for a whole one.
void draw_left_out(Ui& ui, const Canvas& canvas, const Rect& last, std::uint64_t count) {
  if (count == 0) return;
  const Rect place = canvas.flow.sideways ? Rect{last.x, last.bottom() + ui.px(2), last.w, ui.px(18)}
                                          : Rect{last.right() + ui.px(8), last.y, last.w, last.h};
  ui.text_in(place, ui.sans, 12, ui.theme.dim, tr(Text::graph_left_out, {{"n", count}}));
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
    draw_op_card(app, rects[i], "op:input:" + std::to_string(i), n.inputs[i],
                 tr(Text::graph_output, {{"slot", n.inputs[i].slot}}), false);
  }
  if (!n.inputs.empty()) return draw_left_out(ui, canvas, rects.back(), n.num_inputs - n.inputs.size());
  if (n.boundary.exists) return;
  const Rect place = canvas.hop(ui, -1, 1).front();
  ui.text_in(place.inset(-ui.px(6), 0), ui.sans, 12, ui.theme.dim, tr(Text::graph_no_inputs));
}

// A slot's name lies above the lines that cross its place.
void draw_output_label(Ui& ui, const Canvas& canvas, const Rect& card, std::size_t slot, std::uint64_t num_consumers) {
  const std::string text = tr(Text::graph_output_slot, {{"slot", slot}, {"n", num_consumers}});
  Rect label = canvas.label(ui, card);
  label.w = std::min(label.w, ui.text_width(ui.sans, 11, text));
  ui.fill({label.x, label.y, label.w + ui.px(4), label.h - ui.px(2)}, ui.theme.bg);
  ui.text_in(label, ui.sans, 11, ui.theme.dim, text);
}

void draw_consumers(App& app, const Canvas& canvas, const std::vector<Rect>& rects, const std::vector<Rect>& selves) {
  Ui& ui = app.ui;
  const auto& n = app.selection.neighbourhood;
  std::size_t edge = 0;
  for (std::size_t slot = 0; slot < n.consumers.size(); ++slot)
    for (std::size_t i = 0; i < n.consumers[slot].size(); ++i, ++edge) {
      const std::size_t from = std::min(slot, n.outputs.size() - 1);
      draw_edge(ui, canvas.flow, selves[from], rects[edge], n.outputs[from].bad);
    }
  std::size_t k = 0;
  for (std::size_t slot = 0; slot < n.consumers.size(); ++slot)
    for (std::size_t i = 0; i < n.consumers[slot].size(); ++i, ++k) {
      if (canvas.flow.sizes.label > 0 && i == 0) draw_output_label(ui, canvas, rects[k], slot, n.num_consumers[slot]);
      draw_op_card(app, rects[k], "op:consumer:" + std::to_string(slot) + ":" + std::to_string(i), n.consumers[slot][i],
                   tr(Text::graph_input, {{"slot", n.consumers[slot][i].slot}}), false);
    }
  if (k > 0)
    return draw_left_out(ui, canvas, rects.back(),
                         std::accumulate(n.num_consumers.begin(), n.num_consumers.end(), std::uint64_t{0}) - k);
  const Rect place = canvas.hop(ui, 1, 1).front();
  ui.text_in(place.inset(-ui.px(6), 0), ui.sans, 12, ui.theme.dim,
             tr(n.graph_id.empty() ? Text::graph_not_taken : Text::graph_no_consumers));
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
    draw_op_card(app, selves[slot], slot == 0 ? "op:self" : "op:self:" + std::to_string(slot), n.outputs[slot],
                 tr(Text::graph_output, {{"slot", slot}}), true);
  draw_consumers(app, canvas, consumers, selves);
  draw_farther(app, canvas, n.farther_consumers, consumers, 1, "consumer");
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
