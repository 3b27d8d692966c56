/// @file
/// Answers to conditions, of which some may not be on record.
#pragma once

#include <cstdint>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/node.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// `unknown`: what would decide is not on record.
enum class Truth : std::uint8_t { no, yes, unknown };

constexpr Truth truth_of(bool holds) noexcept { return holds ? Truth::yes : Truth::no; }

/// Do both hold?
constexpr Truth both(Truth one, Truth other) noexcept {
  if (one == Truth::no || other == Truth::no) return Truth::no;
  return one == Truth::unknown ? one : other;
}

/// Asks a condition; `leaf` answers those that have no parts. What is decided is not asked further.
template <class Leaf>
Truth ask(const Node& node, const Leaf& leaf) {
  switch (node.kind) {
    case Node::Kind::all: {
      Truth all = Truth::yes;
      for (const Node& child : node.children)
        if (all = both(all, ask(child, leaf)); all == Truth::no) break;
      return all;
    }
    case Node::Kind::any: {
      Truth any = Truth::no;
      for (const Node& child : node.children) {
        const Truth one = ask(child, leaf);
        if (one == Truth::yes) return one;
        if (one == Truth::unknown) any = one;
      }
      return any;
    }
    case Node::Kind::negation: {
      const Truth inner = ask(node.children.front(), leaf);
      return inner == Truth::unknown ? inner : truth_of(inner == Truth::no);
    }
    case Node::Kind::open: return Truth::unknown;
    default: return leaf(node);
  }
}

}  // namespace nanlens::inline NANLENS_ABI::query
