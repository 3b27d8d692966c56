/// @file
/// What the viewer says, in the chosen language. English is in strings.def, other languages beside it.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace nanlens::viewer {

/// One entry per text, by its id.
enum class Text : std::uint16_t {
#define X(id, english) id,
#include "strings.def"
#undef X
};

/// `pseudo` is English with accents and 40 % longer: with it tests find what is cut off, or not in the table.
enum class Tongue : std::uint8_t { english, german, pseudo };

/// Tags of the tongues: "en", "de", "xx".
inline constexpr std::array<const char*, 3> tongue_tags = {"en", "de", "xx"};

/// The language of everything that is asked for from now on, in this process.
void set_tongue(Tongue tongue);
[[nodiscard]] Tongue tongue();

/// A value for a placeholder.
struct TextArg {
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  TextArg(std::string_view n, Number v) : name(n), number(static_cast<double>(v)), is_number(true) {}
  TextArg(std::string_view n, std::string_view v) : name(n), text(v) {}
  TextArg(std::string_view n, const std::string& v) : name(n), text(v) {}
  TextArg(std::string_view n, const char* v) : name(n), text(v) {}

  std::string_view name;
  std::string_view text = {};
  double number = 0;
  bool is_number = false;
};

/// A text without placeholders; it stays valid.
[[nodiscard]] const char* tr(Text id);
/// A text with its placeholders filled. One without a value stays as it is written.
[[nodiscard]] std::string tr(Text id, std::initializer_list<TextArg> values);
/// The same in a given language: what programs read does not change with the user's.
[[nodiscard]] std::string tr(Tongue tongue, Text id, std::initializer_list<TextArg> values);

}  // namespace nanlens::viewer
