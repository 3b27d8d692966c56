#include "picture.hpp"

#include <ctime>
#include <filesystem>

#include <png.h>

namespace nanlens::viewer {

std::string picture_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char name[64];
  std::strftime(name, sizeof name, "nanlens-%Y%m%d-%H%M%S.png", &local);
  std::error_code error;
  const auto path = std::filesystem::absolute(name, error);
  return error ? name : path.string();
}

bool write_png(const std::string& path, const Pixels& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = PNG_FORMAT_RGB;
  const png_int_32 upside_down = -3 * pixels.width;  // a negative stride: the last row of the memory is the first one
  return png_image_write_to_file(&image, path.c_str(), 0, pixels.rgb.data(), upside_down, nullptr) != 0;
}

}  // namespace nanlens::viewer
