/// @file
/// Scopes with a name, which are marked for profilers: the steps of PyTorch's optimizers, and messages between
/// processes.
#pragma once

#include <memory>
#include <string_view>

#include <ATen/record_function.h>

#include <nanlens/capture/dump.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/exchange_hooks.hpp>
#include <nanlens/hosts/torch/observer.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

inline std::unique_ptr<::at::ObserverContext> begin_scope(const ::at::RecordFunction& function) {
  return begin_gloo(function.name(), this_thread_record().receiving);
}

/// With a context where the scope is gloo's. That of a step is "Optimizer.step#SGD.step".
inline void end_scope(const ::at::RecordFunction& function, ::at::ObserverContext* context) {
  const Inside inside(this_thread_record());  // what has come may be told to the program, which then has ops of its own
  if (context != nullptr) return end_gloo(*context);
  if (std::string_view(function.name()).starts_with("Optimizer.step#")) step();
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
