/// @file
/// Copies: `return nanlens::op("Log", y, x);` with a local `y` gives the caller a copy of it, at another address, and
/// what holds its elements itself, as std::array does, is copied wherever it goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nanlens/capture/content_mark.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The last outputs of a thread whose values the program may have copied.
class RecentOutputs {
 public:
  /// Forgets what is of another generation of the registry.
  RecentOutputs& of(std::uint64_t generation) noexcept {
    if (std::exchange(generation_, generation) != generation) entries_.fill({});
    return *this;
  }
  void add(const ContentMark& mark, const TensorLink& link) noexcept {
    if (mark.tells()) entries_[next_++ % entries_.size()] = {mark, link};
  }
  /// The output that a tensor is a copy of; unknown if there is none. `mark` is then that of the tensor.
  [[nodiscard]] TensorLink find(const TensorKey& key, ContentMark& mark) const noexcept {
    bool marked = false;
    for (std::size_t back = 1; key.dense && back <= entries_.size(); ++back) {
      const Entry& e = entries_[(next_ - back) % entries_.size()];
      if (!e.mark.fits(key)) continue;
      if (!marked) mark = ContentMark(key);
      marked = true;
      if (e.mark == mark) return e.link;
    }
    return {};
  }

 private:
  struct Entry {
    ContentMark mark;
    TensorLink link;
  };
  std::array<Entry, 16> entries_;
  std::size_t next_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
