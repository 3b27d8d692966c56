/// @file
/// Where a thread that traps is in its Python program: noted by signal handlers, without lock or allocation, while the
/// code objects are alive; told by the thread that records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/known_layout.hpp>
#include <nanlens/hosts/python/walk.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

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

  /// The number of a stack that was walked right now; `none` where there is no room.
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
    return none;
  }
  /// The frames of a stack, innermost first; none where there was no room for them.
  [[nodiscard]] std::span<const PythonFrame> frames(std::uint32_t number) const noexcept {
    if (number == none) return {};
    const Stack& stack = stacks_[number - 1];
    const std::size_t count = stack.num_frames.load(std::memory_order_acquire);
    return std::span(frames_).subspan(count == 0 ? 0 : stack.begin, count);
  }

 private:
  struct Stack {
    std::atomic<std::uint64_t> key{0};  ///< 0: free
    std::atomic<std::uint32_t> num_frames{0};
    std::uint32_t begin = 0;
  };

  // Room for `size` more in a part of an array; false if there is none.
  static bool reserve(std::atomic<std::uint32_t>& end, std::size_t size, std::size_t most,
                      std::uint32_t& begin) noexcept {
    begin = end.load();
    do {
      if (size > most - begin) return false;
    } while (!end.compare_exchange_weak(begin, static_cast<std::uint32_t>(begin + size)));
    return true;
  }
  const char* keep(std::uintptr_t text) noexcept {
    std::size_t size = 1;
    python::for_each_byte(text, [&](char) { ++size; });
    std::uint32_t begin = 0;
    if (!reserve(texts_end_, size, texts_.size(), begin)) return "";
    char* to = texts_.data() + begin;
    python::for_each_byte(text, [&](char c) { *to++ = c; });
    return texts_.data() + begin;
  }
  void fill(Stack& stack, const python::FrameLayout& layout, const python::Walk& walked) noexcept {
    if (!reserve(frames_end_, walked.size, frames_.size(), stack.begin)) return;
    for (std::size_t i = 0; i < walked.size; ++i) {
      const python::Frame& frame = walked.frames[i];
      frames_[stack.begin + i] = {keep(python::word_of(frame.code, layout.file)),
                                  keep(python::word_of(frame.code, layout.name)), python::line_of(layout, frame)};
    }
    stack.num_frames.store(static_cast<std::uint32_t>(walked.size), std::memory_order_release);
  }

  static constexpr std::size_t most_tried = 64;
  // What is never written takes no memory.
  std::array<Stack, 2048> stacks_{};
  std::array<PythonFrame, std::size_t{1} << 16> frames_{};
  std::array<char, std::size_t{4} << 20> texts_{};
  std::atomic<std::uint32_t> frames_end_{0};
  std::atomic<std::uint32_t> texts_end_{0};
};

namespace detail {

/// The Python of the process, as far as it is known.
class NANLENS_HIDDEN Python {
 public:
  /// Is there one? Not from signal handlers, as the next two.
  void find() noexcept { is_here_.store(::dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr); }
  /// Of a thread that may be just starting Python: has the layout of frames found out before any program runs.
  void ask_at_start() noexcept {
    if (!is_here_.load(std::memory_order_relaxed) || asked_.load()) return;
    const python::Interpreter& python = python::Interpreter::get();
    if (python.PyInterpreterState_Main == nullptr || python.PyInterpreterState_Main() == nullptr) return;
    if (python.PyGILState_GetThisThreadState() != nullptr) ask();
  }
  /// Of any thread: does so once Python runs. Milliseconds after which to look again; 0: there is nothing to look for.
  int look() noexcept {
    if (asked_.load()) return 0;
    if (!is_here_.load()) find();
    if (!is_here_.load()) return 0;
    if (python::Interpreter::get().runs()) ask();
    looks_ += looks_ < most_quick_looks ? 1 : 0;
    return asked_.load() ? 0 : looks_ < most_quick_looks ? 2 : 100;
  }
  /// The calling thread's frames, if it runs Python code. From signal handlers, too.
  bool walk(python::Walk& walked) const noexcept {
    const python::FrameLayout* const layout = layout_.load(std::memory_order_acquire);
    if (layout == nullptr || python::Interpreter::get().is_ending()) return false;
    python::Object const state = python::Interpreter::get().PyGILState_GetThisThreadState();
    if (state != nullptr) python::walk(*layout, state, walked);
    return walked.size > 0;
  }
  std::uint32_t put(const python::Walk& walked) noexcept { return stacks.put(*layout_.load(), walked); }
  /// Is this return address in the interpreter itself?
  [[nodiscard]] static bool has(std::uintptr_t address) noexcept {
    Dl_info own{};
    Dl_info other{};
    const python::Interpreter& python = python::Interpreter::get();
    return ::dladdr(reinterpret_cast<void*>(python.PyCode_Addr2Line), &own) != 0 &&
           ::dladdr(reinterpret_cast<void*>(address - 1), &other) != 0 && own.dli_fbase == other.dli_fbase;
  }
  static Python& get() noexcept;

  PythonStacks stacks;

 private:
  // Has the main thread find the layout when it next runs Python code.
  void ask() noexcept {
    if (!asked_.exchange(true) && python::Interpreter::get().Py_AddPendingCall(&find_layout, nullptr) != 0)
      asked_.store(false);
  }
  static int find_layout(void*) noexcept {
    const python::Interpreter& python = python::Interpreter::get();
    if (!python.runs()) return python.Py_AddPendingCall(&find_layout, nullptr), 0;  // it is still being started
    if (python.PyErr_Occurred() == nullptr) get().layout_.store(python::frame_layout(), std::memory_order_release);
    return 0;
  }

  static constexpr int most_quick_looks = 500;
  std::atomic<const python::FrameLayout*> layout_{nullptr};
  std::atomic<bool> is_here_{false};
  std::atomic<bool> asked_{false};
  int looks_ = 0;  // of the recording thread
};
inline constinit Python python_of_process{};
inline Python& Python::get() noexcept { return python_of_process; }

}  // namespace detail
}  // namespace nanlens::inline NANLENS_ABI::traps
