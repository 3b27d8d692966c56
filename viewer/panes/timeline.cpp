#include <algorithm>
#include <cmath>

#include "engine/run_index.hpp"
#include "engine/time_axis.hpp"
#include "panes/timeline_parts.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

struct BoxColors {
  ImU32 back;
  ImU32 front;
};

BoxColors colors_of(const App& app, const Box& box, bool focused) {
  const Theme& t = app.ui.theme;
  const auto& inputs = app.selection.input_places;
  const bool input = std::any_of(inputs.begin(), inputs.end(), [&](const Focus& made) {
    return made.execution == static_cast<std::int64_t>(box.index);
  });
  if (box.bad) return {t.badfill, t.onbad};
  if (focused) return {t.focus, t.text};
  if (input) return {t.input, t.text};  // as the rows of inputs
  if (box.function) return {t.func, t.onfunc};
  return {t.badge, t.onbadge};
}

std::string tooltip_of(const App& app, const Box& box) {
  std::string text = "#" + std::to_string(box.index) + "  " + box.op_type + "\n";
  if (box.track >= 0 && static_cast<std::size_t>(box.track) < app.timeline.tracks.size()) {
    const Track& track = app.timeline.tracks[static_cast<std::size_t>(box.track)];
    if (track.rank >= 0) text += tr(Text::rank_named, {{"rank", track.rank}}) + ", ";
    text += tr(Text::host_named, {{"name", track.host}}) + "\n";
  }
  text += format_time(box.time);
  if (!box.device.empty()) text += "  " + box.device;
  for (std::size_t slot = 0; slot < box.outputs.size(); ++slot)
    text += "\n" + tr(Text::card_output, {{"slot", slot}}) + "  " + format_badges(box.outputs[slot]);
  return text;
}

// In the other corner than that of what is bad.
void draw_rule_corner(const Ui& ui, const Rect& rect, const Box& box) {
  if (box.rules == 0 || rect.w < ui.px(8)) return;
  const ImU32 color = box.bad                              ? ui.theme.onbad
                      : (box.rules & minimap_error) != 0   ? ui.theme.bad
                      : (box.rules & minimap_warning) != 0 ? ui.theme.warn
                                                           : ui.theme.link;
  ui.draw()->AddTriangleFilled({rect.x, rect.y}, {rect.x + ui.px(5), rect.y}, {rect.x, rect.y + ui.px(5)}, color);
}

}  // namespace

void draw_box(App& app, const Rect& rect, const Box& box) {
  Ui& ui = app.ui;
  const bool focused = app.selection.focus.execution == static_cast<std::int64_t>(box.index);
  const Hit hit = ui.item("timeline:box:" + std::to_string(box.index), rect);
  const BoxColors colors = colors_of(app, box, focused);
  ui.fill(rect, colors.back, ui.px(2));
  // The whole name where it fits, as in few and therefore wide boxes.
  std::string letter = stripped_name(box.op_type);
  if (ui.text_width(ui.mono, 11, letter) + ui.px(8) > rect.w) letter = initial(box.op_type);
  const float width = ui.text_width(ui.mono, 11, letter);
  if (rect.w >= width) {
    ui.text({rect.x + (rect.w - width) / 2, rect.y + (rect.h - ui.px(11)) / 2 - ui.px(1)}, ui.mono, 11, colors.front,
            letter);
    if (box.function) ui.hline(rect.x + (rect.w - width) / 2, rect.y + rect.h / 2 + ui.px(6), width, colors.front);
  }
  if (box.bad && rect.w >= ui.px(8))
    ui.draw()->AddTriangleFilled({rect.right() - ui.px(5), rect.y}, {rect.right(), rect.y},
                                 {rect.right(), rect.y + ui.px(5)}, ui.theme.onbad);
  draw_rule_corner(ui, rect, box);
  if (focused)
    ui.frame(rect.inset(-1), ui.theme.text, ui.px(2), 2);
  else if (hit.hovered)
    ui.frame(rect.inset(-1), ui.theme.text, ui.px(2), 1);
  else if (app.hovered.call == static_cast<std::int64_t>(box.index))
    ui.frame(rect.inset(-1), ui.theme.link, ui.px(2), 1);
  const bool pinned = std::any_of(app.rows.pinned.begin(), app.rows.pinned.end(), [&](const Row& row) {
    return row.execution == static_cast<std::int64_t>(box.index);
  });
  if (pinned) ui.fill({rect.x, rect.bottom() - ui.px(3), rect.w, ui.px(3)}, ui.theme.warn);
  if (hit.hovered) ui.tooltip(tooltip_of(app, box));
  if (hit.clicked) app.command("focus_execution", {{"index", box.index}});
  if (hit.double_clicked) app.command("rows_of_execution", {{"index", box.index}});
}

