/// @file
/// Text that must be UTF-8, from names that may hold any bytes.
#pragma once

#include <string>
#include <string_view>

namespace nanlens::viewer {

/// The same text; each byte that belongs to no character (Unicode 15, table 3-7) is U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace nanlens::viewer
