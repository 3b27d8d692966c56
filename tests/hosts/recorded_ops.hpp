/// @file
/// Recording in the test of a host, and what was recorded: without the reader's headers, which would be most of the
/// time that compiling such a test takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace nanlens::test {

using TensorIds = std::vector<std::int64_t>;

struct RecordedOp {
  TensorIds inputs;
  TensorIds outputs;
  std::uint64_t duration_ns;
};

struct RecordedOps {
  std::vector<RecordedOp> ops;
  std::size_t alerts;
};

/// What `body` records.
RecordedOps recorded_ops(const std::function<void()>& body);

}  // namespace nanlens::test
