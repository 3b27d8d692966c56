/// @file
/// Mixing numbers into keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// A well-mixed 64-bit number from two (the finalizer of MurmurHash3).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t h = a * 0x9e3779b97f4a7c15u ^ b;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

/// A key made of a text's content.
inline std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t h = text.size();
  for (std::size_t at = 0; at < text.size(); at += sizeof h) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, text.size() - at < sizeof word ? text.size() - at : sizeof word);
    h = mix(h, word);
  }
  return h;
}

}  // namespace nanlens::inline NANLENS_ABI::detail
