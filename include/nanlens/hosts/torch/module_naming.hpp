/// @file
/// Which torch.nn.Module an op of a Python program runs in, told by the frames of modules' calls and by what these
/// modules hold.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/stacks.hpp>
#include <nanlens/hosts/torch/module_names.hpp>
#include <nanlens/hosts/torch/tensor_names.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// The methods that call a module: their first local variable is the module.
inline bool is_module_call(std::string_view file, std::string_view function) noexcept {
  return function.ends_with("_call_impl") && file.ends_with("torch/nn/modules/module.py");
}

/// Gives names to the modules that are being called, to all that they hold, and to their tensors. With the
/// interpreter's lock held; it reads dicts, and runs no Python code.
class ModuleNaming {
 public:
  explicit ModuleNaming(const python::FrameLayout& layout) : layout_(layout) { find_tensor_types(); }

  void name_all() {
    Object const first = python_.PyInterpreterState_ThreadHead(python_.PyInterpreterState_Main());
    for (Object thread = first; thread != nullptr; thread = python_.PyThreadState_Next(thread)) name_thread(thread);
    python_.PyErr_Clear();
  }

 private:
  using Object = python::Object;
  using Owned = python::Owned;

  static std::uintptr_t address(Object object) noexcept { return reinterpret_cast<std::uintptr_t>(object); }
  static Object object_at(std::uintptr_t address) noexcept { return reinterpret_cast<Object>(address); }
  [[nodiscard]] std::uintptr_t type_of(Object object) const noexcept {
    return python::word_of(address(object), layout_.type);
  }

  // Outer modules come first: what they hold is named after them.
  void name_thread(Object thread) {
    python::Walk walked;
    walk(layout_, thread, walked);
    bool inside = false;  // of a module's call
    for (std::size_t i = walked.size; i-- > 0;) {
      const bool is_call =
          is_module_call(text_in(walked.frames[i], layout_.file), text_in(walked.frames[i], layout_.name));
      if (is_call && !inside) {
        const std::uintptr_t module = local(walked.frames[i], 0);
        if (module != 0 && !ModuleNames::get().has(module))
          name_tree(object_at(module), name_in(walked, i + 1, module), 0);
      }
      inside = is_call;
    }
  }
  [[nodiscard]] static std::string text_in(const python::Frame& frame, int place) {
    return python::text_of(python::word_of(frame.code, place));
  }
  [[nodiscard]] std::uintptr_t local(const python::Frame& frame, int index) const noexcept {
    return python::without_marks(python::word_of(frame.address, layout_.locals + index));
  }

