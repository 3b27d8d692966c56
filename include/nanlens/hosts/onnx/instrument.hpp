/// @file
/// Adds probes to a model: nodes that see every value when it is made. All else of the model stays as it is, byte for
/// byte; only nodes with a branch or a body are written anew.
///
/// Probes stand in the reverse order of what they look at: ONNX Runtime then runs each directly after its producer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/model.hpp>
#include <nanlens/hosts/onnx/probes.hpp>
#include <nanlens/hosts/onnx/scope.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

/// A model with probes, or why there is none.
struct Instrumented {
  std::string model;
  std::string why_not;
};

class Instrumenter {
 public:
  explicit Instrumenter(std::string graph_name) { description_.graph_name = std::move(graph_name); }

  Instrumented add_probes(Bytes bytes) {
    Model model;
    Graph graph;
    if (!read_model(bytes, model) || model.graphs.empty()) return {{}, "it is no ONNX model, or a damaged one"};
    for (const Bytes part : model.graphs)
      if (!read_graph(part, graph)) return {{}, "its graph is damaged"};
    if (graph.nodes.empty()) return {{}, "its graph has no nodes"};
    for (const Node& node : graph.nodes)
      if (node.domain == probe_domain) return {{}, "it has probes already"};
    Scope scope(nullptr, "nanlens/run", {});
    add_arguments(graph, scope);
    go_through(graph, scope, 0);
    if (is_damaged_) return {{}, "a graph in it is damaged"};
    Instrumented result;
    write_model(result.model, bytes, model, scope);
    return result;
  }

 private:
  using Rewritten = std::unordered_map<const unsigned char*, std::string>;  // nodes, by where they begin

  std::uint32_t add_node(std::string_view type, std::string name, std::vector<Alternatives> inputs,
                         std::uint32_t num_outputs = 1) {
    description_.nodes.push_back({std::string(type), std::move(name), num_outputs, std::move(inputs)});
    return static_cast<std::uint32_t>(description_.nodes.size()) - 1;
  }
  // A value that gets a probe.
  ValueNumber add_value(Scope& scope, std::string_view name, DescribedValue value) {
    const auto number = static_cast<ValueNumber>(description_.values.size());
    value.is_outermost = scope.is_outermost() && !value.is_constant;
    description_.values.push_back(value);
    scope.probed.emplace_back(name, number);
    scope.set(name, {{{number}}});
    return number;
  }

  // What comes into the model, and what it holds.
  void add_arguments(const Graph& graph, Scope& scope) {
    const std::unordered_set<std::string_view> held(graph.initializers.begin(), graph.initializers.end());
    for (const NamedValue& input : graph.inputs) {
      if (input.kind == ValueKind::other) scope.set(input.name, {{}, false});
      if (input.kind != ValueKind::tensor || held.contains(input.name)) continue;
      if (begin_input_.empty()) begin_input_ = input.name;
      add_value(scope, input.name, {add_node("Placeholder", std::string(input.name), {})});
    }
    add_initializers(graph, scope);
  }
  void add_initializers(const Graph& graph, Scope& scope) {
    for (const std::string_view name : graph.initializers)
      if (!name.empty()) add_value(scope, name, {add_node("Const", scope.prefix() + std::string(name), {}), 0, true});
  }

  void go_through(const Graph& graph, Scope& scope, int depth) {
    std::unordered_map<std::string_view, ValueKind> kinds;
    for (const auto* const list : {&graph.values, &graph.outputs})
      for (const NamedValue& value : *list)
        if (value.kind != ValueKind::unknown) kinds[value.name] = value.kind;
    for (const Node& node : graph.nodes) {
      if (is_branch(node) && depth < deepest)
        add_branch(node, scope, depth);
      else if (is_loop(node) && depth < deepest)
        add_loop(node, scope, depth);
      else
        add_plain(node, scope, kinds);
    }
  }

