/// @file
/// zstd with random access: independent frames, and a seek table in a skippable frame at the end.
///
/// The table follows zstd's "seekable format": per frame its compressed and decompressed size (32 bits each), then the
/// number of frames, a descriptor byte and a magic number. `zstd -d` skips it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::archive {

inline constexpr std::uint32_t skippable_magic = 0x184d2a5e;
inline constexpr std::uint32_t seekable_magic = 0x8f92eab1;
inline constexpr std::size_t seek_footer_bytes = 9;
inline constexpr std::size_t seek_entry_bytes = 8;
/// Decompressed bytes per frame that the writer makes; what the reader takes is in limits.hpp.
inline constexpr std::size_t frame_bytes = std::size_t{4} << 20;

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
  static std::unique_ptr<SeekableSource> open(const std::shared_ptr<reader::ByteSource>& file, std::string& why);

  std::uint64_t size() override { return size_; }
  std::string error() override { return error_; }

  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override;

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

  void add_frames(const std::vector<unsigned char>& table, std::size_t entry_bytes);
  [[nodiscard]] std::size_t frame_at(std::uint64_t offset) const;
  const std::string* decompressed(std::size_t index);
  bool decompress(const Frame& frame, std::size_t index, std::string& to);
  Cached& free_slot(std::size_t bytes);

  std::shared_ptr<reader::ByteSource> file_;
  std::vector<Frame> frames_;
  std::uint64_t size_ = 0;
  std::array<Cached, 8> cache_;
  std::uint64_t clock_ = 0;
  std::string error_;
};

}  // namespace nanlens::archive

#if !defined(NANLENS_SPLIT)
#include <nanlens/archive/seekable.inl>
#endif
