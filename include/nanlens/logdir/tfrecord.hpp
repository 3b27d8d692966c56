/// @file
/// TFRecord framing: length (8 bytes, little-endian), masked CRC of the length, payload, masked CRC of the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <nanlens/config.hpp>
#include <nanlens/logdir/crc32c.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

using Bytes = std::span<const unsigned char>;

inline constexpr std::size_t record_header_bytes = 12;
inline constexpr std::size_t record_footer_bytes = 4;
inline constexpr std::size_t record_overhead = record_header_bytes + record_footer_bytes;

namespace detail {

template <class Word>
inline void store_le(unsigned char* to, Word value) noexcept {
  for (std::size_t i = 0; i < sizeof(Word); ++i) to[i] = static_cast<unsigned char>(value >> (8 * i));
}

template <class Word>
inline Word load_le(const unsigned char* from) noexcept {
  Word value = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) value |= static_cast<Word>(static_cast<Word>(from[i]) << (8 * i));
  return value;
}

}  // namespace detail

/// Writes the 12-byte header of a record whose payload has `length` bytes.
inline void write_record_header(unsigned char* header, std::uint64_t length) noexcept {
  detail::store_le(header, length);
  detail::store_le(header + 8, masked_crc32c(header, 8));
}

/// Reads the payload length from a 12-byte header. False if its checksum does not match.
inline bool read_record_header(const unsigned char* header, std::uint64_t& length) noexcept {
  length = detail::load_le<std::uint64_t>(header);
  return masked_crc32c(header, 8) == detail::load_le<std::uint32_t>(header + 8);
}

/// Bytes of the whole record that begins at `header`, which is as `write_record_header` has written it.
inline std::size_t record_bytes(const char* header) noexcept {
  unsigned char length[8];
  std::memcpy(length, header, sizeof length);
  return record_overhead + static_cast<std::size_t>(detail::load_le<std::uint64_t>(length));
}

/// True if the 4 bytes at `footer` are the payload's checksum.
inline bool payload_intact(Bytes payload, const unsigned char* footer) noexcept {
  return masked_crc32c(payload.data(), payload.size()) == detail::load_le<std::uint32_t>(footer);
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
