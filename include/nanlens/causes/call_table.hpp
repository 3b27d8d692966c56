/// @file
/// The dynamic part of lineage between executions: which one made an eager tensor, who uses it, which graph a call
/// runs.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/exchanges.hpp>
#include <nanlens/causes/graph_facts.hpp>

namespace nanlens::causes {

/// An execution's place among the uses, or the makers, of a tensor. Ids belong to a process: those of another file set
/// are other tensors.
struct TensorUse {
  std::int64_t tensor_id;
  std::uint32_t execution;
  std::uint16_t position;
  std::uint16_t set;
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
    find_devices();
    for (std::size_t i = size(); i < end; ++i) {
      if (!run_.execution_links(i, links)) links = {};
      const std::uint32_t type = types_.add(links.op_type);
      op_types_.push_back(type);
      op_names_.push_back(name_number(links.op_name));
      if (is_call(i)) {
        called_names_.insert(std::string(function_name(links.op_type)));
        if (!links.graph_id.empty()) graph_id_of_name_.try_emplace(called_name(i), run_.intern(links.graph_id));
      }
      if (links.exchange) exchanges_.add(static_cast<std::uint32_t>(i), *links.exchange);
      unread_.push_back(is_unread(i, links));
      note_limit(links);
      append(inputs_, links.input_tensor_ids, i, used_sorted_);
      append(outputs_, links.output_tensor_ids, i, made_sorted_);
      for (const std::int64_t id : links.read_variables) read_.emplace_back(static_cast<std::uint32_t>(i), id);
      for (const std::int64_t id : links.written_variables) written_.emplace_back(static_cast<std::uint32_t>(i), id);
      input_begin_.push_back(static_cast<std::uint32_t>(inputs_.size()));
      output_begin_.push_back(static_cast<std::uint32_t>(outputs_.size()));
    }
    if (size() < run_.num_executions()) return false;
    index();
    count_in_sets();
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return op_types_.size(); }
  /// The how-manieth execution of its file set it is.
  [[nodiscard]] std::uint32_t place_in_set(std::uint32_t i) const {
    return place_in_set_.empty() ? i : place_in_set_[i];
  }
  [[nodiscard]] bool is_call(std::size_t i) const { return (run_.execution_flags(i) & reader::function_flag) != 0; }
  [[nodiscard]] std::string_view op_type(std::size_t i) const { return types_[op_types_[i]]; }
  [[nodiscard]] std::uint32_t op_type_number(std::size_t i) const { return op_types_[i]; }
  /// Of the name that an eager op has beside its type; 0: it has none.
  [[nodiscard]] std::uint32_t op_name_number(std::size_t i) const { return op_names_[i]; }
  [[nodiscard]] std::string_view op_name(std::uint32_t number) const { return names_[number]; }
  [[nodiscard]] std::string_view op_type_of(std::uint32_t number) const { return types_[number]; }
  [[nodiscard]] std::span<const TensorUse> inputs(std::size_t i) const { return part(inputs_, input_begin_, i); }
  [[nodiscard]] std::span<const TensorUse> outputs(std::size_t i) const { return part(outputs_, output_begin_, i); }
  /// Were its outputs on a device, and are their values not on record? Then nobody knows whether they were bad.
  [[nodiscard]] bool is_unread(std::size_t i) const { return unread_[i]; }
  [[nodiscard]] bool was_called(std::string_view name) const { return called_names_.contains(std::string(name)); }
  /// What executions exchanged with those of other processes.
  [[nodiscard]] Exchanges& exchanges() noexcept { return exchanges_; }
  [[nodiscard]] const Exchanges& exchanges() const noexcept { return exchanges_; }
  [[nodiscard]] std::size_t num_called() const noexcept { return called_names_.size(); }

  /// Variables that executions wrote, where that is on record (nanlens): (execution, id), in order.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::int64_t>> written_variables() const { return written_; }

  /// Variables that a call read, where that is on record (nanlens).
  template <class Visit>
  void visit_read_variables(std::uint32_t call, Visit&& visit) const {
    auto at = std::lower_bound(read_.begin(), read_.end(), std::pair(call, std::int64_t{-1}));
    for (; at != read_.end() && at->first == call; ++at) visit(at->second);
  }

