/// @file
/// Python's stacks, as signal handlers note them: without lock or allocation, and while the code objects are alive. The
/// thread that records reads them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/walk.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

namespace detail {

/// A part of an array of `Size`, for whoever comes first; there is no giving back.
template <class T, std::size_t Size>
struct NANLENS_HIDDEN Arena {
  std::array<T, Size> items{};  // what is never written takes no memory
  std::atomic<std::size_t> end{0};

  /// Room for so many; null if there is none.
  T* take(std::size_t count) noexcept {
    std::size_t begin = end.load();
    do {
      if (count > Size - begin) return nullptr;
    } while (!end.compare_exchange_weak(begin, begin + count));
    return items.data() + begin;
  }
};

/// Texts, each once.
class NANLENS_HIDDEN Texts {
 public:
  /// A str, with a null character behind it; null if there is no room.
  const char* keep(std::uintptr_t str) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    std::size_t size = 1;
    python::for_each_byte(str, [&](char c) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
      ++size;
    });
    Entry& entry = entries_[hash % entries_.size()];
    if (entry.hash.load(std::memory_order_acquire) == hash)
      if (const char* const known = entry.text.load(std::memory_order_acquire)) return known;
    char* const text = bytes_.take(size);
    if (text == nullptr) return nullptr;
    char* to = text;
    python::for_each_byte(str, [&](char c) { *to++ = c; });
    std::uint64_t held = 0;
    if (entry.hash.compare_exchange_strong(held, hash)) entry.text.store(text, std::memory_order_release);
    return text;
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> hash{0};
    std::atomic<const char*> text{nullptr};
  };
  std::array<Entry, 8192> entries_{};
  Arena<char, std::size_t{4} << 20> bytes_;
};

}  // namespace detail

/// A frame of Python; its texts end with a null character.
struct PythonFrame {
  const char* file = nullptr;
  const char* function = nullptr;
  std::uint32_t line = 0;
};

/// All stacks there were. Never grows; none is ever taken out.
class NANLENS_HIDDEN PythonStacks {
 public:
  static constexpr std::uint32_t none = 0;  ///< no stack's number

  /// The number of a stack that was walked right now; `none` where there is no room. Another thread may still be about
  /// to note it.
  std::uint32_t put(const python::FrameLayout& layout, const python::Walk& walked) noexcept {
    const std::uint64_t key = walked.hash == 0 ? 1 : walked.hash;
    for (std::size_t i = 0; i < most_tried; ++i) {
      const std::size_t at = (key + i) % stacks_.size();
      Stack& stack = stacks_[at];
      std::uint64_t held = stack.key.load(std::memory_order_acquire);
      if (held == 0 && stack.key.compare_exchange_strong(held, key)) {
        fill(stack, layout, walked);
        held = key;
      }
      if (held == key) return static_cast<std::uint32_t>(at + 1);
    }
    full_.store(true);
    return none;
  }
  /// The frames of a stack, innermost first; none where there was no room for them. Waits for whoever notes them, a
  /// second at most.
  [[nodiscard]] std::span<const PythonFrame> frames(std::uint32_t number) const noexcept {
    if (number == none) return {};
    const Stack& stack = stacks_[number - 1];
    constexpr timespec millisecond{0, 1000000};
    for (int i = 0; i < 1000 && stack.state.load(std::memory_order_acquire) == Stack::filling; ++i)
      ::nanosleep(&millisecond, nullptr);
    if (stack.state.load(std::memory_order_acquire) != Stack::ready) return {};
    return {stack.frames, stack.num_frames};
  }
  /// Was there ever no room for a stack?
  [[nodiscard]] bool full() const noexcept { return full_.load(); }
  /// In a forked child: what other threads were about to note is noted by nobody.
  void forget_unfinished() noexcept {
    for (Stack& stack : stacks_)
      if (stack.key.load() != 0 && stack.state.load() == Stack::filling) stack.key.store(0);
  }

 private:
  struct Stack {
    enum State : std::uint32_t { filling, ready, without_room };
    std::atomic<std::uint64_t> key{0};  ///< 0: free
    std::atomic<State> state{filling};
    std::uint32_t num_frames = 0;
    const PythonFrame* frames = nullptr;
  };

  void fill(Stack& stack, const python::FrameLayout& layout, const python::Walk& walked) noexcept {
    PythonFrame* const frames = frames_.take(walked.size);
    bool has_room = frames != nullptr;
    for (std::size_t i = 0; has_room && i < walked.size; ++i) {
      const python::Frame& frame = walked.frames[i];
      frames[i] = {texts_.keep(python::word_of(frame.code, layout.file)),
                   texts_.keep(python::word_of(frame.code, layout.name)), python::line_of(layout, frame)};
      has_room = frames[i].file != nullptr && frames[i].function != nullptr;
    }
    stack.frames = frames;
    stack.num_frames = static_cast<std::uint32_t>(walked.size);
    if (!has_room) full_.store(true);
    stack.state.store(has_room ? Stack::ready : Stack::without_room, std::memory_order_release);
  }

  static constexpr std::size_t most_tried = 64;
  std::array<Stack, 2048> stacks_{};
  detail::Arena<PythonFrame, std::size_t{1} << 16> frames_;
  detail::Texts texts_;
  std::atomic<bool> full_{false};
};

}  // namespace nanlens::inline NANLENS_ABI::traps
