/// @file
/// What the viewer says, in the chosen language. English is in strings.def, other languages beside it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanlens::viewer {

/// One entry per text, by its id.
enum class Text : std::uint16_t {
#define X(id, english) id,
#include "strings.def"
#undef X
};

/// `chinese` is Traditional Chinese, `portuguese` that of Brazil. `pseudo` is English with accents and 40 % longer:
/// with it tests find what is cut off, or not in the table.
enum class Tongue : std::uint8_t { english, german, japanese, korean, chinese, portuguese, pseudo };

/// Tags of the tongues (BCP 47).
inline constexpr std::array<const char*, 7> tongue_tags = {"en", "de", "ja", "ko", "zh-TW", "pt-BR", "xx"};
/// What those who speak them call them; the pseudo-language is nobody's.
inline constexpr std::array<const char*, 6> tongue_names = {"English", "Deutsch",  "日本語",
                                                            "한국어",  "繁體中文", "Português (Brasil)"};

/// The language of a tag or of a name of a locale, as "ja", "zh-Hant-HK" or "pt_BR.UTF-8" are; none if there is no
/// table for it.
[[nodiscard]] std::optional<Tongue> tongue_of(std::string_view locale);
/// The language that the environment asks for, by LC_ALL, LC_MESSAGES and LANG as POSIX has them; English where it asks
/// for none that there is.
[[nodiscard]] Tongue tongue_of_environment();

/// The language of everything that is asked for from now on, in this process.
void set_tongue(Tongue tongue);
[[nodiscard]] Tongue tongue();

/// Which of "one|other" a number takes.
using PluralRule = std::size_t (*)(double n);
/// The rule of a language.
[[nodiscard]] PluralRule plural_rule(Tongue tongue);

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
/// The same in a given language.
[[nodiscard]] const char* tr(Tongue tongue, Text id);
/// A text with its placeholders filled. One without a value stays as it is written.
[[nodiscard]] std::string tr(Text id, std::initializer_list<TextArg> values);
/// The same in a given language: what programs read does not change with the user's.
[[nodiscard]] std::string tr(Tongue tongue, Text id, std::initializer_list<TextArg> values);

/// Names of the texts that a language's table lacks, which are shown in English. Those that every language may leave
/// out are not among them: units, separators, and texts without words.
[[nodiscard]] std::vector<std::string_view> missing_texts(Tongue tongue);

}  // namespace nanlens::viewer