  static bool is_branch(const Node& node) { return node.domain.empty() && node.type == "If"; }
  static bool is_loop(const Node& node) {
    return node.domain.empty() && (node.type == "Loop" || node.type == "Scan") && node.subgraphs.size() == 1;
  }
  // Does an op give sequences, maps or optionals, in which nothing can be looked at?
  static bool gives_other(const Node& node, const Meaning& input) {
    constexpr std::string_view types[] = {"SequenceConstruct",  "SequenceEmpty",   "SequenceInsert",
                                          "SequenceErase",      "SplitToSequence", "SequenceMap",
                                          "OptionalGetElement", "Optional",        "ZipMap"};
    if (std::find(std::begin(types), std::end(types), node.type) != std::end(types)) return true;
    return node.type == "Identity" && !input.is_tensor;
  }

  void add_plain(const Node& node, Scope& scope, const std::unordered_map<std::string_view, ValueKind>& kinds) {
    Meaning made_of;
    for (const std::string_view input : node.inputs)
      if (const Meaning* const found = scope.find(input)) made_of.append(*found);
    for (const Subgraph& body : node.subgraphs) append_captured(body.graph, scope, made_of);
    const bool other = gives_other(node, node.inputs.empty() ? Meaning() : scope.meaning(node.inputs.front()));
    const auto num_outputs = static_cast<std::uint32_t>(node.outputs.size());
    const std::uint32_t number = add_node(node.type, name_of(node, scope), made_of.inputs, std::max(num_outputs, 1U));
    const bool is_constant = node.domain.empty() && node.type == "Constant";
    for (std::uint32_t slot = 0; slot < num_outputs; ++slot) {
      const std::string_view output = node.outputs[slot];
      const auto known = kinds.find(output);
      if (output.empty()) continue;
      if (known == kinds.end() ? other : known->second == ValueKind::other)
        scope.set(output, {made_of.inputs, false});
      else
        add_value(scope, output, {number, slot, is_constant});
    }
  }

  // What a graph that is not gone into takes from those around it.
  static void append_captured(Bytes bytes, const Scope& scope, Meaning& to) {
    Graph graph;
    if (!read_graph(bytes, graph)) return;
    for (const Node& node : graph.nodes)
      for (const std::string_view input : node.inputs)
        if (const Meaning* const found = scope.find(input)) to.append(*found);
  }

  static std::string name_of(const Node& node, const Scope& scope) {
    const std::string_view name = node.own_name();
    return name.starts_with(scope.prefix()) ? std::string(name) : scope.prefix() + std::string(name);
  }
  static std::string prefix_of(const Node& node, const Scope& scope) {
    constexpr std::size_t longest = 200;
    const std::string name = name_of(node, scope);
    return name.size() > longest ? scope.prefix() : name + "/";
  }

  // An output of a node with control flow: a node of its own, since it comes from other values than the next.
  void add_flow_output(const Node& node, std::size_t slot, Scope& scope, const Meaning& from) {
    const std::string_view output = node.outputs[slot];
    if (output.empty()) return;
    if (!from.is_tensor) return scope.set(output, from);
    add_value(scope, output, {add_node(node.type, name_of(node, scope), from.inputs)});
  }

  void add_branch(const Node& node, Scope& scope, int depth) {
    std::vector<Meaning> results(node.outputs.size());
    std::vector<std::string> graphs;
    for (const Subgraph& branch : node.subgraphs) {
      Graph graph;
      is_damaged_ = !read_graph(branch.graph, graph) || is_damaged_;
      Scope inside(&scope, scope.run(), prefix_of(node, scope));
      add_initializers(graph, inside);
      go_through(graph, inside, depth + 1);
      for (std::size_t i = 0; i < std::min(results.size(), graph.outputs.size()); ++i)
        results[i].add(inside.meaning(graph.outputs[i].name));
      graphs.push_back(graph_with_probes(branch.graph, inside, [](WireWriter&) {}));
    }
    for (std::size_t i = 0; i < results.size(); ++i) add_flow_output(node, i, scope, results[i]);
    rewrite(node, graphs);
  }

