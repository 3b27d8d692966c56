/// @file
/// Gradients of inverse functions, which TensorFlow calculates by ops of other types.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include <nanlens/causes/graph_facts.hpp>

namespace nanlens::causes {

namespace detail {

// The op that made an input, if it is of this type; none if not.
inline std::uint32_t maker_of(GraphFacts& graphs, std::uint32_t op, std::size_t input, std::string_view type) {
  const auto& inputs = graphs.op(op).inputs;
  const std::uint32_t maker = input < inputs.size() ? inputs[input].op : none;
  return maker != none && graphs.op_type(maker) == type ? maker : none;
}

// The op of sqrt(1 − x²) behind a reciprocal that squares x; none if it is no such.
inline std::uint32_t square_behind(GraphFacts& graphs, std::uint32_t reciprocal) {
  std::uint32_t at = graphs.op_type(reciprocal) == "Reciprocal" ? reciprocal : none;
  constexpr std::pair<std::size_t, std::string_view> way[] = {{0, "Sqrt"}, {0, "Sub"}, {1, "Square"}};
  for (const auto& [input, type] : way)
    if (at != none) at = maker_of(graphs, at, input, type);
  return at;
}

}  // namespace detail

/// TensorFlow calculates the gradient of Acos(x) and Asin(x) as 1 / sqrt(1 − x²), and that of Acosh(x) by a division by
/// sinh(Acosh(x)): the op whose gradient an op is by that; none if it has no such form.
// Source: _AsinGrad, _AcosGrad and _AcoshGrad in its math_grad.py.
inline std::uint32_t inverse_function_of(GraphFacts& graphs, std::uint32_t gradient) {
  if (graphs.op_type(gradient) == "RealDiv") {
    const std::uint32_t sinh = detail::maker_of(graphs, gradient, 1, "Sinh");
    return sinh == none ? none : detail::maker_of(graphs, sinh, 0, "Acosh");
  }
  const std::uint32_t square = detail::square_behind(graphs, gradient);
  if (square == none || graphs.op(square).inputs.empty()) return none;
  const InputEdge x = graphs.op(square).inputs.front();
  if (x.op == none) return none;
  const auto& users = graphs.op(x.op).consumers;
  constexpr std::size_t few = 64;
  for (std::size_t i = 0; i < std::min(users.size(), few); ++i) {
    const std::string_view type = graphs.op_type(users[i].op);
    if (users[i].output_slot == x.slot && (type == "Acos" || type == "Asin")) return users[i].op;
  }
  return none;
}

}  // namespace nanlens::causes
