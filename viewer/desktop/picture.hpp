/// @file
/// Pictures of the window as PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nanlens::viewer {

/// What the window showed: RGB bytes, the topmost row last, as OpenGL gives them.
struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// A name with the time of day, in the current directory.
std::string picture_name();
/// False if the file could not be written.
bool write_png(const std::string& path, const Pixels& pixels);

}  // namespace nanlens::viewer
