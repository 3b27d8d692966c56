#include "settings.hpp"

#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <optional>
#include <sstream>
#include <vector>

#include <nanlens/reader/sort_stably.hpp>

namespace nanlens::viewer {

namespace {

std::string directory() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && config[0] == '/')
    return std::string(config) + "/nanlens";
  if (const char* const home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return std::string(home) + "/.config/nanlens";
  return {};
}

std::string read(const std::string& name) {
  std::ifstream file(directory() + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& name, const std::string& text) {
  const std::string to = directory();
  if (to.empty()) return;
  std::error_code ignored;  // settings that can't be kept are not worth a word each time
  std::filesystem::create_directories(to, ignored);
  replace_file(to + "/" + name, text);
}

}  // namespace

bool replace_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::binary);
    file << content;
    if (!file.flush()) return false;
  }
  return std::rename(temporary.c_str(), path.c_str()) == 0;
}

std::string save_part(const std::string& name, const std::string& text, bool first) {
  std::error_code error;
  const auto path = std::filesystem::absolute(name, error);
  std::ofstream file(path, std::ios::binary | (first ? std::ios::trunc : std::ios::app));
  file << text;
  return file.flush() && !error ? path.string() : "";
}

std::string load_settings() { return read("viewer.json"); }
void store_settings(const std::string& text) { write("viewer.json", text); }

namespace {

// "1795353957 600 499 /path": when it was opened, its rows and alerts. A line may hold the path alone.
Recent recent_of(const std::string& line) {
  Recent recent;
  std::istringstream words(line);
  if (line[0] == '/' || !(words >> recent.when >> recent.rows >> recent.alerts)) return {line};
  words.get();
  std::getline(words, recent.path);
  return recent;
}

}  // namespace

std::vector<Recent> load_recent() {
  std::istringstream lines(read("recent"));
  std::vector<Recent> all;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) all.push_back(recent_of(line));
  return all;
}

void add_recent(Recent opened) {
  std::error_code failed;
  opened.path = std::filesystem::absolute(opened.path, failed).lexically_normal().string();
  if (failed) return;
  opened.when = static_cast<double>(std::time(nullptr));
  std::vector<Recent> all = load_recent();
  std::erase_if(all, [&](const Recent& r) { return r.path == opened.path; });
  all.insert(all.begin(), opened);
  constexpr std::size_t most = 10;
  std::ostringstream text;
  text << std::fixed << std::setprecision(0);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
    text << all[i].when << ' ' << all[i].rows << ' ' << all[i].alerts << ' ' << all[i].path << '\n';
  write("recent", text.str());
}

namespace {

// The font that fontconfig has for a language, if it has this character of it.
std::optional<FallbackFont> font_of(const char* language, FcChar32 character) {
  std::optional<FallbackFont> font;
  FcPattern* const pattern = FcPatternCreate();
  FcCharSet* const characters = FcCharSetCreate();
  FcCharSetAddChar(characters, character);
  FcPatternAddCharSet(pattern, FC_CHARSET, characters);
  FcPatternAddString(pattern, FC_LANG, reinterpret_cast<const FcChar8*>(language));
  FcPatternAddBool(pattern, FC_SCALABLE, FcTrue);
  FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
  FcDefaultSubstitute(pattern);
  FcResult result{};
  if (FcPattern* const found = FcFontMatch(nullptr, pattern, &result)) {
    FcChar8* path = nullptr;
    FcCharSet* has = nullptr;
    int index = 0;
    FcPatternGetInteger(found, FC_INDEX, 0, &index);
    constexpr int face = 0xffff;  // above it: an instance of a variable font
    if (FcPatternGetCharSet(found, FC_CHARSET, 0, &has) == FcResultMatch &&
        FcCharSetHasChar(has, character) == FcTrue && FcPatternGetString(found, FC_FILE, 0, &path) == FcResultMatch)
      font = {reinterpret_cast<const char*>(path), index & face};
    FcPatternDestroy(found);
  }
  FcCharSetDestroy(characters);
  FcPatternDestroy(pattern);
  return font;
}

}  // namespace

std::vector<FallbackFont> find_cjk_fonts(Tongue tongue) {
  struct Need {
    Tongue tongue;
    const char* language;
    FcChar32 character;
  };
  std::vector<Need> needs = {
      {Tongue::japanese, "ja", 0x3042}, {Tongue::chinese, "zh-tw", 0x4e2d}, {Tongue::korean, "ko", 0xd55c}};
  // Han characters have other shapes in each language, and the first font that has one gives it.
  reader::sort_stably(needs, [&](const Need& a, const Need& b) { return a.tongue == tongue && b.tongue != tongue; });
  std::vector<FallbackFont> fonts;
  for (const Need& need : needs)
    if (const auto font = font_of(need.language, need.character);
        font && std::find(fonts.begin(), fonts.end(), *font) == fonts.end())
      fonts.push_back(*font);
  return fonts;
}

}  // namespace nanlens::viewer
