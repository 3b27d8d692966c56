/// @file
/// The words of the filter language, and the one that somebody may have meant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/node.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

template <class Word>
struct Name {
  std::string_view text;
  Word word;
};

inline constexpr Name<Flag> flag_names[] = {
    {"bad", Flag::bad},           {"ok", Flag::ok},           {"first", Flag::first},   {"made", Flag::made},
    {"passed", Flag::passed},     {"removed", Flag::removed}, {"source", Flag::source}, {"unknown", Flag::unknown},
    {"expected", Flag::expected}, {"pinned", Flag::pinned},   {"input", Flag::input},   {"consumer", Flag::consumer},
    {"function", Flag::function}, {"eager", Flag::eager},     {"empty", Flag::empty},   {"unchecked", Flag::unchecked},
    {"constant", Flag::constant}};
inline constexpr Name<TextField> text_names[] = {
    {"op", TextField::op},       {"type", TextField::type},        {"graph", TextField::graph},
    {"call", TextField::call},   {"device", TextField::device},    {"host", TextField::host},
    {"dtype", TextField::dtype}, {"file", TextField::file},        {"fn", TextField::fn},
    {"mode", TextField::mode},   {"class", TextField::event_class}};
inline constexpr Name<NumberField> number_names[] = {
    {"nan", NumberField::nan},   {"inf", NumberField::inf},          {"ninf", NumberField::ninf},
    {"pinf", NumberField::pinf}, {"neg", NumberField::neg},          {"zero", NumberField::zero},
    {"pos", NumberField::pos},   {"size", NumberField::size},        {"rank", NumberField::rank},
    {"row", NumberField::row},   {"exec", NumberField::exec},        {"slot", NumberField::slot},
    {"time", NumberField::time}, {"line", NumberField::line},        {"min", NumberField::min},
    {"max", NumberField::max},   {"mean", NumberField::mean},        {"absmax", NumberField::absmax},
    {"norm", NumberField::norm}, {"job_rank", NumberField::job_rank}};

template <class Names>
auto find_name(const Names& names, std::string_view text) -> std::optional<decltype(names[0].word)> {
  for (const auto& name : names)
    if (name.text == text) return name.word;
  return std::nullopt;
}

inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, cost});
    }
  }
  return row[b.size()];
}

// The name before ':' or a comparison that is most like the text.
inline std::string nearest_name(std::string_view text) {
  std::string_view best;
  std::size_t distance = std::numeric_limits<std::size_t>::max();
  const auto consider = [&](std::string_view candidate) {
    const std::size_t d = edit_distance(text, candidate);
    if (d >= distance) return;
    distance = d;
    best = candidate;
  };
  for (const auto& name : text_names) consider(name.text);
  for (const auto& name : number_names) consider(name.text);
  return std::string(best);
}

}  // namespace detail

/// How a number is written in a query.
inline std::string_view name_of(NumberField field) {
  for (const auto& name : detail::number_names)
    if (name.word == field) return name.text;
  return {};
}

}  // namespace nanlens::inline NANLENS_ABI::query
