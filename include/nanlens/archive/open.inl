// Part of archive.hpp: how an archive is opened.
#pragma once

#include <utility>

#include <zstd.h>

#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar_storage.hpp>
#include <nanlens/archive/unpacked_storage.hpp>
#include <nanlens/reader/memory_guard.hpp>

namespace nanlens::archive {

namespace detail {

inline std::unique_ptr<reader::Storage> open_any(std::shared_ptr<reader::ByteSource> source, std::string& why,
                                                 std::uint64_t memory_limit) {
  if (why = source->error(); !why.empty()) return nullptr;
  unsigned char magic[4] = {};
  source->read(0, magic, sizeof magic);
  if (logdir::detail::load_le<std::uint32_t>(magic) == ZSTD_MAGICNUMBER) {
    std::shared_ptr<reader::ByteSource> tar = SeekableSource::open(source, why);
    if (!why.empty()) return nullptr;
    if (tar == nullptr) {
      auto unpacked = std::make_unique<UnpackedStorage>(std::move(source), memory_limit);
      if (!unpacked->begins_a_tar(why)) return nullptr;
      return unpacked;
    }
    source = std::move(tar);
  }
  std::vector<TarEntry> entries;
  if (!read_tar(*source, entries, why)) return nullptr;
  if (entries.empty()) {
    why = "it holds no file (archives are .nanlens, .tar.zst and .tar)";
    return nullptr;
  }
  return std::make_unique<TarStorage>(std::move(source), std::move(entries));
}

}  // namespace detail

NANLENS_API std::unique_ptr<reader::Storage> open(std::unique_ptr<reader::ByteSource> file, std::string& why,
                                                  std::uint64_t memory_limit) {
  std::unique_ptr<reader::Storage> storage;
  if (!reader::with_memory([&] { storage = detail::open_any(std::move(file), why, memory_limit); }))
    why = "there is not enough memory";
  return storage;
}

}  // namespace nanlens::archive
