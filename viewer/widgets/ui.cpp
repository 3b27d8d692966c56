#include "widgets/ui.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanlens::viewer {

namespace {

const char* begin_of(std::string_view text) { return text.data(); }
const char* end_of(std::string_view text) { return text.data() + text.size(); }

// Bytes up to the next or previous character of UTF-8.
std::size_t next_character(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  return std::min(at, text.size());
}
std::size_t previous_character(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

float Ui::text_width(ImFont* font, float size, std::string_view text) const {
  return font->CalcTextSizeA(px(size), 1e9f, 0, begin_of(text), end_of(text)).x;
}

float Ui::text(ImVec2 at, ImFont* font, float size, ImU32 color, std::string_view text) const {
  draw()->AddText(font, px(size), {std::floor(at.x), std::floor(at.y)}, color, begin_of(text), end_of(text));
  return text_width(font, size, text);
}

// Measures no more than there is room for, however long the text is. A room is a text's width and margins, less these:
// rounding may have taken a little of it.
bool Ui::fits(ImFont* font, float size, std::string_view text, float width) const {
  const char* rest = begin_of(text);
  const float below = width + px(1) / 64;
  if (!text.empty()) font->CalcTextSizeA(px(size), below, 0, begin_of(text), end_of(text), &rest);
  return rest == end_of(text);
}

std::string Ui::fit(ImFont* font, float size, std::string_view text, float width, Ellipsis ellipsis) const {
  if (fits(font, size, text, width)) return std::string(text);
  cut.emplace_back(text);
  const std::string dots = "…";
  // The longest part that fits, found by halving. Of a text of any length no more is tried than has room: letters are
  // wider than a sixth of their height, and have up to four bytes.
  constexpr float narrowest = 1.0F / 6;
  const float most = 4 * std::max(width, 0.0F) / (px(size) * narrowest);
  std::size_t low = 0;
  std::size_t high = std::min(text.size(), static_cast<std::size_t>(std::min(most, 1e6F)));
  const auto candidate = [&](std::size_t bytes) {
    std::size_t edge = bytes;
    if (ellipsis == Ellipsis::left) {
      edge = text.size() - bytes;
      while (edge < text.size() && (static_cast<unsigned char>(text[edge]) & 0xc0) == 0x80) ++edge;
      return dots + std::string(text.substr(edge));
    }
    if (ellipsis == Ellipsis::middle) {
      const std::size_t head = previous_character(text, next_character(text, bytes / 2));
      std::size_t tail = text.size() - bytes / 2;
      while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80) ++tail;
      return std::string(text.substr(0, head)) + dots + std::string(text.substr(tail));
    }
    while (edge > 0 && edge < text.size() && (static_cast<unsigned char>(text[edge]) & 0xc0) == 0x80) --edge;
    return std::string(text.substr(0, edge)) + dots;
  };
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (fits(font, size, candidate(middle), width))
      low = middle;
    else
      high = middle - 1;
  }
  return low == 0 && !fits(font, size, dots, width) ? std::string() : candidate(low);
}

float Ui::text_in(const Rect& rect, ImFont* font, float size, ImU32 color, std::string_view text, Ellipsis ellipsis,
                  bool align_right) const {
  if (rect.w <= 0 || rect.h < px(size) * 0.7f || text.empty()) return 0;
  const std::string shown = fit(font, size, text, rect.w, ellipsis);
  const float x = align_right ? rect.right() - text_width(font, size, shown) : rect.x;
  return this->text({x, rect.y + (rect.h - px(size)) / 2 - px(0.5f)}, font, size, color, shown);
}

float Ui::bold_in(const Rect& rect, float size, ImU32 color, std::string_view text, Ellipsis ellipsis) const {
  const float width = text_in(rect, sans, size, color, text, ellipsis);
  const std::string shown = fit(sans, size, text, rect.w, ellipsis);
  draw()->AddText(sans, px(size),
                  {std::floor(rect.x) + px(0.6f), std::floor(rect.y + (rect.h - px(size)) / 2 - px(0.5f))}, color,
                  shown.data(), shown.data() + shown.size());
  return width + px(0.6f);
}

float Ui::paragraph(const Rect& rect, ImFont* font, float size, ImU32 color, std::string_view text) const {
  if (rect.w <= px(size)) return 0;
  const ImVec2 extent = font->CalcTextSizeA(px(size), 1e9f, rect.w, begin_of(text), end_of(text));
  draw()->AddText(font, px(size), {std::floor(rect.x), std::floor(rect.y)}, color, begin_of(text), end_of(text),
                  rect.w);
  if (extent.y > rect.h) cut.emplace_back(text);
  return extent.y;
}

