/// @file
/// The static part of lineage: which op reads which, where functions begin and end, what control flow joins them.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nanlens/causes/op_code.hpp>
#include <nanlens/reader/run.hpp>

namespace nanlens::causes {

using reader::none;
using reader::Run;

/// One input of an op.
struct InputEdge {
  std::uint32_t op = none;  ///< none: no op of that name was created on record (TensorFlow's nested calls)
  std::uint32_t name = 0;   ///< the op's name, in the run's strings
  std::uint16_t slot = 0;
};

struct ConsumerEdge {
  std::uint32_t op = none;
  std::uint16_t output_slot = 0;
  std::uint16_t input_slot = 0;
};

/// What runs a graph, if control flow does.
enum class FlowRole : std::uint8_t { none, branch, condition, body };

struct OpLinks {
  OpCode code = OpCode::other;
  bool ready = false;
  bool makes_nothing = false;         ///< it has no output: it writes what it got
  std::uint32_t first_tensor = none;  ///< number of its output 0
  std::uint32_t num_outputs = 1;      ///< 1, too, where it makes nothing
  std::int32_t first_tensor_id = 0;   ///< as recorded: orders ops of several graphs by creation
  std::uint32_t argument = none;      ///< placeholders: their position among those of the graph
  std::vector<InputEdge> inputs;
  std::vector<ConsumerEdge> consumers;
};

struct GraphLinks {
  std::size_t ops_seen = 0;
  std::size_t end = 0;                       ///< of the function's own ops; its gradient needs those that were added
  std::vector<std::uint32_t> placeholders;   ///< in creation order: arguments, then captures
  std::vector<InputEdge> returns;            ///< what each output of the function is
  std::vector<std::uint32_t> functions;      ///< graphs of functions called from this one, in creation order
  std::vector<std::uint32_t> unrecorded;     ///< names that inputs refer to and no op has, by trailing number, but for
                                             ///< those of vectorised ops
  std::vector<std::uint32_t> loose_results;  ///< loop bodies without return ops (TensorFlow 1): what nobody consumes
  std::vector<std::uint32_t> accumulators;   ///< loop bodies: what their gradient needs, further results of the loop
  std::vector<std::uint32_t> collectives;    ///< ops that join several devices
  std::int32_t first_loop_id = std::numeric_limits<std::int32_t>::max();  ///< id of the first variable of a vectorised
                                                                          ///< loop
  FlowRole role = FlowRole::none;
  std::uint32_t flow_op = none;  ///< the If, Case or While of the outer graph
  bool first_branch = false;     ///< whose inputs are, in its order, the first that the If or Case takes
  bool gradient = false;         ///< is it that of a branch or loop?
  std::uint32_t forward = none;  ///< of the gradient of a branch: that branch, if it is known
};

namespace detail {

inline bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "name_12" without its number; the whole text if it has none.
inline std::string_view without_number(std::string_view name) noexcept {
  const std::size_t at = name.rfind('_');
  return at != std::string_view::npos && all_digits(name.substr(at + 1)) ? name.substr(0, at) : name;
}

// "<graph>_grad_12", the gradient of a branch or a loop's body: the graph's name; empty if the name has no such form.
inline std::string_view forward_name(std::string_view name) noexcept {
  constexpr std::string_view end = "_grad";
  const std::string_view own = without_number(name);
  return own.ends_with(end) ? own.substr(0, own.size() - end.size()) : std::string_view{};
}
inline long trailing_number(std::string_view name) noexcept {
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos || !all_digits(name.substr(at + 1)) || name.size() - at > 9) return 0;
  return std::stol(std::string(name.substr(at + 1)));
}

}  // namespace detail

/// Reads each graph's ops once, when it is first asked for.
class GraphFacts {
 public:
  explicit GraphFacts(Run& run) : run_(run) {}

