/// @file
/// A logdir as one file, `run.nanlens`: a tar, compressed as independent zstd frames with a seek table at the end, so
/// that `tar --zstd -x` reads it too while the reader decompresses only the frames it needs. Plain .tar and .tar.zst
/// open as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::archive {

/// The most that an archive without a seek table may hold: it is unpacked in memory.
inline constexpr std::uint64_t default_memory_limit = std::uint64_t{1} << 30;

namespace detail {

// A part of another source.
class PartSource final : public reader::ByteSource {
 public:
  PartSource(std::shared_ptr<reader::ByteSource> whole, const TarEntry& entry)
      : whole_(std::move(whole)), offset_(entry.offset), size_(entry.size) {}
  std::uint64_t size() override { return size_; }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    if (offset >= size_) return 0;
    return whole_->read(offset_ + offset, to, static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - offset)));
  }
  std::string error() override { return whole_->error(); }

 private:
  std::shared_ptr<reader::ByteSource> whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

class TarStorage final : public reader::Storage {
 public:
  TarStorage(std::shared_ptr<reader::ByteSource> tar, std::vector<TarEntry> entries)
      : tar_(std::move(tar)), entries_(std::move(entries)) {}
  std::vector<std::string> list() override {
    std::vector<std::string> names;
    for (const TarEntry& e : entries_) names.push_back(e.name);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    for (const TarEntry& e : entries_)
      if (e.name == name) return std::make_unique<PartSource>(tar_, e);
    why = "the archive has no such file";
    return nullptr;
  }

 private:
  std::shared_ptr<reader::ByteSource> tar_;
  std::vector<TarEntry> entries_;
};

}  // namespace detail

/// Opens an archive: with a seek table, of any size; .tar of any size; .tar.zst without a table up to `memory_limit`
/// bytes, unpacked in memory. Null, with `why`, if it is none of these, damaged or hostile.
inline std::unique_ptr<reader::Storage> open(std::unique_ptr<reader::ByteSource> file, std::string& why,
                                             std::uint64_t memory_limit = default_memory_limit) {
  std::shared_ptr<reader::ByteSource> source = std::move(file);
  if (why = source->error(); !why.empty()) return nullptr;
  unsigned char magic[4] = {};
  source->read(0, magic, sizeof magic);
  if (logdir::detail::load_le<std::uint32_t>(magic) == ZSTD_MAGICNUMBER) {
    std::shared_ptr<reader::ByteSource> tar = SeekableSource::open(source, why);
    if (!why.empty()) return nullptr;
    if (tar == nullptr) {
      std::string bytes;
      if (!decompress_all(*source, memory_limit, bytes, why)) return nullptr;
      tar = std::make_shared<reader::MemorySource>(std::move(bytes));
    }
    source = std::move(tar);
  }
  std::vector<TarEntry> entries;
  if (!read_tar(*source, entries, why)) return nullptr;
  if (entries.empty()) {
    why = "it holds no file (archives are .nanlens, .tar.zst and .tar)";
    return nullptr;
  }
  return std::make_unique<detail::TarStorage>(std::move(source), std::move(entries));
}

/// Takes the bytes of an archive as they are made. False: they could not be written, and packing stops.
using Sink = std::function<bool(const char* bytes, std::size_t count)>;

namespace detail {

// Compresses what it is given into frames of at most frame_bytes; `end_file` closes the frame, so that files share
// none.
class FrameWriter {
 public:
  explicit FrameWriter(const Sink& sink) : sink_(sink), context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    constexpr int level = 3;
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }
  bool write(const char* bytes, std::size_t count) {
    while (count > 0) {
      const std::size_t n = std::min(count, frame_bytes - pending_.size());
      pending_.append(bytes, n);
      bytes += n;
      count -= n;
      if (pending_.size() == frame_bytes && !end_frame()) return false;
    }
    return true;
  }
  bool end_frame() {
    if (pending_.empty()) return true;
    std::string compressed(ZSTD_compressBound(pending_.size()), '\0');
    const std::size_t n =
        ZSTD_compress2(context_.get(), compressed.data(), compressed.size(), pending_.data(), pending_.size());
    if (ZSTD_isError(n) != 0) return false;
    table_.add(n, pending_.size());
    pending_.clear();
    return sink_(compressed.data(), n);
  }
  bool finish() {
    if (!end_frame()) return false;
    const std::string table = table_.bytes();
    return sink_(table.data(), table.size());
  }

 private:
  const Sink& sink_;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  SeekTable table_;
  std::string pending_;
};

}  // namespace detail

/// Writes files of a storage as an archive. False, with `why`, if one can't be read or the sink gives up.
inline bool pack(reader::Storage& storage, const std::vector<std::string>& names, std::int64_t mtime, const Sink& sink,
                 std::string& why) {
  detail::FrameWriter out(sink);
  std::vector<char> buffer(std::size_t{1} << 20);
  const auto fail = [&](const std::string& message) {
    why = message;
    return false;
  };
  for (const std::string& name : names) {
    const auto file = storage.open(name, why);
    if (file == nullptr) return fail("'" + name + "' can't be read: " + why);
    const std::uint64_t size = file->size();
    const std::string header = tar_header(name, size, mtime);
    if (header.empty()) return fail("the name '" + name + "' is too long for a tar archive");
    bool written = out.write(header.data(), header.size());
    for (std::uint64_t at = 0; written && at < size;) {
      const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at));
      const std::size_t n = file->read(at, reinterpret_cast<unsigned char*>(buffer.data()), want);
      if (n == 0) return fail("'" + name + "' can't be read: " + file->error());
      written = out.write(buffer.data(), n);
      at += n;
    }
    const std::string padding(static_cast<std::size_t>(tar_padded(size) - size), '\0');
    if (!written || !out.write(padding.data(), padding.size()) || !out.end_frame()) return fail("writing failed");
  }
  const std::string end_mark(2 * tar_block, '\0');
  if (!out.write(end_mark.data(), end_mark.size()) || !out.finish()) return fail("writing failed");
  return true;
}

}  // namespace nanlens::archive