float Ui::paragraph_height(ImFont* font, float size, std::string_view text, float width) const {
  return font->CalcTextSizeA(px(size), 1e9f, width, begin_of(text), end_of(text)).y;
}

void Ui::fill(const Rect& rect, ImU32 color, float rounding) const {
  draw()->AddRectFilled(rect.min(), rect.max(), color, rounding);
}

void Ui::frame(const Rect& rect, ImU32 color, float rounding, float thickness) const {
  draw()->AddRect(rect.min(), rect.max(), color, rounding, thickness);
}

void Ui::dashed_frame(const Rect& rect, ImU32 color) const {
  const float dash = px(5);
  for (float x = rect.x; x < rect.right(); x += 2 * dash) {
    const float w = std::min(dash, rect.right() - x);
    hline(x, rect.y, w, color);
    hline(x, rect.bottom() - 1, w, color);
  }
  for (float y = rect.y; y < rect.bottom(); y += 2 * dash) {
    const float h = std::min(dash, rect.bottom() - y);
    vline(rect.x, y, h, color);
    vline(rect.right() - 1, y, h, color);
  }
}

void Ui::hline(float x, float y, float w, ImU32 color) const {
  draw()->AddRectFilled({x, std::floor(y)}, {x + w, std::floor(y) + 1}, color);
}

void Ui::vline(float x, float y, float h, ImU32 color) const {
  draw()->AddRectFilled({std::floor(x), y}, {std::floor(x) + 1, y + h}, color);
}

void Ui::mark(const std::string& id, const Rect& rect) {
  const ImVec2 clip_min = draw()->GetClipRectMin();
  const ImVec2 clip_max = draw()->GetClipRectMax();
  const Rect visible = rect.intersect({clip_min.x, clip_min.y, clip_max.x - clip_min.x, clip_max.y - clip_min.y});
  if (visible.w >= 1 && visible.h >= 1) rects[id] = visible;
}

