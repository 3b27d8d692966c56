/// @file
/// A file with windows of it in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
  Bytes payload(std::uint64_t offset) {
    const Bytes header = bytes(offset, logdir::record_header_bytes);
    std::uint64_t length = 0;
    if (header.size() < logdir::record_header_bytes || !logdir::read_record_header(header.data(), length)) return {};
    if (length > limits::record_bytes) return {};
    if (length > small_window && length > size()) return {};  // asking for the size is a system call
    const auto n = static_cast<std::size_t>(length);
    const Bytes record = bytes(offset, n + logdir::record_overhead);
    if (record.size() < n + logdir::record_overhead) return {};
    const Bytes content = record.subspan(logdir::record_header_bytes, n);
    return logdir::payload_intact(content, content.data() + n) ? content : Bytes{};
  }

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
  Bytes looked_up(std::uint64_t offset, std::size_t count) {
    for (Window& w : looked_up_)
      if (w.holds(offset, count)) {
        w.last_use = ++uses_;
        w.shared = w.shared || offset != w.asked;
        return w.part(offset, count);
      }
    const auto goes_on = [&](const Window& w) {
      return w.filled != 0 && offset >= w.start && offset <= w.start + 2 * w.filled;
    };
    auto window = std::find_if(looked_up_.begin(), looked_up_.end(), goes_on);
    std::size_t wanted = 0;
    if (window != looked_up_.end()) {
      wanted = std::clamp(2 * window->filled, least_window, longest_lookup);
    } else {
      window = std::min_element(looked_up_.begin(), looked_up_.end(),
                                [](const Window& a, const Window& b) { return a.last_use < b.last_use; });
      wanted = first_window(*window);
    }
    const std::uint64_t step = std::min(wanted, small_window) / 2;
    const std::uint64_t begin = offset / step * step;
    window->last_use = ++uses_;
    window->asked = offset;
    window->shared = false;
    fill(*window, begin, std::max(static_cast<std::size_t>(offset - begin) + count, wanted));
    return window->part(offset, count);
  }

  // How much to read where nobody has read. Records that lie all over the file, as they do in an order by time that is
  // not the file's, are alone in their windows: then less is read.
  std::size_t first_window(const Window& replaced) {
    if (replaced.filled != 0)
      first_window_ =
          replaced.shared ? std::min(2 * first_window_, small_window) : std::max(first_window_ / 2, least_window);
    return first_window_;
  }

  // A window is never larger than what the file has left: many small files take little.
  void fill(Window& window, std::uint64_t offset, std::size_t count) {
    const std::uint64_t size = source_->size();
    window.start = offset;
    window.filled = 0;
    if (offset >= size) return;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size - offset));
    if (window.room < count) {
      window.bytes.reset();
      window.bytes.reset(new (std::nothrow) unsigned char[count]);
      window.room = window.bytes == nullptr ? 0 : count;
      no_memory_ = window.bytes == nullptr;
      if (no_memory_) return;
    }
    window.filled = source_->read(offset, window.bytes.get(), count);
  }

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
