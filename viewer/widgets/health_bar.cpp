#include "widgets/health_bar.hpp"

#include <algorithm>
#include <cmath>

#include "engine/badges.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::size_t num_bad = 3;  // of the six segments, the first ones
constexpr float least_bad = 3;      // pixels at 100 %

// Lines at 45° over a segment: what is bad is told from the rest without colour.
void hatch(const Ui& ui, const Rect& segment) {
  ImDrawList& draw = *ui.draw();
  draw.PushClipRect(segment.min(), segment.max(), true);
  const float step = ui.px(4);
  for (float x = segment.x - segment.h; x < segment.right(); x += step)
    draw.AddLine({x, segment.bottom()}, {x + segment.h, segment.y}, ui.theme.onbad, 1);
  draw.PopClipRect();
}

}  // namespace

std::optional<std::array<float, 6>> health_segments(const std::vector<Badge>& badges, float width, float least) {
  constexpr BadgeKind kinds[] = {BadgeKind::nan, BadgeKind::ninf, BadgeKind::pinf,
                                 BadgeKind::neg, BadgeKind::zero, BadgeKind::pos};
  std::array<double, 6> counts{};
  double known = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Badge* const badge = find_badge(badges, kinds[i]);
    counts[i] = badge == nullptr ? 0 : std::max(0.0, badge->number);
    known += counts[i];
  }
  const Badge* const size = find_badge(badges, BadgeKind::size);
  const double total = std::max(known, size == nullptr ? 0.0 : size->number);
  if (!(known > 0) || !std::isfinite(total)) return std::nullopt;
  std::array<float, 6> widths{};
  std::array<bool, 6> widened{};
  // What is widened is taken off the others, which may make another one too narrow.
  for (bool again = true; again;) {
    again = false;
    double left = static_cast<double>(width);
    double others = total;
    for (std::size_t i = 0; i < num_bad; ++i)
      if (widened[i]) {
        left -= static_cast<double>(least);
        others -= counts[i];
      }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      widths[i] = widened[i] ? least : static_cast<float>(others > 0 ? counts[i] / others * left : 0);
      if (i >= num_bad || counts[i] == 0 || widened[i] || widths[i] >= least) continue;
      widened[i] = again = true;
    }
  }
  return widths;
}

float draw_health_bar(const Ui& ui, const Rect& rect, const std::vector<Badge>& badges) {
  const float width = ui.px(health_bar_width);
  if (rect.w < width) return 0;
  const auto widths = health_segments(badges, width, ui.px(least_bad));
  if (!widths) return 0;
  const float height = ui.px(health_bar_height);
  Rect bar{std::floor(rect.x), std::floor(rect.y + (rect.h - height) / 2), width, height};
  ui.fill(bar, ui.theme.badge);
  const Rect whole = bar;
  const Theme& t = ui.theme;
  const ImU32 colors[] = {t.badfill, t.badfill, t.badfill, t.fin, t.bg, t.line};
  for (std::size_t i = 0; i < widths->size(); ++i) {
    const Rect segment = bar.cut_left((*widths)[i]);
    if (segment.w <= 0) continue;
    ui.fill(segment, colors[i]);
    if (i < num_bad) hatch(ui, segment);
    if (i > 0 && segment.x > whole.x) ui.vline(segment.x, segment.y, segment.h, t.bg);
  }
  ui.frame(whole, t.dim);
  return width;
}

}  // namespace nanlens::viewer
