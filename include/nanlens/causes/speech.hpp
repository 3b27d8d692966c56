/// @file
/// What the words about a cause are made of, in one language. English is sayings.inl; whoever shows sentences in
/// another language brings that one's table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace nanlens::causes {

/// One entry per text, by its id.
enum class Saying : std::uint16_t {
#define X(id, english) id,
#include <nanlens/causes/sayings.inl>
#undef X
};

/// Names of the sayings, in their order.
inline constexpr std::string_view saying_ids[] = {
#define X(id, english) #id,
#include <nanlens/causes/sayings.inl>
#undef X
};
inline constexpr std::size_t num_sayings = std::size(saying_ids);

/// A language: its texts, how it counts, and how it writes numbers.
struct Speech {
  std::array<const char*, num_sayings> texts{};
  std::size_t (*form)(double n) = nullptr;  ///< which of "one|other" a number has
  std::string_view group = ",";             ///< between thousands
  std::string_view point = ".";

  [[nodiscard]] constexpr std::string_view operator[](Saying id) const { return texts[static_cast<std::size_t>(id)]; }
};

/// The language of what no other is asked for.
inline constexpr Speech english_speech = {{
#define X(id, english) english,
#include <nanlens/causes/sayings.inl>
#undef X
                                          },
                                          [](double n) -> std::size_t { return n == 1 ? 0 : 1; },
                                          ",",
                                          "."};

/// A value for a name in braces.
struct Value {
  std::string_view name;
  std::string text;
};

namespace detail {

// A form of "one|other" by its number.
constexpr std::string_view form_of(std::string_view forms, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t cut = forms.find('|');
    forms.remove_prefix(cut == std::string_view::npos ? forms.size() : cut + 1);
  }
  return forms.substr(0, forms.find('|'));
}

}  // namespace detail

/// A text with its names filled in and its words chosen for `n`. A name without a value is left out.
inline std::string say(const Speech& speech, Saying id, std::initializer_list<Value> values = {}, double n = 0) {
  std::string out;
  for (std::string_view text = speech[id]; !text.empty();) {
    const std::size_t open = text.find('{');
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    const std::size_t bar = inside.find('|');
    if (bar != std::string_view::npos) out.append(detail::form_of(inside.substr(bar + 1), speech.form(n)));
    for (const Value& value : values)
      if (value.name == inside) out.append(value.text);
  }
  return out;
}

namespace detail {

// A count that a sentence may name: a whole number above 0 that a tensor can have.
inline bool is_count(double n) noexcept { return n >= 1 && n < 9e15; }

inline std::string grouped(double value, const Speech& speech) {
  std::string text = std::to_string(is_count(value) ? static_cast<std::uint64_t>(value) : 0);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, speech.group);
  return text;
}

// "1 zero", "3 zeros"; empty where there is nothing to count.
inline std::string counted(const Speech& speech, Saying id, double n) {
  return is_count(n) ? say(speech, id, {{"n", grouped(n, speech)}}, n) : std::string();
}

// What printf wrote, with the point of the language.
inline std::string with_point(std::string text, const Speech& speech) {
  if (const std::size_t point = text.find('.'); point != std::string::npos) text.replace(point, 1, speech.point);
  return text;
}

}  // namespace detail

}  // namespace nanlens::causes
