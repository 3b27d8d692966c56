/// @file
/// The rows of one call, found by tensor and by run of their graph.
///
/// A graph that runs once makes each tensor at most once. So where every tensor of a graph has equally many rows, the
/// k-th row of each belongs to run k, in whatever order an executor wrote them. Where counts differ (rows lost, other
/// fetches), a run ends where a tensor comes again. nanlens' own rows carry the number of their run.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/causes/row_owners.hpp>

namespace nanlens::causes {

class Window {
 public:
  Window(Run& run, GraphFacts& graphs, RowOwners& owners) : run_(run), graphs_(graphs), owners_(owners) {}

  void build(std::uint32_t call) {
    call_ = call;
    owners_.rows_of(call, rows_);
    ++generation_;
    graph_slot_.clear();
    used_graphs_ = 0;
    number_tensors();
    group_by_tensor();
    for (std::size_t g = 0; g < used_graphs_; ++g) assign_runs(g);
    order_by_run();
    bad_rows_.clear();
    for (const std::uint32_t row : rows_)
      if ((run_.trace_flags(row) & reader::bad_flags) != 0) bad_rows_.push_back(row);
  }

  [[nodiscard]] std::uint32_t call() const noexcept { return call_; }
  [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept { return rows_; }
  [[nodiscard]] std::span<const std::uint32_t> bad_rows() const noexcept { return bad_rows_; }

  /// How often a graph ran.
  [[nodiscard]] std::uint32_t num_runs(std::uint32_t graph) const {
    const auto found = graph_slot_.find(graph);
    return found == graph_slot_.end() ? 0 : static_cast<std::uint32_t>(runs_[found->second].first_row.size());
  }
  /// Does every tensor of the graph that has rows have as many?
  [[nodiscard]] bool even(std::uint32_t graph) const {
    const auto found = graph_slot_.find(graph);
    return found != graph_slot_.end() && runs_[found->second].even;
  }
  /// The run that a row belongs to.
  [[nodiscard]] std::uint32_t run_of(std::uint32_t row) const {
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), row);
    return at == rows_.end() || *at != row ? none : run_of_row_[static_cast<std::size_t>(at - rows_.begin())];
  }
  /// The row of a tensor in one run; none if it has none there.
  [[nodiscard]] std::uint32_t find(std::uint32_t tensor, std::uint32_t run) const {
    if (tensor == none || tensor >= entries_.size() || entries_[tensor].generation != generation_) return none;
    const Entry& e = entries_[tensor];
    if (run < e.count && run_at_place_[e.begin + run] == run) return row_at_place_[e.begin + run];
    const auto begin = by_run_.begin() + static_cast<std::ptrdiff_t>(e.begin);
    const auto end = begin + static_cast<std::ptrdiff_t>(e.count);
    const auto found = std::lower_bound(begin, end, run,
                                        [&](std::uint32_t place, std::uint32_t r) { return run_at_place_[place] < r; });
    return found != end && run_at_place_[*found] == run ? row_at_place_[*found] : none;
  }
  /// All rows of a tensor, ascending.
  [[nodiscard]] std::span<const std::uint32_t> rows_of(std::uint32_t tensor) const {
    if (tensor == none || tensor >= entries_.size() || entries_[tensor].generation != generation_) return {};
    return std::span(row_at_place_).subspan(entries_[tensor].begin, entries_[tensor].count);
  }
  /// The run of a graph that was under way when a row was written: the last that had begun. `none` as the row: the last
  /// of all. none if the graph has no rows here.
  [[nodiscard]] std::uint32_t run_at(std::uint32_t graph, std::uint32_t row) const {
    const auto found = graph_slot_.find(graph);
    if (found == graph_slot_.end()) return none;
    const auto& first = runs_[found->second].first_row;
    if (row == none) return static_cast<std::uint32_t>(first.size()) - 1;
    const auto after = std::upper_bound(first.begin(), first.end(), row);
    return after == first.begin() ? 0 : static_cast<std::uint32_t>(after - first.begin()) - 1;
  }
  /// The last row of a graph before another row; `none`: of all.
  [[nodiscard]] std::uint32_t last_row_before(std::uint32_t graph, std::uint32_t row) const {
    const auto found = graph_slot_.find(graph);
    if (found == graph_slot_.end()) return none;
    const auto& at = runs_[found->second].positions;
    const auto end = row == none ? at.end()
                                 : std::lower_bound(at.begin(), at.end(), row,
                                                    [&](std::uint32_t i, std::uint32_t r) { return rows_[i] < r; });
    return end == at.begin() ? none : rows_[*(end - 1)];
  }
  /// The first row of a run.
  [[nodiscard]] std::uint32_t run_begin(std::uint32_t graph, std::uint32_t run) const {
    const auto found = graph_slot_.find(graph);
    const bool known = found != graph_slot_.end() && run < runs_[found->second].first_row.size();
    return known ? runs_[found->second].first_row[run] : none;
  }
  /// nanlens' own number of a run; 0 elsewhere. Runs that begin inside another have larger numbers than it.
  [[nodiscard]] std::uint64_t run_number(std::uint32_t graph, std::uint32_t run) {
    const auto found = graph_slot_.find(graph);
    if (!owners_.native() || found == graph_slot_.end() || run >= runs_[found->second].first_row.size()) return 0;
    const auto digest = run_.trace_digest(runs_[found->second].first_row[run]);
    return digest ? digest->graph_run : 0;
  }
  /// The runs of a graph by that number: (number, run), ascending.
  [[nodiscard]] std::span<const std::pair<std::uint64_t, std::uint32_t>> runs_by_number(std::uint32_t graph) {
    const auto found = graph_slot_.find(graph);
    if (found == graph_slot_.end()) return {};
    auto& list = runs_[found->second].by_number;
    if (!list.empty()) return list;
    for (std::uint32_t run = 0; run < num_runs(graph); ++run) list.emplace_back(run_number(graph, run), run);
    std::sort(list.begin(), list.end());
    return list;
  }

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::uint32_t count = 0;
    std::uint32_t begin = 0;
  };
  struct GraphRuns {
    std::vector<std::uint32_t> positions;  // of its rows in rows_
    std::vector<std::uint32_t> first_row;  // of each run
    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_number;
    std::size_t num_tensors = 0;
    std::uint32_t most = 0;
    bool even = true;
  };

  void number_tensors() {
    tensors_.resize(rows_.size());
    run_of_row_.assign(rows_.size(), 0);
    std::uint32_t last_graph = none;
    std::size_t slot = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::uint32_t op = run_.trace_op(rows_[i]);
      std::uint32_t output = 0;
      if (graphs_.op(op).num_outputs > 1)
        if (const auto digest = run_.trace_digest(rows_[i])) output = static_cast<std::uint32_t>(digest->output_slot);
      std::uint32_t tensor = graphs_.tensor(op, output);
      if (tensor == none) tensor = graphs_.tensor(op, 0);  // a slot that the op does not have: a damaged record
      tensors_[i] = tensor;
      if (graphs_.graph_of(op) != last_graph) {
        last_graph = graphs_.graph_of(op);
        slot = slot_of(last_graph);
      }
      runs_[slot].positions.push_back(static_cast<std::uint32_t>(i));
      if (tensor >= entries_.size()) entries_.resize(std::max<std::size_t>(graphs_.num_tensors(), tensor + 1U));
      Entry& e = entries_[tensor];
      if (e.generation != generation_) {
        e = {generation_, 0, 0};
        ++runs_[slot].num_tensors;
      }
      runs_[slot].most = std::max(runs_[slot].most, ++e.count);
    }
  }
  std::size_t slot_of(std::uint32_t graph) {
    const auto [found, is_new] = graph_slot_.try_emplace(graph, used_graphs_);
    if (is_new) {
      if (used_graphs_ == runs_.size()) runs_.emplace_back();
      GraphRuns& g = runs_[used_graphs_++];
      g.positions.clear();
      g.first_row.clear();
      g.by_number.clear();
      g.num_tensors = 0;
      g.most = 0;
    }
    return found->second;
  }

  void group_by_tensor() {
    row_at_place_.resize(rows_.size());
    run_at_place_.resize(rows_.size());
    place_.resize(rows_.size());
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Entry& e = entries_[tensors_[i]];
      if (e.begin == 0 && !begun(e)) {
        e.begin = next | begun_bit;
        next += e.count;
        e.count = 0;
      }
      place_[i] = (e.begin & ~begun_bit) + e.count++;
      row_at_place_[place_[i]] = rows_[i];
    }
    for (const std::uint32_t tensor : tensors_) entries_[tensor].begin &= ~begun_bit;
  }
  static constexpr std::uint32_t begun_bit = 0x80000000U;
  static bool begun(const Entry& e) noexcept { return (e.begin & begun_bit) != 0; }

  void assign_runs(std::size_t slot) {
    GraphRuns& g = runs_[slot];
    g.even = g.positions.size() == g.num_tensors * g.most;
    if (owners_.native() && (g.most > 1 || !g.even)) {
      by_recorded_number(g);
    } else if (g.even) {
      for (const std::uint32_t i : g.positions) run_of_row_[i] = place_[i] - entries_[tensors_[i]].begin;
    } else {
      by_repetition(g);
    }
    for (const std::uint32_t i : g.positions) {
      const std::uint32_t run = run_of_row_[i];
      run_at_place_[place_[i]] = run;
      if (g.first_row.size() <= run) g.first_row.resize(run + 1U, none);
      g.first_row[run] = std::min(g.first_row[run], rows_[i]);
    }
  }
  void by_recorded_number(GraphRuns& g) {
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    for (const std::uint32_t i : g.positions) {
      const auto digest = run_.trace_digest(rows_[i]);
      const auto [found, is_new] =
          numbers.try_emplace(digest ? digest->graph_run : 0, static_cast<std::uint32_t>(numbers.size()));
      run_of_row_[i] = found->second;
    }
    g.even = true;
  }
  void by_repetition(GraphRuns& g) {
    std::uint32_t run = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> last_run;  // of each tensor
    for (const std::uint32_t i : g.positions) {
      const auto found = last_run.find(tensors_[i]);
      if (found != last_run.end() && found->second == run) ++run;
      last_run[tensors_[i]] = run;
      run_of_row_[i] = run;
    }
  }

  // Rows of a tensor are in the order of runs, but for runs of several threads.
  void order_by_run() {
    by_run_.resize(rows_.size());
    for (std::uint32_t i = 0; i < by_run_.size(); ++i) by_run_[i] = i;
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return run_at_place_[a] < run_at_place_[b]; };
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Entry& e = entries_[tensors_[i]];
      const auto begin = by_run_.begin() + static_cast<std::ptrdiff_t>(e.begin);
      const auto end = begin + static_cast<std::ptrdiff_t>(e.count);
      const bool first = rows_[i] == row_at_place_[e.begin];
      if (first && !std::is_sorted(begin, end, before))
        std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
          return run_at_place_[a] != run_at_place_[b] ? before(a, b) : a < b;
        });
    }
  }

  Run& run_;
  GraphFacts& graphs_;
  RowOwners& owners_;
  std::uint32_t call_ = none;
  std::uint32_t generation_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> tensors_;  // of each row
  std::vector<std::uint32_t> run_of_row_;
  std::vector<std::uint32_t> place_;  // of each row, in the grouping by tensor
  std::vector<std::uint32_t> row_at_place_;
  std::vector<std::uint32_t> run_at_place_;
  std::vector<std::uint32_t> by_run_;  // places, each tensor's by run
  std::vector<std::uint32_t> bad_rows_;
  std::vector<Entry> entries_;  // by tensor
  std::unordered_map<std::uint32_t, std::size_t> graph_slot_;
  std::vector<GraphRuns> runs_;
  std::size_t used_graphs_ = 0;
};

}  // namespace nanlens::causes
