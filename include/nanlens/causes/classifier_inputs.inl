// Part of classifier.hpp: which events were the inputs of an event.
#pragma once

#include <cmath>

namespace nanlens::causes {

NANLENS_API void Classifier::find_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  inputs.clear();
  resolver_.begin_question();
  if (!event.is_execution)
    trace_inputs(event, inputs);
  else if (model_.calls().is_call(event.index))
    call_inputs(event, inputs);
  else
    execution_inputs(event, inputs);
  for (InputEvidence& input : inputs) {
    // A tensor that no execution made may be a variable that was passed as it is.
    if (is_unrecorded(input.link.reason) && variables_.is_known(event, input.link.tensor_id))
      variables_.last_write(event, input.link.tensor_id, model_.health(event), input.link);
    judge_input(event, input);
  }
  find_clean(event, inputs);
  use_evidence(event, inputs);
}

NANLENS_API void Classifier::trace_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const std::uint32_t index = model_.run().trace_op(event.index);
  const OpLinks& op = model_.graphs().op(index);
  Place place = resolver_.place_of(event.index);
  if (stored_input(event, place, inputs)) return;
  switch (op.code) {
    case OpCode::placeholder: {
      Link& link = inputs.emplace_back().link;
      resolver_.argument(place, index, link);
      if (link.reason == Reason::runtime) pipeline_argument(event, link);
      return;
    }
    case OpCode::identity_n: return chosen_input(event, place, inputs);
    case OpCode::branch: {
      if (model_.owners().native()) break;
      const auto digest = model_.run().trace_digest(event.index);
      const int slot = digest ? digest->output_slot : 0;
      return resolver_.branch(place, index, static_cast<std::uint16_t>(slot), inputs.emplace_back().link);
    }
    case OpCode::iterator_get:
    case OpCode::container_get: return container_input(event, inputs.emplace_back().link);
    default: break;
  }
  // A gradient loop takes the items of a list from its end, one in each iteration.
  const bool pops = op.code == OpCode::list_get && model_.graphs().op_type(index) == "TensorListPopBack";
  const bool once = model_.window(place.call).num_runs(model_.graphs().graph(place.graph).outer) <= 1;
  if (pops && once && model_.window(place.call).even(place.graph)) place.popped = place.run;
  const bool one = (has_one_value(op.code) || op.code == OpCode::list_get) && !model_.owners().native();
  for (std::size_t k = 0; k < num_looked_at(one ? std::min<std::size_t>(op.inputs.size(), 1) : op.inputs.size()); ++k) {
    inputs.emplace_back().input = static_cast<std::uint32_t>(k);
    if (k == 0 && op.code == OpCode::from_complex && !model_.owners().native())
      resolver_.complex(place, op.inputs[k], inputs.back().link);
    else
      resolver_.tensor(place, op.inputs[k], inputs.back().link);
    // A ring that lost the beginning has no rows of what was made there, either.
    Link& link = inputs.back().link;
    const bool is_float = has_one_value(op.code) || has_one_type(model_.graphs().op_type(index));
    if (link.no_rows && !model_.owners().native() && is_float) link.set_unknown(Reason::not_recorded, 0.3F);
  }
  if (op.code == OpCode::collective) collective_inputs(event, inputs);
}

// The variable that a row read, as an op or, in nanlens' logdirs, as a tensor without inputs. False: it read none.
NANLENS_API bool Classifier::stored_input(EventRef event, const Place& place, std::vector<InputEvidence>& inputs) {
  const OpLinks& op = model_.graphs().op(model_.run().trace_op(event.index));
  std::int64_t handle = -1;
  if (op.inputs.empty() && model_.owners().native()) {
    const auto digest = model_.run().trace_digest(event.index);
    if (digest && variables_.is_known(event, digest->variable_id)) handle = digest->variable_id;
  }
  if (handle < 0 && op.code != OpCode::read_variable) return false;
  if (handle < 0 && !op.inputs.empty()) handle = resolver_.handle(place, op.inputs.front());
  Link& link = inputs.emplace_back().link;
  variables_.last_write(event, handle, model_.health(event), link);
  if (link.reason == Reason::which && !op.inputs.empty()) held_before(event, op.inputs.front(), link);
  if (link.reason == Reason::which && !op.inputs.empty()) written_last_time(event, op.inputs.front(), link);
  return true;
}