  [[nodiscard]] Run& run() const noexcept { return run_; }
  /// Ops whose creation is on record.
  [[nodiscard]] std::size_t num_declared() const {
    std::size_t n = 0;
    for (const auto& graph : run_.definitions().graphs()) n += graph.ops.size();
    return n;
  }
  /// Graphs or ops were defined since: what joins them is found anew.
  void forget() {
    graphs_.clear();
    ops_.clear();
    tops_.clear();
    run_by_.clear();
    flow_ops_.clear();
    num_tensors_ = 0;
  }
  [[nodiscard]] const reader::Graph& graph(std::uint32_t g) const { return run_.definitions().graphs()[g]; }
  [[nodiscard]] std::string_view text(std::uint32_t number) const { return run_.definitions().text(number); }
  [[nodiscard]] std::string_view graph_name(std::uint32_t g) const { return text(graph(g).name); }
  [[nodiscard]] std::string_view op_name(std::uint32_t op) const { return text(run_.definitions().ops()[op].name); }
  [[nodiscard]] std::string_view op_type(std::uint32_t op) const { return text(run_.definitions().ops()[op].type); }
  /// The file set that defines a graph: those of other processes may have the same names.
  [[nodiscard]] std::size_t set_of(std::uint32_t graph) const { return this->graph(graph).where.set(); }
  [[nodiscard]] std::uint32_t graph_of(std::uint32_t op) const { return run_.definitions().ops()[op].graph; }

  const GraphLinks& links(std::uint32_t graph) {
    if (graph >= graphs_.size()) graphs_.grow_to(run_.definitions().graphs().size());
    if (graphs_[graph].ops_seen != this->graph(graph).ops.size()) read(graph);
    return graphs_[graph];
  }
  const OpLinks& op(std::uint32_t op) {
    if (op >= ops_.size()) ops_.grow_to(run_.definitions().ops().size());
    if (!ops_[op].ready) {
      links(graph_of(op));
      if (op >= ops_.size()) ops_.grow_to(run_.definitions().ops().size());
      OpLinks& links = ops_[op];
      if (links.first_tensor == none) links.first_tensor = num_tensors_++;  // not declared yet: one output is assumed
    }
    return ops_[op];
  }
  /// A dense number for an output of an op; none if the op has no such output.
  std::uint32_t tensor(std::uint32_t op, std::uint32_t slot) {
    const OpLinks& links = this->op(op);
    return slot < links.num_outputs ? links.first_tensor + slot : none;
  }
  [[nodiscard]] std::uint32_t num_tensors() const noexcept { return num_tensors_; }

  /// nanlens names the stand-in for an input that was not recorded "<consumer>/input_<k>", or "<tensor>/input_<k>"
  /// where the host has a name for that, and "…/empty_<k>" if it had no elements, and so no memory to be known by. It
  /// is no argument.
  [[nodiscard]] bool is_unlinked_input(std::uint32_t op) const {
    const std::string_view name = op_name(op);
    const std::size_t slash = name.rfind('/');
    if (!is_native() || slash == std::string_view::npos) return false;
    return name.substr(slash).starts_with("/input_") || name.substr(slash).starts_with("/empty_");
  }
  [[nodiscard]] bool is_empty_input(std::uint32_t op) const {
    return is_unlinked_input(op) && op_name(op).substr(op_name(op).rfind('/')).starts_with("/empty_");
  }

