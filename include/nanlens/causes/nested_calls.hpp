/// @file
/// Which function a nested call runs. TensorFlow records no op for such a call; what is on record is the call's name
/// where its result is used ("StatefulPartitionedCall_2:0"), the graphs of functions in the order in which they were
/// traced, and the names of gradients ("gradients/<op>_grad/…").
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/causes/graph_facts.hpp>
#include <nanlens/reader/sort_stably.hpp>

namespace nanlens::causes {

namespace detail {

inline constexpr std::int32_t latest_id = 0x7fffffff;
inline constexpr std::string_view backward_prefix = "__backward_";

// "gradients/<op>_grad/…": the op; empty if the name has no such form.
inline std::string_view gradient_scope(std::string_view name) noexcept {
  constexpr std::string_view begin = "gradients/";
  constexpr std::string_view end = "_grad/";
  const std::size_t last = name.rfind(end);
  if (last == std::string_view::npos) return {};
  const std::size_t first = name.rfind(begin, last);
  if (first == std::string_view::npos) return {};
  return name.substr(first + begin.size(), last - first - begin.size());
}

inline constexpr std::string_view tape_prefix = "gradient_tape/";

// "gradient_tape/<scope>/<op>": the scope; empty if the name has no such form.
inline std::string_view tape_scope(std::string_view name) noexcept {
  const std::size_t last = name.rfind('/');
  return name.starts_with(tape_prefix) && last >= tape_prefix.size()
             ? name.substr(tape_prefix.size(), last - tape_prefix.size())
             : std::string_view{};
}

}  // namespace detail

/// A nested call in the graph of its caller.
struct CallSite {
  std::uint32_t name = 0;         ///< of the call op, in the run's strings; 0: its result is used nowhere
  std::uint32_t callee = none;    ///< the function's graph; none: one that was traced elsewhere
  std::uint32_t ordinal = 0;      ///< among the caller's calls of that function
  std::int32_t used_before = 0;   ///< least id of a tensor that is made from the result
  std::uint32_t num_outputs = 0;  ///< as far as they are used
  float confidence = 0.5F;
};

/// All answers are found once, and again after `forget`.
class NestedCalls {
 public:
  explicit NestedCalls(GraphFacts& graphs) : graphs_(graphs) {}

  /// Definitions have grown.
  void forget() {
    sites_.clear();
    callers_.clear();
    captured_.clear();
    ids_.clear();
    forward_.clear();
    backward_.clear();
    found_ = prepared_ = false;
  }

  /// The calls of a graph, in the order of their creation.
  const std::vector<CallSite>& sites(std::uint32_t caller);
  /// The call of this name; null if the graph has none.
  const CallSite* find(std::uint32_t caller, std::uint32_t name);
  /// The first call of a function whose name is on record; null if there is none.
  const CallSite* first_named(std::uint32_t caller, std::uint32_t callee);
  /// How many calls of a graph there are up to the last one of a function; all if it does not call it.
  std::size_t last_site(std::uint32_t caller, std::uint32_t callee);
  /// How often a graph calls a function.
  std::uint32_t count(std::uint32_t caller, std::uint32_t callee);
  /// The functions that a graph calls, each once, if all its calls are known and numbered in their order; else none.
  const std::vector<std::uint32_t>& called_in_order(std::uint32_t caller) { return sites_of(caller).in_order; }
  /// The graphs that call a function.
  const std::vector<std::uint32_t>& callers(std::uint32_t callee);
  /// Functions that a call to one traced elsewhere may run, for lack of something better: those traced before.
  std::vector<std::uint32_t> candidates(std::uint32_t caller, const CallSite& site);
  /// The gradient functions of a function, as they were traced.
  const std::vector<std::uint32_t>& backward_functions(std::uint32_t function);
  /// The forward tensors that a gradient function takes: its placeholders but those of the gradients themselves.
  const std::vector<std::uint32_t>& captured(std::uint32_t backward);
  /// The position of a placeholder among these; none if it is not one of them.
  std::uint32_t number_of_captured(std::uint32_t backward, std::uint32_t placeholder);
  /// The least id of a tensor of a graph.
  std::int32_t first_id(std::uint32_t graph) { return ids(graph).first; }
  /// The graph whose gradient a graph computes; none if it is no gradient function.
  std::uint32_t forward_of(std::uint32_t backward);

 private:
  struct Sites {
    std::vector<CallSite> list;
    std::unordered_map<std::uint32_t, std::size_t> by_name;
    std::unordered_map<std::uint32_t, std::uint32_t> count;      // by callee
    std::unordered_map<std::uint32_t, std::size_t> last;         // by callee
    std::unordered_map<std::uint32_t, std::size_t> first_named;  // by callee
    std::vector<std::uint32_t> in_order;
  };
  struct Captured {
    std::vector<std::uint32_t> list;
    std::unordered_map<std::uint32_t, std::uint32_t> number;
  };
  using Ids = std::pair<std::int32_t, std::int32_t>;

  void prepare();
  const Captured& captured_by(std::uint32_t backward);
  Sites& sites_of(std::uint32_t caller);
  bool numbered_in_order(const std::vector<CallSite>& list);
  void find_sites(std::uint32_t caller, std::vector<CallSite>& list, int depth);
  void list_sites(std::uint32_t caller, std::vector<CallSite>& plain, std::vector<CallSite>& gradients);
  void fill_gaps(std::vector<CallSite>& plain);
  std::vector<std::uint32_t> traced_inside(std::uint32_t caller);
  void assign(std::uint32_t caller, std::vector<CallSite>& plain);
  void assign_gradients(std::uint32_t caller, std::vector<CallSite>& gradients, int depth);
  Ids ids(std::uint32_t graph);
  void find_all();

  static constexpr int deepest = 16;              // functions in functions
  static constexpr std::size_t most_gaps = 4096;  // calls of a graph without a name
  GraphFacts& graphs_;
  std::unordered_map<std::uint32_t, Sites> sites_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> callers_;
  std::unordered_map<std::uint32_t, Captured> captured_;
  std::vector<Ids> ids_;                              // by graph: the least and the greatest
  std::vector<std::uint32_t> forward_;                // by graph
  std::vector<std::vector<std::uint32_t>> backward_;  // by graph
  bool found_ = false;
  bool prepared_ = false;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/nested_calls.inl>
#endif
