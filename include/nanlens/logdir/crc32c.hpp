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
__attribute__((target("sse4.2"))) inline std::uint32_t crc_hardware(std::uint32_t crc, const unsigned char* p,
                                                                    std::size_t n) noexcept {
  std::uint64_t c = crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    c = __builtin_ia32_crc32di(c, word);
  }
  auto c32 = static_cast<std::uint32_t>(c);
  for (; n > 0; --n, ++p) c32 = __builtin_ia32_crc32qi(c32, *p);
  return c32;
}
#endif

}  // namespace detail

/// CRC-32C of a byte range: initial value and final xor 0xffffffff.
inline std::uint32_t crc32c(const void* data, std::size_t n) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
#if NANLENS_X86_64
  if (__builtin_cpu_supports("sse4.2")) return ~detail::crc_hardware(0xffffffffu, p, n);
#endif
  return ~detail::crc_software(0xffffffffu, p, n);
}

/// TFRecord's mask, which keeps the CRC of data that holds CRCs from degenerating: rotate right by 15, add a constant.
constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

/// The checksum as stored in a TFRecord file.
inline std::uint32_t masked_crc32c(const void* data, std::size_t n) noexcept { return mask_crc(crc32c(data, n)); }

}  // namespace nanlens::inline NANLENS_ABI::logdir