  // Where the values of a body come from, and go to: Loop and Scan differ.
  struct Wiring {
    std::size_t first_input = 0;    // of the node, that a body input's first value is
    std::size_t first_body_in = 0;  // of the body, that is a value
    std::size_t first_result = 0;   // of the body, that goes on
    std::size_t num_states = 0;     // that go from iteration to iteration
  };
  static Wiring wiring(const Node& node, const Graph& body) {
    if (node.type == "Loop") return {2, 2, 1, body.inputs.size() < 2 ? 0 : body.inputs.size() - 2};
    const auto scanned = static_cast<std::size_t>(std::max<std::int64_t>(node.num_scan_inputs, 0));
    const std::size_t lengths = node.inputs.size() > body.inputs.size() ? 1 : 0;  // version 8 has them first
    return {lengths, 0, 0, body.inputs.size() - std::min(scanned, body.inputs.size())};
  }

  void add_loop(const Node& node, Scope& scope, int depth) {
    Graph body;
    is_damaged_ = !read_graph(node.subgraphs.front().graph, body) || is_damaged_;
    const Wiring wires = wiring(node, body);
    const auto first_value = static_cast<ValueNumber>(description_.values.size());
    const bool has_enter = node.type == "Loop" && !body.inputs.empty();  // a Scan's body is not told its iteration
    Scope inside(&scope, has_enter ? "nanlens/run_" + std::to_string(first_value) : scope.run(),
                 prefix_of(node, scope));
    add_initializers(body, inside);
    const std::vector<BodyInput> inputs = add_body_inputs(node, body, wires, scope, inside);
    go_through(body, inside, depth + 1);
    std::vector<Meaning> results;
    for (std::size_t i = wires.first_result; i < body.outputs.size(); ++i)
      results.push_back(inside.meaning(body.outputs[i].name));
    results.resize(std::max(results.size(), node.outputs.size()));
    for (const BodyInput& input : inputs) {  // from the second iteration on, what the one before it made
      if (input.position >= std::min(wires.num_states, results.size())) continue;
      Meaning from{description_.nodes[input.node].inputs};
      from.add(results[input.position]);
      description_.nodes[input.node].inputs = from.inputs;
    }
    add_loop_outputs(node, wires, results, scope);
    const auto end_value = static_cast<ValueNumber>(description_.values.size());
    rewrite(node, {graph_with_probes(node.subgraphs.front().graph, inside, [&](WireWriter& w) {
              if (has_enter) write_enter(w, body, scope, inside, first_value, end_value);
            })});
  }

