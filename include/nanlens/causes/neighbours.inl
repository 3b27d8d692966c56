// Part of neighbours.hpp.
#pragma once

namespace nanlens::causes {

NANLENS_API Place Neighbours::place_of(std::uint32_t row) { return causes_.classifier().resolver().place_of(row); }

NANLENS_API Place Neighbours::place_in_call(std::uint32_t graph, std::uint32_t call) {
  Place place{call, graph, none, none};
  if (call < model_.calls().size() && model_.window(call).run_begin(graph, 0) != none) place.run = 0;
  return place;
}

NANLENS_API EventRef Neighbours::output(const Place& place, std::uint32_t op, std::size_t slot) {
  if (place.run == none || model_.graphs().graph_of(op) != place.graph || slot > 0xffff) return {};
  const std::uint32_t tensor = model_.graphs().tensor(op, static_cast<std::uint32_t>(slot));
  const std::uint32_t row = model_.window(place.call).find(tensor, place.run);
  return row == none ? EventRef{} : trace_event(row);
}

NANLENS_API std::vector<InputEvidence> Neighbours::inputs(const Place& place, std::uint32_t op) {
  const OpLinks& links = model_.graphs().op(op);
  Classifier& classifier = causes_.classifier();
  std::vector<InputEvidence> found;
  for (std::uint32_t slot = 0; slot < links.num_outputs; ++slot)
    if (const EventRef own = output(place, op, slot); own.exists()) {
      classifier.find_inputs(own, found);
      return found;
    }
  if (place.run == none) return found;
  classifier.resolver().begin_question();
  if (links.code == OpCode::placeholder) {
    classifier.resolver().argument(place, op, found.emplace_back().link);
  } else {
    for (std::size_t k = 0; k < links.inputs.size(); ++k) {
      found.emplace_back().input = static_cast<std::uint32_t>(k);
      classifier.resolver().tensor(place, links.inputs[k], found.back().link);
    }
  }
  for (InputEvidence& input : found) {
    const bool one = input.link.state == Link::State::events && !input.link.events.empty();
    if (!one) continue;
    input.event = input.link.events.back();
    input.state = model_.bad(input.event) ? InputState::bad : InputState::clean;
  }
  return found;
}

NANLENS_API std::vector<ConsumerEvidence> Neighbours::consumers(const Place& place, std::uint32_t op) {
  std::vector<ConsumerEvidence> found;
  for (const ConsumerEdge& edge : model_.graphs().op(op).consumers)
    found.push_back({edge.op, edge.output_slot, edge.input_slot, output(place, edge.op, 0)});
  return found;
}

NANLENS_API EventRef Neighbours::behind(EventRef event) {
  std::vector<InputEvidence> inputs;
  causes_.classifier().find_inputs(event, inputs);
  constexpr float sure = 0.65F;
  if (inputs.size() != 1 || !inputs[0].event.exists() || inputs[0].link.confidence < sure) return {};
  return inputs[0].event;
}

}  // namespace nanlens::causes
