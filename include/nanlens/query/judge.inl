// Part of judge.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::inline NANLENS_ABI::query {

NANLENS_API Judge::Judge(reader::Run& run, const Rule& rule, Surroundings& around, Kept kept)
    : run_(run),
      rule_(rule),
      matcher_(run, around, Unrecorded::is_unknown),
      conditions_(rule.conditions),
      remembers_(rule.conditions.calls > 1 || !rule.conditions.changes.empty()),
      kept_(kept) {
  matcher_.set(conditions_.selection());
}

NANLENS_API Judgement Judge::judge() {
  constexpr std::size_t slice = 65536;
  while (!advance(slice)) {
  }
  add_total(judgement_);
  return std::move(judgement_);
}

NANLENS_API bool Judge::advance(std::size_t rows) {
  constexpr std::size_t most_effort = 1 << 16;
  matcher_.reset_effort();
  const auto goes_on = [&] { return rows > 0 && matcher_.effort() < most_effort; };
  for (; next_trace_ < run_.num_traces() && goes_on(); ++next_trace_, --rows)
    look_at(causes::trace_event(static_cast<std::uint32_t>(next_trace_)));
  for (; next_trace_ == run_.num_traces() && next_execution_ < run_.num_executions() && goes_on(); --rows)
    look_at_execution(next_execution_++);
  return next_trace_ == run_.num_traces() && next_execution_ == run_.num_executions();
}

NANLENS_API void Judge::look_at_execution(std::size_t index) {
  const bool is_call = (run_.execution_flags(index) & reader::function_flag) != 0;
  if (is_call && run_.num_traces() > 0 && !rule_.conditions.rows.uses_calls) return;
  const auto number = static_cast<std::uint32_t>(index);
  matcher_.begin(causes::execution_event(number, 0));
  const auto& execution = matcher_.execution();
  const std::size_t outputs = execution ? execution->event.tensor_protos.size() : 0;
  for (std::size_t slot = 0; slot < outputs; ++slot) look_at(causes::execution_event(number, slot));
}

NANLENS_API Judgement Judge::judgement() const {
  Judgement judgement = judgement_;
  add_total(judgement);
  return judgement;
}

NANLENS_API std::size_t Judge::memory_bytes() const noexcept {
  constexpr std::size_t of_state = 128;   // a node of the map
  constexpr std::size_t of_change = 600;  // a deque
  return states_.size() * (of_state + rule_.conditions.changes.size() * of_change) +
         judgement_.hits.size() * sizeof(Hit) + judgement_.hit_rows.size() * sizeof(HitRow);
}

// A call of which it does not hold ends the streak of its op, and the next ones are compared with it. `remember`: also
// if it is the op's first.
NANLENS_API void Judge::pass_by(EventRef row, bool remember) {
  if (!remembers_) return;
  const Key key = key_of(row);
  const auto state = remember ? states_.try_emplace(key).first : states_.find(key);
  if (state == states_.end()) return;
  state->second.calls.count(Truth::no, rule_.conditions.calls);
  ask_changes(state->second);
}

NANLENS_API void Judge::look_at(EventRef row) {
  matcher_.begin(row);
  const OfRow of_row = conditions_.of_row([&](const Node& node) { return matcher_.also(node); });
  if (of_row.about == OfRow::About::no) {
    if (conditions_.calls_differ()) pass_by(row, false);
    return;
  }
  ++judgement_.seen;
  if (of_row.about == OfRow::About::other_values) {
    pass_by(row, true);
    return;
  }
  State* const state = remembers_ ? &states_[key_of(row)] : nullptr;
  // In any case: the next call is compared with this one.
  const Truth holds = state != nullptr ? both(of_row.holds, ask_changes(*state)) : of_row.holds;
  if (holds == Truth::unknown) {
    ++judgement_.unjudged;
    note_missing();
  } else {
    ++judgement_.rows;
  }
  if (state != nullptr) {
    if (state->calls.count(holds, rule_.conditions.calls)) add_hit(*state, row);
  } else if (holds == Truth::yes) {
    add_hit(states_[key_of(row)], row);
  }
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
  if (asked.empty()) return Truth::yes;
  const RowRecord* const record = matcher_.record();
  return state.calls.compare(asked, record != nullptr ? &record->facts : nullptr, changes_,
                             [&](std::string_view name) { matcher_.note_missing(name); });
}

NANLENS_API void Judge::note_missing() {
  auto& list = judgement_.missing;
  for (const std::string_view name : matcher_.missing())
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

NANLENS_API void Judge::add_hit(State& state, EventRef row) {
  ++judgement_.held;
  // A total has one list of rows for the whole run.
  if (rule_.conditions.total && !judgement_.hits.empty()) state.hit = 1;
  if (state.hit == 0 && judgement_.hits.size() == kept_.hits) {
    state.hit = unlisted;
    ++judgement_.hits_left_out;
  } else if (state.hit == 0) {
    judgement_.hits.push_back(describe(row));
    state.hit = judgement_.hits.size();
  }
  if (state.hit == unlisted) return;
  ++judgement_.hits[state.hit - 1].count;
  if (judgement_.hit_rows.size() < kept_.rows)
    judgement_.hit_rows.push_back({row, static_cast<std::uint32_t>(state.hit - 1)});
}

NANLENS_API void Judge::add_total(Judgement& judgement) const {
  if (!rule_.conditions.total) return;
  const Total& total = *rule_.conditions.total;
  const double least = judgement.hits.empty() ? 0 : static_cast<double>(judgement.hits.front().count);
  // Each row that could not be judged may be one more, and complete a streak of those behind it.
  const double most = least + static_cast<double>(judgement.unjudged) * static_cast<double>(rule_.conditions.calls);
  const bool at_least = compare(least, total.comparison, total.value);
  const bool at_most = compare(most, total.comparison, total.value);
  const bool is_within = total.value > least && total.value < most;
  const bool asks_one = total.comparison == Comparison::equal || total.comparison == Comparison::not_equal;
  judgement.is_open = at_least != at_most || (asks_one && is_within);
  const bool holds = at_least && !judgement.is_open;
  if (!holds) {
    judgement.hits.clear();
    judgement.hit_rows.clear();
    judgement.held = 0;
  }
  if (holds && judgement.hits.empty()) judgement.hits.emplace_back();
}

NANLENS_API Hit Judge::describe(EventRef row) {
  Hit hit;
  hit.row = row;
  if (const RowRecord* const record = matcher_.record()) {
    hit.op_type = record->op_type;
    hit.tensor = record->op_name + ":" + std::to_string(record->slot);
    if (!row.is_execution || record->op_name != record->op_type) hit.op_name = record->op_name;
    detail::collect_numbers(rule_.conditions.rows.root, record->facts, hit.numbers);
  }
  hit.changes = changes_;
  return hit;
}

}  // namespace nanlens::inline NANLENS_ABI::query
