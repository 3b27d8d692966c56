/// @file
/// Events in full, as they are read again from the files on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/logdir/events.hpp>
#include <nanlens/reader/event_digest.hpp>

namespace nanlens::reader {

/// The numbers recorded of one tensor; nothing for placeholders and for full values (FULL_TENSOR).
using TensorValues = std::optional<std::vector<double>>;

struct ExecutionDetail {
  double wall_time = 0;
  logdir::Execution event;
  logdir::NanlensExtension extension;
  std::vector<TensorValues> debug_tensor_values;  ///< one per recorded tensor, may be shorter than num_outputs
};

struct TraceDetail {
  double wall_time = 0;
  logdir::GraphExecutionTrace event;
  logdir::NanlensExtension extension;
  std::string op_type;  ///< empty if the op's creation is not on record
  std::vector<std::string> graph_ids;
  std::uint32_t execution = 0xffffffffu;  ///< index of the call it belongs to, or none
  TensorValues debug_tensor_value;
};

/// One input edge of an op, seen from the producer's output slot.
struct Consumer {
  std::string op_name;
  std::int32_t input_slot = 0;
};

struct OpDetail {
  double wall_time = 0;
  logdir::GraphOpCreation event;
  std::vector<std::string> graph_ids;
  std::vector<std::vector<Consumer>> consumers;  ///< per output slot
};

/// True for the modes whose records hold numbers about tensors: CURT_HEALTH … SHAPE.
constexpr bool has_debug_values(std::int32_t mode) noexcept {
  return summary_size(static_cast<TensorDebugMode>(mode)) != 0;
}

/// "op_name:slot" taken apart; nothing if the text is not of that form.
struct TensorName {
  std::string op_name;
  std::int32_t slot = 0;
};

inline std::optional<TensorName> parse_tensor_name(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos || colon + 1 == text.size())
    return std::nullopt;
  std::int64_t slot = 0;
  for (std::size_t i = colon + 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9' || slot > 0xffff) return std::nullopt;
    slot = slot * 10 + (text[i] - '0');
  }
  return TensorName{text.substr(0, colon), static_cast<std::int32_t>(slot)};
}

}  // namespace nanlens::reader
