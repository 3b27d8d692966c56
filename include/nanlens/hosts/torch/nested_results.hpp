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

  void add(const detail::TensorKey& key) noexcept { push({key.begin, key.end, Kind::made}); }

  /// Memory has been filled since `begin`, which is not what an op is after that fills it on its way: from now on
  /// nothing covers it.
  void add_filled(const detail::TensorKey& key, std::uint64_t begin) noexcept {
    forget(key, begin);
    push({key.begin, key.end, Kind::filled});
  }

  /// The same with values of other memory: of which, nobody can tell afterwards.
  void add_copied(const detail::TensorKey& key, std::uint64_t begin) noexcept {
    forget(key, begin);
    push({key.begin, key.end, Kind::copied});
  }

  /// Memory was written since `begin`, by something that is not recorded: what was made there is no longer what it
  /// holds.
  void forget(const detail::TensorKey& key, std::uint64_t begin) noexcept {
    for (std::uint64_t i = count_; i-- > std::max(begin, oldest());) {
      Result& result = results_[i % results_.size()];
      if (result.overlaps(key)) result = {};
    }
  }

  /// Was the memory made by an op that has ended since `begin`?
  [[nodiscard]] bool covers(const detail::TensorKey& key, std::uint64_t begin) const noexcept {
    return find_since(begin, [&](const Result& result) {
             return result.kind == Kind::made && result.begin <= key.begin && key.end <= result.end;
           }) != nullptr;
  }

  /// May an op have made or filled some of the memory since `begin`, with what is known?
  [[nodiscard]] bool touches(const detail::TensorKey& key, std::uint64_t begin) const noexcept {
    if (begin < oldest()) return true;
    const Result* const last = find_since(begin, [&](const Result& result) { return result.overlaps(key); });
    return last != nullptr && last->kind != Kind::copied;
  }

 private:
  enum class Kind : std::uint8_t { filled, made, copied };  // the first is that of what was forgotten
  struct Result {
    std::uintptr_t begin;
    std::uintptr_t end;
    Kind kind;
    [[nodiscard]] bool overlaps(const detail::TensorKey& key) const noexcept {
      return begin < key.end && key.begin < end;
    }
  };

  void push(const Result& result) noexcept { results_[count_++ % results_.size()] = result; }
  [[nodiscard]] std::uint64_t oldest() const noexcept {
    return count_ > results_.size() ? count_ - results_.size() : 0;
  }
  // The last one that fits; null if none does.
  template <class Test>
  [[nodiscard]] const Result* find_since(std::uint64_t begin, const Test& test) const noexcept {
    for (std::uint64_t i = count_; i-- > std::max(begin, oldest());)
      if (const Result& result = results_[i % results_.size()]; test(result)) return &result;
    return nullptr;
  }

  std::array<Result, 256> results_;
  std::uint64_t count_;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
