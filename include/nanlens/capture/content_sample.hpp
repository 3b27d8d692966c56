/// @file
/// A few words of a tensor's content: does its memory still hold what was recorded?
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>
#endif

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// Copies a few bytes of memory that only a device reads; false if they can't be had.
using ReadFar = bool (*)(std::uintptr_t at, void* to, std::size_t bytes) noexcept;

/// Who does that; null: nobody.
inline std::atomic<ReadFar> read_far{nullptr};

/// Up to four words, spread over the whole tensor from its first to its last byte; of small tensors, all there are. Of
/// a tensor with gaps only its two outermost elements: what lies between may be somebody else's.
class ContentSample {
 public:
  /// Of nothing: it never differs.
  ContentSample() noexcept = default;
  /// Reads the memory of a tensor.
  NANLENS_INLINE explicit ContentSample(const TensorKey& key) noexcept {
    if (is_spread(key) && key.far == 0) {
      count_ = most;
      const std::size_t step = step_of(key);
      for (std::size_t i = 0; i + 1 < most; ++i) words_[i] = read_word(key.begin + i * step);
      words_[most - 1] = read_word(key.end - word_bytes);
      return;
    }
    count_ = count_of(key);
    for (std::size_t i = 0; i < count_; ++i)
      if (!read(key, place_of(key, i), words_[i])) *this = ContentSample();
  }

  /// Calls visit(address, bytes) for each word that a sample of the tensor is made of.
  template <class Visit>
  static void each_place(const TensorKey& key, const Visit& visit) {
    for (std::size_t i = 0; i < count_of(key); ++i) {
      const Place place = place_of(key, i);
      visit(place.at, place.bytes);
    }
  }

  /// Does the tensor still hold what it did? `key` is that of the tensor that the sample was taken of.
  [[nodiscard]] NANLENS_INLINE bool holds(const TensorKey& key) const noexcept {
    return count_ == 0 || *this == ContentSample(key);
  }
  /// The same of the words within [begin, end) alone; `checked` grows by their number.
  [[nodiscard]] bool holds(const TensorKey& key, std::uintptr_t begin, std::uintptr_t end,
                           std::size_t& checked) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      const Place place = place_of(key, i);
      if (place.at < begin || place.at + place.bytes > end) continue;
      ++checked;
      if (std::uint64_t now = 0; !read(key, place, now) || words_[i] != now) return false;
    }
    return true;
  }

  /// The same of memory that may be gone: it is asked of the system. What lies in [begin, end) of a word counts, too;
  /// false where nothing does, or where the system can't tell.
  [[nodiscard]] bool holds_if_mapped(const TensorKey& key, std::uintptr_t begin, std::uintptr_t end) const noexcept {
    std::size_t checked = 0;
    if (key.far != 0) return holds(key, begin, end, checked) && checked > 0;
#if defined(__linux__)
    std::array<std::uint64_t, most> was{};
    std::array<std::uint64_t, most> now{};
    std::array<iovec, most> to{};
    std::array<iovec, most> from{};
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Place place = place_of(key, i);
      const std::uintptr_t from_here = std::max(place.at, begin);
      const std::uintptr_t to_here = std::min(place.at + place.bytes, end);
      if (from_here >= to_here) continue;
      const std::size_t here = to_here - from_here;
      std::memcpy(&was[checked], reinterpret_cast<const char*>(&words_[i]) + (from_here - place.at), here);
      to[checked] = {&now[checked], here};
      from[checked++] = {reinterpret_cast<void*>(from_here), here};
      bytes += here;
    }
    const ssize_t read = ::process_vm_readv(::getpid(), to.data(), checked, from.data(), checked, 0);
    return checked > 0 && read == static_cast<ssize_t>(bytes) && now == was;
#else
    return false;
#endif
  }

  /// Not all the same number: a content that another tensor hardly has by chance.
  [[nodiscard]] bool varied(const TensorKey& key) const noexcept {
    const std::size_t bits = std::size_t{8} * key.element_bytes;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::size_t bytes = place_of(key, i).bytes;
      const std::uint64_t mask = bytes == word_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
      if (words_[i] != (words_[0] & mask)) return true;
      if (bytes == word_bytes && bits < 64 && (words_[i] << bits | words_[i] >> (64 - bits)) != words_[i]) return true;
    }
    return false;
  }

  friend bool operator==(const ContentSample&, const ContentSample&) noexcept = default;

 private:
  static constexpr std::size_t most = 4;
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  struct Place {
    std::uintptr_t at;
    std::size_t bytes;
  };

  static bool is_spread(const TensorKey& key) noexcept { return key.dense && key.bytes() >= most * word_bytes; }
  static std::size_t step_of(const TensorKey& key) noexcept {
    return (key.bytes() - word_bytes) / (most - 1) / word_bytes * word_bytes;
  }
  static std::size_t count_of(const TensorKey& key) noexcept {
    if (key.empty()) return 0;
    if (!key.dense) return 2;
    return is_spread(key) ? most : (key.bytes() + word_bytes - 1) / word_bytes;
  }
  static Place place_of(const TensorKey& key, std::size_t i) noexcept {
    if (!key.dense) {
      const std::size_t bytes = key.element_bytes < word_bytes ? key.element_bytes : word_bytes;
      return {i == 0 ? key.begin : key.end - bytes, bytes};
    }
    if (is_spread(key)) return {i + 1 == most ? key.end - word_bytes : key.begin + i * step_of(key), word_bytes};
    const std::size_t left = key.bytes() - i * word_bytes;
    return {key.begin + i * word_bytes, left < word_bytes ? left : word_bytes};
  }
  static std::uint64_t read_word(std::uintptr_t at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(at), word_bytes);
    return word;
  }
  static bool read(const TensorKey& key, const Place& place, std::uint64_t& word) noexcept {
    word = 0;
    if (key.far != 0) {
      const ReadFar reader = read_far.load(std::memory_order_acquire);
      return reader != nullptr && reader(place.at, &word, place.bytes);
    }
    std::memcpy(&word, reinterpret_cast<const void*>(place.at), place.bytes);
    return true;
  }

  std::array<std::uint64_t, most> words_{};
  std::size_t count_ = 0;
};

}  // namespace nanlens::inline NANLENS_ABI::detail
