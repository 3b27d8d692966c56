// What was in memory when an op had made something bad: a line for its output, and one for each input.
#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"

namespace nanlens::viewer {

namespace {

const char* origin_text(const SeenTensor& tensor) {
  if (tensor.input < 0) return "";
  switch (tensor.origin) {
    case logdir::TensorOrigin::not_recorded: return tr(Text::seen_not_recorded);
    case logdir::TensorOrigin::part: return tr(Text::seen_part);
    case logdir::TensorOrigin::copy: return tr(Text::seen_copy);
    case logdir::TensorOrigin::holds: return tr(Text::seen_holds);
    case logdir::TensorOrigin::changed: return tr(Text::seen_changed);
    case logdir::TensorOrigin::recorded:
    case logdir::TensorOrigin::lay_there: break;
  }
  return "";
}

std::string words_of(const SeenTensor& tensor) {
  std::string text = tensor.looked_at ? "" : tr(Text::seen_unreadable);
  const bool bad = std::any_of(tensor.badges.begin(), tensor.badges.end(), [](const Badge& b) {
    return b.kind == BadgeKind::nan || b.kind == BadgeKind::ninf || b.kind == BadgeKind::pinf;
  });
  if (!tensor.elements.empty()) text = tr(bad ? Text::seen_bad_at : Text::seen_there, {{"elements", tensor.elements}});
  const std::string origin = origin_text(tensor);
  return text + (text.empty() || origin.empty() ? "" : "; ") + origin;
}

}  // namespace

std::string seen_name(const SeenTensor& tensor) {
  const std::string slot = tensor.input < 0 ? tr(Text::seen_output) : tr(Text::seen_input, {{"slot", tensor.input}});
  return slot + (tensor.name.empty() ? "" : " ") + tensor.name;
}

std::string seen_text(const Selection& selection) {
  std::string text;
  for (const SeenTensor& tensor : selection.seen)
    text += "\n" + seen_name(tensor) + "  " + format_badges(tensor.badges) + "  " + words_of(tensor);
  return text;
}

void draw_seen(App& app, Rect row, std::size_t k) {
  Ui& ui = app.ui;
  const SeenTensor& tensor = app.selection.seen[k];
  const std::string name = seen_name(tensor);
  const std::string words = words_of(tensor);
  const Hit hit = ui.item("seen:" + std::to_string(k), row, false);
  if (hit.hovered) ui.tooltip(tr(Text::seen_hint) + seen_text(app.selection));
  if (tensor.stored) {
    const char* const label = tr(Text::seen_values);
    const Rect tool = row.cut_right(ui.bar_width(ui.label_width(label)));
    if (ui.tool("seen:values:" + std::to_string(k), tool, label, tr(Text::cmd_values)))
      app.command("show_values", {{"index", k}});
    row.cut_right(ui.px(4));
  }
  const float named = std::max(ui.px(70), ui.text_width(ui.sans, 12, name) + ui.px(8));
  ui.text_in(row.cut_left(std::min(named, row.w * 0.4F)), ui.sans, 12, ui.theme.dim, name);
  const float least = std::min(row.w * 0.4F, ui.text_width(ui.sans, 12, words) + ui.px(8));
  Rect badges = row.cut_left(row.w - least);
  const float bar = draw_health_bar(ui, badges, tensor.badges);
  badges.cut_left(bar > 0 ? bar + ui.px(6) : 0);
  ui.badges({badges.x, badges.y}, badges.w, badges.h, tensor.badges);
  ui.text_in(row, ui.sans, 12, ui.theme.text, words);
}

}  // namespace nanlens::viewer
