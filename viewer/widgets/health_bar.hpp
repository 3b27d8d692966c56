/// @file
/// The bar of six segments that shows at a glance what a tensor consists of.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "widgets/ui.hpp"

namespace nanlens::viewer {

/// Size of the bar in pixels at 100 %.
inline constexpr float health_bar_width = 56;
inline constexpr float health_bar_height = 8;

/// Widths of NaN, −∞, +∞, −, 0 and + in a bar of `width`, by the badges' counts. A bad one that exists is never
/// narrower than `least`. Finite elements of an unknown kind (CONCISE_HEALTH) take what is left. Nothing if no count is
/// known.
std::optional<std::array<float, 6>> health_segments(const std::vector<Badge>& badges, float width, float least);

/// Draws it at the left of `rect`, vertically centred, with bad segments hatched; returns the width drawn, 0 if the
/// badges hold no counts or there is no room.
float draw_health_bar(const Ui& ui, const Rect& rect, const std::vector<Badge>& badges);

}  // namespace nanlens::viewer
