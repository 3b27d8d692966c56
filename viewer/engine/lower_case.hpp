/// @file
/// Comparing names without regard to case.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace nanlens::viewer {

/// With A to Z in lower case; all other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace nanlens::viewer
