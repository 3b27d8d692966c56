/// @file
/// The steps of a training: PyTorch's optimizers in Python mark theirs for profilers, as a scope with a name.
#pragma once

#include <string_view>

#include <ATen/record_function.h>

#include <nanlens/capture/dump.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Called where a scope that somebody has named ends: "Optimizer.step#SGD.step".
inline void end_of_scope(const ::at::RecordFunction& function, ::at::ObserverContext*) {
  if (std::string_view(function.name()).starts_with("Optimizer.step#")) step();
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
