// Part of classifier.hpp: from judged inputs to a class.
#pragma once

namespace nanlens::causes {

NANLENS_API void Classifier::judge_all(EventRef event, Classification& c) {
  const TensorHealth out = model_.counted_health(event);
  std::vector<TensorHealth> healths(c.inputs.size());
  std::vector<const TensorHealth*> known;
  // Of candidates that are bad in part, none may count as the input.
  const auto is_known = [](const InputEvidence& input) {
    return input.state != InputState::unknown && input.state != InputState::mixed;
  };
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool has = c.inputs[i].event.exists() && is_known(c.inputs[i]);
    const bool seen = c.inputs[i].seen;
    if (seen)
      healths[i] = c.inputs[i].now;
    else if (has)
      healths[i] = model_.health(c.inputs[i].event);
    if (c.inputs[i].link.empty) healths[i].size = 0;
    known.push_back(seen || has || c.inputs[i].link.empty ? &healths[i] : nullptr);
  }
  const bool all_known = std::all_of(c.inputs.begin(), c.inputs.end(), is_known);
  c.judgement = judge(model_.code(event), out, known, all_known);
}

NANLENS_API bool Classifier::pass_on(EventRef event, Classification& c) {
  if (event.is_execution) return false;
  GraphFacts& graphs = model_.graphs();
  const OpLinks& op = graphs.op(model_.run().trace_op(event.index));
  if (op.inputs.empty() || op.inputs.size() > limits::inputs_looked_at || op.code == OpCode::select ||
      (is_relay(op.code) && op.code != OpCode::identity))
    return false;
  const Window& window = model_.window(model_.owners().owner(event.index));
  const std::uint32_t run = window.run_of(event.index);
  c.parents.clear();
  model_.spend(op.inputs.size());
  const std::uint64_t clean = model_.owners().native() ? model_.run().clean_inputs(event.index) : 0;
  for (std::size_t k = 0; k < op.inputs.size(); ++k) {
    const InputEdge& edge = op.inputs[k];
    if (edge.op == none) return false;
    const std::uint32_t row = window.find(graphs.tensor(edge.op, edge.slot), run);
    if (row == none) {
      const OpCode code = graphs.op(edge.op).code;
      if (code != OpCode::constant && code != OpCode::not_float) return false;
    } else if ((model_.run().trace_flags(row) & reader::bad_flags) != 0) {
      if (k < 64 && (clean >> k & 1) != 0) return false;  // seen clean since
      c.parents.push_back(trace_event(row));
    }
  }
  leave_out_smaller_mask(event, c.parents);
  if (c.parents.empty() || may_have_made_more(event, c.parents)) return false;
  c.event_class = op.code == OpCode::identity ? EventClass::relay : EventClass::propagator;
  c.confidence = window.even(graphs.graph_of(model_.run().trace_op(event.index))) ? 1.0F : 0.8F;
  c.also_made = (created_kinds(op.code) & model_.kinds(event)) != 0;
  c.made_more = false;
  return true;
}

// Takes together what the inputs say; the bad ones become parents.
NANLENS_API Classifier::InputSum Classifier::sum_up(Classification& c) {
  InputSum sum;
  c.all_seen = !c.inputs.empty();
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const InputEvidence& input = c.inputs[i];
    c.confidence = std::min(c.confidence, input.link.confidence);
    c.all_seen = c.all_seen && (input.seen || (input.state == InputState::clean && !input.event.exists()));
    if (input.arrived && c.arrived == none) c.arrived = static_cast<std::uint32_t>(i);
    sum.any_unknown = sum.any_unknown || input.state == InputState::unknown;
    sum.any_clean = sum.any_clean || input.state == InputState::clean;
    if (input.state == InputState::mixed) sum.mixed = input.event;
    if (input.state == InputState::bad && !input.arrived) c.parents.push_back(input.event);
  }
  return sum;
}

