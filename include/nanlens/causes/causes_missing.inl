// Part of causes.hpp: NaN that stands for a value that is missing, and what leaves that out.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

namespace nanlens::causes {

// Has the program asked whether a tensor holds a NaN? Then it knows of a fault, and mends what came of it: unless that
// stands for a value that is missing.
NANLENS_API bool Causes::is_asked_for_nan(EventRef bad) {
  if (std::exchange(asked_of_, bad) == bad) return asked_;  // of each op that removed it, one after another
  if (bad.is_execution) {
    const auto uses = model_.calls().consumers(bad.index, bad.slot);
    model_.spend(uses.size());
    return asked_ = std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
             return asks_if_finite(model_.op_type(execution_event(use.execution, 0))) || is_compared_to_itself(use);
           });
  }
  const auto& edges = model_.graphs().op(run().trace_op(bad.index)).consumers;
  model_.spend(edges.size());
  return asked_ = std::any_of(edges.begin(), edges.end(), [&](const ConsumerEdge& edge) {
           return asks_if_finite(model_.graphs().op_type(edge.op));
         });
}

// Which only a NaN does not equal: as PyTorch asks for one.
NANLENS_API bool Causes::is_compared_to_itself(const TensorUse& use) {
  const std::string_view type = model_.op_type(execution_event(use.execution, 0));
  if (type != "aten::ne" && type != "aten::eq") return false;
  const auto inputs = model_.calls().inputs(use.execution);
  return inputs.size() == 2 && inputs[0].tensor_id == inputs[1].tensor_id;
}

// Is it the comparison of absolute values with infinity by which PyTorch, which multiplies what it gives by what a
// comparison with itself gives, asks what is finite?
NANLENS_API bool Causes::is_part_of_isfinite(EventRef result, EventRef bad) {
  if (model_.op_type(result) != "aten::ne" || model_.op_type(bad) != "aten::abs") return false;
  const auto uses = first_consumers(result);
  return std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    const auto inputs = model_.calls().inputs(use.execution);
    if (model_.op_type(execution_event(use.execution, 0)) != "aten::mul" || inputs.size() != 2) return false;
    const auto other = model_.calls().producer(inputs[use.position == 0 ? 1 : 0].tensor_id, use.execution);
    return other && model_.op_type(execution_event(other->execution, 0)) == "aten::eq";
  });
}

// Did it come in through an input pipeline?
NANLENS_API bool Causes::is_piped_data(const Root& root) {
  return root.event_class == EventClass::source &&
         (model_.code(root.event) == OpCode::iterator_get || is_in_pipeline(root.event));
}

// Did it do so, is it written in the program, or did PyTorch get it from Python? There a NaN stands for a value that is
// missing, if the program asks for it.
NANLENS_API bool Causes::may_lack_values(const Root& root) {
  if (root.event_class != EventClass::source) return false;
  const bool from_python =
      model_.op_type(root.event).starts_with("aten::") && root.arrival.exists() && !root.arrival.changed;
  return from_python || model_.code(root.event) == OpCode::constant || is_piped_data(root);
}

// Does the op with this clean result leave out, or fill, what is missing in its bad input?
NANLENS_API bool Causes::leaves_missing_out(EventRef result, EventRef bad, const Root& root) {
  const OpCode code = model_.code(result);
  const std::string_view type = model_.op_type(result);
  if (code == OpCode::keep && looks_up(type) && is_piped_data(root)) return true;
  if (takes_named(type)) return is_asked_for_nan(bad);
  if (is_part_of_isfinite(result, bad)) return true;
  const bool overwritten = writes_over(type) && model_.health(result).known();
  return (chooses(code) && code != OpCode::clamp) || leaves_nan_out(type) || overwritten;
}

}  // namespace nanlens::causes
