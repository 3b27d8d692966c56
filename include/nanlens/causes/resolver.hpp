/// @file
/// Finds the event behind a tensor's name: "op:slot" of a graph, in one run of it, in one call.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <nanlens/causes/link.hpp>
#include <nanlens/causes/model.hpp>
#include <nanlens/causes/runs.hpp>

namespace nanlens::causes {

/// Where a tensor's name is meant: a run of a graph in the window of a call. `before`: only rows written before this
/// one count where runs can't tell; none: all.
struct Place {
  std::uint32_t call = none;
  std::uint32_t graph = none;
  std::uint32_t run = 0;
  std::uint32_t before = none;
  std::uint32_t popped = none;  ///< a gradient loop takes items from the end of a list: how many it took before
};

/// Confidences are those found by experiment with TensorFlow's logdirs; links in nanlens' own are exact.
class Resolver {
 public:
  explicit Resolver(Model& model) : model_(model) {}

  /// What an output of an op of a graph was.
  void tensor(const Place& place, const InputEdge& edge, Link& link, int depth = 0);
  /// What was passed as an argument: `op` is a placeholder of the graph.
  void argument(const Place& place, std::uint32_t op, Link& link, int depth = 0);
  /// What a tensor outside graphs was, used by execution `before`.
  void eager(std::int64_t tensor_id, std::uint32_t before, Link& link);
  /// The same of a complex tensor, of which nothing is told: what is bad behind it, through others of the kind.
  void eager_complex(std::int64_t tensor_id, std::uint32_t before, Link& link);
  void complex(const Place& place, const InputEdge& edge, Link& link);
  /// What the branch that ran gave as an output of an If or a Case.
  void branch(const Place& place, std::uint32_t op, std::uint16_t slot, Link& link) {
    branch_result(place, {op, 0, slot}, link, 0);
  }
  /// What a branch kept for its gradient, of which this is a placeholder; false if it is none, or it can't be told.
  bool kept_by_branch(const Place& place, std::uint32_t placeholder, Link& link);
  /// The tensor that has rows in a call, or none to hand on, where an identity of it has none, as that of a branch's
  /// result.
  InputEdge recorded_under(std::uint32_t call, InputEdge edge);
  /// What the outputs of a call were inside.
  void call_output(EventRef output, Link& link);
  /// A new question is asked: what it may cost is counted anew. Links that would take longer are unknown (too deep), so
  /// that the time for each event is bounded, whatever the graph looks like.
  void begin_question() {
    steps_left_ = limits::link_steps;
    lost_.clear();
  }
  /// Forget what was found out about calls: rows or ops were added.
  void forget() {
    native_calls_.clear();
    runs_in_order_.clear();
    taken_.clear();
    captures_.clear();
    inputs_of_branch_.clear();
    inputs_with_gradient_.clear();
    handles_of_ = none;
  }
  /// The id of the variable handle that reaches an op's resource input; −1 if it can't be told.
  std::int64_t handle(const Place& place, const InputEdge& edge, int depth = 0);

  Place place_of(std::uint32_t row) {
    Place place;
    place.call = model_.owners().owner(row);
    place.graph = model_.graphs().graph_of(model_.run().trace_op(row));
    place.run = model_.window(place.call).run_of(row);
    place.before = row;
    return place;
  }

