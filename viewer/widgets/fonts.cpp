#include "widgets/fonts.hpp"

#include "widgets/licences.hpp"

extern const unsigned char nanlens_font_sans[];
extern const unsigned long nanlens_font_sans_size;
extern const unsigned char nanlens_font_mono[];
extern const unsigned long nanlens_font_mono_size;
extern const unsigned char nanlens_licences[];
extern const unsigned long nanlens_licences_size;

namespace nanlens::viewer {

namespace {

constexpr float reference_size = 13;

void add(ImFontAtlas& atlas, const unsigned char* bytes, unsigned long size, bool merge) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.MergeMode = merge;
  // ImGui takes a pointer to bytes that it promises not to change here.
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes), static_cast<int>(size), reference_size, &config);
}

void add_fallback(ImFontAtlas& atlas, const FallbackFont& font) {
  ImFontConfig config;
  config.MergeMode = true;
  config.FontNo = static_cast<ImU32>(font.face);
  config.Flags = ImFontFlags_NoLoadError;
  atlas.AddFontFromFileTTF(font.file.c_str(), reference_size, &config);
}

void add_loader(ImFontAtlas& atlas, const ImFontLoader* loader) {
  ImFontConfig config;
  config.MergeMode = true;
  config.SizePixels = reference_size;
  config.FontLoader = loader;
  static unsigned char no_data = 0;
  config.FontData = &no_data;
  config.FontDataSize = 1;
  config.FontDataOwnedByAtlas = false;
  atlas.AddFont(&config);
}

void add_fallbacks(ImFontAtlas& atlas, const std::vector<FallbackFont>& fonts, const ImFontLoader* loader) {
  for (const FallbackFont& font : fonts) add_fallback(atlas, font);
  if (loader != nullptr) add_loader(atlas, loader);
}

}  // namespace

void load_fonts(Ui& ui, const std::vector<FallbackFont>& fallbacks, const ImFontLoader* loader) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  add(atlas, nanlens_font_sans, nanlens_font_sans_size, false);
  add_fallbacks(atlas, fallbacks, loader);
  ui.sans = atlas.Fonts.back();
  add(atlas, nanlens_font_mono, nanlens_font_mono_size, false);
  add(atlas, nanlens_font_sans, nanlens_font_sans_size, true);  // symbols that the monospaced font lacks
  add_fallbacks(atlas, fallbacks, loader);
  ui.mono = atlas.Fonts.back();
}

std::string_view licences_text() { return {reinterpret_cast<const char*>(nanlens_licences), nanlens_licences_size}; }

}  // namespace nanlens::viewer
