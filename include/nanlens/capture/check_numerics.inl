#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/check_settings.hpp>
#include <nanlens/capture/clients.hpp>
#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace NANLENS_HIDDEN detail {

// Control flow and special ops, which compute nothing; shared with dumping. Then ops that make no bad value of good
// ones.
inline constexpr std::string_view unchecked_ops[] = {"Enter",
                                                     "Exit",
                                                     "Identity",
                                                     "If",
                                                     "LoopCond",
                                                     "Merge",
                                                     "NextIteration",
                                                     "StatelessIf",
                                                     "StatefulPartitionedCall",
                                                     "Switch",
                                                     "While",
                                                     "RemoteCall",
                                                     "TPUReplicatedInput",
                                                     "TPUReplicateMetadata",
                                                     "TPUCompilationResult",
                                                     "TPUReplicatedOutput",
                                                     "ConfigureDistributedTPU",
                                                     "DestroyResourceOp",
                                                     "Concat",
                                                     "ConcatV2",
                                                     "ExpandDims",
                                                     "Fill",
                                                     "Gather",
                                                     "Maximum",
                                                     "Minimum",
                                                     "Reshape",
                                                     "Slice",
                                                     "Squeeze",
                                                     "Stack",
                                                     "StridedSlice",
                                                     "StridedSliceGrad",
                                                     "TensorListConcatV2",
                                                     "TensorListGather",
                                                     "TensorListGetItem",
                                                     "TensorListPopBack",
                                                     "TensorListStack",
                                                     "Transpose",
                                                     "Unpack"};

// Statistics of an empty batch are NaN by design.
inline bool is_unchecked_slot(std::string_view op_type, std::int32_t slot) noexcept {
  if (op_type == "FusedBatchNorm" || op_type == "FusedBatchNormV2") return slot >= 1 && slot <= 4;
  return op_type == "FusedBatchNormV3" && slot >= 1 && slot <= 5;
}

inline bool is_checked(const CheckOptions& options, std::string_view op_type, std::int32_t slot) noexcept {
  if (std::find(std::begin(unchecked_ops), std::end(unchecked_ops), op_type) != std::end(unchecked_ops)) return false;
  if (is_unchecked_slot(op_type, slot)) return false;
  for (const auto& name : options.exempt_ops)
    if (name == op_type) return false;
  return std::none_of(options.exempt_slots.begin(), options.exempt_slots.end(),
                      [&](const auto& e) { return e.first == op_type && e.second == slot; });
}

inline std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

inline std::string dtype_text(DType dtype) { return "<dtype: '" + std::string(dtype_name(dtype)) + "'>"; }

// "-Inf, +Inf, and NaN": the kinds seen, in TensorFlow's words.
inline std::string kinds_text(const NumericsEvent& e) {
  if (e.nonfinite_complex > 0) return "Inf or NaN";
  std::vector<std::string> kinds;
  if (e.counts.neg_inf > 0) kinds.emplace_back("-Inf");
  if (e.counts.pos_inf > 0) kinds.emplace_back("+Inf");
  if (e.counts.nan > 0) kinds.emplace_back("NaN");
  if (kinds.size() == 1) return kinds[0];
  if (kinds.size() == 2) return kinds[0] + " and " + kinds[1];
  return kinds[0] + ", " + kinds[1] + ", and " + kinds[2];
}

inline void add_stack_text(std::string& text, const NumericsEvent& e, const CheckOptions& options) {
  text += "\n  Stack trace of op (outermost first, \"->\": its own line):\n";
  const std::size_t limit =
      options.stack_height_limit > 0 ? static_cast<std::size_t>(options.stack_height_limit) : e.stack.size();
  const std::size_t first = e.stack.size() > limit ? e.stack.size() - limit : 0;
  if (first > 0) text += "    + ... (Omitted " + std::to_string(first) + " frames)\n";
  for (std::size_t i = first; i < e.stack.size(); ++i) {
    std::string path = e.stack[i].file;
    const auto longest = static_cast<std::size_t>(std::max(options.path_length_limit, 0));
    if (longest > 0 && path.size() > longest) path = "..." + path.substr(path.size() - longest);
    text += (i + 1 == e.stack.size() ? " -> + " : "    + ") + path + " (L" + std::to_string(e.stack[i].line) + ") " +
            e.stack[i].function + "\n";
    if (std::FILE* const file = e.stack[i].line > 0 ? std::fopen(e.stack[i].file.c_str(), "r") : nullptr;
        file != nullptr) {
      char line[512];
      int at = 0;
      while (at < e.stack[i].line && std::fgets(line, sizeof line, file) != nullptr) ++at;
      std::fclose(file);
      if (at == e.stack[i].line) {
        const std::string code = line;
        const std::size_t begin = code.find_first_not_of(" \t");
        text += "    |   " + (begin == std::string::npos ? "\n" : code.substr(begin));
        if (text.back() != '\n') text += '\n';
      }
    }
  }
}