  /// Is this the nameless root, which encloses all top-level functions?
  [[nodiscard]] bool is_root(std::uint32_t graph) const { return this->graph(graph).outer == none; }
  /// Is this a function of an input pipeline (tf.data), by the names that TensorFlow gives such? Its runtime calls it
  /// by itself, also where the pipeline is made inside a function.
  [[nodiscard]] bool is_pipeline(std::uint32_t graph) const {
    const std::uint32_t outer = this->graph(graph).outer;
    return graph_name(graph).starts_with("Dataset_") ||
           (outer != none && graph_name(graph).starts_with("reduce_") &&
            run_.find_op(text(this->graph(outer).id), "ReduceDataset") != none);
  }
  /// Is it one that is given what it made the last time?
  [[nodiscard]] bool hands_on_state(std::uint32_t graph) const {
    return graph_name(graph).starts_with("reduce_") || graph_name(graph).starts_with("Dataset_scan");
  }
  /// The function directly under the root that a graph belongs to; none for the root itself, and for graphs in
  /// themselves.
  [[nodiscard]] std::uint32_t top(std::uint32_t graph) {
    const std::size_t num_graphs = run_.definitions().graphs().size();
    if (tops_.size() != num_graphs) tops_.assign(num_graphs, unknown);
    std::vector<std::uint32_t> inside;  // graphs whose top is that of the last one
    std::uint32_t found = none;
    for (std::uint32_t g = graph; inside.size() <= num_graphs; g = this->graph(g).outer) {
      inside.push_back(g);
      found = tops_[g] != unknown ? tops_[g] : is_root(g) ? none : is_root(this->graph(g).outer) ? g : unknown;
      if (found != unknown) break;
    }
    if (found == unknown) found = none;
    for (const std::uint32_t g : inside) tops_[g] = found;
    return found;
  }
  /// TensorFlow vectorises a loop (pfor) by ops that it names "<op>/pfor/…", many of which it does not record: the op
  /// of the loop that such a name stands for; none if it stands for none.
  [[nodiscard]] std::uint32_t vectorized_from(std::uint32_t graph, std::uint32_t name) {
    std::string_view op = text(name);
    for (std::size_t at = op.rfind(vectorized); at != std::string_view::npos; at = op.rfind(vectorized)) {
      op = op.substr(0, at);
      if (const std::uint32_t found = find(graph, std::string(op)); found != none) return found;
    }
    return none;
  }
  /// What an op of a loop became there; none if that is not on record.
  [[nodiscard]] std::uint32_t vectorized_to(std::uint32_t op) {
    return find(graph_of(op), std::string(op_name(op)) + std::string(vectorized) + std::string(op_type(op)));
  }
  /// The graphs that an If or While of a graph runs.
  const std::vector<std::uint32_t>& run_by(std::uint32_t graph, std::uint32_t flow_op) {
    const auto [found, is_new] = run_by_.try_emplace(graph);
    if (is_new)
      for (const std::uint32_t child : this->graph(graph).inner)
        if (const std::uint32_t op = links(child).flow_op; op != none) run_by_[graph][op].push_back(child);
    return run_by_[graph][flow_op];
  }

 private:
  static constexpr std::string_view vectorized = "/pfor/";

  void read(std::uint32_t g) {
    const std::vector<std::uint32_t> ops = graph(g).ops;
    ops_.grow_to(run_.definitions().ops().size());
    const std::size_t first = graphs_[g].ops_seen;
    graphs_[g].ops_seen = ops.size();
    std::vector<std::vector<std::string>> inputs;
    for (std::size_t i = first; i < ops.size(); ++i) inputs.push_back(read_op(ops[i]));
    for (std::size_t i = 0; i < first; ++i) relink_inputs(g, ops[i]);  // what they refer to may have come now
    for (std::size_t i = first; i < ops.size(); ++i) link_inputs(g, ops[i], inputs[i - first]);
    GraphLinks& links = graphs_[g];
    for (std::size_t i = first; i < ops.size(); ++i) {
      OpLinks& op = ops_[ops[i]];
      if (op.code == OpCode::collective) links.collectives.push_back(ops[i]);
      if (op_type(ops[i]) == "PlaceholderWithDefault")
        links.first_loop_id = std::min(links.first_loop_id, op.first_tensor_id);
      if (op.code != OpCode::placeholder || is_unlinked_input(ops[i])) continue;
      op.argument = static_cast<std::uint32_t>(links.placeholders.size());
      links.placeholders.push_back(ops[i]);
    }
    find_unrecorded(g, links);
    find_returns(g, links);
    find_role(g, links);
    find_functions(g, links);
  }

