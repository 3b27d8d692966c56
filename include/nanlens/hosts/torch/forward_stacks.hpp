/// @file
/// From an op of the backward pass to the stack of the forward op that it belongs to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// PyTorch numbers the nodes of the autograd graph, thread by thread; an op's event has the number that its node gets.
/// The last 65,536 are known: what comes later takes the place of what is as many numbers older.
class ForwardStacks {
 public:
  void set(std::uint64_t thread, std::int64_t number, std::uint32_t stack) noexcept {
    entry(thread, number).store(mark(thread, number) << 32 | stack, std::memory_order_relaxed);
  }
  /// SourcePlace::no_stack if it is not known.
  [[nodiscard]] std::uint32_t find(std::uint64_t thread, std::int64_t number) noexcept {
    const std::uint64_t found = entry(thread, number).load(std::memory_order_relaxed);
    return found >> 32 == mark(thread, number) ? static_cast<std::uint32_t>(found) : detail::SourcePlace::no_stack;
  }

 private:
  std::atomic<std::uint64_t>& entry(std::uint64_t thread, std::int64_t number) noexcept {
    return entries_[(static_cast<std::uint64_t>(number) + thread * 8191) % entries_.size()];
  }
  // Never 0, which is what an entry has that nothing was put into.
  static std::uint64_t mark(std::uint64_t thread, std::int64_t number) noexcept {
    return detail::mix(thread, static_cast<std::uint64_t>(number)) >> 32 | 1;
  }

  std::array<std::atomic<std::uint64_t>, 65536> entries_{};
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