  // The variable of a caller that holds the module; else its class.
  std::string name_in(const python::Walk& walked, std::size_t first, std::uintptr_t module) {
    constexpr std::size_t most_callers = 8;
    // PyTorch's own functions call it "mod", say.
    std::string own = text_in(walked.frames[first - 1], layout_.file);
    own.resize(own.find("nn/modules/"));
    std::size_t left = most_callers;
    for (std::size_t i = first; i < walked.size && left > 0; ++i) {
      const python::Frame& frame = walked.frames[i];
      if (text_in(frame, layout_.file).starts_with(own)) continue;
      --left;
      if (std::string name = local_name(frame, module); !name.empty()) return name;
      if (layout_.globals < 0) continue;
      Object const globals = object_at(python::word_of(frame.address, layout_.globals));
      if (type_of(globals) != address(python_.PyDict_Type)) continue;
      if (std::string name = key_in(globals, module); !name.empty()) return name;
    }
    const Owned name(python_.PyObject_GetAttrString(object_at(python::word_of(module, layout_.type)), "__name__"));
    return name.get() == nullptr ? std::string("module") : python::text_of(name.address());
  }
  // What a variable holds; one that nested functions share is a cell that holds it.
  [[nodiscard]] std::uintptr_t held(const python::Frame& frame, std::ptrdiff_t index) const noexcept {
    const std::uintptr_t object = local(frame, static_cast<int>(index));
    if (object == 0 || python_.PyCell_Get == nullptr) return object;
    if (type_of(object_at(object)) != address(python_.PyCell_Type)) return object;
    return Owned(python_.PyCell_Get(object_at(object))).address();
  }
  // In the order in which they lie in a frame; arguments that are shared lie among the plain ones.
  std::vector<std::string> variables(const python::Frame& frame) {
    std::vector<std::string> all;
    for (const char* const which : {"co_varnames", "co_cellvars", "co_freevars"}) {
      const Owned names(python_.PyObject_GetAttrString(object_at(frame.code), which));
      const std::ptrdiff_t count = names.get() == nullptr ? 0 : python_.PyTuple_Size(names.get());
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        std::string name = python::text_of(address(python_.PyTuple_GetItem(names.get(), i)));
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
      }
    }
    return all;
  }
  std::string local_name(const python::Frame& frame, std::uintptr_t module) {
    const std::vector<std::string> names = variables(frame);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (held(frame, static_cast<std::ptrdiff_t>(i)) == module) return names[i];
    const std::uintptr_t self = names.empty() ? 0 : held(frame, 0);
    if (self == 0 || names[0] != "self") return {};
    // An attribute of a method's object: "self.net". A module keeps those that are modules apart.
    const Owned attributes(python_.PyObject_GenericGetDict(object_at(self), nullptr));
    python_.PyErr_Clear();
    if (attributes.get() == nullptr) return {};
    std::string key = key_in(attributes.get(), module);
    Object const modules = key.empty() ? python_.PyDict_GetItemString(attributes.get(), "_modules") : nullptr;
    if (modules != nullptr) key = key_in(modules, module);
    return key.empty() ? key : "self." + key;
  }
  std::string key_in(Object dict, std::uintptr_t value) {
    Object key = nullptr;
    Object held = nullptr;
    for (std::ptrdiff_t at = 0; python_.PyDict_Next(dict, &at, &key, &held) != 0;)
      if (address(held) == value) return python::text_of(address(key));
    return {};
  }

  void name_tree(Object module, const std::string& name, int depth) {
    constexpr int deepest = 64;
    if (depth > deepest || ModuleNames::get().has(address(module)) || !note(module, name)) return;
    const Owned attributes(python_.PyObject_GenericGetDict(module, nullptr));
    if (attributes.get() == nullptr) return python_.PyErr_Clear();
    for (const char* const tensors : {"_parameters", "_buffers"})
      each_in(attributes.get(), tensors,
              [&](const std::string& key, Object tensor) { name_tensor(tensor, name + "." + key); });
    each_in(attributes.get(), "_modules",
            [&](const std::string& key, Object held) { name_tree(held, name + "." + key, depth + 1); });
  }
  // What is held by a dict of a module, but for what is None.
  template <class Visit>
  void each_in(Object attributes, const char* which, const Visit& visit) {
    Object const dict = python_.PyDict_GetItemString(attributes, which);  // borrowed
    Object key = nullptr;
    Object value = nullptr;
    if (dict == nullptr) return;
    for (std::ptrdiff_t at = 0; python_.PyDict_Next(dict, &at, &key, &value) != 0;)
      if (value != python_._Py_NoneStruct) visit(python::text_of(address(key)), value);
  }
  // Until the module ends: then another may have its address.
  bool note(Object module, const std::string& name) {
    static constexpr python::Method method{"nanlens_forget",
                                           [](Object self, Object) {
                                             const python::Interpreter& python = python::Interpreter::get();
                                             ModuleNames::get().forget(address(python.PyLong_AsVoidPtr(self)));
                                             python.Py_IncRef(python._Py_NoneStruct);
                                             return python._Py_NoneStruct;
                                           },
                                           python::one_argument, nullptr};
    const Owned number(python_.PyLong_FromVoidPtr(module));
    const Owned end(number.get() == nullptr ? nullptr : python_.PyCFunction_NewEx(&method, number.get(), nullptr));
    Object const reference = end.get() == nullptr ? nullptr : python_.PyWeakref_NewRef(module, end.get());  // for good
    if (reference == nullptr) python_.PyErr_Clear();
    ModuleNames::get().set(address(module), reference == nullptr ? nullptr : &kept_name(name));
    return reference != nullptr;
  }

  // Of torch.Tensor and Parameter alone: other classes may have Python code of their own.
  void name_tensor(Object tensor, const std::string& name) {
    if (type_of(tensor) != tensor_type_ && type_of(tensor) != parameter_type_) return;
    const Owned number(python_.PyObject_GetAttrString(tensor, "_cdata"));
    void* const memory = number.get() == nullptr ? nullptr : python_.PyLong_AsVoidPtr(number.get());
    if (memory != nullptr) TensorNames::get().add(*static_cast<::c10::TensorImpl*>(memory), name);
    python_.PyErr_Clear();
  }
  void find_tensor_types() {
    const auto type_in = [&](const char* module, const char* name) {
      Object const found = python_.PyDict_GetItemString(python_.PyImport_GetModuleDict(), module);
      const Owned type(found == nullptr ? nullptr : python_.PyObject_GetAttrString(found, name));
      python_.PyErr_Clear();
      return type.address();
    };
    tensor_type_ = type_in("torch", "Tensor");
    parameter_type_ = type_in("torch.nn.parameter", "Parameter");
  }

  const python::Interpreter& python_ = python::Interpreter::get();
  const python::FrameLayout& layout_;
  std::uintptr_t tensor_type_ = 0;
  std::uintptr_t parameter_type_ = 0;
};

