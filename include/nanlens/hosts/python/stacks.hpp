/// @file
/// The Python stack of the calling thread, without the interpreter's lock: file, line and function of every frame.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/interpreter.hpp>
#include <nanlens/hosts/python/walk.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

using nanlens::detail::SourcePlace;

/// Tells by its file and name whether a function is a method that a host wants the object of.
using IsMarked = bool (*)(std::string_view file, std::string_view function);

/// A stack that was walked before.
struct KnownStack {
  std::uint64_t hash = 0;
  std::uint32_t number = SourcePlace::no_stack;  ///< the recorder's
  std::int32_t marked = -1;                      ///< the outermost of the innermost marked frames; −1: none
};

/// Resolves a stack now, while its code objects are alive.
inline KnownStack define(const FrameLayout& layout, const Walk& walked, IsMarked is_marked) {
  const Interpreter& python = Interpreter::get();
  std::vector<std::string> texts;
  texts.reserve(2 * walked.size);
  std::vector<SourcePlace> places;
  KnownStack known{walked.hash};
  std::size_t last_marked = walked.size + 1;
  for (std::size_t i = walked.size; i-- > 0;) {
    const Frame& frame = walked.frames[i];
    const auto offset = static_cast<std::ptrdiff_t>(frame.instruction - frame.code) - layout.bytecode;
    const int line = python.PyCode_Addr2Line(reinterpret_cast<Object>(frame.code), static_cast<int>(offset));
    const std::string& file = texts.emplace_back(text_of(word_of(frame.code, layout.file)));
    const std::string& name = texts.emplace_back(text_of(word_of(frame.code, layout.name)));
    places.emplace_back(file.c_str(), name.c_str(), static_cast<std::uint32_t>(line < 0 ? 0 : line), 0U);
    if (!is_marked(file, name)) continue;
    if (last_marked != i + 1) known.marked = static_cast<std::int32_t>(i);
    last_marked = i;
  }
  known.number = nanlens::detail::recorder().add_stack(places.data(), places.size());
  return known;
}

/// The layout of this process's Python, once it is known. It is found out by a thread that holds the interpreter's
/// lock, or by the main thread, which takes it: null until then, and where it can't be.
inline const FrameLayout* frame_layout() noexcept {
  enum : int { unknown, known, impossible };
  static std::atomic<int> state{unknown};
  static FrameLayout layout;
  const int now = state.load(std::memory_order_acquire);
  if (now != unknown) return now == known ? &layout : nullptr;
  const Interpreter& python = Interpreter::get();
  const bool locked = python.PyGILState_Check() != 0;
  if (!locked && nanlens::detail::thread_number() != static_cast<std::uint64_t>(::getpid())) return nullptr;
  static std::mutex once;
  const std::unique_lock guard(once, std::try_to_lock);
  if (!guard.owns_lock() || state.load() != unknown) return nullptr;
  const int before = python.PyGILState_Ensure();
  layout = find_frame_layout();
  python.PyGILState_Release(before);
  state.store(layout.complete() ? known : impossible, std::memory_order_release);
  if (layout.complete()) return &layout;
  std::fprintf(stderr, "nanlens: Python's stacks can't be read (they can from 3.11 on): ops have no Python lines\n");
  return nullptr;
}

/// Where the calling thread is.
struct ThreadStack {
  std::uint32_t number = SourcePlace::no_stack;  ///< the recorder's; no_stack where it runs no Python
  std::uintptr_t object = 0;  ///< the first local variable of the innermost marked frame: the object of a method
};

inline bool nothing_marked(std::string_view /*file*/, std::string_view /*function*/) noexcept { return false; }

/// The calling thread's Python stack. `is_marked` is the same at each call.
inline ThreadStack this_thread_stack(IsMarked is_marked = &nothing_marked) {
  const Interpreter& python = Interpreter::get();
  if (!python.runs() || python.is_ending()) return {};
  Object const state = python.PyGILState_GetThisThreadState();
  const FrameLayout* const layout = state == nullptr ? nullptr : frame_layout();
  if (layout == nullptr) return {};
  Walk walked;
  walk(*layout, state, walked);
  if (walked.size == 0) return {};
  static thread_local std::array<KnownStack, 1024> known{};
  KnownStack& entry = known[walked.hash % known.size()];
  if (entry.hash != walked.hash) entry = define(*layout, walked, is_marked);
  if (entry.marked < 0 || layout->locals < 0) return {entry.number, 0};
  const Frame& frame = walked.frames[static_cast<std::size_t>(entry.marked)];
  return {entry.number, without_marks(word_of(frame.address, layout->locals))};
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
