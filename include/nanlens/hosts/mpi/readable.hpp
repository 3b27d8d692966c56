/// @file
/// Memory that can't be read: an MPI that knows GPUs takes addresses of theirs, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <link.h>

#include <nanlens/capture/readable.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

/// Is a library in the process that gives memory of GPUs? Looks again where libraries have come since.
inline bool knows_gpus() noexcept {
  struct Known {
    std::uint64_t libraries = 0;
    bool gpus = false;
  };
  static std::atomic<std::uint64_t> seen{0};
  static std::atomic<bool> gpus{false};
  Known now;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& known = *static_cast<Known*>(to);
        known.libraries = info->dlpi_adds;
        if (known.libraries == seen.load(std::memory_order_relaxed)) return 1;
        for (const char* const name : {"libcuda.so", "libamdhip64.so", "libze_loader.so"})
          known.gpus = known.gpus || std::strstr(info->dlpi_name, name) != nullptr;
        return 0;
      },
      &now);
  if (now.libraries != seen.load(std::memory_order_relaxed)) {
    gpus.store(now.gpus);
    seen.store(now.libraries);
  }
  return gpus.load(std::memory_order_relaxed);
}

/// Can a tensor be looked at from here?
inline bool is_here(const TensorView& view) noexcept {
  if (view.data == nullptr || !knows_gpus()) return true;
  return nanlens::detail::can_read(nanlens::detail::key_of(view));
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
