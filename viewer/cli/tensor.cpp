// `nanlens tensor`: the values of a tensor that are on record, for a unit test that shows the same.
#include <cstdio>
#include <optional>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/reader/stored_tensor.hpp>
#include <nanlens/summary/bad_elements.hpp>
#include <nanlens/tensor/dtype_name.hpp>

#include "commands.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "report/npy.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using reader::StoredTensor;

// What one event holds of its op's tensors.
struct Event {
  logdir::NanlensExtension extension;
  std::vector<logdir::TensorProto> outputs;
  std::int32_t mode = 0;
  std::size_t first_output = 0;  // a trace is of one output
};

Event read_event(reader::Run& run, const TensorOptions& options) {
  const auto missing = [](const char* what, std::int64_t index, std::size_t count) {
    return Failure(std::string("there is no ") + what + " " + std::to_string(index) + ": the run has " +
                   std::to_string(count));
  };
  if (options.row >= 0) {
    if (static_cast<std::size_t>(options.row) >= run.num_traces()) throw missing("row", options.row, run.num_traces());
    auto detail = run.trace(static_cast<std::size_t>(options.row));
    if (!detail) throw Failure("row " + std::to_string(options.row) + " can't be read");
    Event event{std::move(detail->extension), {}, detail->event.tensor_debug_mode, 0};
    event.first_output = static_cast<std::size_t>(std::max(detail->event.output_slot, 0));
    if (detail->event.tensor_proto) event.outputs.push_back(std::move(*detail->event.tensor_proto));
    return event;
  }
  if (options.execution < 0) throw Failure("name the event: --row N or --execution N");
  if (static_cast<std::size_t>(options.execution) >= run.num_executions())
    throw missing("execution", options.execution, run.num_executions());
  auto detail = run.execution(static_cast<std::size_t>(options.execution));
  if (!detail) throw Failure("execution " + std::to_string(options.execution) + " can't be read");
  return {std::move(detail->extension), std::move(detail->event.tensor_protos), detail->event.tensor_debug_mode, 0};
}

std::optional<StoredTensor> output_of(const Event& event, std::size_t output) {
  if (output < event.first_output) return std::nullopt;
  const std::size_t slot = output - event.first_output;
  if (slot < event.extension.output_evidence.size())
    if (auto tensor = reader::stored_tensor(event.extension.output_evidence[slot])) return tensor;
  if (static_cast<TensorDebugMode>(event.mode) != TensorDebugMode::full_tensor || slot >= event.outputs.size())
    return std::nullopt;
  return reader::stored_tensor(event.outputs[slot]);
}

// The first output of the event that is stored, where none is named.
StoredTensor find_tensor(const Event& event, const TensorOptions& options) {
  std::optional<StoredTensor> tensor;
  if (options.input >= 0) {
    const auto input = static_cast<std::size_t>(options.input);
    if (input < event.extension.input_evidence.size())
      tensor = reader::stored_tensor(event.extension.input_evidence[input]);
  } else if (options.output >= 0) {
    tensor = output_of(event, static_cast<std::size_t>(options.output));
  } else {
    const std::size_t count = std::max(event.outputs.size(), event.extension.output_evidence.size());
    for (std::size_t i = 0; i < count && !tensor; ++i) tensor = output_of(event, event.first_output + i);
  }
  if (!tensor)
    throw Failure(
        "the values of that tensor are not on record. nanlens stores those of the first event with a NaN or ∞ of each "
        "op and place, up to DumpOptions::value_budget bytes a run; FULL_TENSOR stores all outputs");
  return std::move(*tensor);
}

void describe(const StoredTensor& tensor) {
  std::string shape;
  for (const std::int64_t dim : tensor.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  line(std::string(dtype_name(tensor.dtype)) + " [" + shape + "], " + report::with_separators(tensor.content.size()) +
       " bytes");
  if (!is_floating(tensor.dtype)) return;
  const TensorView view = tensor.view();
  const Statistics s = statistics(view);
  char text[128];
  std::snprintf(text, sizeof text, "  finite values from %.9g to %.9g, mean %.9g", s.min, s.max, s.mean);
  if (s.min <= s.max) line(text);
  constexpr int most = 16;
  int shown = 0;
  visit_bad_elements(view, [&](const std::int64_t* index) {
    std::string place;
    std::int64_t at = 0;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      place += (place.empty() ? "" : ", ") + std::to_string(index[d]);
      at += index[d] * view.strides[d];
    }
    if (shown == most) line("  …");
    if (shown == most) return false;
    ++shown;
    const double value =
        element_value(tensor.dtype, tensor.content.data() + static_cast<std::size_t>(at) * dtype_bytes(tensor.dtype));
    line("  [" + place + "]: " + (value > 0 ? "+∞" : value < 0 ? "−∞" : "NaN"));
    return true;
  });
}

}  // namespace

int tensor(const TensorOptions& options) {
  const auto logdir = open_logdir(options.path);
  const StoredTensor tensor = find_tensor(read_event(select_run(*logdir, options.run), options), options);
  if (options.file.empty()) {
    describe(tensor);
    return 0;
  }
  std::FILE* const file = std::fopen(options.file.c_str(), "wb");
  const std::string bytes = report::npy_file(tensor);
  const bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if ((file != nullptr && std::fclose(file) != 0) || !written) throw Failure("can't write '" + options.file + "'");
  if (!report::numpy_has(tensor.dtype))
    std::fprintf(stderr, "nanlens: NumPy has no %s: the file holds its bits as unsigned integers\n",
                 std::string(dtype_name(tensor.dtype)).c_str());
  return 0;
}

}  // namespace nanlens::cli
