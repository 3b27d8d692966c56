/// @file
/// Counting over large contiguous memory with the help of the host's own threads: those that made a tensor have it in
/// their caches, and one thread alone would keep them waiting.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/summary/kernels.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// Calls piece(work, i) once for every i below `pieces`, on whatever threads, and returns when all have returned. False
/// if there is nobody to help, or not all have been called.
using ShareWork = bool (*)(std::size_t pieces, void (*piece)(void* work, std::size_t index) noexcept,
                           void* work) noexcept;

/// Who helps; null: nobody.
inline std::atomic<ShareWork> work_sharing{nullptr};

// Waking threads takes some microseconds: as long as reading a few hundred kilobytes.
inline constexpr std::size_t shared_from_bytes = std::size_t{1} << 20;
inline constexpr std::size_t piece_bytes = std::size_t{1} << 18;

/// One count, as its pieces come in from all threads.
class SharedCount {
 public:
  SharedCount(const Counting& counting, const void* data, std::size_t n) noexcept
      : counting_(counting),
        data_(static_cast<const unsigned char*>(data)),
        n_(n),
        per_piece_(piece_bytes / counting.element_bytes) {}

  [[nodiscard]] std::size_t pieces() const noexcept { return (n_ + per_piece_ - 1) / per_piece_; }

  static void count(void* self, std::size_t index) noexcept { static_cast<SharedCount*>(self)->count(index); }

  [[nodiscard]] HealthCounts result() const noexcept {
    HealthCounts counts;
    for (std::size_t i = 0; i < members.size(); ++i) counts.*members[i] = totals_[i].load(std::memory_order_relaxed);
    if (counting_.question == Question::curt) counts.nan = std::min<std::uint64_t>(counts.nan, 1);
    return counts;
  }

 private:
  static constexpr std::array members{&HealthCounts::neg_inf,  &HealthCounts::pos_inf, &HealthCounts::nan,
                                      &HealthCounts::negative, &HealthCounts::zero,    &HealthCounts::positive};

  void count(std::size_t index) noexcept {
    const bool found_elsewhere =
        counting_.question == Question::curt && totals_[2].load(std::memory_order_relaxed) != 0;
    if (found_elsewhere) return;
    const std::size_t begin = index * per_piece_;
    const HealthCounts counts =
        counting_.count(data_ + begin * counting_.element_bytes, std::min(per_piece_, n_ - begin));
    for (std::size_t i = 0; i < members.size(); ++i)
      if (const std::uint64_t count = counts.*members[i]; count != 0)
        totals_[i].fetch_add(count, std::memory_order_relaxed);
  }

  Counting counting_;
  const unsigned char* data_;
  std::size_t n_;
  std::size_t per_piece_;
  std::array<std::atomic<std::uint64_t>, members.size()> totals_{};
};

/// Counts n contiguous elements, large ones with those who help.
inline HealthCounts count_dense(const Counting& counting, const void* data, std::size_t n) noexcept {
  if (n >= shared_from_bytes / counting.element_bytes) {
    if (const ShareWork share = work_sharing.load(std::memory_order_acquire)) {
      SharedCount shared(counting, data, n);
      if (share(shared.pieces(), &SharedCount::count, &shared)) return shared.result();
    }
  }
  return counting.count(data, n);
}

}  // namespace nanlens::inline NANLENS_ABI::detail
