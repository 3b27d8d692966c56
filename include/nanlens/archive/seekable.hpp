/// @file
/// zstd with random access: independent frames, and a seek table in a skippable frame at the end.
///
/// The table follows zstd's "seekable format": per frame its compressed and decompressed size (32 bits each), then the
/// number of frames, a descriptor byte and a magic number. `zstd -d` skips it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zstd.h>

#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::archive {

inline constexpr std::uint32_t skippable_magic = 0x184d2a5e;
inline constexpr std::uint32_t seekable_magic = 0x8f92eab1;
inline constexpr std::size_t seek_footer_bytes = 9;
inline constexpr std::size_t seek_entry_bytes = 8;
/// Decompressed bytes per frame that the writer makes; and the most that the reader takes, so that a lying table can't
/// claim all memory.
inline constexpr std::size_t frame_bytes = std::size_t{4} << 20;
inline constexpr std::size_t max_frame_bytes = std::size_t{64} << 20;

/// Collects frames and writes the table.
class SeekTable {
 public:
  void add(std::size_t compressed, std::size_t decompressed) {
    put(static_cast<std::uint32_t>(compressed));
    put(static_cast<std::uint32_t>(decompressed));
    ++frames_;
  }
  /// The skippable frame that goes to the end of the file.
  [[nodiscard]] std::string bytes() const {
    SeekTable table;
    table.put(skippable_magic);
    table.put(static_cast<std::uint32_t>(entries_.size() + seek_footer_bytes));
    table.entries_ += entries_;
    table.put(frames_);
    table.entries_ += '\0';  // descriptor: no checksums, zstd frames carry their own
    table.put(seekable_magic);
    return table.entries_;
  }

 private:
  void put(std::uint32_t value) {
    unsigned char bytes[4];
    logdir::detail::store_le(bytes, value);
    entries_.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
  }
  std::string entries_;
  std::uint32_t frames_ = 0;
};

