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

/// Visits the entries between two positions: `visit(event, content, position)`. The content lies in the region.
template <class Visit>
void visit_entries(const RegionHeader* region, std::uint64_t from, std::uint64_t to, Visit&& visit) {
  const std::size_t capacity = capacity_of(region);
  std::size_t place = from % capacity;
  for (std::uint64_t at = from; at < to;) {
    const unsigned char* const p = content_of(region) + place;
    std::uint64_t length = 0;
    std::memcpy(&length, p, sizeof length);
    if (length == 0) {
      at += capacity - place;
      place = 0;
      continue;
    }
    QueuedEvent event;
    std::memcpy(&event, p + sizeof length, sizeof event);
    const auto* const content = reinterpret_cast<const char*>(p) + sizeof length + sizeof event;
    visit(event, std::string_view(content, event.content_bytes()), at);
    at += length;
    place += length;
    if (place == capacity) place = 0;
  }
}

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
  /// Visits the entries up to `end`, whose bytes stay in place until `release(end)`.
  template <class Visit>
  void visit(std::uint64_t end, Visit&& visit) const {
    if (end != 0)
      visit_entries(region_.load(std::memory_order_relaxed), tail_.load(std::memory_order_relaxed), end, visit);
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
