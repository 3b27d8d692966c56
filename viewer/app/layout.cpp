#include "app/layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/layout_tree.hpp"

namespace nanlens::viewer {

namespace {

constexpr float narrow_below = 1024;
constexpr std::size_t left = 0;  // splitters of the narrow layout, which can't be dragged
constexpr std::size_t middle = 3;
constexpr float narrow_left = 0.46f;
constexpr float narrow_middle = 0.42f;

// A size that leaves at least `low` to this side and `rest` to the other, as far as there is room.
float limited(float size, float whole, float low, float rest) {
  return std::floor(std::clamp(size, std::min(low, whole * 0.5f), std::max(whole * 0.5f, whole - rest)));
}

}  // namespace

Layout::Layout() : root_(*tree_of(default_tree)) {}

bool Layout::is_default() const { return tree_text(root_) == default_tree && !any_detached(); }

bool Layout::any_detached() const {
  return std::any_of(detached_.begin(), detached_.end(), [](bool on) { return on; });
}

void Layout::reset() {
  const float kept = gap;
  *this = Layout{};
  gap = kept;
}

bool Layout::shown(const LayoutNode& node) const {
  return std::any_of(node.panes.begin(), node.panes.end(), [&](Pane pane) { return !detached(pane); }) ||
         std::any_of(node.parts.begin(), node.parts.end(), [&](const LayoutNode& part) { return shown(part); });
}

// What a part needs to be of use, in pixels at 100 %.
Layout::Size Layout::least(const LayoutNode& node, const Ui& ui) const {
  Size out{0, 0};
  for (const Pane pane : node.panes) {
    const PaneInfo& info = info_of(pane);
    out = {std::max(out.w, ui.px(info.width)), std::max(out.h, ui.px(info.height))};
  }
  for (const LayoutNode& part : node.parts) {
    const Size size = least(part, ui);
    out.w = node.columns ? out.w + size.w : std::max(out.w, size.w);
    out.h = node.columns ? std::max(out.h, size.h) : out.h + size.h;
  }
  return out;
}

Pane Layout::front_of(const LayoutNode& node) const {
  Pane front = node.panes.front();
  for (const Pane pane : node.panes) {
    const bool later = raised_[static_cast<std::size_t>(pane)] > raised_[static_cast<std::size_t>(front)];
    if (!detached(pane) && (detached(front) || later)) front = pane;
  }
  return front;
}

void Layout::split(const LayoutNode& node, Rect rect, const Rect& whole, const Ui& ui) {
  const Size first = least(node.parts[0], ui);
  const Size second = least(node.parts[1], ui);
  const float g = ui.px(gap);
  const float room = node.columns ? rect.w : rect.h;
  const float share = narrow_ && node.splitter == left     ? narrow_left
                      : narrow_ && node.splitter == middle ? narrow_middle
                                                           : at[node.splitter];
  const float size = share * (node.columns ? whole.w : whole.h);
  const float low = node.columns ? first.w : first.h;
  const float rest = node.columns ? second.w : second.h;
  const bool only_alerts = node.columns && node.parts[0].panes == std::vector<Pane>{Pane::alerts};
  float begin = node.from_end ? room - g - limited(size, room, rest, low) : limited(size, room, low, rest);
  // Alerts that are dragged narrow become a rail.
  if (only_alerts && size < ui.px(rail_below)) begin = ui.px(rail_width);
  const Rect before = rect;
  const Rect part = node.columns ? rect.cut_left(begin) : rect.cut_top(begin);
  const Rect cut = node.columns ? rect.cut_left(g) : rect.cut_top(g);
  const bool fixed = narrow_ && (node.splitter == left || node.splitter == middle);
  if (!fixed) cuts_.push_back({cut, node.columns, whole, node.from_end, node.splitter});
  const Rect& row = node.columns ? whole : before;
  const Rect& column = node.columns ? before : whole;
  arrange(node.parts[0], part, node.columns ? row : part, node.columns ? part : column, ui);
  arrange(node.parts[1], rect, node.columns ? row : rect, node.columns ? rect : column, ui);
}

// `row` and `column`: what the share of a split from the end refers to.
void Layout::arrange(const LayoutNode& node, Rect rect, const Rect& row, const Rect& column, const Ui& ui) {
  if (!node.panes.empty()) {
    const Pane front = front_of(node);
    if (!detached(front)) places_[static_cast<std::size_t>(front)] = rect;
  } else if (!shown(node.parts[0]) || !shown(node.parts[1])) {
    arrange(node.parts[shown(node.parts[0]) ? 0 : 1], rect, row, column, ui);
  } else {
    split(node, rect, !node.from_end ? rect : node.columns ? row : column, ui);
  }
}

void Layout::arrange(const Rect& area, const Ui& ui, bool single, bool eager) {
  area_ = area;
  places_ = {};
  cuts_.clear();
  const bool adapts = tree_text(root_) == default_tree;
  narrow_ = adapts && area.w < ui.px(narrow_below);
  static const LayoutNode narrow = *tree_of(narrow_tree);
  static const LayoutNode wide_eager = *tree_of(eager_tree);
  static const LayoutNode narrow_eager = *tree_of(narrow_eager_tree);
  adapted_ = !adapts ? nullptr : eager ? (narrow_ ? &narrow_eager : &wide_eager) : narrow_ ? &narrow : nullptr;
  if (maximized && !detached(*maximized)) {
    places_[static_cast<std::size_t>(*maximized)] = area;
  } else if (single) {
    LayoutNode all;
    for (std::size_t i = 0; i < num_panes; ++i) all.panes.push_back(static_cast<Pane>(i));
    places_[static_cast<std::size_t>(front_of(all))] = area;
  } else {
    arrange(tree(), area, area, area, ui);
  }
}

const std::vector<Pane>& Layout::group_of(Pane pane) const { return find_place(tree(), pane)->panes; }

bool Layout::splitters(Ui& ui) {
  bool moved = false;
  for (const Cut& c : cuts_) {
    const Hit hit = ui.item(std::string("splitter:") + ids[c.splitter], c.rect, false);
    if (hit.hovered || hit.held) {
      ImGui::SetMouseCursor(c.vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
      ui.fill(c.rect, ui.theme.func);
    } else if (c.vertical) {
      ui.vline(c.rect.x + c.rect.w / 2, c.rect.y, c.rect.h, ui.theme.line);
    } else {
      ui.hline(c.rect.x, c.rect.y + c.rect.h / 2, c.rect.w, ui.theme.line);
    }
    if (hit.double_clicked) {
      constexpr float half = 0.5f;
      at[c.splitter] = tree_text(root_) == default_tree ? defaults[c.splitter] : half;
      moved = true;
    } else if (hit.held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1)) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      const float size = c.vertical ? c.whole.w : c.whole.h;
      const float place = c.vertical ? mouse.x - c.whole.x : mouse.y - c.whole.y;
      const float before =
          std::exchange(at[c.splitter], std::clamp((c.from_end ? size - place : place) / size, 0.05f, 0.95f));
      moved = moved || at[c.splitter] != before;
    }
  }
  return moved;
}

