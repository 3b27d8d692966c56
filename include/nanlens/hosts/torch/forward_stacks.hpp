/// @file
/// From an op of the backward pass to the stack and the module of the forward op that it belongs to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Where an op of the forward pass ran.
struct ForwardPlace {
  std::uint32_t stack = detail::SourcePlace::no_stack;
  const std::string* module = nullptr;  ///< its name, if it has one
};

/// The frames of one stack, and within them those of another: of a backward op, where the pass was started, then where
/// its forward op ran.
inline std::uint32_t joined_stack(std::uint32_t outer, std::uint32_t inner) noexcept {
  struct Known {
    std::uint32_t outer;
    std::uint32_t inner;
    std::uint32_t joined;
  };
  static thread_local std::array<Known, 256> known{};
  if (inner == detail::SourcePlace::no_stack) return outer;
  if (outer == detail::SourcePlace::no_stack) return inner;
  Known& entry = known[detail::mix(outer, inner) % known.size()];
  if (entry.outer == outer && entry.inner == inner && entry.joined != 0) return entry.joined - 1;
  const std::uint32_t joined = detail::recorder().join_stacks(outer, inner);
  entry = {outer, inner, joined + 1};
  return joined;
}

/// PyTorch numbers the nodes of the autograd graph, thread by thread; an op's event has the number that its node gets.
/// The last 65,536 are known: what comes later takes the place of what is as many numbers older.
class ForwardStacks {
 public:
  void set(std::uint64_t thread, std::int64_t number, const ForwardPlace& place) noexcept {
    Entry& to = entry(thread, number);
    to.module.store(place.module, std::memory_order_relaxed);
    to.stack.store(mark(thread, number) << 32 | place.stack, std::memory_order_relaxed);
  }
  /// Without a stack if it is not known.
  [[nodiscard]] ForwardPlace find(std::uint64_t thread, std::int64_t number) noexcept {
    const Entry& from = entry(thread, number);
    const std::uint64_t found = from.stack.load(std::memory_order_relaxed);
    if (found >> 32 != mark(thread, number)) return {};
    return {static_cast<std::uint32_t>(found), from.module.load(std::memory_order_relaxed)};
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> stack;
    std::atomic<const std::string*> module;
  };
  Entry& entry(std::uint64_t thread, std::int64_t number) noexcept {
    return entries_[(static_cast<std::uint64_t>(number) + thread * 8191) % entries_.size()];
  }
  // Never 0, which is what an entry has that nothing was put into.
  static std::uint64_t mark(std::uint64_t thread, std::int64_t number) noexcept {
    return detail::mix(thread, static_cast<std::uint64_t>(number)) >> 32 | 1;
  }

  std::array<Entry, 65536> entries_{};
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
