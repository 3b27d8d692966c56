/// @file
/// PyTorch's tensors on CUDA devices: what a recording call asks the devices about them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>
#include <nanlens/hosts/cuda/fetch_budget.hpp>
#include <nanlens/hosts/torch/cuda_streams.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Asks devices about tensors of a recording call, on the streams that PyTorch uses.
class DeviceLook {
 public:
  using Role = cuda_host::FarTensors::Role;

  void add(nanlens::detail::InputRef& input, Role role = Role::input) { tensors_.add(input.view, input.key, role); }
  void add(nanlens::detail::OutputRef& output, Role role = Role::output) {
    tensors_.add(output.view, output.key, role);
  }
  void look() {
    read_here();
    tensors_.look(stream_of);
  }
  void look_and_fetch(std::uint64_t site) {
    read_here();
    cuda_host::look_and_fetch(tensors_, site, stream_of);
  }
  /// Has each device done what it was asked before? False also if none was asked.
  [[nodiscard]] bool answered() const noexcept { return tensors_.answered(); }

 private:
  // Another library that read devices may have been unloaded since.
  void read_here() const noexcept {
    if (!tensors_.empty()) nanlens::detail::recorder().read_far_with(&cuda_host::read_word);
  }
  static cuda_host::Driver::Stream stream_of(std::size_t device) noexcept { return CudaStreams::get().of(device); }
  cuda_host::FarTensors tensors_;
};

/// From now on the recorder, and this adapter, compare what a device's memory holds with what it held; or no longer.
inline void read_devices(bool on) noexcept {
  const nanlens::detail::ReadFar reader = on ? &cuda_host::read_word : nullptr;
  nanlens::detail::read_far.store(reader, std::memory_order_release);
  nanlens::detail::recorder().read_far_with(reader);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
