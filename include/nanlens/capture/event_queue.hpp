/// @file
/// Where a thread puts its events: a queue that the writer empties all the time, or rings that keep the last ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/platform.hpp>

namespace nanlens::detail {

/// An event as a thread leaves it, without checksum and without its code location, whose frames only the writer
/// resolves. The bytes behind it: the message's fields before the code location, those after it, the extension field.
struct QueuedEvent {
  double wall_time;
  std::uint32_t before_bytes;
  std::uint32_t after_bytes;
  std::uint32_t extension_bytes;
  std::uint32_t stack;
  std::uint32_t is_execution;
  std::uint32_t sequence;

  /// Where the parts of the content end.
  void set_parts(std::size_t before, std::size_t message, std::size_t all) noexcept {
    before_bytes = static_cast<std::uint32_t>(before);
    after_bytes = static_cast<std::uint32_t>(message - before);
    extension_bytes = static_cast<std::uint32_t>(all - message);
  }
  [[nodiscard]] std::size_t content_bytes() const noexcept {
    return std::size_t{before_bytes} + after_bytes + extension_bytes;
  }
};

/// One thread writes, one at a time reads; no lock. Entries are contiguous.
class EventQueue {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 20;

  /// False if there is no room now.
  bool push(const QueuedEvent& event, std::string_view content) noexcept {
    const std::size_t size = entry_size(content.size());
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::size_t at = head % capacity;
    const std::size_t skip = at + size > capacity ? capacity - at : 0;
    if (head + skip + size - tail_.load(std::memory_order_acquire) > capacity) return false;
    unsigned char* p = bytes_.get() + at;
    if (skip != 0) {
      const std::uint64_t marker = 0;  // the rest of the buffer is not used
      std::memcpy(p, &marker, sizeof marker);
      p = bytes_.get();
    }
    const std::uint64_t length = size;
    std::memcpy(p, &length, sizeof length);
    std::memcpy(p + sizeof length, &event, sizeof event);
    std::memcpy(p + sizeof length + sizeof event, content.data(), content.size());
    head_.store(head + skip + size, std::memory_order_release);
    return true;
  }
  /// True if an event with this much content can ever fit.
  static constexpr bool fits(std::size_t content_bytes) noexcept { return entry_size(content_bytes) <= capacity / 2; }
  [[nodiscard]] bool more_than_half_full() const noexcept {
    return head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed) > capacity / 2;
  }

  /// How far the queue is filled now: entries up to here can be visited.
  [[nodiscard]] std::uint64_t head() const noexcept { return head_.load(std::memory_order_acquire); }
  /// Visits the entries up to `end`, whose bytes stay in place until `release(end)`.
  template <class Visit>
  void visit(std::uint64_t end, Visit&& visit) const {
    for (std::uint64_t at = tail_.load(std::memory_order_relaxed); at < end;) {
      const unsigned char* const p = bytes_.get() + at % capacity;
      std::uint64_t length = 0;
      std::memcpy(&length, p, sizeof length);
      if (length == 0) {
        at += capacity - at % capacity;
        continue;
      }
      QueuedEvent event;
      std::memcpy(&event, p + sizeof length, sizeof event);
      visit(event,
            std::string_view(reinterpret_cast<const char*>(p) + sizeof length + sizeof event, event.content_bytes()));
      at += length;
    }
  }
  void release(std::uint64_t end) noexcept { tail_.store(end, std::memory_order_release); }

 private:
  static constexpr std::size_t entry_size(std::size_t content_bytes) noexcept {
    return (sizeof(std::uint64_t) + sizeof(QueuedEvent) + content_bytes + 7) / 8 * 8;
  }
  std::unique_ptr<unsigned char[]> bytes_{new unsigned char[capacity]};
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
};

/// The last N events of a thread; older ones are overwritten. The lock is shared with a flush only.
class EventRing {
 public:
  void push(std::size_t limit, const QueuedEvent& event, std::string_view content) {
    lock_.lock();
    if (slots_.size() > limit) clear();
    if (slots_.size() < limit && next_ == slots_.size()) slots_.emplace_back();
    Slot& slot = slots_[next_];
    slot.event = event;
    slot.used = true;
    slot.content.assign(content);  // keeps its capacity: no allocation once the ring has gone round
    next_ = next_ + 1 == limit ? 0 : next_ + 1;
    lock_.unlock();
  }
  /// Moves out what is kept, oldest first.
  template <class Take>
  void drain(Take&& take) {
    lock_.lock();
    const std::size_t n = slots_.size();
    for (std::size_t i = 0; i < n; ++i) {
      Slot& slot = slots_[(next_ + i) % n];
      if (slot.used) take(slot.event, slot.content);
      slot.used = false;
    }
    next_ = 0;
    lock_.unlock();
  }

 private:
  struct Slot {
    QueuedEvent event{};
    std::string content;
    bool used = false;
  };
  void clear() {
    slots_.clear();
    next_ = 0;
  }
  SpinLock lock_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
};

}  // namespace nanlens::detail
