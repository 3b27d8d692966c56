/// @file
/// Which call each row belongs to, and the rows of each call.
#pragma once

#include <unordered_map>
#include <vector>

#include <nanlens/causes/call_table.hpp>

namespace nanlens::causes {

/// `update` takes in rows that are new, and those whose call has become known. Where calls are not recorded with the
/// rows (TensorFlow), time joins them, and each row is judged by itself: it belongs to the call if its graph, or one
/// around it, is of the called function's family (the function, its forward and backward variants). A call that runs
/// functions traced elsewhere may have any rows.
class RowOwners {
 public:
  RowOwners(Run& run, GraphFacts& graphs, CallTable& calls) : run_(run), graphs_(graphs), calls_(calls) {}

  void update() {
    native_ = run_.metadata().tensorflow_version.starts_with("nanlens");
    asynchronous_.clear();
    families_of_graph_.clear();
    foreign_allowed_.clear();
    if (!native_) compare_clocks();
    spans_.assign(run_.num_executions(), {});
    ownerless_.clear();
    has_rows_.assign(run_.definitions().ops().size(), false);
    for (std::uint32_t row = 0; row < run_.num_traces(); ++row) {
      has_rows_[run_.trace_op(row)] = true;
      const std::uint32_t call = owner(row);
      if (call == none) {
        ownerless_.push_back(row);
        continue;
      }
      Span& span = spans_[call];
      if (span.first == none) span.first = row;
      span.last = row;
    }
  }

  /// The call of a row; none for rows of graphs that the runtime runs by itself (input pipelines), and of those that
  /// can't be the call's.
  [[nodiscard]] std::uint32_t owner(std::uint32_t row) {
    const std::uint32_t call = row < shifted_.size() ? shifted_[row] : run_.trace_execution(row);
    if (call == none || call >= run_.num_executions() || native_) return call;
    const std::uint32_t graph = graphs_.graph_of(run_.trace_op(row));
    return !is_asynchronous(graph) && may_run(call, graph) ? call : none;
  }
  /// Is the graph run by no recorded call?
  [[nodiscard]] bool is_asynchronous(std::uint32_t graph) {
    if (native_ || run_.num_executions() == 0) return false;
    if (asynchronous_.size() <= graph) asynchronous_.resize(run_.definitions().graphs().size(), 2);
    if (asynchronous_[graph] == 2) {
      const std::uint32_t top = graphs_.top(graph);
      asynchronous_[graph] = top != none && !calls_.was_called(graphs_.graph_name(top)) ? 1 : 0;
    }
    return asynchronous_[graph] == 1;
  }

  /// Rows of a call, ascending; of `none`: all rows without one.
  void rows_of(std::uint32_t call, std::vector<std::uint32_t>& rows) {
    rows.clear();
    if (call == none) {
      rows = ownerless_;
      return;
    }
    const Span span = spans_[call];
    if (span.first == none) return;
    for (std::uint32_t row = span.first; row <= span.last; ++row)
      if (owner(row) == call) rows.push_back(row);
  }
  [[nodiscard]] bool has_rows(std::uint32_t op) const { return op < has_rows_.size() && has_rows_[op]; }
  [[nodiscard]] bool native() const noexcept { return native_; }
  /// False: many rows can't be those of the call at their time, and no offset between the clocks mends it. They have no
  /// owner.
  [[nodiscard]] bool matched() const noexcept { return matched_; }
  /// Seconds that the clock of the calls was found to be ahead of that of the rows; 0 where they agree.
  [[nodiscard]] double clock_offset() const noexcept { return offset_; }

  /// The graph a call runs.
  std::uint32_t graph_of_call(std::uint32_t call) {
    return calls_.graph_of(call, [&](std::uint32_t type, std::uint32_t graph) { return rows_in(type, graph); });
  }

 private:
  struct Span {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };
  struct Sample {
    double time;
    std::uint32_t graph;
    std::uint32_t row;
    std::size_t set;
  };

  std::size_t rows_in(std::uint32_t type, std::uint32_t graph);
  std::uint32_t family(std::string_view function);
  const std::vector<std::uint32_t>& families_around(std::uint32_t graph);
  bool may_run(std::uint32_t call, std::uint32_t graph);
  bool runs_foreign_functions(std::uint32_t type);
  void compare_clocks();
  void take_samples(std::vector<Sample>& samples);
  std::vector<double> offsets_to_try(const std::vector<Sample>& samples);
  double share_that_fits(const std::vector<Sample>& samples, double offset);
  void shift(double offset);
  std::uint32_t call_at(double time, std::size_t set) const;

  static constexpr std::size_t enough = 4096;
  Run& run_;
  GraphFacts& graphs_;
  CallTable& calls_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> ownerless_;
  std::vector<bool> has_rows_;
  std::vector<std::uint8_t> asynchronous_;  // by graph: 0 no, 1 yes, 2 not looked at
  reader::StringPool family_names_;
  std::vector<std::uint32_t> family_of_type_;                  // by op type of calls; none: not looked at
  std::vector<std::vector<std::uint32_t>> families_of_graph_;  // of the graph and those around it
  std::vector<std::uint8_t> foreign_allowed_;                  // by op type of calls: 0 no, 1 yes, 2 not looked at
  std::vector<std::vector<std::pair<double, std::uint32_t>>>
      calls_by_time_;                   // of each file set, while offsets are tried
  std::vector<std::uint32_t> shifted_;  // owners by shifted time; empty without an offset
  double offset_ = 0;
  bool native_ = false;
  bool matched_ = true;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/row_owners.inl>
#endif
