/// @file
/// Where a thread puts its events while everything is kept: a queue that the writer empties all the time.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include <nanlens/capture/live_file.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// An event whose content has been encoded elsewhere. What queues and rings take is this, or has the same functions.
struct EncodedEvent {
  const QueuedEvent& event;
  std::string_view content;

  [[nodiscard]] std::size_t most_content() const noexcept { return content.size(); }
  /// Writes the event, and its content; returns how long that is.
  std::size_t put(QueuedEvent& to, unsigned char* content_to) const noexcept {
    to = event;
    std::memcpy(content_to, content.data(), content.size());
    return content.size();
  }
};

/// Writes an entry of a queue or ring; returns its length. It is aligned as all are.
template <class Event>
std::size_t put_entry(unsigned char* p, const Event& event) noexcept {
  auto& to = *::new (p + sizeof(std::uint64_t)) QueuedEvent;
  const std::uint64_t length = live::entry_bytes(event.put(to, p + sizeof(std::uint64_t) + sizeof to));
  std::memcpy(p, &length, sizeof length);
  return static_cast<std::size_t>(length);
}

/// Says that the rest of a region is not used.
inline void put_marker(unsigned char* p) noexcept {
  const std::uint64_t marker = 0;
  std::memcpy(p, &marker, sizeof marker);
}

/// Reads the entries of a region between two positions, one after another.
class EntryReader {
 public:
  EntryReader(const RegionHeader* region, std::uint64_t from, std::uint64_t to) noexcept
      : content_(content_of(region)), capacity_(capacity_of(region)), place_(from % capacity_), next_(from), end_(to) {}

  /// Moves to the next entry; false if there is none.
  bool next() noexcept {
    while (next_ < end_) {
      const unsigned char* const p = content_ + place_;
      std::uint64_t length = 0;
      std::memcpy(&length, p, sizeof length);
      at_ = next_;
      next_ += length != 0 ? length : capacity_ - place_;
      place_ += static_cast<std::size_t>(length);
      if (length == 0 || place_ == capacity_) place_ = 0;
      if (length == 0) continue;
      std::memcpy(&event_, p + sizeof length, sizeof event_);
      entry_ = p + sizeof length + sizeof event_;
      return true;
    }
    return false;
  }
  [[nodiscard]] const QueuedEvent& event() const noexcept { return event_; }
  /// It lies in the region.
  [[nodiscard]] std::string_view content() const noexcept {
    return {reinterpret_cast<const char*>(entry_), event_.content_bytes()};
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return at_; }

 private:
  const unsigned char* content_;
  std::size_t capacity_;
  std::size_t place_;  // of the next entry
  std::uint64_t next_;
  std::uint64_t end_;
  std::uint64_t at_ = 0;
  const unsigned char* entry_ = nullptr;
  QueuedEvent event_{};
};

/// One thread writes, one at a time reads; no lock. Entries are contiguous.
class EventQueue {
 public:
  static constexpr std::size_t region_bytes = (std::size_t{1} << 20) - live::region_content;

  /// Uses a region, or null: none.
  void attach(RegionHeader* region) noexcept {
    tail_.store(0, std::memory_order_relaxed);
    place_ = 0;
    region_.store(region, std::memory_order_release);
  }
  [[nodiscard]] bool attached() const noexcept { return region_.load(std::memory_order_relaxed) != nullptr; }

  /// False if there is no room now.
  template <class Event>
  bool push(const Event& event) noexcept {
    RegionHeader* const region = region_.load(std::memory_order_relaxed);
    const std::size_t capacity = capacity_of(region);
    const std::size_t most = live::entry_bytes(event.most_content());
    const std::uint64_t head = shared(region->head).load(std::memory_order_relaxed);
    const std::size_t skip = place_ + most > capacity ? capacity - place_ : 0;
    if (head + skip + most - tail_.load(std::memory_order_acquire) > capacity) return false;
    if (skip != 0) {
      put_marker(content_of(region) + place_);
      place_ = 0;
    }
    const std::size_t length = put_entry(content_of(region) + place_, event);
    place_ += length;
    if (place_ == capacity) place_ = 0;
    shared(region->head).store(head + skip + length, std::memory_order_release);
    return true;
  }
  /// True if an event with this much content can ever fit.
  static constexpr bool fits(std::size_t content_bytes) noexcept {
    return live::entry_bytes(content_bytes) <= region_bytes / 2;
  }
  [[nodiscard]] bool more_than_half_full() const noexcept {
    RegionHeader* const region = region_.load(std::memory_order_relaxed);
    return shared(region->head).load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed) >
           capacity_of(region) / 2;
  }

  /// How far the queue is filled now: entries up to here can be visited.
  [[nodiscard]] std::uint64_t head() const noexcept {
    RegionHeader* const region = region_.load(std::memory_order_acquire);
    return region == nullptr ? 0 : shared(region->head).load(std::memory_order_acquire);
  }
  /// How far it has been released.
  [[nodiscard]] std::uint64_t tail() const noexcept { return tail_.load(std::memory_order_relaxed); }
  /// The entries up to `end`, which is not 0; their bytes stay in place until `release(end)`.
  [[nodiscard]] EntryReader entries(std::uint64_t end) const noexcept {
    return {region_.load(std::memory_order_relaxed), tail(), end};
  }
  /// Notes that entries up to `end` will be in the files once the commit of this parity holds.
  void take(std::uint64_t end, std::uint32_t parity) noexcept {
    if (end != 0) region_.load(std::memory_order_relaxed)->taken[parity] = end;  // at 0, it may just be being made
  }
  void release(std::uint64_t end) noexcept { tail_.store(end, std::memory_order_release); }

 private:
  std::atomic<RegionHeader*> region_{nullptr};
  std::atomic<std::uint64_t> tail_{0};
  std::size_t place_ = 0;  // of the head in the region: a division for each event takes its time
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