namespace {

// Names of functions below their boxes, each as far as the next one's box.
void draw_names(App& app, const Rect& line, float per_unit) {
  Ui& ui = app.ui;
  const auto& t = app.timeline;
  const auto place = [&](const Box& box) {
    const double at = t.time_mode ? box.at : static_cast<double>(box.index);
    return line.x + static_cast<float>((at - app.timeline_pane.begin) * static_cast<double>(per_unit));
  };
  constexpr float least = 30;
  for (std::size_t i = 0; i < t.boxes.size(); ++i) {
    if (!t.boxes[i].function) continue;
    std::size_t next = i + 1;
    while (next < t.boxes.size() && !t.boxes[next].function) ++next;
    const float x = std::max(line.x, place(t.boxes[i]));
    const float end = next < t.boxes.size() ? std::min(line.right(), place(t.boxes[next])) : line.right();
    if (end - x < ui.px(least) || place(t.boxes[i]) + ui.px(least) < line.x) continue;
    const Rect place{x, line.y, end - x - ui.px(4), line.h};
    ui.mark("timeline:name:" + std::to_string(t.boxes[i].index), place);
    ui.text_in(place, ui.mono, 11, ui.theme.dim, stripped_name(t.boxes[i].op_type), Ellipsis::middle);
  }
}

}  // namespace

void draw_columns(App& app, const Rect& area, const std::vector<Density>& columns) {
  Ui& ui = app.ui;
  if (columns.empty()) return;
  std::uint32_t most = 1;
  for (const Density& c : columns) most = std::max(most, c.count);
  const float step = area.w / static_cast<float>(columns.size());
  for (std::size_t i = 0, next = 0; i < columns.size(); i = next) {
    const Density& c = columns[i];
    for (next = i + 1; next < columns.size() && columns[next] == c;) ++next;
    if (c.count == 0) continue;
    const float x = area.x + static_cast<float>(i) * step;
    const float w = std::max(1.0f, step * static_cast<float>(next - i));
    const float h = std::max(ui.px(2), area.h * static_cast<float>(c.count) / static_cast<float>(most));
    const float functions = h * static_cast<float>(c.functions) / static_cast<float>(c.count);
    ui.fill({x, area.bottom() - h, w, h - functions}, ui.theme.fin);
    ui.fill({x, area.bottom() - functions, w, functions}, ui.theme.func);
    // However many are fine, one that is bad shows.
    if (c.bad > 0) {
      const float bad = std::max(ui.px(3), h * static_cast<float>(c.bad) / static_cast<float>(c.count));
      ui.fill({x, area.bottom() - bad, std::max(w, ui.px(2)), bad}, ui.theme.badfill);
    }
  }
}

namespace {

// The tracks under the mouse come into view.
void scroll_by_map(App& app, const Rect& area) {
  const float fitting = static_cast<float>(app.timeline_pane.tracks_fitting) - 1;
  const float share = std::clamp((ImGui::GetIO().MousePos.y - area.y) / area.h, 0.0f, 1.0f);
  const auto total = static_cast<float>(app.timeline.tracks.size());
  app.timeline_pane.track_first = static_cast<double>(std::max(0.0f, share * total - fitting / 2));
}

void draw_overview(App& app, const Rect& area) {
  Ui& ui = app.ui;
  const Hit hit = ui.item("timeline:overview", area, false);
  ui.fill(area, ui.theme.panel);
  app.view.overview_columns = static_cast<std::uint32_t>(std::max(1.0f, area.w));
  const bool ranks = !app.timeline.tracks.empty();
  ranks ? draw_rank_map(app, area) : draw_columns(app, area, app.timeline.overview);
  const double whole = app.timeline_whole();
  auto& pane = app.timeline_pane;
  if (whole <= 0) return;
  const double per_pixel = whole / static_cast<double>(area.w);
  const float x = area.x + static_cast<float>(pane.begin / per_pixel);
  const float w = std::max(ui.px(4), static_cast<float>((pane.end - pane.begin) / per_pixel));
  const Rect window = Rect{x, area.y, w, area.h}.intersect(ranks ? tracks_on_map(app, area) : area);
  ui.fill(window, (ui.theme.link & 0x00ffffff) | 0x30000000);
  ui.frame(window, ui.theme.link, 0, 1);
  if (!hit.held) return;
  // Edges resize the window, its inside moves it, a click elsewhere centres it there.
  if (ranks) scroll_by_map(app, area);
  const float mouse = ImGui::GetIO().MousePos.x;
  const float start = ImGui::GetIO().MouseClickedPos[0].x;
  if (ImGui::IsItemActivated()) {
    const float grip = ui.px(4);
    pane.drag = std::fabs(start - window.x) < grip ? 1 : std::fabs(start - window.right()) < grip ? 2 : 0;
    if (pane.drag == 0 && (start < window.x || start > window.right())) {
      const double middle = static_cast<double>(start - area.x) * per_pixel;
      app.set_timeline(middle - (pane.end - pane.begin) / 2, middle + (pane.end - pane.begin) / 2);
    }
    return;
  }
  const double delta = static_cast<double>(ImGui::GetIO().MouseDelta.x) * per_pixel;
  const double at = static_cast<double>(mouse - area.x) * per_pixel;
  if (pane.drag == 1)
    app.set_timeline(std::min(at, pane.end - whole / 1e6), pane.end);
  else if (pane.drag == 2)
    app.set_timeline(pane.begin, std::max(at, pane.begin + whole / 1e6));
  else if (delta != 0)
    app.set_timeline(pane.begin + delta, pane.end + delta);
}

}  // namespace

