// Cards of ops, where they lie, and the lines between them.
#include <algorithm>

#include "panes/graph_parts.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"

namespace nanlens::viewer {

namespace {

bool is_low(const Ui& ui, const Rect& card) { return card.h < ui.px(roomy.card - 1); }

ImU32 frame_color(const Theme& theme, bool bad, bool hovered) {
  if (bad) return theme.bad;
  return hovered ? theme.link : theme.line;
}

// An op of a graph is known by its name; of those that ran eagerly many have one name, that of their part of the
// program.
std::string title_of(const OpCard& card) { return card.execution < 0 ? card.op_name : card.op_type; }

std::string type_of(const OpCard& card, bool low = false) {
  if (card.execution < 0) return card.op_type;
  const std::string number = "#" + std::to_string(card.execution);
  return low || card.op_name == card.op_type ? number : number + " " + card.op_name;
}

// How a card looks.
struct CardLook {
  bool self;  // the selected op's own
  bool low;
  bool eager;
  bool leads;  // a click leads somewhere
  std::string slot;
};

// The op's name with its sign; a low card has its type and slot on the same line.
void draw_name(Ui& ui, Rect top, const OpCard& card, const CardLook& look) {
  if (card.bad)
    ui.text_in(top.cut_right(ui.px(14)), ui.sans, 12, ui.theme.bad,
               card.event_class == EventClass::clean ? "▲" : class_sign(card.event_class), Ellipsis::right, true);
  if (look.low) {
    const std::string label = card.known ? type_of(card, true) + " " + look.slot : look.slot;
    const float name = std::min(top.w * 0.45f, ui.text_width(ui.mono, 13, title_of(card)));
    const float width = std::min(top.w - name - ui.px(6), ui.text_width(ui.sans, 11, label) + ui.px(4));
    ui.text_in(top.cut_right(width), ui.sans, 11, ui.theme.dim, label, Ellipsis::left, true);
  }
  if (look.self)
    ui.bold_in(top, 13, ui.theme.text, title_of(card), Ellipsis::left);
  else
    ui.text_in(top, ui.mono, 12, look.leads ? ui.theme.link : ui.theme.text, title_of(card), Ellipsis::left);
}

void draw_type(Ui& ui, Rect line, const OpCard& card, const CardLook& look) {
  const float slot_width = std::min(line.w * 0.5f, ui.text_width(ui.sans, 11, look.slot) + ui.px(2));
  ui.text_in(line.cut_right(slot_width), ui.sans, 11, ui.theme.dim, look.slot, Ellipsis::right, true);
  const std::string text = card.known   ? type_of(card)
                           : look.eager ? tr(Text::card_not_on_record)
                                        : tr(Text::graph_unknown_op);
  ui.text_in(line, ui.mono, 11, ui.theme.dim, text);
}

void draw_values(Ui& ui, Rect line, const OpCard& card) {
  if (card.badges.empty()) {
    ui.text_in(line, ui.sans, 11, ui.theme.dim,
               tr(card.op_type == "_Retval" ? Text::graph_returned : Text::graph_no_row));
    return;
  }
  const float bar = draw_health_bar(ui, line, card.badges);
  line.cut_left(bar > 0 ? bar + ui.px(6) : 0);
  ui.badges({line.x, line.y}, line.w, line.h, card.badges);
}

std::string tooltip_of(const OpCard& card) {
  std::string text = title_of(card) + "\n" + type_of(card) + "  " + format_badges(card.badges);
  if (card.bad || card.event_class == EventClass::killer) text.append("\n").append(class_text(card.event_class));
  return text;
}

void click_card(App& app, const OpCard& card, const CardLook& look) {
  if (ImGui::GetIO().KeyCtrl && card.trace >= 0)
    app.command("pin", {{"trace", card.trace}});
  else if (card.execution >= 0)
    app.command("focus_execution", {{"index", card.execution}});
  else if (!look.leads)
    app.toast(tr(Text::card_not_made, {{"tensor", card.op_name}}));
  else
    app.command("focus_op", {{"graph_id", app.selection.neighbourhood.graph_id}, {"op_name", card.op_name}});
}

}  // namespace

Flow flow_for(const Ui& ui, const Rect& area, std::span<const std::size_t> hop_sizes) {
  constexpr float gap_of_edges = 56;
  const Sizes& sizes = area.h < ui.px(290) ? compact : roomy;
  const float high = ui.px(sizes.card + sizes.label);
  const bool sideways = area.w > 2 * area.h && area.w > 3 * ui.px(card_width) + 2 * ui.px(gap_of_edges);
  if (sideways) return {true, sizes, ui.px(card_width), ui.px(card_width + gap_of_edges), high + ui.px(card_gap)};
  float card = ui.px(card_width);
  for (const std::size_t cards : hop_sizes) {
    const float fitting = area.w / static_cast<float>(std::max(cards, std::size_t{1})) - ui.px(card_gap);
    if (fitting >= ui.px(least_card_width)) card = std::min(card, fitting);
  }
  return {false, sizes, card, high + ui.px(sizes.gap), card + ui.px(card_gap)};
}

void draw_op_card(App& app, const Rect& rect, const std::string& id, const OpCard& card, const std::string& slot_text,
                  bool self) {
  Ui& ui = app.ui;
  const Hit hit = ui.item(id, rect, !self);
  ui.fill(rect, self ? ui.theme.focus : ui.theme.raised, ui.px(4));
  ui.frame(rect, frame_color(ui.theme, card.bad, hit.hovered), ui.px(4), self || card.bad ? 2.0f : 1.0f);
  const bool in_graph = !app.selection.neighbourhood.graph_id.empty();
  draw_ring(app, rect,
            in_graph ? TensorKey{card.trace, -1, -1, app.selection.focus.execution}
                     : TensorKey{-1, card.execution, card.output, card.execution},
            hit.hovered);
  const CardLook look = {self, is_low(ui, rect), !in_graph, !self && (in_graph || card.known),
                         in_graph || card.known ? slot_text : ""};
  Rect inner = rect.inset(ui.px(7), ui.px(look.low ? 1.0f : 4.0f));
  draw_name(ui, inner.cut_top(ui.px(18)), card, look);
  if (!look.low) draw_type(ui, inner.cut_top(ui.px(18)), card, look);
  draw_values(ui, inner, card);
  if (hit.hovered) ui.tooltip(tooltip_of(card) + (self ? seen_text(app.selection) : ""));
  if (hit.clicked && (!self || (ImGui::GetIO().KeyCtrl && card.trace >= 0))) click_card(app, card, look);
  if (hit.double_clicked) app.command("go_to_source");
}

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

std::vector<Rect> Canvas::hop(const Ui& ui, int number, std::size_t count) const {
  std::vector<Rect> rects;
  const float h = ui.px(flow.sizes.card);
  const float label = flow.sideways || number != 0 ? ui.px(flow.sizes.label) : 0;
  const float along = (flow.sideways ? middle.x : middle.y) + static_cast<float>(number) * flow.hop;
  const float first = -(static_cast<float>(count) - 1) * flow.pitch / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const float across = first + static_cast<float>(i) * flow.pitch;
    if (flow.sideways)
      rects.push_back({along, middle.y + across - h / 2 + label / 2, flow.card, h});
    else
      rects.push_back({middle.x + across - flow.card / 2, along + label, flow.card, h});
  }
  return rects;
}

Rect Canvas::label(const Ui& ui, const Rect& card) const {
  return {card.x, card.y - ui.px(flow.sizes.label), card.w, ui.px(flow.sizes.label - 1)};
}

}  // namespace nanlens::viewer