bool Layout::move(Pane pane, std::optional<Pane> target, Side side) {
  const std::vector<Pane> group = group_of(pane);
  if (!target && side == Side::tab) return false;
  if (target == pane || !target) {
    // A tab moves out of its own group; what is alone has nothing to move away from.
    const auto other = std::find_if(group.begin(), group.end(), [&](Pane p) { return p != pane; });
    if (target && (other == group.end() || side == Side::tab)) return false;
    if (target) target = *other;
  }
  const bool same_tabs = target && side == Side::tab && std::find(group.begin(), group.end(), *target) != group.end();
  if (same_tabs && !detached(pane)) return false;
  if (narrow_) {
    at[left] = narrow_left;
    at[middle] = narrow_middle;
    narrow_ = false;
  }
  if (adapted_ != nullptr) root_ = *std::exchange(adapted_, nullptr);  // what the user sees is what changes
  detach(pane, false);
  take_out(root_, pane);
  LayoutNode& place = target ? *find_place(root_, *target) : root_;
  if (side == Side::tab) {
    place.panes.push_back(pane);
  } else {
    const std::size_t splitter = free_splitter(root_);
    constexpr float of_window = 0.3f;  // what a pane at the window's edge gets
    const bool first = side == Side::left || side == Side::top;
    at[splitter] = target ? 0.5f : first ? of_window : 1 - of_window;
    put_beside(place, pane, side, splitter);
  }
  maximized.reset();
  raise(pane);
  return true;
}

