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
  input.values_hash = seen.values_hash;
  input.recorded_id = seen.recorded_id - 1;
  if (!can_be_bad(static_cast<DType>(seen.dtype))) {
    input.state = InputState::clean;
    input.link.set_clean(1);
    input.event = {};
    return;
  }
  input.written_over = seen.written_over;
  input.now = seen_health(seen);
  input.seen = (input.now.flags & reader::has_summary_flag) != 0;
  const bool changed = seen.origin == TensorOrigin::changed;
  const bool on_record = seen.origin != TensorOrigin::not_recorded && !changed;
  const bool whole = seen.origin == TensorOrigin::recorded || input.seen;  // else the part may be a clean one
  if ((on_record && whole) || (changed && input.seen)) find_recorded(event, seen, input);
  const bool is_open = input.state == InputState::unknown && input.link.reason == Reason::eager;
  if (is_open && seen.origin == TensorOrigin::recorded && !input.event.exists())
    input.link.reason = Reason::lost;
  else if (is_open && !seen.looked_at)
    input.link.reason = seen.written_over ? Reason::written_over : Reason::unread;
  if (!input.seen) return;
  input.link.empty = input.now.size == 0;
  if (!input.now.bad()) {
    // What was recorded there was bad, and may have been set back before the op was recorded: it is one of the two.
    if (changed && !input.event.exists() && seen.recorded_id == 0)
      recorded_inside(event, input.now, Alike::size, input);
    const bool set_back = changed && input.event.exists() && model_.bad(input.event) && !is_gone(event, input.event);
    input.state = set_back ? InputState::mixed : InputState::clean;
    input.link.confidence = 1;
    return;
  }
  const bool was_bad =
      input.event.exists() && model_.bad(input.event) && !(changed && is_bad_elsewhere(seen, input.event));
  // It is what was recorded before; only which event that was can't be told here.
  const bool holds = seen.origin == TensorOrigin::holds;
  if (on_record && !input.event.exists()) {
    if (recorded_inside(event, input.now, holds ? Alike::part : Alike::same, input)) input.state = InputState::bad;
    return;
  }
  constexpr float probably = 0.7F;  // a change that nobody recorded, and yet the same NaN, it seems
  if (was_bad && changed) input.link.set_event(input.event, probably);
  if (was_bad && (holds || seen.origin == TensorOrigin::part)) input.link.limit(0.8F);
  input.state = InputState::bad;
  input.arrived = !was_bad && !passed_by_value(event, seen, input);
  if (input.arrived) input.link.confidence = 1;
}

// Is memory bad elsewhere than it was when it was recorded, and no longer wherever it was, or no longer NaN? It holds
// something else, then: what is changed in place stays NaN where it is not set anew, and nothing else becomes so.
NANLENS_API bool Classifier::is_bad_elsewhere(const TensorEvidence& seen, EventRef recorded) {
  const bool was_nan = model_.kinds_known(recorded) && model_.kinds(recorded) == reader::nan_flag;
  if (was_nan && (seen_health(seen).flags & reader::nan_flag) == 0) return true;  // ∞ may become NaN, not the reverse
  const auto then = output_evidence(model_.run(), recorded);
  if (!then || then->shape != seen.shape || is_bad_where(seen, recorded)) return false;
  const std::vector<std::uint64_t> before = places_of(*then);
  const std::vector<std::uint64_t> now = places_of(seen);
  const TensorHealth there = seen_health(*then);
  const bool all = static_cast<double>(before.size()) == there.num_nan + there.num_neg_inf + there.num_pos_inf;
  return !before.empty() && std::any_of(now.begin(), now.end(), [&](std::uint64_t place) {
    return (all || place <= before.back()) && !std::binary_search(before.begin(), before.end(), place);
  });
}

// What the memory was when it was recorded last. A graph does not tell what another run of it, another graph or an op
// outside had made, nor that it read a variable.
NANLENS_API void Classifier::find_recorded(EventRef event, const TensorEvidence& seen, InputEvidence& input) {
  if (input.event.exists() || seen.recorded_id == 0) return;
  const bool changed = seen.origin == TensorOrigin::changed;
  if (seen.recorded_id > 0 || !changed) input.event = recorded_there(event, seen);
  if (changed) return;
  if (input.event.exists())
    input.link.set_event(input.event, 1);
  else if (seen.recorded_id > 0 && variables_.is_known(event, seen.recorded_id - 1))
    variables_.last_write(event, seen.recorded_id - 1, input.now, input.link);
  else
    return;
  judge_input(event, input);
}

// Numbers are passed on by value, and a copy that is NaN throughout is like any other: one that is as bad as the last
// that was made is taken for it. It may lie where something else was that has been freed.
NANLENS_API bool Classifier::passed_by_value(EventRef event, const TensorEvidence& seen, InputEvidence& input) {
  const TensorHealth& now = input.now;
  const bool throughout = now.num_nan == now.size || now.num_pos_inf == now.size || now.num_neg_inf == now.size;
  const bool may_be_copy = seen.origin == TensorOrigin::not_recorded || seen.origin == TensorOrigin::changed;
  if (!may_be_copy || !throughout) return false;
  if (!event.is_execution) return recorded_inside(event, input.now, Alike::same, input);
  Link link;
  const auto kinds = static_cast<Kinds>(input.now.flags & reader::bad_flags);
  if (!unrecorded_copy(event, input.link.tensor_id, input.now, kinds, link)) return false;
  input.link.set_event(link.events.front(), link.confidence);
  input.event = link.events.front();
  return true;
}

// Can a row be what is looked for? Of the same counts whatever the shape, since it may have been reshaped; a part of
// it; or of its size, where it has changed since.
NANLENS_API bool Classifier::is_alike(TensorHealth health, const TensorHealth& there, Alike how) const {
  if (how == Alike::size) return health.size == there.size && health.dtype == there.dtype;
  if (how == Alike::part) return part_of(there, health);
  health.rank = there.rank;
  if (there.num_zero >= 0) return same_counts(health, there);
  return health.size == there.size && health.num_nan == there.num_nan && health.num_neg_inf == there.num_neg_inf &&
         health.num_pos_inf == there.num_pos_inf;  // CONCISE_HEALTH counts no more
}

// A tensor of a call that did not hand it out as a result: the latest bad row there that can be it.
NANLENS_API bool Classifier::recorded_inside(EventRef event, const TensorHealth& health, Alike how,
                                             InputEvidence& input) {
  const std::uint32_t from = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (from == none || health.num_zero < 0) return false;
  std::size_t tried = 0;
  for (std::uint32_t back = 0; back <= limits::calls_back && back <= from; ++back) {
    if (!model_.calls().is_call(from - back)) continue;
    const auto rows = model_.window(from - back).bad_rows();
    for (std::size_t i = rows.size(); i-- > 0 && tried < limits::rows_alike;) {
      if (!event.is_execution && rows[i] >= event.index) continue;
      model_.spend(1);
      ++tried;
      if (!is_alike(health, model_.health(trace_event(rows[i])), how)) continue;
      input.event = trace_event(rows[i]);
      input.link.set_event(input.event, 0.7F);
      return true;
    }
  }
  return false;
}

}  // namespace nanlens::causes
