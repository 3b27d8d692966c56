// Part of classifier.hpp: what was seen in memory comes before what is recorded.
#pragma once

namespace nanlens::causes {

NANLENS_API void Classifier::use_evidence(EventRef event, std::vector<InputEvidence>& inputs) {
  if (inputs.empty() || !model_.owners().native() || !model_.bad(event)) return;
  const auto evidence = extension_of(model_.run(), event).input_evidence;
  if (evidence.size() != inputs.size()) return;
  for (InputEvidence& input : inputs)
    if (input.input < evidence.size()) use_evidence(event, evidence[input.input], input);
}

NANLENS_API void Classifier::use_evidence(EventRef event, const TensorEvidence& seen, InputEvidence& input) {
  input.origin = seen.origin;
  if (!can_be_bad(static_cast<DType>(seen.dtype))) {
    input.state = InputState::clean;
    input.link.set_clean(1);
    input.event = {};
    return;
  }
  input.now = seen_health(seen);
  input.seen = (input.now.flags & reader::has_summary_flag) != 0;
  if (!input.seen) return;
  // What the memory was when it was recorded last, and has not been since.
  if (seen.origin == TensorOrigin::changed && seen.recorded_id > 0 && !input.event.exists()) {
    const auto made = model_.calls().producer(seen.recorded_id - 1, event.is_execution ? event.index : none);
    if (made) input.event = execution_event(made->execution, made->position);
  }
  const bool was_bad = input.event.exists() && model_.bad(input.event);
  input.link.empty = input.now.size == 0;
  if (!input.now.bad()) {
    input.state = InputState::clean;
    input.link.confidence = 1;
    return;
  }
  // It is what was recorded before; only which event that was can't be told here.
  const bool on_record = seen.origin != TensorOrigin::not_recorded && seen.origin != TensorOrigin::changed;
  if (on_record && !input.event.exists()) return;
  constexpr float probably = 0.7F;  // a change that nobody recorded, and yet the same NaN, it seems
  if (was_bad && seen.origin == TensorOrigin::changed) input.link.set_event(input.event, probably);
  if (was_bad && seen.origin == TensorOrigin::part) input.link.limit(0.8F);
  input.state = InputState::bad;
  input.arrived = !was_bad;
  if (input.arrived) input.link.confidence = 1;
}

}  // namespace nanlens::causes
