#include "canvas_font.hpp"

#include <emscripten.h>

#include <array>
#include <cmath>

#include "imgui.h"
#include "imgui_internal.h"

// clang-format off
EM_JS(int, nl_js_glyph, (int code, float size, unsigned char* pixels, int capacity), { return nlPage.glyph(code, size, pixels, capacity); });
// clang-format on

namespace nanlens::page {

namespace {

// Control and private characters have no shape that the browser could give.
bool contains(ImFontAtlas*, ImFontConfig*, ImWchar code) { return code >= 0x2e80 || (code >= 0x0530 && code < 0x2000); }

bool load_glyph(ImFontAtlas* atlas, ImFontConfig* source, ImFontBaked* baked, void*, ImWchar code, ImFontGlyph* glyph,
                float* advance) {
  if (!contains(atlas, source, code)) return false;
  const float density = baked->RasterizerDensity;
  const float size = baked->Size * density * 0.86f;  // DejaVu's letters are large for their size
  static std::array<unsigned char, 512 * 512> pixels;
  const int width = nl_js_glyph(static_cast<int>(code), size, pixels.data(), static_cast<int>(pixels.size()));
  if (width == 0) return false;
  const float logical_advance = static_cast<float>(width - 2) / density;
  if (advance != nullptr) {
    *advance = logical_advance;
    return true;
  }
  const int height = static_cast<int>(std::ceil(size * 1.4f));
  const ImFontAtlasRectId id = ImFontAtlasPackAddRect(atlas, width, height);
  if (id == ImFontAtlasRectId_Invalid) return false;
  ImTextureRect* const rect = ImFontAtlasPackGetRect(atlas, id);
  glyph->Codepoint = code;
  glyph->AdvanceX = logical_advance;
  glyph->X0 = -1 / density;
  glyph->Y0 = std::round(baked->Ascent - std::round(size * 1.05f) / density);
  glyph->X1 = glyph->X0 + static_cast<float>(width) / density;
  glyph->Y1 = glyph->Y0 + static_cast<float>(height) / density;
  glyph->Visible = true;
  glyph->PackId = id;
  ImFontAtlasBakedSetFontGlyphBitmap(atlas, baked, source, glyph, rect, pixels.data(), ImTextureFormat_Alpha8, width);
  return true;
}

}  // namespace

const ImFontLoader* canvas_font_loader() {
  static const ImFontLoader loader = [] {
    ImFontLoader l;
    l.Name = "canvas";
    l.FontSrcContainsGlyph = contains;
    l.FontBakedLoadGlyph = load_glyph;
    return l;
  }();
  return &loader;
}

}  // namespace nanlens::page
