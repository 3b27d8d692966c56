/// @file
/// What the recorder must know of a model with probes: it travels in an attribute of the node that begins a run, so
/// that the model needs no other file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

/// The number of a value that has a probe.
using ValueNumber = std::uint32_t;

/// Values of which an input of a node is the one that was made last: what a branch or an iteration gave.
using Alternatives = std::vector<ValueNumber>;

struct DescribedNode {
  std::string type;
  std::string name;
  std::uint32_t num_outputs = 1;
  std::vector<Alternatives> inputs;
};

struct DescribedValue {
  std::uint32_t node = 0;
  std::uint32_t slot = 0;
  bool is_constant = false;   ///< the same in every run
  bool is_outermost = false;  ///< made once in each run: in the graph that is in no other, and not constant
  bool is_gathered = false;   ///< those of all iterations count, not that of the last alone
};

/// Nodes and values of all graphs of a model, in one.
struct Description {
  std::string graph_name;
  std::vector<DescribedNode> nodes;
  std::vector<DescribedValue> values;
  std::size_t num_outermost = 0;  ///< of them
};

namespace detail::description_tags {

enum class Description : std::uint32_t { graph_name = 1, node = 2, value = 3 };
enum class Node : std::uint32_t { type = 1, name = 2, num_outputs = 3, input = 4 };
enum class Input : std::uint32_t { values = 1 };
enum class Value : std::uint32_t { node = 1, slot = 2, is_constant = 3, is_gathered = 4, is_outermost = 5 };

}  // namespace detail::description_tags

/// The bytes of a description.
inline std::string encoded(const Description& description) {
  namespace tag = detail::description_tags;
  std::string bytes;
  {
    logdir::WireWriter w(bytes);
    w.field(tag::Description::graph_name, std::string_view(description.graph_name));
    for (const DescribedNode& node : description.nodes)
      w.message(tag::Description::node, [&](logdir::WireWriter& n) {
        n.field(tag::Node::type, std::string_view(node.type));
        n.field(tag::Node::name, std::string_view(node.name));
        n.field(tag::Node::num_outputs, std::int64_t{node.num_outputs});
        for (const Alternatives& input : node.inputs)
          n.message(tag::Node::input,
                    [&](logdir::WireWriter& i) { i.packed(tag::Input::values, std::span<const ValueNumber>(input)); });
      });
    for (const DescribedValue& value : description.values)
      w.message(tag::Description::value, [&](logdir::WireWriter& v) {
        v.field(tag::Value::node, std::int64_t{value.node});
        v.field(tag::Value::slot, std::int64_t{value.slot});
        v.field(tag::Value::is_constant, std::int64_t{value.is_constant});
        v.field(tag::Value::is_gathered, std::int64_t{value.is_gathered});
        v.field(tag::Value::is_outermost, std::int64_t{value.is_outermost});
      });
  }
  return bytes;
}

namespace detail {

inline void decode_node(logdir::Bytes bytes, DescribedNode& node) {
  using Tag = description_tags::Node;
  for (logdir::WireReader r(bytes); r.next();) {
    if (r.is(Tag::type)) node.type = r.text();
    if (r.is(Tag::name)) node.name = r.text();
    if (r.is(Tag::num_outputs)) node.num_outputs = static_cast<std::uint32_t>(r.u64());
    if (!r.is(Tag::input)) continue;
    Alternatives& input = node.inputs.emplace_back();
    for (logdir::WireReader i(r.bytes()); i.next();)
      if (i.is(description_tags::Input::values)) i.append_to(input);
  }
}

inline void decode_value(logdir::Bytes bytes, DescribedValue& value) {
  using Tag = description_tags::Value;
  for (logdir::WireReader r(bytes); r.next();) {
    if (r.is(Tag::node)) value.node = static_cast<std::uint32_t>(r.u64());
    if (r.is(Tag::slot)) value.slot = static_cast<std::uint32_t>(r.u64());
    if (r.is(Tag::is_constant)) value.is_constant = r.u64() != 0;
    if (r.is(Tag::is_gathered)) value.is_gathered = r.u64() != 0;
    if (r.is(Tag::is_outermost)) value.is_outermost = r.u64() != 0;
  }
}

// Do all numbers name something that is there?
inline bool is_sound(const Description& d) {
  constexpr std::uint32_t most_outputs = 1 << 16;
  for (const DescribedValue& value : d.values)
    if (value.node >= d.nodes.size() || value.slot >= d.nodes[value.node].num_outputs) return false;
  const auto is_known = [&](ValueNumber value) { return value < d.values.size(); };
  return std::all_of(d.nodes.begin(), d.nodes.end(), [&](const DescribedNode& node) {
    return node.num_outputs <= most_outputs &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const Alternatives& input) { return std::all_of(input.begin(), input.end(), is_known); });
  });
}

}  // namespace detail

/// The description that bytes hold; false if they hold none.
inline bool decode(logdir::Bytes bytes, Description& description) {
  using Tag = detail::description_tags::Description;
  logdir::WireReader r(bytes);
  while (r.next()) {
    if (r.is(Tag::graph_name)) description.graph_name = r.text();
    if (r.is(Tag::node)) detail::decode_node(r.bytes(), description.nodes.emplace_back());
    if (r.is(Tag::value)) detail::decode_value(r.bytes(), description.values.emplace_back());
  }
  for (const DescribedValue& value : description.values) description.num_outermost += value.is_outermost ? 1 : 0;
  return !r.failed() && detail::is_sound(description);
}

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
