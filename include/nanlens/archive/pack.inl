// Part of archive.hpp: how an archive is written.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <zstd.h>

#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar.hpp>

namespace nanlens::archive {

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

NANLENS_API bool pack(reader::Storage& storage, const std::vector<std::string>& names, std::int64_t mtime,
                      const Sink& sink, std::string& why) {
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