NANLENS_API void Classifier::classify(EventRef event, Classification& c) {
  find_inputs(event, c.inputs);
  c.event_class = EventClass::unknown;
  c.confidence = 1;
  c.judgement = {};
  c.also_made = c.contradicted = false;
  c.parents.clear();
  c.inside = {};
  c.arrived = none;
  c.made_more = false;
  c.written_over = false;
  c.lay_there = {};
  c.lost_there = false;
  c.unrecorded.clear();
  c.unrecorded_id = -1;
  const InputSum sum = sum_up(c);
  const auto was_left_out = [&](EventRef parent) { return model_.has_left_out(event, parent); };
  if (!std::all_of(c.parents.begin(), c.parents.end(), was_left_out)) std::erase_if(c.parents, was_left_out);
  const OpCode code = model_.code(event);
  const Kinds created = created_kinds(code) & model_.kinds(event);
  if (!c.parents.empty() || (c.arrived != none && (created & ~c.inputs[c.arrived].now.flags) != 0)) c.arrived = none;
  const bool call = event.is_execution && model_.calls().is_call(event.index);
  const bool relay =
      call ? c.inputs.size() == 1 && (is_vectorized(c.inputs[0]) ||
                                      (c.inputs[0].state == InputState::bad && !c.inputs[0].event.is_execution))
           : is_relay(code);
  if (relay) {
    classify_relay(event, sum, c);
    learn_from_others(event, c);
  } else if (c.arrived != none) {
    c.event_class = EventClass::source;
    c.confidence = 1;
  } else if (!c.parents.empty()) {
    c.event_class = EventClass::propagator;
    c.also_made = created != 0;
    leave_out_smaller_mask(event, c.parents);
    c.made_more = has_made_more(event, c);
    if (c.made_more) judge_all(event, c);
  } else if (code == OpCode::iterator_get || code == OpCode::python ||
             code == OpCode::constant) {  // a mask is a constant, wherever it is put in
    c.event_class = EventClass::source;
  } else {
    classify_by_rule(event, sum, created, c);
    if (c.event_class == EventClass::producer && (classify_zeros(event, c) || classify_swallowed(event, c))) return;
    if (c.event_class == EventClass::producer) doubt_written_over(event, c);
    learn_from_others(event, c);
  }
}

// An input may have been changed by what is not on record, and the op has written over it before anybody looked. What
// is counted on both sides proves that it was not; that something overflowed, or that nothing else is left, does not.
NANLENS_API void Classifier::doubt_written_over(EventRef event, Classification& c) {
  const auto hidden = [](const InputEvidence& input) { return input.written_over; };
  if (std::none_of(c.inputs.begin(), c.inputs.end(), hidden)) return;
  const bool explained = c.judgement.verdict == Verdict::explained;
  if (explained && c.judgement.mechanism != Mechanism::overflow) return;
  const bool known_for_it = (likely_made(model_.code(event)) & model_.kinds(event)) != 0;
  c.confidence = std::min(c.confidence, explained || known_for_it ? 0.7F : 0.5F);
  c.written_over = true;
}

// Did a run of a graph begin before an op had run in the one before it? Then they are those of several threads, as in a
// parallel map, and the k-th row of one op need not belong to the k-th of another.
NANLENS_API bool Classifier::crossed(const Window& window, std::uint32_t op, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t graph = model_.graphs().graph_of(op);
  for (std::uint32_t run = begin + 1; run < end; ++run) {
    const std::uint32_t row = window.find(model_.graphs().tensor(op, 0), run - 1);
    if (row != none && window.run_begin(graph, run) < row) return true;
  }
  return false;
}

// Of an op whose output can't have come of its inputs, one input is looked for among those of the runs beside, where
// runs are crossed: of a run that came out clean. `try_input(k, row)` says whether it is that one.
template <class TryInput>
bool Classifier::find_crossed(EventRef event, TryInput&& try_input) {
  if (event.is_execution || model_.owners().native()) return false;
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t index = model_.run().trace_op(event.index);
  const auto& edges = graphs.op(index).inputs;
  const Window& window = model_.window(model_.owners().owner(event.index));
  const std::uint32_t own = window.run_of(event.index);
  constexpr std::size_t few = 4;
  constexpr std::uint32_t farthest = 16;
  const std::uint32_t begin = own - std::min(own, farthest);
  const std::uint32_t end = std::min(own + farthest + 1, window.num_runs(graphs.graph_of(index)));
  model_.spend(end - begin);
  if (edges.size() > few || !crossed(window, index, begin, end)) return false;
  for (std::size_t k = 0; k < edges.size(); ++k)
    for (std::uint32_t run = begin; edges[k].op != none && run < end; ++run) {
      model_.spend(edges.size());
      const std::uint32_t row = window.find(graphs.tensor(edges[k].op, edges[k].slot), run);
      const std::uint32_t result = window.find(graphs.tensor(index, 0), run);
      if (run == own || row == none || result == none || model_.bad(trace_event(result))) continue;
      if (try_input(k, trace_event(row))) return true;
    }
  return false;
}

