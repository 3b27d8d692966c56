/// @file
/// What the list of Graph Executions is a list of: the tensors of a run's graphs, or where it has none, as PyTorch's,
/// its executions. A row stands for one tensor: that of an execution is its first bad output, or the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/causes/event.hpp>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// The rows of one run by their index: that of the GraphExecutionTrace, or of the Execution.
class RowSource {
 public:
  explicit RowSource(RunIndex& index) : index_(index) {}

  /// The run has grown: true if rows are others than before. `loading`: graph tensors may still come, which are read
  /// after executions.
  bool update(bool loading);
  [[nodiscard]] bool of_executions() const noexcept { return of_executions_; }
  [[nodiscard]] std::size_t size() const {
    return of_executions_ ? index_.run().num_executions() : index_.run().num_traces();
  }
  [[nodiscard]] RunIndex& index() const noexcept { return index_; }

  /// The tensor that a row stands for. That of an execution with bad outputs is read.
  [[nodiscard]] causes::EventRef event(std::uint64_t row) const;
  /// EventFlags of the row; of all outputs of an execution.
  [[nodiscard]] std::uint8_t flags(std::uint64_t row) const;
  /// The execution that a row of a graph belongs to, reader::none if that is not known; of executions none: they are
  /// no parts of one.
  [[nodiscard]] std::uint32_t call(std::uint64_t row) const;
  /// The rank that recorded it; −1 if that is not told.
  [[nodiscard]] std::int32_t job_rank(std::uint64_t row) const;
  /// Which row has the focus; −1: none.
  [[nodiscard]] std::int64_t focused(const Focus& focus) const {
    return of_executions_ ? focus.execution : focus.trace;
  }
  /// All that files say of a row.
  [[nodiscard]] Row recorded(std::uint64_t row) const;
  /// The name and the type of its op; empty if they can't be read.
  struct Names {
    std::string name;
    std::string type;
  };
  [[nodiscard]] Names names_of_execution(std::uint64_t row) const;

 private:
  [[nodiscard]] static Names names_of(std::string_view op_type, std::string_view op_name);
  void fill_trace(std::size_t i, Row& row) const;
  void fill_execution(std::size_t i, Row& row) const;

  RunIndex& index_;
  bool of_executions_ = false;
};

}  // namespace nanlens::viewer
