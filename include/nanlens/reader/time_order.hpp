/// @file
/// Order by wall_time, which in a damaged record may be no number.
#pragma once

#include <bit>
#include <cstdint>

namespace nanlens::reader {

/// Ranks of times compare as the times do; what is no number comes last, and is equal to its like. An integer, so that
/// sorting times without any order does not depend on guessed branches.
[[nodiscard]] constexpr std::uint64_t time_rank(double t) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  constexpr std::uint64_t infinity = 0x7ff0'0000'0000'0000;
  const auto bits = std::bit_cast<std::uint64_t>(t + 0.0);  // one zero only
  if ((bits & ~sign) > infinity) return ~std::uint64_t{0};
  return bits ^ ((bits & sign) != 0 ? ~std::uint64_t{0} : sign);
}

/// Strict weak order of times: what is no number comes last, and is equal to its like.
[[nodiscard]] constexpr bool earlier(double a, double b) noexcept { return time_rank(a) < time_rank(b); }

}  // namespace nanlens::reader
