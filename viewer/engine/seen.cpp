// What was in memory when an op had made something bad.
#include <algorithm>

#include <nanlens/causes/evidence.hpp>

#include "badges.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

namespace {

// "[0,3] NaN, [1,2] −∞"; of a scalar its value alone.
std::string elements_text(const logdir::TensorEvidence& seen) {
  const std::size_t rank = seen.shape.size();
  const std::size_t count = rank == 0 ? std::min<std::size_t>(seen.values.size(), 1) : seen.positions.size() / rank;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    for (std::size_t axis = 0; axis < rank; ++axis)
      text += (axis == 0 ? "[" : ",") + std::to_string(seen.positions[i * rank + axis]);
    if (rank > 0) text += "]";
    if (i < seen.values.size()) text += (rank > 0 ? " " : "") + value_text(seen.values[i]);
  }
  return text;
}

SeenTensor described(const logdir::TensorEvidence& seen, std::int32_t input) {
  SeenTensor tensor;
  tensor.input = input;
  tensor.name = seen.name;
  tensor.origin = seen.origin;
  tensor.looked_at = seen.looked_at;
  if (!seen.looked_at) return tensor;
  tensor.badges = badges_of(static_cast<DType>(seen.dtype), seen.shape, causes::seen_health(seen));
  tensor.elements = elements_text(seen);
  tensor.stored = !seen.content.empty();
  return tensor;
}

}  // namespace

std::vector<SeenTensor> seen_tensors(RunIndex& index, const Focus& focus) {
  std::vector<SeenTensor> all;
  const bool is_row = focus.trace >= 0;
  if (!is_row && (focus.execution < 0 || !focus.op_name.empty())) return all;
  const auto number = static_cast<std::uint32_t>(is_row ? focus.trace : focus.execution);
  const auto slot = is_row ? 0U : static_cast<std::uint32_t>(std::max(focus.slot, 0));
  const auto extension =
      causes::extension_of(index.run(), is_row ? causes::trace_event(number) : causes::execution_event(number, slot));
  if (slot < extension.output_evidence.size()) all.push_back(described(extension.output_evidence[slot], -1));
  std::int32_t input = 0;
  for (const logdir::TensorEvidence& seen : extension.input_evidence) all.push_back(described(seen, input++));
  return all;
}

}  // namespace nanlens::viewer
