/// @file
/// The tar format (POSIX ustar, with pax and GNU long names when reading), as far as an archive of a logdir needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::archive {

inline constexpr std::uint64_t tar_block = 512;

/// A regular file inside a tar.
struct TarEntry {
  std::string name;
  std::uint64_t offset = 0;  ///< of its first byte
  std::uint64_t size = 0;
};

/// Bytes that an entry's content takes, padded to whole blocks.
constexpr std::uint64_t tar_padded(std::uint64_t size) noexcept {
  return (size + tar_block - 1) / tar_block * tar_block;
}

/// True for names that stay inside the directory they are unpacked into: relative, no "..", no empty component.
bool is_safe_name(std::string_view name) noexcept;

/// The header block of a regular file. Empty if the name is too long for the format (255 bytes).
std::string tar_header(const std::string& name, std::uint64_t size, std::int64_t mtime);

/// True if these 512 bytes are a header with a right checksum.
bool is_tar_header(const unsigned char* block) noexcept;

/// Reads the list of regular files. False, with `why`, for anything that is not a sound archive: a bad checksum, a size
/// beyond the end, a name that would leave the directory it is unpacked into, too many files; `entries` then holds
/// those before, and the one that is cut off by the end as far as it goes.
bool read_tar(reader::ByteSource& tar, std::vector<TarEntry>& entries, std::string& why);

}  // namespace nanlens::archive

#if !defined(NANLENS_SPLIT)
#include <nanlens/archive/tar.inl>
#endif
