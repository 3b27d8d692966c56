/// @file
/// Which recorded op produced the tensor at an address?
///
/// A tensor is found again only by the same address, dtype and shape, and only while no other recorded tensor has been
/// written over any part of it. Memory is divided into regions, each with its own sorted list and lock, so that threads
/// meet only when they touch the same memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/tensor_link.hpp>

namespace nanlens::detail {

class TensorRegistry {
 public:
  /// From now on the tensor is known by `link`; whatever it overlaps is forgotten. An unknown link only forgets.
  void put(const TensorKey& key, const TensorLink& link) {
    if (key.begin == key.end) return;
    for (std::uintptr_t r = key.begin / region_bytes; r <= (key.end - 1) / region_bytes; ++r) {
      Shard& shard = shard_of(r);
      const std::lock_guard guard(shard.lock);
      auto& list = shard.pieces_of(r);
      const std::uintptr_t from = std::max(key.begin, r * region_bytes);
      const std::uintptr_t to = std::min(key.end, (r + 1) * region_bytes);
      auto first = std::lower_bound(list.begin(), list.end(), from,
                                    [](const Piece& p, std::uintptr_t address) { return p.end <= address; });
      auto last = first;
      while (last != list.end() && last->begin < to) ++last;
      const Piece piece{from, to, key, link};
      if (!link.known()) {
        list.erase(first, last);
      } else if (first == last) {
        list.insert(first, piece);
      } else {
        *first = piece;
        list.erase(first + 1, last);
      }
    }
  }

  /// What the tensor is known as; unknown if any part of it has been written over.
  [[nodiscard]] TensorLink find(const TensorKey& key) {
    TensorLink found;
    if (key.begin == key.end) return found;
    for (std::uintptr_t r = key.begin / region_bytes; r <= (key.end - 1) / region_bytes; ++r) {
      const std::uintptr_t from = std::max(key.begin, r * region_bytes);
      Shard& shard = shard_of(r);
      const std::lock_guard guard(shard.lock);
      const auto region = shard.find(r);
      const Piece* piece = nullptr;
      if (region != shard.regions.end() && region->number == r) {
        const auto at = std::lower_bound(region->pieces.begin(), region->pieces.end(), from,
                                         [](const Piece& p, std::uintptr_t address) { return p.end <= address; });
        if (at != region->pieces.end()) piece = &*at;
      }
      const bool same = piece != nullptr && piece->begin == from && piece->key.begin == key.begin &&
                        piece->key.end == key.end && piece->key.fingerprint == key.fingerprint &&
                        (!found.known() || piece->link == found);
      if (!same) return {};
      found = piece->link;
    }
    return found;
  }

 private:
  static constexpr std::uintptr_t region_bytes = std::uintptr_t{256} << 10;
  struct Piece {
    std::uintptr_t begin;
    std::uintptr_t end;
    TensorKey key;
    TensorLink link;
  };
  struct Region {
    std::uintptr_t number;
    std::vector<Piece> pieces;  // by address
  };
  // Few regions each, in order: a search is a handful of comparisons.
  struct Shard {
    SpinLock lock;
    std::vector<Region> regions;

    std::vector<Region>::iterator find(std::uintptr_t number) noexcept {
      return std::lower_bound(regions.begin(), regions.end(), number,
                              [](const Region& region, std::uintptr_t wanted) { return region.number < wanted; });
    }
    std::vector<Piece>& pieces_of(std::uintptr_t number) {
      auto region = find(number);
      if (region == regions.end() || region->number != number) region = regions.insert(region, Region{number, {}});
      return region->pieces;
    }
  };
  Shard& shard_of(std::uintptr_t region) noexcept { return shards_[region % shards_.size()]; }

  std::array<Shard, 1024> shards_;
};

}  // namespace nanlens::detail
