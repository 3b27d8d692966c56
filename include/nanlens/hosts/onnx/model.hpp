/// @file
/// What an ONNX model's bytes say of its graph. Nothing is copied: texts and bytes are those of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/model_tags.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

using logdir::Bytes;
using logdir::WireReader;
using logdir::WireType;

/// What a value is, as far as the model says so.
enum class ValueKind : std::uint8_t { unknown, tensor, other };

struct NamedValue {
  std::string_view name;
  ValueKind kind = ValueKind::unknown;
};

/// A graph in a node's attribute: a branch, the body of a loop.
struct Subgraph {
  std::string_view attribute;
  Bytes graph;
};

struct Node {
  Bytes bytes;  ///< all of it
  std::string_view type;
  std::string_view domain;
  std::string_view name;
  std::vector<std::string_view> inputs;  ///< an empty one is left out
  std::vector<std::string_view> outputs;
  std::vector<Subgraph> subgraphs;
  std::int64_t num_scan_inputs = 0;

  /// Its name; that of its first output where it has none.
  [[nodiscard]] std::string_view own_name() const noexcept {
    if (!name.empty()) return name;
    for (const std::string_view output : outputs)
      if (!output.empty()) return output;
    return type;
  }
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<NamedValue> inputs;
  std::vector<NamedValue> outputs;
  std::vector<NamedValue> values;
  std::vector<std::string_view> initializers;
};

struct Model {
  std::vector<Bytes> graphs;  ///< parts of one graph, where there are several
  std::int64_t ir_version = 0;
  bool imports_probes = false;  ///< their ops are declared, which is not to say that there are any
};

namespace detail {

/// Calls take(reader) for each field of a message; false if its bytes are no message.
template <class Take>
bool each_field(Bytes message, const Take& take) {
  WireReader reader(message);
  while (reader.next()) take(reader);
  return !reader.failed();
}

inline bool is_bytes(const WireReader& r, logdir::FieldNumber number) noexcept {
  return r.is(number, WireType::length_delimited);
}

inline bool read_value(Bytes message, NamedValue& value) {
  using Tag = tags::ValueInfoProto;
  return each_field(message, [&](const WireReader& r) {
    if (is_bytes(r, Tag::name)) value.name = r.text();
    if (!is_bytes(r, Tag::type)) return;
    each_field(r.bytes(), [&](const WireReader& type) {
      using Type = tags::TypeProto;
      if (type.is(Type::tensor)) value.kind = ValueKind::tensor;
      for (const Type other : {Type::sequence, Type::map, Type::sparse_tensor, Type::optional})
        if (type.is(other)) value.kind = ValueKind::other;
    });
  });
}

inline bool read_attribute(Bytes message, Node& node) {
  using Tag = tags::AttributeProto;
  std::string_view name;
  std::int64_t number = 0;
  std::vector<Bytes> graphs;
  const bool is_read = each_field(message, [&](const WireReader& r) {
    if (is_bytes(r, Tag::name)) name = r.text();
    if (r.is(Tag::i, WireType::varint)) number = r.i64();
    if (is_bytes(r, Tag::g)) graphs.push_back(r.bytes());
  });
  if (name == "num_scan_inputs") node.num_scan_inputs = number;
  if (graphs.size() == 1) node.subgraphs.push_back({name, graphs.front()});
  return is_read;
}

}  // namespace detail

/// False if the bytes are no node.
inline bool read_node(Bytes message, Node& node) {
  using Tag = tags::NodeProto;
  node.bytes = message;
  bool is_read = true;
  return detail::each_field(message,
                            [&](const WireReader& r) {
                              if (detail::is_bytes(r, Tag::input)) node.inputs.push_back(r.text());
                              if (detail::is_bytes(r, Tag::output)) node.outputs.push_back(r.text());
                              if (detail::is_bytes(r, Tag::name)) node.name = r.text();
                              if (detail::is_bytes(r, Tag::op_type)) node.type = r.text();
                              if (detail::is_bytes(r, Tag::domain)) node.domain = r.text();
                              if (detail::is_bytes(r, Tag::attribute))
                                is_read = detail::read_attribute(r.bytes(), node) && is_read;
                            }) &&
         is_read;
}

/// Adds what a graph's bytes say to what is known of it. False if they are no graph.
inline bool read_graph(Bytes message, Graph& graph) {
  using Tag = tags::GraphProto;
  bool is_read = true;
  const auto add_value = [&](const WireReader& r, std::vector<NamedValue>& to) {
    is_read = detail::read_value(r.bytes(), to.emplace_back()) && is_read;
  };
  const auto add_initializer = [&](const WireReader& r) {
    is_read = detail::each_field(r.bytes(),
                                 [&](const WireReader& tensor) {
                                   if (detail::is_bytes(tensor, tags::TensorProto::name))
                                     graph.initializers.push_back(tensor.text());
                                 }) &&
              is_read;
  };
  return detail::each_field(message,
                            [&](const WireReader& r) {
                              if (r.type() != WireType::length_delimited) return;
                              switch (r.tag<Tag>()) {
                                case Tag::name: graph.name = r.text(); return;
                                case Tag::node:
                                  is_read = read_node(r.bytes(), graph.nodes.emplace_back()) && is_read;
                                  return;
                                case Tag::input: return add_value(r, graph.inputs);
                                case Tag::output: return add_value(r, graph.outputs);
                                case Tag::value_info: return add_value(r, graph.values);
                                case Tag::initializer: return add_initializer(r);
                              }
                            }) &&
         is_read;
}

/// The domain of what nanlens puts into a model.
inline constexpr std::string_view probe_domain = "nanlens";

/// False if the bytes are no model.
inline bool read_model(Bytes bytes, Model& model) {
  using Tag = tags::ModelProto;
  return detail::each_field(bytes, [&](const WireReader& r) {
    if (r.is(Tag::ir_version, WireType::varint)) model.ir_version = r.i64();
    if (detail::is_bytes(r, Tag::graph)) model.graphs.push_back(r.bytes());
    if (!detail::is_bytes(r, Tag::opset_import)) return;
    detail::each_field(r.bytes(), [&](const WireReader& id) {
      if (detail::is_bytes(id, tags::OperatorSetId::domain) && id.text() == probe_domain) model.imports_probes = true;
    });
  });
}

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
