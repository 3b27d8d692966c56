/// @file
/// How processes of one run exchanged data.
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// Which ranks' data come together in what a rank gets.
enum class ExchangeKind : std::uint8_t {
  none = 0,
  all = 1,        ///< every rank gets something of every rank: Allreduce, Allgather, Alltoall
  to_root = 2,    ///< one rank does: Reduce, Gather
  from_root = 3,  ///< every rank gets something of one: Bcast, Scatter
  up_to = 4,      ///< a rank gets something of itself and those before it: Scan
  before = 5,     ///< of those before it: Exscan
  message = 6,    ///< one rank gets what another one has sent
};

/// What is done with the data that come together.
enum class Reduction : std::uint8_t { none = 0, sum = 1, product = 2, other = 3, minimum = 4, maximum = 5 };

/// What makes an execution of one process and those of others one exchange of data. One execution holds what a rank has
/// put in, a second one what it got out; both have the same numbers in all ranks, so that no clock is needed to join
/// them.
struct Exchange {
  ExchangeKind kind = ExchangeKind::none;
  bool received = false;  ///< the execution's outputs are what the rank got; else what it has put in
  bool per_rank = false;  ///< put in: an output for each rank of the communicator
  Reduction reduction = Reduction::none;
  std::uint64_t communicator = 0;  ///< 0: not known
  /// From 1, among the collectives of the communicator, or among the messages of one sender, receiver and tag; 0: not
  /// known.
  std::uint64_t sequence = 0;
  std::int32_t rank = 0;  ///< in the communicator
  std::int32_t size = 0;  ///< of the communicator
  std::int32_t peer = 0;  ///< the root, or the other end of a message
  std::int32_t tag = 0;   ///< of a message
};

}  // namespace nanlens::inline NANLENS_ABI::logdir
