/// @file
/// How a rule judges the calls of an op, one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/seen.hpp>
#include <nanlens/query/truth.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

template <class Is>
bool any_within(const Node& node, const Is& is) {
  return is(node) || std::any_of(node.children.begin(), node.children.end(),
                                 [&](const Node& child) { return any_within(child, is); });
}

// Of a tensor: known if it is on record.
inline bool is_number(const Node& n) {
  const bool of_tensor = n.asks_number() && needed_for(n.number_field) != Needed::nothing;
  return of_tensor || (n.kind == Node::Kind::flag && n.flag == Flag::constant);
}

inline bool is_value(const Node& n) {
  return n.kind == Node::Kind::flag ? is_of_values(n.flag)
                                    : n.kind == Node::Kind::text && n.text_field == TextField::event_class;
}

// Is it asked of a call, rather than of an op?
inline bool is_of_call(const Node& n) {
  return n.kind == Node::Kind::flag || n.asks_number() || (n.kind == Node::Kind::text && !decided_by_op(n.text_field));
}

// The condition with all that depends on what is in a tensor left open.
inline Node without_values(const Node& node) {
  Node rest = node;
  if (is_number(node) || is_value(node)) rest.kind = Node::Kind::open;
  for (Node& child : rest.children) child = without_values(child);
  return rest;
}

}  // namespace detail

/// What a rule says of a row by itself, without its op's calls before it.
struct OfRow {
  enum class About : std::uint8_t {
    no,            ///< it is about other ops
    other_values,  ///< it is about tensors that hold something else, such as a NaN
    yes
  } about = About::no;
  Truth holds = Truth::no;
};

/// The conditions of a rule, apart by what they ask: a rule is about the rows that pass all of its conditions but those
/// that ask numbers.
class ConditionsApart {
 public:
  explicit ConditionsApart(const Conditions& of) {
    selection_ = of.rows;
    std::vector<Node> conditions;
    if (selection_.root.kind == Node::Kind::all)
      conditions = std::move(selection_.root.children);
    else
      conditions.push_back(std::move(selection_.root));
    selection_.root = Node{};
    for (Node& condition : conditions) {
      const bool asks_numbers = condition.asks_number() || detail::any_within(condition, detail::is_number);
      if (asks_numbers && !condition.asks_number()) about_.children.push_back(detail::without_values(condition));
      Node& part = asks_numbers                                      ? numbers_
                   : detail::any_within(condition, detail::is_value) ? values_
                                                                     : selection_.root;
      part.children.push_back(std::move(condition));
    }
    calls_differ_ =
        detail::any_within(selection_.root, detail::is_of_call) || detail::any_within(about_, detail::is_of_call);
  }

  /// What selects rows.
  [[nodiscard]] const Query& selection() const noexcept { return selection_; }
  /// Can one op's calls differ in what selects them?
  [[nodiscard]] bool calls_differ() const noexcept { return calls_differ_; }

  /// Asks all of a row: `ask` answers a condition.
  template <class Ask>
  OfRow of_row(const Ask& ask) const {
    return of_row(ask, ask(selection_.root));
  }
  /// The same where it is known whether the row is selected.
  template <class Ask>
  OfRow of_row(const Ask& ask, Truth selected) const {
    if (selected == Truth::no || ask(about_) == Truth::no) return {};
    const Truth valued = ask(values_);
    if (valued == Truth::no) return {OfRow::About::other_values, Truth::no};
    return {OfRow::About::yes, both(both(ask(numbers_), selected), valued)};
  }

 private:
  Query selection_;
  Node values_;   // on what is in a tensor, numbers aside
  Node numbers_;  // those that ask numbers
  Node about_;    // what the latter ask besides: "no" says that they are not about a row
  bool calls_differ_ = false;
};

/// The calls so far of one output of one op in one process.
class Calls {
 public:
  /// Compares a call with those before it, which it is one of from then on. `note` is told the names of what is not on
  /// record.
  template <class Note>
  Truth compare(const std::vector<Change>& asked, const TensorFacts* facts, std::vector<ChangeSeen>& seen,
                const Note& note) {
    seen.clear();
    before_.resize(asked.size());
    Truth all = Truth::yes;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto number = facts != nullptr ? number_of(*facts, asked[i].field) : std::nullopt;
      if (!number) note(name_of(asked[i].field));
      const bool holds = compare_one(asked[i], number, before_[i], seen);
      all = both(all, number ? truth_of(holds) : Truth::unknown);
    }
    return all;
  }
  /// Counts a call: has the rule held for as many as it asks, one after the other?
  bool count(Truth holds, std::uint32_t asked) noexcept {
    streak_ = holds == Truth::yes ? streak_ + 1 : 0;
    return streak_ >= asked;
  }

  /// For how many calls it has held by now.
  [[nodiscard]] std::uint32_t streak() const noexcept { return streak_; }

 private:
  // A call without the number is one of those that are counted; none is compared with it.
  static bool compare_one(const Change& change, std::optional<double> number, std::deque<double>& before,
                          std::vector<ChangeSeen>& seen) {
    const double value = number.value_or(std::numeric_limits<double>::quiet_NaN());
    const double now = std::fabs(value);
    bool holds = false;
    for (std::size_t k = before.size(); k-- > 0 && !holds;) {
      const double then = std::fabs(before[k]);
      holds = then > 0 && (change.shrinks ? now * change.factor <= then : now >= then * change.factor);
      if (holds) seen.push_back({change.field, before[k], value, static_cast<std::uint32_t>(before.size() - k)});
    }
    before.push_back(value);
    if (before.size() > change.calls) before.pop_front();
    return holds;
  }

  std::vector<std::deque<double>> before_;  // by change: what the last calls had
  std::uint32_t streak_ = 0;
};

}  // namespace nanlens::inline NANLENS_ABI::query
