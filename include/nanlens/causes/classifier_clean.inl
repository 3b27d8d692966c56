// Part of classifier.hpp: that a tensor of which nothing is on record was clean, as another op that took it shows.
#pragma once

namespace nanlens::causes {

// TensorFlow's tensors do not change: where an op that took one came out clean, and would not have, had it been bad,
// the tensor is clean wherever it goes in.
NANLENS_API void Classifier::find_clean(EventRef event, std::vector<InputEvidence>& inputs) {
  if (model_.owners().native() || is_relay(model_.code(event))) return;
  if (event.is_execution && model_.calls().is_call(event.index)) return;
  for (InputEvidence& input : inputs) {
    if (input.state != InputState::unknown) continue;
    EventRef shown_by = event.is_execution ? EventRef{} : clean_beside(event, input.input);
    if (!shown_by.exists() && is_unrecorded(input.link.reason)) shown_by = clean_before(event, input.link.tensor_id);
    if (!shown_by.exists()) continue;
    input.shown_by = shown_by;
    input.state = InputState::clean;
    input.link.set_clean(1);
  }
}

// The result of an op that took the same tensor in the same run of the graph.
NANLENS_API EventRef Classifier::clean_beside(EventRef event, std::uint32_t input) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t index = model_.run().trace_op(event.index);
  const auto& inputs = graphs.op(index).inputs;
  if (input >= inputs.size() || inputs[input].op == none) return {};
  const std::uint32_t call = model_.owners().owner(event.index);
  const InputEdge taken = resolver_.recorded_under(call, inputs[input]);
  if (taken.op == none) return {};
  const Window& window = model_.window(call);
  if (!window.even(graphs.graph_of(index))) return {};
  const std::uint32_t run = window.run_of(event.index);
  const auto& edges = graphs.op(taken.op).consumers;
  constexpr std::size_t few = 64;  // each of many that took it would look at all of them
  const std::size_t num_edges = std::min(edges.size(), few);
  model_.spend(num_edges);
  for (std::size_t i = 0; i < num_edges; ++i) {
    if (edges[i].output_slot != taken.slot) continue;
    const std::uint32_t row = window.find(graphs.tensor(edges[i].op, 0), run);
    if (row != none && row != event.index && shows_clean_inputs(trace_event(row))) return trace_event(row);
  }
  return {};
}

// The result of an execution, or of an op of a function, that took the same eager tensor before.
NANLENS_API EventRef Classifier::clean_before(EventRef event, std::int64_t tensor_id) {
  const std::uint32_t user = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (tensor_id < 0 || user == none) return {};
  const auto uses = model_.calls().uses_of(tensor_id, user);
  if (uses.empty()) return {};
  const auto [known, is_new] = clean_results_.try_emplace({uses.front().set, tensor_id});
  if (is_new) {
    constexpr std::size_t few = 16;  // a call's rows are looked up for each
    const auto shows = [this](EventRef result) { return shows_clean_inputs(result); };
    for (std::size_t i = 0; i < std::min(uses.size(), few) && !known->second.exists(); ++i)
      known->second = find_result(uses[i], shows);
  }
  const EventRef result = known->second;
  if (!result.exists()) return {};
  const std::uint32_t maker = result.is_execution ? result.index : model_.owners().owner(result.index);
  const bool before = maker < user || (maker == user && !event.is_execution && result.index < event.index);
  return before ? result : EventRef{};
}

// Is the result clean, and would it be bad if anything that went in was? Products with nothing but zeros show nothing:
// TensorFlow's optimizer leaves them out.
NANLENS_API bool Classifier::shows_clean_inputs(EventRef result) {
  const TensorHealth health = model_.health(result);
  const bool all_zeros = health.num_zero >= 0 && health.num_zero == health.size;
  return !model_.bad(result) && health.known() && health.size != 0 && !all_zeros &&
         shows_all_that_is_bad(model_.op_type(result));
}

}  // namespace nanlens::causes
