/// @file
/// How often each place was trapped, and the last time: a table that signal handlers fill.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nanlens/hosts/traps/trap.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// A place, and one kind of exception there.
struct Place {
  std::atomic<std::uint64_t> key{0};  ///< 0: free
  std::atomic<std::uint64_t> hits{0};
  std::atomic<bool> busy{false};  ///< somebody reads or writes `last`
  Trap last;                      ///< the latest that was not handed over at once; hits is 0 if there is none
};

/// Never grows; no place is ever taken out of it.
class Places {
 public:
  /// The place with this key; null if there is no room for another.
  Place* find(std::uint64_t key) noexcept {
    if (key == 0) key = 1;
    for (std::size_t i = 0; i < most_tried; ++i) {
      Place& place = places_[(key + i) % places_.size()];
      std::uint64_t held = place.key.load(std::memory_order_acquire);
      if (held == 0 && place.key.compare_exchange_strong(held, key)) return &place;
      if (held == key) return &place;
    }
    return nullptr;
  }
  /// Keeps a trap as the last of its place. Another thread that does the same now is as good.
  static void keep(Place& place, const Trap& trap) noexcept {
    if (place.busy.exchange(true, std::memory_order_acquire)) return;
    place.last = trap;
    place.busy.store(false, std::memory_order_release);
  }
  /// Calls `record(Trap&)` for what was kept.
  template <class Record>
  void drain(Record&& record) noexcept {
    for (Place& place : places_) {
      if (place.key.load() == 0 || place.busy.exchange(true, std::memory_order_acquire)) continue;
      if (place.last.hits > 0) record(place.last);
      place.last.hits = 0;
      place.busy.store(false, std::memory_order_release);
    }
  }
  /// In a forked child.
  void clear() noexcept {
    for (Place& place : places_) {
      if (place.key.load() == 0) continue;
      place.key.store(0);
      place.hits.store(0);
      place.busy.store(false);
      place.last.hits = 0;
    }
  }

 private:
  static constexpr std::size_t most_tried = 64;
  std::array<Place, 2048> places_{};
};

}  // namespace nanlens::inline NANLENS_ABI::traps