/// The decompressed bytes of a file of frames with a seek table; only frames that are asked for are decompressed, and a
/// few of them are kept.
class SeekableSource final : public reader::ByteSource {
 public:
  /// Reads the table. Null, with `why` empty, if the file has none; with `why` if it has one that is not sound.
  static std::unique_ptr<SeekableSource> open(const std::shared_ptr<reader::ByteSource>& file, std::string& why) {
    const std::uint64_t size = file->size();
    unsigned char footer[seek_footer_bytes];
    if (size < seek_footer_bytes + 8 || file->read(size - sizeof footer, footer, sizeof footer) < sizeof footer ||
        logdir::detail::load_le<std::uint32_t>(footer + 5) != seekable_magic)
      return nullptr;
    const auto count = logdir::detail::load_le<std::uint32_t>(footer);
    const std::size_t entry = seek_entry_bytes + ((footer[4] & 0x80) != 0 ? 4 : 0);
    const std::uint64_t table_bytes = std::uint64_t{count} * entry + seek_footer_bytes;
    if (table_bytes + 8 > size) {
      why = "its seek table is longer than the file";
      return nullptr;
    }
    auto source = std::unique_ptr<SeekableSource>(new SeekableSource(file));
    std::vector<unsigned char> table(static_cast<std::size_t>(table_bytes));
    if (file->read(size - table_bytes, table.data(), table.size()) < table.size()) {
      why = "its seek table can't be read";
      return nullptr;
    }
    std::uint64_t compressed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned char* const p = table.data() + i * entry;
      Frame frame{compressed, logdir::detail::load_le<std::uint32_t>(p), source->size_,
                  logdir::detail::load_le<std::uint32_t>(p + 4)};
      compressed += frame.compressed_size;
      source->size_ += frame.size;
      if (frame.size > max_frame_bytes)
        why = "a frame claims " + std::to_string(frame.size) + " bytes, more than is allowed";
      source->frames_.push_back(frame);
    }
    if (compressed + table_bytes + 8 != size) why = "its seek table does not match its size";
    if (!why.empty()) return nullptr;
    return source;
  }

  std::uint64_t size() override { return size_; }
  std::string error() override { return error_; }

  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    std::size_t done = 0;
    while (done < count && offset + done < size_) {
      const std::size_t index = frame_at(offset + done);
      const std::string* const content = decompressed(index);
      if (content == nullptr) break;
      const auto skip = static_cast<std::size_t>(offset + done - frames_[index].offset);
      const std::size_t n = std::min(count - done, content->size() - skip);
      std::memcpy(to + done, content->data() + skip, n);
      done += n;
    }
    return done;
  }

 private:
  struct Frame {
    std::uint64_t compressed_offset;
    std::uint32_t compressed_size;
    std::uint64_t offset;
    std::uint32_t size;
  };
  struct Cached {
    std::size_t index = static_cast<std::size_t>(-1);
    std::uint64_t used = 0;
    std::string bytes;
  };

  explicit SeekableSource(std::shared_ptr<reader::ByteSource> file) : file_(std::move(file)) {}

  [[nodiscard]] std::size_t frame_at(std::uint64_t offset) const {
    std::size_t low = 0;
    std::size_t high = frames_.size();
    while (high - low > 1) {
      const std::size_t mid = (low + high) / 2;
      if (frames_[mid].offset <= offset)
        low = mid;
      else
        high = mid;
    }
    while (frames_[low].size == 0) ++low;  // empty frames hold no byte
    return low;
  }

  const std::string* decompressed(std::size_t index) {
    Cached* oldest = &cache_[0];
    for (Cached& slot : cache_) {
      if (slot.index == index) {
        slot.used = ++clock_;
        return &slot.bytes;
      }
      if (slot.used < oldest->used) oldest = &slot;
    }
    const Frame& frame = frames_[index];
    std::vector<unsigned char> compressed(frame.compressed_size);
    oldest->index = static_cast<std::size_t>(-1);
    oldest->bytes.resize(frame.size);
    if (file_->read(frame.compressed_offset, compressed.data(), compressed.size()) < compressed.size()) {
      error_ = "frame " + std::to_string(index) + " of the archive can't be read";
      return nullptr;
    }
    const std::size_t n = ZSTD_decompress(oldest->bytes.data(), frame.size, compressed.data(), compressed.size());
    if (ZSTD_isError(n) != 0 || n != frame.size) {
      error_ = "frame " + std::to_string(index) + " of the archive is damaged: " +
               (ZSTD_isError(n) != 0 ? ZSTD_getErrorName(n) : "its size is not what the seek table says");
      return nullptr;
    }
    oldest->index = index;
    oldest->used = ++clock_;
    return &oldest->bytes;
  }

  std::shared_ptr<reader::ByteSource> file_;
  std::vector<Frame> frames_;
  std::uint64_t size_ = 0;
  std::array<Cached, 8> cache_;
  std::uint64_t clock_ = 0;
  std::string error_;
};

/// Decompresses a whole zstd file into memory. False, with `why`, if it is damaged or holds more than `limit` bytes.
inline bool decompress_all(reader::ByteSource& file, std::uint64_t limit, std::string& out, std::string& why) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::vector<unsigned char> in(ZSTD_DStreamInSize());
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  std::uint64_t offset = 0;
  std::size_t state = 0;
  while (const std::size_t n = file.read(offset, in.data(), in.size())) {
    offset += n;
    ZSTD_inBuffer input{in.data(), n, 0};
    while (input.pos < input.size) {
      ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
      state = ZSTD_decompressStream(context.get(), &output, &input);
      if (ZSTD_isError(state) != 0) {
        why = std::string("it is damaged: ") + ZSTD_getErrorName(state);
        return false;
      }
      if (out.size() + output.pos > limit) {
        why = "it holds more than " + std::to_string(limit >> 20) +
              " MiB and has no seek table: unpack it and make an archive with 'nanlens pack', which opens at any size";
        return false;
      }
      out.append(chunk.data(), output.pos);
    }
  }
  if (state != 0) why = "it is cut off";
  return state == 0;
}

}  // namespace nanlens::archive
