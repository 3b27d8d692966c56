// Part of evidence.hpp: places in words.
#pragma once

#include <nanlens/causes/because.hpp>

namespace nanlens::causes {

namespace detail {

// "3", "3 and 7", "3, 7 and 9".
inline std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(numbers[i]);
  return text;
}

struct AxisName {
  std::string one;
  std::string many;
  std::string after;
};

inline AxisName axis_name(std::size_t axis, std::size_t rank) {
  if (rank == 1) return {"element", "elements", ""};
  if (rank == 2) return axis == 0 ? AxisName{"row", "rows", ""} : AxisName{"column", "columns", ""};
  return {"slice", "slices", " along axis " + std::to_string(axis)};
}

// One axis; empty if there is nothing to tell apart on it.
inline std::string axis_words(const logdir::AxisEvidence& axis, std::int64_t size, const AxisName& name) {
  constexpr std::size_t few = 4;
  const auto affected = static_cast<double>(axis.affected);
  if (size <= 1 || axis.affected == 0) return {};
  if (axis.affected == static_cast<std::uint64_t>(size)) return "every " + name.one + name.after;
  const std::string all = grouped(static_cast<double>(size));
  if (axis.affected > few || axis.slices.size() != axis.affected)
    return grouped(affected) + " of " + all + " " + name.many + name.after;
  return (axis.affected == 1 ? name.one : name.many) + " " + listed(axis.slices) + " of " + all + name.after;
}

}  // namespace detail

NANLENS_API std::string places_words(const TensorEvidence& e) {
  if (e.axes.size() != e.shape.size() || e.counts.size() != 6) return {};
  const auto bad = e.counts[0] + e.counts[1] + e.counts[2];
  if (bad == 0) return {};
  std::string text;
  bool every = true;
  for (std::size_t axis = 0; axis < e.axes.size(); ++axis) {
    const std::string words = detail::axis_words(e.axes[axis], e.shape[axis], detail::axis_name(axis, e.shape.size()));
    if (words.empty()) continue;
    every = every && words.starts_with("every ");
    text.append(text.empty() ? "" : ", ").append(words);
  }
  if (!every || text.empty()) return text;
  std::uint64_t size = 1;
  for (const std::int64_t dim : e.shape) size *= static_cast<std::uint64_t>(dim);
  return bad == size ? "every element" : text;
}

}  // namespace nanlens::causes