// What a variable held before in the same run of the graph, if that looks the same: it was read from the same handle,
// or written to it, whichever variable that is. A call that ended in an error is not on record, and names none.
NANLENS_API void Classifier::held_before(EventRef event, const InputEdge& handle, Link& link) {
  if (handle.op == none) return;
  GraphFacts& graphs = model_.graphs();
  const Window& window = model_.window(model_.owners().owner(event.index));
  const std::uint32_t run = window.run_of(event.index);
  const auto& edges = graphs.op(handle.op).consumers;
  constexpr std::size_t few = 64;  // each of many reads would look at all of them
  const std::size_t num_edges = std::min(edges.size(), few);
  model_.spend(num_edges);
  std::uint32_t latest = none;
  for (std::size_t i = 0; i < num_edges; ++i) {
    const OpLinks& user = graphs.op(edges[i].op);
    InputEdge held{edges[i].op, 0};
    if (user.code == OpCode::assign && user.inputs.size() > 1)
      held = user.inputs[1];
    else if (user.code != OpCode::read_variable)
      continue;
    if (edges[i].output_slot != handle.slot || held.op == none) continue;
    const std::uint32_t row = window.find(graphs.tensor(held.op, held.slot), run);
    if (row != none && row < event.index && (latest == none || row > latest)) latest = row;
  }
  if (latest == none || !model_.bad(trace_event(latest))) return;
  const TensorHealth health = model_.health(event);
  if (health.num_zero >= 0 && !same_counts(health, model_.health(trace_event(latest)))) return;
  constexpr float nearly_sure = 0.9F;
  link.set_event(trace_event(latest), nearly_sure);
}

// An op with an output for each input: the one that the output is of.
NANLENS_API void Classifier::chosen_input(EventRef event, const Place& place, std::vector<InputEvidence>& inputs) {
  const OpLinks& op = model_.graphs().op(model_.run().trace_op(event.index));
  std::uint16_t slot = 0;
  if (op.num_outputs > 1)
    if (const auto digest = model_.run().trace_digest(event.index))
      slot = static_cast<std::uint16_t>(digest->output_slot);
  if (slot >= op.inputs.size()) return;
  inputs.emplace_back().input = slot;
  resolver_.tensor(place, op.inputs[slot], inputs.back().link);
}

// What the other devices put in: inputs of ops of the same kind whose result looks the same.
NANLENS_API void Classifier::collective_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const std::uint32_t index = model_.run().trace_op(event.index);
  const Place place = resolver_.place_of(event.index);
  const TensorHealth own = model_.health(event);
  constexpr std::size_t most = 256;
  for (const std::uint32_t other : model_.graphs().links(place.graph).collectives) {
    const OpLinks& op = model_.graphs().op(other);
    if (other == index || op.inputs.empty()) continue;
    const std::uint32_t row = model_.window(place.call).find(model_.graphs().tensor(other, 0), place.run);
    if (row == none || !model_.bad(trace_event(row)) || model_.health(trace_event(row)).size != own.size) continue;
    if (inputs.size() > most) return;
    inputs.emplace_back();
    resolver_.tensor(place, op.inputs.front(), inputs.back().link);
  }
}

// Has it this health, as a copy has, and these kinds unless they are 0?
NANLENS_API bool Classifier::may_be_original(EventRef made, const TensorHealth& health, Kinds kinds) {
  if (!model_.bad(made)) return false;
  const TensorHealth own = model_.health(made);
  if (kinds != 0 && (model_.kinds(made) & reader::bad_flags) != kinds) return false;
  return health.size < 0 || (own.dtype == health.dtype && own.size == health.size && own.rank == health.rank);
}

// An eager tensor that no execution on record made, used where something bad came out: a copy of what was made last
// before, of the same shape, and of these kinds unless they are 0. TensorFlow's Python layer makes such copies.
NANLENS_API bool Classifier::unrecorded_copy(EventRef event, std::int64_t tensor_id, const TensorHealth& health,
                                             Kinds kinds, Link& link) {
  if (tensor_id < 0) return false;
  const std::uint32_t user = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (user == none) return false;
  constexpr std::int64_t farthest = 64;
  model_.calls().visit_made_before(tensor_id, farthest, user, [&](const TensorUse& use) {
    const EventRef made = execution_event(use.execution, use.position);
    if (made == event || !may_be_original(made, health, kinds)) return false;
    link.set_event(made, 0.6F);
    return true;
  });
  return link.state == Link::State::events || copied_late(user, tensor_id, health, kinds, link);
}

