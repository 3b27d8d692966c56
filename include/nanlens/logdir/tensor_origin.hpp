/// @file
/// How the tensor that an op got is known.
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// The numbers are those of TensorOrigin in tfdbg2.proto.
enum class TensorOrigin : std::int32_t {
  not_recorded = 0,  ///< no recorded op made it
  recorded = 1,      ///< the same bytes, which hold what was recorded
  part = 2,          ///< a part of the bytes of a recorded tensor
  copy = 3,          ///< other bytes with the content of a recorded tensor
  changed = 4,       ///< the same bytes, which hold something else by now: changed by what is not on record
  holds = 5,         ///< no recorded op made the whole, but the part of it that is bad
  lay_there = 6,     ///< of an output: a recorded tensor was in its memory before, which may have been freed meanwhile
};

}  // namespace nanlens::inline NANLENS_ABI::logdir
