/// @file
/// Comparing names without regard to case.
#pragma once

#include <string>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// With A to Z in lower case; all other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace nanlens::inline NANLENS_ABI::query
