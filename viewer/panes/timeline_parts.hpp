/// @file
/// Parts of the Execution Timeline.
#pragma once

#include <vector>

#include "panes/panes.hpp"

namespace nanlens::viewer {

/// A box of the timeline, to be clicked.
void draw_box(App& app, const Rect& rect, const Box& box);
/// Sums, as columns: however many are fine, one that is bad shows.
void draw_columns(App& app, const Rect& area, const std::vector<Density>& columns);
/// Pauses, shortened: how long each was.
void draw_gaps(App& app, const Rect& area, float per_unit);
/// The empty part of the band: it is dragged, with Shift to a range that then fills the band.
Hit drag_band(App& app, const Rect& area);
/// The wheel over the band.
void zoom_and_pan(App& app, const Rect& area);

/// @name Tracks of several ranks
///@{
/// Height that all tracks, or those that fit, are given of so much.
float tracks_height(const App& app, float available);
/// Width of the labels at their left.
float tracks_gutter(const App& app, float width);
void draw_tracks(App& app, Rect area);
/// All ranks in the whole run: a line for each, or for several of them.
void draw_rank_map(App& app, const Rect& area);
float rank_map_height(const App& app, float available);
/// The part of the map that is on screen, from top to bottom.
Rect tracks_on_map(const App& app, const Rect& area);
///@}

}  // namespace nanlens::viewer
