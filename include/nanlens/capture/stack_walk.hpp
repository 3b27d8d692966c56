/// @file
/// Return addresses of the calling thread: cheap to take, resolved to lines later and elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#if !defined(__EMSCRIPTEN__)
#include <unwind.h>
#endif
#if defined(__linux__)
#include <pthread.h>
#endif

#include <nanlens/capture/options.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace NANLENS_HIDDEN detail {

// What is not optimised has several frames for each std::function and lambda on the way.
inline constexpr std::size_t max_stack_frames = 128;

/// Return addresses, innermost first.
struct StackAddresses {
  std::array<std::uintptr_t, max_stack_frames> pcs;
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::uintptr_t> span() const noexcept { return {pcs.data(), size}; }
  void copy(std::span<const std::uintptr_t> from) noexcept {
    size = std::min(from.size(), max_stack_frames);
    std::copy_n(from.begin(), size, pcs.begin());
  }
};

#if !defined(__EMSCRIPTEN__)
inline _Unwind_Reason_Code add_unwound_frame(_Unwind_Context* context, void* to) noexcept {
  auto& stack = *static_cast<StackAddresses*>(to);
  const std::uintptr_t pc = _Unwind_GetIP(context);
  if (pc == 0 || stack.size == max_stack_frames) return _URC_END_OF_STACK;
  stack.pcs[stack.size++] = pc;
  return _URC_NO_REASON;
}
#endif

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
// Bounds of this thread's stack: a frame pointer that leads out of them is not followed.
inline void thread_stack_bounds(std::uintptr_t& low, std::uintptr_t& high) noexcept {
  thread_local std::uintptr_t bounds[2] = {0, 0};
  if (bounds[1] == 0) {
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
      void* start = nullptr;
      std::size_t size = 0;
      ::pthread_attr_getstack(&attributes, &start, &size);
      bounds[0] = reinterpret_cast<std::uintptr_t>(start);
      bounds[1] = bounds[0] + size;
      ::pthread_attr_destroy(&attributes);
    }
  }
  low = bounds[0];
  high = bounds[1];
}

inline void walk_frame_pointers(StackAddresses& stack) noexcept {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
  thread_stack_bounds(low, high);
  auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  while (stack.size < max_stack_frames && frame >= low && frame + 2 * sizeof(frame) <= high &&
         frame % sizeof(frame) == 0) {
    const auto* const words = reinterpret_cast<const std::uintptr_t*>(frame);
    if (words[1] == 0) return;
    stack.pcs[stack.size++] = words[1];
    if (words[0] <= frame) return;  // callers lie at higher addresses
    frame = words[0];
  }
}
#endif

/// Walks the stack of the calling thread.
inline void walk_stack(StackMode mode, StackAddresses& stack) noexcept {
  stack.size = 0;
  if (mode == StackMode::call_site) return;
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
  if (mode == StackMode::frame_pointers) return walk_frame_pointers(stack);
#endif
#if !defined(__EMSCRIPTEN__)
  _Unwind_Backtrace(&add_unwound_frame, &stack);
#endif
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