Hit Ui::item(const std::string& id, const Rect& rect, bool hand) {
  Hit hit;
  if (rect.w < 1 || rect.h < 1) return hit;
  mark(id, rect);
  ImGui::SetCursorScreenPos(rect.min());
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton(
      id.c_str(), {rect.w, rect.h},
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  hit.hovered = ImGui::IsItemHovered();
  hit.held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool released = ImGui::IsItemDeactivated() && ImGui::IsItemHovered();
  hit.clicked = released && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !swiping();
  hit.right_clicked = released && ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  hit.middle_clicked = released && ImGui::IsMouseReleased(ImGuiMouseButton_Middle);
  hit.double_clicked = hit.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (hit.hovered && hand) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (stops.on && hand && chosen_by_key(id)) hit.clicked = true;
  clicked = clicked || hit.clicked;
  return hit;
}

// Enters a stop of the keyboard, with a ring around it if the cursor is there.
bool Ui::chosen_by_key(const std::string& id) {
  const std::size_t number = stops.count++;
  const auto visible = rects.find(id);
  if (visible == rects.end()) return false;
  stops.list.push_back({number, id, visible->second});
  if (number != stops.cursor) return false;
  const Rect ring = visible->second.inset(px(1));
  ImGui::GetForegroundDrawList()->AddRect(ring.min(), ring.max(), theme.link, px(3), px(2));
  return std::exchange(stops.activate, false);
}

void KeyStops::go_vertically(int direction) {
  const Stop* from = nullptr;
  for (const Stop& s : list)
    if (s.number == cursor) from = &s;
  const Stop* best = nullptr;
  const auto distance = [&](const Stop& s) {
    return 4 * std::fabs(s.rect.y - from->rect.y) + std::fabs(s.rect.x - from->rect.x);
  };
  for (const Stop& s : list) {
    const bool beyond =
        from != nullptr && (direction > 0 ? s.rect.y >= from->rect.bottom() - 1 : s.rect.bottom() <= from->rect.y + 1);
    if (beyond && (best == nullptr || distance(s) < distance(*best))) best = &s;
  }
  if (best != nullptr)
    cursor = best->number;
  else if (direction > 0 ? cursor + 1 < count : cursor > 0 && cursor != nowhere)
    cursor += direction > 0 ? 1 : static_cast<std::size_t>(-1);
}

bool Ui::link(const std::string& id, const Rect& rect, ImFont* font, float size, std::string_view text,
              Ellipsis ellipsis, bool align_right) {
  const std::string shown = fit(font, size, text, rect.w, ellipsis);
  const float width = text_width(font, size, shown);
  const Rect tight{align_right ? rect.right() - width : rect.x, rect.y, std::max(width, px(8)), rect.h};
  const Hit hit = item(id, tight);
  text_in(tight, font, size, theme.link, shown, ellipsis);
  if (hit.hovered) hline(tight.x, tight.y + tight.h / 2 + px(size) / 2, width, theme.link);
  if (hit.hovered && shown != text) tooltip(text);
  return hit.clicked;
}

bool Ui::tool(const std::string& id, const Rect& rect, std::string_view label, std::string_view hint, bool on) {
  const Hit hit = item(id, rect);
  if (hit.hovered || on) fill(rect, on ? theme.func : theme.badge, px(3));
  const float width = text_width(sans, 12, label);
  if (width > rect.w) cut.emplace_back(label);
  text_in({rect.x + (rect.w - width) / 2, rect.y, width + 1, rect.h}, sans, 12, on ? theme.onfunc : theme.dim, label);
  if (hit.hovered && !hint.empty()) tooltip(hint);
  return hit.clicked;
}

bool Ui::button(const std::string& id, const Rect& rect, std::string_view label, bool primary) {
  const Hit hit = item(id, rect);
  const ImU32 back = primary ? theme.link : hit.hovered ? theme.func : theme.badge;
  fill(rect, back, px(4));
  if (primary && hit.hovered) frame(rect.inset(-px(2)), theme.link, px(5));
  const float width = text_width(sans, 13, label);
  text_in({rect.x + std::max(px(4), (rect.w - width) / 2), rect.y, rect.w - px(8), rect.h}, sans, 13,
          primary       ? theme.bg
          : hit.hovered ? theme.onfunc
                        : theme.onbadge,
          label);
  return hit.clicked;
}

bool Ui::scrollbar(const std::string& id, const Rect& rect, double total, double visible, double& first) {
  if (total <= visible || rect.h < px(24)) return false;
  fill(rect, theme.panel);
  const double last = total - visible;
  const float length = std::max(px(24), static_cast<float>(rect.h * visible / total));
  const double travel = static_cast<double>(rect.h - length);
  const Rect grab{rect.x + px(2), rect.y + static_cast<float>(travel * std::clamp(first / last, 0.0, 1.0)),
                  rect.w - px(4), length};
  const Hit hit = item(id, rect, false);
  fill(grab, hit.held || hit.hovered ? theme.dim : theme.fin, px(4));
  if (!hit.held) return false;
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemActivated())
    drag_offset_ =
        grab.contains(io.MousePos) ? static_cast<double>(io.MousePos.y - grab.y) : static_cast<double>(length) / 2;
  const double before = first;
  // With Alt the list moves a fiftieth as fast, for lists of which one pixel is thousands of rows.
  if (io.KeyAlt)
    first += static_cast<double>(io.MouseDelta.y) / travel * last / 50;
  else
    first = (static_cast<double>(io.MousePos.y - rect.y) - drag_offset_) / travel * last;
  first = std::clamp(first, 0.0, last);
  return first != before;
}

bool Ui::swiping() const {
  constexpr float still = 10;  // pixels that a finger may tremble
  return finger && ImGui::GetIO().MouseDragMaxDistanceSqr[0] > px(still) * px(still);
}

ImVec2 Ui::wheel(const Rect& rect) const {
  if (!over(rect)) return {0, 0};
  const ImGuiIO& io = ImGui::GetIO();
  constexpr float per_turn = 3 * finger_size;  // a turn scrolls three lines
  const bool up_or_down = std::fabs(io.MouseDelta.y) > std::fabs(io.MouseDelta.x);
  if (swiping() && up_or_down && ImGui::IsMouseDown(ImGuiMouseButton_Left) && rect.contains(io.MouseClickedPos[0]))
    return {0, io.MouseDelta.y / px(per_turn)};
  return {ImGui::GetIO().MouseWheelH, ImGui::GetIO().MouseWheel};
}

bool Ui::over(const Rect& rect) const {
  return rect.contains(ImGui::GetIO().MousePos) &&
         ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
}

}  // namespace nanlens::viewer
