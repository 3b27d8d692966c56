/// @file
/// The dynamic part of lineage between executions: which one made an eager tensor, who uses it, which graph a call
/// runs.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/graph_facts.hpp>

namespace nanlens::causes {

/// An execution's place among the uses, or the makers, of a tensor.
struct TensorUse {
  std::int64_t tensor_id;
  std::uint32_t execution;
  std::uint16_t position;
};

/// "__forward_f_12", "__inference_f_12", "__inference___backward_f_3_12" without prefix and number: the name of the
/// graph.
inline std::string_view function_name(std::string_view op_type) noexcept {
  constexpr std::string_view backward = "__inference_";
  for (const std::string_view prefix : {std::string_view("__forward_"), backward})
    if (op_type.starts_with(prefix)) return detail::without_number(op_type.substr(prefix.size()));
  return op_type;
}

/// Reads each execution's links once, in order; `update` goes on where it stopped.
class CallTable {
 public:
  CallTable(Run& run, GraphFacts& graphs) : run_(run), graphs_(graphs) {}

  /// Reads at most `most` executions. True when all are read.
  bool update(std::size_t most) {
    reader::ExecutionLinks links;
    const std::size_t end = std::min(run_.num_executions(), size() + most);
    for (std::size_t i = size(); i < end; ++i) {
      if (!run_.execution_links(i, links)) links = {};
      const std::uint32_t type = types_.add(links.op_type);
      op_types_.push_back(type);
      if (is_call(i)) {
        called_names_.insert(std::string(function_name(links.op_type)));
        if (!links.graph_id.empty()) note_graph(type, links.graph_id);
      }
      append(inputs_, links.input_tensor_ids, i, used_sorted_);
      append(outputs_, links.output_tensor_ids, i, made_sorted_);
      for (const std::int64_t id : links.read_variables) read_.emplace_back(static_cast<std::uint32_t>(i), id);
      for (const std::int64_t id : links.written_variables) written_.emplace_back(static_cast<std::uint32_t>(i), id);
      input_begin_.push_back(static_cast<std::uint32_t>(inputs_.size()));
      output_begin_.push_back(static_cast<std::uint32_t>(outputs_.size()));
    }
    if (size() < run_.num_executions()) return false;
    index();
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return op_types_.size(); }
  [[nodiscard]] bool is_call(std::size_t i) const { return (run_.execution_flags(i) & reader::function_flag) != 0; }
  [[nodiscard]] std::string_view op_type(std::size_t i) const { return types_[op_types_[i]]; }
  [[nodiscard]] std::uint32_t op_type_number(std::size_t i) const { return op_types_[i]; }
  [[nodiscard]] std::span<const TensorUse> inputs(std::size_t i) const { return part(inputs_, input_begin_, i); }
  [[nodiscard]] std::span<const TensorUse> outputs(std::size_t i) const { return part(outputs_, output_begin_, i); }
  [[nodiscard]] bool was_called(std::string_view name) const { return called_names_.contains(std::string(name)); }

  /// Variables that executions wrote, where that is on record (nanlens): (execution, id), in order.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::int64_t>> written_variables() const { return written_; }

  /// Variables that a call read, where that is on record (nanlens).
  template <class Visit>
  void visit_read_variables(std::uint32_t call, Visit&& visit) const {
    auto at = std::lower_bound(read_.begin(), read_.end(), std::pair(call, std::int64_t{-1}));
    for (; at != read_.end() && at->first == call; ++at) visit(at->second);
  }

  /// The latest execution before `before` that gave this tensor.
  [[nodiscard]] std::optional<TensorUse> producer(std::int64_t tensor_id, std::uint32_t before) const {
    const auto first = std::lower_bound(made_.begin(), made_.end(), tensor_id, by_id);
    std::optional<TensorUse> found;
    for (auto it = first; it != made_.end() && it->tensor_id == tensor_id && it->execution < before; ++it) found = *it;
    return found;
  }
  /// Visits what executions made shortly before a tensor that none of them made: `visit(use)`, nearest first, until it
  /// says true. Ids are given in the order of creation.
  template <class Visit>
  void visit_made_before(std::int64_t tensor_id, std::int64_t farthest, Visit&& visit) const {
    auto it = std::lower_bound(made_.begin(), made_.end(), tensor_id, by_id);
    while (it != made_.begin() && (--it)->tensor_id >= tensor_id - farthest)
      if (visit(*it)) return;
  }
  /// Every use of a tensor as an input, in order.
  [[nodiscard]] std::span<const TensorUse> consumers(std::int64_t tensor_id) const {
    const auto first = std::lower_bound(used_.begin(), used_.end(), tensor_id, by_id);
    auto last = first;
    while (last != used_.end() && last->tensor_id == tensor_id) ++last;
    return {first, last};
  }

