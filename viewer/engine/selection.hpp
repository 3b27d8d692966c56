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

/// Rows, or executions, that a key steps through: the inputs, or the consumers, of the op it was first pressed on.
struct OpSteps {
  IntentKind kind = IntentKind::clear;
  std::vector<Focus> places;  ///< of rows their number alone
  std::size_t at = 0;
};

/// Turns a wish into a focus, relative to the current one. `notice` says why there is none; the focus then stays.
Focus resolve(RunIndex& index, Explain& explain, AlertList& alerts, OpSteps& steps, const Selection& current,
              const Select& wish, std::string& notice);

/// The first alert that is neither marked as expected nor, as far as is known yet, an infinity that is meant to be; if
/// there is none, the first. −1: nothing is bad.
std::int64_t first_bad_alert(Explain& explain, const AlertList& alerts);

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

/// Ops around another that get a card, of one hop.
inline constexpr std::size_t most_cards = 64;

/// Fills the graph around the focused op, with the health of the instance that is selected or ran in the selected call,
/// and the rows that its inputs and consumers are.
void describe_neighbourhood(RunIndex& index, Explain& explain, std::uint32_t hops, Selection& selection);

/// The same of an op that ran eagerly, whose card and seen tensors are described: what made its inputs, and what took
/// its outputs.
void describe_eager_neighbourhood(RunIndex& index, Explain& explain, std::uint32_t hops, Selection& selection);

/// What is on record of one output of an execution.
TensorInfo describe_output(RunIndex& index, std::int64_t execution, std::int32_t slot);

}  // namespace nanlens::viewer
