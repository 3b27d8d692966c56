/// @file
/// Where the six panes are: a tree of splits whose leaves hold one pane, or several as tabs. It begins with the
/// reference's places; panes can be moved, put behind each other as tabs, and on the desktop taken out of the window.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "texts/texts.hpp"
#include "widgets/ui.hpp"

namespace nanlens::viewer {

enum class Pane : std::uint8_t { alerts, timeline, rows, graph, source, stack };

/// What there is to say of a pane.
struct PaneInfo {
  Pane pane;
  const char* id;
  char letter;  ///< in a layout's text, see Layout::text
  float width;  ///< what it needs to be of use, in pixels at 100 %
  float height;
  Text title;
  Text tab;       ///< its short name, on a phone
  Text go;        ///< of the command that activates it
  Text maximize;  ///< of the one that fills the window with it
};

/// The panes in the order of their keys. To add one: its name and row here with its place in the trees of Layout, its
/// drawing and its row in panes/panes.hpp, and the file that draws it (the texts are in texts/).
inline constexpr PaneInfo pane_infos[] = {
    {Pane::alerts, "alerts", 'a', 160, 110, Text::pane_alerts, Text::tab_alerts, Text::cmd_go_alerts,
     Text::cmd_maximize_alerts},
    {Pane::timeline, "timeline", 't', 300, 120, Text::pane_timeline, Text::tab_timeline, Text::cmd_go_timeline,
     Text::cmd_maximize_timeline},
    {Pane::rows, "graph_executions", 'e', 300, 200, Text::pane_rows, Text::tab_rows, Text::cmd_go_rows,
     Text::cmd_maximize_rows},
    {Pane::graph, "graph_structure", 'g', 300, 100, Text::pane_graph, Text::tab_graph, Text::cmd_go_graph,
     Text::cmd_maximize_graph},
    {Pane::source, "source_code", 's', 240, 110, Text::pane_source, Text::tab_source, Text::cmd_go_source,
     Text::cmd_maximize_source},
    {Pane::stack, "stack_trace", 'k', 240, 110, Text::pane_stack, Text::tab_stack, Text::cmd_go_stack,
     Text::cmd_maximize_stack},
};
inline constexpr std::size_t num_panes = std::size(pane_infos);
static_assert([] {
  for (std::size_t i = 0; i < num_panes; ++i)
    if (pane_infos[i].pane != static_cast<Pane>(i)) return false;
  return true;
}());

inline constexpr auto pane_ids = [] {
  std::array<const char*, num_panes> ids{};
  for (std::size_t i = 0; i < num_panes; ++i) ids[i] = pane_infos[i].id;
  return ids;
}();

constexpr const PaneInfo& info_of(Pane pane) { return pane_infos[static_cast<std::size_t>(pane)]; }

/// Where a pane is put: beside another one, or as a tab of its place.
enum class Side : std::uint8_t { left, right, top, bottom, tab };
inline constexpr std::array<const char*, 5> side_ids = {"left", "right", "top", "bottom", "tab"};

/// A part of the window: panes that share one place, of which one is in front; or two parts beside each other.
struct LayoutNode {
  std::vector<Pane> panes = {};        ///< of a place; empty for a split
  std::vector<LayoutNode> parts = {};  ///< the two of a split: left and right, or upper and lower
  bool columns = false;                ///< they lie side by side
  /// The splitter's share is that of the second part, and refers to all parts of the row that this split is in.
  bool from_end = false;
  std::size_t splitter = 0;  ///< which of Layout::at
};

/// What dropping a dragged pane here would do.
struct DropPlace {
  std::optional<Pane> target;  ///< beside which pane; nothing: at the window's edge
  Side side = Side::tab;
  Rect preview;
};

class Layout {
 public:
  static constexpr std::string_view default_tree = "R2C0ac1R3tgeC4sk";
  /// Alerts and Timeline share the left column, the right one has tabs.
  static constexpr std::string_view narrow_tree = "R2C0R3atTeg.C4sk";
  /// Where all ops ran eagerly there are no rows of graphs: what is around an op has their room.
  static constexpr std::string_view eager_tree = "R2C0ac1tTge.C4sk";
  static constexpr std::string_view narrow_eager_tree = "R2C0R3atTge.C4sk";
  static constexpr std::size_t num_splitters = num_panes - 1;
  static constexpr std::array<const char*, num_splitters> ids = {"left", "right", "band", "middle", "bottom"};
  static constexpr std::array<float, num_splitters> defaults = {0.17f, 0.41f, 0.66f, 0.52f, 0.70f};
  /// In the default layout: Alerts' width, Graph Executions' width, height of the top band, Timeline's share of the
  /// middle, Source's width. In another one a splitter has the place that its split got.
  std::array<float, num_splitters> at = defaults;
  std::optional<Pane> maximized;
  std::optional<Pane> dragged;  ///< its title is being dragged to another place
  float gap = 5;                ///< of a splitter in pixels at 100 %; more for fingers
  /// Where windows of detached panes were, on the screen; empty: not yet known.
  std::array<Rect, num_panes> windows{};