// It was bad, and what came of it in its run was not; or with it the output is explained.
NANLENS_API bool Classifier::classify_crossed(EventRef event, Classification& c) {
  constexpr float perhaps = 0.6F;
  const auto is_bad = [&](std::size_t, EventRef row) {
    if (!model_.bad(row) || model_.kinds(row) != model_.kinds(event)) return false;
    c.event_class = EventClass::propagator;
    c.parents.push_back(row);
    return true;
  };
  const Judgement before = c.judgement;
  const auto explains = [&](std::size_t k, EventRef row) {
    if (k >= c.inputs.size() || model_.bad(row)) return false;
    const InputEvidence own = c.inputs[k];
    c.inputs[k].link.set_event(row, perhaps);
    c.inputs[k].event = row;
    judge_all(event, c);
    if (c.judgement.verdict == Verdict::explained) {
      c.event_class = EventClass::producer;
      return true;
    }
    c.inputs[k] = own;
    c.judgement = before;
    return false;
  };
  if (!find_crossed(event, is_bad) && !find_crossed(event, explains)) return false;
  c.confidence = perhaps;
  return true;
}

// One of several inputs is bad, and it can't be told whether it was that one.
NANLENS_API void Classifier::pass_on_mixed(EventClass as, const InputSum& sum, Classification& c) {
  c.event_class = as;
  c.parents.push_back(sum.mixed);
  c.confidence = std::min(c.confidence, 0.5F);
}

// The same tensor as one of its inputs.
NANLENS_API void Classifier::classify_relay(EventRef event, const InputSum& sum, Classification& c) {
  if (!c.parents.empty()) {
    c.event_class = EventClass::relay;
    return;
  }
  if (sum.mixed.exists()) return pass_on_mixed(EventClass::relay, sum, c);
  const bool lost = std::any_of(c.inputs.begin(), c.inputs.end(),
                                [](const InputEvidence& i) { return i.link.reason == Reason::lost; });
  const bool fed = !event.is_execution && model_.op_type(event) == "PlaceholderWithDefault";
  // An argument that a step made which nobody recorded: what that got may be on record.
  c.event_class = (sum.any_clean && !fed) || lost ? EventClass::unknown : EventClass::source;
  fall_back(event, c);
  if (!c.parents.empty()) c.arrived = none;
}

// None of the inputs is known to be bad: what the op does with inputs like these.
NANLENS_API void Classifier::classify_by_rule(EventRef event, const InputSum& sum, Kinds created, Classification& c) {
  judge_all(event, c);
  const OpCode code = model_.code(event);
  const bool call = event.is_execution && model_.calls().is_call(event.index);
  const bool explained = c.judgement.verdict == Verdict::explained;
  const bool contradicted = c.judgement.verdict == Verdict::contradicted;
  if (c.inputs.empty() && !call) {
    const bool may_lack_inputs = code == OpCode::other && event.is_execution && !sets_infinity(event);
    c.event_class = may_lack_inputs ? EventClass::unknown : EventClass::source;
  } else if (!contradicted && classify_log_sum(event, c)) {
    return;
  } else if (created != 0) {
    c.event_class = EventClass::producer;
    c.confidence = std::max(c.confidence, 0.9F);
  } else if (sum.mixed.exists() && !explained) {
    pass_on_mixed(EventClass::propagator, sum, c);
  } else if (!sum.any_unknown) {
    const bool other = contradicted && explain_by_candidate(event, c);
    if (contradicted && !other && classify_crossed(event, c)) return;
    // An overflow of finite inputs is no more than what is left to think of, but where the op takes nothing else.
    const bool takes_no_other = is_elementwise(code) && c.inputs.size() == 1 && !contradicted;
    const bool sure = takes_no_other || ((explained || other) && c.judgement.mechanism != Mechanism::overflow);
    if (!sure && classify_written_over(event, c)) return;
    c.event_class = EventClass::producer;
    c.contradicted = contradicted && !other;
    // TensorFlow's tensors do not change: what can't be is rather that one of these was the input.
    constexpr float certain = 0.9F;
    if (c.contradicted && !model_.owners().native() && c.confidence < certain) c.event_class = EventClass::unknown;
    if (c.contradicted && !c.all_seen) c.confidence = std::min(c.confidence, 0.4F);
    if (call) fall_back(event, c);
  } else if (explained) {
    c.event_class = EventClass::producer;
  } else if (made_with_constant(event, c)) {
    c.event_class = EventClass::producer;
    c.confidence = guess(event);
  } else if (!classify_copy(event, c) && !classify_arrival(event, contradicted, c)) {
    fall_back(event, c);
  }
}

