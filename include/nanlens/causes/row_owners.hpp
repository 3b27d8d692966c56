/// @file
/// Which call each row belongs to, and the rows of each call.
#pragma once

#include <bit>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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
    const Facts before = std::exchange(facts_, {});
    const auto ownerless_before = std::exchange(ownerless_, {});
    native_ = run_.metadata().tensorflow_version.starts_with("nanlens");
    asynchronous_.clear();
    family_of_graph_.assign(run_.definitions().graphs().size(), none);
    inside_.clear();
    last_answer_.assign(run_.definitions().graphs().size(), {none, false});
    foreign_known_ = false;
    if (native_)
      sort_calls();
    else
      compare_clocks();
    spans_.assign(run_.num_executions(), {});
    has_rows_.assign(run_.definitions().ops().size(), false);
    for (std::uint32_t row = 0; row < run_.num_traces(); ++row) {
      if (!has_rows_[run_.trace_op(row)]) ++facts_.ops_with_rows;
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
    const bool redecided =
        calls_.decide_again([&](std::uint32_t type, std::uint32_t graph) { return rows_in(type, graph); });
    facts_.graphs = run_.definitions().graphs().size();
    facts_.ops = graphs_.num_declared();
    facts_.called = calls_.num_called();
    facts_.offset = offset_;
    facts_.matched = matched_;
    facts_.native = native_;
    facts_.may_lack_beginning = !native_ && run_.num_sets() == 1 && fills_ring();
    facts_changed_ = redecided || offset_ != 0 || !(facts_ == before);
    ownerless_changed_ = ownerless_ != ownerless_before;
  }
  /// May a ring have dropped the first executions? TensorFlow's logdirs do not tell.
  [[nodiscard]] bool may_lack_beginning() const noexcept { return facts_.may_lack_beginning; }
  /// Did the last `update` find that what all rows are judged by has changed: definitions, names of calls, clocks?
  [[nodiscard]] bool facts_changed() const noexcept { return facts_changed_; }
  /// Did it find other rows without a call than before?
  [[nodiscard]] bool ownerless_changed() const noexcept { return ownerless_changed_; }

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
  /// The first row of a call; none if it has none.
  [[nodiscard]] std::uint32_t first_row(std::uint32_t call) const { return spans_[call].first; }
  /// When the last execution of a file set ended that ended before a time; −∞ if none did.
  [[nodiscard]] double end_of_call_before(std::size_t set, double time) const;
  /// The first execution that ended at or after a row, of the row's file set; none if there is none yet.
  [[nodiscard]] std::uint32_t call_after(std::uint32_t row);
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
  struct Facts {
    std::size_t graphs = 0;
    std::size_t ops = 0;  // that are declared
    std::size_t called = 0;
    std::size_t ops_with_rows = 0;
    double offset = 0;
    bool matched = true;
    bool native = false;
    bool may_lack_beginning = false;
    friend bool operator==(const Facts&, const Facts&) = default;
  };
  // Are there as many executions as a ring might be asked to keep, or as many as rows, which have a ring of that size,
  // too?
  [[nodiscard]] bool fills_ring() const noexcept {
    constexpr std::size_t least = 100;
    const std::size_t n = run_.num_executions();
    return n >= least && (n % least == 0 || std::has_single_bit(n) || n == run_.num_traces());
  }
  struct Sample {
    double time;
    std::uint32_t graph;
    std::uint32_t row;
    std::size_t set;
  };

  std::size_t rows_in(std::uint32_t type, std::uint32_t graph);
  std::uint32_t family(std::string_view function);
  std::uint32_t family_of_graph(std::uint32_t graph);
  bool is_inside(std::uint32_t graph, std::uint32_t family);
  bool may_run(std::uint32_t call, std::uint32_t graph);
  bool runs_foreign_functions(std::uint32_t type);
  void find_foreign_callers();
  void compare_clocks();
  void sort_calls();
  void take_samples(std::vector<Sample>& samples);
  std::vector<double> offsets_to_try(const std::vector<Sample>& samples);
  double best_near(const std::vector<Sample>& samples, double offset);
  std::vector<std::pair<double, double>> offsets_of_last_calls(const std::vector<Sample>& samples);
  // How well an offset brings sampled rows to their calls.
  struct Fit {
    std::size_t right = 0;               // rows that may be the call's
    std::size_t calls_without_rows = 0;  // behind the last call that has some
    [[nodiscard]] bool better_than(const Fit& other) const {
      return right != other.right ? right > other.right : calls_without_rows < other.calls_without_rows;
    }
  };
  Fit fit_of(const std::vector<Sample>& samples, double offset);
  bool rows_behind_are_of_one_call();
  std::size_t calls_behind(const std::vector<std::size_t>& last, const std::vector<Sample>& samples);
  void shift(double offset);
  std::size_t position_at(double time, std::size_t set) const;
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
  std::vector<std::uint32_t> family_of_type_;                // by op type of calls; none: not looked at
  std::vector<std::uint32_t> family_of_graph_;               // none: not looked at
  std::unordered_map<std::uint64_t, bool> inside_;           // by family and graph
  std::vector<std::pair<std::uint32_t, bool>> last_answer_;  // by graph: op type, and whether it may run the graph
  std::unordered_set<std::uint32_t> families_;               // of all graphs
  std::unordered_set<std::uint32_t> foreign_callers_;        // families that run functions traced elsewhere
  bool foreign_known_ = false;
  // Executions of each file set.
  std::vector<std::vector<std::pair<double, std::uint32_t>>> calls_by_time_;
  std::vector<std::uint32_t> shifted_;  // owners by shifted time; empty without an offset
  Facts facts_;
  bool facts_changed_ = true;
  bool ownerless_changed_ = true;
  double offset_ = 0;
  bool native_ = false;
  bool matched_ = true;
  bool open_rows_fit_ = true;  // rows behind the last call may be those of one that has not ended
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/row_owners.inl>
#endif