 private:
  void row(const Place& place, std::uint32_t row, Link& link) {
    link.set_event(trace_event(row), model_.window(place.call).even(place.graph) ? 1.0F : 0.8F);
  }
  std::optional<std::size_t> return_of_branch(std::uint32_t graph, std::size_t slot);
  const std::vector<bool>& inputs_with_gradient(std::uint32_t branch);
  bool has_gradient(std::uint32_t placeholder);
  void branch_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  void loop_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  void unrecorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  bool recorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  Place forward_run(const Place& place, std::uint32_t forward_graph);
  const std::vector<std::uint32_t>& inputs_of_branch(std::uint32_t branch);
  std::size_t input_of_branch(std::uint32_t branch, std::size_t position) {
    const auto& numbers = inputs_of_branch(branch);
    return position < numbers.size() ? numbers[position] : none;
  }
  void branch_argument(const Place& outside, std::uint32_t branch, std::size_t position, Link& link, int depth);
  void flow_argument(const Place& place, std::size_t position, const GraphLinks& links, Link& link, int depth);
  void nested_argument(const Place& place, Link& link, int depth);
  bool recorded_argument(const Place& place, std::size_t position, Link& link, int depth);
  void one_of(const Place& place, std::span<const InputEdge> edges, Link& link, int depth);
  bool captured(const Place& forward, std::string_view name, Link& link, int depth);
  bool loop_value(const Place& inside, std::size_t position, Link& link, int depth);
  bool is_given(const Place& place, std::uint32_t op);
  bool is_unsummarised(std::uint32_t op);
  bool earlier_results(const Place& place, Link& link);
  bool kept_argument(const Place& place, std::uint32_t op, Link& link, int depth);
  bool added_lists(const Place& place, const OpLinks& sum, Link& link, int depth);
  void initial_items(const Place& place, const InputEdge& list, Link& link, int depth);
  bool captured_argument(const Place& place, std::uint32_t op, Link& link, int depth);
  void nested_result(const Place& inside, std::uint32_t slot, Link& link, int depth);
  void foreign_result(const Place& place, const CallSite& site, const InputEdge& edge, Link& link, int depth);
  Place inside_of(const Place& place, const CallSite& site);
  // The runs of a graph's nested functions inside one of its calls, in order, where they are other calls than the graph
  // shows; else none.
  struct OrderedRun {
    std::uint32_t first_row;
    std::uint32_t graph;
    std::uint32_t run;
    auto operator<=>(const OrderedRun&) const = default;
  };
  const std::vector<OrderedRun>& runs_in_order(std::uint32_t call, std::uint32_t graph);
  Place outside_of(const Place& place);
  std::uint32_t extra_output_name(const CallSite& site, std::size_t number);
  // What a nested call may have been given, nearest last, each once.
  struct Candidates {
    std::vector<EventRef> list;
    std::set<std::uint64_t> seen;
    void add(const Link& link) {
      if (link.state != Link::State::events) return;
      for (const EventRef& e : link.events)
        if (seen.insert(std::uint64_t{e.index} << 17 | std::uint64_t{e.slot} << 1 | (e.is_execution ? 1U : 0U)).second)
          list.push_back(e);
    }
  };
  void results_before(const Place& outside, const Place& place, std::int32_t limit, Candidates& found, int depth);
  void tensors_before(const Place& outside, std::uint32_t begin, bool reused, std::int32_t limit, Candidates& found);
  void branch_items(const Place& place, const InputEdge& item, std::vector<EventRef>& events, int depth);
  void items(const Place& place, const InputEdge& list, Link& link, int depth);
  void without_row(const Place& place, const InputEdge& edge, Link& link, int depth);
  bool take_bad(const Link& behind, Link& link);
  void vectorized_result(const Place& place, const InputEdge& looped, Link& link, int depth);
  void vectorized_input(const Place& place, const InputEdge& edge, Link& link, int depth);
  std::uint32_t run_across(const Place& place, std::uint32_t other_graph);
  struct CalleeRun {
    std::uint64_t number;
    std::uint32_t graph;
    std::uint32_t run;
  };
  // Calls of functions of one name by one run of their caller, and the functions' runs.
  struct NativeCalls {
    std::vector<CalleeRun> runs;                            // in order
    std::vector<std::uint32_t> ops;                         // of the caller's graph, in order
    std::unordered_map<std::uint64_t, std::size_t> by_run;  // graph and run -> position in `runs`
    std::unordered_map<std::uint32_t, std::size_t> by_op;   // -> position in `ops`
  };
  using CallsByName = std::unordered_map<std::string_view, NativeCalls>;
  using NativeKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // call, graph and run of the caller
  CallsByName& native_calls(const Place& caller);
  void find_runs(const Place& caller, CallsByName& calls);
  std::uint32_t caller_run(const Place& callee, std::uint32_t caller);
  // Placeholders of the graph that calls a function, by those of the function that take them.
  using Taken = std::unordered_map<std::uint32_t, std::uint32_t>;
  struct Captures {
    std::vector<std::uint32_t> all;  // in order
    std::vector<std::uint32_t> handles;
    std::vector<std::uint32_t> numbered;
    bool begins_with_own = false;
  };
  const Captures& captures_of(std::uint32_t graph);
  [[nodiscard]] bool is_captured(std::uint32_t graph, std::uint32_t op);
  Taken taken_from(std::uint32_t outer, std::uint32_t graph);
  const std::vector<std::int64_t>& handles_given(std::uint32_t call);
  std::int64_t given_handle(std::uint32_t call, std::uint32_t graph, std::uint32_t op);
  std::int64_t taken_handle(const Place& place, std::uint32_t op, int depth);
  void give_up(Link& link) {
    model_.reach_limit(Limit::link_steps);
    link.set_unknown(Reason::too_deep, 0.3F);
  }
  bool step() {
    if (steps_left_ == 0) {
      model_.reach_limit(Limit::link_steps);
      return false;
    }
    --steps_left_;
    model_.spend(1);
    return true;
  }

  Model& model_;
  static constexpr std::uint32_t most_outputs = 64;  // of an op, that one name may mean
  std::size_t steps_left_ = limits::link_steps;
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      lost_;  // tensors without a row that were looked behind: number, run
  std::map<NativeKey, CallsByName> native_calls_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<OrderedRun>> runs_in_order_;  // by call and graph
  std::unordered_map<std::uint32_t, Taken> taken_;                                            // by graph
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> inputs_of_branch_;            // by branch
  std::unordered_map<std::uint32_t, std::vector<bool>> inputs_with_gradient_;                 // by branch
  std::unordered_map<std::uint32_t, Captures> captures_;                                      // by graph
  std::vector<std::int64_t> handles_;
  std::uint32_t handles_of_ = none;  // which call
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/resolver.inl>
#include <nanlens/causes/resolver_arguments.inl>
#include <nanlens/causes/resolver_branches.inl>
#include <nanlens/causes/resolver_calls.inl>
#include <nanlens/causes/resolver_complex.inl>
#endif
