/// @file
/// The compact index: fixed columns, a few bytes per event, in chunks that never move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nanlens/logdir/recorded_health.hpp>

namespace nanlens::reader {

/// An append-only array in chunks: growing it copies nothing, leaves references valid, and wastes less than one chunk.
template <class T, std::size_t chunk_size = 16384>
class Column {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return (*chunks_[i / chunk_size])[i % chunk_size]; }
  const T& operator[](std::size_t i) const noexcept { return (*chunks_[i / chunk_size])[i % chunk_size]; }
  void push_back(const T& value) {
    if (size_ % chunk_size == 0) chunks_.push_back(std::make_unique<Chunk>());
    (*chunks_.back())[size_ % chunk_size] = value;
    ++size_;
  }
  /// Appends elements that hold nothing yet, up to so many in all.
  void grow_to(std::size_t size) {
    for (; size_ < size; ++size_)
      if (size_ % chunk_size == 0) chunks_.push_back(std::make_unique<Chunk>());
  }
  void clear() noexcept {
    chunks_.clear();
    size_ = 0;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return chunks_.size() * (sizeof(Chunk) + sizeof(void*)); }

 private:
  using Chunk = std::array<T, chunk_size>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t size_ = 0;
};

/// Where a record lies: byte offset (40 bits: 1 TiB per file) and the number of the file set (8 bits), in six bytes.
class Locator {
 public:
  static constexpr std::uint64_t max_offset = (std::uint64_t{1} << 40) - 1;
  static constexpr std::size_t max_sets = 256;

  Locator() noexcept = default;
  Locator(std::size_t set, std::uint64_t offset) noexcept {
    for (int i = 0; i < 5; ++i) bytes_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(offset >> (8 * i));
    bytes_[5] = static_cast<std::uint8_t>(set);
  }
  [[nodiscard]] std::uint64_t offset() const noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 5; ++i) value |= std::uint64_t{bytes_[i]} << (8 * i);
    return value;
  }
  [[nodiscard]] std::size_t set() const noexcept { return bytes_[5]; }

 private:
  std::array<std::uint8_t, 6> bytes_{};
};

using logdir::bad_flags;
using logdir::empty_flag;
using logdir::function_flag;
using logdir::has_summary_flag;
using logdir::nan_flag;
using logdir::neg_inf_flag;
using logdir::negative_flag;
using logdir::pos_inf_flag;
using logdir::positive_flag;
using logdir::zero_flag;

}  // namespace nanlens::reader
