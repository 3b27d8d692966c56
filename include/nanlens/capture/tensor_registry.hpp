/// @file
/// Which recorded op produced the tensor at an address?
///
/// The same bytes are the same tensor, whatever the shape, and bytes among them are a part of it, as long as no other
/// recorded tensor has been written over them and they hold what they held. Memory is divided into regions, each with
/// its own sorted list and lock, so that threads meet only when they touch the same memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// What is known of a tensor by its memory.
struct TensorIdentity {
  TensorLink link;  ///< with `changed`: what the memory was
  logdir::TensorOrigin origin = logdir::TensorOrigin::not_recorded;
  TensorKey whole;       ///< the recorded tensor: the same, or the one that it is a part of
  ContentSample sample;  ///< of a part: what the whole held
};

class TensorRegistry {
 public:
  /// From now on the tensor is known by `link`; what it overlaps of others is forgotten. An unknown link only forgets.
  void put(const TensorKey& key, const TensorLink& link, const ContentSample& sample) {
    if (put_exact(key, link, sample)) return;
    each_region(key, [&](Shard& shard, std::uintptr_t number, std::uintptr_t from, std::uintptr_t to) {
      replace(shard.pieces_of(number), {from, to, key, link, sample});
      return true;
    });
  }

  /// What the tensor is known as. `look`: its memory may be read, to see whether it holds what it held.
  [[nodiscard]] TensorIdentity find(const TensorKey& key, bool look) {
    TensorIdentity found;
    Search search{key, found, look};
    const bool all = each_region(key, [&](Shard& shard, std::uintptr_t number, std::uintptr_t from, std::uintptr_t to) {
      const std::vector<Piece>* const pieces = shard.find_pieces(number);
      return pieces != nullptr && search.covers(*pieces, number, from, to);
    });
    return all && search.is_sure() ? found : TensorIdentity{};
  }

  /// The same for what is nearly always asked for: a tensor within one region, as it was recorded. False if it is not.
  [[nodiscard]] bool find_exact(const TensorKey& key, bool look, TensorLink& link, logdir::TensorOrigin& origin) {
    const std::uintptr_t number = key.begin / region_bytes;
    if (key.empty() || (key.end - 1) / region_bytes != number) return false;
    Shard& shard = shards_[number % shards_.size()];
    const std::lock_guard guard(shard.lock);
    const std::vector<Piece>* const pieces = shard.find_pieces(number);
    if (pieces == nullptr) return false;
    const auto at = first_at(*pieces, key.begin);
    if (at == pieces->end() || at->begin != key.begin || at->end != key.end || !at->key.same_bytes(key)) return false;
    link = at->link;
    origin = !look || at->sample.holds(at->key) ? logdir::TensorOrigin::recorded : logdir::TensorOrigin::changed;
    return true;
  }

  /// Gives a tensor another link, where it is still known by `from`; an unknown one forgets it. Reads no memory.
  void relink(const TensorKey& key, const TensorLink& from, const TensorIdentity& to) {
    each_region(key, [&](Shard& shard, std::uintptr_t number, std::uintptr_t begin, std::uintptr_t) {
      std::vector<Piece>& pieces = shard.pieces_of(number);
      const auto at = first_at(pieces, begin);
      if (at == pieces.end() || !at->key.same_bytes(key) || at->link != from) return true;
      if (!to.link.known()) {
        pieces.erase(at);
        return true;
      }
      at->link = to.link;
      if (!to.whole.same_bytes(key)) at->sample = to.sample;
      at->key = to.whole;
      merge(pieces, at);
      return true;
    });
  }

 private:
  static constexpr std::uintptr_t region_bytes = std::uintptr_t{256} << 10;
  struct Piece {
    std::uintptr_t begin;
    std::uintptr_t end;
    TensorKey key;
    TensorLink link;
    ContentSample sample;
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
    std::vector<Piece>* find_pieces(std::uintptr_t number) noexcept {
      const auto region = find(number);
      return region == regions.end() || region->number != number ? nullptr : &region->pieces;
    }
    std::vector<Piece>& pieces_of(std::uintptr_t number) {
      auto region = find(number);
      if (region == regions.end() || region->number != number) region = regions.insert(region, Region{number, {}});
      return region->pieces;
    }
  };

  // What is nearly always asked for: a tensor within one region, at the place of one that is known.
  bool put_exact(const TensorKey& key, const TensorLink& link, const ContentSample& sample) {
    const std::uintptr_t number = key.begin / region_bytes;
    if (key.empty() || (key.end - 1) / region_bytes != number || !link.known()) return false;
    Shard& shard = shards_[number % shards_.size()];
    const std::lock_guard guard(shard.lock);
    std::vector<Piece>* const pieces = shard.find_pieces(number);
    if (pieces == nullptr) return false;
    const auto at = first_at(*pieces, key.begin);
    if (at == pieces->end() || at->begin != key.begin || at->end != key.end) return false;
    at->key = key;
    at->link = link;
    at->sample = sample;
    return true;
  }