// log(sum(exp(x))) where x is −∞ throughout is −∞, as in sums of probabilities that are kept as their logarithms: it is
// x that was passed on. Not where a sum may be 0 because exp made zeros of other values: these are none, or the
// largest of each row was subtracted before, so that every sum but those is 1 or more. Without counts it is likely.
NANLENS_API bool Classifier::classify_log_sum(EventRef event, Classification& c) {
  if (model_.code(event) != OpCode::log || c.inputs.size() != 1) return false;
  if (model_.kinds_known(event) && (model_.kinds(event) & reader::bad_flags) != reader::neg_inf_flag) return false;
  EventRef at = c.inputs[0].event;
  if (!at.exists()) return false;
  const TensorHealth sums = model_.health(at);
  constexpr int farthest = 4;
  for (int steps = 0; steps < farthest && !model_.bad(at); ++steps) {
    const OpCode code = model_.code(at);
    if (code != OpCode::exp && code != OpCode::reduce_sum && code != OpCode::keep) return false;
    std::vector<InputEvidence> inputs;
    find_inputs(at, inputs);
    if (inputs.empty() || !inputs[0].event.exists()) return false;
    const EventRef fed = inputs[0].event;
    const TensorHealth x = model_.health(fed);
    const bool counted = x.num_zero >= 0;
    const bool no_others = x.num_neg_inf == model_.health(at).num_zero;
    const bool largest_are_0 = x.num_positive == 0 && x.num_zero >= sums.size - sums.num_zero;
    const bool told = model_.kinds_known(fed);
    const bool went_in = told ? (model_.kinds(fed) & reader::neg_inf_flag) != 0 : model_.bad(fed);  // exp made it clean
    if (code == OpCode::exp && went_in && (!counted || no_others || largest_are_0)) {
      c.event_class = EventClass::propagator;
      c.parents.push_back(fed);
      c.confidence = std::min(c.confidence, counted ? 0.9F : 0.6F);
      return true;
    }
    at = fed;
  }
  return false;
}

// Which tensor was passed to a function is not known for certain: one of the others with which the output is
// explained.
NANLENS_API bool Classifier::explain_by_candidate(EventRef event, Classification& c) {
  const Judgement before = c.judgement;
  const TensorHealth out = model_.health(event);
  for (InputEvidence& input : c.inputs) {
    if (input.link.state != Link::State::candidates) continue;
    const EventRef own = input.event;
    for (auto at = input.link.events.rbegin(); at != input.link.events.rend(); ++at) {
      if (model_.bad(*at) || model_.health(*at).size != out.size) continue;
      input.event = *at;
      judge_all(event, c);
      if (c.judgement.verdict == Verdict::explained) return true;
    }
    input.event = own;
  }
  c.judgement = before;
  return false;
}

// An op of nanlens' logdirs that gives one infinity: what has no input there was given none.
NANLENS_API bool Classifier::sets_infinity(EventRef event) {
  const auto kinds = static_cast<Kinds>(model_.kinds(event) & reader::bad_flags);
  return model_.owners().native() && (kinds == reader::neg_inf_flag || kinds == reader::pos_inf_flag);
}

