// Part of classifier.hpp: which events were the inputs of an event.
#pragma once

namespace nanlens::causes {

inline void Classifier::find_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  inputs.clear();
  if (!event.is_execution)
    trace_inputs(event, inputs);
  else if (model_.calls().is_call(event.index))
    call_inputs(event, inputs);
  else
    execution_inputs(event, inputs);
  for (InputEvidence& input : inputs) {
    // A tensor that no execution made may be a variable that was passed as it is.
    if (input.link.reason == Reason::eager && variables_.is_known(input.link.tensor_id))
      variables_.last_write(event, input.link.tensor_id, model_.health(event), input.link);
    judge_input(event, input);
  }
}

inline void Classifier::trace_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const std::uint32_t index = model_.run().trace_op(event.index);
  const OpLinks& op = model_.graphs().op(index);
  const Place place = resolver_.place_of(event.index);
  if (op.inputs.empty() && model_.owners().native()) {
    const auto digest = model_.run().trace_digest(event.index);
    if (digest && variables_.is_known(digest->variable_id))
      return variables_.last_write(event, digest->variable_id, model_.health(event), inputs.emplace_back().link);
  }
  if (op.code == OpCode::placeholder) {
    resolver_.argument(place, index, inputs.emplace_back().link);
    return;
  }
  if (op.code == OpCode::read_variable) {
    const std::int64_t handle = op.inputs.empty() ? -1 : resolver_.handle(place, op.inputs.front());
    variables_.last_write(event, handle, model_.health(event), inputs.emplace_back().link);
    return;
  }
  if (op.code == OpCode::identity_n || op.code == OpCode::iterator_get || op.code == OpCode::container_get) {
    if (op.code == OpCode::identity_n) {
      std::uint16_t slot = 0;
      if (op.num_outputs > 1)
        if (const auto digest = model_.run().trace_digest(event.index))
          slot = static_cast<std::uint16_t>(digest->output_slot);
      if (slot >= op.inputs.size()) return;
      inputs.emplace_back().input = slot;
      resolver_.tensor(place, op.inputs[slot], inputs.back().link);
    } else {
      container_input(event, inputs.emplace_back().link);
    }
    return;
  }
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    inputs.emplace_back().input = static_cast<std::uint32_t>(k);
    resolver_.tensor(place, op.inputs[k], inputs.back().link);
  }
}

inline void Classifier::execution_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const auto ids = model_.calls().inputs(event.index);
  const OpCode code = model_.code(event);
  if (code == OpCode::read_variable) {
    variables_.last_write(event, ids.empty() ? -1 : ids[0].tensor_id, model_.health(event), inputs.emplace_back().link);
    return;
  }
  if (code == OpCode::iterator_get || code == OpCode::container_get || code == OpCode::list_get) {
    container_input(event, inputs.emplace_back().link);
    return;
  }
  for (std::size_t k = 0; k < ids.size(); ++k) {
    inputs.emplace_back().input = static_cast<std::uint32_t>(k);
    resolver_.eager(ids[k].tensor_id, event.index, inputs.back().link);
  }
}

inline void Classifier::call_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  Link& link = inputs.emplace_back().link;
  resolver_.call_output(event, link);
  if (link.state == Link::State::events && model_.bad(link.events.front()) == model_.bad(event)) return;
  if (alike_in_call(event, event.index, link)) return;
  if (variables_.stale(event.index, link)) return;
  // Opaque: the call as one op of its inputs.
  inputs.clear();
  for (const TensorUse& use : model_.calls().inputs(event.index)) {
    inputs.emplace_back().input = use.position;
    resolver_.eager(use.tensor_id, event.index, inputs.back().link);
    inputs.back().link.limit(0.7F);
  }
}

// The row inside a call that an output most likely is: same counts; else the latest bad one, of the same size if any.
inline bool Classifier::alike_in_call(EventRef event, std::uint32_t call, Link& link) {
  const TensorHealth health = model_.health(event);
  const Window& window = model_.window(call);
  std::uint32_t same = none;
  std::size_t num_same = 0;
  std::uint32_t same_size = none;
  std::uint32_t latest = none;
  for (const std::uint32_t row : window.rows()) {
    if ((model_.run().trace_flags(row) & reader::bad_flags) == 0) continue;
    latest = row;
    const TensorHealth other = model_.health(trace_event(row));
    if (same_counts(health, other)) {
      same = row;
      ++num_same;
    }
    if (health.size < 0 || other.size == health.size) same_size = row;
  }
  if (same != none && (health.size > 1 || num_same == 1)) {
    link.set_event(trace_event(same), 0.7F);
    return true;
  }
  const std::uint32_t row = same_size != none ? same_size : latest;
  if (row == none) return false;
  link.set_event(trace_event(row), 0.5F);
  return true;
}

