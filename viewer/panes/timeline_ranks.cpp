// The timeline of several ranks: a track for each, what they exchanged, and all of them in small.
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/time_axis.hpp"
#include "panes/timeline_parts.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr float tallest_track = 22;
constexpr float least_track = 11;  // below, its label can't be read: the tracks scroll

bool several_hosts(const App& app) {
  const auto& tracks = app.timeline.tracks;
  return std::any_of(tracks.begin(), tracks.end(), [&](const Track& t) { return t.host != tracks.front().host; });
}

std::string rank_text(const Track& track) {
  return track.rank < 0 ? track.host : tr(Text::rank_named, {{"rank", track.rank}});
}

std::string bad_text(const Track& track) {
  return track.bad == 0 ? "" : "▲" + format_short_count(static_cast<double>(track.bad));
}

float track_height(const App& app, float height) {
  const Ui& ui = app.ui;
  const float least = ui.px(ui.finger ? 30.0f : least_track);
  const float most = ui.px(ui.finger ? 44.0f : tallest_track);
  const float all = height / static_cast<float>(app.timeline.tracks.size());
  if (all >= least) return std::min(all, most);
  return height / std::max(1.0f, std::floor(height / least));  // no track is shown in part
}

std::string tooltip_of_track(const App& app, const Track& track) {
  std::string text = rank_text(track);
  if (track.rank >= 0) text += ", " + tr(Text::host_named, {{"name", track.host}});
  text += "\n" + tr(Text::timeline_track, {{"executions", track.total}, {"bad", track.bad}});
  if (track.rank >= 0)
    text += std::string("\n") + tr(app.rows.total > 0 && !app.rows.of_executions ? Text::timeline_track_filter
                                                                                 : Text::timeline_track_first_bad);
  return text;
}

// Rank, host where they differ, and how much of it is bad.
void draw_label(App& app, const Rect& rect, const Rect& labels, std::size_t number) {
  Ui& ui = app.ui;
  const Track& track = app.timeline.tracks[number];
  const Hit hit = ui.item("timeline:track:" + std::to_string(number), rect.intersect(labels), track.rank >= 0);
  const bool selected = app.selection.card.track == static_cast<std::int32_t>(number);
  const bool filtered = track.rank >= 0 && app.filters_rank(track.rank);
  if (filtered)
    ui.fill(rect, ui.theme.func);
  else if (selected)
    ui.fill(rect, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(rect, ui.theme.badge);
  if (filtered) ui.fill({rect.x, rect.y, ui.px(2), rect.h}, ui.theme.link);
  Rect inner = rect.inset(ui.px(4), 0);
  const float size = std::min(11.0f, rect.h / ui.scale - 1);
  if (const std::string bad = bad_text(track); !bad.empty())
    ui.text_in(inner.cut_right(ui.text_width(ui.mono, size, bad)), ui.mono, size, ui.theme.bad, bad);
  const std::string name = rank_text(track);
  const ImU32 color = selected || filtered || track.bad > 0 ? ui.theme.text : ui.theme.dim;
  const float width = ui.text_width(ui.sans, size, name);
  const std::string short_name = track.rank < 0 ? name : std::to_string(track.rank);
  inner.cut_left(ui.text_in(inner, ui.sans, size, color, width <= inner.w ? name : short_name) + ui.px(5));
  if (track.rank >= 0 && several_hosts(app) && inner.w > ui.px(24))
    ui.text_in(inner, ui.sans, size, ui.theme.dim, track.host, Ellipsis::left);
  if (hit.hovered) ui.tooltip(tooltip_of_track(app, track));
  if (hit.clicked && track.rank >= 0)
    if (const Result result = app.command("filter_rank", {{"rank", track.rank}}); !result.ok) app.toast(result.message);
}

// Where tracks, executions and times are on screen.
struct Grid {
  Rect lanes;
  float row = 0;     // height of a track
  float top = 0;     // of the first track
  double begin = 0;  // of the axis
  float per_unit = 0;

  [[nodiscard]] Rect lane(std::size_t track) const {
    return {lanes.x, top + row * static_cast<float>(track), lanes.w, row};
  }
  [[nodiscard]] float x(double place) const {
    return lanes.x + static_cast<float>((place - begin) * static_cast<double>(per_unit));
  }
};

Rect box_rect(const App& app, const Grid& grid, const Box& box, const Box* next) {
  const Ui& ui = app.ui;
  const Rect lane = grid.lane(static_cast<std::size_t>(box.track));
  const float inset = lane.h > ui.px(16) ? ui.px(2) : ui.px(1);
  const float x = grid.x(box.at);
  const float unit = grid.per_unit;
  float width = std::max(1.0f, unit - (unit > ui.px(6) ? ui.px(1) : 0));
  if (app.timeline.time_mode) {
    const float room = next != nullptr && next->track == box.track ? grid.x(next->at) - x - 1 : ui.px(13);
    width = std::clamp(room, ui.px(3), ui.px(13));
  }
  return {x, lane.y + inset, width, lane.h - 2 * inset};
}

// What is bad comes last: nothing hides it.
void draw_boxes(App& app, const Grid& grid) {
  const auto& boxes = app.timeline.boxes;
  for (const bool bad : {false, true})
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].bad != bad || boxes[i].track < 0) continue;
      const Rect rect = box_rect(app, grid, boxes[i], i + 1 < boxes.size() ? &boxes[i + 1] : nullptr);
      if (rect.right() > grid.lanes.x && rect.x < grid.lanes.right() && rect.bottom() > grid.lanes.y &&
          rect.y < grid.lanes.bottom())
        draw_box(app, rect, boxes[i]);
    }
}

