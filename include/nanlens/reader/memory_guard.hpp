/// @file
/// Work that may find no memory, which is a fault like others.
#pragma once

#include <new>
#include <stdexcept>

#include <nanlens/config.hpp>

namespace nanlens::reader {

/// Does something; false if there was not enough memory for it. Without exceptions a failed allocation ends the
/// program.
template <class Work>
bool with_memory(Work&& work) {
#if NANLENS_HAS_EXCEPTIONS
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
#else
  work();
  return true;
#endif
}

}  // namespace nanlens::reader
