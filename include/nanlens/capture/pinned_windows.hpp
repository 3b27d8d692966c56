/// @file
/// Which events of a ring are kept for good: those around the first bad ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The first bad event of each call site opens a window, up to a number of sites, and so does the first hit of each
/// rule. What rings hold then, and a number of events of all threads that follow, is written whatever the rings do
/// later.
class PinnedWindows {
 public:
  /// A new recording: no window was opened yet.
  void reset(std::int64_t sites, std::int64_t events) {
    const std::lock_guard guard(lock_);
    events_ = sites > 0 ? std::max<std::int64_t>(events, 0) : 0;
    most_sites_ = static_cast<std::size_t>(std::max<std::int64_t>(sites, 0));
    sites_.clear();
    rules_.store(sites, std::memory_order_relaxed);
    full_.store(most_sites_ == 0, std::memory_order_relaxed);
    following_.store(0, std::memory_order_relaxed);
  }
  /// How many events before a bad one a window holds at least.
  [[nodiscard]] std::int64_t events() const noexcept { return events_; }

  /// Does a bad event of this site open a window? Says so once.
  [[nodiscard]] bool begins(std::uint64_t site) {
    if (full_.load(std::memory_order_relaxed)) return false;
    const std::lock_guard guard(lock_);
    if (sites_.size() >= most_sites_ || std::find(sites_.begin(), sites_.end(), site) != sites_.end()) return false;
    sites_.push_back(site);
    full_.store(sites_.size() >= most_sites_, std::memory_order_relaxed);
    return true;
  }
  /// Does the first hit of one more rule open a window? As many do as sites, beside these.
  [[nodiscard]] bool begins_at_rule() noexcept { return rules_.fetch_sub(1, std::memory_order_relaxed) > 0; }
  /// From now on events belong to a window. Rings are emptied after that, so that none holds a later one.
  void open() noexcept { following_.store(events_, std::memory_order_release); }
  [[nodiscard]] bool is_open() const noexcept { return following_.load(std::memory_order_acquire) > 0; }
  /// Is the next event one of a window's?
  [[nodiscard]] bool takes_next() noexcept {
    return is_open() && following_.fetch_sub(1, std::memory_order_acq_rel) > 0;
  }

 private:
  std::mutex lock_;
  std::int64_t events_ = 0;
  std::size_t most_sites_ = 0;
  std::vector<std::uint64_t> sites_;
  std::atomic<std::int64_t> rules_{0};  // that still may open one
  std::atomic<bool> full_{true};
  std::atomic<std::int64_t> following_{0};  // below 0 where threads have met
};

}  // namespace NANLENS_HIDDEN detail

}  // namespace nanlens::inline NANLENS_ABI
