// Part of classifier.hpp: what other ops came to that took the same tensor, of which nothing is on record.
#pragma once

namespace nanlens::causes {

NANLENS_API void Classifier::find_unrecorded(Classification& c) const {
  if (model_.owners().native() || !c.parents.empty()) return;
  for (const InputEvidence& input : c.inputs) {
    if (input.state != InputState::unknown) continue;
    if (!is_unrecorded(input.link.reason) || input.link.tensor_id < 0) return c.unrecorded.clear();
    if (std::find(c.unrecorded.begin(), c.unrecorded.end(), input.link.tensor_id) == c.unrecorded.end())
      c.unrecorded.push_back(input.link.tensor_id);
  }
  if (c.unrecorded.size() == 1) c.unrecorded_id = c.unrecorded.front();
}

// Data that came as a constant go into several ops. Where one of them can only have passed on what is bad, the others
// need not have made theirs.
NANLENS_API void Classifier::learn_from_others(EventRef event, Classification& c) {
  find_unrecorded(c);
  const bool guessed = c.event_class == EventClass::producer && c.judgement.verdict != Verdict::explained &&
                       (created_kinds(model_.code(event)) & model_.kinds(event)) == 0;
  const bool known = c.event_class == EventClass::source && c.unrecorded.size() < 2;
  const std::uint32_t user = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (asks_others_ || known || (c.event_class == EventClass::producer && !guessed) || user == none) return;
  for (const std::int64_t id : c.unrecorded) {
    const EventRef witness = witness_of(id, user);
    if (!witness.exists() || witness == event || !accounts_for(witness, event)) continue;
    constexpr float probably = 0.7F;
    c.event_class = EventClass::source;
    c.confidence = probably;
    c.unrecorded_id = id;
    return;
  }
}

// Could what was bad in the tensor, as the witness shows it, have led to what came of another op?
NANLENS_API bool Classifier::accounts_for(EventRef witness, EventRef event) {
  if (!model_.kinds_known(witness) || !model_.kinds_known(event)) return true;
  const Kinds shown = model_.kinds(witness) & reader::bad_flags;
  const Kinds found = model_.kinds(event) & reader::bad_flags;
  if (shown == reader::nan_flag && found != reader::nan_flag) return false;
  const TensorHealth there = model_.health(witness);
  const TensorHealth here = model_.health(event);
  if (there.size != here.size || !is_elementwise(model_.code(event))) return true;
  return here.num_nan + here.num_neg_inf + here.num_pos_inf <= there.num_nan + there.num_neg_inf + there.num_pos_inf;
}

// An op that took the tensor, and whose result shows that it was bad. `user`: an execution that takes it.
NANLENS_API EventRef Classifier::witness_of(std::int64_t tensor_id, std::uint32_t user) {
  const auto uses = model_.calls().uses_of(tensor_id, user);
  if (uses.empty()) return {};
  const auto [known, is_new] = witnesses_.try_emplace({uses.front().set, tensor_id});
  if (!is_new) return known->second;
  if (uses.size() > limits::consumers_looked_at) model_.reach_limit(Limit::consumers);
  const auto looked_at = uses.first(std::min(uses.size(), limits::consumers_looked_at));
  asks_others_ = true;
  Classification c;
  const auto shows = [&](EventRef event) {
    if (!model_.bad(event)) return false;
    classify(event, c);
    return c.event_class == EventClass::source && c.unrecorded_id == tensor_id;
  };
  EventRef witness;
  for (std::size_t i = 0; i < looked_at.size() && !witness.exists(); ++i) witness = find_result(looked_at[i], shows);
  asks_others_ = false;
  return witnesses_[{uses.front().set, tensor_id}] = witness;
}

// The first event that directly comes of a use of a tensor for which `shows(event)` is true: an output of the op, or a
// row of the function that took it as an argument.
template <class Shows>
EventRef Classifier::find_result(const TensorUse& use, Shows&& shows) {
  const std::uint32_t user = use.execution;
  if (!model_.calls().is_call(user)) {
    const std::size_t num_outputs = std::min(model_.num_outputs(user), limits::consumers_looked_at);
    model_.spend(num_outputs);
    for (std::size_t slot = 0; slot < num_outputs; ++slot)
      if (const EventRef event = execution_event(user, slot); shows(event)) return event;
    return {};
  }
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t graph = model_.owners().graph_of_call(user);
  if (graph == none || use.position >= graphs.links(graph).placeholders.size()) return {};
  const std::uint32_t argument = graphs.links(graph).placeholders[use.position];
  const auto& edges = graphs.op(argument).consumers;
  const std::size_t num_edges = std::min(edges.size(), limits::consumers_looked_at);
  model_.spend(num_edges);
  for (std::size_t i = 0; i < num_edges; ++i) {
    const std::uint32_t row = model_.window(user).find(graphs.tensor(edges[i].op, 0), 0);
    if (row != none && shows(trace_event(row))) return trace_event(row);
  }
  return {};
}

}  // namespace nanlens::causes