// What came out of an iterator or an optional: the latest bad row with the same counts that could have gone in.
inline void Classifier::container_input(EventRef event, Link& link) {
  const TensorHealth health = model_.health(event);
  const double time = model_.time(event);
  const auto look = [&](const Window& window, bool only_asynchronous, float alike, float any) {
    std::uint32_t best = none;
    std::uint32_t last = none;
    for (const std::uint32_t row : window.rows()) {
      if ((model_.run().trace_flags(row) & reader::bad_flags) == 0) continue;
      if (!event.is_execution && row >= event.index) break;
      if (only_asynchronous && !model_.owners().is_asynchronous(model_.graphs().graph_of(model_.run().trace_op(row))))
        continue;
      if (model_.time(trace_event(row)) > time) break;
      last = row;
      if (same_counts(health, model_.health(trace_event(row)))) best = row;
    }
    if (best == none && last == none) return false;
    // Without counts any bad row may be the one; with counts one that differs is not.
    if (best == none && health.num_zero >= 0) return false;
    link.set_event(trace_event(best != none ? best : last), best != none ? alike : any);
    return true;
  };
  if (event.is_execution) {
    const auto ids = model_.calls().inputs(event.index);
    const auto maker = ids.empty() ? std::nullopt : model_.calls().producer(ids[0].tensor_id, event.index);
    if (maker && model_.calls().is_call(maker->execution) && look(model_.window(maker->execution), false, 0.6F, 0.4F))
      return;
  }
  if (look(model_.window(none), true, 0.7F, 0.5F)) return;
  link.set_unknown(Reason::container, 0.5F);
}

inline void Classifier::judge_input(EventRef event, InputEvidence& input) {
  Link& link = input.link;
  switch (link.state) {
    case Link::State::clean: input.state = InputState::clean; return;
    case Link::State::unknown: input.state = InputState::unknown; return;
    case Link::State::candidates: return judge_candidates(event, input);
    case Link::State::events: break;
  }
  input.state = InputState::clean;
  for (const EventRef& fed : link.events) {
    if (!input.event.exists()) input.event = fed;
    if (!model_.bad(fed)) continue;
    input.event = fed;
    input.state = InputState::bad;
    return;
  }
}

// One of several: all clean or all bad decides; else equal counts; else the op's rule.
inline void Classifier::judge_candidates(EventRef event, InputEvidence& input) {
  const TensorHealth out = model_.health(event);
  const OpCode code = model_.code(event);
  std::vector<EventRef> fitting;
  if (is_elementwise(code) && out.size >= 0)
    for (const EventRef& e : input.link.events)
      if (model_.health(e).size == out.size) fitting.push_back(e);
  if (fitting.empty()) fitting = input.link.events;
  std::vector<EventRef> bad;
  for (const EventRef& e : fitting)
    if (model_.bad(e)) bad.push_back(e);
  if (bad.empty()) {
    input.state = InputState::clean;
    input.event = fitting.back();
    for (std::size_t i = fitting.size(); i-- > 0;) {
      const TensorHealth h = model_.health(fitting[i]);
      const TensorHealth* const one[] = {&h};
      const Verdict verdict = judge(code, out, one, true).verdict;
      if (verdict != Verdict::explained && verdict != Verdict::consistent) continue;
      input.event = fitting[i];
      break;
    }
    return;
  }
  input.event = bad.back();
  input.state = bad.size() == fitting.size() ? InputState::bad : InputState::mixed;
  for (const EventRef& e : bad)
    if (same_counts(model_.health(e), out)) {
      input.event = e;
      input.state = InputState::bad;
    }
  if (input.state != InputState::mixed) return;
  // A clean candidate that accounts for the output exactly makes it an op that made it.
  for (const EventRef& e : fitting) {
    if (model_.bad(e)) continue;
    const TensorHealth h = model_.health(e);
    const TensorHealth* const one[] = {&h};
    if (judge(code, out, one, true).verdict != Verdict::explained) continue;
    input.event = e;
    input.state = InputState::clean;
    return;
  }
}

}  // namespace nanlens::causes
