/// @file
/// Where a thread that traps is in its Python program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/known_layout.hpp>
#include <nanlens/hosts/python/walk.hpp>
#include <nanlens/hosts/traps/python_stacks.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

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
    if (looks_ < most_looks) ++looks_;
    return asked_.load() || looks_ == most_looks ? 0 : looks_ < most_quick_looks ? 2 : 100;
  }
  /// The calling thread's frames, if it runs Python code. From signal handlers, too.
  bool walk(python::Walk& walked) const noexcept {
    const python::FrameLayout* const layout = layout_.load(std::memory_order_acquire);
    if (layout == nullptr || python::Interpreter::get().is_ending()) return false;
    python::Object const state = python::Interpreter::get().PyGILState_GetThisThreadState();
    if (state != nullptr) python::walk(*layout, state, walked);
    return walked.size > 0;
  }
  /// Can't the stacks of this Python be read?
  [[nodiscard]] bool is_unreadable() const noexcept { return unreadable_.load(); }
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
    if (asked_.exchange(true)) return;
    const python::Interpreter& python = python::Interpreter::get();
    if (!python.has_readable_stacks())
      unreadable_.store(true);
    else if (python.Py_AddPendingCall(&find_layout, nullptr) != 0)
      asked_.store(false);
  }
  static int find_layout(void*) noexcept {
    const python::Interpreter& python = python::Interpreter::get();
    if (!python.runs()) return python.Py_AddPendingCall(&find_layout, nullptr), 0;  // it is still being started
    if (python.PyErr_Occurred() != nullptr) return get().asked_.store(false), 0;
    bool unreadable = false;
    get().layout_.store(python::frame_layout(&unreadable), std::memory_order_release);
    get().unreadable_.store(unreadable);
    return 0;
  }

  static constexpr int most_quick_looks = 500;  // a second
  static constexpr int most_looks = 800;        // half a minute more; then at each trap
  std::atomic<const python::FrameLayout*> layout_{nullptr};
  std::atomic<bool> is_here_{false};
  std::atomic<bool> asked_{false};
  std::atomic<bool> unreadable_{false};
  int looks_ = 0;  // of the recording thread
};
inline constinit Python python_of_process{};
inline Python& Python::get() noexcept { return python_of_process; }

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