void draw_sums(App& app, const Grid& grid) {
  const auto& t = app.timeline;
  for (std::size_t k = 0; k < t.tracks.size(); ++k) {
    const Rect lane = grid.lane(k);
    if (t.tracks[k].columns.empty() || lane.bottom() <= grid.lanes.y || lane.y >= grid.lanes.bottom()) continue;
    const float x = grid.x(t.begin);
    draw_columns(app, {x, lane.y + app.ui.px(1), grid.x(t.end) - x, lane.h - app.ui.px(2)}, t.tracks[k].columns);
  }
}

// The focused execution where there are no boxes.
void draw_focus(App& app, const Grid& grid) {
  const Card& card = app.selection.card;
  if (card.track < 0 || !app.timeline.boxes.empty()) return;
  const Rect lane = grid.lane(static_cast<std::size_t>(card.track));
  const float x = grid.x(app.timeline_place());
  const float width = app.timeline.time_mode ? app.ui.px(4) : std::max(grid.per_unit, app.ui.px(3));
  app.ui.frame({x - app.ui.px(1), lane.y, width + app.ui.px(1), lane.h}, app.ui.theme.text, 0, app.ui.px(2));
}

// A click between boxes, or on sums: what is bad there first, else the first.
void handle_lanes(App& app, const Grid& grid, const Hit& hit) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto number = static_cast<std::size_t>(std::max(0.0f, (mouse.y - grid.top) / grid.row));
  if (number >= app.timeline.tracks.size() || grid.per_unit <= 0) return;
  const auto& columns = app.timeline.tracks[number].columns;
  const double width = app.timeline.end - app.timeline.begin;
  if (columns.empty() || width <= 0) return;
  const double at = grid.begin + static_cast<double>((mouse.x - grid.lanes.x) / grid.per_unit);
  const double share = (at - app.timeline.begin) / width;
  if (!(share >= 0 && share < 1)) return;
  const auto column = static_cast<std::size_t>(share * static_cast<double>(columns.size()));
  const Density& sum = columns[column];
  if (sum.count == 0) return;
  if (hit.hovered)
    app.ui.tooltip(rank_text(app.timeline.tracks[number]) + "\n" +
                   tr(Text::timeline_part, {{"n", sum.count}, {"bad", sum.bad}}));
  const double part = width / static_cast<double>(columns.size());
  const double begin = app.timeline.begin + part * static_cast<double>(column);
  if (hit.clicked && !ImGui::GetIO().KeyShift)
    app.command("focus_track", {{"track", number}, {"begin", begin}, {"end", begin + part}});
}

// From a sender to a receiver: along the lane of the one that is not selected, and across the others.
void draw_spread(const Ui& ui, ImVec2 from, ImVec2 to, float bus) {
  const ImU32 color = ui.theme.text;
  const float thick = ui.px(1.5f);
  ui.draw()->AddLine(from, {bus, from.y}, color, thick);
  ui.draw()->AddLine({bus, from.y}, {bus, to.y}, color, thick);
  ui.draw()->AddLine({bus, to.y}, to, color, thick);
  const float head = ui.px(4);
  const float back = to.x >= from.x ? -head : head;
  ui.draw()->AddTriangleFilled({to.x + head / 2, to.y}, {to.x + back, to.y - head * 0.8f},
                               {to.x + back, to.y + head * 0.8f}, color);
}

