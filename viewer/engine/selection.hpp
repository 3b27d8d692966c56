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
Focus resolve(RunIndex& index, Explain& explain, AlertList& alerts, RowSteps& steps, const Selection& current,
              const Select& wish, std::string& notice);

/// The part of it that goes along the ranks of a run, or from one to another.
Focus focus_by_rank(RunIndex& index, const Focus& current, const Select& wish, std::string& notice);

/// Everything that panes show of a focus. `hops`: how far around the op to look. What fed what is the analysis' answer;
/// while it can't be asked yet, nothing is paired.
Selection describe_selection(RunIndex& index, Explain& explain, const AlertList& alerts, const Focus& focus,
                             std::uint32_t hops);

/// Inputs, outputs and place of one execution.
Card describe_execution(RunIndex& index, Explain& explain, std::int64_t execution);

/// What nanlens saw of the selected event's output and of its op's inputs, if that output was bad; else nothing.
std::vector<SeenTensor> seen_tensors(RunIndex& index, const Focus& focus);

/// Fills the graph around the focused op, with the health of the instance that is selected or ran in the selected call,
/// and the rows that its inputs and consumers are.
void describe_neighbourhood(RunIndex& index, Explain& explain, std::uint32_t hops, Selection& selection);

/// What is on record of one output of an execution.
TensorInfo describe_output(RunIndex& index, std::int64_t execution, std::int32_t slot);

}  // namespace nanlens::viewer