inline std::string numerics_message(const NumericsEvent& e, const CheckOptions& options) {
  const bool graph = !e.op_name.empty();
  std::string text = "\n\n!!! Detected Infinity or NaN in output " + std::to_string(e.output_slot) + " of " +
                     (graph ? "graph" : "eagerly-executing") + " op \"" + e.op_type +
                     "\" (# of outputs: " + std::to_string(e.num_outputs) + ") !!!\n  dtype: " + dtype_text(e.dtype) +
                     "\n  shape: " + shape_text(e.shape) + "\n";
  if (e.counts.neg_inf > 0) text += "  # of -Inf elements: " + std::to_string(e.counts.neg_inf) + "\n";
  if (e.counts.pos_inf > 0) text += "  # of +Inf elements: " + std::to_string(e.counts.pos_inf) + "\n";
  if (e.counts.nan > 0) text += "  # of +NaN elements: " + std::to_string(e.counts.nan) + "\n";
  if (e.nonfinite_complex > 0)
    text += "  # of elements with an Inf or NaN part: " + std::to_string(e.nonfinite_complex) + "\n";
  const auto input_text = [](const NumericsEvent::Input& in) {
    return (in.name.empty() ? std::string("tensor") : "'" + in.name + "'") + " shape=" + shape_text(in.shape) +
           " dtype=" + std::string(dtype_name(in.dtype));
  };
  if (e.inputs.size() == 1) text += "  Input tensor: " + input_text(e.inputs[0]) + "\n";
  if (e.inputs.size() > 1) {
    text += "  Input tensors (" + std::to_string(e.inputs.size()) + "):\n";
    for (std::size_t i = 0; i < e.inputs.size(); ++i)
      text += "         " + std::to_string(i) + ": " + input_text(e.inputs[i]) + "\n";
  }
  if (!e.graph_name.empty()) text += "  Graph name: \"" + e.graph_name + "\"\n";
  if (graph) text += "  Op name: \"" + e.op_name + "\"\n";
  if (!e.stack.empty()) add_stack_text(text, e, options);
  return text + " : Tensor had " + kinds_text(e) + " values";
}

/// A NumericsEvent for whoever called, who releases it.
struct FoundNumerics final : NumericsRef {
  FoundNumerics(NumericsEvent&& found, std::shared_ptr<const CheckOptions> options)
      : event(std::move(found)), checked_with(std::move(options)) {
    event.message = numerics_message(event, *checked_with);
    for (const auto& in : event.inputs) input_refs.push_back({std::string_view(in.name), in.dtype, in.shape});
    for (const auto& f : event.stack)
      frame_refs.push_back({std::string_view(f.file), std::string_view(f.function), f.line});
    op_type = std::string_view(event.op_type);
    op_name = std::string_view(event.op_name);
    graph_name = std::string_view(event.graph_name);
    message = std::string_view(event.message);
    output_slot = event.output_slot;
    num_outputs = event.num_outputs;
    dtype = event.dtype;
    shape = event.shape;
    counts = event.counts;
    nonfinite_complex = event.nonfinite_complex;
    inputs = input_refs.data();
    num_inputs = input_refs.size();
    stack = frame_refs.data();
    num_frames = frame_refs.size();
    handler = checked_with->handler;
    context = checked_with->context;
    release = [](const NumericsRef* found_before) noexcept { delete static_cast<const FoundNumerics*>(found_before); };
  }
  NumericsEvent event;
  std::shared_ptr<const CheckOptions> checked_with;  // whose handler is to be called
  std::vector<Input> input_refs;
  std::vector<Frame> frame_refs;
};

inline bool enable_check(const CheckOptionsRef& options) {
  CheckSettings& settings = CheckSettings::get();
  const std::lock_guard guard(settings.lock);
  const bool is_first = settings.options == nullptr;
  if (is_first) settings.options = std::make_shared<const CheckOptions>(options);
  Clients::get().switch_on(checking_bit);
  return is_first;
}

inline void disable_check() {
  CheckSettings& settings = CheckSettings::get();
  const std::lock_guard guard(settings.lock);
  settings.options = nullptr;
  Clients::get().switch_off(checking_bit);
}

}  // namespace NANLENS_HIDDEN detail

}  // namespace nanlens::inline NANLENS_ABI
