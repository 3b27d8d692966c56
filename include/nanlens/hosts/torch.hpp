/// @file
/// PyTorch and LibTorch, 1.13 and later: every op of a program is recorded, with no change to the program but
///
///     #include <nanlens/hosts/torch.hpp>
///     nanlens::torch::attach();
///
/// or with none: `nanlens run -- PROGRAM` compiles this header into a library and loads it. Turn recording on as
/// anywhere, by enable_dump_debug_info or the environment.
///
/// An Execution per op, forward, backward (its op's name is that of the autograd node), optimizer and in-place, of all
/// threads. An op that only hands out what ops inside it made is not recorded beside them; views make no values and
/// are not recorded; what is read through them is linked with what made the memory. In Python programs the stack of an
/// op is Python's, that of a backward op followed by that of its forward op; the op's name is that of the
/// torch.nn.Module that calls it ("net.layers.3.linear"), and where something is bad, parameters, buffers and their
/// gradients have their names. A call of a TorchScript function or module is a call of a graph: one Execution, and a
/// row of each op in it, named by its modules ("net/fc/addmm"). Of PyTorch 1.13, 2.15 and
/// later, what ranks exchange by gloo is recorded as it is for MPI: an Execution with what a rank puts in, and another
/// one with what it got, once it is there.
#pragma once

#if !defined(NDEBUG)
#error \
    "nanlens/hosts/torch.hpp: compile with -DNDEBUG, as PyTorch's libraries are. Without it PyTorch's class RecordFunction has another layout here than there, and its callbacks would read the wrong memory."
#endif

#include <string>
#include <string_view>
#include <utility>

#include <ATen/record_function.h>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>
#if !defined(NANLENS_DISABLE)
#include <nanlens/hosts/torch/helping_threads.hpp>
#include <nanlens/hosts/torch/observer.hpp>
#include <nanlens/hosts/torch/scopes.hpp>
#include <nanlens/hosts/torch/script_functions.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {

/// PyTorch as a host.
namespace torch {

/// From now on every op of every thread is recorded, while recording is on; while it is off, an op costs a few
/// nanoseconds more. False if ops are recorded already: by an earlier call, or by `nanlens run`. Best called before
/// threads are started.
NANLENS_HIDDEN bool attach();

/// Ends that, where this program or library has begun it. Not while ops are running.
NANLENS_HIDDEN void detach();

/// Names the parameters and buffers of a torch::nn::Module, as Python programs have them by themselves:
/// "net.layers.3.weight", if `name` is "net".
template <class Module>
void name(const Module& module, const std::string& name);

#if defined(NANLENS_DISABLE)
inline bool attach() { return false; }
inline void detach() {}
template <class Module>
void name(const Module& /*module*/, const std::string& /*name*/) {}
#else
namespace detail {

inline ::at::CallbackHandle callback = ::at::INVALID_CALLBACK_HANDLE;
inline ::at::CallbackHandle step_callback = ::at::INVALID_CALLBACK_HANDLE;
inline ::at::CallbackHandle script_callback = ::at::INVALID_CALLBACK_HANDLE;

/// While recording rests PyTorch need not gather what a callback may want of an op, which costs more than the call.
inline void rest(bool resting) noexcept {
  if (callback == ::at::INVALID_CALLBACK_HANDLE) return;
  if (!resting) return ::at::reenableCallback(callback);
  torch_host::pass_over_exchanges();
  ::at::disableCallback(callback);
}

}  // namespace detail

inline bool attach() {
  if (!nanlens::detail::recorder().claim_host(std::string_view("torch"), &detail::rest)) return false;
  (void)python::this_thread_stack();  // finds out how to read stacks, now that the interpreter's lock may be held
  detail::callback =
      ::at::addGlobalCallback(::at::RecordFunctionCallback(&torch_host::begin, &torch_host::end)
                                  .needsInputs(true)
                                  .needsOutputs(true)
                                  .needsIds(true)
                                  .scopes({::at::RecordScope::FUNCTION, ::at::RecordScope::BACKWARD_FUNCTION}));
  detail::step_callback =
      ::at::addGlobalCallback(::at::RecordFunctionCallback(&torch_host::begin_scope, &torch_host::end_scope)
                                  .scopes({::at::RecordScope::USER_SCOPE}));
  detail::script_callback =
      ::at::addGlobalCallback(::at::RecordFunctionCallback(&torch_host::begin_script, &torch_host::end_script)
                                  .needsInputs(true)
                                  .needsIds(true)
                                  .scopes({::at::RecordScope::TORCHSCRIPT_FUNCTION}));
  nanlens::detail::recorder().share_work(&torch_host::share_work);
  torch_host::read_devices(true);
  return true;
}

inline void detach() {
  if (detail::callback == ::at::INVALID_CALLBACK_HANDLE) return;
  nanlens::detail::recorder().share_work(nullptr);
  torch_host::read_devices(false);
  nanlens::detail::recorder().release_host(std::string_view("torch"), &detail::rest);
  ::at::removeCallback(std::exchange(detail::callback, ::at::INVALID_CALLBACK_HANDLE));
  ::at::removeCallback(std::exchange(detail::step_callback, ::at::INVALID_CALLBACK_HANDLE));
  ::at::removeCallback(std::exchange(detail::script_callback, ::at::INVALID_CALLBACK_HANDLE));
}

template <class Module>
void name(const Module& module, const std::string& name) {
  const auto add = [&](const auto& tensors) {
    for (const auto& item : tensors)
      torch_host::TensorNames::get().add(*item.value().unsafeGetTensorImpl(), name + "." + item.key());
  };
  add(module.named_parameters());
  add(module.named_buffers());
}
#endif

}  // namespace torch

}  // namespace nanlens::inline NANLENS_ABI
