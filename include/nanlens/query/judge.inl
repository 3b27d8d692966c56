// Part of judge.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::query {

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

NANLENS_API Judge::Judge(reader::Run& run, const Rule& rule, Surroundings& around)
    : run_(run), rule_(rule), matcher_(run, around, Unrecorded::is_unknown) {
  Query selection = rule.conditions.rows;
  std::vector<Node> conditions;
  if (selection.root.kind == Node::Kind::all)
    conditions = std::move(selection.root.children);
  else
    conditions.push_back(std::move(selection.root));
  selection.root = Node{};
  for (Node& condition : conditions) {
    const bool asks_numbers = condition.asks_number() || detail::any_within(condition, detail::is_number);
    if (asks_numbers && !condition.asks_number()) about_.children.push_back(detail::without_values(condition));
    Node& part = asks_numbers ? numbers_ : detail::any_within(condition, detail::is_value) ? values_ : selection.root;
    part.children.push_back(std::move(condition));
  }
  calls_differ_ =
      detail::any_within(selection.root, detail::is_of_call) || detail::any_within(about_, detail::is_of_call);
  matcher_.set(selection);
}

NANLENS_API Judgement Judge::judge() {
  for (std::size_t i = 0; i < run_.num_traces(); ++i) look_at(causes::trace_event(static_cast<std::uint32_t>(i)));
  const bool with_calls = rule_.conditions.rows.uses_calls;
  for (std::size_t i = 0; i < run_.num_executions(); ++i) {
    const bool is_call = (run_.execution_flags(i) & reader::function_flag) != 0;
    if (is_call && run_.num_traces() > 0 && !with_calls) continue;
    const auto index = static_cast<std::uint32_t>(i);
    matcher_.begin(causes::execution_event(index, 0));
    const auto& execution = matcher_.execution();
    const std::size_t outputs = execution ? execution->event.tensor_protos.size() : 0;
    for (std::size_t slot = 0; slot < outputs; ++slot) look_at(causes::execution_event(index, slot));
  }
  if (rule_.conditions.total) add_total();
  return std::move(judgement_);
}

// A call of which it does not hold ends the streak of its op, and the next ones are compared with it. `remember`: also
// if it is the op's first.
NANLENS_API void Judge::pass_by(EventRef row, bool remember) {
  if (rule_.conditions.calls == 1 && rule_.conditions.changes.empty()) return;
  const Key key = key_of(row);
  const auto state = remember ? states_.try_emplace(key).first : states_.find(key);
  if (state == states_.end()) return;
  state->second.streak = 0;
  ask_changes(state->second);
}

NANLENS_API void Judge::look_at(EventRef row) {
  const Truth selected = matcher_.truth(row);
  if (selected == Truth::no || matcher_.also(about_) == Truth::no) {
    if (calls_differ_) pass_by(row, false);
    return;
  }
  ++judgement_.seen;
  const Truth valued = matcher_.also(values_);
  if (valued == Truth::no) {
    pass_by(row, true);
    return;
  }
  State& state = states_[key_of(row)];
  Truth holds = matcher_.also(numbers_);
  const Truth changed = ask_changes(state);  // in any case: the next call is compared with this one
  for (const Truth other : {selected, valued, changed})
    if (other == Truth::no || (other == Truth::unknown && holds == Truth::yes)) holds = other;
  if (holds == Truth::unknown) {
    ++judgement_.unjudged;
    note_missing();
  } else {
    ++judgement_.rows;
  }
  state.streak = holds == Truth::yes ? state.streak + 1 : 0;
  if (state.streak >= rule_.conditions.calls) add_hit(state, row);
}

NANLENS_API Judge::Key Judge::key_of(EventRef row) {
  if (!row.is_execution) {
    const RowRecord* const record =
        run_.definitions().ops()[run_.trace_op(row.index)].num_outputs == 1 ? nullptr : matcher_.record();
    return {false, run_.trace_op(row.index), record != nullptr ? record->slot : 0, run_.set_of_trace(row.index)};
  }
  std::string name;
  if (const auto& execution = matcher_.execution()) {
    name = execution->event.op_type + '\n' + execution->extension.op_name;
    if (execution->event.code_location)
      for (const std::string& frame : execution->event.code_location->stack_frame_ids) name += '\n' + frame;
  }
  const auto number = static_cast<std::uint32_t>(eager_ops_.size());
  const std::uint32_t op = eager_ops_.try_emplace(std::move(name), number).first->second;
  return {true, op, row.slot, run_.set_of_execution(row.index)};
}

