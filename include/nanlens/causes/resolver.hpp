/// @file
/// Finds the event behind a tensor's name: "op:slot" of a graph, in one run of it, in one call.
#pragma once

#include <nanlens/causes/link.hpp>
#include <nanlens/causes/model.hpp>

namespace nanlens::causes {

/// Where a tensor's name is meant: a run of a graph in the window of a call. `before`: only rows written before this
/// one count where runs can't tell; none: all.
struct Place {
  std::uint32_t call = none;
  std::uint32_t graph = none;
  std::uint32_t run = 0;
  std::uint32_t before = none;
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
  /// What the outputs of a call were inside.
  void call_output(EventRef output, Link& link);
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
  static constexpr int deepest = 24;

  void row(const Place& place, std::uint32_t row, Link& link) {
    link.set_event(trace_event(row), model_.window(place.call).even(place.graph) ? 1.0F : 0.8F);
  }
  void branch_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  void loop_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  void unrecorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  bool recorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth);
  void flow_argument(const Place& place, std::size_t position, const GraphLinks& links, Link& link, int depth);
  void nested_argument(const Place& place, Link& link, int depth);
  bool recorded_argument(const Place& place, std::size_t position, Link& link, int depth);
  bool backward_argument(const Place& place, std::uint32_t op, Link& link);
  void items(const Place& place, const InputEdge& list, Link& link, int depth);
  void without_row(const Place& place, const InputEdge& edge, Link& link, int depth);
  std::uint32_t run_across(const Place& place, std::uint32_t other_graph);
  struct CalleeRun {
    std::uint64_t number;
    std::uint32_t graph;
    std::uint32_t run;
  };
  std::vector<CalleeRun> callee_runs(const Place& caller, std::string_view name);
  std::vector<std::uint32_t> call_ops(std::uint32_t caller, std::string_view name);
  std::uint32_t caller_run(const Place& callee, std::uint32_t caller);

  Model& model_;
};

}  // namespace nanlens::causes

#include <nanlens/causes/resolver.inl>
#include <nanlens/causes/resolver_calls.inl>
