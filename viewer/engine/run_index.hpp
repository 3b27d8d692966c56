/// @file
/// What the panes need of a run beyond the reader's index: the rows of each call and of each op.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "protocol.hpp"
#include "ranks.hpp"

namespace nanlens::viewer {

/// A run with derived look-ups, which `refresh` brings up to date when the run has grown.
class RunIndex {
 public:
  explicit RunIndex(reader::Run& run) : run_(run), ranks_(run) {}

  [[nodiscard]] reader::Run& run() const noexcept { return run_; }
  void refresh();

  /// Rows of a call lie in [first, last]; others may lie between them. first = −1: it has none.
  struct Span {
    std::int64_t first = -1;
    std::int64_t last = -1;
    std::uint64_t count = 0;
  };
  [[nodiscard]] Span rows_of_call(std::int64_t execution) const;

  /// Rows of an op in the whole run.
  struct OpRows {
    std::int64_t first = -1;
    std::int64_t first_bad = -1;
    std::uint64_t count = 0;
    std::uint64_t bad = 0;
  };
  [[nodiscard]] OpRows rows_of_op(std::uint32_t op) const { return op < ops_.size() ? ops_[op] : OpRows{}; }

  /// The name of a device by the id that an execution uses; "" if unknown.
  [[nodiscard]] std::string device_of_execution(std::size_t execution, std::int32_t id) const {
    return run_.device_name(run_.set_of_execution(execution), id);
  }
  /// Pauses that the axis by time shortens.
  [[nodiscard]] const std::vector<Gap>& gaps();
  /// Executions by rank, where a run has several.
  [[nodiscard]] RankTracks& ranks() { return ranks_; }
  /// Seconds since the run's start.
  [[nodiscard]] double since_start(double wall_time) const { return wall_time - run_.starting_wall_time(); }
  [[nodiscard]] std::string text(std::uint32_t number) const { return std::string(run_.definitions().text(number)); }
  [[nodiscard]] const reader::Op& op(std::uint32_t index) const { return run_.definitions().ops()[index]; }
  [[nodiscard]] const reader::Graph& graph(std::uint32_t index) const { return run_.definitions().graphs()[index]; }

 private:
  reader::Run& run_;
  std::vector<Span> calls_;
  std::vector<OpRows> ops_;
  std::vector<Gap> gaps_;
  std::size_t gaps_at_executions_ = 0;
  RankTracks ranks_;
};

/// A function's name without the prefix and number that TensorFlow adds: "__forward_loss_470" is "loss".
std::string stripped_name(const std::string& op_type);

}  // namespace nanlens::viewer