void zoom_and_pan(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.timeline_pane;
  const ImGuiIO& io = ImGui::GetIO();
  const double span = pane.end - pane.begin;
  const ImVec2 wheel = ui.wheel(area);
  if (wheel.y != 0 && io.KeyCtrl)
    app.command("timeline_zoom", {{"factor", std::pow(1.25, static_cast<double>(wheel.y))},
                                  {"at", pane.begin + span * static_cast<double>((io.MousePos.x - area.x) / area.w)}});
  else if (wheel.y != 0 || wheel.x != 0)
    app.set_timeline(pane.begin - static_cast<double>(wheel.y + wheel.x) * span / 12,
                     pane.end - static_cast<double>(wheel.y + wheel.x) * span / 12);
}

namespace {

// Shift and drag: the range between the two places fills the band.
void zoom_to_range(App& app, const Rect& area, const Hit& hit) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.KeyShift || (!hit.held && !hit.clicked)) return;
  const float a = std::clamp(std::min(io.MouseClickedPos[0].x, io.MousePos.x), area.x, area.right());
  const float b = std::clamp(std::max(io.MouseClickedPos[0].x, io.MousePos.x), area.x, area.right());
  if (b - a < app.ui.px(3)) return;
  if (hit.held) {
    app.ui.fill({a, area.y, b - a, area.h}, app.ui.theme.func);
    return;
  }
  const auto& pane = app.timeline_pane;
  const double per_pixel = (pane.end - pane.begin) / static_cast<double>(area.w);
  app.command("timeline_range", {{"begin", pane.begin + static_cast<double>(a - area.x) * per_pixel},
                                 {"end", pane.begin + static_cast<double>(b - area.x) * per_pixel}});
}

}  // namespace

// Pauses, shortened: how long each was.
void draw_gaps(App& app, const Rect& area, float per_unit) {
  Ui& ui = app.ui;
  for (const Gap& gap : app.timeline.gaps) {
    const double place = gap.begin - gap.left_out - app.timeline_pane.begin;
    const Rect rect{area.x + static_cast<float>(place * static_cast<double>(per_unit)), area.y,
                    static_cast<float>(gap.width * static_cast<double>(per_unit)), area.h};
    const Rect visible = rect.intersect(area);
    if (visible.w <= 0) continue;
    ui.fill({visible.x, area.y + area.h / 2 - 1, visible.w, 2}, ui.theme.badge);
    const std::string text = tr(Text::timeline_idle, {{"time", gap.seconds}});
    if (ui.text_width(ui.sans, 11, text) + ui.px(24) > visible.w) continue;
    const float w = ui.text_width(ui.sans, 11, text) + ui.px(8);
    const Rect label{visible.x + (visible.w + ui.px(13) - w) / 2, area.y, w, area.h};
    ui.fill(label, ui.theme.bg);
    ui.text_in(label.inset(ui.px(4), 0), ui.sans, 11, ui.theme.dim, text);
  }
}

namespace {}  // namespace

Hit drag_band(App& app, const Rect& area) {
  const auto& pane = app.timeline_pane;
  const Hit back = app.ui.item("timeline:band", area, false);
  if (back.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3) && !ImGui::GetIO().KeyShift) {
    const double span = std::max(1e-9, pane.end - pane.begin);
    const double delta = -static_cast<double>(ImGui::GetIO().MouseDelta.x) * span / static_cast<double>(area.w);
    app.set_timeline(pane.begin + delta, pane.end + delta);
  }
  zoom_to_range(app, area, back);
  return back;
}

