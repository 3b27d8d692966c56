/// @file
/// Where this program is: what belongs to it lies beside it, in a build tree as where it is installed.
#pragma once

#include <filesystem>
#include <system_error>

namespace nanlens::share {

/// The path of this program's file; empty if the system does not tell.
inline std::filesystem::path own_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none);
}

}  // namespace nanlens::share
