#include "app/pins.hpp"

#include <algorithm>

#include "engine/badges.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

bool same_tensor(const Row& a, const Row& b) {
  return a.graph_id == b.graph_id && a.op_name == b.op_name && a.slot == b.slot;
}

// A count that a row does not show is 0 if it shows its size, and otherwise not known.
std::string value_of(const Row& row, BadgeKind kind) {
  if (const Badge* const badge = find_badge(row.badges, kind))
    return *count_sign(kind) == '\0' ? format_badge(*badge) : format_count(badge->number);
  const bool counted = *count_sign(kind) != '\0' && find_badge(row.badges, BadgeKind::size) != nullptr;
  return counted ? "0" : "?";
}

std::vector<Difference> differences_of(const std::vector<Row>& rows, const std::vector<std::size_t>& pins) {
  constexpr BadgeKind kinds[] = {BadgeKind::dtype, BadgeKind::rank, BadgeKind::shape, BadgeKind::size,
                                 BadgeKind::nan,   BadgeKind::ninf, BadgeKind::pinf,  BadgeKind::neg,
                                 BadgeKind::zero,  BadgeKind::pos,  BadgeKind::curt};
  std::vector<Difference> out;
  for (const BadgeKind kind : kinds) {
    Difference d{kind, {}};
    for (const std::size_t pin : pins) d.values.push_back(value_of(rows[pin], kind));
    if (std::any_of(d.values.begin(), d.values.end(), [&](const std::string& v) { return v != d.values.front(); }))
      out.push_back(std::move(d));
  }
  return out;
}

}  // namespace

std::vector<Comparison> compare_pins(const std::vector<Row>& pinned) {
  std::vector<Comparison> out;
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    const auto of_same = [&](const Comparison& c) { return same_tensor(pinned[c.pins.front()], pinned[i]); };
    if (const auto known = std::find_if(out.begin(), out.end(), of_same); known != out.end())
      known->pins.push_back(i);
    else
      out.push_back({{i}, pinned[i].op_name + ":" + std::to_string(pinned[i].slot), {}});
  }
  std::erase_if(out, [](const Comparison& c) { return c.pins.size() < 2; });
  for (Comparison& c : out) {
    std::sort(c.pins.begin(), c.pins.end(),
              [&](std::size_t a, std::size_t b) { return pinned[a].index < pinned[b].index; });
    c.differences = differences_of(pinned, c.pins);
  }
  return out;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  for (const Difference& d : comparison.differences) {
    const std::string sign = count_sign(d.kind);
    text.append(text.empty() ? "" : "   ").append(sign).append(sign.empty() ? "" : ": ");
    for (std::size_t i = 0; i < d.values.size(); ++i) text.append(i == 0 ? "" : " → ").append(d.values[i]);
  }
  return tr(text.empty() ? Text::pins_equal : Text::pins_compared,
            {{"tensor", comparison.tensor}, {"n", comparison.pins.size()}, {"differences", text}});
}

}  // namespace nanlens::viewer