  /// The graph that a call runs; none if it can't be told. `num_rows(graph)` tells how many rows calls of this name
  /// have in a function's graphs: it decides between several that fit.
  template <class RowCount>
  std::uint32_t graph_of(std::size_t i, RowCount&& num_rows) {
    const std::uint32_t type = op_types_[i];
    const auto known = graph_of_type_.find(type);
    if (known != graph_of_type_.end()) return known->second;
    const std::string_view name = function_name(op_type(i));
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g)
      if (graphs_.graph_name(g) == name) candidates.push_back(g);
    std::vector<std::uint32_t> fitting;
    for (const std::uint32_t g : candidates)
      if (graphs_.links(g).placeholders.size() == inputs(i).size()) fitting.push_back(g);
    if (fitting.empty()) fitting = candidates;
    std::uint32_t best = none;
    std::size_t most = 0;
    for (const std::uint32_t g : fitting) {
      const std::size_t rows = fitting.size() == 1 ? 0 : num_rows(type, g);
      if (best != none && rows <= most) continue;
      best = g;
      most = rows;
    }
    return graph_of_type_[type] = best;
  }

 private:
  static bool by_id(const TensorUse& use, std::int64_t id) { return use.tensor_id < id; }
  static bool by_id_then_execution(const TensorUse& a, const TensorUse& b) {
    return a.tensor_id != b.tensor_id ? a.tensor_id < b.tensor_id : a.execution < b.execution;
  }
  static void append(std::vector<TensorUse>& to, const std::vector<std::int64_t>& ids, std::size_t execution,
                     bool& sorted) {
    for (std::size_t k = 0; k < ids.size(); ++k)
      to.push_back({ids[k], static_cast<std::uint32_t>(execution), static_cast<std::uint16_t>(k)});
    sorted = sorted && ids.empty();
  }
  static std::span<const TensorUse> part(const std::vector<TensorUse>& all, const std::vector<std::uint32_t>& begin,
                                         std::size_t i) {
    if (i >= begin.size()) return {};  // not read yet
    const std::size_t first = i == 0 ? 0 : begin[i - 1];
    return std::span(all).subspan(first, begin[i] - first);
  }
  void index() {
    for (auto& [all, by_tensor, sorted] :
         {std::tie(inputs_, used_, used_sorted_), std::tie(outputs_, made_, made_sorted_)}) {
      if (sorted) continue;
      by_tensor = all;
      if (!std::is_sorted(by_tensor.begin(), by_tensor.end(), by_id_then_execution))
        std::sort(by_tensor.begin(), by_tensor.end(), by_id_then_execution);
      sorted = true;
    }
  }
  void note_graph(std::uint32_t type, std::string_view graph_id) {
    if (graph_of_type_.contains(type)) return;
    for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g)
      if (graphs_.text(graphs_.graph(g).id) == graph_id) graph_of_type_[type] = g;
  }

  Run& run_;
  GraphFacts& graphs_;
  reader::StringPool types_;
  std::vector<std::uint32_t> op_types_;
  std::vector<TensorUse> inputs_;
  std::vector<TensorUse> outputs_;
  std::vector<std::uint32_t> input_begin_;
  std::vector<std::uint32_t> output_begin_;
  std::vector<TensorUse> made_;  // outputs_ by tensor id
  std::vector<TensorUse> used_;  // inputs_ by tensor id
  std::vector<std::pair<std::uint32_t, std::int64_t>> written_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> read_;
  bool made_sorted_ = true;
  bool used_sorted_ = true;
  std::unordered_set<std::string> called_names_;
  std::unordered_map<std::uint32_t, std::uint32_t> graph_of_type_;  // by the number of the op type
};

}  // namespace nanlens::causes
