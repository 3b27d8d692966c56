/// @file
/// Lets an analysis run to its end.
#pragma once

#include <nanlens/causes/causes.hpp>

namespace nanlens::test {

/// Advances `slice` events at a time until all are done.
inline void finish(causes::Causes& causes, std::size_t slice = 1000) {
  while (!causes.advance(slice)) {
  }
}

}  // namespace nanlens::test
