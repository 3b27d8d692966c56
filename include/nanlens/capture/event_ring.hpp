/// @file
/// Where a thread puts its events while only the last are kept.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <nanlens/capture/event_queue.hpp>
#include <nanlens/capture/pinned_windows.hpp>
#include <nanlens/capture/undisturbed.hpp>
#include <nanlens/capture/uneven_lock.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The last N events of one kind of a thread, which alone pushes; older ones are overwritten. Others flush, one at a
/// time.
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
    head_place_ = first_place_ = 0;
  }

  enum class Pushed : std::uint8_t { kept, no_memory, not_wanted };

  /// Keeps an event, and forgets the oldest beyond `limit`, unless the event belongs to a window.
  template <class Event>
  Pushed push(std::size_t limit, const Event& event, const PinnedWindows& windows) noexcept {
    UnevenLock::Owner owner = lock_.owner();
    const std::lock_guard guard(owner);
    if (windows.is_open()) return Pushed::not_wanted;
    return keep(limit, event) ? Pushed::kept : Pushed::no_memory;
  }
  /// The same of every event. False if there is no memory.
  template <class Event>
  bool push(std::size_t limit, const Event& event) noexcept {
    UnevenLock::Owner owner = lock_.owner();
    const std::lock_guard guard(owner);
    return keep(limit, event);
  }

  /// Visits what is kept, oldest first: it will be in the files from the next commit on, and is then to be released.
  template <class Visit>
  void drain(Visit&& visit) {
    const std::lock_guard guard(lock_);
    if (region_ == nullptr) return;
    for (EntryReader entry = entries(); entry.next();) visit(entry.event(), entry.content());
    drained_ = region_->head;
    untold_.store(2, std::memory_order_relaxed);
  }
  /// Notes what has been drained so far for the commit of this parity.
  void take(std::uint32_t parity) noexcept {
    if (untold_.load(std::memory_order_relaxed) == 0) return;
    untold_.fetch_sub(1, std::memory_order_relaxed);
    const std::lock_guard guard(lock_);
    if (region_ != nullptr) region_->taken[parity] = drained_;
  }
  void release() noexcept {
    const std::lock_guard guard(lock_);
    if (region_ == nullptr || region_->first >= drained_) return;
    shared(region_->first).store(drained_, std::memory_order_release);
    first_place_ = drained_ % capacity_of(region_);
    count_ = 0;
    for (EntryReader entry = entries(); entry.next();) ++count_;
  }

 private:
  static constexpr std::size_t first_bytes = (std::size_t{64} << 10) - live::region_content;

  [[nodiscard]] EntryReader entries() const noexcept { return {region_, region_->first, region_->head}; }
  template <class Event>
  bool keep(std::size_t limit, const Event& event) noexcept {
    const std::size_t most = live::entry_bytes(event.most_content());
    if (region_ == nullptr && !grow(most)) return false;
    while (count_ >= limit) forget_oldest();
    while (!has_room(most))
      if (!grow(most)) return false;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // what is forgotten is so before it is written over
    unsigned char* const content = content_of(region_);
    const std::size_t capacity = capacity_of(region_);
    std::uint64_t head = region_->head;
    if (head_place_ + most > capacity) {
      put_marker(content + head_place_);
      head += capacity - head_place_;
      head_place_ = 0;
    }
    const std::size_t length = put_entry(content + head_place_, event);
    shared(region_->head).store(head + length, std::memory_order_release);
    move_on(head_place_, length);
    ++count_;
    return true;
  }
  [[nodiscard]] bool has_room(std::size_t size) const noexcept {
    const std::size_t capacity = capacity_of(region_);
    const std::size_t skip = head_place_ + size > capacity ? capacity - head_place_ : 0;
    return region_->head + skip + size - region_->first <= capacity;
  }
  void forget_oldest() noexcept {
    const unsigned char* const content = content_of(region_);
    std::uint64_t at = region_->first;
    std::uint64_t length = 0;
    std::memcpy(&length, content + first_place_, sizeof length);
    if (length == 0) {
      at += capacity_of(region_) - first_place_;
      first_place_ = 0;
      std::memcpy(&length, content, sizeof length);
    }
    shared(region_->first).store(at + length, std::memory_order_release);
    move_on(first_place_, static_cast<std::size_t>(length));
    --count_;
  }
  void move_on(std::size_t& place, std::size_t bytes) const noexcept {
    place += bytes;
    if (place == capacity_of(region_)) place = 0;
  }

  // Moves to a region of at least twice the size. For a moment both hold the events: readers know them by their number.
  bool grow(std::size_t size) noexcept {
    const Undisturbed undisturbed;
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
    for (EntryReader entry = entries(); entry.next();) {
      larger.head += put_entry(content_of(&larger) + larger.head, EncodedEvent{entry.event(), entry.content()});
      for (std::size_t parity = 0; parity < 2; ++parity)
        if (entry.position() < region_->taken[parity]) larger.taken[parity] = larger.head;
      if (entry.position() < drained_) drained = larger.head;
    }
    drained_ = drained;
    head_place_ = static_cast<std::size_t>(larger.head);
    first_place_ = 0;
  }

  RegionKind kind_;
  UnevenLock lock_;
  LiveFile* file_ = nullptr;
  std::uint64_t thread_id_ = 0;
  RegionHeader* region_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t drained_ = 0;
  std::atomic<int> untold_{0};  // of the two commits, which take turns: to how many what was drained is new
  // In the region: a division for each event takes its time.
  std::size_t head_place_ = 0;
  std::size_t first_place_ = 0;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
