// Part of row_matcher.hpp.
#pragma once

#include <algorithm>
#include <string>

#include <nanlens/causes/stack_of.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/tensor_conditions.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

// Flags of which a row must have one for the count to be above zero.
inline std::uint8_t flags_of(NumberField field) {
  switch (field) {
    case NumberField::nan: return reader::nan_flag;
    case NumberField::ninf: return reader::neg_inf_flag;
    case NumberField::pinf: return reader::pos_inf_flag;
    case NumberField::inf: return reader::neg_inf_flag | reader::pos_inf_flag;
    case NumberField::neg: return reader::negative_flag;
    case NumberField::zero: return reader::zero_flag;
    case NumberField::pos: return reader::positive_flag;
    default: return 0;
  }
}

// What the flags of a row tell of a count, without its record; nothing if they do not. `kinds_told`: they tell one kind
// of element from another, and are those of this row alone.
inline std::optional<bool> decided_by_flags(const Node& node, std::uint8_t flags, bool kinds_told) {
  const std::uint8_t needed = flags_of(node.number_field);
  if (needed == 0 || node.kind != Node::Kind::number) return std::nullopt;
  const bool above = node.comparison == Comparison::greater;
  const bool from = node.comparison == Comparison::greater_equal;
  const bool wants_some = (above && node.low >= 0) || (from && node.low > 0);
  if (wants_some && (flags & needed) == 0) return false;
  const bool any_will_do = !node.percent && ((above && node.low == 0) || (from && node.low == 1));
  return any_will_do && kinds_told ? std::optional(true) : std::nullopt;
}

// Does a stack tell a place? Frames that are not on record have none.
inline bool has_places(const std::vector<reader::StackFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const auto& frame) { return !frame.file_path.empty(); });
}

// The name of a text that a stack tells.
inline std::string_view name_in_stack(TextField field) {
  return field == TextField::file ? "file" : field == TextField::fn ? "fn" : "host";
}

}  // namespace detail

NANLENS_API void RowMatcher::note_missing(std::string_view name) {
  const bool tells_it = unrecorded_ == Unrecorded::is_unknown;
  if (tells_it && std::find(missing_.begin(), missing_.end(), name) == missing_.end()) missing_.push_back(name);
}

NANLENS_API std::uint8_t RowMatcher::flags() const {
  const EventRef row = reader_.row();
  return row.is_execution ? run_.execution_flags(row.index) : run_.trace_flags(row.index);
}

NANLENS_API std::uint32_t RowMatcher::call() const {
  const EventRef row = reader_.row();
  return row.is_execution ? row.index : run_.trace_execution(row.index);
}

NANLENS_API std::vector<reader::StackFrame> RowMatcher::stack() {
  if (!reader_.row().is_execution) return causes::stack_of(run_, reader_.row());
  const auto& execution = reader_.execution();
  return execution ? reader::resolve_stack(run_, execution->event.code_location) : std::vector<reader::StackFrame>{};
}

NANLENS_API Truth RowMatcher::ask(const Node& node) {
  return query::ask(node, [&](const Node& leaf) { return ask_leaf(leaf); });
}

NANLENS_API Truth RowMatcher::ask_leaf(const Node& node) {
  if (node.kind == Node::Kind::flag) return ask_flag(node.flag);
  return node.kind == Node::Kind::text ? ask_text(node) : ask_number(node);
}

// Is it a tensor that can have a NaN, of which the record does not tell whether it has?
NANLENS_API bool RowMatcher::lacks_health() {
  const bool is_row = !reader_.row().is_execution;
  if (unrecorded_ == Unrecorded::is_false || (is_row && (flags() & reader::has_summary_flag) != 0)) return false;
  const RowRecord* const record = reader_.record();
  if (record == nullptr) return true;
  return detail::lacks_health(static_cast<TensorDebugMode>(record->mode), record->facts.health);
}

