// What a translation has in common with its original: the placeholders, and the forms that numbers choose.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "texts/pattern.hpp"

namespace nanlens::viewer::pattern {

/// Are all placeholders closed, named, of a known format, and with as many forms as the language has?
inline bool well_formed(std::string_view text, std::size_t forms) {
  constexpr std::array<std::string_view, 7> formats = {"", "count", "full", "short", "bytes", "time", "duration"};
  for (Slot s = next_slot(text, 0); s.begin != std::string_view::npos; s = next_slot(text, s.end)) {
    if (text[s.end - 1] != '}' || s.name.empty()) return false;
    if (std::find(formats.begin(), formats.end(), s.format) == formats.end()) return false;
    if (!s.forms.empty() && static_cast<std::size_t>(std::count(s.forms.begin(), s.forms.end(), '|')) + 1 != forms)
      return false;
  }
  return true;
}

/// Does the text have a placeholder of this name?
inline bool has_slot(std::string_view text, std::string_view name) {
  for (Slot s = next_slot(text, 0); s.begin != std::string_view::npos; s = next_slot(text, s.end))
    if (s.name == name) return true;
  return false;
}

/// Is every placeholder of `a` one of `b`?
inline bool slots_within(std::string_view a, std::string_view b) {
  for (Slot s = next_slot(a, 0); s.begin != std::string_view::npos; s = next_slot(a, s.end))
    if (!has_slot(b, s.name)) return false;
  return true;
}

/// Does a translation have the placeholders of its original, and as many forms as its language? One that only chooses a
/// word may be left out.
inline bool translates(std::string_view translated, std::string_view original, std::size_t forms) {
  if (!well_formed(translated, forms) || !slots_within(translated, original)) return false;
  for (Slot s = next_slot(original, 0); s.begin != std::string_view::npos; s = next_slot(original, s.end))
    if (s.forms.empty() && !has_slot(translated, s.name)) return false;
  return true;
}

}  // namespace nanlens::viewer::pattern
