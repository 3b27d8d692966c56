/// @file
/// Where CPython, from 3.11 on, keeps the frames of a thread. Its structs change with every version, and asking for the
/// interpreter's lock at every op could stop the program for ever; so the places are found out once, with the lock
/// held, by looking for pointers that the public functions give.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/uio.h>
#include <unistd.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/interpreter.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

/// Places in structs, counted in words; −1: not found.
struct FrameLayout {
  int current = -1;             ///< in the thread's state: the innermost frame, or what has it
  int within = -1;              ///< in that, the innermost frame (3.11, 3.12)
  int type = -1;                ///< in an object
  int code = -1;                ///< in a frame
  int previous = -1;            ///< in a frame: the caller's
  int instruction = -1;         ///< in a frame
  int locals = -1;              ///< in a frame: the first local variable; may be missing, as the next
  int globals = -1;             ///< in a frame: the dict of its module
  std::ptrdiff_t bytecode = 0;  ///< bytes from a code object to what instructions are counted from
  int file = -1;                ///< in a code object, as the next three
  int name = -1;
  int constants = -1;
  int lines = -1;
  /// The code object of frames that only lead from C to Python's functions (3.12); 0: there are none.
  std::uintptr_t between = 0;

  [[nodiscard]] bool complete() const noexcept {
    return current >= 0 && type >= 0 && code >= 0 && previous >= 0 && instruction >= 0 && file >= 0 && name >= 0 &&
           constants >= 0 && lines >= 0;
  }
};

/// The word at an address; false if nothing can be read there.
inline bool read_word(std::uintptr_t address, std::uintptr_t& word) noexcept {
  if (address < 4096 || address % sizeof word != 0) return false;
  iovec to{&word, sizeof word};
  iovec from{reinterpret_cast<void*>(address), sizeof word};
  return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof word);
}

/// The first of the words [begin, end) of a struct for which test(word) holds; −1: none.
template <class Test>
int find_word(std::uintptr_t base, int begin, int end, const Test& test) {
  for (int i = begin; i < end; ++i)
    if (std::uintptr_t word = 0; read_word(base + static_cast<std::uintptr_t>(i) * sizeof word, word) && test(word))
      return i;
  return -1;
}

/// A pointer without the marks that newer versions keep in its lowest bits.
constexpr std::uintptr_t without_marks(std::uintptr_t pointer) noexcept { return pointer & ~std::uintptr_t{3}; }

// The interpreter's own frame of a frame object: it has the code object in its word `code`.
inline std::uintptr_t inner_frame(std::uintptr_t frame, std::uintptr_t code_object, int& code) {
  std::uintptr_t found = 0;
  (void)find_word(frame, 2, 8, [&](std::uintptr_t inner) {
    code = find_word(inner, 0, 8, [&](std::uintptr_t word) { return without_marks(word) == code_object; });
    if (code >= 0) found = inner;
    return code >= 0;
  });
  return found;
}

inline void find_current(FrameLayout& layout, std::uintptr_t state, std::uintptr_t inner) {
  constexpr int most_of_state = 64;
  layout.current = find_word(state, 0, most_of_state, [&](std::uintptr_t word) { return word == inner; });
  if (layout.current >= 0) return;
  layout.current = find_word(state, 0, most_of_state, [&](std::uintptr_t between) {
    layout.within = find_word(between, 0, 4, [&](std::uintptr_t word) { return word == inner; });
    return layout.within >= 0;
  });
}

// Which code object has the frame that a function called from C has around it, although Python's own functions pass
// that frame over? Its other fields mean nothing.
inline void find_between(FrameLayout& layout, Object called_from_c, std::uintptr_t frame) {
  const Interpreter& python = Interpreter::get();
  std::uintptr_t around = 0;
  std::uintptr_t code = 0;
  std::uintptr_t type = 0;
  if (!read_word(frame + static_cast<std::uintptr_t>(layout.previous) * sizeof around, around) ||
      !read_word(around + static_cast<std::uintptr_t>(layout.code) * sizeof code, code) ||
      !read_word(without_marks(code) + static_cast<std::uintptr_t>(layout.type) * sizeof type, type) ||
      type != reinterpret_cast<std::uintptr_t>(python.PyCode_Type))
    return;
  const Owned told(python.PyFrame_GetBack(called_from_c));
  const Owned code_told(told.get() == nullptr ? nullptr : python.PyFrame_GetCode(told.get()));
  if (without_marks(code) != code_told.address()) layout.between = without_marks(code);
}

