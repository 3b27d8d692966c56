/// @file
/// The browser as ImGui's platform: canvas size and pixels, clock, cursor, clipboard, caret. Input comes from page.js
/// through the exported functions.
#pragma once

#include <string>

namespace nanlens::page {

/// Creates the WebGL2 context and hooks into ImGui. False if the browser has no WebGL2.
bool start_platform();
/// Sets sizes and times for a frame, and the size of the framebuffer in pixels.
void begin_frame(double now, int& width, int& height);
void copy(const std::string& text);

}  // namespace nanlens::page
