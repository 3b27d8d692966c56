/// @file
/// Where a thread puts its events while only the last are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <nanlens/capture/event_queue.hpp>
#include <nanlens/capture/pinned_windows.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The last N events of one kind of a thread; older ones are overwritten. The lock is shared with a flush only.
class EventRing {
 public:
  explicit EventRing(RegionKind kind) noexcept : kind_(kind) {}

  /// Begins empty, in memory of `file`; null: none.
  void attach(LiveFile* file, std::uint64_t thread_id) noexcept {
    const std::lock_guard guard(lock_);
    file_ = file;
    thread_id_ = thread_id;
    region_ = nullptr;
    count_ = 0;
    drained_ = 0;
  }

  enum class Pushed : std::uint8_t { kept, no_memory, not_wanted };

  /// Keeps an event, and forgets the oldest beyond `limit`, unless the event belongs to a window.
  Pushed push(std::size_t limit, const QueuedEvent& event, std::string_view content,
              const PinnedWindows& windows) noexcept {
    const std::lock_guard guard(lock_);
    if (windows.is_open()) return Pushed::not_wanted;
    return keep(limit, event, content) ? Pushed::kept : Pushed::no_memory;
  }
  /// The same of every event. False if there is no memory.
  bool push(std::size_t limit, const QueuedEvent& event, std::string_view content) noexcept {
    const std::lock_guard guard(lock_);
    return keep(limit, event, content);
  }

  /// Visits what is kept, oldest first: it will be in the files from the next commit on, and is then to be released.
  template <class Visit>
  void drain(Visit&& visit) {
    const std::lock_guard guard(lock_);
    if (region_ == nullptr) return;
    visit_entries(region_, region_->first, region_->head,
                  [&](const QueuedEvent& e, std::string_view content, std::uint64_t) { visit(e, content); });
    drained_ = region_->head;
  }
  /// Notes what has been drained so far for the commit of this parity.
  void take(std::uint32_t parity) noexcept {
    const std::lock_guard guard(lock_);
    if (region_ != nullptr) region_->taken[parity] = drained_;
  }
  void release() noexcept {
    const std::lock_guard guard(lock_);
    if (region_ == nullptr || region_->first >= drained_) return;
    shared(region_->first).store(drained_, std::memory_order_release);
    count_ = 0;
    visit_entries(region_, region_->first, region_->head,
                  [&](const QueuedEvent&, std::string_view, std::uint64_t) { ++count_; });
  }

 private:
  static constexpr std::size_t first_bytes = (std::size_t{64} << 10) - live::region_content;

  bool keep(std::size_t limit, const QueuedEvent& event, std::string_view content) noexcept {
    const std::size_t size = live::entry_bytes(content.size());
    if (region_ == nullptr && !grow(size)) return false;
    while (count_ >= limit) forget_oldest();
    while (!has_room(size))
      if (!grow(size)) return false;
    const std::size_t capacity = capacity_of(region_);
    unsigned char* p = content_of(region_) + region_->head % capacity;
    std::uint64_t head = region_->head;
    if (head % capacity + size > capacity) {
      const std::uint64_t marker = 0;
      std::memcpy(p, &marker, sizeof marker);
      head += capacity - head % capacity;
      p = content_of(region_);
    }
    put_entry(p, event, content);
    shared(region_->head).store(head + size, std::memory_order_release);
    ++count_;
    return true;
  }
  [[nodiscard]] bool has_room(std::size_t size) const noexcept {
    const std::size_t capacity = capacity_of(region_);
    const std::size_t at = region_->head % capacity;
    const std::size_t skip = at + size > capacity ? capacity - at : 0;
    return region_->head + skip + size - region_->first <= capacity;
  }
  void forget_oldest() noexcept {
    const std::size_t capacity = capacity_of(region_);
    std::uint64_t at = region_->first;
    std::uint64_t length = 0;
    std::memcpy(&length, content_of(region_) + at % capacity, sizeof length);
    if (length == 0) {
      at += capacity - at % capacity;
      std::memcpy(&length, content_of(region_) + at % capacity, sizeof length);
    }
    shared(region_->first).store(at + length, std::memory_order_release);
    --count_;
  }

  // Moves to a region of at least twice the size. For a moment both hold the events: readers know them by their number.
  bool grow(std::size_t size) noexcept {
    const std::size_t wanted = region_ == nullptr ? first_bytes : 2 * static_cast<std::size_t>(region_->bytes);
    RegionHeader* const larger =
        file_ == nullptr ? nullptr : file_->allocate(RegionKind::none, std::max(wanted, 4 * size), thread_id_);
    if (larger == nullptr) return false;
    if (region_ != nullptr) move_to(*larger);
    LiveFile::set_kind(*larger, kind_);
    if (region_ != nullptr) LiveFile::set_kind(*region_, RegionKind::retired);
    region_ = larger;
    return true;
  }

  void move_to(RegionHeader& larger) noexcept {
    std::uint64_t drained = 0;
    visit_entries(region_, region_->first, region_->head,
                  [&](const QueuedEvent& e, std::string_view content, std::uint64_t at) {
                    put_entry(content_of(&larger) + larger.head, e, content);
                    larger.head += live::entry_bytes(content.size());
                    for (std::size_t parity = 0; parity < 2; ++parity)
                      if (at < region_->taken[parity]) larger.taken[parity] = larger.head;
                    if (at < drained_) drained = larger.head;
                  });
    drained_ = drained;
  }

  RegionKind kind_;
  SpinLock lock_;
  LiveFile* file_ = nullptr;
  std::uint64_t thread_id_ = 0;
  RegionHeader* region_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t drained_ = 0;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
