// Part of classifier.hpp: what was seen in memory comes before what is recorded.
#pragma once

namespace nanlens::causes {

NANLENS_API void Classifier::use_evidence(EventRef event, std::vector<InputEvidence>& inputs) {
  if (inputs.empty() || !model_.owners().native() || !model_.bad(event)) return;
  const auto evidence = extension_of(model_.run(), event).input_evidence;
  const bool one_of_several = event.is_execution && model_.calls().exchanges().find(event.index) != nullptr;
  if (one_of_several ? evidence.empty() : evidence.size() != inputs.size()) return;
  for (InputEvidence& input : inputs)
    if (input.input < evidence.size()) use_evidence(event, evidence[input.input], input);
}

NANLENS_API void Classifier::use_evidence(EventRef event, const TensorEvidence& seen, InputEvidence& input) {
  input.origin = seen.origin;
  input.name = seen.name;
  if (!can_be_bad(static_cast<DType>(seen.dtype))) {
    input.state = InputState::clean;
    input.link.set_clean(1);
    input.event = {};
    return;
  }
  input.now = seen_health(seen);
  input.seen = (input.now.flags & reader::has_summary_flag) != 0;
  if (!input.seen) return;
  const bool changed = seen.origin == TensorOrigin::changed;
  const bool on_record = seen.origin != TensorOrigin::not_recorded && !changed;
  // What the memory was when it was recorded last. A function's graph does not tell which eager tensor came in.
  if ((changed || on_record) && seen.recorded_id > 0 && !input.event.exists()) {
    const auto made = model_.calls().producer(seen.recorded_id - 1, event.is_execution ? event.index : none);
    if (made) input.event = execution_event(made->execution, made->position);
    if (made && on_record) input.link.set_event(input.event, 1);
  }
  // A graph does not tell either that it read a variable.
  if (on_record && !input.event.exists() && variables_.is_known(event, seen.recorded_id - 1)) {
    variables_.last_write(event, seen.recorded_id - 1, input.now, input.link);
    judge_input(event, input);
  }
  const bool was_bad = input.event.exists() && model_.bad(input.event);
  input.link.empty = input.now.size == 0;
  if (!input.now.bad()) {
    input.state = InputState::clean;
    input.link.confidence = 1;
    return;
  }
  // It is what was recorded before; only which event that was can't be told here.
  const bool holds = seen.origin == TensorOrigin::holds;
  if (on_record && !input.event.exists()) {
    if (!recorded_inside(event, input.now, holds, input.link)) return;
    input.event = input.link.events.front();
    input.state = InputState::bad;
    return;
  }
  constexpr float probably = 0.7F;  // a change that nobody recorded, and yet the same NaN, it seems
  if (was_bad && changed) input.link.set_event(input.event, probably);
  if (was_bad && (holds || seen.origin == TensorOrigin::part)) input.link.limit(0.8F);
  input.state = InputState::bad;
  input.arrived = !was_bad && !passed_by_value(event, seen, input);
  if (input.arrived) input.link.confidence = 1;
}

// Numbers are passed on by value, and a copy that is NaN throughout is like any other: one that is as bad as the last
// that was made is taken for it.
NANLENS_API bool Classifier::passed_by_value(EventRef event, const TensorEvidence& seen, InputEvidence& input) {
  const TensorHealth& now = input.now;
  const bool throughout = now.num_nan == now.size || now.num_pos_inf == now.size || now.num_neg_inf == now.size;
  if (seen.origin != TensorOrigin::not_recorded || !throughout) return false;
  Link link;
  const auto kinds = static_cast<Kinds>(input.now.flags & reader::bad_flags);
  const bool found = event.is_execution ? unrecorded_copy(event, input.link.tensor_id, input.now, kinds, link)
                                        : recorded_inside(event, input.now, false, link);
  if (!found) return false;
  input.link.set_event(link.events.front(), link.confidence);
  input.event = link.events.front();
  return true;
}

// A tensor of a call that did not hand it out as a result: the latest row there with exactly these counts, or one that
// can be a part of it.
NANLENS_API bool Classifier::recorded_inside(EventRef event, TensorHealth health, bool in_part, Link& link) {
  constexpr std::uint32_t calls_back = 8;
  const std::uint32_t from = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (from == none || health.num_zero < 0) return false;
  std::size_t tried = 0;
  for (std::uint32_t back = 0; back <= calls_back && back <= from; ++back) {
    if (!model_.calls().is_call(from - back)) continue;
    const auto rows = model_.window(from - back).bad_rows();
    for (std::size_t i = rows.size(); i-- > 0 && tried < limits::rows_alike;) {
      if (!event.is_execution && rows[i] >= event.index) continue;
      model_.spend(1);
      ++tried;
      const TensorHealth there = model_.health(trace_event(rows[i]));
      health.rank = there.rank;  // it may have been reshaped
      const bool same_bad = health.size == there.size && health.num_nan == there.num_nan &&
                            health.num_neg_inf == there.num_neg_inf && health.num_pos_inf == there.num_pos_inf;
      const bool alike = there.num_zero < 0 ? same_bad : same_counts(health, there);  // CONCISE_HEALTH counts no more
      if (in_part ? !part_of(there, health) : !alike) continue;
      link.set_event(trace_event(rows[i]), 0.7F);
      return true;
    }
  }
  return false;
}

}  // namespace nanlens::causes
