/// @file
/// Which recorded op produced the tensor at an address?
///
/// The same bytes are the same tensor, whatever the shape, and bytes among them are a part of it, as long as no other
/// recorded tensor has been written over them and they hold what they held. Memory is divided into regions, which are
/// dealt out to shards, each with its own list and lock, so that threads meet only when they touch the same memory. A
/// tensor is in the list of each shard that has a region of it, and counts there for those regions only: a tensor costs
/// no more than there are shards, however large it is.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <nanlens/capture/piece_list.hpp>
#include <nanlens/capture/platform.hpp>
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
  /// Blocks of pieces that are kept, of 5 KB each, half full at least: for about 300,000 tensors. Beyond that, what was
  /// not used for long is forgotten: it is not recorded, then.
  static constexpr std::size_t most_blocks = 16'384;

  TensorRegistry() noexcept {
    for (Shard& shard : shards_) shard.pieces.count_blocks_in(num_blocks_);
  }

  /// From now on the tensor is known by `link`; what it overlaps of others is forgotten. An unknown link only forgets.
  /// Returns what the same bytes were known as before.
  TensorLink put(const TensorKey& key, const TensorLink& link, const ContentSample& sample) {
    TensorLink before;
    if (put_exact(key, link, sample, before)) return before;
    if (const TensorIdentity found = find(key, false); found.whole.same_bytes(key)) before = found.link;
    each_shard(key, [&](Shard& shard, const Range&) {
      replace(shard.pieces, {key.begin, key.end, key, link, sample});
      return true;
    });
    while (num_blocks_.load(std::memory_order_relaxed) > most_blocks) forget_some();
    return before;
  }

  /// What the tensor is known as. `look`: its memory may be read, to see whether it holds what it held.
  [[nodiscard]] TensorIdentity find(const TensorKey& key, bool look) {
    TensorIdentity found;
    Search search{key, found, look};
    const bool all =
        each_shard(key, [&](Shard& shard, const Range& range) { return search.covers(shard.pieces, range); });
    return all && search.is_sure() ? found : TensorIdentity{};
  }

  /// The same for what is nearly always asked for: a tensor within one region, as it was recorded. False if it is not.
  [[nodiscard]] bool find_exact(const TensorKey& key, bool look, TensorLink& link, logdir::TensorOrigin& origin) {
    const std::uintptr_t number = key.begin / region_bytes;
    if (key.empty() || (key.end - 1) / region_bytes != number) return false;
    Shard& shard = shards_[number % num_shards];
    const std::lock_guard guard(shard.lock);
    const Piece* const at = shard.pieces.at(shard.pieces.first_at(key.begin));
    if (at == nullptr || at->begin != key.begin || at->end != key.end || !at->key.same_bytes(key)) return false;
    const bool holds = !look || at->sample.holds(at->key);
    if (!holds && (at->key.copied || key.copied)) return false;
    link = at->link;
    origin = holds ? logdir::TensorOrigin::recorded : logdir::TensorOrigin::changed;
    return true;
  }

  /// Gives a tensor another link, where it is still known by `from`; an unknown one forgets it. Reads no memory.
  void relink(const TensorKey& key, const TensorLink& from, const TensorIdentity& to) {
    each_shard(key, [&](Shard& shard, const Range& range) {
      const PieceList::Place place = shard.pieces.first_at(range.begin);
      Piece* const at = shard.pieces.at(place);
      if (at == nullptr || !at->key.same_bytes(key) || at->link != from) return true;
      if (!to.link.known()) {
        shard.pieces.erase(place);
        return true;
      }
      at->link = to.link;
      if (!to.whole.same_bytes(key)) at->sample = to.sample;
      at->key = to.whole;
      merge(shard.pieces, place);
      return true;
    });
  }

  /// A recording begins: what was recorded before may have been changed while nothing was.
  void clear() noexcept {
    generation_.fetch_add(1, std::memory_order_release);
    for (Shard& shard : shards_) {
      const std::lock_guard guard(shard.lock);
      shard.pieces.clear();
    }
  }
  /// Counts the calls of clear().
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  /// How many blocks of pieces there are.
  [[nodiscard]] std::size_t num_blocks() const noexcept { return num_blocks_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t region_bytes = std::uintptr_t{256} << 10;
  static constexpr std::size_t num_shards = 509;  // a prime: what lies at round distances is in different ones
  struct Shard {
    SpinLock lock;
    PieceList pieces;
  };

  // What a shard has to say of a tensor: all of its own regions between two addresses.
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::size_t shard;
    bool own;  // the shard has all of it

    [[nodiscard]] bool has(std::uintptr_t from, std::uintptr_t to) const noexcept {
      if (own || from >= to) return from < to;
      const std::uintptr_t first = from / region_bytes;
      const std::uintptr_t distance = (shard + num_shards - first % num_shards) % num_shards;
      return first + distance <= (to - 1) / region_bytes;
    }
  };

  // What is nearly always asked for: a tensor within one region, at the place of one that is known.
  bool put_exact(const TensorKey& key, const TensorLink& link, const ContentSample& sample, TensorLink& before) {
    const std::uintptr_t number = key.begin / region_bytes;
    if (key.empty() || (key.end - 1) / region_bytes != number || !link.known()) return false;
    Shard& shard = shards_[number % num_shards];
    const std::lock_guard guard(shard.lock);
    Piece* const at = shard.pieces.at(shard.pieces.first_at(key.begin));
    if (at == nullptr || at->begin != key.begin || at->end != key.end) return false;
    if (at->key.same_bytes(key)) before = at->link;
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
    std::size_t checked = 0;   // words compared
    bool cut = false;          // something was written over another part of the recorded tensor
    std::uintptr_t begin = 0;  // of the last piece
    std::uintptr_t end = 0;

    bool covers(const PieceList& pieces, const Range& range) {
      auto place = pieces.first_at(range.begin);
      std::uintptr_t end = range.begin;
      for (const Piece* p = pieces.at(place); end < range.end; p = pieces.at(place)) {
        const std::uintptr_t from = p == nullptr ? range.end : std::clamp(p->begin, end, range.end);
        if (range.has(end, from)) return false;
        if (from == range.end) return true;
        end = std::min(p->end, range.end);
        if (range.has(from, end) && !take(*p, range)) return false;
        place = pieces.next(place);
      }
      return true;
    }
    bool take(const Piece& piece, const Range& range) {
      const bool same = piece.key.same_bytes(key);
      if (!same && !piece.key.contains(key)) return false;
      if (found.link.known() && (found.link != piece.link || !found.whole.same_bytes(piece.key))) return false;
      found.link = piece.link;
      found.whole = piece.key;
      if (!same) found.sample = piece.sample;
      using enum logdir::TensorOrigin;
      if (found.origin != changed) found.origin = same ? recorded : part;
      cut = cut || is_cut(piece, range);
      begin = piece.begin;
      end = piece.end;
      // Words between the elements of a view with gaps are not the caller's to read.
      if (look && (same || key.dense))
        if (!piece.sample.holds(piece.key, std::max(piece.begin, range.begin), std::min(piece.end, range.end),
                                checked)) {
          if (piece.key.copied || key.copied) return false;
          found.origin = changed;
        }
      return true;
    }
    // In the region that is looked at; of a tensor with regions of all shards, anywhere.
    static bool is_cut(const Piece& piece, const Range& range) noexcept {
      const std::uintptr_t region = range.begin / region_bytes * region_bytes;
      const std::uintptr_t begin = range.own ? std::max(piece.key.begin, region) : piece.key.begin;
      const std::uintptr_t end = range.own ? std::min(piece.key.end, region + region_bytes) : piece.key.end;
      return piece.begin > begin || piece.end < end;
    }
    // Of a part that holds none of the words, the whole must still hold all, or what is left of it those that lie
    // there: it may have been freed, and its memory been given to others.
    [[nodiscard]] bool is_sure() const noexcept {
      if (found.origin != logdir::TensorOrigin::part || checked > 0) return true;
      if (!look) return !cut;
      return found.sample.holds_if_mapped(found.whole, cut ? begin : found.whole.begin, cut ? end : found.whole.end);
    }
  };

  // What is left over of the pieces at both ends stays, if it is large enough to be of use.
  static void replace(PieceList& pieces, const Piece& piece) {
    auto place = pieces.first_at(piece.begin);
    if (Piece* const p = pieces.at(place);
        p != nullptr && piece.link.known() && p->begin == piece.begin && p->end == piece.end) {
      *p = piece;
      return;
    }
    // At the place of one that was freed, another is often a little smaller: what is left there is of no use.
    const auto stays = [](const Piece& p, std::uintptr_t begin, std::uintptr_t end) {
      constexpr std::uintptr_t enough = 64;
      return p.key.dense && begin < end && end - begin >= std::min(enough, (p.end - p.begin + 15) / 16);
    };
    std::array<Piece, 3> now;
    std::size_t count = 0;
    if (const Piece* const p = pieces.at(place); p != nullptr && stays(*p, p->begin, piece.begin)) {
      now[count] = *p;
      now[count++].end = piece.begin;
    }
    if (piece.link.known()) now[count++] = piece;
    for (const Piece* p = pieces.at(place); p != nullptr && p->begin < piece.end; p = pieces.at(place)) {
      if (stays(*p, piece.end, p->end)) {
        now[count] = *p;
        now[count++].begin = piece.end;
      }
      place = pieces.erase(place);
    }
    for (std::size_t i = 0; i < count; ++i) pieces.insert(now[i]);
  }

  // Joins a piece with what is left of the same tensor on both sides.
  static void merge(PieceList& pieces, PieceList::Place place) {
    const auto joins = [](const Piece& a, const Piece& b) {
      return a.end == b.begin && a.link == b.link && a.key.same_bytes(b.key);
    };
    Piece joined = *pieces.at(place);
    if (const Piece* const behind = pieces.at(pieces.next(place)); behind != nullptr && joins(joined, *behind)) {
      joined.end = behind->end;
      pieces.erase(pieces.next(place));
    }
    if (!PieceList::is_first(place)) {
      const Piece* const before = pieces.at(pieces.previous(place));
      if (joins(*before, joined)) {
        joined.begin = before->begin;
        place = pieces.erase(pieces.previous(place));
      }
    }
    *pieces.at(place) = joined;
    pieces.note_end(place);
  }

  // Calls visit(shard, range) for each shard that has regions of a tensor, under its lock, until it says false.
  template <class Visit>
  bool each_shard(const TensorKey& key, Visit&& visit) {
    if (key.empty()) return false;
    const std::uintptr_t first = key.begin / region_bytes;
    const std::uintptr_t count = (key.end - 1) / region_bytes - first + 1;
    for (std::uintptr_t r = first; r < first + std::min<std::uintptr_t>(count, num_shards); ++r) {
      Range range{key.begin, key.end, r % num_shards, count <= num_shards};
      if (range.own) {
        range.begin = std::max(key.begin, r * region_bytes);
        range.end = std::min(key.end, (r + 1) * region_bytes);
      }
      Shard& shard = shards_[range.shard];
      const std::lock_guard guard(shard.lock);
      if (!visit(shard, range)) return false;
    }
    return true;
  }

  void forget_some() noexcept {
    Shard& shard = shards_[next_forgotten_.fetch_add(1, std::memory_order_relaxed) % num_shards];
    const std::lock_guard guard(shard.lock);
    shard.pieces.forget_some();
  }

  std::atomic<std::size_t> num_blocks_{0};
  std::atomic<std::size_t> next_forgotten_{0};
  std::atomic<std::uint64_t> generation_{0};
  std::array<Shard, num_shards> shards_;
};

inline TensorRegistry& registry() {
  static TensorRegistry* const tensors = new TensorRegistry;
  return *tensors;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
