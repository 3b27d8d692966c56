/// @file
/// The CPython of the process, if there is one, by its public functions: found at run time, so that nothing of Python
/// is needed to compile or to link.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN python {

/// A PyObject; what is said of references is as in Python's C API.
using Object = void*;

/// The struct PyMethodDef of Python's stable ABI.
struct Method {
  const char* name;
  Object (*function)(Object self, Object arguments);
  int flags;
  const char* documentation;
};
inline constexpr int no_arguments = 4;       ///< METH_NOARGS
inline constexpr int one_argument = 8;       ///< METH_O
inline constexpr int eval_expression = 258;  ///< Py_eval_input

/// Functions and types of Python's C API, under its names. Null where this Python has none.
struct Interpreter {
  int (*Py_IsInitialized)() = nullptr;
  int (*Py_IsFinalizing)() = nullptr;
  int (*PyGILState_Check)() = nullptr;
  int (*PyGILState_Ensure)() = nullptr;
  void (*PyGILState_Release)(int) = nullptr;
  Object (*PyGILState_GetThisThreadState)() = nullptr;
  Object (*PyInterpreterState_Main)() = nullptr;
  Object (*PyInterpreterState_ThreadHead)(Object) = nullptr;
  Object (*PyThreadState_Next)(Object) = nullptr;
  int (*Py_AddPendingCall)(int (*)(void*), void*) = nullptr;
  Object (*PyEval_GetFrame)() = nullptr;
  Object (*PyFrame_GetCode)(Object) = nullptr;
  Object (*PyFrame_GetBack)(Object) = nullptr;
  int (*PyFrame_GetLasti)(Object) = nullptr;  ///< from 3.11 on
  Object (*PyFrame_GetGlobals)(Object) = nullptr;
  int (*PyCode_Addr2Line)(Object, int) = nullptr;
  Object (*PyObject_GetAttrString)(Object, const char*) = nullptr;
  Object (*PyObject_GenericGetDict)(Object, void*) = nullptr;
  Object (*PyObject_CallFunctionObjArgs)(Object, ...) = nullptr;
  Object (*PyCFunction_NewEx)(const Method*, Object, Object) = nullptr;
  Object (*PyDict_New)() = nullptr;
  Object (*PyDict_GetItemString)(Object, const char*) = nullptr;
  int (*PyDict_Next)(Object, std::ptrdiff_t*, Object* key, Object* value) = nullptr;
  std::ptrdiff_t (*PyTuple_Size)(Object) = nullptr;
  Object (*PyTuple_GetItem)(Object, std::ptrdiff_t) = nullptr;
  Object (*PyLong_FromVoidPtr)(void*) = nullptr;
  void* (*PyLong_AsVoidPtr)(Object) = nullptr;
  Object (*PyWeakref_NewRef)(Object, Object) = nullptr;
  Object (*PyImport_GetModuleDict)() = nullptr;
  int (*PyGC_Disable)() = nullptr;
  int (*PyGC_Enable)() = nullptr;
  Object (*PyRun_String)(const char*, int, Object, Object) = nullptr;
  void (*PyErr_Clear)() = nullptr;
  Object (*PyErr_Occurred)() = nullptr;
  void (*Py_IncRef)(Object) = nullptr;
  void (*Py_DecRef)(Object) = nullptr;
  std::ptrdiff_t (*PyUnicode_GetLength)(Object) = nullptr;
  std::uint32_t (*PyUnicode_ReadChar)(Object, std::ptrdiff_t) = nullptr;
  Object (*PyCell_Get)(Object) = nullptr;
  Object PyCell_Type = nullptr;
  Object PyCode_Type = nullptr;
  Object PyDict_Type = nullptr;
  Object _Py_NoneStruct = nullptr;

  /// As they are at the first call, which comes once there are tensors.
  static const Interpreter& get() {
    static const Interpreter* const found = new Interpreter(look_up());
    return *found;
  }
  /// True if there is a running Python.
  [[nodiscard]] bool runs() const noexcept { return Py_IsInitialized != nullptr && Py_IsInitialized() != 0; }
  /// Has it the functions by which the layout of its frames is found out? From 3.11 on it does.
  [[nodiscard]] bool has_readable_stacks() const noexcept {
    return PyGILState_Check != nullptr && PyFrame_GetLasti != nullptr && PyUnicode_ReadChar != nullptr;
  }
  [[nodiscard]] bool is_ending() const noexcept { return Py_IsFinalizing != nullptr && Py_IsFinalizing() != 0; }

