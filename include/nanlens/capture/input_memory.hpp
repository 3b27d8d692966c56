/// @file
/// The memory of an op's input, as far as it can still be told what the op got.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>
#endif

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Copies memory that may be gone: it is asked of the system. False where that can't tell.
inline bool copy_if_mapped(std::uintptr_t from, void* to, std::size_t bytes) noexcept {
#if defined(__linux__)
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
#else
  (void)from, (void)to, (void)bytes;
  return false;
#endif
}

/// Where an input can be read: in its place, or in a copy, where it may have ended since the op began (an `OpScope`'s)
/// and still seems to hold what it held then.
class InputMemory {
 public:
  /// What is larger is not copied.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  explicit InputMemory(const InputRef& input) : view_(input.view), here_(input.here) {
    const TensorKey& key = input.key;
    if (here_ || input.overwritten || input.before == nullptr || key.empty() || key.far != 0) return;
    if (key.bytes() > most_bytes) return;
    copy_.resize(key.bytes());
    if (!copy_if_mapped(key.begin, copy_.data(), copy_.size())) return;
    TensorKey copied = key;
    copied.begin = reinterpret_cast<std::uintptr_t>(copy_.data());
    copied.end = copied.begin + copy_.size();
    if (ContentSample(copied) != *input.before) return;
    view_.data = copy_.data() + (reinterpret_cast<std::uintptr_t>(view_.data) - key.begin);
    here_ = true;
  }
  /// Can it be read?
  [[nodiscard]] bool here() const noexcept { return here_; }
  /// The tensor, where it can be read.
  [[nodiscard]] const TensorView& view() const noexcept { return view_; }

 private:
  std::vector<unsigned char> copy_;
  TensorView view_;
  bool here_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
