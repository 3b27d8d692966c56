/// @file
/// Where a thread puts its events while everything is kept: a queue that the writer empties all the time.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <nanlens/capture/live_file.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Writes an entry of a queue or ring.
inline void put_entry(unsigned char* p, const QueuedEvent& event, std::string_view content) noexcept {
  const std::uint64_t length = live::entry_bytes(content.size());
  std::memcpy(p, &length, sizeof length);
  std::memcpy(p + sizeof length, &event, sizeof event);
  std::memcpy(p + sizeof length + sizeof event, content.data(), content.size());
}

/// Visits the entries between two positions: `visit(event, content, position)`. The content lies in the region.
template <class Visit>
void visit_entries(const RegionHeader* region, std::uint64_t from, std::uint64_t to, Visit&& visit) {
  const std::size_t capacity = capacity_of(region);
  for (std::uint64_t at = from; at < to;) {
    const unsigned char* const p = content_of(region) + at % capacity;
    std::uint64_t length = 0;
    std::memcpy(&length, p, sizeof length);
    if (length == 0) {
      at += capacity - at % capacity;
      continue;
    }
    QueuedEvent event;
    std::memcpy(&event, p + sizeof length, sizeof event);
    const auto* const content = reinterpret_cast<const char*>(p) + sizeof length + sizeof event;
    visit(event, std::string_view(content, event.content_bytes()), at);
    at += length;
  }
}

/// One thread writes, one at a time reads; no lock. Entries are contiguous.
class EventQueue {
 public:
  static constexpr std::size_t region_bytes = (std::size_t{1} << 20) - live::region_content;

  /// Uses a region, or null: none.
  void attach(RegionHeader* region) noexcept {
    tail_.store(0, std::memory_order_relaxed);
    region_.store(region, std::memory_order_release);
  }
  [[nodiscard]] bool attached() const noexcept { return region_.load(std::memory_order_relaxed) != nullptr; }

  /// False if there is no room now.
  bool push(const QueuedEvent& event, std::string_view content) noexcept {
    RegionHeader* const region = region_.load(std::memory_order_relaxed);
    const std::size_t capacity = capacity_of(region);
    const std::size_t size = live::entry_bytes(content.size());
    const std::uint64_t head = shared(region->head).load(std::memory_order_relaxed);
    const std::size_t at = head % capacity;
    const std::size_t skip = at + size > capacity ? capacity - at : 0;
    if (head + skip + size - tail_.load(std::memory_order_acquire) > capacity) return false;
    unsigned char* p = content_of(region) + at;
    if (skip != 0) {
      const std::uint64_t marker = 0;
      std::memcpy(p, &marker, sizeof marker);
      p = content_of(region);
    }
    put_entry(p, event, content);
    shared(region->head).store(head + skip + size, std::memory_order_release);
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
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
