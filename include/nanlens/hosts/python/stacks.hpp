/// @file
/// The Python stack of the calling thread, without the interpreter's lock: file, line and function of every frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/interpreter.hpp>
#include <nanlens/hosts/python/known_layout.hpp>
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
  bool is_inside = false;                        ///< the innermost frame is in the same file as the marked one
};

/// Resolves a stack now, while its code objects are alive.
inline KnownStack define(const FrameLayout& layout, const Walk& walked, IsMarked is_marked) {
  std::vector<std::string> texts;
  texts.reserve(2 * walked.size);
  std::vector<SourcePlace> places;
  KnownStack known{walked.hash};
  std::size_t last_marked = walked.size + 1;
  for (std::size_t i = walked.size; i-- > 0;) {
    const Frame& frame = walked.frames[i];
    const std::string& file = texts.emplace_back(text_of(word_of(frame.code, layout.file)));
    const std::string& name = texts.emplace_back(text_of(word_of(frame.code, layout.name)));
    places.emplace_back(file.c_str(), name.c_str(), line_of(layout, frame), 0U);
    if (!is_marked(file, name)) continue;
    if (last_marked != i + 1) known.marked = static_cast<std::int32_t>(i);
    last_marked = i;
  }
  const auto file_of = [&](std::size_t frame) { return texts[2 * (walked.size - 1 - frame)]; };
  known.is_inside = known.marked >= 0 && file_of(0) == file_of(static_cast<std::size_t>(known.marked));
  known.number = nanlens::detail::recorder().add_stack(places.data(), places.size());
  return known;
}

/// Where the calling thread is.
struct ThreadStack {
  std::uint32_t number = SourcePlace::no_stack;  ///< the recorder's; no_stack where it runs no Python
  std::uintptr_t object = 0;  ///< the first local variable of the innermost marked frame: the object of a method
  bool is_inside = false;     ///< that frame, or what its file has for it, is where the thread is
};

inline bool nothing_marked(std::string_view /*file*/, std::string_view /*function*/) noexcept { return false; }

/// The calling thread's Python stack. `is_marked` is the same at each call.
inline ThreadStack this_thread_stack(IsMarked is_marked = &nothing_marked) {
  const Interpreter& python = Interpreter::get();
  if (!python.runs() || python.is_ending()) return {};
  Object const state = python.PyGILState_GetThisThreadState();
  bool unreadable = false;
  const FrameLayout* const layout = state == nullptr ? nullptr : frame_layout(&unreadable);
  if (unreadable) say_unreadable();
  if (layout == nullptr) return {};
  Walk walked;
  walk(*layout, state, walked);
  if (walked.size == 0) return {};
  static thread_local std::array<KnownStack, 1024> known{};
  KnownStack& entry = known[walked.hash % known.size()];
  if (entry.hash != walked.hash) entry = define(*layout, walked, is_marked);
  if (entry.marked < 0 || layout->locals < 0) return {entry.number};
  const Frame& frame = walked.frames[static_cast<std::size_t>(entry.marked)];
  return {entry.number, without_marks(word_of(frame.address, layout->locals)), entry.is_inside};
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
