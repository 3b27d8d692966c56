/// @file
/// What the panes need of a run beyond the reader's index: the rows of each call, and which execution made a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "protocol.hpp"

namespace nanlens::viewer {

/// An output of an execution.
struct Producer {
  std::uint32_t execution = reader::none;
  std::int32_t slot = 0;
};

/// A run with derived look-ups, which `refresh` brings up to date when the run has grown.
class RunIndex {
 public:
  explicit RunIndex(reader::Run& run) : run_(run) {}

  [[nodiscard]] reader::Run& run() const noexcept { return run_; }
  void refresh();

  /// Rows of a call lie in [first, last]; others may lie between them. first = −1: it has none.
  struct Span {
    std::int64_t first = -1;
    std::int64_t last = -1;
    std::uint64_t count = 0;
  };
  [[nodiscard]] Span rows_of_call(std::int64_t execution) const;

  /// The row of one output of an op in a call: of several, the last at or before `near`, else the first after it.
  /// `execution` −1: rows without a call. −1 if there is none.
  [[nodiscard]] std::int64_t row_of(std::uint32_t op, std::int32_t slot, std::int64_t execution, std::int64_t near);

  /// The latest execution before `execution` that gave the tensor with this id.
  [[nodiscard]] std::optional<Producer> producer(std::int64_t tensor_id, std::int64_t execution);

  /// Names of devices by the ids that events use; "" if unknown.
  [[nodiscard]] std::string device(std::int32_t id) const;
  /// Pauses that the axis by time shortens.
  [[nodiscard]] const std::vector<Gap>& gaps();
  /// Seconds since the run's start.
  [[nodiscard]] double since_start(double wall_time) const { return wall_time - run_.starting_wall_time(); }
  /// The graph an execution ran: by id where it is recorded, else by name if only one graph has it.
  [[nodiscard]] std::uint32_t graph_of(const logdir::Execution& execution);
  /// A graph's placeholders in creation order, which is the order of its function's inputs.
  [[nodiscard]] const std::vector<std::uint32_t>& placeholders(std::uint32_t graph);

  [[nodiscard]] std::string text(std::uint32_t number) const { return std::string(run_.definitions().text(number)); }
  [[nodiscard]] const reader::Op& op(std::uint32_t index) const { return run_.definitions().ops()[index]; }
  [[nodiscard]] const reader::Graph& graph(std::uint32_t index) const { return run_.definitions().graphs()[index]; }

 private:
  [[nodiscard]] std::optional<Producer> find_backwards(std::int64_t tensor_id, std::int64_t execution,
                                                       std::int64_t most);

  reader::Run& run_;
  std::vector<Span> calls_;
  std::unordered_map<std::int64_t, Producer> producers_;
  std::size_t produced_ = 0;  // executions whose outputs are in producers_
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> placeholders_;
  std::size_t placeholders_at_ops_ = 0;
  std::vector<Gap> gaps_;
  std::size_t gaps_at_executions_ = 0;
};

/// A function's name without the prefix and number that TensorFlow adds: "__forward_loss_470" is "loss".
std::string stripped_name(const std::string& op_type);

}  // namespace nanlens::viewer