// An optimizer copies all gradients when it has done something to every variable. The originals are not used till then,
// and are bad in as many elements as what comes of the copies.
NANLENS_API bool Classifier::copied_late(std::uint32_t user, std::int64_t tensor_id, const TensorHealth& health,
                                         Kinds kinds, Link& link) {
  if (model_.owners().native() || health.size < 2 || health.num_nan < 0) return false;
  constexpr std::uint32_t farthest = 4096;
  const std::uint32_t end = user - std::min(user, farthest);
  for (std::uint32_t i = user; i-- > end;) {
    if ((model_.run().execution_flags(i) & reader::bad_flags) == 0 ||
        model_.run().set_of_execution(i) != model_.run().set_of_execution(user))
      continue;
    for (const TensorUse& use : model_.calls().outputs(i)) {
      const EventRef made = execution_event(i, use.position);
      if (use.tensor_id >= tensor_id || !may_be_original(made, health, kinds)) continue;
      const TensorHealth own = model_.health(made);
      const auto uses = model_.calls().consumers(i, use.position);
      const bool used = !uses.empty() && uses.front().execution < user;  // later ones a growing run has not seen yet
      if (used || own.num_nan != health.num_nan || own.num_neg_inf != health.num_neg_inf ||
          own.num_pos_inf != health.num_pos_inf)
        continue;
      link.set_event(made, 0.6F);
      return true;
    }
  }
  return false;
}

// What a function with a gradient of its own returns is copied by TensorFlow, and no op takes the original. Where the
// shape of what came of the copy doesn't tell: the last tensor made before, if it is bad and nothing took it. An op
// that only moves elements, or adds zeros, must have found the others there.
NANLENS_API EventRef Classifier::copied_at_once(EventRef event, std::int64_t tensor_id) {
  const OpCode code = model_.code(event);
  const bool moves = code == OpCode::keep;
  const bool tells_shape = is_elementwise(code) || (only_preserves(code) && !moves);
  if (tensor_id < 0 || !event.is_execution || model_.owners().native() || tells_shape) return {};
  const TensorHealth out = model_.health(event);
  const auto fits = [&](const TensorHealth& in) {
    return !moves || (in.num_zero >= 0 && in.num_nan == out.num_nan && in.num_neg_inf == out.num_neg_inf &&
                      in.num_pos_inf == out.num_pos_inf && in.num_negative == out.num_negative &&
                      in.num_positive == out.num_positive);
  };
  constexpr std::int64_t farthest = 4;
  EventRef found;
  model_.calls().visit_made_before(tensor_id, farthest, event.index, [&](const TensorUse& use) {
    const EventRef made = execution_event(use.execution, use.position);
    const bool unused = model_.calls().consumers(use.execution, use.position).empty();
    if (model_.bad(made) && unused && fits(model_.health(made))) found = made;
    return true;
  });
  return found;
}

// Could a tensor with these counts be one of those that were stacked to the whole?
NANLENS_API bool Classifier::part_of(const TensorHealth& part, const TensorHealth& whole) const {
  if (part.num_zero < 0 || whole.num_zero < 0 || part.dtype != whole.dtype) return false;
  return part.size > 0 && part.size < whole.size && std::fmod(whole.size, part.size) == 0 &&
         part.num_nan <= whole.num_nan && part.num_neg_inf <= whole.num_neg_inf &&
         part.num_pos_inf <= whole.num_pos_inf && part.num_negative <= whole.num_negative &&
         part.num_zero <= whole.num_zero && part.num_positive <= whole.num_positive;
}

NANLENS_API void Classifier::execution_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const auto ids = model_.calls().inputs(event.index);
  if (const Exchange* const exchange = model_.calls().exchanges().find(event.index))
    return exchange->received ? received_inputs(event, *exchange, inputs) : sent_inputs(event, inputs);
  const OpCode code = model_.code(event);
  if (code == OpCode::read_variable) {
    variables_.last_write(event, ids.empty() ? -1 : ids[0].tensor_id, model_.health(event), inputs.emplace_back().link);
    return;
  }
  if (code == OpCode::iterator_get || code == OpCode::container_get || code == OpCode::list_get) {
    container_input(event, inputs.emplace_back().link);
    return;
  }
  const bool one = has_one_value(code) && !model_.owners().native();
  const bool complex = code == OpCode::from_complex && !model_.owners().native();
  for (std::size_t k = 0; k < num_looked_at(one || complex ? std::min<std::size_t>(ids.size(), 1) : ids.size()); ++k) {
    inputs.emplace_back().input = static_cast<std::uint32_t>(k);
    if (complex)
      resolver_.eager_complex(ids[k].tensor_id, event.index, inputs.back().link);
    else
      resolver_.eager(ids[k].tensor_id, event.index, inputs.back().link);
  }
}

