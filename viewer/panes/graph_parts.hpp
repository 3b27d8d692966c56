/// @file
/// The parts of the graph around the selected op: its cards, how they lie, and the lines between them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "panes/panes.hpp"

namespace nanlens::viewer {

// Cards are narrower where those of one more hop fit side by side by that.
inline constexpr float card_width = 190;
inline constexpr float least_card_width = 150;
inline constexpr float card_gap = 10;

// Heights in pixels at 100 %. In a low pane cards have two lines instead of three, and no labels above them.
struct Sizes {
  float card;
  float label;
  float gap;
};
inline constexpr Sizes roomy = {62, 16, 24};
inline constexpr Sizes compact = {38, 0, 11};

/// How cards lie: hops follow each other along the flow, cards of one hop lie side by side across it.
struct Flow {
  bool sideways;
  Sizes sizes;
  float card;   ///< width of a card
  float hop;    ///< from one hop to the next
  float pitch;  ///< from one card to its neighbour
};
/// In an area, where each hop has so many cards side by side.
Flow flow_for(const Ui& ui, const Rect& area, std::span<const std::size_t> hop_sizes);

/// Where the selected op is on the screen: everything else lies around it.
struct Canvas {
  Flow flow;
  ImVec2 middle;  ///< along the flow where the op's cards begin, across it their middle

  /// The cards of one hop; 0 is the op itself, −1 its inputs, 1 its consumers.
  [[nodiscard]] std::vector<Rect> hop(const Ui& ui, int number, std::size_t count) const;
  [[nodiscard]] Rect label(const Ui& ui, const Rect& card) const;
};

/// One op. Its name is a link, unless it is the selected op itself.
void draw_op_card(App& app, const Rect& rect, const std::string& id, const OpCard& card, const std::string& slot_text,
                  bool self);
/// A line from one card to one of the next hop.
void draw_edge(Ui& ui, const Flow& flow, const Rect& from, const Rect& to, bool bad);

}  // namespace nanlens::viewer
