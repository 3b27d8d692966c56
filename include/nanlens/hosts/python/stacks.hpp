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
#include <vector>

#include <unistd.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/interpreter.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

using nanlens::detail::SourcePlace;

/// A frame as it was walked.
struct Frame {
  std::uintptr_t code;
  std::uintptr_t instruction;
};

/// Innermost first; of deeper stacks the inner part.
struct Walk {
  static constexpr std::size_t most_frames = 128;
  std::array<Frame, most_frames> frames;
  std::size_t size = 0;
  std::uint64_t hash = 0;
};

inline std::uintptr_t word_of(std::uintptr_t base, int place) noexcept {
  return reinterpret_cast<const std::uintptr_t*>(base)[place];
}

/// Walks the frames of a thread that does not run Python code meanwhile: the calling one, inside of a C function.
inline void walk(const FrameLayout& layout, Object state, Walk& walked) noexcept {
  const auto code_type = reinterpret_cast<std::uintptr_t>(Interpreter::get().PyCode_Type);
  std::uintptr_t frame = word_of(reinterpret_cast<std::uintptr_t>(state), layout.current);
  if (layout.within >= 0 && frame != 0) frame = word_of(frame, layout.within);
  for (; frame != 0 && walked.size < Walk::most_frames; frame = word_of(frame, layout.previous)) {
    const std::uintptr_t code = without_marks(word_of(frame, layout.code));
    if (code == 0 || word_of(code, 1) != code_type) continue;  // an object's second word is its type
    const std::uintptr_t instruction = word_of(frame, layout.instruction);
    walked.frames[walked.size++] = {code, instruction};
    // Memory of code objects is reused: what they are made of belongs to the key.
    std::uint64_t h = walked.hash;
    for (const std::uintptr_t word : {instruction, word_of(code, layout.file), word_of(code, layout.name),
                                      word_of(code, layout.constants), word_of(code, layout.lines)}) {
      h = (h ^ word) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29;
    }
    walked.hash = h;
  }
}

/// A str as UTF-8. By single characters, which takes neither memory nor the lock of the interpreter.
inline std::string text_of(std::uintptr_t object) {
  const Interpreter& python = Interpreter::get();
  Object const text = reinterpret_cast<Object>(object);
  std::string utf8;
  const std::ptrdiff_t length = python.PyUnicode_GetLength(text);
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const std::uint32_t c = python.PyUnicode_ReadChar(text, i);
    const auto add = [&](std::uint32_t first, unsigned shift) {
      utf8 += static_cast<char>(first | c >> shift);
      while (shift > 0) utf8 += static_cast<char>(0x80U | (c >> (shift -= 6) & 0x3fU));
    };
    c < 0x80 ? add(0, 0) : c < 0x800 ? add(0xc0, 6) : c < 0x10000 ? add(0xe0, 12) : add(0xf0, 18);
  }
  return utf8;
}

/// The recorder's number of a stack that was walked, resolved now, while its code objects are alive.
inline std::uint32_t define(const FrameLayout& layout, const Walk& walked) {
  const Interpreter& python = Interpreter::get();
  std::vector<std::string> texts;
  texts.reserve(2 * walked.size);
  std::vector<SourcePlace> places;
  for (std::size_t i = walked.size; i-- > 0;) {
    const Frame& frame = walked.frames[i];
    const auto offset = static_cast<std::ptrdiff_t>(frame.instruction - frame.code) - layout.bytecode;
    const int line = python.PyCode_Addr2Line(reinterpret_cast<Object>(frame.code), static_cast<int>(offset));
    const std::string& file = texts.emplace_back(text_of(word_of(frame.code, layout.file)));
    const std::string& name = texts.emplace_back(text_of(word_of(frame.code, layout.name)));
    places.emplace_back(file.c_str(), name.c_str(), static_cast<std::uint32_t>(line < 0 ? 0 : line), 0U);
  }
  return nanlens::detail::recorder().add_stack(places.data(), places.size());
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

/// The recorder's number of the calling thread's Python stack; SourcePlace::no_stack where it has none.
inline std::uint32_t this_thread_stack() {
  const Interpreter& python = Interpreter::get();
  if (!python.runs() || python.is_ending()) return SourcePlace::no_stack;
  Object const state = python.PyGILState_GetThisThreadState();
  const FrameLayout* const layout = state == nullptr ? nullptr : frame_layout();
  if (layout == nullptr) return SourcePlace::no_stack;
  Walk walked;
  walk(*layout, state, walked);
  if (walked.size == 0) return SourcePlace::no_stack;
  struct Known {
    std::uint64_t hash;
    std::uint32_t number;
  };
  static thread_local std::array<Known, 1024> known{};
  Known& entry = known[walked.hash % known.size()];
  if (entry.hash != walked.hash) entry = {walked.hash, define(*layout, walked)};
  return entry.number;
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