// What a rank puts in: one tensor for all ranks, or one for each. Where there are more, some of those put in were made
// part by part, and are what all the parts are.
NANLENS_API void Classifier::sent_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  const auto ids = model_.calls().inputs(event.index);
  const auto add = [&](std::size_t k) {
    inputs.emplace_back().input = static_cast<std::uint32_t>(k);
    resolver_.eager(ids[k].tensor_id, event.index, inputs.back().link);
  };
  if (ids.size() != model_.num_outputs(event.index))
    for (std::size_t k = 0; k < num_looked_at(ids.size()); ++k) add(k);
  else if (event.slot < ids.size())
    add(event.slot);
}

// What a rank got: what every rank has put in whose data come together there.
NANLENS_API void Classifier::received_inputs(EventRef event, const Exchange& got, std::vector<InputEvidence>& inputs) {
  const Senders senders = senders_of(got);
  const auto count = static_cast<std::size_t>(std::max(senders.end - senders.first, 0));
  const std::size_t num_got = model_.num_outputs(event.index);
  for (std::size_t k = 0; k < num_looked_at(count); ++k) {
    const std::int32_t rank = senders.first + static_cast<std::int32_t>(k);
    inputs.emplace_back().input = static_cast<std::uint32_t>(rank);
    Link& link = inputs.back().link;
    const std::uint32_t sent = model_.calls().exchanges().sent_by(got, rank);
    const Exchange* const put_in = sent == none ? nullptr : model_.calls().exchanges().find(sent);
    std::size_t slot = 0;
    if (put_in != nullptr && put_in->per_rank)
      slot = static_cast<std::size_t>(got.rank);
    else if (put_in != nullptr && model_.num_outputs(sent) == num_got)
      slot = event.slot;  // of several tensors at once, what was put in at its place
    if (put_in != nullptr && is_what_was_sent(event, got, execution_event(sent, slot)))
      link.set_event(execution_event(sent, slot), 1);
    else
      link.set_unknown(Reason::other_rank, 1);
  }
}

// Was a tensor looked at when it was put in, and if it came to the receiver as it was, is it what came there?
NANLENS_API bool Classifier::is_what_was_sent(EventRef event, const Exchange& got, EventRef put_in) {
  const TensorHealth in = model_.health(put_in);
  if (!in.known()) return false;
  if (got.kind != ExchangeKind::message && got.kind != ExchangeKind::from_root) return true;
  const TensorHealth out = model_.health(event);
  return in.dtype == out.dtype && in.size == out.size && in.num_nan == out.num_nan &&
         in.num_neg_inf == out.num_neg_inf && in.num_pos_inf == out.num_pos_inf && in.num_zero == out.num_zero &&
         in.num_negative == out.num_negative;
}

NANLENS_API void Classifier::call_inputs(EventRef event, std::vector<InputEvidence>& inputs) {
  Link& link = inputs.emplace_back().link;
  resolver_.call_output(event, link);
  if (link.state == Link::State::events && model_.bad(link.events.front()) == model_.bad(event)) return;
  const Link made_inside = link;
  if (alike_in_call(event, event.index, link)) return;
  if (variables_.stale(event.index, link)) return;
  if (made_inside.state == Link::State::unknown && made_inside.reason == Reason::vectorized) {
    link = made_inside;
    return;
  }
  // Opaque: the call as one op of its inputs.
  inputs.clear();
  const auto uses = model_.calls().inputs(event.index);
  for (const TensorUse& use : uses.first(num_looked_at(uses.size()))) {
    inputs.emplace_back().input = use.position;
    resolver_.eager(use.tensor_id, event.index, inputs.back().link);
    inputs.back().link.limit(0.7F);
  }
}

// The row inside a call that an output most likely is: same counts; else the latest bad one, of the same size if any.
NANLENS_API bool Classifier::alike_in_call(EventRef event, std::uint32_t call, Link& link) {
  const TensorHealth health = model_.health(event);
  const auto rows = model_.window(call).bad_rows();
  if (rows.empty()) return false;
  std::uint32_t same = none;
  std::size_t num_same = 0;
  std::uint32_t same_size = none;
  for (std::size_t i = rows.size(), tried = 0; i-- > 0 && tried < limits::rows_alike; ++tried) {
    model_.spend(1);
    const TensorHealth other = model_.health(trace_event(rows[i]));
    if (same_counts(health, other)) {
      if (same == none) same = rows[i];
      ++num_same;
    }
    if (same_size == none && (health.size < 0 || other.size == health.size)) same_size = rows[i];
    if (same != none && (health.size > 1 || num_same > 1)) break;
  }
  if (same != none && (health.size > 1 || num_same == 1)) {
    link.set_event(trace_event(same), 0.7F);
    return true;
  }
  link.set_event(trace_event(same_size != none ? same_size : rows.back()), 0.5F);
  return true;
}

