/// @file
/// Drawing and hitting: text that fits, buttons, links, badges, scroll bars. Everything that can be clicked is entered
/// under its id, so that a test can aim at it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/protocol.hpp"
#include "imgui.h"
#include "widgets/rect.hpp"
#include "widgets/theme.hpp"

namespace nanlens::viewer {

/// Where a text that does not fit is cut. The informative end of a tensor's name is the right one.
enum class Ellipsis : std::uint8_t { left, middle, right };

/// What the mouse does to an item.
struct Hit {
  bool hovered = false;
  bool clicked = false;
  bool double_clicked = false;
  bool right_clicked = false;
  bool middle_clicked = false;
  bool held = false;
};

/// The keyboard among things to click, in a popup or on the start screen: a cursor that goes from one to the next.
struct KeyStops {
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  struct Stop {
    std::size_t number = 0;
    std::string id;
    Rect rect;
  };
  bool on = false;         ///< what is drawn now can be reached
  bool moved = false;      ///< the cursor has: lists scroll to it
  bool activate = false;   ///< what is at the cursor counts as clicked
  bool lines_only = true;  ///< the popup has a list to read, without anything to choose
  std::size_t cursor = nowhere;
  std::size_t count = 0;   ///< stops so far in this frame, those that are scrolled away included
  std::vector<Stop> list;  ///< those of this frame that are in view

  /// To be called before a frame is drawn.
  void begin() {
    on = lines_only = false;
    count = 0;
    list.clear();
  }
  /// To the next thing above (−1) or below (+1).
  void go_vertically(int direction);
};

class Ui {
 public:
  Theme theme = theme_of(ThemeName::light);
  float scale = 1;
  ImFont* sans = nullptr;
  ImFont* mono = nullptr;
  bool finger = false;  ///< a phone: what is to be hit is at least `finger_size` high and wide
  /// Clickable things of this frame, cut to what is visible.
  std::map<std::string, Rect> rects;
  KeyStops stops;
  /// Something was clicked in this frame: the next one shows what that did.
  bool clicked = false;
  /// Texts of this frame that did not fit and were cut.
  mutable std::vector<std::string> cut;
  /// A tooltip will appear if the mouse rests.
  mutable bool tooltip_pending = false;
  /// A tooltip that Ctrl holds, so that its text can be selected and copied; "": none.
  struct HeldTooltip {
    std::string text = {};
    ImVec2 at = {};
    std::uint32_t viewport = 0;
    bool typing = false;  ///< its text has the keyboard
  };
  mutable HeldTooltip held;

  /// Logical pixels at 100 % to those at the current scale.
  [[nodiscard]] float px(float size) const { return size * scale; }
  /// Height of a bar or width of a tool of `size` at 100 %.
  [[nodiscard]] float bar(float size) const { return px(finger ? std::max(size, finger_size) : size); }
  /// Width of a tool whose label needs `width` pixels.
  [[nodiscard]] float bar_width(float width) const { return finger ? std::max(width, px(finger_size)) : width; }
  static constexpr float finger_size = 44;
  [[nodiscard]] ImDrawList* draw() const { return ImGui::GetWindowDrawList(); }

  /// @name Text
  ///@{
  [[nodiscard]] float text_width(ImFont* font, float size, std::string_view text) const;
  /// Room that the word of a tool needs.
  [[nodiscard]] float label_width(std::string_view label) const { return text_width(sans, 12, label) + px(14); }
  /// Draws at a position; returns the width. `size` is in pixels at 100 %.
  float text(ImVec2 at, ImFont* font, float size, ImU32 color, std::string_view text) const;
  /// Draws within a rectangle, vertically centred; cut with an ellipsis if it does not fit. Returns the width drawn.
  float text_in(const Rect& rect, ImFont* font, float size, ImU32 color, std::string_view text,
                Ellipsis ellipsis = Ellipsis::right, bool align_right = false) const;
  /// Draws over several lines; returns the height. Lines break at spaces.
  float paragraph(const Rect& rect, ImFont* font, float size, ImU32 color, std::string_view text) const;
  /// Height that `paragraph` takes.
  [[nodiscard]] float paragraph_height(ImFont* font, float size, std::string_view text, float width) const;
  [[nodiscard]] std::string fit(ImFont* font, float size, std::string_view text, float width, Ellipsis ellipsis) const;
  /// The same text a hair to the right makes it bold.
  float bold_in(const Rect& rect, float size, ImU32 color, std::string_view text,
                Ellipsis ellipsis = Ellipsis::right) const;
  ///@}