  /// The latest execution before `before`, of its file set, that gave this tensor.
  [[nodiscard]] std::optional<TensorUse> producer(std::int64_t tensor_id, std::uint32_t before) const {
    const TensorUse end{tensor_id, before, 0, set_of(before)};
    const auto after = std::lower_bound(made_.begin(), made_.end(), end, in_order);
    if (after == made_.begin() || !same_tensor(*(after - 1), end)) return std::nullopt;
    return *(after - 1);
  }
  /// Is the tensor older than everything that executions on record made? `user`: an execution that takes it.
  [[nodiscard]] bool is_older_than_all(std::int64_t tensor_id, std::uint32_t user) const {
    const TensorUse begin{-1, 0, 0, set_of(user)};
    const auto first = std::lower_bound(made_.begin(), made_.end(), begin, in_order);
    return first != made_.end() && first->set == begin.set && tensor_id < first->tensor_id;
  }
  /// Visits what executions made shortly before a tensor that none of them made: `visit(use)`, nearest first, until it
  /// says true. Ids are given in the order of creation. `user`: an execution that takes the tensor.
  template <class Visit>
  void visit_made_before(std::int64_t tensor_id, std::int64_t farthest, std::uint32_t user, Visit&& visit) const {
    const TensorUse end{tensor_id, 0, 0, set_of(user)};
    auto it = std::lower_bound(made_.begin(), made_.end(), end, in_order);
    while (it != made_.begin()) {
      --it;
      if (it->set != end.set || it->tensor_id < tensor_id - farthest) return;
      if (it->execution < user && visit(*it)) return;
    }
  }
  /// Every use of an output as an input, in order: until another execution makes a tensor of that id.
  [[nodiscard]] std::span<const TensorUse> consumers(std::uint32_t execution, std::uint16_t slot) const {
    const auto made = outputs(execution);
    if (slot >= made.size()) return {};
    const auto next = std::upper_bound(made_.begin(), made_.end(), last_of(made[slot]), in_order);
    TensorUse end = made[slot];
    end.execution = next != made_.end() && same_tensor(*next, end) ? next->execution : none;
    const auto first = std::upper_bound(used_.begin(), used_.end(), last_of(made[slot]), in_order);
    return {first, std::upper_bound(first, used_.end(), last_of(end), in_order)};
  }

  /// Every use of a tensor that no execution made, in order. `user`: an execution that takes it.
  [[nodiscard]] std::span<const TensorUse> uses_of(std::int64_t tensor_id, std::uint32_t user) const {
    const TensorUse begin{tensor_id, 0, 0, set_of(user)};
    const TensorUse end{tensor_id, none, 0, set_of(user)};
    const auto first = std::lower_bound(used_.begin(), used_.end(), begin, in_order);
    return {first, std::upper_bound(first, used_.end(), last_of(end), in_order)};
  }

  /// The graph that a call runs; none if it can't be told. `num_rows(type, graph)` tells how many rows calls of this
  /// name have in a function's graphs: it decides between several that fit.
  template <class RowCount>
  std::uint32_t graph_of(std::size_t i, RowCount&& num_rows) {
    const std::uint64_t name = called_name(i);
    const auto known = graph_of_name_.find(name);
    if (known != graph_of_name_.end()) return known->second;
    std::uint32_t best = none;
    if (const auto id = graph_id_of_name_.find(name); id != graph_id_of_name_.end())
      best = run_.definitions().find_graph(run_.definitions().text(id->second));
    if (best == none) best = most_rows(op_types_[i], fitting_graphs(i), num_rows);
    return graph_of_name_[name] = best;
  }
  /// Graphs were defined since.
  void forget_graphs() {
    graph_of_name_.clear();
    undecided_.clear();
  }
  /// Calls and their rows are more now. True if one of several graphs fits a call better than the one that did before.
  template <class RowCount>
  bool decide_again(RowCount&& num_rows) {
    bool changed = false;
    for (const auto& [name, fitting] : undecided_) {
      const std::uint32_t best = most_rows(static_cast<std::uint32_t>(name), fitting, num_rows);
      changed = changed || best != graph_of_name_[name];
      graph_of_name_[name] = best;
    }
    return changed;
  }

