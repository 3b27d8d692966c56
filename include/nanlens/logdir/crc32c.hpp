/// @file
/// CRC-32C (Castagnoli, RFC 3720) and the masked form that TFRecord files store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

namespace detail {

inline constexpr std::uint32_t castagnoli_reflected = 0x82f63b78u;

// Slicing-by-8 tables: tables[k][b] is the CRC of byte b followed by k zero bytes.
inline constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? (c >> 1) ^ castagnoli_reflected : c >> 1;
    tables[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
  return tables;
}();

inline std::uint32_t crc_software(std::uint32_t c, const unsigned char* p, std::size_t n) noexcept {
  const auto& t = crc_tables;
  for (; n >= 8; n -= 8, p += 8) {
    const std::uint32_t low = c ^ (static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
                                   static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24);
    c = t[7][low & 0xff] ^ t[6][(low >> 8) & 0xff] ^ t[5][(low >> 16) & 0xff] ^ t[4][low >> 24] ^ t[3][p[4]] ^
        t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
  }
  for (; n > 0; --n, ++p) c = t[0][(c ^ *p) & 0xff] ^ (c >> 8);
  return c;
}

#if NANLENS_X86_64
inline constexpr std::size_t most_crc_words = 64;   // of each of three parts
inline constexpr std::size_t least_for_parts = 96;  // bytes that joining the parts pays for

// crc_shifts[k] is x^(64k − 33) modulo the polynomial, reflected: by it, and by the instruction for 8 bytes, the CRC of
// what stands k words before the end becomes its share of the whole.
inline constexpr auto crc_shifts = [] {
  std::array<std::uint32_t, 2 * most_crc_words + 1> shifts{};
  std::uint32_t c = 0x80000000u;
  for (std::size_t power = 1; power <= 64 * (shifts.size() - 1) - 33; ++power) {
    c = (c & 1) != 0 ? (c >> 1) ^ castagnoli_reflected : c >> 1;
    if ((power + 33) % 64 == 0) shifts[(power + 33) / 64] = c;
  }
  return shifts;
}();

__attribute__((target("sse4.2"))) inline std::uint64_t crc_word(std::uint64_t c, const unsigned char* p,
                                                                std::uint64_t more = 0) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return __builtin_ia32_crc32di(c, word ^ more);
}

__attribute__((target("sse4.2,pclmul"))) inline std::uint64_t crc_shifted(std::uint64_t c, std::size_t words) noexcept {
  using Words = long long __attribute__((vector_size(16)));
  const Words a = {static_cast<long long>(c), 0};
  const Words b = {static_cast<long long>(crc_shifts[words]), 0};
  return static_cast<std::uint64_t>(__builtin_ia32_pclmulqdq128(a, b, 0)[0]);
}

// The instruction gives its result after three cycles, but takes a word in each: three parts are gone through at once.
__attribute__((target("sse4.2,pclmul"))) inline std::uint32_t crc_three_parts(std::uint32_t crc,
                                                                              const unsigned char*& p,
                                                                              std::size_t& n) noexcept {
  std::uint64_t c = crc;
  while (n >= least_for_parts) {
    const std::size_t words = n / 24 < most_crc_words ? n / 24 : most_crc_words;
    const unsigned char* const second = p + 8 * words;
    const unsigned char* const third = second + 8 * words;
    std::uint64_t c2 = 0;
    std::uint64_t c3 = 0;
    for (std::size_t i = 0; i + 1 < words; ++i) {
      c = crc_word(c, p + 8 * i);
      c2 = crc_word(c2, second + 8 * i);
      c3 = crc_word(c3, third + 8 * i);
    }
    c = crc_word(c, second - 8);
    c2 = crc_word(c2, third - 8);
    c = crc_word(c3, third + 8 * (words - 1), crc_shifted(c, 2 * words) ^ crc_shifted(c2, words));
    p += 24 * words;
    n -= 24 * words;
  }
  return static_cast<std::uint32_t>(c);
}

__attribute__((target("sse4.2"))) inline std::uint32_t crc_hardware(std::uint32_t crc, const unsigned char* p,
                                                                    std::size_t n) noexcept {
  std::uint64_t c = crc;
  for (; n >= 8; n -= 8, p += 8) c = crc_word(c, p);
  auto c32 = static_cast<std::uint32_t>(c);
  if ((n & 4) != 0) {
    std::uint32_t word;
    std::memcpy(&word, p, sizeof word);
    c32 = __builtin_ia32_crc32si(c32, word);
    p += sizeof word;
  }
  for (n &= 3; n > 0; --n, ++p) c32 = __builtin_ia32_crc32qi(c32, *p);
  return c32;
}
#endif

}  // namespace detail

/// CRC-32C of a byte range: initial value and final xor 0xffffffff.
inline std::uint32_t crc32c(const void* data, std::size_t n) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
#if NANLENS_X86_64
  if (__builtin_cpu_supports("sse4.2")) {
    std::uint32_t c = 0xffffffffu;
    if (n >= detail::least_for_parts && __builtin_cpu_supports("pclmul")) c = detail::crc_three_parts(c, p, n);
    return ~detail::crc_hardware(c, p, n);
  }
#endif
  return ~detail::crc_software(0xffffffffu, p, n);
}

/// TFRecord's mask, which keeps the CRC of data that holds CRCs from degenerating: rotate right by 15, add a constant.
constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

/// The checksum as stored in a TFRecord file.
inline std::uint32_t masked_crc32c(const void* data, std::size_t n) noexcept { return mask_crc(crc32c(data, n)); }

}  // namespace nanlens::inline NANLENS_ABI::logdir
