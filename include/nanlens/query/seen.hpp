/// @file
/// What a rule saw where it holds, in numbers and in words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// A number of a row that a rule asks for.
struct NumberSeen {
  NumberField field = NumberField::nan;
  double value = 0;
  double size = -1;  ///< of the tensor, where the number is compared with it
};

/// How a number has changed.
struct ChangeSeen {
  NumberField field = NumberField::norm;
  double from = 0;
  double to = 0;
  std::uint32_t calls = 1;  ///< so many calls ago
};

namespace detail {

inline void collect_numbers(const Node& node, const TensorFacts& facts, std::vector<NumberSeen>& numbers) {
  if (node.kind == Node::Kind::negation) return;
  for (const Node& child : node.children) collect_numbers(child, facts, numbers);
  if (!node.asks_number()) return;
  const auto number = number_of(facts, node.number_field);
  const bool is_told = std::any_of(numbers.begin(), numbers.end(),
                                   [&](const NumberSeen& seen) { return seen.field == node.number_field; });
  if (!number || std::isnan(*number) || is_told) return;
  const auto size = number_of(facts, NumberField::size);
  numbers.push_back({node.number_field, *number, node.percent && size ? *size : -1});
}

inline std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

inline std::string words_of(const NumberSeen& seen) {
  const std::string name(name_of(seen.field));
  if (seen.size <= 0) return name + " is " + short_number(seen.value);
  char percent[40];
  std::snprintf(percent, sizeof percent, "%.4g%%", 100 * seen.value / seen.size);
  return name + " is " + percent + " of " + short_number(seen.size);
}

inline std::string words_of(const ChangeSeen& change) {
  return std::string(name_of(change.field)) + " went from " + short_number(change.from) + " to " +
         short_number(change.to) + " in " + std::to_string(change.calls) + (change.calls == 1 ? " call" : " calls");
}

// "zero is 97% of 400, for 5 calls"; empty if there is nothing to tell.
inline std::string words_of(const std::vector<NumberSeen>& numbers, const std::vector<ChangeSeen>& changes,
                            std::uint32_t calls) {
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  for (const NumberSeen& seen : numbers) add(words_of(seen));
  for (const ChangeSeen& change : changes) add(words_of(change));
  if (calls > 1) add("for " + std::to_string(calls) + " calls");
  return facts;
}

}  // namespace detail

}  // namespace nanlens::inline NANLENS_ABI::query
