/// @file
/// PyTorch's current CUDA streams: what an op made is there once they have done what they had to do.
#pragma once

#include <cstddef>
#include <type_traits>

#include <c10/core/Stream.h>
#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// By the functions that PyTorch's own library for CUDA exports: its headers need CUDA's, which a user may not have.
class CudaStreams {
 public:
  static const CudaStreams& get() noexcept {
    static const CudaStreams found;
    return found;
  }
  /// False without that library, and without a driver: then nothing on a device can be looked at.
  [[nodiscard]] bool are_known() const noexcept { return current_ != nullptr; }

  /// This thread's stream on a device.
  [[nodiscard]] cuda_host::Driver::Stream of(std::size_t device) const noexcept {
    const Stream stream = current_(static_cast<::c10::DeviceIndex>(device));
    return handle_(&stream);
  }

 private:
  /// c10::cuda::CUDAStream, whose one member it is.
  struct Stream {
    ::c10::Stream stream;
  };
  static_assert(std::is_trivially_copyable_v<Stream> && sizeof(Stream) == 16);

  CudaStreams() noexcept {
    void* const library = ::dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr || cuda_host::Driver::get() == nullptr) return;
    const auto look_up = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    };
    look_up(handle_, "_ZNK3c104cuda10CUDAStream6streamEv");
    look_up(current_, "_ZN3c104cuda20getCurrentCUDAStreamEa");
    if (handle_ == nullptr) current_ = nullptr;
  }

  Stream (*current_)(::c10::DeviceIndex device) = nullptr;
  cuda_host::Driver::Stream (*handle_)(const Stream* stream) = nullptr;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
