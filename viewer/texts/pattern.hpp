/// @file
/// Tables of texts, and the placeholders of a text: "{name}", "{name:format}", "{name|one|other}".
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace nanlens::viewer::pattern {

/// One placeholder; text[begin, end) with its braces.
struct Slot {
  std::size_t begin = std::string_view::npos;
  std::size_t end = 0;
  std::string_view name;
  std::string_view format;  ///< "": as it is
  std::string_view forms;   ///< "one|other"; "": the value itself is shown
};

/// The first placeholder from `at` on; its `begin` is npos if there is none.
constexpr Slot next_slot(std::string_view text, std::size_t at) {
  Slot slot;
  slot.begin = text.find('{', at);
  if (slot.begin == std::string_view::npos) return slot;
  slot.end = std::min(text.find('}', slot.begin), text.size() - 1) + 1;
  const std::string_view inside = text.substr(slot.begin + 1, slot.end - slot.begin - 2);
  const std::size_t cut = std::min(inside.find_first_of(":|"), inside.size());
  slot.name = inside.substr(0, cut);
  if (cut == inside.size()) return slot;
  (inside[cut] == ':' ? slot.format : slot.forms) = inside.substr(cut + 1);
  return slot;
}

/// A form of "one|other" by its number.
constexpr std::string_view form(std::string_view forms, std::size_t number) {
  for (; number > 0; --number) forms.remove_prefix(std::min(forms.find('|') + 1, forms.size()));
  return forms.substr(0, forms.find('|'));
}

/// A text of a translation.
template <class Id>
struct Translation {
  Id id;
  const char* text;
};

/// The texts of a translation by their ids; those that it lacks are null. One that stands there twice ends the build.
template <std::size_t size, class Id, std::size_t n>
constexpr std::array<const char*, size> table_of(const Translation<Id> (&translations)[n]) {
  std::array<const char*, size> table{};
  for (const Translation<Id>& t : translations) {
    const char*& text = table[static_cast<std::size_t>(t.id)];
    if (text != nullptr) throw "a text stands in a table twice";
    text = t.text;
  }
  return table;
}

}  // namespace nanlens::viewer::pattern