NANLENS_API Truth RowMatcher::ask_flag(Flag flag) {
  const EventRef row = reader_.row();
  const std::uint8_t flags = this->flags();
  // The flags of an execution are those of all its outputs.
  const bool several = row.is_execution && (flags & reader::bad_flags) != 0;
  const RowRecord* const record = several || flag == Flag::constant ? reader_.record() : nullptr;
  const bool bad = several ? record != nullptr && record->facts.health.bad() : (flags & reader::bad_flags) != 0;
  switch (flag) {
    case Flag::bad: return !bad && lacks_health() ? not_recorded("bad") : truth_of(bad);
    case Flag::ok:
      return !bad && lacks_health() ? not_recorded("ok") : truth_of((flags & reader::has_summary_flag) != 0 && !bad);
    case Flag::first: {
      const auto& alerts = run_.alerts();
      return truth_of(!alerts.empty() && alerts.front().is_execution == row.is_execution &&
                      alerts.front().event == row.index && bad);
    }
    case Flag::input: return truth_of(around_.is_input(row));
    case Flag::consumer: return truth_of(around_.is_consumer(row));
    case Flag::pinned: return truth_of(around_.is_pinned(row));
    case Flag::function:
      return truth_of(row.is_execution ? (flags & reader::function_flag) != 0 : call() != reader::none);
    case Flag::eager: return truth_of(row.is_execution && (flags & reader::function_flag) == 0);
    case Flag::empty: return truth_of(!row.is_execution && (flags & reader::empty_flag) != 0);
    case Flag::unchecked: return truth_of((flags & reader::has_summary_flag) == 0);
    case Flag::constant: {
      const auto constant = record != nullptr ? is_constant(record->facts) : std::nullopt;
      return constant ? truth_of(*constant) : not_recorded(name_of(NumberField::min));
    }
    default: return truth_of(ask_class_flag(flag, bad));
  }
}

NANLENS_API bool RowMatcher::ask_class_flag(Flag flag, bool bad) {
  using causes::EventClass;
  const EventClass what = around_.class_of(reader_.row());
  switch (flag) {
    case Flag::made: return what == EventClass::producer;
    case Flag::passed: return what == EventClass::propagator || what == EventClass::relay;
    case Flag::removed: return what == EventClass::killer;
    case Flag::source: return what == EventClass::source;
    case Flag::unknown: return bad && what == EventClass::unknown;
    default: return what == EventClass::expected;
  }
}

NANLENS_API bool RowMatcher::any_frame(const std::vector<reader::StackFrame>& frames, const Node& node) const {
  return std::any_of(frames.begin(), frames.end(), [&](const reader::StackFrame& f) {
    if (node.text_field == TextField::host) return (*node.match)(f.host_name);
    return (*node.match)(node.text_field == TextField::file ? f.file_path : f.function);
  });
}

NANLENS_API bool RowMatcher::leaf_matches_op(const Node& node, std::uint32_t op) {
  const auto& texts = run_.definitions();
  const reader::Op& o = texts.ops()[op];
  const auto graph = [&] { return texts.text(texts.graphs()[o.graph].name); };
  const Match& match = *node.match;
  switch (node.text_field) {
    case TextField::op: return match(texts.text(o.name));
    case TextField::type: return match(texts.text(o.type));
    case TextField::graph: return match(graph());
    case TextField::host:
    case TextField::file:
    case TextField::fn: return any_frame(stack(), node);
    default: return match(texts.text(o.name)) || match(texts.text(o.type)) || match(graph());
  }
}

NANLENS_API RowMatcher::OfOp RowMatcher::leaf_of_op(const Node& node, std::uint32_t op) {
  const reader::Op o = run_.definitions().ops()[op];
  const std::string name(run_.definitions().text(o.name));
  effort_ += name.size();
  if (leaf_matches_op(node, op)) return OfOp::yes;
  if (detail::is_of_stack(node.text_field) && !detail::has_places(stack())) return OfOp::not_recorded;
  const bool names_tensors = node.text_field == TextField::any || node.text_field == TextField::op;
  if (!names_tensors || !node.match->may_need_slot() || o.num_outputs <= 0) return OfOp::no;
  if (o.num_outputs > 1) return OfOp::by_slot;
  return (*node.match)(name + ":0") ? OfOp::yes : OfOp::no;
}

// What the analysis says of a row, by its name in JSON or in words: "made", "removed here". Rows without a story of
// their own have none.
NANLENS_API bool RowMatcher::ask_class(const Node& node) {
  const causes::EventClass what = around_.class_of(reader_.row());
  const bool bad = ask_flag(Flag::bad) == Truth::yes;
  if (!bad && what != causes::EventClass::killer) return false;
  return (*node.match)(causes::class_name(what)) || (*node.match)(causes::class_words(what));
}

NANLENS_API Truth RowMatcher::ask_text(const Node& node) {
  if (node.text_field == TextField::event_class) return truth_of(ask_class(node));
  if (!detail::decided_by_op(node.text_field)) return ask_record_text(node);
  if (reader_.row().is_execution) return ask_text_of_execution(node);
  const std::uint32_t op = run_.trace_op(reader_.row().index);
  auto& known = leaf_of_op_[node.leaf];
  if (known.size() <= op) known.resize(run_.definitions().ops().size());
  if (known[op] == OfOp::unknown) known[op] = leaf_of_op(node, op);
  if (known[op] == OfOp::not_recorded) return not_recorded(detail::name_in_stack(node.text_field));
  if (known[op] != OfOp::by_slot) return truth_of(known[op] == OfOp::yes);
  // "Split:1" names a tensor: the op's name alone has no slot.
  const RowRecord* const record = reader_.record();
  return truth_of(record != nullptr && (*node.match)(record->op_name + ":" + std::to_string(record->slot)));
}