// TensorFlow's eager ops on clean tensors and on what is not on record, as a number of Python's is not: could any
// number make such an output of them? It may be a copy of something bad as well; that is less likely.
NANLENS_API bool Classifier::made_with_constant(EventRef event, const Classification& c) {
  const bool known =
      model_.kinds_known(event) || model_.code(event) == OpCode::pow;  // the exponent most often is a number
  if (!event.is_execution || model_.owners().native() || !known) return false;
  bool any_recorded = false;
  for (const InputEvidence& input : c.inputs) {
    if (input.state == InputState::unknown && input.link.reason != Reason::eager) return false;
    any_recorded = any_recorded || (input.event.exists() && model_.health(input.event).known());
  }
  if (model_.code(event) == OpCode::matmul && spoils_few(event)) return false;
  const Kinds kinds = model_.kinds_known(event) ? model_.kinds(event) : reader::bad_flags;
  return any_recorded && (kinds & ~made_with_number(model_.code(event))) == 0;
}

// Is less than half of it bad? Weights that are too large spoil most of a product, one bad sample its own row.
NANLENS_API bool Classifier::spoils_few(EventRef event) {
  const TensorHealth health = model_.health(event);
  const double bad = health.num_nan + health.num_neg_inf + health.num_pos_inf;
  return health.size > 0 && health.num_nan >= 0 && 2 * bad < health.size;
}

// How sure it is that an op made what it is known for, of what is not on record: a few elements may be bad data as
// well.
NANLENS_API float Classifier::guess(EventRef event) {
  constexpr float perhaps = 0.5F;
  constexpr float probably = 0.6F;
  return !model_.owners().native() && spoils_few(event) ? perhaps : probably;
}

// Products and sums that are NaN in a few elements, and infinite in none: of finite numbers others would have come out
// infinite. Not a mean, which is NaN of no elements.
NANLENS_API bool Classifier::only_adds_nan(EventRef event) {
  const OpCode code = model_.code(event);
  if (model_.owners().native()) return false;  // there an input that is not known was hidden, or is gone
  const bool adds =
      code == OpCode::matmul || code == OpCode::reduce_sum || code == OpCode::add_n || code == OpCode::cumulative_sum;
  return adds && (model_.kinds(event) & reader::bad_flags) == reader::nan_flag && spoils_few(event);
}

// An input that nothing on record made, but which looks like a copy of something bad.
NANLENS_API bool Classifier::classify_copy(EventRef event, Classification& c) {
  const bool as_it_is = only_preserves(model_.code(event));
  const auto kinds = static_cast<Kinds>(as_it_is ? model_.kinds(event) & reader::bad_flags : 0);
  for (const InputEvidence& input : c.inputs) {
    Link copy;
    const bool is_open =
        input.link.reason == Reason::eager || input.link.reason == Reason::lost || is_hidden(input.link.reason);
    if (!is_open || !unrecorded_copy(event, input.link.tensor_id, model_.health(event), kinds, copy)) continue;
    c.event_class = EventClass::propagator;
    c.parents.push_back(copy.events.front());
    c.confidence = copy.confidence;
    return true;
  }
  for (const InputEvidence& input : c.inputs) {
    const EventRef made = input.link.reason == Reason::eager ? copied_at_once(event, input.link.tensor_id) : EventRef{};
    if (!made.exists()) continue;
    c.event_class = EventClass::propagator;
    c.parents.push_back(made);
    c.confidence = 0.6F;
    return true;
  }
  return false;
}