  /// @name Shapes
  ///@{
  void fill(const Rect& rect, ImU32 color, float rounding = 0) const;
  void frame(const Rect& rect, ImU32 color, float rounding = 0, float thickness = 1) const;
  /// For what is meant, but lies elsewhere: a caller's tensor.
  void dashed_frame(const Rect& rect, ImU32 color) const;
  void hline(float x, float y, float w, ImU32 color) const;
  void vline(float x, float y, float h, ImU32 color) const;
  ///@}

  /// @name Things to click
  ///@{
  /// An invisible item. Items drawn later lie above it. With a `hand` it is a stop of the keyboard.
  Hit item(const std::string& id, const Rect& rect, bool hand = true);
  /// Enters a rectangle that is no item of its own.
  void mark(const std::string& id, const Rect& rect);
  /// A text to click; returns true if it was. Underlined under the mouse.
  bool link(const std::string& id, const Rect& rect, ImFont* font, float size, std::string_view text,
            Ellipsis ellipsis = Ellipsis::right, bool align_right = false);
  /// A small button without a frame, with an icon or a word. `on` shows it as pressed in.
  bool tool(const std::string& id, const Rect& rect, std::string_view label, std::string_view tooltip, bool on = false);
  /// A button with a frame; returns true if it was clicked.
  bool button(const std::string& id, const Rect& rect, std::string_view label, bool primary = false);
  /// Scroll bar of a list of `total` items of which `visible` fit. Changes `first` and returns true when it is dragged.
  bool scrollbar(const std::string& id, const Rect& rect, double total, double visible, double& first);
  /// Shows a text while the mouse rests on the last item. With Ctrl it stays until the mouse has left it.
  void tooltip(std::string_view text) const;
  /// Draws the one that is held. Call when everything else is drawn.
  void held_tooltip();
  ///@}

  /// @name Badges
  ///@{
  /// One row of badges within a width; dtype and rank are dropped first, then finite counts. Bad ones are kept, at
  /// last by their signs alone. Returns the width drawn.
  float badges(ImVec2 at, float width, float row_height, const std::vector<Badge>& badges) const;
  /// One of them, of a count the sign alone if wanted; returns the width drawn.
  float badge(ImVec2 at, float row_height, const Badge& badge, bool sign_only = false) const;
  [[nodiscard]] float badge_width(const Badge& badge) const;
  /// The width of all of them side by side.
  [[nodiscard]] float badges_width(const std::vector<Badge>& badges) const;
  /// A tag of one word.
  float tag(ImVec2 at, float row_height, std::string_view text, ImU32 fill_color, ImU32 text_color) const;
  ///@}

  /// On a phone: has the finger moved too far since it touched for a tap?
  [[nodiscard]] bool swiping() const;
  /// Turns of the wheel over a rectangle, or what a swipe of a finger is worth; 0 if the mouse is elsewhere.
  [[nodiscard]] ImVec2 wheel(const Rect& rect) const;
  /// Is the mouse in this part of the main window, and nothing lies above?
  [[nodiscard]] bool over(const Rect& rect) const;

 private:
  [[nodiscard]] bool fits(ImFont* font, float size, std::string_view text, float width) const;
  [[nodiscard]] bool chosen_by_key(const std::string& id);

  double drag_offset_ = 0;
};

}  // namespace nanlens::viewer