// What came out of an optional that an op on record put it into. False: no such op did.
NANLENS_API bool Classifier::optional_input(EventRef event, Link& link) {
  constexpr std::string_view puts_in = "OptionalFromValue";
  if (event.is_execution) {
    const auto ids = model_.calls().inputs(event.index);
    const auto maker = ids.empty() ? std::nullopt : model_.calls().producer(ids[0].tensor_id, event.index);
    if (!maker || model_.op_type(execution_event(maker->execution, 0)) != puts_in) return false;
    const auto put_in = model_.calls().inputs(maker->execution);
    if (event.slot >= put_in.size()) return false;
    resolver_.eager(put_in[event.slot].tensor_id, maker->execution, link);
    return true;
  }
  GraphFacts& graphs = model_.graphs();
  const auto& inputs = graphs.op(model_.run().trace_op(event.index)).inputs;
  if (inputs.empty() || inputs[0].op == none) return false;
  if (graphs.op(inputs[0].op).code == OpCode::placeholder)
    return resolver_.kept_by_branch(resolver_.place_of(event.index), inputs[0].op, link);
  if (graphs.op_type(inputs[0].op) != puts_in) return false;
  const auto& put_in = graphs.op(inputs[0].op).inputs;
  const auto digest = model_.run().trace_digest(event.index);
  const std::size_t slot = digest ? static_cast<std::size_t>(digest->output_slot) : 0;
  if (slot >= put_in.size()) return false;
  resolver_.tensor(resolver_.place_of(event.index), put_in[slot], link);
  return true;
}

NANLENS_API void Classifier::judge_input(EventRef event, InputEvidence& input) {
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

// The candidates that have as many elements as the output allows, if any has; else all.
NANLENS_API std::vector<EventRef> Classifier::fitting_candidates(EventRef event, const InputEvidence& input) {
  const TensorHealth out = model_.health(event);
  const OpCode code = model_.code(event);
  std::vector<EventRef> fitting;
  const auto fits = [&](const TensorHealth& in) {
    if (in.size < 0 || out.size <= 0) return true;
    if (is_elementwise(code)) return in.size == out.size;
    if (in.size == 0) return !needs_elements(code);
    return !broadcasts(code) || in.size <= out.size;
  };
  for (const EventRef& e : input.link.events)
    if (fits(model_.health(e))) fitting.push_back(e);
  return fitting.empty() ? input.link.events : fitting;
}

// What the op's rule says of an event if this was its only input.
NANLENS_API Judgement Classifier::judgement_with(EventRef event, EventRef input) {
  const TensorHealth health = model_.health(input);
  const TensorHealth* const one[] = {&health};
  return judge(model_.code(event), model_.health(event), one, true);
}

// One of several: all clean or all bad decides; else equal counts; else the op's rule.
NANLENS_API void Classifier::judge_candidates(EventRef event, InputEvidence& input) {
  const std::vector<EventRef> fitting = fitting_candidates(event, input);
  std::vector<EventRef> bad;
  for (const EventRef& e : fitting)
    if (model_.bad(e)) bad.push_back(e);
  if (bad.empty()) {
    const auto accounts = std::find_if(fitting.rbegin(), fitting.rend(), [&](EventRef e) {
      const Verdict verdict = judgement_with(event, e).verdict;
      return verdict == Verdict::explained || verdict == Verdict::consistent;
    });
    input.state = InputState::clean;
    input.event = accounts == fitting.rend() ? fitting.back() : *accounts;
    return;
  }
  input.event = bad.back();
  input.state = bad.size() == fitting.size() ? InputState::bad : InputState::mixed;
  const TensorHealth out = model_.health(event);
  for (const EventRef& e : bad)
    if (same_counts(model_.health(e), out)) {
      input.event = e;
      input.state = InputState::bad;
    }
  if (input.state != InputState::mixed) return;
  // A clean candidate whose counts account for the output exactly makes it an op that made it.
  const auto exact = std::find_if(fitting.begin(), fitting.end(), [&](EventRef e) {
    if (model_.bad(e)) return false;
    const Judgement judged = judgement_with(event, e);
    return judged.verdict == Verdict::explained && judged.mechanism != Mechanism::overflow;
  });
  if (exact == fitting.end()) return;
  input.event = *exact;
  input.state = InputState::clean;
}

}  // namespace nanlens::causes