NANLENS_API Truth Judge::ask_changes(State& state) {
  const auto& asked = rule_.conditions.changes;
  changes_.clear();
  state.before.resize(asked.size());
  Truth all = Truth::yes;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Change& change = asked[i];
    const RowRecord* const record = matcher_.record();
    const auto number = record != nullptr ? number_of(record->facts, change.field) : std::nullopt;
    auto& before = state.before[i];
    bool holds = false;
    // A call without the number is one of those that are counted; none is compared with it.
    const double value = number.value_or(std::numeric_limits<double>::quiet_NaN());
    const double now = std::fabs(value);
    for (std::size_t k = before.size(); k-- > 0 && !holds;) {
      const double then = std::fabs(before[k]);
      holds = then > 0 && (change.shrinks ? now * change.factor <= then : now >= then * change.factor);
      if (holds) changes_.push_back({change.field, before[k], value, static_cast<std::uint32_t>(before.size() - k)});
    }
    if (!number) {
      matcher_.note_missing(name_of(change.field));
      if (all == Truth::yes) all = Truth::unknown;
    } else if (!holds) {
      all = Truth::no;
    }
    before.push_back(value);
    if (before.size() > change.calls) before.pop_front();
  }
  return all;
}

NANLENS_API void Judge::note_missing() {
  auto& list = judgement_.missing;
  for (const std::string_view name : matcher_.missing())
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

NANLENS_API void Judge::add_hit(State& state, EventRef row) {
  // A total has one list of rows for the whole run.
  if (rule_.conditions.total && !judgement_.hits.empty()) state.hit = 1;
  if (state.hit == 0) {
    judgement_.hits.push_back(describe(row));
    state.hit = judgement_.hits.size();
  }
  ++judgement_.hits[state.hit - 1].count;
}

NANLENS_API void Judge::add_total() {
  const Total& total = *rule_.conditions.total;
  const double least = judgement_.hits.empty() ? 0 : static_cast<double>(judgement_.hits.front().count);
  // Each row that could not be judged may be one more, and complete a streak of those behind it.
  const double most = least + static_cast<double>(judgement_.unjudged) * static_cast<double>(rule_.conditions.calls);
  const bool at_least = compare(least, total.comparison, total.value);
  const bool at_most = compare(most, total.comparison, total.value);
  const bool is_within = total.value > least && total.value < most;
  const bool asks_one = total.comparison == Comparison::equal || total.comparison == Comparison::not_equal;
  judgement_.is_open = at_least != at_most || (asks_one && is_within);
  const bool holds = at_least && !judgement_.is_open;
  if (!holds) judgement_.hits.clear();
  if (holds && judgement_.hits.empty()) judgement_.hits.emplace_back();
}

NANLENS_API Hit Judge::describe(EventRef row) {
  Hit hit;
  hit.row = row;
  if (const RowRecord* const record = matcher_.record()) {
    hit.op_type = record->op_type;
    hit.tensor = record->op_name + ":" + std::to_string(record->slot);
    if (!row.is_execution || record->op_name != record->op_type) hit.op_name = record->op_name;
  }
  collect_numbers(rule_.conditions.rows.root, hit.numbers);
  hit.changes = changes_;
  return hit;
}

NANLENS_API void Judge::collect_numbers(const Node& node, std::vector<NumberSeen>& numbers) {
  if (node.kind == Node::Kind::negation) return;
  for (const Node& child : node.children) collect_numbers(child, numbers);
  const RowRecord* const record = matcher_.record();
  if (!node.asks_number() || record == nullptr) return;
  const auto number = number_of(record->facts, node.number_field);
  const bool is_told = std::any_of(numbers.begin(), numbers.end(),
                                   [&](const NumberSeen& seen) { return seen.field == node.number_field; });
  if (!number || std::isnan(*number) || is_told) return;
  const auto size = number_of(record->facts, NumberField::size);
  numbers.push_back({node.number_field, *number, node.percent && size ? *size : -1});
}

}  // namespace nanlens::query