// What the focused execution exchanged: outlines around the other ends, and a line to each that what is bad came to, or
// from.
void draw_partners(App& app, const Grid& grid) {
  Ui& ui = app.ui;
  const Card& card = app.selection.card;
  if (card.track < 0) return;
  const bool by_time = app.timeline.time_mode;
  const float width = by_time ? ui.px(4) : std::max(ui.px(3), grid.per_unit);
  const auto rect_of = [&](std::int32_t track, std::int64_t place, double time) {
    const Rect lane = grid.lane(static_cast<std::size_t>(track));
    const double at = by_time ? to_axis(app.timeline.gaps, time) : static_cast<double>(place);
    return Rect{grid.x(at) - 1, lane.y, width + 1, lane.h};
  };
  const auto left = [](const Rect& r) { return ImVec2{r.x, r.y + r.h / 2}; };
  const auto right = [](const Rect& r) { return ImVec2{r.right(), r.y + r.h / 2}; };
  const Rect self = rect_of(card.track, card.place, card.time);
  for (const ExchangePartner& partner : app.selection.partners) {
    if (partner.track < 0) continue;
    const Rect rect = rect_of(partner.track, partner.place, partner.time);
    if (const Rect seen = rect.intersect(grid.lanes); seen.w > 0 && seen.h > 0)
      ui.mark("timeline:partner:" + std::to_string(partner.execution), seen);
    ui.frame(rect, partner.spread ? ui.theme.text : ui.theme.link, ui.px(2), 1);
    if (!partner.spread || partner.track == card.track) continue;
    const Rect& sender = partner.sent ? rect : self;
    const Rect& receiver = partner.sent ? self : rect;
    draw_spread(ui, right(sender), left(receiver), partner.sent ? left(self).x : right(self).x);
  }
}

// Which tracks are bad, beside those that are in view.
void draw_track_scrollbar(App& app, const Rect& bar, double visible) {
  Ui& ui = app.ui;
  const auto& tracks = app.timeline.tracks;
  ui.scrollbar("timeline:tracks:scroll", bar, static_cast<double>(tracks.size()), visible,
               app.timeline_pane.track_first);
  const float step = bar.h / static_cast<float>(tracks.size());
  for (std::size_t k = 0; k < tracks.size(); ++k)
    if (tracks[k].bad > 0)
      ui.fill({bar.right() - ui.px(4), bar.y + step * static_cast<float>(k), ui.px(4), std::max(ui.px(2), step)},
              ui.theme.badfill);
}

void scroll_tracks(App& app, const Rect& wheel_area, double visible) {
  auto& pane = app.timeline_pane;
  const auto total = static_cast<double>(app.timeline.tracks.size());
  const Card& card = app.selection.card;
  if (pane.reveal_track && card.track >= 0) {
    pane.reveal_track = false;
    const auto at = static_cast<double>(card.track);
    if (at < pane.track_first || at + 1 > pane.track_first + visible) pane.track_first = at - std::floor(visible / 2);
  }
  pane.track_first -= static_cast<double>(app.ui.wheel(wheel_area).y) * 3;
  pane.track_first = std::clamp(pane.track_first, 0.0, std::max(0.0, total - visible));
}

}  // namespace

float tracks_height(const App& app, float available) {
  const float all = track_height(app, available) * static_cast<float>(app.timeline.tracks.size());
  return std::min(all, available);
}

float tracks_gutter(const App& app, float width) {
  const Ui& ui = app.ui;
  float label = 0;
  float bad = 0;
  const bool hosts = several_hosts(app);
  for (const Track& track : app.timeline.tracks) {
    const std::string host = hosts && track.rank >= 0 ? " " + track.host : "";
    label = std::max(label, ui.text_width(ui.sans, 11, rank_text(track) + host));
    bad = std::max(bad, ui.text_width(ui.mono, 11, bad_text(track)));
  }
  return std::min(label + bad + ui.px(18), width * 0.28f);
}

