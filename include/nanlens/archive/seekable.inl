// Part of seekable.hpp: the seek table, and the frames it leads to.
#pragma once

#include <algorithm>
#include <cstring>

#include <zstd.h>

#include <nanlens/logdir/limits.hpp>

namespace nanlens::archive {

NANLENS_API std::unique_ptr<SeekableSource> SeekableSource::open(const std::shared_ptr<reader::ByteSource>& file,
                                                                 std::string& why) {
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
  if (count > limits::frames) {
    why = "its seek table has " + std::to_string(count) + " frames, more than are read";
    return nullptr;
  }
  auto source = std::unique_ptr<SeekableSource>(new SeekableSource(file));
  std::vector<unsigned char> table(static_cast<std::size_t>(table_bytes - seek_footer_bytes));
  if (file->read(size - table_bytes, table.data(), table.size()) < table.size()) {
    why = "its seek table can't be read";
    return nullptr;
  }
  source->add_frames(table, entry);
  std::uint64_t compressed = 0;
  for (const Frame& frame : source->frames_) {
    compressed += frame.compressed_size;
    if (frame.size > limits::frame_bytes || frame.compressed_size > ZSTD_compressBound(limits::frame_bytes))
      why = "a frame claims " + std::to_string(std::max(frame.size, frame.compressed_size)) +
            " bytes, more than is allowed";
  }
  if (compressed + table_bytes + 8 != size) why = "its seek table does not match its size";
  if (!why.empty()) return nullptr;
  return source;
}

NANLENS_API void SeekableSource::add_frames(const std::vector<unsigned char>& table, std::size_t entry_bytes) {
  std::uint64_t compressed = 0;
  for (std::size_t at = 0; at + entry_bytes <= table.size(); at += entry_bytes) {
    const unsigned char* const p = table.data() + at;
    const Frame frame{compressed, logdir::detail::load_le<std::uint32_t>(p), size_,
                      logdir::detail::load_le<std::uint32_t>(p + 4)};
    compressed += frame.compressed_size;
    size_ += frame.size;
    frames_.push_back(frame);
  }
}

NANLENS_API std::size_t SeekableSource::read(std::uint64_t offset, unsigned char* to, std::size_t count) {
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

// The last frame that begins at or before `offset`: empty ones, which hold no byte, begin where the next does.
NANLENS_API std::size_t SeekableSource::frame_at(std::uint64_t offset) const {
  const auto behind = std::upper_bound(frames_.begin(), frames_.end(), offset,
                                       [](std::uint64_t at, const Frame& frame) { return at < frame.offset; });
  return static_cast<std::size_t>(behind - frames_.begin()) - 1;
}

NANLENS_API const std::string* SeekableSource::decompressed(std::size_t index) {
  for (Cached& slot : cache_)
    if (slot.index == index) {
      slot.used = ++clock_;
      return &slot.bytes;
    }
  const Frame& frame = frames_[index];
  Cached& slot = free_slot(frame.size);
  if (!decompress(frame, index, slot.bytes)) return nullptr;
  slot.index = index;
  slot.used = ++clock_;
  return &slot.bytes;
}

// The slot that was not used for longest; further ones are emptied while all of them would hold too much.
NANLENS_API SeekableSource::Cached& SeekableSource::free_slot(std::size_t bytes) {
  const auto older = [](const Cached& a, const Cached& b) { return a.used < b.used; };
  Cached& slot = *std::min_element(cache_.begin(), cache_.end(), older);
  slot = {};
  for (;;) {
    std::size_t held = bytes;
    Cached* oldest = nullptr;
    for (Cached& other : cache_) {
      held += other.bytes.size();
      if (!other.bytes.empty() && (oldest == nullptr || other.used < oldest->used)) oldest = &other;
    }
    if (oldest == nullptr || held <= limits::frame_bytes) return slot;
    *oldest = {};
  }
}

NANLENS_API bool SeekableSource::decompress(const Frame& frame, std::size_t index, std::string& to) {
  std::vector<unsigned char> compressed(frame.compressed_size);
  if (file_->read(frame.compressed_offset, compressed.data(), compressed.size()) < compressed.size()) {
    error_ = "frame " + std::to_string(index) + " of the archive can't be read";
    return false;
  }
  to.resize(frame.size);
  const std::size_t n = ZSTD_decompress(to.data(), frame.size, compressed.data(), compressed.size());
  if (ZSTD_isError(n) == 0 && n == frame.size) return true;
  error_ = "frame " + std::to_string(index) + " of the archive is damaged: " +
           (ZSTD_isError(n) != 0 ? ZSTD_getErrorName(n) : "its size is not what the seek table says");
  to.clear();
  return false;
}

}  // namespace nanlens::archive
