/// @file
/// A table of texts in every language.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "pattern.hpp"
#include "texts.hpp"

namespace nanlens::viewer {

/// Texts by their ids, in each language but English, in the order of Tongue.
template <std::size_t size>
using Translations = std::array<std::array<const char*, size>, 5>;

/// The text in a language; null if it has none, as English and what is made from it.
template <std::size_t size>
constexpr const char* translated(const Translations<size>& all, Tongue tongue, std::size_t id) {
  const auto number = static_cast<std::size_t>(tongue);
  return number == 0 || number > all.size() ? nullptr : all[number - 1][id];
}

/// The ids that a language's table lacks; English lacks none.
template <std::size_t size>
std::vector<std::string_view> missing_of(const Translations<size>& all, Tongue tongue,
                                         std::span<const std::string_view, size> ids) {
  std::vector<std::string_view> missing;
  const auto number = static_cast<std::size_t>(tongue);
  for (std::size_t i = 0; number > 0 && number <= all.size() && i < size; ++i)
    if (translated(all, tongue, i) == nullptr) missing.push_back(ids[i]);
  return missing;
}

}  // namespace nanlens::viewer
