/// @file
/// Where in the program an event was made.
#pragma once

#include <string>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/reader/run.hpp>
#include <nanlens/reader/stack.hpp>

namespace nanlens::causes {

/// An event's own stack, outermost frame first: of the op's creation for a row, of the call for an execution.
inline std::vector<reader::StackFrame> stack_of(reader::Run& run, EventRef event) {
  if (event.is_execution) {
    const auto detail = run.execution(event.index);
    return detail ? reader::resolve_stack(run, detail->event.code_location) : std::vector<reader::StackFrame>{};
  }
  const auto op = run.op(run.trace_op(event.index));
  return op ? reader::resolve_stack(run, op->event.code_location) : std::vector<reader::StackFrame>{};
}

}  // namespace nanlens::causes