 private:
  template <class Function>
  static void look_up(Function& function, const char* name) noexcept {
    function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  }
  static Interpreter look_up() noexcept {
    Interpreter python;
#define NANLENS_LOOK_UP(name) look_up(python.name, #name)
    NANLENS_LOOK_UP(Py_IsInitialized);
    if (python.Py_IsInitialized == nullptr) return python;
    NANLENS_LOOK_UP(Py_IsFinalizing);
    if (python.Py_IsFinalizing == nullptr) look_up(python.Py_IsFinalizing, "_Py_IsFinalizing");  // before 3.13
    NANLENS_LOOK_UP(PyGILState_Check);
    NANLENS_LOOK_UP(PyGILState_Ensure);
    NANLENS_LOOK_UP(PyGILState_Release);
    NANLENS_LOOK_UP(PyGILState_GetThisThreadState);
    NANLENS_LOOK_UP(PyInterpreterState_Main);
    NANLENS_LOOK_UP(PyInterpreterState_ThreadHead);
    NANLENS_LOOK_UP(PyThreadState_Next);
    NANLENS_LOOK_UP(Py_AddPendingCall);
    NANLENS_LOOK_UP(PyEval_GetFrame);
    NANLENS_LOOK_UP(PyFrame_GetCode);
    NANLENS_LOOK_UP(PyFrame_GetBack);
    NANLENS_LOOK_UP(PyFrame_GetLasti);
    NANLENS_LOOK_UP(PyFrame_GetGlobals);
    NANLENS_LOOK_UP(PyCode_Addr2Line);
    NANLENS_LOOK_UP(PyObject_GetAttrString);
    NANLENS_LOOK_UP(PyObject_GenericGetDict);
    NANLENS_LOOK_UP(PyObject_CallFunctionObjArgs);
    NANLENS_LOOK_UP(PyCFunction_NewEx);
    NANLENS_LOOK_UP(PyDict_New);
    NANLENS_LOOK_UP(PyDict_GetItemString);
    NANLENS_LOOK_UP(PyDict_Next);
    NANLENS_LOOK_UP(PyTuple_Size);
    NANLENS_LOOK_UP(PyTuple_GetItem);
    NANLENS_LOOK_UP(PyLong_FromVoidPtr);
    NANLENS_LOOK_UP(PyLong_AsVoidPtr);
    NANLENS_LOOK_UP(PyWeakref_NewRef);
    NANLENS_LOOK_UP(PyImport_GetModuleDict);
    NANLENS_LOOK_UP(PyGC_Disable);
    NANLENS_LOOK_UP(PyGC_Enable);
    NANLENS_LOOK_UP(PyRun_String);
    NANLENS_LOOK_UP(PyErr_Clear);
    NANLENS_LOOK_UP(PyErr_Occurred);
    NANLENS_LOOK_UP(Py_IncRef);
    NANLENS_LOOK_UP(Py_DecRef);
    NANLENS_LOOK_UP(PyUnicode_GetLength);
    NANLENS_LOOK_UP(PyUnicode_ReadChar);
    NANLENS_LOOK_UP(PyCell_Get);
    NANLENS_LOOK_UP(PyCell_Type);
    NANLENS_LOOK_UP(PyCode_Type);
    NANLENS_LOOK_UP(PyDict_Type);
    NANLENS_LOOK_UP(_Py_NoneStruct);
#undef NANLENS_LOOK_UP
    return python;
  }
};

/// A reference that is given back. Only with the interpreter's lock held.
class Owned {
 public:
  explicit Owned(Object object) noexcept : object_(object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) Interpreter::get().Py_DecRef(object_);
  }
  [[nodiscard]] Object get() const noexcept { return object_; }
  [[nodiscard]] std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(object_); }

 private:
  Object object_;
};

}  // namespace NANLENS_HIDDEN python
}  // namespace nanlens::inline NANLENS_ABI