void draw_tracks(App& app, Rect area) {
  Ui& ui = app.ui;
  auto& pane = app.timeline_pane;
  Grid grid;
  grid.row = track_height(app, area.h);
  const double visible = static_cast<double>(area.h / grid.row);
  const auto total = static_cast<double>(app.timeline.tracks.size());
  const Rect labels = area.cut_left(tracks_gutter(app, area.w));
  const bool scrolls = visible + 0.01 < total;
  const Rect bar = scrolls ? area.cut_right(ui.px(12)) : Rect{};
  scroll_tracks(app, labels, visible);
  if (scrolls) draw_track_scrollbar(app, bar, visible);
  pane.tracks_fitting = static_cast<std::uint32_t>(std::ceil(visible)) + 1;
  grid.lanes = area;
  grid.top = area.y - static_cast<float>(pane.track_first) * grid.row;
  grid.begin = pane.begin;
  grid.per_unit = static_cast<float>(static_cast<double>(area.w) / std::max(1e-9, pane.end - pane.begin));
  app.view.timeline_columns = static_cast<std::uint32_t>(std::max(1.0f, area.w));

  handle_lanes(app, grid, drag_band(app, area));
  ImGui::PushClipRect(labels.min(), {area.right(), area.bottom()}, true);
  for (std::size_t k = 0; k < app.timeline.tracks.size(); ++k) {
    const Rect lane = grid.lane(k);
    if (lane.bottom() <= area.y || lane.y >= area.bottom()) continue;
    if (k % 2 == 1) ui.fill(lane, ui.theme.panel);
    draw_label(app, {labels.x, lane.y, labels.w, lane.h}, labels, k);
  }
  ImGui::PopClipRect();
  ImGui::PushClipRect(area.min(), area.max(), true);
  const float text = std::min(area.h, ui.px(28));  // nothing else is drawn where nobody ran anything
  draw_gaps(app, {area.x, area.y + (area.h - text) / 2, area.w, text}, grid.per_unit);
  draw_sums(app, grid);
  draw_boxes(app, grid);
  draw_focus(app, grid);
  draw_partners(app, grid);
  ImGui::PopClipRect();
  zoom_and_pan(app, area);
}

float rank_map_height(const App& app, float available) {
  const float least = app.ui.bar(20);
  const float needed = app.ui.px(static_cast<float>(app.timeline.tracks.size()));
  return std::clamp(needed, least, std::max(least, std::min(available * 0.16f, app.ui.px(64))));
}

// Each line of pixels is one rank, or what is worst of several.
void draw_rank_map(App& app, const Rect& area) {
  Ui& ui = app.ui;
  const auto& tracks = app.timeline.tracks;
  const std::size_t columns = tracks.front().overview.size();
  if (columns == 0) return;
  const std::size_t lines = std::min(tracks.size(), static_cast<std::size_t>(std::max(1.0f, area.h)));
  const float w = area.w / static_cast<float>(columns);
  const float h = area.h / static_cast<float>(lines);
  const auto value = [&](std::size_t line, std::size_t column) {
    std::uint8_t worst = 0;  // bad counts more than any fullness
    for (std::size_t k = line * tracks.size() / lines; k < (line + 1) * tracks.size() / lines; ++k)
      worst = std::max(worst, tracks[k].overview[column]);
    return worst;
  };
  const auto color = [&](std::uint8_t cell) {
    if ((cell & overview_bad) != 0) return ui.theme.badfill;
    return app.timeline.time_mode && cell > overview_bad / 2 ? ui.theme.fin : ui.theme.badge;
  };
  const auto shade = [&](std::uint8_t cell) { return cell == 0 ? 0 : color(cell); };
  for (const bool bad : {false, true})  // what is bad comes last, and is wide enough to be seen
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t begin = 0, end = 0; begin < columns; begin = end) {
        const std::uint8_t cell = value(line, begin);
        for (end = begin + 1; end < columns && shade(value(line, end)) == shade(cell);) ++end;
        if (cell == 0 || ((cell & overview_bad) != 0) != bad) continue;
        const float gap = h >= ui.px(4) ? 1.0f : 0.0f;
        const float least = bad ? ui.px(2) : 1.0f;
        ui.fill({area.x + w * static_cast<float>(begin), area.y + h * static_cast<float>(line),
                 std::max(least, w * static_cast<float>(end - begin)), std::max(bad ? ui.px(2) : 0.0f, h - gap)},
                shade(cell));
      }
}

Rect tracks_on_map(const App& app, const Rect& area) {
  const auto total = static_cast<float>(app.timeline.tracks.size());
  const float fitting = static_cast<float>(app.timeline_pane.tracks_fitting) - 1;
  if (fitting >= total || fitting <= 0) return area;
  const float first = static_cast<float>(app.timeline_pane.track_first);
  return {area.x, area.y + area.h * first / total, area.w, area.h * fitting / total};
}

}  // namespace nanlens::viewer
