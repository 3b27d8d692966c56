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

/// Does anybody want to know what tensors hold? If not, a device is asked nothing: each question waits for what it has
/// to do. What a tensor is, is told by its address alone, then.
inline bool are_devices_asked() noexcept {
  using namespace nanlens::detail;
  return (active_bits() & (health_bit | checking_bit)) != 0;
}

/// Asks devices about tensors of a recording call, on the streams that PyTorch uses.
class DeviceLook {
 public:
  using Role = cuda_host::FarTensors::Role;

  void add(nanlens::detail::InputRef& input, Role role = Role::input) {
    if (input.key.far != 0 && are_devices_asked()) tensors_.add(input.view, input.key, role);
  }
  void add(nanlens::detail::OutputRef& output, Role role = Role::output) {
    if (output.key.far != 0 && are_devices_asked()) tensors_.add(output.view, output.key, role);
  }
  void look() { tensors_.look(stream_of); }
  [[nodiscard]] bool any_bad() const noexcept { return tensors_.any_bad(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return tensors_.bytes(); }
  void fetch(Role role, std::size_t bytes = cuda_host::FarTensors::most_bytes) {
    tensors_.fetch(role, bytes, stream_of);
  }

 private:
  static cuda_host::Driver::Stream stream_of(std::size_t device) noexcept { return CudaStreams::get().of(device); }
  cuda_host::FarTensors tensors_;
};

/// Bad results are fetched and searched, with what they were made from, as long as their call site has not had many
/// bytes: a mask is bad in each step, and so is all that comes after a NaN.
class FetchBudget {
 public:
  static FetchBudget& get() { return whole_in_each_process<FetchBudget>(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

  /// The most bytes that a tensor may have which is fetched; `bytes`: of all of the op.
  std::size_t take(std::uint64_t site, std::size_t bytes) {
    using cuda_host::FarTensors;
    if (bytes <= FarTensors::few_bytes) return FarTensors::most_bytes;
    const std::lock_guard guard(lock_);
    if (taken_.size() >= most_sites && !taken_.contains(site)) return FarTensors::few_bytes;
    std::size_t& taken = taken_[site];
    if (taken > 0 && taken + bytes > bytes_of_site) return FarTensors::few_bytes;
    taken += bytes;
    return FarTensors::most_bytes;
  }

 private:
  static constexpr std::size_t bytes_of_site = std::size_t{64} << 20;
  static constexpr std::size_t most_sites = 65'536;

  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::size_t> taken_;
};

/// A nanlens::detail::ReadFar.
inline bool read_word(std::uintptr_t at, void* to, std::size_t bytes) noexcept {
  return are_devices_asked() && cuda_host::read_word(at, to, bytes);
}

/// From now on the recorder, and this adapter, compare what a device's memory holds with what it held; or no longer.
inline void read_devices(bool on) noexcept {
  const nanlens::detail::ReadFar reader = on ? &read_word : nullptr;
  nanlens::detail::read_far.store(reader, std::memory_order_release);
  nanlens::detail::recorder().read_far_with(reader);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
