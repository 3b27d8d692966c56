/// @file
/// Characters that the built-in fonts lack (Chinese, Japanese, Korean …), drawn by the browser with the system's fonts.
#pragma once

struct ImFontLoader;

namespace nanlens::page {

const ImFontLoader* canvas_font_loader();

}  // namespace nanlens::page
