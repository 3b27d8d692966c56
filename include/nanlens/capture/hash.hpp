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
  constexpr std::size_t step = sizeof(std::uint64_t);
  std::uint64_t h = text.size();
  const auto add = [&h](const char* from) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, step);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  };
  if (text.size() < step) {
    std::uint64_t word = 0;
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    return mix(h, word);
  }
  for (std::size_t at = 0; at + step < text.size(); at += step) add(text.data() + at);
  add(text.data() + text.size() - step);  // overlaps the word before
  return mix(h, 0);
}

}  // namespace nanlens::inline NANLENS_ABI::detail