// An op that can't have made it got it from what is not known, unless a row that this run of the graph should have is
// lost: then it did not come from outside.
NANLENS_API bool Classifier::classify_arrival(EventRef event, bool contradicted, Classification& c) {
  const bool lost = std::any_of(c.inputs.begin(), c.inputs.end(), [](const InputEvidence& i) {
    return i.state == InputState::unknown && (i.link.reason == Reason::not_recorded || i.link.reason == Reason::lost ||
                                              i.link.reason == Reason::other_rank);
  });
  const bool preserved = contradicted || only_preserves(model_.code(event));
  if (lost || !(preserved || only_adds_nan(event))) return false;
  c.event_class = EventClass::source;
  c.confidence = preserved ? 0.8F : 0.7F;
  constexpr float perhaps = 0.5F;  // it may have been another one of them
  if (std::count_if(c.inputs.begin(), c.inputs.end(), is_vectorized) > 1) c.confidence = perhaps;
  Link link;
  if (event.is_execution && variables_.recent_bad(event.index, link)) {
    c.event_class = EventClass::relay;
    c.parents.push_back(link.events.front());
    c.confidence = link.confidence;
  }
  return true;
}

// Where the inputs alone don't tell: an earlier tensor with the same counts, an unrecorded read, what the op is known
// for.
NANLENS_API void Classifier::fall_back(EventRef event, Classification& c) {
  const auto pass_on = [&](EventClass as, const Link& link) {
    c.event_class = as;
    c.parents.assign(1, link.events.front());
    c.confidence = link.confidence;
  };
  if (event.is_execution && model_.calls().exchanges().find(event.index) != nullptr) return;
  const OpCode code = model_.code(event);
  const bool call = event.is_execution && model_.calls().is_call(event.index);
  Link link;
  if (!event.is_execution && is_relay(code)) {
    if (alike_before(event, link)) return pass_on(EventClass::relay, link);
    const std::uint32_t owner = model_.owners().owner(event.index);
    if (owner != none && variables_.bad_input_of(owner, link)) return pass_on(EventClass::propagator, link);
    return;
  }
  if (call) {
    c.inside = possible_.in_call(event.index);
    if (c.inside.op != none) {
      c.event_class = EventClass::producer;
      c.confidence = 0.6F;
    }
    return;
  }
  if (event.is_execution && variables_.recent_bad(event.index, link)) return pass_on(EventClass::relay, link);
  // A ring may have lost the caller; TensorFlow's does not say so.
  const bool may_be_lost = !model_.owners().native() || model_.run().kept_last() > 0;
  const auto hidden = [may_be_lost](const InputEvidence& input) {
    const Reason reason = input.link.reason;
    return is_hidden(reason) || reason == Reason::before || reason == Reason::not_recorded ||
           (may_be_lost && reason == Reason::caller);
  };
  if (std::any_of(c.inputs.begin(), c.inputs.end(), hidden)) return;  // it may have been bad as well
  const bool one_sample = code == OpCode::matmul && spoils_few(event);
  if ((likely_made(code) & model_.kinds(event)) != 0 && !one_sample) {
    c.event_class = EventClass::producer;
    c.confidence = guess(event);
  }
}

// An earlier bad row of another graph in the same call, or an input of the call, with exactly these counts.
NANLENS_API bool Classifier::alike_before(EventRef event, Link& link) {
  const TensorHealth health = model_.health(event);
  if (health.num_zero < 0) return false;
  const std::uint32_t call = model_.owners().owner(event.index);
  if (call == none) return false;
  const std::uint32_t graph = model_.graphs().graph_of(model_.run().trace_op(event.index));
  const auto rows = model_.window(call).bad_rows();
  const auto end = std::lower_bound(rows.begin(), rows.end(), event.index);
  auto i = static_cast<std::size_t>(end - rows.begin());
  for (std::size_t tried = 0; i-- > 0 && tried < limits::rows_alike; ++tried) {
    model_.spend(1);
    if (model_.graphs().graph_of(model_.run().trace_op(rows[i])) == graph) continue;
    if (!same_counts(health, model_.health(trace_event(rows[i])))) continue;
    link.set_event(trace_event(rows[i]), 0.7F);
    return true;
  }
  for (const TensorUse& use : model_.calls().inputs(call)) {
    const auto producer = model_.calls().producer(use.tensor_id, call);
    if (!producer) continue;
    const EventRef candidate = execution_event(producer->execution, producer->position);
    if (!model_.bad(candidate) || !same_counts(health, model_.health(candidate))) continue;
    link.set_event(candidate, 0.7F);
    return true;
  }
  return false;
}

}  // namespace nanlens::causes
