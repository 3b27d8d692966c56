/// @file
/// Reading a TFRecord file from front to back, past whatever is damaged, and going on where it ended when it has grown.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::reader {

/// A file with windows of it in memory: one for who reads on and on, a few for who reads here and there.
class RecordFile {
 public:
  RecordFile(std::string name, std::unique_ptr<ByteSource> source)
      : name_(std::move(name)), source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() { return source_->size(); }
  [[nodiscard]] std::string error() { return source_->error(); }

  /// `count` bytes at `offset`; fewer where the file ends. Valid until the next call. `ahead` is how much to read
  /// beyond.
  Bytes bytes(std::uint64_t offset, std::size_t count, std::size_t ahead = small_window) {
    if (scanned_.holds(offset, count)) return scanned_.part(offset, count);
    if (ahead != small_window) {
      fill(scanned_, offset, std::max(count, ahead));
      return scanned_.part(offset, count);
    }
    for (Window& w : looked_up_)
      if (w.holds(offset, count)) {
        w.last_use = ++uses_;
        return w.part(offset, count);
      }
    // Who reads single records goes back as often as on: the window begins somewhat before. Who goes on where a window
    // ends gets a longer one in its place; several may do so in turn.
    const std::uint64_t begin = offset / back_step * back_step;
    const auto goes_on = [&](const Window& w) {
      return w.filled != 0 && offset >= w.start && offset <= w.start + w.filled + small_window;
    };
    auto window = std::find_if(looked_up_.begin(), looked_up_.end(), goes_on);
    std::size_t wanted = small_window;
    if (window != looked_up_.end())
      wanted = std::min(2 * window->filled, longest_lookup);
    else
      window = std::min_element(looked_up_.begin(), looked_up_.end(),
                                [](const Window& a, const Window& b) { return a.last_use < b.last_use; });
    window->last_use = ++uses_;
    fill(*window, begin, std::max(static_cast<std::size_t>(offset - begin) + count, wanted));
    return window->part(offset, count);
  }

  /// The payload of the record at `offset`; empty if it can't be read or is damaged.
  Bytes payload(std::uint64_t offset) {
    const Bytes header = bytes(offset, logdir::record_header_bytes);
    std::uint64_t length = 0;
    if (header.size() < logdir::record_header_bytes || !logdir::read_record_header(header.data(), length)) return {};
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
  static constexpr std::uint64_t back_step = small_window / 2;
  static constexpr std::size_t longest_lookup = scan_window;

  struct Window {
    std::vector<unsigned char> bytes;
    std::uint64_t start = 0;
    std::size_t filled = 0;
    std::uint64_t last_use = 0;

    [[nodiscard]] bool holds(std::uint64_t offset, std::size_t count) const noexcept {
      return offset >= start && offset + count <= start + filled;
    }
    [[nodiscard]] Bytes part(std::uint64_t offset, std::size_t count) const noexcept {
      if (offset < start || offset >= start + filled) return {};
      const auto from = static_cast<std::size_t>(offset - start);
      return {bytes.data() + from, std::min(count, filled - from)};
    }
  };

  void fill(Window& window, std::uint64_t offset, std::size_t count) {
    if (window.bytes.size() < count) window.bytes.resize(count);
    if (window.bytes.size() > 4 * scan_window && count <= scan_window) {  // a huge record has gone by
      window.bytes.resize(scan_window);
      window.bytes.shrink_to_fit();
    }
    window.start = offset;
    window.filled = source_->read(offset, window.bytes.data(), count);
  }

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  Window scanned_;
  std::array<Window, 4> looked_up_;
  std::uint64_t uses_ = 0;
};

/// What a scan saw besides intact records.
struct ScanFault {
  std::uint64_t offset;
  std::string message;
};

/// Walks over the records of a file. Keeps its place between calls, so that a growing file is read on from where it
/// ended.
class RecordScanner {
 public:
  /// Visits every record that starts before `end` and is complete: `record(offset, payload)` for intact ones,
  /// `gap(fault)` for each damaged one that was passed over. An incomplete record at the end is left for the next call.
  /// `go_on(position)` is asked now and then; false stops the scan, which can be taken up again.
  template <class OnRecord, class OnGap, class GoOn>
  void scan(RecordFile& file, std::uint64_t end, OnRecord&& record, OnGap&& gap, GoOn&& go_on) {
    constexpr std::uint64_t ask_every = std::uint64_t{1} << 20;
    std::uint64_t asked = position_;
    tail_fault_.clear();
    while (position_ < end) {
      if (position_ - asked >= ask_every) {
        asked = position_;
        if (!go_on(position_)) return;
      }
      const std::uint64_t left = end - position_;
      if (left < logdir::record_header_bytes) return torn(left);
      const Bytes header = file.bytes(position_, logdir::record_header_bytes, RecordFile::scan_window);
      if (header.size() < logdir::record_header_bytes) return unreadable(file);
      std::uint64_t length = 0;
      if (!logdir::read_record_header(header.data(), length)) {
        if (!resynchronise(file, end, gap)) return;
        continue;
      }
      if (length > left || left - length < logdir::record_overhead) return torn(left);
      const auto n = static_cast<std::size_t>(length);
      const Bytes bytes = file.bytes(position_, n + logdir::record_overhead, RecordFile::scan_window);
      if (bytes.size() < n + logdir::record_overhead) return unreadable(file);
      const Bytes payload = bytes.subspan(logdir::record_header_bytes, n);
      if (logdir::payload_intact(payload, payload.data() + n))
        record(position_, payload);
      else
        gap(ScanFault{position_, "the checksum of the record's payload does not match: the record is skipped"});
      position_ += n + logdir::record_overhead;
    }
  }

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// What is wrong at the end of the file as it is now; empty if it ends with a complete record. May mend when the file
  /// grows.
  [[nodiscard]] const std::string& tail_fault() const noexcept { return tail_fault_; }

 private:
  void torn(std::uint64_t left) {
    tail_fault_ = "the file ends within a record (" + std::to_string(left) + " bytes of it are there)";
  }
  void unreadable(RecordFile& file) {
    const std::string why = file.error();
    tail_fault_ = "the file can't be read from here on" + (why.empty() ? std::string(": it has shrunk") : ": " + why);
  }

  // Looks for the next offset at which an intact record starts. One record is taken as lost.
  template <class OnGap>
  bool resynchronise(RecordFile& file, std::uint64_t end, OnGap&& gap) {
    std::uint64_t at = std::max(position_ + 1, searched_);
    for (; at + logdir::record_overhead <= end; ++at) {
      const Bytes header = file.bytes(at, logdir::record_header_bytes, RecordFile::scan_window);
      if (header.size() < logdir::record_header_bytes) break;
      std::uint64_t length = 0;
      if (!logdir::read_record_header(header.data(), length)) continue;
      if (length > end - at || end - at - length < logdir::record_overhead) continue;
      if (file.payload(at).empty() && length != 0) continue;
      gap(ScanFault{position_, "the header of the record is damaged: " + std::to_string(at - position_) +
                                   " bytes are skipped up to the next intact record"});
      position_ = at;
      searched_ = 0;
      return true;
    }
    searched_ = at;
    tail_fault_ = "the header of the record is damaged, and no intact record follows in the remaining " +
                  std::to_string(end - position_) + " bytes";
    return false;
  }

  std::uint64_t position_ = 0;
  std::uint64_t searched_ = 0;  // no record starts between position_ and here
  std::string tail_fault_;
};

}  // namespace nanlens::reader
