/// @file
/// Which tensors lie where: disjoint ranges of memory in order, in blocks, so that a change costs the same however many
/// there are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// A recorded tensor, or what is left of it where others were written over it.
struct Piece {
  std::uintptr_t begin;
  std::uintptr_t end;
  TensorKey key;
  TensorLink link;
  ContentSample sample;
};

/// Pieces by address. A search is a few comparisons in the list of blocks and in one of them; an insertion moves
/// a few words of it.
class PieceList {
 public:
  PieceList() = default;
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;
  ~PieceList() { clear(); }

  /// Where the blocks of all lists are counted: before the first piece is put.
  void count_blocks_in(std::atomic<std::size_t>& blocks) noexcept { num_blocks_ = &blocks; }

  /// Where a piece is; valid until the list changes.
  struct Place {
    std::size_t block;
    std::size_t index;
  };

  /// The first piece that ends behind an address.
  [[nodiscard]] Place first_at(std::uintptr_t from) const noexcept {
    const auto block =
        std::partition_point(ends_.begin(), ends_.end(), [&](std::uintptr_t end) { return end <= from; });
    const auto number = static_cast<std::size_t>(block - ends_.begin());
    if (block == ends_.end()) return {number, 0};
    Block& b = *blocks_[number];
    b.used = true;
    const auto* const first = b.ends.data();
    const auto* const at =
        std::partition_point(first, first + b.count, [&](std::uintptr_t end) { return end <= from; });
    return {number, static_cast<std::size_t>(at - first)};
  }
  /// The piece at a place; null behind the last.
  [[nodiscard]] Piece* at(Place place) const noexcept {
    return place.block == blocks_.size() ? nullptr : &piece_of(*blocks_[place.block], place.index);
  }
  [[nodiscard]] Place next(Place place) const noexcept {
    return ++place.index < blocks_[place.block]->count ? place : Place{place.block + 1, 0};
  }
  /// The place before; there must be one.
  [[nodiscard]] Place previous(Place place) const noexcept {
    if (place.index > 0) return {place.block, place.index - 1};
    return {place.block - 1, blocks_[place.block - 1]->count - 1};
  }
  [[nodiscard]] static bool is_first(Place place) noexcept { return place.block == 0 && place.index == 0; }

  /// Puts a piece where none is.
  void insert(const Piece& piece) {
    Place place = first_at(piece.begin);
    if (place.block == blocks_.size()) {
      if (blocks_.empty() || blocks_.back()->count == block_pieces) add_block(blocks_.size());
      place = {blocks_.size() - 1, blocks_.back()->count};
    } else if (blocks_[place.block]->count == block_pieces) {
      split(place);
    }
    Block& b = *blocks_[place.block];
    const std::uint8_t slot = b.slots[b.count];
    shift_up(b.slots.data() + place.index, b.slots.data() + b.count, slot);
    shift_up(b.ends.data() + place.index, b.ends.data() + b.count, piece.end);
    b.pieces[slot] = piece;
    ++b.count;
    ends_[place.block] = b.ends[b.count - 1];
  }
  /// Takes a piece out; gives the place of the one behind it.
  Place erase(Place place) noexcept {
    Block& b = *blocks_[place.block];
    const std::uint8_t slot = b.slots[place.index];
    --b.count;
    std::copy(b.slots.data() + place.index + 1, b.slots.data() + b.count + 1, b.slots.data() + place.index);
    std::copy(b.ends.data() + place.index + 1, b.ends.data() + b.count + 1, b.ends.data() + place.index);
    b.slots[b.count] = slot;
    if (b.count == 0) {
      remove_block(place.block);
      return {place.block, 0};
    }
    ends_[place.block] = b.ends[b.count - 1];
    return place.index < b.count ? place : Place{place.block + 1, 0};
  }
  /// After a change of a piece's end.
  void note_end(Place place) noexcept {
    Block& b = *blocks_[place.block];
    b.ends[place.index] = piece_of(b, place.index).end;
    ends_[place.block] = b.ends[b.count - 1];
  }

  /// Forgets a block of pieces, rather one that was not looked at for long.
  void forget_some() noexcept {
    if (blocks_.empty()) return;
    for (int tries = 0; tries < 4; ++tries, ++hand_) {
      if (hand_ >= blocks_.size()) hand_ = 0;
      Block& b = *blocks_[hand_];
      if (!b.used) break;
      b.used = false;
    }
    remove_block(hand_ < blocks_.size() ? hand_ : 0);
  }
  void clear() noexcept {
    if (blocks_.empty()) return;
    num_blocks_->fetch_sub(blocks_.size(), std::memory_order_relaxed);
    blocks_.clear();
    ends_.clear();
  }

 private:
  static constexpr std::size_t block_pieces = 32;
  // Pieces stay where they are put: what is searched and moved is small.
  struct Block {
    std::size_t count = 0;
    bool used = true;  // since forget_some came by
    std::array<std::uintptr_t, block_pieces> ends{};
    std::array<std::uint8_t, block_pieces> slots{};  // of the pieces in order; behind them, those that are free
    std::array<Piece, block_pieces> pieces;
    Block() noexcept { std::iota(slots.begin(), slots.end(), std::uint8_t{0}); }
  };
  static Piece& piece_of(Block& block, std::size_t index) noexcept { return block.pieces[block.slots[index]]; }
  template <class T>
  static void shift_up(T* first, T* last, T added) noexcept {
    std::copy_backward(first, last, last + 1);
    *first = added;
  }

  void add_block(std::size_t at) {
    if (ends_.size() == ends_.capacity()) ends_.reserve(2 * ends_.size() + 8);  // what follows fails before it changes
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at), std::make_unique<Block>());
    ends_.insert(ends_.begin() + static_cast<std::ptrdiff_t>(at), 0);
    num_blocks_->fetch_add(1, std::memory_order_relaxed);
  }
  void remove_block(std::size_t at) noexcept {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
    ends_.erase(ends_.begin() + static_cast<std::ptrdiff_t>(at));
    num_blocks_->fetch_sub(1, std::memory_order_relaxed);
  }
  void split(Place& place) {
    add_block(place.block + 1);
    Block& from = *blocks_[place.block];
    Block& to = *blocks_[place.block + 1];
    constexpr std::size_t half = block_pieces / 2;
    for (std::size_t i = half; i < block_pieces; ++i) to.pieces[i - half] = piece_of(from, i);
    std::copy(from.ends.begin() + half, from.ends.end(), to.ends.begin());
    to.count = block_pieces - half;
    from.count = half;
    ends_[place.block] = from.ends[half - 1];
    ends_[place.block + 1] = to.ends[to.count - 1];
    if (place.index > half) place = {place.block + 1, place.index - half};
  }

  std::atomic<std::size_t>* num_blocks_ = nullptr;
  std::vector<std::uintptr_t> ends_;  // of each block's last piece
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t hand_ = 0;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
