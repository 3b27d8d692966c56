// Part of record_file.hpp.
#pragma once

#include <new>

namespace nanlens::reader {

NANLENS_API Bytes RecordFile::payload(std::uint64_t offset) {
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

NANLENS_API Bytes RecordFile::looked_up(std::uint64_t offset, std::size_t count) {
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

NANLENS_API std::size_t RecordFile::first_window(const Window& replaced) {
  if (replaced.filled != 0)
    first_window_ =
        replaced.shared ? std::min(2 * first_window_, small_window) : std::max(first_window_ / 2, least_window);
  return first_window_;
}

NANLENS_API void RecordFile::fill(Window& window, std::uint64_t offset, std::size_t count) {
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

}  // namespace nanlens::reader