  void find_unrecorded(std::uint32_t g, GraphLinks& links) {
    links.unrecorded.clear();
    for (const std::uint32_t op : graph(g).ops)
      for (const InputEdge& edge : ops_[op].inputs)
        if (edge.op == none && edge.name != 0 && vectorized_from(g, edge.name) == none)
          links.unrecorded.push_back(edge.name);
    std::sort(links.unrecorded.begin(), links.unrecorded.end());
    links.unrecorded.erase(std::unique(links.unrecorded.begin(), links.unrecorded.end()), links.unrecorded.end());
    std::sort(links.unrecorded.begin(), links.unrecorded.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto key = [&](std::uint32_t n) { return std::pair(detail::trailing_number(text(n)), text(n)); };
      return key(a) < key(b);
    });
  }

  std::vector<std::string> read_op(std::uint32_t index) {
    OpLinks& links = ops_[index];
    links.code = code_of(index);
    auto created = run_.op_creation(index);
    constexpr std::int32_t most = 1 << 16;
    links.num_outputs =
        static_cast<std::uint32_t>(std::clamp(created ? created->num_outputs : 1, std::int32_t{1}, most));
    links.makes_nothing = created && created->num_outputs == 0;
    links.first_tensor = num_tensors_;
    num_tensors_ += links.num_outputs;
    links.ready = true;
    if (!created) return {};
    if (!created->output_tensor_ids.empty()) links.first_tensor_id = created->output_tensor_ids.front();
    // ONNX's chooses; TensorFlow's says where, and has one input.
    if (created->input_names.size() == 3 && op_type(index) == "Where") links.code = OpCode::select;
    return std::move(created->input_names);
  }

  void link_inputs(std::uint32_t g, std::uint32_t index, const std::vector<std::string>& names) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto name = reader::parse_tensor_name(names[k]);
      InputEdge edge;
      if (name) {
        edge.op = find(g, name->op_name);
        edge.name = run_.intern(name->op_name);
        edge.slot = static_cast<std::uint16_t>(name->slot);
      }
      if (edge.op != none) {
        ops_[edge.op].consumers.push_back({index, edge.slot, static_cast<std::uint16_t>(k)});
      }
      ops_[index].inputs.push_back(edge);
    }
  }
  void relink_inputs(std::uint32_t g, std::uint32_t index) {
    auto& inputs = ops_[index].inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].op != none || inputs[k].name == 0) continue;
      inputs[k].op = find(g, std::string(text(inputs[k].name)));
      if (inputs[k].op == none) continue;
      ops_[inputs[k].op].consumers.push_back({index, inputs[k].slot, static_cast<std::uint16_t>(k)});
    }
  }
  std::uint32_t find(std::uint32_t g, const std::string& name) {
    const std::uint32_t op = run_.find_op(text(graph(g).id), name);
    return op != none && run_.definitions().ops()[op].declared ? op : none;
  }

  // nanlens records returns as ops of their own; TensorFlow ends a function with consumer-less Identity ops and a NoOp.
  // What comes after that NoOp was added to a loop body for its gradient.
  void find_returns(std::uint32_t g, GraphLinks& links) {
    links.returns.clear();
    links.accumulators.clear();
    links.loose_results.clear();
    const auto& ops = graph(g).ops;
    links.end = ops.size();
    for (const std::uint32_t op : ops)
      if (ops_[op].code == OpCode::function_return && !ops_[op].inputs.empty())
        links.returns.push_back(ops_[op].inputs.front());
    if (!links.returns.empty()) return;
    const std::size_t end = links.end = end_of_function(ops);
    for (std::size_t i = end; i < ops.size(); ++i)
      if (ops_[ops[i]].code == OpCode::list_set) links.accumulators.push_back(ops[i]);
    for (std::size_t i = end; i-- > 0;) {
      if (op_type(ops[i]) == "NoOp") continue;
      if (!may_return(ops[i])) break;
      links.returns.push_back(ops_[ops[i]].inputs.front());
    }
    std::reverse(links.returns.begin(), links.returns.end());
    const std::uint32_t outer = graph(g).outer;
    if (links.returns.empty() && outer != none && is_root(outer)) find_result_of_branch(g, links);
  }
  [[nodiscard]] bool may_return(std::uint32_t op) const {
    return ops_[op].code == OpCode::identity && ops_[op].consumers.empty() && !ops_[op].inputs.empty();
  }
  // Where the NoOp after the returns is; the number of ops if there is none.
  [[nodiscard]] std::size_t end_of_function(const std::vector<std::uint32_t>& ops) const {
    for (std::size_t i = ops.size(); i-- > 1;)
      if (op_type(ops[i]) == "NoOp" && may_return(ops[i - 1])) return i;
    return ops.size();
  }
  // Branches of TensorFlow 1 have no return ops: the last op that nobody consumes is what they give.
  void find_result_of_branch(std::uint32_t g, GraphLinks& links) {
    const auto& ops = graph(g).ops;
    const bool body = detail::without_number(graph_name(g)).ends_with("_body");
    for (std::size_t i = ops.size(); i-- > 0;) {
      const OpLinks& op = ops_[ops[i]];
      if (op.code == OpCode::constant || op.code == OpCode::placeholder || !op.consumers.empty()) continue;
      if (op_type(ops[i]) == "NoOp") continue;
      if (!body) return links.returns.push_back({ops[i], run_.definitions().ops()[ops[i]].name, 0});
      links.loose_results.push_back(ops[i]);
    }
  }

  // What a graph is to which op, by its name.
  struct FlowName {
    FlowRole role = FlowRole::none;
    std::string_view op{};        // its name in the form of graphs' names
    std::string_view gradient{};  // how the op's name ends that runs the gradients of branches, '/' replaced
    bool first = false;           // branch
    bool of_gradient = false;     // is it the gradient of such a graph?
    [[nodiscard]] OpCode code() const { return role == FlowRole::branch ? OpCode::branch : OpCode::loop; }
  };
  static FlowName flow_name(std::string_view graph) {
    const std::string_view forward = detail::forward_name(graph);
    FlowName flow = plain_flow_name(detail::without_number(forward.empty() ? graph : forward));
    flow.of_gradient = !forward.empty();
    return flow;
  }
  static FlowName plain_flow_name(std::string_view name) {
    constexpr std::string_view branch = "_branch";
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;  // of a Case: "<op>_branch0"
    if (digits < name.size() && name.substr(0, digits).ends_with(branch))
      return {FlowRole::branch, name.substr(0, digits - branch.size()), "_gradient", name.substr(digits) == "0"};
    const FlowName ends[] = {{FlowRole::branch, "_true", "_If", true},
                             {FlowRole::branch, "_false", "_If"},
                             {FlowRole::condition, "_cond"},
                             {FlowRole::body, "_body"}};
    for (FlowName flow : ends)
      if (name.ends_with(flow.op)) {
        flow.op = name.substr(0, name.size() - flow.op.size());
        return flow;
      }
    return {};
  }

  // TensorFlow names the graphs of control flow "<op>_true_n", "<op>_cond_n" and so on, '/' replaced by '_'; those of
  // their gradients "<op>_body_n_grad_m", run by an op "…/<op>_grad", those of branches by "…/<op>/If" or, in a
  // gradient function, "…/<op>_grad/If".
  void find_role(std::uint32_t g, GraphLinks& links) {
    const std::uint32_t outer = graph(g).outer;
    if (outer == none) return;
    const FlowName flow = flow_name(graph_name(g));
    const bool gradient = flow.of_gradient;
    if (flow.role == FlowRole::none) return;
    const std::string base(flow.op);
    std::uint32_t op = find_flow_op(outer, flow.code(), gradient ? base + "_grad" : base, gradient);
    if (op == none && gradient && !flow.gradient.empty()) {
      const std::string end(flow.gradient);
      op = find_flow_op(outer, flow.code(), base + "_grad" + end, true);
      if (op == none) op = find_flow_op(outer, flow.code(), base + end, true);
    }
    if (op == none) return;
    links.role = flow.role;
    links.flow_op = op;
    links.first_branch = flow.first;
    links.gradient = gradient;
    if (gradient && flow.role == FlowRole::branch) links.forward = find_forward(g);
  }

  // Of "<graph>_grad_m" the graph: beside it, in the function whose gradient has it, or in the loop's body of which it
  // is in the gradient; none if it is no gradient of control flow.
  [[nodiscard]] std::uint32_t find_forward(std::uint32_t g, int depth = 0) const {
    constexpr int deepest = 8;
    const std::string_view name = detail::forward_name(graph_name(g));
    const std::uint32_t outer = graph(g).outer;
    if (name.empty() || outer == none || depth > deepest) return none;
    for (const std::uint32_t parent : {outer, graph(outer).outer, find_forward(outer, depth + 1)}) {
      if (parent == none) continue;
      const auto& children = graph(parent).inner;
      for (std::size_t i = 0; i < std::min(children.size(), most_branches); ++i)
        if (graph_name(children[i]) == name) return children[i];
    }
    return none;
  }

  // The first If, Case or While of a graph by this name, or of a name that ends in it.
  std::uint32_t find_flow_op(std::uint32_t g, OpCode code, const std::string& base, bool any_beginning) {
    const FlowOps& index = flow_ops(g);
    std::uint32_t first = none;
    const auto take = [&](const std::string& key) {
      if (const auto found = index.first_of_name.find(key); found != index.first_of_name.end())
        first = std::min(first, found->second);
    };
    const std::string kind = code == OpCode::branch ? "If " : "While ";
    take(kind + base);
    if (any_beginning) take(kind + "_" + base);
    return first == none ? none : graph(g).ops[first];
  }
  struct FlowOps {
    std::size_t ops_seen = 0;
    // Position of the first op of a kind by "name" in the form of graphs' names, and by each "_end" of a name.
    std::unordered_map<std::string, std::uint32_t> first_of_name;
  };
  const FlowOps& flow_ops(std::uint32_t g) {
    FlowOps& index = flow_ops_[g];
    const auto& ops = graph(g).ops;
    for (; index.ops_seen < ops.size(); ++index.ops_seen) {
      const OpCode code = code_of(ops[index.ops_seen]);
      if (code != OpCode::branch && code != OpCode::loop) continue;
      const std::string kind = code == OpCode::branch ? "If " : "While ";
      std::string name(op_name(ops[index.ops_seen]));
      std::replace(name.begin(), name.end(), '/', '_');
      const auto position = static_cast<std::uint32_t>(index.ops_seen);
      index.first_of_name.try_emplace(kind + name, position);
      constexpr int most_ends = 32;
      std::size_t at = name.rfind('_');
      for (int i = 0; i < most_ends && at != std::string::npos; ++i) {
        index.first_of_name.try_emplace(kind + name.substr(at), position);
        at = at == 0 ? std::string::npos : name.rfind('_', at - 1);
      }
    }
    return index;
  }

  void find_functions(std::uint32_t g, GraphLinks& links) {
    links.functions.clear();
    for (const std::uint32_t child : graph(g).inner) {
      const FlowName name = flow_name(graph_name(child));
      // A function may be called so, too ("residual_branch1", "decoder_body"): no op of the name runs it.
      const bool flow = graph_name(child) == "tmp" ||
                        (name.role != FlowRole::none &&
                         (name.of_gradient || find_flow_op(g, name.code(), std::string(name.op), false) != none));
      const bool backward = graph_name(child).starts_with("__backward") && !is_native();
      if (!flow && !backward) links.functions.push_back(child);
    }
  }
  // By type, remembered: types are few.
  OpCode code_of(std::uint32_t op) {
    const auto [found, is_new] = code_of_type_.try_emplace(run_.definitions().ops()[op].type, OpCode::other);
    if (is_new) found->second = op_code(op_type(op));
    return found->second;
  }
  [[nodiscard]] bool is_native() const { return run_.metadata().tensorflow_version.starts_with("nanlens"); }

  Run& run_;
  reader::Column<GraphLinks, 64> graphs_;
  reader::Column<OpLinks, 64> ops_;
  std::unordered_map<std::uint32_t, OpCode> code_of_type_;
  static constexpr std::uint32_t unknown = none - 1;
  static constexpr std::size_t most_branches = 1024;  // graphs beside one that are looked at
  std::vector<std::uint32_t> tops_;                   // by graph
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>> run_by_;
  std::unordered_map<std::uint32_t, FlowOps> flow_ops_;  // by graph
  std::uint32_t num_tensors_ = 0;
};

}  // namespace nanlens::causes
