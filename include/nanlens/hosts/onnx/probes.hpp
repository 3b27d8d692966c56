/// @file
/// The nodes that are added to a model, as bytes: `Begin`, which begins a run and knows the model; `Enter`, which
/// begins an iteration; and a `Probe` for each value, which makes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/description.hpp>
#include <nanlens/hosts/onnx/model.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

using logdir::WireWriter;

/// Writes a field of one message as another reader found it.
template <class Tag>
void copy_field(WireWriter& w, const WireReader& r) {
  const auto number = r.tag<Tag>();
  if (r.type() == WireType::length_delimited) return w.element(number, r.text());
  w.tag(number, r.type());
  if (r.type() == WireType::varint) w.varint(r.u64());
  if (r.type() == WireType::fixed64) w.fixed(r.u64());
  if (r.type() == WireType::fixed32) w.fixed(static_cast<std::uint32_t>(r.u64()));
}

/// @name Attributes of the nodes
///@{
inline constexpr std::string_view model_attribute = "model";
inline constexpr std::string_view value_attribute = "value";
inline constexpr std::string_view constant_attribute = "constant";
inline constexpr std::string_view begin_attribute = "begin";
inline constexpr std::string_view end_attribute = "end";
///@}

inline void write_attribute(WireWriter& node, std::string_view name, std::int64_t value) {
  using Tag = tags::AttributeProto;
  node.message(tags::NodeProto::attribute, [&](WireWriter& w) {
    w.field(Tag::name, name);
    w.field(Tag::i, value);
    w.field(Tag::type, static_cast<std::int64_t>(tags::AttributeType::integer));
  });
}
inline void write_attribute(WireWriter& node, std::string_view name, std::string_view value) {
  using Tag = tags::AttributeProto;
  node.message(tags::NodeProto::attribute, [&](WireWriter& w) {
    w.field(Tag::name, name);
    w.element(Tag::s, value);
    w.field(Tag::type, static_cast<std::int64_t>(tags::AttributeType::string));
  });
}

/// Writes a node of nanlens' own into a graph; `attributes(WireWriter&)` writes its attributes. No output: an empty
/// one.
template <class Attributes>
void write_node(WireWriter& graph, std::string_view type, std::string_view name,
                std::span<const std::string_view> inputs, std::string_view output, const Attributes& attributes) {
  using Tag = tags::NodeProto;
  graph.message(tags::GraphProto::node, [&](WireWriter& w) {
    for (const std::string_view input : inputs) w.element(Tag::input, input);
    w.field(Tag::output, output);
    w.field(Tag::name, name);
    w.field(Tag::op_type, type);
    attributes(w);
    w.field(Tag::domain, probe_domain);
  });
}

/// Writes a probe: `run` is the value that tells which run it is.
inline void write_probe(WireWriter& graph, std::string_view run, std::string_view value, ValueNumber number,
                        bool is_constant) {
  const std::string_view inputs[] = {run, value};
  write_node(graph, "Probe", "nanlens/probe_" + std::to_string(number), inputs, {}, [&](WireWriter& w) {
    write_attribute(w, value_attribute, std::int64_t{number});
    if (is_constant) write_attribute(w, constant_attribute, std::int64_t{1});
  });
}

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
