// Part of evidence.hpp: places in words.
#pragma once

#include <algorithm>

#include <nanlens/causes/because.hpp>

namespace nanlens::causes {

namespace detail {

// "3", "3 and 7", "3, 7 and 9".
inline std::string listed(const std::vector<std::int64_t>& numbers, const Speech& speech) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += speech[i + 1 == numbers.size() ? Saying::list_and : Saying::list_comma];
    text += std::to_string(numbers[i]);
  }
  return text;
}

// How the parts of a tensor along an axis are called.
struct AxisName {
  Saying every;
  Saying some;
  Saying these;
};

constexpr AxisName axis_name(std::size_t axis, std::size_t rank) {
  if (rank == 1) return {Saying::every_element, Saying::some_elements, Saying::these_elements};
  if (rank > 2) return {Saying::every_slice, Saying::some_slices, Saying::these_slices};
  return axis == 0 ? AxisName{Saying::every_row, Saying::some_rows, Saying::these_rows}
                   : AxisName{Saying::every_column, Saying::some_columns, Saying::these_columns};
}

inline bool is_every(const logdir::AxisEvidence& axis, std::int64_t size) {
  return axis.affected == static_cast<std::uint64_t>(size);
}

// One axis; empty if there is nothing to tell apart on it.
inline std::string axis_words(const TensorEvidence& e, std::size_t number, const Speech& speech) {
  constexpr std::size_t few = 4;
  const logdir::AxisEvidence& axis = e.axes[number];
  const std::int64_t size = e.shape[number];
  const AxisName name = axis_name(number, e.axes.size());
  const auto affected = static_cast<double>(axis.affected);
  if (size <= 1 || axis.affected == 0) return {};
  const bool every = is_every(axis, size);
  const bool many = axis.affected > few || axis.slices.size() != axis.affected;
  return say(speech,
             every  ? name.every
             : many ? name.some
                    : name.these,
             {{"n", grouped(affected, speech)},
              {"all", grouped(static_cast<double>(size), speech)},
              {"which", every || many ? std::string() : listed(axis.slices, speech)},
              {"axis", std::to_string(number)}},
             affected);
}

}  // namespace detail

NANLENS_API std::string places_words(const TensorEvidence& e, const Speech& speech) {
  if (e.axes.size() != e.shape.size() || e.counts.size() != 6) return {};
  const auto bad = e.counts[0] + e.counts[1] + e.counts[2];
  if (bad == 0) return {};
  std::string text;
  bool every = true;
  for (std::size_t axis = 0; axis < e.axes.size(); ++axis) {
    const std::string words = detail::axis_words(e, axis, speech);
    if (words.empty()) continue;
    every = every && detail::is_every(e.axes[axis], e.shape[axis]);
    if (!text.empty()) text += speech[Saying::list_comma];
    text += words;
  }
  if (!every || text.empty()) return text;
  std::uint64_t size = 1;
  for (const std::int64_t dim : e.shape) size *= static_cast<std::uint64_t>(dim);
  return bad == size ? say(speech, Saying::every_element) : text;
}

NANLENS_API bool trapped_in_part(reader::Run& run) {
  constexpr std::size_t most = 4096;  // the last ones tell: each place is noted again, ever more rarely
  const auto in_part = [&](const auto& list) {
    for (std::size_t i = 0; i < std::min(most, list.size()); ++i) {
      const auto& e = list[list.size() - 1 - i];
      if (e.is_execution && extension_of(run, execution_event(e.event, 0)).hits_at_least) return true;
    }
    return false;
  };
  return in_part(run.hidden_exceptions()) || in_part(run.alerts());
}

}  // namespace nanlens::causes
