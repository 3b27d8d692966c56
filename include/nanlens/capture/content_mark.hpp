/// @file
/// By what a copy of a tensor is known, at whatever address it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// Dtype, shape and content of a tensor. Small ones are compared whole: a matrix and its transpose may differ in few
/// places.
class ContentMark {
 public:
  ContentMark() noexcept = default;
  /// Reads the memory of a tensor.
  explicit ContentMark(const TensorKey& key) noexcept : ContentMark(key, ContentSample(key)) {}
  ContentMark(const TensorKey& key, const ContentSample& content) noexcept
      : sample(content), fingerprint_(key.fingerprint), bytes_(key.bytes()) {
    if (!key.dense || key.far != 0 || !content.varied(key)) return;
    tells_ = true;
    if (bytes_ <= small) all_ = hash_text({reinterpret_cast<const char*>(key.begin), bytes_});
  }
  /// A tensor of one number throughout is like many others: it is taken for no copy, nor for what others are copies of.
  [[nodiscard]] bool tells() const noexcept { return tells_; }
  /// Can it be the mark of that tensor, as far as dtype and shape go?
  [[nodiscard]] bool fits(const TensorKey& key) const noexcept {
    return fingerprint_ == key.fingerprint && bytes_ == key.bytes();
  }
  friend bool operator==(const ContentMark&, const ContentMark&) noexcept = default;

  ContentSample sample;

 private:
  static constexpr std::size_t small = 512;
  std::uint64_t fingerprint_ = 0;  // no key has 0
  std::size_t bytes_ = 0;
  std::uint64_t all_ = 0;  // a hash of a small one
  bool tells_ = false;
};

}  // namespace nanlens::inline NANLENS_ABI::detail
