/// @file
/// What follows from a choice: the execution's card, the op's neighbourhood, the stack, and the rows that light up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alerts.hpp"
#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Rows that a key steps through: the inputs, or the consumers, of the op it was first pressed on.
struct RowSteps {
  IntentKind kind = IntentKind::clear;
  std::vector<std::int64_t> rows;
  std::size_t at = 0;
};

/// Turns a wish into a focus, relative to the current one. `notice` says why there is none; the focus then stays.
Focus resolve(RunIndex& index, AlertList& alerts, RowSteps& steps, const Selection& current, const Select& wish,
              std::string& notice);

/// Everything that panes show of a focus. `hops`: how far around the op to look.
Selection describe_selection(RunIndex& index, const AlertList& alerts, const Focus& focus, std::uint32_t hops);

/// Inputs, outputs and place of one execution.
Card describe_execution(RunIndex& index, std::int64_t execution);

/// The graph around an op, with the health of the instance that ran in `focus.execution`.
Neighbourhood describe_neighbourhood(RunIndex& index, const Focus& focus, std::uint32_t hops);

/// Where a placeholder's tensor comes from: the caller's argument.
Boundary describe_boundary(RunIndex& index, std::uint32_t op, std::int64_t call);

/// What is on record of one output of an execution.
TensorInfo describe_output(RunIndex& index, std::int64_t execution, std::int32_t slot);

}  // namespace nanlens::viewer
