/// @file
/// Conditions on one output of one op, answered from what is known of it alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/query/match.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/truth.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Whose output it is.
struct OpTexts {
  std::string_view name;  ///< of an op without one: its type
  std::string_view type;
  std::string_view graph;  ///< of an eager op: none
  bool in_graph = false;
};

namespace detail {

inline bool compare(double value, const Node& node, double low, double high) {
  if (node.kind == Node::Kind::range) return value >= low && value <= high;
  return query::compare(value, node.comparison, low);
}

// "Split" or "Split:1".
inline bool matches_name(const Match& match, std::string_view name, std::int32_t slot) {
  return match(name) || (match.may_need_slot() && match(std::string(name) + ":" + std::to_string(slot)));
}

// A condition on an op's name, type or graph, of one of its outputs.
inline bool matches_op(const Node& node, const OpTexts& op, std::int32_t slot) {
  const Match& match = *node.match;
  switch (node.text_field) {
    case TextField::op: return matches_name(match, op.name, slot);
    case TextField::type: return match(op.type);
    case TextField::graph: return op.in_graph && match(op.graph);
    default: return matches_name(match, op.name, slot) || match(op.type) || (op.in_graph && match(op.graph));
  }
}

inline std::string dtype_text(DType dtype) {
  std::string name(dtype_name(dtype));
  return dtype_from_name(name) == dtype ? name : "dtype " + std::to_string(static_cast<std::int32_t>(dtype));
}

// Of a dtype that is not on record: what holds of every one that it can be.
template <class CanBe>
Truth of_all_dtypes(const Match& match, const CanBe& can_be) {
  std::optional<bool> all;
  for (std::int32_t i = 1; i < nanlens::detail::num_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype_from_name(dtype_name(dtype)) != dtype || !can_be(dtype)) continue;
    const bool one = match(dtype_name(dtype));
    if (all.value_or(one) != one) return Truth::unknown;
    all = one;
  }
  return !all ? Truth::unknown : truth_of(*all);
}

// Modes that do not tell the dtype may tell of floating ones alone.
inline Truth ask_dtype(const Match& match, TensorDebugMode mode, const logdir::TensorHealth& health) {
  if (health.dtype != DType::invalid) return truth_of(match(dtype_text(health.dtype)));
  const bool is_told = tells(mode, Told::health) && mode != TensorDebugMode::full_tensor;
  const bool floating = (health.flags & logdir::has_summary_flag) != 0;
  return of_all_dtypes(match, [&](DType can_be) { return !is_told || is_floating(can_be) == floating; });
}

// Is it a tensor that can have a NaN, of which the record does not tell whether it has?
inline bool lacks_health(TensorDebugMode mode, const logdir::TensorHealth& health) {
  if ((health.flags & logdir::has_summary_flag) != 0 || health.num_nan >= 0) return false;
  // Modes that tell health leave out what can have none.
  if (mode != TensorDebugMode::full_tensor && tells(mode, Told::health)) return false;
  return health.dtype == DType::invalid || is_floating(health.dtype);
}

// A condition on a number of the tensor; nothing if the number is not on record.
inline std::optional<bool> ask_number(const Node& node, const TensorFacts& facts) {
  const auto number = number_of(facts, node.number_field);
  if (!number) return std::nullopt;
  if (!node.percent) return !std::isnan(*number) && compare(*number, node, node.low, node.high);
  const auto size = number_of(facts, NumberField::size);
  if (!size) return std::nullopt;
  const bool has_shares = *size > 0 && !std::isnan(*number);
  return has_shares && compare(*number, node, share_of(node.low, *size), share_of(node.high, *size));
}

}  // namespace detail

}  // namespace nanlens::inline NANLENS_ABI::query
