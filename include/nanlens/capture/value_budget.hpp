/// @file
/// How many values may be stored in full, and of which ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The values of the first bad event of each op and call site, as long as the budget of a recording lasts. Asked at bad
/// events only.
class ValueBudget {
 public:
  /// A new recording: nothing is stored yet.
  void reset(std::int64_t bytes) {
    const std::lock_guard guard(lock_);
    left_ = bytes;
    sites_.clear();
  }
  /// Is this the first bad event of its site, and anything left?
  [[nodiscard]] bool begin(std::uint64_t site) {
    const std::lock_guard guard(lock_);
    return left_ > 0 && sites_.size() < most_sites && sites_.insert(site).second;
  }
  /// Takes the bytes of one tensor; false if there are not as many left.
  [[nodiscard]] bool take(std::int64_t bytes) {
    const std::lock_guard guard(lock_);
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  // Of a program that makes names at run time there may be any number.
  static constexpr std::size_t most_sites = 65'536;

  std::mutex lock_;
  std::int64_t left_ = 0;
  std::unordered_set<std::uint64_t> sites_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
