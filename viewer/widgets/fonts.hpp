/// @file
/// The fonts that are built in, and where characters come from that they lack.
#pragma once

#include <string>
#include <vector>

#include "widgets/ui.hpp"

namespace nanlens::viewer {

/// A face of a font file.
struct FallbackFont {
  std::string file;
  int face = 0;
  bool operator==(const FallbackFont&) const = default;
};

/// Loads the built-in fonts into ImGui's atlas and sets them in `ui`. `fallbacks`: for CJK and other characters that
/// are not built in, the first that has one gives it; `loader`: draws such characters instead (the page; null: none).
void load_fonts(Ui& ui, const std::vector<FallbackFont>& fallbacks, const ImFontLoader* loader);

}  // namespace nanlens::viewer
