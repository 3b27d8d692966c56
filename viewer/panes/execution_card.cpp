#include <algorithm>

#include <nanlens/summary/debug_mode.hpp>

#include "panes/panes.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"

namespace nanlens::viewer {

namespace {

constexpr float line_height = 20;

// A click leads to the other end of a tensor: the call that made an input, the row of an output.
void click_tensor(App& app, const TensorInfo& tensor, bool input, const std::string& name) {
  if (ImGui::GetIO().KeyCtrl && tensor.trace >= 0)
    app.command("pin", {{"trace", tensor.trace}});
  else if (input && tensor.execution >= 0)
    app.command("focus_execution", {{"index", tensor.execution}});
  else if (!input && tensor.trace >= 0)
    app.command("focus_trace", {{"index", tensor.trace}});
  else if (input)
    app.toast(tr(Text::card_not_made, {{"tensor", name}}));
}

std::string tensor_tooltip(const TensorInfo& tensor, bool input, const std::string& name) {
  std::string text = name + "\n" + format_badges(tensor.badges);
  if (!input) return text;
  return text + "\n" +
         (tensor.execution < 0 ? tr(Text::card_not_on_record) : tr(Text::card_made_by, {{"index", tensor.execution}}));
}

// One tensor of the card. `role` is "input" or "output".
void draw_tensor(App& app, Rect row, const std::string& role, std::size_t k, const TensorInfo& tensor) {
  Ui& ui = app.ui;
  const std::string id = "exec:" + role + ":" + std::to_string(k);
  const bool input = role == "input";
  const std::string name = tensor.name.empty() ? tr(Text::tensor_id, {{"id", tensor.tensor_id}}) : tensor.name;
  const Hit hit = ui.item(id, row);
  if (hit.hovered) ui.fill(row, ui.theme.badge, ui.px(2));
  draw_ring(app, row, {tensor.trace, tensor.execution, tensor.slot, tensor.execution}, hit.hovered);
  if (hit.clicked) click_tensor(app, tensor, input, name);
  if (hit.hovered) ui.tooltip(tensor_tooltip(tensor, input, name));
  const std::string slot = tr(input ? Text::card_input : Text::card_output, {{"slot", k}});
  const float slot_width = std::max(ui.px(46), ui.text_width(ui.sans, 12, slot) + ui.px(8));
  ui.text_in(row.cut_left(slot_width), ui.sans, 12, ui.theme.dim, slot);
  ui.text_in(row.cut_left(ui.px(12)), ui.sans, 11, ui.theme.bad,
             tensor.bad
                 ? class_sign(tensor.event_class == EventClass::clean ? EventClass::propagator : tensor.event_class)
                 : "");
  std::string where;
  if (input && tensor.execution >= 0) where = "#" + std::to_string(tensor.execution);
  if (!input && tensor.trace >= 0) where = tr(Text::card_row, {{"index", tensor.trace}});
  if (!where.empty())
    ui.text_in(row.cut_right(ui.text_width(ui.mono, 11, where) + ui.px(6)), ui.mono, 11, ui.theme.link, where,
               Ellipsis::right, true);
  if (input) {
    const Rect cell = row.cut_left(std::min(row.w * 0.34f, ui.px(150)));
    ui.text_in({cell.x, cell.y, cell.w - ui.px(6), cell.h}, ui.mono, 12, ui.theme.text, name, Ellipsis::left);
  }
  if (row.w >= ui.px(health_bar_width + 150)) {
    const float bar = draw_health_bar(ui, row, tensor.badges);
    row.cut_left(bar > 0 ? bar + ui.px(6) : 0);
  }
  ui.badges({row.x, row.y}, row.w, row.h, tensor.badges);
}

void draw_head(App& app, Rect& area, const Card& card) {
  Ui& ui = app.ui;
  Rect title = area.cut_top(ui.px(22));
  ui.mark("exec:self", title);
  const std::string_view kind = tr(card.function ? Text::card_function : Text::card_eager);
  ui.text_in(title.cut_right(ui.text_width(ui.sans, 12, kind) + ui.px(4)), ui.sans, 12, ui.theme.dim, kind,
             Ellipsis::right, true);
  title.cut_left(ui.bold_in(title, 13, ui.theme.text, "#" + std::to_string(card.index)) + ui.px(8));
  title.cut_left(ui.text_in(title, ui.mono, 13, ui.theme.text, card.op_type, Ellipsis::middle) + ui.px(8));
  if (!card.op_name.empty() && title.w > ui.px(30))
    ui.text_in(title, ui.mono, 12, ui.theme.dim, card.op_name, Ellipsis::left);
  Rect facts = area.cut_top(ui.px(18));
  const bool ranks = app.several_ranks() && card.job_rank >= 0;
  std::string text = ranks ? tr(Text::rank_named, {{"rank", card.job_rank}}) + " · " : "";
  text += format_time(card.time);
  if (card.duration >= 0) text += " · " + format_duration(card.duration);
  if (!card.device.empty()) text += " · " + device_name(card.device);
  text += " · " + std::string(debug_mode_name(static_cast<TensorDebugMode>(card.mode)));
  const Hit hit = ui.item("exec:facts", facts, false);
  ui.text_in(facts, ui.sans, 12, ui.theme.dim, text);
  if (hit.hovered)
    ui.tooltip(format_wall_time(card.wall_time) + "\n" + (card.device.empty() ? "" : card.device + "\n") +
               tr(Text::host_named, {{"name", card.host}}));
  if (!card.function) return;
  Rect links = area.cut_top(ui.bar(20));
  if (!card.graph_id.empty()) {
    const std::string label = tr(Text::graph_named, {{"name", card.graph_name}});
    const Rect cell = links.cut_left(std::min(links.w * 0.5f, ui.text_width(ui.sans, 12, label) + ui.px(2)));
    if (ui.link("exec:graph", cell, ui.sans, 12, label))
      app.command("focus_op", {{"graph_id", card.graph_id}, {"op_name", ""}});
    links.cut_left(ui.px(14));
  }
  if (card.num_rows > 0 &&
      ui.link("exec:rows", links, ui.sans, 12, tr(Text::card_rows, {{"n", card.num_rows}, {"first", card.first_row}})))
    app.command("rows_of_execution", {{"index", card.index}});
}

// Lines below the head: outputs first, since what came out is what one looks for; then inputs; then, of an eager op,
// what was seen in memory.
std::size_t num_lines(const App& app) {
  const Card& card = app.selection.card;
  return card.outputs.size() + card.inputs.size() + (app.selection.focus.trace < 0 ? app.selection.seen.size() : 0);
}

void draw_line(App& app, const Rect& row, std::size_t i) {
  const Card& card = app.selection.card;
  if (i < card.outputs.size()) return draw_tensor(app, row, "output", i, card.outputs[i]);
  i -= card.outputs.size();
  if (i < card.inputs.size()) return draw_tensor(app, row, "input", i, card.inputs[i]);
  draw_seen(app, row, i - card.inputs.size());
}

// They scroll where there is no room for all.
void draw_lines(App& app, Rect inner, const Card& card) {
  Ui& ui = app.ui;
  const float h = ui.bar(line_height);
  const std::size_t lines = num_lines(app);
  double& first = app.card_pane.first;
  if (app.card_pane.shown != card.index) first = 0;
  app.card_pane.shown = card.index;
  const double fitting = static_cast<double>(inner.h / h);
  first = std::clamp(first - static_cast<double>(ui.wheel(inner).y) * 2, 0.0,
                     std::max(0.0, static_cast<double>(lines) - fitting));
  if (static_cast<double>(lines) > fitting)
    ui.scrollbar("exec:scroll", inner.cut_right(ui.px(10)), static_cast<double>(lines), fitting, first);
  ImGui::PushClipRect(inner.min(), inner.max(), true);
  for (std::size_t i = 0; i < lines; ++i) {
    const Rect row{inner.x, inner.y + (static_cast<float>(i) - static_cast<float>(first)) * h, inner.w, h};
    if (row.bottom() > inner.y && row.y < inner.bottom()) draw_line(app, row, i);
  }
  ImGui::PopClipRect();
}

}  // namespace

void draw_execution_card(App& app, Rect area) {
  Ui& ui = app.ui;
  const Card& card = app.selection.card;
  if (card.index < 0) {
    draw_empty(app, area,
               tr(app.selection.focus.trace >= 0 ? Text::card_no_call
                  : app.alerts.total > 0         ? Text::card_pick_alert
                                                 : Text::card_pick));
    return;
  }
  area.cut_bottom(ui.px(4));
  const float wanted = ui.px(30) + ui.bar(line_height) * static_cast<float>(num_lines(app)) +
                       (card.function ? ui.px(28) + ui.bar(20) : ui.px(28));
  const Rect box = area.cut_top(std::min(area.h, wanted));
  ui.fill(box, ui.theme.card, ui.px(4));
  ImGui::PushClipRect(box.min(), box.max(), true);
  Rect inner = box.inset(ui.px(8), ui.px(4));
  draw_head(app, inner, card);
  draw_lines(app, inner, card);
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