namespace {

// Boxes, or columns where they would be too narrow.
void draw_band(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.timeline_pane;
  const double span = std::max(1e-9, pane.end - pane.begin);
  app.view.timeline_columns = static_cast<std::uint32_t>(std::max(1.0f, area.w));
  drag_band(app, area);
  ImGui::PushClipRect(area.min(), area.max(), true);
  const auto& t = app.timeline;
  const float per_unit = static_cast<float>(static_cast<double>(area.w) / span);
  if (!t.columns.empty() && t.boxes.empty()) {
    const Rect drawn{area.x + static_cast<float>((t.begin - pane.begin) * static_cast<double>(per_unit)), area.y,
                     static_cast<float>((t.end - t.begin) * static_cast<double>(per_unit)), area.h};
    draw_columns(app, drawn, t.columns);
  }
  draw_gaps(app, area, per_unit);
  for (const Box& box : t.boxes) {
    Rect rect;
    if (t.time_mode) {
      const float x = area.x + static_cast<float>((box.at - pane.begin) * static_cast<double>(per_unit));
      rect = {x, area.y + ui.px(4), ui.px(13), ui.bar(20)};
    } else {
      const float x =
          area.x + static_cast<float>((static_cast<double>(box.index) - pane.begin) * static_cast<double>(per_unit));
      rect = {x, area.y + ui.px(4), std::max(1.0f, per_unit - (per_unit > ui.px(6) ? ui.px(1) : 0)), ui.bar(20)};
    }
    if (rect.right() > area.x && rect.x < area.right()) draw_box(app, rect, box);
  }
  ImGui::PopClipRect();
  zoom_and_pan(app, area);
}

std::string range_text(const App& app) {
  const auto& pane = app.timeline_pane;
  if (app.view.time_mode)
    return format_time(from_axis(app.timeline.gaps, pane.begin)) + " ~ " +
           format_time(from_axis(app.timeline.gaps, pane.end));
  const double total = static_cast<double>(app.timeline.total);
  if (!app.timeline.tracks.empty()) {
    const auto longest = static_cast<double>(app.timeline.longest);
    const double last = std::max(0.0, std::min(longest, std::ceil(pane.end)) - 1);
    return tr(Text::timeline_range_ranks,
              {{"begin", std::max(0.0, std::floor(pane.begin))}, {"end", last}, {"total", longest}});
  }
  const double last = std::max(0.0, std::min(total, std::ceil(pane.end)) - 1);
  return tr(Text::timeline_range, {{"begin", std::max(0.0, std::floor(pane.begin))}, {"end", last}, {"total", total}});
}

std::string mode_hint(const App& app) {
  std::string text = tr(Text::timeline_mode_hint);
  if (app.timeline.tracks.empty()) return text;
  return text + "\n" + tr(Text::timeline_mode_ranks) + "\n" + tr(Text::timeline_clocks);
}

void draw_timeline_tools(App& app, Rect bar) {
  Ui& ui = app.ui;
  const auto& pane = app.timeline_pane;
  const double step = app.view.time_mode ? (pane.end - pane.begin) / 20 : 1;
  if (ui.tool("timeline:left", bar.cut_left(ui.bar(22)), "‹", tr(Text::timeline_left)))
    app.command("timeline_pan", {{"boxes", -step}});
  bar.cut_left(ui.px(4));
  bar.cut_left(ui.text_in(bar, ui.mono, 12, ui.theme.text, range_text(app)) + ui.px(4));
  if (ui.tool("timeline:right", bar.cut_left(ui.bar(22)), "›", tr(Text::timeline_right)))
    app.command("timeline_pan", {{"boxes", step}});
  if (ui.tool("timeline:zoom_in", bar.cut_right(ui.bar(22)), "+", tr(Text::timeline_zoom_in)))
    app.command("timeline_zoom", {{"factor", 1.5}});
  if (ui.tool("timeline:zoom_out", bar.cut_right(ui.bar(22)), "−", tr(Text::timeline_zoom_out)))
    app.command("timeline_zoom", {{"factor", 1 / 1.5}});
  if (ui.tool("timeline:fit", bar.cut_right(ui.bar_width(ui.label_width(tr(Text::timeline_fit)))),
              tr(Text::timeline_fit), tr(Text::timeline_fit_hint)))
    app.command("timeline_fit");
  const bool by_time = pane.time_mode;
  const char* const mode = tr(by_time ? Text::timeline_by_time : Text::timeline_by_order);
  if (ui.tool("timeline:mode", bar.cut_right(ui.bar_width(ui.label_width(mode))), mode, mode_hint(app), by_time))
    app.command("timeline_mode", {{"mode", by_time ? "order" : "time"}});
}

void draw_scrollbar(App& app, const Rect& area) {
  Ui& ui = app.ui;
  auto& pane = app.timeline_pane;
  const double whole = app.timeline_whole();
  const double span = pane.end - pane.begin;
  if (whole <= span) return;
  const Hit hit = ui.item("timeline:scroll", area, false);
  ui.fill(area, ui.theme.panel, ui.px(3));
  const float length = std::max(ui.px(24), static_cast<float>(static_cast<double>(area.w) * span / whole));
  const double travel = static_cast<double>(area.w - length);
  ui.fill({area.x + static_cast<float>(travel * std::clamp(pane.begin / (whole - span), 0.0, 1.0)), area.y + ui.px(2),
           length, area.h - ui.px(4)},
          hit.hovered || hit.held ? ui.theme.dim : ui.theme.fin, ui.px(3));
  if (!hit.held) return;
  const double at =
      std::clamp((static_cast<double>(ImGui::GetIO().MousePos.x - area.x) - static_cast<double>(length) / 2) / travel,
                 0.0, 1.0) *
      (whole - span);
  app.set_timeline(at, at + span);
}

std::string empty_timeline_text(const App& app) {
  if (app.overview.loading) return tr(Text::list_reading);
  return tr(app.rows.total > 0 ? Text::timeline_none_rows : Text::timeline_none);
}

// As much of the run as there is room for boxes, around what is selected.
void fit_timeline(App& app, double boxes) {
  if (app.timeline_pane.fitted || app.timeline.time_mode != app.timeline_pane.time_mode) return;
  app.timeline_pane.fitted = true;
  app.set_timeline(
      0, app.timeline_pane.time_mode ? app.timeline.duration : std::min(boxes, std::max(1.0, app.timeline_whole())));
  const double span = app.timeline_pane.end;
  if (const double place = app.timeline_place(); app.selection.focus.execution >= 0 && place + 1 > span)
    app.set_timeline(place - span / 2, place + span / 2);
}

// A link's part of the timeline may reach beyond this run.
void keep_within_run(App& app) {
  const bool is_known = app.timeline.time_mode == app.timeline_pane.time_mode;
  if (is_known && app.timeline_pane.end > app.timeline_whole())
    app.set_timeline(app.timeline_pane.begin, app.timeline_pane.end);
}

void draw_band_and_names(App& app, Rect& area) {
  Ui& ui = app.ui;
  draw_band(app, area.cut_top(ui.px(ui.finger ? 52.0f : 28.0f)));
  constexpr float names_from = 240;  // below, the card needs the room
  if (ui.finger || area.h <= ui.px(names_from)) return;
  const double span = std::max(1e-9, app.timeline_pane.end - app.timeline_pane.begin);
  draw_names(app, area.cut_top(ui.px(15)), static_cast<float>(static_cast<double>(area.w) / span));
}

}  // namespace

