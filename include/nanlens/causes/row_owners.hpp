/// @file
/// Which call each row belongs to, and the rows of each call.
#pragma once

#include <unordered_map>
#include <vector>

#include <nanlens/causes/call_table.hpp>

namespace nanlens::causes {

/// `update` takes in rows that are new, and those whose call has become known.
class RowOwners {
 public:
  RowOwners(Run& run, GraphFacts& graphs, CallTable& calls) : run_(run), graphs_(graphs), calls_(calls) {}

  void update() {
    native_ = run_.metadata().tensorflow_version.starts_with("nanlens");
    asynchronous_.clear();
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
    check_clocks();
  }

  /// The call of a row; none for rows of graphs that the runtime runs by itself (input pipelines), and where rows and
  /// calls can't be matched.
  [[nodiscard]] std::uint32_t owner(std::uint32_t row) {
    if (!matched_) return none;
    const std::uint32_t call = run_.trace_execution(row);
    if (call == none || call >= run_.num_executions() || native_) return call;
    return is_asynchronous(graphs_.graph_of(run_.trace_op(row))) ? none : call;
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
  /// False: rows and calls can't be matched by time, as when clocks differ.
  [[nodiscard]] bool matched() const noexcept { return matched_; }

  /// The graph a call runs.
  std::uint32_t graph_of_call(std::uint32_t call) {
    return calls_.graph_of(call, [&](std::uint32_t type, std::uint32_t graph) { return rows_in(type, graph); });
  }

 private:
  struct Span {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };

  // Rows that calls of one name have below one function's graph.
  std::size_t rows_in(std::uint32_t type, std::uint32_t graph) {
    std::size_t n = 0;
    for (std::uint32_t call = 0; call < spans_.size(); ++call) {
      if (!calls_.is_call(call) || calls_.op_type_number(call) != type || spans_[call].first == none) continue;
      for (std::uint32_t row = spans_[call].first; row <= spans_[call].last; ++row)
        n += owner(row) == call && graphs_.top(graphs_.graph_of(run_.trace_op(row))) == graph;
      if (n > enough) break;
    }
    return n;
  }

  // Do the rows that time gives to a call belong to its function? Some thousand rows tell.
  void check_clocks() {
    if (native_ || !matched_) return;
    std::size_t right = 0;
    std::size_t seen = 0;
    for (std::uint32_t call = 0; call < spans_.size() && seen < enough; ++call) {
      if (spans_[call].first == none) continue;
      const std::uint32_t graph = graph_of_call(call);
      if (graph == none) continue;
      const std::string_view name = graphs_.graph_name(graph);
      for (std::uint32_t row = spans_[call].first; row <= spans_[call].last; ++row) {
        if (owner(row) != call) continue;
        const std::uint32_t top = graphs_.top(graphs_.graph_of(run_.trace_op(row)));
        ++seen;
        right += top == graph || top == none || graphs_.graph_name(top) == name ||
                 graphs_.graph_name(top).starts_with("__backward");
      }
    }
    constexpr double enough_share = 0.95;
    if (seen == 0 || static_cast<double>(right) >= enough_share * static_cast<double>(seen)) return;
    matched_ = false;
    update();
  }

  static constexpr std::size_t enough = 4096;
  Run& run_;
  GraphFacts& graphs_;
  CallTable& calls_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> ownerless_;
  std::vector<bool> has_rows_;
  std::vector<std::uint8_t> asynchronous_;  // by graph: 0 no, 1 yes, 2 not looked at
  bool native_ = false;
  bool matched_ = true;
};

}  // namespace nanlens::causes
