/// @file
/// Mixing numbers into keys.
#pragma once

#include <cstdint>

namespace nanlens::detail {

/// A well-mixed 64-bit number from two (the finalizer of MurmurHash3).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t h = a * 0x9e3779b97f4a7c15u ^ b;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

}  // namespace nanlens::detail
