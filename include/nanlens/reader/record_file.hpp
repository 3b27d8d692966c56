/// @file
/// A file with windows of it in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::reader {

/// One window for who reads on and on, a few for who reads here and there, one for what is larger than these. Where
/// there is no memory for a window, its bytes count as unreadable.
class RecordFile {
 public:
  RecordFile(std::string name, std::unique_ptr<ByteSource> source)
      : name_(std::move(name)), source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() { return source_->size(); }
  [[nodiscard]] std::string error() { return no_memory_ ? "there is not enough memory" : source_->error(); }

  /// `count` bytes at `offset`; fewer where the file ends. Valid until the next call. `ahead` is how much to read
  /// beyond.
  Bytes bytes(std::uint64_t offset, std::size_t count, std::size_t ahead = small_window) {
    if (scanned_.holds(offset, count)) return scanned_.part(offset, count);
    if (large_.holds(offset, count)) return large_.part(offset, count);
    large_ = {};
    if (count > longest_lookup) {
      fill(large_, offset, count);
      return large_.part(offset, count);
    }
    if (ahead != small_window) {
      fill(scanned_, offset, std::max(count, ahead));
      return scanned_.part(offset, count);
    }
    return looked_up(offset, count);
  }

  /// The payload of the record at `offset`; empty if it can't be read or is damaged.
  Bytes payload(std::uint64_t offset);

  static constexpr std::size_t small_window = std::size_t{64} << 10;
#if defined(__EMSCRIPTEN__)
  static constexpr std::size_t scan_window = std::size_t{4} << 20;  // a page's reads cost some milliseconds each
#else
  static constexpr std::size_t scan_window = std::size_t{1} << 20;
#endif

 private:
#if defined(__EMSCRIPTEN__)
  static constexpr std::size_t least_window = small_window;
#else
  static constexpr std::size_t least_window = std::size_t{4} << 10;
#endif
  static constexpr std::size_t longest_lookup = scan_window;

  struct Window {
    std::unique_ptr<unsigned char[]> bytes;
    std::size_t room = 0;
    std::uint64_t start = 0;
    std::size_t filled = 0;
    std::uint64_t last_use = 0;
    std::uint64_t asked = 0;  // what it was filled for
    bool shared = false;      // it has held other records that were asked for, too

    [[nodiscard]] bool holds(std::uint64_t offset, std::size_t count) const noexcept {
      return offset >= start && offset + count <= start + filled;
    }
    [[nodiscard]] Bytes part(std::uint64_t offset, std::size_t count) const noexcept {
      if (offset < start || offset >= start + filled) return {};
      const auto from = static_cast<std::size_t>(offset - start);
      return {bytes.get() + from, std::min(count, filled - from)};
    }
  };

  // Who reads single records goes back as often as on: the window begins somewhat before. Who goes on where a window
  // ends gets a longer one in its place; several may do so in turn.
  Bytes looked_up(std::uint64_t offset, std::size_t count);

  // How much to read where nobody has read. Records that lie all over the file, as they do in an order by time that is
  // not the file's, are alone in their windows: then less is read.
  std::size_t first_window(const Window& replaced);

  // A window is never larger than what the file has left: many small files take little.
  void fill(Window& window, std::uint64_t offset, std::size_t count);

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  Window scanned_;
  Window large_;
  std::array<Window, 4> looked_up_;
  std::uint64_t uses_ = 0;
  std::size_t first_window_ = small_window;
  bool no_memory_ = false;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/record_file.inl>
#endif