 private:
  // By file set and tensor, then by time.
  static bool in_order(const TensorUse& a, const TensorUse& b) {
    return std::tie(a.set, a.tensor_id, a.execution, a.position) <
           std::tie(b.set, b.tensor_id, b.execution, b.position);
  }
  static bool same_tensor(const TensorUse& a, const TensorUse& b) {
    return a.set == b.set && a.tensor_id == b.tensor_id;
  }
  static TensorUse last_of(TensorUse use) {
    use.position = 0xffff;
    return use;
  }
  [[nodiscard]] std::uint16_t set_of(std::size_t execution) const {
    return execution < size() ? static_cast<std::uint16_t>(run_.set_of_execution(execution)) : std::uint16_t{0};
  }
  // The file set and the op type of a call: processes may have different functions by one name.
  [[nodiscard]] std::uint64_t called_name(std::size_t call) const {
    return std::uint64_t{run_.set_of_execution(call)} << 32 | op_types_[call];
  }
  // Those of the called name; of these the ones with as many placeholders as the call has inputs, if any.
  std::vector<std::uint32_t> fitting_graphs(std::size_t call) {
    const std::string_view name = function_name(op_type(call));
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g)
      if (graphs_.graph_name(g) == name && graphs_.set_of(g) == set_of(call)) candidates.push_back(g);
    std::vector<std::uint32_t> fitting;
    for (const std::uint32_t g : candidates)
      if (graphs_.links(g).placeholders.size() == inputs(call).size()) fitting.push_back(g);
    if (fitting.empty()) fitting = std::move(candidates);
    if (fitting.size() > 1) undecided_.try_emplace(called_name(call), fitting);
    return fitting;
  }
  template <class RowCount>
  static std::uint32_t most_rows(std::uint32_t type, const std::vector<std::uint32_t>& fitting, RowCount&& num_rows) {
    std::uint32_t best = none;
    std::size_t most = 0;
    for (const std::uint32_t g : fitting) {
      const std::size_t rows = fitting.size() == 1 ? 0 : num_rows(type, g);
      if (best != none && rows <= most) continue;
      best = g;
      most = rows;
    }
    return best;
  }
  // Names are for people to find ops by: not those of a program that gives each execution its own.
  std::uint32_t name_number(std::string_view name) {
    constexpr std::size_t longest = 256;
    constexpr std::size_t most = 1 << 16;
    if (name.empty() || name.size() > longest) return 0;
    if (names_.size() < most) return names_.add(name);
    const std::uint32_t known = names_.find(name);
    return known == reader::StringPool::none_such ? 0 : known;
  }
  void append(std::vector<TensorUse>& to, const std::vector<std::int64_t>& ids, std::size_t execution, bool& sorted) {
    for (std::size_t k = 0; k < ids.size(); ++k)
      to.push_back({ids[k], static_cast<std::uint32_t>(execution), static_cast<std::uint16_t>(k),
                    static_cast<std::uint16_t>(run_.set_of_execution(execution))});
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
      if (!std::is_sorted(by_tensor.begin(), by_tensor.end(), in_order))
        std::sort(by_tensor.begin(), by_tensor.end(), in_order);
      sorted = true;
    }
  }
  void find_devices() {
    for (; devices_seen_ < run_.devices().size(); ++devices_seen_) {
      const reader::Device& device = run_.devices()[devices_seen_];
      if (device.device_name.find("CPU:") == std::string::npos) devices_.emplace(device.set, device.device_id);
    }
  }
  [[nodiscard]] bool is_unread(std::size_t i, const reader::ExecutionLinks& links) const {
    if (devices_.empty() || (run_.execution_flags(i) & reader::has_summary_flag) != 0) return false;
    const auto set = static_cast<std::uint32_t>(run_.set_of_execution(i));
    return std::any_of(links.output_device_ids.begin(), links.output_device_ids.end(),
                       [&](std::int64_t id) { return devices_.contains({set, id}); });
  }
  void note_limit(const reader::ExecutionLinks& links) {
    if (std::max(links.input_tensor_ids.size(), links.output_tensor_ids.size()) < limits::elements) return;
    if (!std::exchange(limit_reached_, true))
      run_.add_fault({"", 0, {reader::FaultId::many_links, {{"n", limits::elements}}}});
  }
  void count_in_sets() {
    place_in_set_.clear();
    if (run_.num_sets() == 1) return;
    std::vector<std::uint32_t> next(run_.num_sets());
    for (std::size_t i = 0; i < size(); ++i) place_in_set_.push_back(next[run_.set_of_execution(i)]++);
  }

  Run& run_;
  GraphFacts& graphs_;
  Exchanges exchanges_;
  reader::StringPool types_;
  std::vector<std::uint32_t> op_types_;
  reader::StringPool names_;
  std::vector<std::uint32_t> op_names_;
  std::vector<TensorUse> inputs_;
  std::vector<TensorUse> outputs_;
  std::vector<std::uint32_t> input_begin_;
  std::vector<std::uint32_t> output_begin_;
  std::vector<bool> unread_;
  std::set<std::pair<std::uint32_t, std::int64_t>> devices_;  // by file set, without the host's own
  std::size_t devices_seen_ = 0;
  std::vector<std::uint32_t> place_in_set_;  // empty where there is one file set
  std::vector<TensorUse> made_;              // outputs_ by tensor
  std::vector<TensorUse> used_;              // inputs_ by tensor
  std::vector<std::pair<std::uint32_t, std::int64_t>> written_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> read_;
  bool limit_reached_ = false;
  bool made_sorted_ = true;
  bool used_sorted_ = true;
  std::unordered_set<std::string> called_names_;
  // By called name:
  std::unordered_map<std::uint64_t, std::uint32_t> graph_id_of_name_;  // where that is recorded (nanlens)
  std::unordered_map<std::uint64_t, std::uint32_t> graph_of_name_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> undecided_;  // several fit
};

}  // namespace nanlens::causes
