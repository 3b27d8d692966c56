/// @file
/// Order by wall_time, which in a damaged record may be no number.
#pragma once

namespace nanlens::reader {

/// Strict weak order of times: what is no number comes last, and is equal to its like.
[[nodiscard]] constexpr bool earlier(double a, double b) noexcept {
  const bool b_is_number = b == b;
  return a == a ? !b_is_number || a < b : false;
}

}  // namespace nanlens::reader
