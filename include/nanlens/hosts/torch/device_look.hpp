/// @file
/// PyTorch's tensors on CUDA devices: what a recording call asks the devices about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>
#include <nanlens/hosts/torch/cuda_streams.hpp>
#include <nanlens/hosts/torch/forks.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Asks devices about tensors of a recording call, on the streams that PyTorch uses.
class DeviceLook {
 public:
  using Role = cuda_host::FarTensors::Role;
  static constexpr std::size_t few_bytes = cuda_host::FarTensors::few_bytes;
  static constexpr std::size_t most_bytes = cuda_host::FarTensors::most_bytes;

  void add(nanlens::detail::InputRef& input, Role role = Role::input) { tensors_.add(input.view, input.key, role); }
  void add(nanlens::detail::OutputRef& output, Role role = Role::output) {
    tensors_.add(output.view, output.key, role);
  }
  void look() { tensors_.look(stream_of); }
  [[nodiscard]] bool any_bad() const noexcept { return tensors_.any_bad(); }
  void fetch(Role role, std::size_t bytes = most_bytes) { tensors_.fetch(role, bytes, stream_of); }

 private:
  static cuda_host::Driver::Stream stream_of(std::size_t device) noexcept { return CudaStreams::get().of(device); }
  cuda_host::FarTensors tensors_;
};

/// Large tensors are fetched, and searched, for the first bad results of a call site alone: a mask is bad in each step,
/// and to fetch it takes a thousand times as long as to make it.
class LargeFetches {
 public:
  static LargeFetches& get() { return whole_in_each_process<LargeFetches>(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

  bool take(std::uint64_t site) {
    const std::lock_guard guard(lock_);
    if (taken_.size() >= most_sites && !taken_.contains(site)) return false;
    std::uint8_t& count = taken_[site];
    return count < each && ++count > 0;
  }

 private:
  static constexpr std::uint8_t each = 4;
  static constexpr std::size_t most_sites = 65'536;

  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::uint8_t> taken_;
};

/// How the recorder, and this adapter, compare what a device's memory holds with what it held.
inline void read_devices(nanlens::detail::ReadFar reader) noexcept {
  nanlens::detail::read_far.store(reader, std::memory_order_release);
  nanlens::detail::recorder().read_far_with(reader);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
