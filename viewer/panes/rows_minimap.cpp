// The strip beside the rows, and what a fast drag shows.
#include <algorithm>

#include "panes/rows_parts.hpp"

namespace nanlens::viewer {

namespace {

// Where along the strip something is: rows by their index in the run, or by their position among those shown.
class Scale {
 public:
  Scale(const App& app, const Rect& area) : rows_(app.rows), area_(area) {}
  [[nodiscard]] bool of_run() const { return rows_.minimap_of_run || rows_.shown == rows_.total; }
  [[nodiscard]] float at(std::uint64_t place) const {
    const std::uint64_t whole = rows_.minimap_of_run ? rows_.total : rows_.shown;
    return whole == 0 ? area_.y
                      : area_.y + area_.h * static_cast<float>(static_cast<double>(place) / static_cast<double>(whole));
  }
  // The position among the rows shown that the mouse points at.
  [[nodiscard]] double position_at(float y) const {
    const double share = std::clamp(static_cast<double>((y - area_.y) / area_.h), 0.0, 1.0);
    if (!rows_.minimap_of_run || rows_.minimap_places.empty()) return share * static_cast<double>(rows_.shown);
    const auto last = rows_.minimap_places.size() - 1;
    const auto cell = static_cast<std::size_t>(share * static_cast<double>(last));
    return static_cast<double>(rows_.minimap_places[cell]);
  }

 private:
  const Rows& rows_;
  Rect area_;
};

void draw_signs(App& app, const Rect& area) {
  const Ui& ui = app.ui;
  const auto& cells = app.rows.minimap;
  const float step = area.h / static_cast<float>(cells.size());
  const float height = std::max(2.0f, step);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const float y = area.y + static_cast<float>(i) * step;
    if ((cells[i] & minimap_call) != 0) ui.hline(area.x, y, area.w, ui.theme.line);
    // Hits on the left, as the bar of a row, bad rows beside them: neither hides the other.
    const float left = app.rows.minimap_of_run ? ui.px(4) : 0;
    if ((cells[i] & minimap_hit) != 0) ui.fill({area.x, y, left - 1, height}, ui.theme.link);
    if ((cells[i] & minimap_bad) != 0) ui.fill({area.x + left, y, area.w - left, height}, ui.theme.badfill);
    // Rules on the right, the gravest before all.
    const auto level = (cells[i] & minimap_error) != 0     ? RuleLevel::error
                       : (cells[i] & minimap_warning) != 0 ? RuleLevel::warning
                                                           : RuleLevel::note;
    if ((cells[i] & (minimap_error | minimap_warning | minimap_note)) != 0)
      ui.fill({area.right() - ui.px(4), y, ui.px(4), height}, level_colors(ui.theme, level).fill);
  }
}

// The part of the run that is in view.
void draw_view(App& app, const Rect& area, const Scale& scale) {
  const auto& rows = app.rows.rows;
  const std::int64_t first = static_cast<std::int64_t>(app.rows_pane.first) - static_cast<std::int64_t>(app.rows.first);
  const auto last = first + static_cast<std::int64_t>(app.rows_pane.fitting) - 2;
  if (!app.rows.minimap_of_run || first < 0 || static_cast<std::size_t>(first) >= rows.size()) return;
  const auto end =
      static_cast<std::size_t>(std::clamp<std::int64_t>(last, first, static_cast<std::int64_t>(rows.size()) - 1));
  const float top = scale.at(rows[static_cast<std::size_t>(first)].index);
  const float bottom = scale.at(rows[end].index + 1);
  app.ui.frame({area.x, top, area.w, std::max(app.ui.px(3), bottom - top)}, app.ui.theme.dim);
}

}  // namespace

bool draw_minimap(App& app, const Rect& area) {
  const Ui& ui = app.ui;
  app.view.minimap_cells = static_cast<std::uint32_t>(std::max(8.0f, area.h / 3));
  const Hit hit = app.ui.item("rows:minimap", area, false);
  const Scale scale(app, area);
  if (hit.held && app.rows.shown > 0) {
    const double fitting = static_cast<double>(app.rows_pane.fitting) - 1;
    app.rows_pane.first = scale.position_at(ImGui::GetIO().MousePos.y) - fitting / 2;
    app.rows_pane.tail = false;
  }
  // Where all rows are in view at once, their own colours say it better.
  const bool all_in_view = app.rows.shown < static_cast<std::uint64_t>(app.rows_pane.fitting);
  if (app.rows.minimap.empty() || (all_in_view && !app.rows.minimap_of_run)) return hit.held;
  draw_signs(app, area);
  draw_view(app, area, scale);
  if (scale.of_run() && !app.rows.of_executions)
    for (const std::int64_t row : app.rows_pane.pins)
      ui.fill({area.x, scale.at(static_cast<std::uint64_t>(row)), area.w, ui.px(2)}, ui.theme.warn);
  const std::int64_t focus = app.rows.minimap_of_run ? app.focused_row() : app.rows.focus_position;
  if (focus >= 0 && app.rows.shown > 0)
    ui.fill({area.x, scale.at(static_cast<std::uint64_t>(focus)), area.w, ui.px(2)}, ui.theme.text);
  if (hit.hovered && !hit.held) ui.tooltip(tr(app.rows.minimap_of_run ? Text::rows_minimap_run : Text::rows_minimap));
  return hit.held;
}

void draw_bubble(App& app, const Row& top) {
  Ui& ui = app.ui;
  const std::string text = tr(top.execution < 0 ? Text::rows_bubble : Text::rows_bubble_call,
                              {{"index", top.index}, {"call", top.execution}, {"time", top.time}});
  const float w = ui.text_width(ui.sans, 12, text) + ui.px(16);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Rect box{mouse.x - w - ui.px(30), mouse.y - ui.px(12), w, ui.px(24)};
  ui.mark("rows:bubble", box);
  ui.fill(box, ui.theme.text, ui.px(4));
  ui.text_in(box.inset(ui.px(8), 0), ui.sans, 12, ui.theme.bg, text);
}

}  // namespace nanlens::viewer