/// Names what is being called. The interpreter's lock is held.
inline void name_modules() {
  const python::Interpreter& python = python::Interpreter::get();
  const python::FrameLayout* const layout = python::frame_layout();
  if (layout == nullptr || python.PyErr_Occurred() != nullptr) return;
  const bool collects = python.PyGC_Disable() != 0;  // a collection would run finalizers here
  try {
    ModuleNaming(*layout).name_all();
  } catch (const std::exception&) {
    python.PyErr_Clear();  // memory ran out: what has no name yet goes without one
  }
  if (collects) python.PyGC_Enable();
}

/// True if no other thread can have the interpreter's lock: to take it is safe.
inline bool is_only_thread() noexcept {
  const python::Interpreter& python = python::Interpreter::get();
  python::Object const mine = python.PyGILState_GetThisThreadState();
  return python.PyInterpreterState_ThreadHead(python.PyInterpreterState_Main()) == mine &&
         python.PyThreadState_Next(mine) == nullptr;
}

/// Has modules named: at once where that can't stop the program, else when the main thread next runs Python code.
inline void ask_for_names() {
  const python::Interpreter& python = python::Interpreter::get();
  static std::atomic<bool> asked{false};
  if (python.PyInterpreterState_ThreadHead == nullptr || python.PyGC_Disable == nullptr) return;
  if (python.PyGILState_Check() != 0 || is_only_thread()) {
    const int before = python.PyGILState_Ensure();
    name_modules();
    return python.PyGILState_Release(before);
  }
  if (asked.exchange(true)) return;
  const auto name = [](void*) {
    asked.store(false);
    name_modules();
    return 0;
  };
  if (python.Py_AddPendingCall(name, nullptr) != 0) asked.store(false);
}

/// The name of the module whose call a stack is in; null outside of modules, and before they have names.
inline const std::string* module_of(const python::ThreadStack& stack) {
  if (stack.object == 0) return nullptr;
  bool is_known = false;
  const std::string* name = ModuleNames::get().find(stack.object, is_known);
  if (is_known) return name;
  ask_for_names();
  return ModuleNames::get().find(stack.object, is_known);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