inline void find_in_code(FrameLayout& layout, Object code_object) {
  const Interpreter& python = Interpreter::get();
  const auto place_of = [&](const char* attribute) {
    const Owned value(python.PyObject_GetAttrString(code_object, attribute));
    if (value.get() == nullptr) return python.PyErr_Clear(), -1;
    return find_word(reinterpret_cast<std::uintptr_t>(code_object), 2, 40,
                     [&](std::uintptr_t word) { return word == value.address(); });
  };
  layout.file = place_of("co_filename");
  layout.name = place_of("co_qualname");
  layout.constants = place_of("co_consts");
  layout.lines = place_of("co_linetable");
}

// With a Python function running that another Python function has called, whose only local variable is `local`.
inline FrameLayout find_layout(std::uintptr_t local) {
  const Interpreter& python = Interpreter::get();
  FrameLayout layout;
  Object const frame = python.PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return layout;
  const Owned back(python.PyFrame_GetBack(frame));
  if (back.get() == nullptr) return layout;
  const Owned code_object(python.PyFrame_GetCode(frame));
  const Owned code_of_back(python.PyFrame_GetCode(back.get()));
  const std::uintptr_t inner = inner_frame(reinterpret_cast<std::uintptr_t>(frame), code_object.address(), layout.code);
  int code = -1;
  const std::uintptr_t caller = inner_frame(back.address(), code_of_back.address(), code);
  if (inner == 0 || caller == 0 || code != layout.code) return layout;
  find_current(layout, reinterpret_cast<std::uintptr_t>(python.PyGILState_GetThisThreadState()), inner);
  layout.previous = find_word(inner, 0, 16, [&](std::uintptr_t word) { return word == caller; });
  const auto executed = static_cast<std::uintptr_t>(python.PyFrame_GetLasti(frame));
  layout.instruction = find_word(inner, 0, 16, [&](std::uintptr_t word) {
    if (word < code_object.address() + executed) return false;
    layout.bytecode = static_cast<std::ptrdiff_t>(word - code_object.address() - executed);
    return layout.bytecode > 80 && layout.bytecode < 400;  // the fields of a code object lie before its instructions
  });
  layout.locals =
      find_word(inner, layout.instruction + 1, 24, [&](std::uintptr_t word) { return without_marks(word) == local; });
  const Owned globals(python.PyFrame_GetGlobals == nullptr ? nullptr : python.PyFrame_GetGlobals(frame));
  layout.globals = find_word(inner, 0, 8, [&](std::uintptr_t word) { return word == globals.address(); });
  const auto code_type = reinterpret_cast<std::uintptr_t>(python.PyCode_Type);
  layout.type = find_word(code_object.address(), 0, 4, [&](std::uintptr_t word) { return word == code_type; });
  if (layout.previous >= 0 && layout.type >= 0) find_between(layout, back.get(), caller);
  find_in_code(layout, code_object.get());
  return layout;
}

/// Finds the layout; incomplete where this Python keeps its frames in another way. With the interpreter's lock held.
inline FrameLayout find_frame_layout() {
  const Interpreter& python = Interpreter::get();
  static FrameLayout found;
  static std::uintptr_t called;
  if (!python.has_readable_stacks()) return found;
  static constexpr Method method{"nanlens",
                                 [](Object, Object) {
                                   found = find_layout(called);
                                   Interpreter::get().Py_IncRef(Interpreter::get()._Py_NoneStruct);
                                   return Interpreter::get()._Py_NoneStruct;
                                 },
                                 no_arguments, nullptr};
  const Owned names(python.PyDict_New());
  const Owned call(python.PyRun_String("lambda f: (lambda g: g())(f)", eval_expression, names.get(), names.get()));
  const Owned function(python.PyCFunction_NewEx(&method, nullptr, nullptr));
  called = function.address();
  if (call.get() != nullptr && function.get() != nullptr)
    const Owned result(python.PyObject_CallFunctionObjArgs(call.get(), function.get(), nullptr));
  python.PyErr_Clear();
  return found;
}

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
