// The values of a tensor as a map: blue below zero, orange above, and what is bad in a colour of its own with a sign.
#include <algorithm>
#include <cmath>

#include "engine/badges.hpp"
#include "panes/overlay.hpp"
#include "panes/panes.hpp"
#include "texts/numbers.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

ImU32 mixed(ImU32 a, ImU32 b, double share) {
  ImU32 out = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const double from = static_cast<double>(a >> shift & 255U);
    const double to = static_cast<double>(b >> shift & 255U);
    out |= static_cast<ImU32>(std::lround(from + (to - from) * share)) << shift;
  }
  return out;
}

// A scale with two ends and a middle at 0, which has the colour of what lies behind it.
ImU32 color_of(const Ui& ui, const HeatMap& map, double value) {
  const double most = std::max(std::fabs(map.low), std::fabs(map.high));
  const double share = most > 0 ? std::clamp(value / most, -1.0, 1.0) : 0;
  constexpr double least = 0.08;  // told from the background
  const ImU32 end = share < 0 ? ui.theme.link : ui.theme.warn;
  return mixed(ui.theme.badge, end, share == 0 ? 0 : least + (1 - least) * std::sqrt(std::fabs(share)));
}

bool has_bad(const HeatCell& cell) { return cell.nan + cell.ninf + cell.pinf > 0; }

const char* sign_of(const HeatCell& cell) { return cell.nan > 0 ? "N" : cell.ninf > 0 ? "−" : "+"; }

void draw_cell(const Ui& ui, const Rect& at, const HeatMap& map, const HeatCell& cell) {
  const bool bad = has_bad(cell);
  if (!bad && cell.low > cell.high) return;
  const double value = std::fabs(cell.low) > std::fabs(cell.high) ? cell.low : cell.high;
  ui.fill(at, bad ? ui.theme.badfill : color_of(ui, map, value));
  if (!bad) return;
  if (at.w < ui.px(9) || at.h < ui.px(9)) {
    if (at.w >= ui.px(5) && at.h >= ui.px(5)) ui.frame(at, ui.theme.text);
    return;
  }
  const float size = std::min({at.w, at.h, ui.px(14)}) / ui.scale * 0.9F;
  const float width = ui.text_width(ui.mono, size, sign_of(cell));
  ui.text_in({at.x + (at.w - width) / 2, at.y, at.w, at.h}, ui.mono, size, ui.theme.onbad, sign_of(cell));
}

// "3", or "4..7" where several share a cell.
std::string places(std::int64_t cell, std::int64_t cells, std::int64_t size) {
  const std::int64_t first = (cell * size + cells - 1) / cells;
  const std::int64_t last = ((cell + 1) * size + cells - 1) / cells - 1;
  return first >= last ? std::to_string(first) : std::to_string(first) + ".." + std::to_string(last);
}

// "[2,3,4..7] NaN 2, −1 to 5"
std::string cell_text(const HeatMap& map, std::int64_t row, std::int64_t column) {
  const HeatCell& cell = map.cells[static_cast<std::size_t>(row * map.cells_across + column)];
  std::string text = "[" + map.slice_index();
  if (map.shape.size() >= 2) text += places(row, map.cells_down, map.rows) + ",";
  if (!map.shape.empty()) text += places(column, map.cells_across, map.columns);
  text += "]";
  const bool shared = map.cells_down < map.rows || map.cells_across < map.columns;
  const auto add = [&](const char* what, std::uint32_t n) {
    if (n > 0) text += std::string("  ") + what + (shared ? " " + format_count(n) : "");
  };
  add("NaN", cell.nan);
  add("−∞", cell.ninf);
  add("+∞", cell.pinf);
  if (cell.low > cell.high) return text;
  text += "  " + value_text(cell.low);
  return cell.low == cell.high ? text : text + " … " + value_text(cell.high);
}

// As much of an area as a map of cells needs. Cells are no larger than is of use, and longer one way where that helps.
ImVec2 cell_size(const Ui& ui, const Rect& area, const HeatMap& map) {
  constexpr float largest = 34;
  constexpr float longest = 4;  // times the other side
  const auto fitting = [&](float room, std::int64_t cells) {
    return std::max(1.0F, std::floor(std::min(room / static_cast<float>(cells), ui.px(largest))));
  };
  const ImVec2 size{fitting(area.w, map.cells_across), fitting(area.h, map.cells_down)};
  return {std::min(size.x, longest * size.y), std::min(size.y, longest * size.x)};
}