NANLENS_API Truth RowMatcher::ask_text_of_execution(const Node& node) {
  const RowRecord* const record = reader_.record();
  if (record == nullptr) return Truth::no;
  if (!detail::is_of_stack(node.text_field))
    return truth_of(detail::matches_op(node, {record->op_name, record->op_type, {}, false}, record->slot));
  const auto frames = stack();
  return detail::has_places(frames) ? truth_of(any_frame(frames, node))
                                    : not_recorded(detail::name_in_stack(node.text_field));
}

NANLENS_API Truth RowMatcher::ask_dtype(const Match& match) {
  const RowRecord* const record = reader_.record();
  const logdir::TensorHealth health = record != nullptr ? record->facts.health : logdir::TensorHealth{};
  if (health.dtype == DType::invalid && unrecorded_ == Unrecorded::is_false) return Truth::no;
  const auto mode = record != nullptr ? static_cast<TensorDebugMode>(record->mode) : TensorDebugMode::unspecified;
  const Truth truth = detail::ask_dtype(match, mode, health);
  return truth == Truth::unknown ? not_recorded("dtype") : truth;
}

NANLENS_API Truth RowMatcher::ask_record_text(const Node& node) {
  const Match& match = *node.match;
  if (node.text_field == TextField::dtype) return ask_dtype(match);
  const RowRecord* const record = reader_.record();
  if (record == nullptr) return Truth::no;
  if (node.text_field == TextField::device) return truth_of(match(record->device));
  if (node.text_field == TextField::mode)
    return truth_of(match(debug_mode_name(static_cast<TensorDebugMode>(record->mode))));
  if (reader_.row().is_execution) return truth_of(match(record->op_type));
  if (call() == reader::none) return Truth::no;
  const auto execution = run_.execution(call());
  return truth_of(execution && match(execution->event.op_type));
}

NANLENS_API Truth RowMatcher::ask_number(const Node& node) {
  const EventRef row = reader_.row();
  const auto holds = [&](double value) { return detail::compare(value, node, node.low, node.high); };
  switch (node.number_field) {
    case NumberField::row: return truth_of(!row.is_execution && holds(row.index));
    case NumberField::exec: return truth_of(call() != reader::none && holds(call()));
    case NumberField::job_rank: {
      const std::size_t set = row.is_execution ? run_.set_of_execution(row.index) : run_.set_of_trace(row.index);
      const std::int32_t rank = run_.rank_of_set(set);
      return truth_of(rank >= 0 && holds(rank));
    }
    case NumberField::slot: return truth_of(reader_.record() != nullptr && holds(reader_.record()->slot));
    case NumberField::time:
      return truth_of(reader_.record() != nullptr && holds(reader_.record()->wall_time - run_.starting_wall_time()));
    case NumberField::line: return ask_line(node);
    default: return ask_tensor_number(node);
  }
}

// By the first row: a run has one mode.
NANLENS_API bool RowMatcher::kinds_told() {
  if (!kinds_told_ && run_.num_traces() > 0)
    if (const auto first = run_.trace(0))
      kinds_told_ = tells(static_cast<TensorDebugMode>(first->event.tensor_debug_mode), Told::non_finite_counts);
  return kinds_told_.value_or(false);
}

NANLENS_API Truth RowMatcher::ask_tensor_number(const Node& node) {
  // Who tells what is missing has to read the record.
  if (unrecorded_ == Unrecorded::is_false)
    if (const auto decided = detail::decided_by_flags(node, flags(), !reader_.row().is_execution && kinds_told()))
      return truth_of(*decided);
  const RowRecord* const record = reader_.record();
  const auto holds = record != nullptr ? detail::ask_number(node, record->facts) : std::nullopt;
  return holds ? truth_of(*holds) : not_recorded(name_of(node.number_field));
}

// Was it made by a line in this range, or in a function that one called?
NANLENS_API Truth RowMatcher::ask_line(const Node& node) {
  const auto frames = stack();
  if (!detail::has_places(frames)) return not_recorded(name_of(NumberField::line));
  return truth_of(std::any_of(frames.begin(), frames.end(),
                              [&](const auto& f) { return detail::compare(f.line, node, node.low, node.high); }));
}

}  // namespace nanlens::inline NANLENS_ABI::query
