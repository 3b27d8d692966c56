// Badges: what is known of a tensor, as small tags.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/badges.hpp"
#include "widgets/format.hpp"
#include "widgets/ui.hpp"

namespace nanlens::viewer {

namespace {

constexpr float badge_gap = 4;
constexpr float room_for_more = 26;  // of "+2", how many badges were dropped

bool is_finite_count(const Badge& b) {
  return b.kind == BadgeKind::neg || b.kind == BadgeKind::zero || b.kind == BadgeKind::pos;
}

enum class Form : std::uint8_t { whole, sign, dropped };

/// How badges are drawn within a width: dtype and rank are dropped first, from the left, then finite counts from the
/// right; bad ones never, but their numbers are, from the right.
struct Fitting {
  std::vector<Form> forms;
  int dropped = 0;
};

/// A count's sign without its number: "NaN", "−∞"; whatever has no sign is a text of its own.
std::string sign_of(const Badge& badge) {
  const char* const sign = count_sign(badge.kind);
  return *sign != '\0' ? sign : format_badge(badge);
}

Fitting fit_badges(const Ui& ui, const std::vector<Badge>& badges, float width) {
  Fitting out{std::vector<Form>(badges.size(), Form::whole)};
  float total = ui.badges_width(badges);
  const auto too_wide = [&] { return total - ui.px(badge_gap) > width - (out.dropped > 0 ? ui.px(room_for_more) : 0); };
  const auto drop = [&](std::size_t i) {
    out.forms[i] = Form::dropped;
    total -= ui.badge_width(badges[i]) + ui.px(badge_gap);
    ++out.dropped;
  };
  for (std::size_t i = 0; i < badges.size() && too_wide(); ++i)
    if (badges[i].kind == BadgeKind::dtype || badges[i].kind == BadgeKind::rank || badges[i].kind == BadgeKind::shape)
      drop(i);
  for (std::size_t i = badges.size(); i-- > 0 && too_wide();)
    if (is_finite_count(badges[i]) || badges[i].kind == BadgeKind::size) drop(i);
  for (std::size_t i = badges.size(); i-- > 0 && too_wide();) {
    if (!is_bad({badges[i]})) continue;
    out.forms[i] = Form::sign;
    total -= ui.text_width(ui.mono, 11, format_badge(badges[i])) - ui.text_width(ui.mono, 11, sign_of(badges[i]));
  }
  return out;
}

}  // namespace

float Ui::badge_width(const Badge& badge) const {
  const bool plain = badge.kind == BadgeKind::size || badge.kind == BadgeKind::none;
  return text_width(mono, 11, format_badge(badge)) + (plain ? px(2) : px(8));
}

float Ui::tag(ImVec2 at, float row_height, std::string_view text, ImU32 fill_color, ImU32 text_color) const {
  const float width = text_width(mono, 11, text) + px(8);
  const Rect box{at.x, at.y + (row_height - px(18)) / 2, width, px(18)};
  fill(box, fill_color, px(3));
  text_in(box.inset(px(4), 0), mono, 11, text_color, text);
  return width;
}

float Ui::badges_width(const std::vector<Badge>& badges) const {
  float width = 0;
  for (const Badge& b : badges) width += badge_width(b) + px(badge_gap);
  return width;
}

float Ui::badge(ImVec2 at, float row_height, const Badge& b, bool sign_only) const {
  const std::string label = sign_only ? sign_of(b) : format_badge(b);
  if (b.kind == BadgeKind::size || b.kind == BadgeKind::none) {
    const Rect box{at.x, at.y, badge_width(b), row_height};
    const bool empty = b.kind == BadgeKind::size && b.number == 0;
    text_in(box, mono, 11, empty ? theme.warn : b.kind == BadgeKind::none ? theme.dim : theme.text, label);
    return box.w;
  }
  const bool bad = is_bad({b});
  const bool finite = is_finite_count(b);
  return tag(at, row_height, label,
             bad      ? theme.badfill
             : finite ? theme.fin
                      : theme.badge,
             bad      ? theme.onbad
             : finite ? theme.onfin
                      : theme.onbadge);
}

float Ui::badges(ImVec2 at, float width, float row_height, const std::vector<Badge>& badges) const {
  const Fitting fitting = fit_badges(*this, badges, width);
  float x = at.x;
  for (std::size_t i = 0; i < badges.size(); ++i)
    if (fitting.forms[i] != Form::dropped)
      x += badge({x, at.y}, row_height, badges[i], fitting.forms[i] == Form::sign) + px(badge_gap);
  const float more = px(room_for_more);
  if (fitting.dropped > 0 && x + more <= at.x + width + more)
    x += text_in({x, at.y, more, row_height}, mono, 11, theme.dim, "+" + std::to_string(fitting.dropped));
  return x - at.x;
}

}  // namespace nanlens::viewer