void draw_map(App& app, const Rect& area, const HeatMap& map) {
  Ui& ui = app.ui;
  const ImVec2 cell = cell_size(ui, area, map);
  const Rect box{area.x, area.y, cell.x * static_cast<float>(map.cells_across),
                 cell.y * static_cast<float>(map.cells_down)};
  const float gap = std::min(cell.x, cell.y) > ui.px(6) ? 1 : 0;
  for (std::int64_t r = 0; r < map.cells_down; ++r)
    for (std::int64_t c = 0; c < map.cells_across; ++c)
      draw_cell(
          ui,
          {box.x + static_cast<float>(c) * cell.x, box.y + static_cast<float>(r) * cell.y, cell.x - gap, cell.y - gap},
          map, map.cells[static_cast<std::size_t>(r * map.cells_across + c)]);
  ui.frame({box.x - 1, box.y - 1, box.w + 2 - gap, box.h + 2 - gap}, ui.theme.line);
  const Hit hit = ui.item("values:map", box, false);
  app.values_pane.told.clear();
  if (!hit.hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto row = static_cast<std::int64_t>((mouse.y - box.y) / cell.y);
  const auto column = static_cast<std::int64_t>((mouse.x - box.x) / cell.x);
  if (row < 0 || column < 0 || row >= map.cells_down || column >= map.cells_across) return;
  app.values_pane.told = cell_text(map, row, column);
  ui.frame({box.x + static_cast<float>(column) * cell.x, box.y + static_cast<float>(row) * cell.y, cell.x, cell.y},
           ui.theme.text);
  ui.tooltip(app.values_pane.told);
}

void legend_tag(const Ui& ui, Rect& row, const char* sign, std::uint64_t n) {
  if (n == 0) return;
  const std::string text = std::string(sign) + " " + format_count(static_cast<double>(n));
  row.cut_left(ui.tag({row.x, row.y}, row.h, text, ui.theme.badfill, ui.theme.onbad) + ui.px(6));
}

// From the least to the greatest value, then what is bad and how often.
void draw_legend(const Ui& ui, Rect row, const HeatMap& map) {
  if (map.low <= map.high) {
    row.cut_left(ui.text_in(row, ui.mono, 12, ui.theme.text, value_text(map.low)) + ui.px(8));
    const Rect scale = row.cut_left(std::min(ui.px(120), row.w * 0.4F)).inset(0, ui.px(7));
    constexpr int steps = 24;
    for (int i = 0; i < steps; ++i) {
      const double value = map.low + (map.high - map.low) * (i + 0.5) / steps;
      ui.fill({scale.x + scale.w * static_cast<float>(i) / steps, scale.y, scale.w / steps + 1, scale.h},
              color_of(ui, map, value));
    }
    row.cut_left(ui.px(8));
    row.cut_left(ui.text_in(row, ui.mono, 12, ui.theme.text, value_text(map.high)) + ui.px(14));
  }
  legend_tag(ui, row, "NaN", map.nan);
  legend_tag(ui, row, "−∞", map.ninf);
  legend_tag(ui, row, "+∞", map.pinf);
}

// Which slice of more than two dimensions is shown, and the way to the others.
void draw_slices(App& app, Rect row, const HeatMap& map) {
  Ui& ui = app.ui;
  const auto step = [&](const char* id, const char* label, std::int64_t by, Text hint) {
    if (ui.tool(id, row.cut_left(ui.bar(26)), label, tr(hint)))
      app.command("values_slice", {{"slice", map.slice + by}});
  };
  step("values:previous", "‹", -1, Text::values_previous);
  step("values:next", "›", 1, Text::values_next);
  row.cut_left(ui.px(6));
  ui.text_in(
      row, ui.mono, 12, ui.theme.text,
      "[" + map.slice_index() + ":,:]   " + tr(Text::values_slice, {{"n", map.slice + 1}, {"total", map.slices}}));
}

void draw_foot(App& app, Rect& inside, const HeatMap& map) {
  Ui& ui = app.ui;
  Rect foot = inside.cut_bottom(ui.bar(28));
  const char* const label = tr(Text::values_save);
  if (ui.button("values:save", foot.cut_right(ui.bar_width(ui.label_width(label) + ui.px(14))), label)) {
    const Result result = app.command("export", {{"what", "values"}});
    if (!result.ok) app.toast(result.message);
  }
  const bool shared = map.cells_down < map.rows || map.cells_across < map.columns;
  const std::string words = !app.values_pane.told.empty() ? app.values_pane.told
                            : shared ? tr(Text::values_shared, {{"rows", map.rows}, {"columns", map.columns}})
                                     : tr(Text::values_hint);
  ui.text_in(foot, ui.sans, 12, ui.theme.dim, words);
  inside.cut_bottom(ui.px(8));
}

// "Values · Log · out, then · float32 [100,10]"
std::string title_of(const App& app) {
  const auto& seen = app.selection.seen;
  const auto of = static_cast<std::size_t>(app.values_pane.of);
  std::string title = tr(Text::values_title);
  const auto add = [&title](const std::string& part) { title += part.empty() ? "" : " · " + part; };
  add(app.selection.focus.op_name.empty() ? app.selection.card.op_type : app.selection.focus.op_name);
  if (of < seen.size()) add(seen_name(seen[of]));
  if (app.heat_map.of != app.values_pane.of || !app.heat_map.stored) return title;
  std::string shape;
  for (const std::int64_t size : app.heat_map.shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
  add(app.heat_map.dtype + " [" + shape + "]");
  return title;
}

}  // namespace

void draw_values(App& app, const Rect& window) {
  const HeatMap& map = app.heat_map;
  const std::string title = title_of(app);
  overlay(app, title.c_str(), centered(window, app.ui.px(640), app.ui.px(620)), [&](Rect inside) {
    Ui& ui = app.ui;
    inside = inside.inset(ui.px(14), ui.px(10));
    if (map.of != app.view.values_of) return draw_empty(app, inside, tr(Text::list_reading));
    if (!map.stored) return draw_empty(app, inside, tr(Text::values_not_stored));
    draw_legend(ui, inside.cut_top(ui.px(22)), map);
    inside.cut_top(ui.px(6));
    if (map.slices > 1) draw_slices(app, inside.cut_top(ui.bar(26)), map);
    draw_foot(app, inside, map);
    if (map.cells.empty()) return draw_empty(app, inside, tr(Text::badge_empty));
    draw_map(app, inside, map);
  });
}

}  // namespace nanlens::viewer
