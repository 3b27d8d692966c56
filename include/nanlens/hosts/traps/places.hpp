/// @file
/// How often each place was trapped, and the last time: a table that signal handlers fill.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nanlens/hosts/traps/trap.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// A place, and one kind of exception there.
struct Place {
  std::atomic<std::uint64_t> key{0};  ///< 0: free
  std::atomic<std::uint64_t> hits{0};
  std::atomic<bool> busy{false};  ///< somebody reads or writes what follows
  Trap first;                     ///< if it could not be handed over at once; hits is 0 if there is none
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
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  /// Was there ever no room for a place? Its traps are on record, but not counted.
  [[nodiscard]] bool full() const noexcept { return full_.load(std::memory_order_relaxed); }
  /// Keeps a trap as the last of its place. Another thread that does the same now is as good.
  static void keep_last(Place& place, const Trap& trap) noexcept {
    if (place.busy.exchange(true, std::memory_order_acquire)) return;
    place.last = trap;
    release(place);
  }
  /// Keeps the first trap of a place. False if the place was in use for long.
  static bool keep_first(Place& place, const Trap& trap) noexcept {
    if (!acquire(place)) return false;
    place.first = trap;
    release(place);
    return true;
  }
  /// Calls `record(Trap&)` for the first ones that were kept.
  template <class Record>
  void drain_first(Record&& record) noexcept {
    drain(&Place::first, record);
  }
  /// Calls `record(Trap&)` for the last ones that were kept.
  template <class Record>
  void drain_last(Record&& record) noexcept {
    drain(&Place::last, record);
  }
  /// In a forked child.
  void clear() noexcept {
    for (Place& place : places_) {
      if (place.key.load() == 0) continue;
      place.key.store(0);
      place.hits.store(0);
      place.busy.store(false);
      place.first.hits = place.last.hits = 0;
    }
    full_.store(false);
  }

 private:
  // Whoever has a place only copies from or to it.
  static bool acquire(Place& place) noexcept {
    constexpr int most_tries = 100'000;
    for (int i = 0; i < most_tries; ++i)
      if (!place.busy.exchange(true, std::memory_order_acquire)) return true;
    return false;
  }
  static void release(Place& place) noexcept { place.busy.store(false, std::memory_order_release); }

  // In the order of their times.
  template <class Record>
  void drain(Trap Place::* kept, Record& record) noexcept {
    std::size_t count = 0;
    for (Place& place : places_) {
      if (place.key.load() == 0 || !acquire(place)) continue;
      if ((place.*kept).hits > 0) found_[count++] = {(place.*kept).wall_time, &place};
      release(place);
    }
    std::sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      Place& place = *found_[i].second;
      if (!acquire(place)) continue;
      Trap trap = place.*kept;
      (place.*kept).hits = 0;
      release(place);
      record(trap);
    }
  }

  static constexpr std::size_t most_tried = 64;
  static constexpr std::size_t most_places = 2048;
  std::array<Place, most_places> places_{};
  std::array<std::pair<double, Place*>, most_places> found_{};  // of the one thread that drains
  std::atomic<bool> full_{false};
};

}  // namespace nanlens::inline NANLENS_ABI::traps
