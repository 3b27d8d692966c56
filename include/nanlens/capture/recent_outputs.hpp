/// @file
/// Copies: `return nanlens::op("Log", y, x);` with a local `y` gives the caller a copy of it, at another address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The last outputs of a thread whose values the program may have copied: a tensor of the same dtype and shape with the
/// same content is taken for a copy. A tensor of one number throughout is like many others, and taken for none.
class RecentOutputs {
 public:
  /// Forgets what is of another generation of the registry.
  RecentOutputs& of(std::uint64_t generation) noexcept {
    if (std::exchange(generation_, generation) != generation) entries_.fill({});
    return *this;
  }
  void add(const TensorKey& key, const ContentSample& sample, const TensorLink& link) noexcept {
    if (key.dense && sample.varied(key))
      entries_[next_++ % entries_.size()] = {key.fingerprint, key.bytes(), sample, link};
  }
  /// The output that a tensor is a copy of; unknown if there is none. `sample` is then that of the tensor.
  [[nodiscard]] TensorLink find(const TensorKey& key, ContentSample& sample) const noexcept {
    bool sampled = false;
    for (std::size_t back = 1; key.dense && back <= entries_.size(); ++back) {
      const Entry& e = entries_[(next_ - back) % entries_.size()];
      if (e.fingerprint != key.fingerprint || e.bytes != key.bytes()) continue;
      if (!sampled) sample = ContentSample(key);
      sampled = true;
      if (e.sample == sample) return e.link;
    }
    return {};
  }

 private:
  struct Entry {
    std::uint64_t fingerprint = 0;  // no key has 0
    std::size_t bytes = 0;
    ContentSample sample;
    TensorLink link;
  };
  std::array<Entry, 16> entries_;
  std::size_t next_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
