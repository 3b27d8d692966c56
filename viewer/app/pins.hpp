/// @file
/// Pinned rows that are the same tensor at different times: what differs between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/protocol.hpp"

namespace nanlens::viewer {

/// What is not the same in all of them: a value for each, the earliest row first.
struct Difference {
  BadgeKind kind = BadgeKind::none;
  std::vector<std::string> values;
};

/// Two or more pinned rows of one output of one op.
struct Comparison {
  std::vector<std::size_t> pins;  ///< places among Rows::pinned, the earliest row first
  std::string tensor;             ///< "Log:0"
  std::vector<Difference> differences;
};

/// Of all tensors that are pinned more than once.
[[nodiscard]] std::vector<Comparison> compare_pins(const std::vector<Row>& pinned);

/// "Log:0, 3 times:  −∞: 0 → 5 → 12"
[[nodiscard]] std::string comparison_text(const Comparison& comparison);

}  // namespace nanlens::viewer
