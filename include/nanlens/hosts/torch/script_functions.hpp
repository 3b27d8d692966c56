/// @file
/// PyTorch's callbacks around the functions of TorchScript: which calls of a graph begin and end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/python/stacks.hpp>
#include <nanlens/hosts/torch/module_naming.hpp>
#include <nanlens/hosts/torch/observer.hpp>
#include <nanlens/hosts/torch/script_call.hpp>
#include <nanlens/hosts/torch/script_modules.hpp>
#include <nanlens/hosts/torch/script_scopes.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// A function that runs.
struct RunningScript final : ::at::ObserverContext {
  std::shared_ptr<ScriptScope> scope;
  int exceptions = std::uncaught_exceptions();
};

// A part of a program whose backward pass PyTorch has derived runs as one node of the autograd graph, whose number has
// just been given: it is where the program was called.
inline void note_derived(const ::at::RecordFunction& function, const ScriptScope* scope) {
  if (scope == nullptr || scope->call->caller().stack == SourcePlace::no_stack) return;
  const std::uint64_t next = ::at::sequence_number::peek();
  if (next > 0) forward_stacks().set(function.threadId(), static_cast<std::int64_t>(next) - 1, scope->call->caller());
}

using ScriptArguments = std::remove_cvref_t<decltype(std::declval<const ::at::RecordFunction&>().inputs())>;

inline void begin_call(ScriptScope& scope, const ScriptArguments& arguments, const ScriptModule& self,
                       const ForwardPlace& caller) {
  const std::string name = self.name() == nullptr ? scope.function : *self.name() + "." + scope.function;
  scope.call = std::make_shared<ScriptCall>(name, caller);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    each_tensor(arguments[i], [&](const ::c10::TensorImpl& tensor) {
      scope.call->add_argument(tensor, self.argument_name(scope.function, i));
    });
}

// The function that this one is a part of: that has a task of its own run, or has called Python, which calls another
// one now. Where it is called as that was, it comes after it.
inline std::shared_ptr<ScriptScope> find_outer(const ForwardPlace& caller, bool is_task) {
  std::shared_ptr<ScriptScope> outer = ScriptScopes::get().find();
  if (outer == nullptr || is_task || outer->thread != ::at::RecordFunction::currentThreadId()) return outer;
  if (!outer->has_left.load(std::memory_order_acquire) && caller.stack != outer->call->caller().stack) return outer;
  if (caller.stack != SourcePlace::no_stack && outer->begins_call) end_call(*outer);
  return nullptr;
}

inline std::unique_ptr<RunningScript> begin_function(const ::at::RecordFunction& function) {
  const ScriptArguments arguments = function.inputs();
  const python::ThreadStack stack = python::this_thread_stack(&is_module_call);
  const ForwardPlace caller{stack.number, module_of(stack)};
  // Python's name for it, where Python calls the module, and not a method of it within another one's call.
  const ScriptModule self(arguments.empty() ? nullptr : &arguments[0], stack.is_inside ? caller.module : nullptr);
  auto running = std::make_unique<RunningScript>();
  running->scope = std::make_shared<ScriptScope>();
  ScriptScope& scope = *running->scope;
  scope.function = function.name();
  scope.thread = ::at::RecordFunction::currentThreadId();
  scope.root = self.name() != nullptr ? ScriptRoot{self.name(), self.name()}
                                      : ScriptRoot{caller.module, &kept_name(scope.function)};
  const bool is_task = scope.function == "<forked function>";
  if (const std::shared_ptr<ScriptScope> outer = find_outer(caller, is_task)) {
    scope.call = outer->call;
    const std::string inner = is_task ? "fork" : *scope.root.path;
    scope.root.path = &kept_name(inner == *outer->root.path ? inner : *outer->root.path + "/" + inner);
  } else {
    scope.begins_call = true;
    begin_call(scope, arguments, self, caller);
  }
  ScriptScopes::get().add(running->scope);
  return running;
}

/// The start callback. Functions that a running program calls itself are parts of it without further ado; what runs
/// while gradients are computed is a part of the backward pass.
inline std::unique_ptr<::at::ObserverContext> begin_script(const ::at::RecordFunction& function) {
  ThreadRecord& thread = this_thread_record();
  if (!nanlens::detail::is_active() || nanlens::detail::active_bits() == 0) return nullptr;
  if (thread.inside || thread.node != nullptr) return nullptr;
  const Inside inside(thread);
  if (std::string_view(function.name()) == "<forward op>") {
    note_derived(function, ScriptScopes::get().find().get());
    return nullptr;
  }
  return ::torch::jit::currentCallstack().size() > 1 ? nullptr : begin_function(function);
}

// Of what has failed on another thread than its caller's, no exception tells: PyTorch ends such a function when it has
// left it, while one that returns is still in it.
inline void end_script(const ::at::RecordFunction& /*function*/, ::at::ObserverContext* context) {
  if (context == nullptr) return;
  const Inside inside(this_thread_record());
  const auto& running = *static_cast<RunningScript*>(context);
  const bool has_returned =
      ScriptScopes::get().remove(*running.scope) && std::uncaught_exceptions() <= running.exceptions;
  if (running.scope->begins_call) running.scope->call->end(!has_returned);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