  static constexpr float rail_width = 44;   ///< of Alerts with a count and two arrows only
  static constexpr float rail_below = 110;  ///< Alerts narrower than this are a rail

  Layout();

  /// Finds the places of the panes within `area`. In a narrow window, and where there are no rows of graphs (`eager`),
  /// the default layout becomes one with tabs; with `single` the pane that was raised last fills it.
  void arrange(const Rect& area, const Ui& ui, bool single, bool eager);
  /// A pane's place by `arrange`; empty if it is not shown.
  [[nodiscard]] const Rect& place(Pane pane) const { return places_[static_cast<std::size_t>(pane)]; }
  /// Draws the splitters and lets them be dragged. True if one was moved.
  bool splitters(Ui& ui);
  /// Which panes share its place, itself among them.
  [[nodiscard]] const std::vector<Pane>& group_of(Pane pane) const;
  /// Brings it to the front of its place.
  void raise(Pane pane) { raised_[static_cast<std::size_t>(pane)] = ++last_raised_; }

  /// @name Other places
  ///@{
  /// Puts a pane beside another one, or at the window's edge. False if it is there already or can't be.
  bool move(Pane pane, std::optional<Pane> target, Side side);
  /// Where a pane that is let go at `mouse` would be put.
  [[nodiscard]] std::optional<DropPlace> drop_at(ImVec2 mouse, const Ui& ui) const;
  /// Takes it out of the window into one of its own, or puts it back where it was.
  void detach(Pane pane, bool on) { detached_[static_cast<std::size_t>(pane)] = on; }
  [[nodiscard]] bool detached(Pane pane) const { return detached_[static_cast<std::size_t>(pane)]; }
  [[nodiscard]] bool any_detached() const;
  /// Everything back to how it was at first.
  void reset();
  ///@}

  /// The tree as a short text, "R2C0ac1R3tgeC4sk": C and R are columns and rows with their splitter, small if its share
  /// is that of the end; a, t, e, g, s, k are the panes; panes of one place stand after a T and end with a dot. Panes
  /// in windows of their own follow a minus sign.
  [[nodiscard]] std::string text() const;
  /// Takes over such a text; false, and nothing changes, if it is none.
  bool read(std::string_view text);
  [[nodiscard]] bool is_default() const;

 private:
  struct Cut {
    Rect rect;
    bool vertical;
    Rect whole;  ///< what the share refers to
    bool from_end;
    std::size_t splitter;
  };
  struct Size {
    float w;
    float h;
  };
  void arrange(const LayoutNode& node, Rect rect, const Rect& row, const Rect& column, const Ui& ui);
  void split(const LayoutNode& node, Rect rect, const Rect& whole, const Ui& ui);
  [[nodiscard]] bool shown(const LayoutNode& node) const;
  [[nodiscard]] Size least(const LayoutNode& node, const Ui& ui) const;
  [[nodiscard]] Pane front_of(const LayoutNode& node) const;
  [[nodiscard]] const LayoutNode& tree() const { return adapted_ != nullptr ? *adapted_ : root_; }

  LayoutNode root_;
  const LayoutNode* adapted_ = nullptr;  // what the default layout has become, of those that last
  bool narrow_ = false;
  Rect area_;
  std::array<Rect, num_panes> places_{};
  std::vector<Cut> cuts_;
  std::array<bool, num_panes> detached_{};
  std::array<std::uint32_t, num_panes> raised_{};
  std::uint32_t last_raised_ = 0;
};

}  // namespace nanlens::viewer