std::optional<DropPlace> Layout::drop_at(ImVec2 mouse, const Ui& ui) const {
  if (!area_.contains(mouse) || !dragged) return std::nullopt;
  const auto part = [](Rect rect, Side side, float share) {
    switch (side) {
      case Side::left: return rect.cut_left(rect.w * share);
      case Side::right: return rect.cut_right(rect.w * share);
      case Side::top: return rect.cut_top(rect.h * share);
      case Side::bottom: return rect.cut_bottom(rect.h * share);
      default: return rect;
    }
  };
  constexpr Side sides[] = {Side::left, Side::right, Side::top, Side::bottom};
  // The upper edge is narrow: titles, onto which panes are dropped as tabs, lie there.
  const std::array<float, 4> edges = {ui.px(14), ui.px(14), ui.px(6), ui.px(14)};
  const auto distances = [&](const Rect& rect) {
    return std::array<float, 4>{mouse.x - rect.x, rect.right() - mouse.x, mouse.y - rect.y, rect.bottom() - mouse.y};
  };
  const auto to_window = distances(area_);
  for (std::size_t i = 0; i < 4; ++i)
    if (to_window[i] < edges[i]) return DropPlace{std::nullopt, sides[i], part(area_, sides[i], 0.3f)};
  for (std::size_t p = 0; p < num_panes; ++p) {
    const Rect& rect = places_[p];
    if (!rect.contains(mouse)) continue;
    const auto pane = static_cast<Pane>(p);
    auto inside = distances(rect);
    inside = {inside[0] / rect.w, inside[1] / rect.w, inside[2] / rect.h, inside[3] / rect.h};
    const auto nearest = static_cast<std::size_t>(std::min_element(inside.begin(), inside.end()) - inside.begin());
    constexpr float border = 0.28f;
    const bool title = mouse.y - rect.y < ui.px(26);
    const Side side = title || inside[nearest] > border ? Side::tab : sides[nearest];
    if (pane == *dragged && (side == Side::tab || group_of(pane).size() < 2)) return std::nullopt;
    return DropPlace{pane, side, part(rect, side, 0.5f)};
  }
  return std::nullopt;
}

std::string Layout::text() const {
  std::string out = tree_text(root_);
  if (any_detached()) out += '-';
  for (std::size_t i = 0; i < num_panes; ++i)
    if (detached_[i]) out += pane_letter(static_cast<Pane>(i));
  return out;
}

bool Layout::read(std::string_view text) {
  const std::size_t end = std::min(text.find('-'), text.size());
  auto tree = tree_of(text.substr(0, end));
  if (!tree) return false;
  std::array<bool, num_panes> out{};
  for (const char c : text.substr(std::min(end + 1, text.size()))) {
    const auto pane = pane_of_letter(c);
    if (!pane) return false;
    out[static_cast<std::size_t>(*pane)] = true;
  }
  root_ = std::move(*tree);
  detached_ = out;
  return true;
}

}  // namespace nanlens::viewer
