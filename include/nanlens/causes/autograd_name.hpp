/// @file
/// PyTorch names a node of its backward pass after the op whose gradient it is.
#pragma once

#include <string>
#include <string_view>

#include <nanlens/causes/op_code.hpp>

namespace nanlens::causes {

/// Is an op of the node "Log10Backward0", or "Log10Backward0 of net.head", part of the gradient of "aten::log10"?
inline bool is_node_of(std::string_view node, std::string_view forward_type) {
  constexpr std::string_view aten = "aten::";
  constexpr std::string_view backward = "Backward";
  const std::size_t end = node.find(backward);
  if (end == std::string_view::npos || !forward_type.starts_with(aten)) return false;
  const std::size_t behind = node.find_first_not_of("0123456789", end + backward.size());
  if (behind != std::string_view::npos && node[behind] != ' ') return false;
  constexpr std::string_view forward = "forward";
  std::string op = detail::plain_name(forward_type.substr(aten.size()));
  if (op.size() > forward.size() && op.ends_with(forward)) op.resize(op.size() - forward.size());
  return detail::plain_name(node.substr(0, end)) == op;
}

}  // namespace nanlens::causes
