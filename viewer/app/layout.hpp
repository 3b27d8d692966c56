/// @file
/// Where the six panes are: the reference's places, with splitters between them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "widgets/ui.hpp"

namespace nanlens::viewer {

enum class Pane : std::uint8_t { alerts, timeline, rows, graph, source, stack };
inline constexpr std::size_t num_panes = 6;
inline constexpr std::array<const char*, num_panes> pane_ids = {"alerts",          "timeline",    "graph_executions",
                                                                "graph_structure", "source_code", "stack_trace"};

/// Sizes of panes as fractions, which the user changes by dragging splitters.
struct Layout {
  static constexpr std::array<const char*, 5> ids = {"left", "right", "band", "middle", "bottom"};
  static constexpr std::array<float, 5> defaults = {0.17f, 0.41f, 0.66f, 0.52f, 0.70f};
  /// Alerts' width, Graph Executions' width, height of the top band, Timeline's share of the middle, Source's width.
  std::array<float, 5> at = defaults;
  std::optional<Pane> maximized;
  float gap = 5;                ///< of a splitter in pixels at 100 %; more for fingers
  bool show_graph_tab = false;  ///< narrow windows: Graph Structure instead of Graph Executions

  static constexpr float rail_width = 44;   ///< of Alerts with a count and two arrows only
  static constexpr float rail_below = 110;  ///< Alerts narrower than this are a rail

  /// Rectangles of the panes within `area`; empty for those that are not shown.
  [[nodiscard]] std::array<Rect, num_panes> panes(Rect area, const Ui& ui) const;
  /// Draws the splitters and lets them be dragged. True if one was moved.
  bool splitters(Rect area, Ui& ui);
  [[nodiscard]] static bool narrow(const Rect& area, const Ui& ui) { return area.w < ui.px(1024); }

 private:
  struct Cut {
    Rect rect;
    bool vertical;
    Rect whole;  ///< what the fraction refers to
    bool from_end;
  };
  [[nodiscard]] std::array<Cut, 5> cuts(Rect area, const Ui& ui) const;
};

}  // namespace nanlens::viewer
