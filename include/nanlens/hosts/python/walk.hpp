/// @file
/// The frames of a Python thread, read without the interpreter's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/interpreter.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

/// A frame as it was walked.
struct Frame {
  std::uintptr_t address;
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
    if (code == 0 || code == layout.between || word_of(code, layout.type) != code_type) continue;
    const std::uintptr_t instruction = word_of(frame, layout.instruction);
    walked.frames[walked.size++] = {frame, code, instruction};
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

/// The line that a frame is at; 0: none, or not known, as where a thread runs a copy of its own of the instructions
/// (3.14 without the interpreter's lock).
inline std::uint32_t line_of(const FrameLayout& layout, const Frame& frame) noexcept {
  const auto offset = static_cast<std::ptrdiff_t>(frame.instruction - frame.code) - layout.bytecode;
  const auto size = static_cast<std::ptrdiff_t>(2 * word_of(frame.code, layout.type + 1));  // counted in instructions
  if (offset < -2 || offset >= size) return 0;  // -2: it has not begun (3.11, 3.12)
  Object const code = reinterpret_cast<Object>(frame.code);
  const int line = Interpreter::get().PyCode_Addr2Line(code, static_cast<int>(offset));
  return static_cast<std::uint32_t>(line < 0 ? 0 : line);
}

/// Calls put(char) for each byte of a str as UTF-8. By single characters, which takes neither memory nor the lock of
/// the interpreter.
template <class Put>
void for_each_byte(std::uintptr_t str, Put&& put) {
  const Interpreter& python = Interpreter::get();
  Object const text = reinterpret_cast<Object>(str);
  const std::ptrdiff_t length = python.PyUnicode_GetLength(text);
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    const std::uint32_t c = python.PyUnicode_ReadChar(text, i);
    const auto add = [&](std::uint32_t first, unsigned shift) {
      put(static_cast<char>(first | c >> shift));
      while (shift > 0) put(static_cast<char>(0x80U | (c >> (shift -= 6) & 0x3fU)));
    };
    c < 0x80 ? add(0, 0) : c < 0x800 ? add(0xc0, 6) : c < 0x10000 ? add(0xe0, 12) : add(0xf0, 18);
  }
}

/// A str as UTF-8.
inline std::string text_of(std::uintptr_t str) {
  std::string utf8;
  for_each_byte(str, [&](char c) { utf8 += c; });
  return utf8;
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
