/// @file
/// A frame of a stack, resolved.
#pragma once

#include <cstdint>
#include <string>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// A place in the source. Line 0: only the function and the module are known.
struct ResolvedFrame {
  std::string file;
  std::int32_t line = 0;
  std::string function;
};

}  // namespace nanlens::inline NANLENS_ABI::detail
