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
    if (code == 0 || word_of(code, 1) != code_type) continue;  // an object's second word is its type
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

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
