/// @file
/// Memory that can't be read from here: a GPU's, what is freed, what is not mapped.
#pragma once

#include <cerrno>
#include <cstdint>

#include <sys/uio.h>
#include <unistd.h>

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Can a byte be read? Asks the system: it costs no more than a call of it, and never a signal. Yes where the system
/// won't say, as some sandboxes won't.
inline bool can_read(std::uintptr_t address) noexcept {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{reinterpret_cast<void*>(address), 1};
  const int error_before = errno;
  const bool is_read = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1;
  const bool is_refused = !is_read && errno != EFAULT;
  errno = error_before;
  return is_read || is_refused;
}

/// Can the first and the last byte of a tensor's memory be read?
inline bool can_read(const TensorKey& key) noexcept {
  return key.empty() || (can_read(key.begin) && can_read(key.end - 1));
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
