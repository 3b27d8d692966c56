// Part of judge.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::query {

NANLENS_API Judge::Judge(reader::Run& run, const Rule& rule, Surroundings& around)
    : run_(run), rule_(rule), matcher_(run, around, Unrecorded::is_unknown) {
  Query selection = rule.conditions.rows;
  Node& root = selection.root;
  if (root.asks_number()) {
    numbers_.children.push_back(std::exchange(root, Node{}));
  } else if (root.kind == Node::Kind::all) {
    const auto first =
        std::find_if(root.children.begin(), root.children.end(), [](const Node& child) { return child.asks_number(); });
    numbers_.children.assign(first, root.children.end());
    root.children.erase(first, root.children.end());
  }
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

NANLENS_API void Judge::look_at(EventRef row) {
  const Truth selected = matcher_.truth(row);
  if (selected == Truth::no) return;
  Truth holds = matcher_.also(numbers_);
  State& state = states_[key_of(row)];
  const Truth changed = ask_changes(state);  // in any case: the next call is compared with this one
  for (const Truth other : {selected, changed})
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
    if (!number) {
      matcher_.note_missing(change.field);
      if (all == Truth::yes) all = Truth::unknown;
      continue;
    }
    auto& before = state.before[i];
    bool holds = false;
    const double now = std::fabs(*number);
    for (std::size_t k = before.size(); k-- > 0 && !holds;) {
      const double then = std::fabs(before[k]);
      holds = then > 0 && (change.shrinks ? now * change.factor <= then : now >= then * change.factor);
      if (holds) changes_.push_back({change.field, before[k], *number, static_cast<std::uint32_t>(before.size() - k)});
    }
    if (!holds) all = Truth::no;
    if (!std::isnan(*number)) before.push_back(*number);
    if (before.size() > change.calls) before.pop_front();
  }
  return all;
}

NANLENS_API void Judge::note_missing() {
  for (const auto& name : detail::number_names) {
    auto& list = judgement_.missing;
    if (matcher_.is_missing(name.word) && std::find(list.begin(), list.end(), name.word) == list.end())
      list.push_back(name.word);
  }
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
  const double count = judgement_.hits.empty() ? 0 : static_cast<double>(judgement_.hits.front().count);
  const bool holds = compare(count, total.comparison, total.value) && !judgement_.could_not_be_judged();
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
