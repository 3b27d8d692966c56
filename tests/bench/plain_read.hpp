/// @file
/// The memory's limit: reading every byte of a buffer once and doing as little as possible with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nanlens::bench {

template <std::size_t Bytes>
using Words [[gnu::vector_size(Bytes)]] = std::uint64_t;

/// Exclusive-or of all words. Eight independent accumulators, so that only loads limit it.
template <std::size_t Bytes>
inline __attribute__((always_inline)) std::uint64_t xor_words(const unsigned char* p, std::size_t size) {
  constexpr std::size_t lanes = 8;
  Words<Bytes> sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes * Bytes <= size; i += lanes * Bytes)
    for (std::size_t k = 0; k < lanes; ++k) {
      Words<Bytes> words;
      std::memcpy(&words, p + i + k * Bytes, Bytes);
      sums[k] ^= words;
    }
  std::uint64_t sum = 0;
  for (const auto& s : sums)
    for (std::size_t j = 0; j < Bytes / 8; ++j) sum ^= s[j];
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) inline std::uint64_t read_avx512(const unsigned char* p, std::size_t n) {
  return xor_words<64>(p, n);
}
__attribute__((target("avx2"))) inline std::uint64_t read_avx2(const unsigned char* p, std::size_t n) {
  return xor_words<32>(p, n);
}
#endif
inline std::uint64_t read_baseline(const unsigned char* p, std::size_t n) { return xor_words<16>(p, n); }

}  // namespace nanlens::bench
