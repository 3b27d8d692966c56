/// @file
/// Lines of a source file, with marks where ops were made.
#pragma once

#include "panes/panes.hpp"

namespace nanlens::viewer {

/// A file as it is shown: the open tab's, or that of a caller beside it.
struct ShownFile {
  Tab& tab;
  const Source& source;
  float& scroll_x;
  bool beside;
};

/// Draws the lines that fit; `center` moves the tab's line into the middle.
void draw_source_text(App& app, Rect area, const ShownFile& shown, bool center);

}  // namespace nanlens::viewer
