/// @file
/// What ops inside an op have made: an op that only hands out their results is not recorded beside them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// The last results of a thread, in the order in which their ops ended. An op asks only for what was made since it
/// began.
class NestedResults {
 public:
  /// The number of results so far: where an op begins.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  void add(const detail::TensorKey& key) noexcept { results_[count_++ % results_.size()] = {key.begin, key.end}; }

  /// Was the memory made by an op that has ended since `begin`?
  [[nodiscard]] bool covers(const detail::TensorKey& key, std::uint64_t begin) const noexcept {
    const std::uint64_t oldest = count_ > results_.size() ? count_ - results_.size() : 0;
    for (std::uint64_t i = count_; i-- > std::max(begin, oldest);) {
      const Result& result = results_[i % results_.size()];
      if (result.begin <= key.begin && key.end <= result.end) return true;
    }
    return false;
  }

 private:
  struct Result {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::array<Result, 256> results_;
  std::uint64_t count_;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
