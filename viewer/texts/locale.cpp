// Which language a locale asks for.
#include <cstdlib>

#include "texts.hpp"

namespace nanlens::viewer {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Chinese is written in two scripts: only the traditional one has a table. A region without a script tells it (CLDR,
// likely subtags).
bool is_traditional(std::string_view tag) {
  if (tag.find("-hant") != std::string_view::npos) return true;
  if (tag.find("-hans") != std::string_view::npos) return false;
  return tag.starts_with("zh-tw") || tag.starts_with("zh-hk") || tag.starts_with("zh-mo");
}

}  // namespace

std::optional<Tongue> tongue_of(std::string_view locale) {
  const std::string tag = lower(locale.substr(0, locale.find_first_of(".@")));
  const std::string language = tag.substr(0, tag.find('-'));
  if (language == "zh") return is_traditional(tag) ? std::optional(Tongue::chinese) : std::nullopt;
  for (std::size_t i = 0; i < tongue_tags.size(); ++i)
    if (language == std::string_view(tongue_tags[i]).substr(0, 2)) return static_cast<Tongue>(i);
  return {};
}

Tongue tongue_of_environment() {
  for (const char* const name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0')
      return tongue_of(value).value_or(Tongue::english);
  return Tongue::english;
}

}  // namespace nanlens::viewer
