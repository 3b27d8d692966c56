/// @file
/// How much of what rules find is kept; what is beyond is counted, and told.
#pragma once

#include <cstddef>

namespace nanlens::viewer {

/// Outputs of ops of one rule.
inline constexpr std::size_t most_rule_hits = 10000;
/// Rows of all rules together.
inline constexpr std::size_t most_rule_rows = std::size_t{1} << 20;
/// Bytes of what all judges remember of a run that may grow. A judge beyond them begins anew when it has grown.
inline constexpr std::size_t most_judge_bytes = std::size_t{64} << 20;

}  // namespace nanlens::viewer