  // A value that a body is given, and the node that stands for it.
  struct BodyInput {
    std::size_t position;
    std::uint32_t node;
  };
  std::vector<BodyInput> add_body_inputs(const Node& node, const Graph& body, const Wiring& wires, const Scope& scope,
                                         Scope& inside) {
    std::vector<BodyInput> inputs;
    for (std::size_t i = wires.first_body_in; i < body.inputs.size(); ++i) {
      const NamedValue& input = body.inputs[i];
      const std::size_t position = i - wires.first_body_in;
      const std::size_t outer = position + wires.first_input;
      const Meaning given = outer < node.inputs.size() ? scope.meaning(node.inputs[outer]) : Meaning();
      if (!given.is_tensor || input.kind == ValueKind::other) {
        inside.set(input.name, {given.inputs, false});
        continue;
      }
      inputs.push_back({position, add_node("Identity", inside.prefix() + std::string(input.name), given.inputs)});
      add_value(inside, input.name, {inputs.back().node});
    }
    return inputs;
  }
  void add_loop_outputs(const Node& node, const Wiring& wires, std::vector<Meaning>& results, Scope& scope) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t given = i + wires.first_input;
      if (i >= wires.num_states)
        gather(results[i]);
      else if (given < node.inputs.size())  // where there is no iteration
        results[i].add(scope.meaning(node.inputs[given]));
      add_flow_output(node, i, scope, results[i]);
    }
  }

  void gather(const Meaning& meaning) {
    for (const Alternatives& input : meaning.inputs)
      for (const ValueNumber value : input) description_.values[value].is_gathered = true;
  }

  static void write_enter(WireWriter& graph, const Graph& body, const Scope& outside, const Scope& inside,
                          ValueNumber begin, ValueNumber end) {
    const std::string_view inputs[] = {outside.run(), body.inputs.front().name};
    write_node(graph, "Enter", inside.run(), inputs, inside.run(), [&](WireWriter& w) {
      write_attribute(w, begin_attribute, std::int64_t{begin});
      write_attribute(w, end_attribute, std::int64_t{end});
    });
  }

  void write_probes(WireWriter& graph, const Scope& scope) const {
    for (std::size_t i = scope.probed.size(); i-- > 0;) {
      const auto& [name, number] = scope.probed[i];
      write_probe(graph, scope.run(), name, number, description_.values[number].is_constant);
    }
  }

  // A part of a graph as it was, but for the nodes that were rewritten.
  void copy_graph(WireWriter& w, Bytes bytes) const {
    for (WireReader r(bytes); r.next();) {
      const auto found = r.is(tags::GraphProto::node) ? rewritten_.find(r.bytes().data()) : rewritten_.end();
      if (found != rewritten_.end())
        w.element(tags::GraphProto::node, found->second);
      else
        copy_field<tags::GraphProto>(w, r);
    }
  }
  template <class WriteFirst>
  std::string graph_with_probes(Bytes bytes, const Scope& scope, const WriteFirst& write_first) const {
    std::string result;
    {
      WireWriter w(result);
      write_first(w);  // nodes of a graph in a node must come after what they use
      copy_graph(w, bytes);
      write_probes(w, scope);
    }
    return result;
  }

  // A node whose graphs are now these.
  void rewrite(const Node& node, const std::vector<std::string>& graphs) {
    using Tag = tags::NodeProto;
    std::string& bytes = rewritten_[node.bytes.data()];
    WireWriter w(bytes);
    std::size_t next = 0;
    for (WireReader r(node.bytes); r.next();) {
      Node alone;
      if (r.is(Tag::attribute, WireType::length_delimited)) detail::read_attribute(r.bytes(), alone);
      if (alone.subgraphs.empty() || next == graphs.size()) {
        copy_field<Tag>(w, r);
        continue;
      }
      w.message(Tag::attribute, [&](WireWriter& a) {
        for (WireReader old(r.bytes()); old.next();)
          if (old.is(tags::AttributeProto::g))
            a.element(tags::AttributeProto::g, graphs[next]);
          else
            copy_field<tags::AttributeProto>(a, old);
      });
      ++next;
    }
  }

  void write_model(std::string& to, Bytes bytes, const Model& model, const Scope& scope) const {
    using Tag = tags::ModelProto;
    to.reserve(bytes.size() + bytes.size() / 8);
    WireWriter w(to);
    std::size_t parts = 0;
    for (WireReader r(bytes); r.next();) {
      if (!r.is(Tag::graph, WireType::length_delimited)) {
        copy_field<Tag>(w, r);
        continue;
      }
      w.message(Tag::graph, [&](WireWriter& g) {
        if (parts == 0) write_begin(g, scope);
        copy_graph(g, r.bytes());
        if (++parts == model.graphs.size()) write_probes(g, scope);
      });
    }
    if (model.imports_probes) return;
    w.message(Tag::opset_import, [](WireWriter& id) {
      id.field(tags::OperatorSetId::domain, probe_domain);
      id.field(tags::OperatorSetId::version, std::int64_t{1});
    });
  }
  // Its input is of no use but that a node without any would be taken for a constant.
  void write_begin(WireWriter& graph, const Scope& scope) const {
    const std::string_view input[] = {begin_input_};
    const std::span<const std::string_view> inputs(input);
    write_node(graph, "Begin", scope.run(), begin_input_.empty() ? inputs.first(0) : inputs, scope.run(),
               [&](WireWriter& w) { write_attribute(w, model_attribute, encoded(description_)); });
  }

  static constexpr int deepest = 16;
  Description description_;
  Rewritten rewritten_;
  std::string_view begin_input_;
  bool is_damaged_ = false;  // a graph in a node
};

/// A model with probes. `name` is what its graph is called on record.
inline Instrumented add_probes(Bytes model, std::string name) {
  return Instrumenter(std::move(name)).add_probes(model);
}

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
