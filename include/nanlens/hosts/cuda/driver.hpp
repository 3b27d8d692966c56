/// @file
/// CUDA's driver, found while the program runs: neither its headers nor its libraries are needed to compile, and a
/// program without a GPU never loads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dlfcn.h>
#include <unistd.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN cuda_host {

/// The driver's functions as `libcuda.so.1` exports them: names, arguments and numbers are those of cuda.h, which
/// promises that they stay. Each returns 0 if all went well.
struct Driver {
  using Result = int;
  using Context = void*;
  using Stream = void*;
  using Address = unsigned long long;

  static constexpr Result success = 0;
  static constexpr int not_capturing = 0;         ///< CU_STREAM_CAPTURE_STATUS_NONE
  static constexpr int relaxed_capture = 2;       ///< CU_STREAM_CAPTURE_MODE_RELAXED
  static constexpr unsigned portable_memory = 1;  ///< CU_MEMHOSTALLOC_PORTABLE
  static constexpr int memory_type = 2;           ///< CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  static constexpr int device_ordinal = 9;        ///< CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

  Result (*cuDeviceGet)(int* device, int ordinal) = nullptr;
  Result (*cuDevicePrimaryCtxRetain)(Context* context, int device) = nullptr;
  Result (*cuCtxPushCurrent_v2)(Context context) = nullptr;
  Result (*cuCtxPopCurrent_v2)(Context* context) = nullptr;
  Result (*cuModuleLoadData)(void** module, const void* image) = nullptr;
  Result (*cuModuleGetFunction)(void** function, void* module, const char* name) = nullptr;
  Result (*cuLaunchKernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,
                           void** extra) = nullptr;
  Result (*cuStreamSynchronize)(Stream stream) = nullptr;
  Result (*cuStreamIsCapturing)(Stream stream, int* status) = nullptr;
  Result (*cuThreadExchangeStreamCaptureMode)(int* mode) = nullptr;
  Result (*cuMemAlloc_v2)(Address* address, std::size_t bytes) = nullptr;
  Result (*cuMemHostAlloc)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
  Result (*cuMemsetD8_v2)(Address address, unsigned char value, std::size_t bytes) = nullptr;
  Result (*cuMemcpyDtoHAsync_v2)(void* to, Address from, std::size_t bytes, Stream stream) = nullptr;
  Result (*cuPointerGetAttribute)(void* value, int attribute, Address address) = nullptr;

  /// Null where there is no driver, it lacks a function, or the process is the child of the one that asked first: CUDA
  /// can't be used after a fork.
  static const Driver* get() noexcept {
    static const pid_t process = ::getpid();
    static const Driver found;
    return found.complete_ && process == ::getpid() ? &found : nullptr;
  }

 private:
  Driver() noexcept {
    void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);  // for good
    if (library == nullptr) return;
    complete_ = true;
    const auto look_up = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      complete_ = complete_ && function != nullptr;
    };
    look_up(cuDeviceGet, "cuDeviceGet");
    look_up(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    look_up(cuCtxPushCurrent_v2, "cuCtxPushCurrent_v2");
    look_up(cuCtxPopCurrent_v2, "cuCtxPopCurrent_v2");
    look_up(cuModuleLoadData, "cuModuleLoadData");
    look_up(cuModuleGetFunction, "cuModuleGetFunction");
    look_up(cuLaunchKernel, "cuLaunchKernel");
    look_up(cuStreamSynchronize, "cuStreamSynchronize");
    look_up(cuStreamIsCapturing, "cuStreamIsCapturing");
    look_up(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode");
    look_up(cuMemAlloc_v2, "cuMemAlloc_v2");
    look_up(cuMemHostAlloc, "cuMemHostAlloc");
    look_up(cuMemsetD8_v2, "cuMemsetD8_v2");
    look_up(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2");
    look_up(cuPointerGetAttribute, "cuPointerGetAttribute");
  }

  bool complete_ = false;
};

}  // namespace NANLENS_HIDDEN cuda_host
}  // namespace nanlens::inline NANLENS_ABI
