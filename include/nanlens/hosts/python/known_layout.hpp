/// @file
/// How the Python of this process keeps its frames, found out once.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include <unistd.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/interpreter.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

/// The layout of this process's Python, once it is known. It is found out by a thread that holds the interpreter's
/// lock, or by the main thread, which takes it: null until then, and where it can't be; `unreadable`, if it is given,
/// tells which.
inline const FrameLayout* frame_layout(bool* unreadable = nullptr) noexcept {
  enum : int { unknown, known, impossible };
  static std::atomic<int> state{unknown};
  static FrameLayout layout;
  const int now = state.load(std::memory_order_acquire);
  if (unreadable != nullptr) *unreadable = now == impossible;
  if (now != unknown) return now == known ? &layout : nullptr;
  const Interpreter& python = Interpreter::get();
  if (!python.has_readable_stacks()) {
    state.store(impossible);
    return frame_layout(unreadable);
  }
  const bool locked = python.PyGILState_Check() != 0;
  if (!locked && nanlens::detail::thread_number() != static_cast<std::uint64_t>(::getpid())) return nullptr;
  static std::mutex once;
  const std::unique_lock guard(once, std::try_to_lock);
  if (!guard.owns_lock() || state.load() != unknown) return nullptr;
  const int before = python.PyGILState_Ensure();
  layout = find_frame_layout();
  python.PyGILState_Release(before);
  state.store(layout.complete() ? known : impossible, std::memory_order_release);
  return frame_layout(unreadable);
}

/// Says so once, of a process of which the stacks are wanted.
inline void say_unreadable() noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fputs("nanlens: Python's stacks can't be read (they can from 3.11 on): nothing has a Python line\n", stderr);
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