void draw_timeline(App& app, Rect area) {
  Ui& ui = app.ui;
  Rect tools = draw_pane_header(app, Pane::timeline, area, tr(Text::pane_timeline),
                                app.overview.run >= 0 ? format_count(static_cast<double>(app.timeline.total)) : "");
  if (app.overview.run < 0) return;
  if (app.timeline.total == 0) {
    draw_empty(app, area, empty_timeline_text(app));
    return;
  }
  area = area.inset(ui.px(8), 0);
  area.cut_top(ui.px(4));
  const bool wide = !ui.finger && tools.w > ui.px(330);
  const bool ranks = !app.timeline.tracks.empty();
  draw_overview(app, area.cut_top(ranks ? rank_map_height(app, area.h) : ui.bar(20)));
  if (ranks) area.cut_top(ui.px(4));
  draw_timeline_tools(app, wide ? tools.inset(0, ui.px(3)) : area.cut_top(ui.bar(22)));
  fit_timeline(app, static_cast<double>((area.w - (ranks ? tracks_gutter(app, area.w) : 0)) / ui.bar(15)));
  keep_within_run(app);
  if (ranks) {
    // The card needs some room; that of a maximised pane is for the tracks.
    const float card = std::max(ui.px(88), std::min(area.h * 0.4f, ui.px(220)));
    draw_tracks(app, area.cut_top(tracks_height(app, std::max(ui.px(40), area.h - card))));
  } else {
    draw_band_and_names(app, area);
  }
  draw_scrollbar(app, area.cut_top(ui.px(12)));
  area.cut_top(ui.px(4));
  draw_execution_card(app, area);
}

}  // namespace nanlens::viewer