  /// Goes over the pieces that a tensor lies on. All must belong to one recorded tensor.
  struct Search {
    const TensorKey& key;
    TensorIdentity& found;
    bool look;
    std::size_t checked = 0;  // words compared
    bool cut = false;         // something was written over another part of the recorded tensor

    bool covers(const std::vector<Piece>& pieces, std::uintptr_t number, std::uintptr_t from, std::uintptr_t to) {
      auto at = first_at(pieces, from);
      for (std::uintptr_t end = from; end < to; end = (at++)->end)
        if (at == pieces.end() || at->begin > end || !take(*at, number)) return false;
      return true;
    }
    bool take(const Piece& piece, std::uintptr_t number) {
      const bool same = piece.key.same_bytes(key);
      if (!same && !piece.key.contains(key)) return false;
      if (found.link.known() && (found.link != piece.link || !found.whole.same_bytes(piece.key))) return false;
      found.link = piece.link;
      found.whole = piece.key;
      if (!same) found.sample = piece.sample;
      using enum logdir::TensorOrigin;
      if (found.origin != changed) found.origin = same ? recorded : part;
      cut = cut || piece.begin != std::max(piece.key.begin, number * region_bytes) ||
            piece.end != std::min(piece.key.end, (number + 1) * region_bytes);
      // Words between the elements of a view with gaps are not the caller's to read.
      if (look && (same || key.dense))
        if (!piece.sample.holds(piece.key, std::max(piece.begin, key.begin), std::min(piece.end, key.end), checked))
          found.origin = changed;
      return true;
    }
    // Of a part that holds none of the words, the whole must still hold all: it may have been freed, and its memory
    // been given to others. Where something was written over it since, that can't be told.
    [[nodiscard]] bool is_sure() const noexcept {
      if (found.origin != logdir::TensorOrigin::part || checked > 0) return true;
      return !cut && (!look || found.sample.holds_if_mapped(found.whole));
    }
  };

  static std::vector<Piece>::iterator first_at(std::vector<Piece>& pieces, std::uintptr_t from) {
    return std::lower_bound(pieces.begin(), pieces.end(), from, ends_before);
  }
  static std::vector<Piece>::const_iterator first_at(const std::vector<Piece>& pieces, std::uintptr_t from) {
    return std::lower_bound(pieces.begin(), pieces.end(), from, ends_before);
  }
  static bool ends_before(const Piece& piece, std::uintptr_t address) noexcept { return piece.end <= address; }

  // What is left over of the pieces at both ends stays, if it is large enough to be of use.
  static void replace(std::vector<Piece>& pieces, const Piece& piece) {
    auto first = first_at(pieces, piece.begin);
    auto last = first;
    while (last != pieces.end() && last->begin < piece.end) ++last;
    constexpr std::uintptr_t least = 64;
    std::array<Piece, 3> now;
    std::size_t count = 0;
    if (first != last && first->key.dense && first->begin + least <= piece.begin) {
      now[count] = *first;
      now[count++].end = piece.begin;
    }
    if (piece.link.known()) now[count++] = piece;
    if (first != last && (last - 1)->key.dense && piece.end + least <= (last - 1)->end) {
      now[count] = *(last - 1);
      now[count++].begin = piece.end;
    }
    const auto replaced = std::min(count, static_cast<std::size_t>(last - first));
    const auto middle = std::copy_n(now.begin(), replaced, first);
    if (middle != last)
      pieces.erase(middle, last);
    else
      pieces.insert(middle, now.begin() + static_cast<std::ptrdiff_t>(replaced),
                    now.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Joins a piece with what is left of the same tensor on both sides.
  static void merge(std::vector<Piece>& pieces, std::vector<Piece>::iterator at) {
    const auto joins = [](const Piece& a, const Piece& b) {
      return a.end == b.begin && a.link == b.link && a.key.same_bytes(b.key);
    };
    if (at + 1 != pieces.end() && joins(*at, *(at + 1))) {
      at->end = (at + 1)->end;
      pieces.erase(at + 1);
    }
    if (at == pieces.begin() || !joins(*(at - 1), *at)) return;
    (at - 1)->end = at->end;
    pieces.erase(at);
  }

  // Calls visit(shard, number, from, to) for each region of a range, under its lock, until it says false.
  template <class Visit>
  bool each_region(const TensorKey& key, Visit&& visit) {
    if (key.empty()) return false;
    for (std::uintptr_t r = key.begin / region_bytes; r <= (key.end - 1) / region_bytes; ++r) {
      Shard& shard = shards_[r % shards_.size()];
      const std::lock_guard guard(shard.lock);
      if (!visit(shard, r, std::max(key.begin, r * region_bytes), std::min(key.end, (r + 1) * region_bytes)))
        return false;
    }
    return true;
  }

  std::array<Shard, 1024> shards_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
