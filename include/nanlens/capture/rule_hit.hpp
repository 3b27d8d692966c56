/// @file
/// What a rule of the recording program has found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanlens/capture/resolved_frame.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

/// The first place at which a rule of DumpOptions::rules holds.
struct RuleHit {
  std::string rule;
  std::string level;  ///< "error", "warning" or "note"
  std::string expression;
  std::string reason;
  std::string op_type;
  std::string op_name;     ///< in a graph, or its own
  std::string graph_name;  ///< in a graph
  std::int32_t output_slot = 0;
  std::string numbers;                       ///< what the rule asks: "zero is 97% of 400, for 5 calls"
  std::vector<detail::ResolvedFrame> stack;  ///< outermost first
  std::string message;                       ///< all of it as one line
};

}  // namespace nanlens::inline NANLENS_ABI
