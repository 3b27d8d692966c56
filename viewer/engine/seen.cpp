// What was in memory when an op had made something bad.
#include <algorithm>
#include <utility>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/reader/stored_tensor.hpp>
#include <nanlens/summary/debug_mode.hpp>

#include "badges.hpp"
#include "heat_map.hpp"
#include "report/describe.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

namespace {

SeenTensor described(const logdir::TensorEvidence& seen, std::int32_t input) {
  SeenTensor tensor;
  tensor.input = input;
  tensor.name = seen.name;
  tensor.origin = seen.origin;
  tensor.looked_at = seen.looked_at;
  if (!seen.looked_at) return tensor;
  tensor.badges = badges_of(static_cast<DType>(seen.dtype), seen.shape, causes::seen_health(seen));
  tensor.elements = report::elements_text(seen);
  tensor.stored = !seen.content.empty();
  return tensor;
}

// What a record holds of the selected event's tensors.
struct Recorded {
  logdir::NanlensExtension extension;
  std::optional<reader::StoredTensor> full;  // FULL_TENSOR: the values of the output
  std::size_t slot = 0;                      // of the output among the evidence
};

bool is_full(std::int32_t mode) { return static_cast<TensorDebugMode>(mode) == TensorDebugMode::full_tensor; }

// One value may stand for gigabytes, and what is selected is told at once.
std::optional<reader::StoredTensor> full_values(const logdir::TensorProto& proto) {
  constexpr std::int64_t most = std::int64_t{1} << 22;
  return reader::stands_for_more_than(proto, most) ? std::nullopt : reader::stored_tensor(proto);
}

Recorded recorded_of(RunIndex& index, const Focus& focus) {
  Recorded recorded;
  if (focus.trace >= 0) {
    auto row = index.run().trace(static_cast<std::size_t>(focus.trace));
    if (!row) return recorded;
    recorded.extension = std::move(row->extension);
    if (is_full(row->event.tensor_debug_mode) && row->event.tensor_proto)
      recorded.full = full_values(*row->event.tensor_proto);
    return recorded;
  }
  if (focus.execution < 0 || !focus.op_name.empty()) return recorded;
  recorded.slot = static_cast<std::size_t>(std::max(focus.slot, 0));
  auto execution = index.run().execution(static_cast<std::size_t>(focus.execution));
  if (!execution) return recorded;
  recorded.extension = std::move(execution->extension);
  const auto& outputs = execution->event.tensor_protos;
  if (is_full(execution->event.tensor_debug_mode) && recorded.slot < outputs.size())
    recorded.full = full_values(outputs[recorded.slot]);
  return recorded;
}

const logdir::TensorEvidence* output_of(const Recorded& recorded) {
  const auto& outputs = recorded.extension.output_evidence;
  return recorded.slot < outputs.size() ? &outputs[recorded.slot] : nullptr;
}

// Of an output whose values are all that is on record.
SeenTensor described(const reader::StoredTensor& values) {
  SeenTensor tensor;
  tensor.looked_at = tensor.stored = true;
  tensor.badges = badges_of(values.dtype, values.shape, reader::TensorHealth{});
  return tensor;
}

}  // namespace

std::vector<SeenTensor> seen_tensors(RunIndex& index, const Focus& focus) {
  std::vector<SeenTensor> all;
  const Recorded recorded = recorded_of(index, focus);
  if (const logdir::TensorEvidence* const output = output_of(recorded)) {
    all.push_back(described(*output, -1));
    all.back().stored = all.back().stored || recorded.full;
  } else if (recorded.full) {
    all.push_back(described(*recorded.full));
  }
  std::int32_t input = 0;
  for (const logdir::TensorEvidence& seen : recorded.extension.input_evidence) all.push_back(described(seen, input++));
  return all;
}

std::optional<reader::StoredTensor> stored_values(RunIndex& index, const Focus& focus, std::int32_t seen) {
  const Recorded recorded = recorded_of(index, focus);
  const logdir::TensorEvidence* const output = output_of(recorded);
  const bool has_output = output != nullptr || recorded.full;
  if (seen == 0 && has_output) {
    auto values = output == nullptr ? std::nullopt : reader::stored_tensor(*output);
    if (values) return values;
    return recorded.full;
  }
  const std::int64_t input = std::int64_t{seen} - (has_output ? 1 : 0);
  const auto& inputs = recorded.extension.input_evidence;
  if (input < 0 || static_cast<std::size_t>(input) >= inputs.size()) return std::nullopt;
  return reader::stored_tensor(inputs[static_cast<std::size_t>(input)]);
}

}  // namespace nanlens::viewer
