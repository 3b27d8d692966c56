/// @file
/// What is called what in a module of TorchScript: the module, its parameters and buffers, and its methods' arguments.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <ATen/core/Tensor.h>
#include <ATen/core/class_type.h>
#include <ATen/core/function.h>
#include <ATen/core/ivalue.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/tensor_names.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// The first tensor that a module holds, or that one in it holds; null if there is none.
inline ::c10::TensorImpl* first_script_tensor(const ::c10::ivalue::Object& module, int depth = 0) {
  constexpr int deepest = 64;
  for (const ::c10::IValue& held : module.slots()) {
    if (held.isTensor() && held.toTensor().defined()) return held.toTensor().unsafeGetTensorImpl();
    if (depth >= deepest || !held.isObject() || !held.toObjectRef().type()->is_module()) continue;
    if (auto* const found = first_script_tensor(held.toObjectRef(), depth + 1)) return found;
  }
  return nullptr;
}

/// Which modules have been named. A weak reference to a module would keep all that it holds; one to its first tensor
/// keeps none of that tensor's memory, and tells the module from a later one at its address.
class NamedScripts {
 public:
  static NamedScripts& get() {
    static auto* const named = new NamedScripts;
    return *named;
  }
  /// True once per module that holds tensors.
  bool add(const ::c10::ivalue::Object& module) {
    auto* const first = first_script_tensor(module);
    if (first == nullptr) return false;
    const std::lock_guard guard(lock_);
    if (modules_.size() >= most) std::erase_if(modules_, [](const auto& entry) { return entry.second.expired(); });
    const auto at = modules_.find(&module);
    if (at == modules_.end() ? modules_.size() >= most : at->second._unsafe_get_target() == first) return false;
    modules_.insert_or_assign(&module,
                              Weak(::c10::intrusive_ptr<::c10::TensorImpl>::unsafe_reclaim_from_nonowning(first)));
    return true;
  }

 private:
  using Weak = ::c10::weak_intrusive_ptr<::c10::TensorImpl>;
  static constexpr std::size_t most = 4096;
  std::mutex lock_;
  std::unordered_map<const ::c10::ivalue::Object*, Weak> modules_;
};

/// Names the parameters and buffers of a module, and of those that it holds: "net.fc.weight".
inline void name_script_tensors(const ::c10::ivalue::Object& module, const std::string& name, int depth) {
  constexpr int deepest = 64;
  const auto type = module.type();
  for (std::size_t i = 0; depth < deepest && i < type->numAttributes() && i < module.slots().size(); ++i) {
    const ::c10::IValue& held = module.slots()[i];
    const std::string full = name + "." + type->getAttributeName(i);
    if (held.isTensor() && held.toTensor().defined())
      TensorNames::get().add(*held.toTensor().unsafeGetTensorImpl(), full);
    else if (held.isObject() && held.toObjectRef().type()->is_module())
      name_script_tensors(held.toObjectRef(), full, depth + 1);
  }
}

/// The first argument of a function, which is a module if the function is one's method.
class ScriptModule {
 public:
  /// `known`: what Python calls the module; else it is called as its class is.
  ScriptModule(const ::c10::IValue* self, const std::string* known) {
    if (self == nullptr || !self->isModule()) return;
    type_ = self->toObjectRef().type().get();
    name_ = &kept_name(known != nullptr && *known != "RecursiveScriptModule" ? *known : class_name());
    const auto module = self->toObject();
    if (NamedScripts::get().add(*module)) name_script_tensors(*module, *name_, 0);
  }
  /// Null if it is no module.
  [[nodiscard]] const std::string* name() const noexcept { return name_; }

  /// What a method calls its argument with this index.
  [[nodiscard]] std::string argument_name(const std::string& method, std::size_t index) const {
    const auto* const function = type_ == nullptr ? nullptr : type_->findMethod(method);
    if (function != nullptr && index < function->getSchema().arguments().size())
      return function->getSchema().arguments()[index].name();
    return "argument_" + std::to_string(index);
  }

 private:
  [[nodiscard]] std::string class_name() const { return type_->name() ? type_->name()->name() : "module"; }

  const ::c10::ClassType* type_ = nullptr;
  const std::string* name_ = nullptr;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
