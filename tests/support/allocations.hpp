/// @file
/// Counts what a test program allocates, and lets allocations fail: programs with allocations.cpp.
#pragma once

#include <cstddef>

namespace nanlens::test {

struct Allocations {
  std::size_t count = 0;    ///< since `restart`
  std::size_t in_use = 0;   ///< bytes
  std::size_t peak = 0;     ///< the most bytes in use since `restart`
  std::size_t fail_at = 0;  ///< from this count on every allocation fails; 0: none does
  void restart() {
    count = 0;
    peak = in_use;
  }
};
extern Allocations allocations;

}  // namespace nanlens::test
