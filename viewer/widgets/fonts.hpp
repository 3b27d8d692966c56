/// @file
/// The fonts that are built in, and where characters come from that they lack.
#pragma once

#include <string>

#include "widgets/ui.hpp"

namespace nanlens::viewer {

/// Loads the built-in fonts into ImGui's atlas and sets them in `ui`. `fallback_file`: a font file for CJK and other
/// characters that are not built in ("": none); `loader`: draws such characters instead (the page; null: none).
void load_fonts(Ui& ui, const std::string& fallback_file, const ImFontLoader* loader);

}  // namespace nanlens::viewer
