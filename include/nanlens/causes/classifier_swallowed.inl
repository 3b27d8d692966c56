// Part of classifier.hpp: what an op made of a NaN without giving one, and what came of that.
#pragma once

namespace nanlens::causes {

// TensorFlow's MaxPool looks for the largest element, and a NaN is none: of nothing but NaN it gives the lowest number,
// which the next sum takes beyond the range. The gradient of Max divides by how many elements equal the maximum; a NaN
// equals nothing.
NANLENS_API bool Classifier::classify_swallowed(EventRef event, Classification& c) {
  if (model_.owners().native()) return false;
  const Judgement& j = c.judgement;
  const bool quotient = model_.code(event) == OpCode::divide;
  EventRef swallowed;
  if (quotient && (j.verdict == Verdict::none || j.mechanism == Mechanism::div00))
    swallowed = event.is_execution ? compared_before(event) : compared_in_graph(event);
  else if (j.verdict == Verdict::none || j.mechanism == Mechanism::overflow)
    for (std::size_t i = 0; i < c.inputs.size() && !swallowed.exists(); ++i)
      swallowed = swallowed_before(c.inputs[i].event);
  if (!swallowed.exists()) return false;
  constexpr float probably = 0.7F;
  c.event_class = EventClass::propagator;
  c.parents.assign(1, swallowed);
  c.confidence = probably;
  return true;
}

namespace detail {

// How many zeros an op makes of infinities: it makes one of each, and counts tell whether it made others.
inline double zeros_of_infinities(OpCode code, std::string_view type, const TensorHealth& in) {
  if (code == OpCode::reciprocal) return in.num_neg_inf + in.num_pos_inf;
  if (code == OpCode::rsqrt) return in.num_pos_inf;
  constexpr std::string_view aten = "aten::";
  const std::string name = plain_name(type.starts_with(aten) ? type.substr(aten.size()) : type);
  constexpr std::string_view flattening[] = {"exp", "relu", "relu6", "sigmoid", "softplus"};
  return std::find(std::begin(flattening), std::end(flattening), name) == std::end(flattening) ? 0 : in.num_neg_inf;
}

}  // namespace detail

// An op that fails at zeros, all of which came of infinities that the op before turned into them: those are what is
// passed on.
NANLENS_API bool Classifier::classify_zeros(EventRef event, Classification& c) {
  const OpCode code = model_.code(event);
  const std::size_t place = code == OpCode::divide || code == OpCode::modulo ? 1 : 0;
  if (!fails_at_zero(code) || place >= c.inputs.size()) return false;
  const InputEvidence& input = c.inputs[place];
  const bool one = input.state == InputState::clean && input.event.exists();
  if (!one || c.judgement.verdict != Verdict::explained) return false;
  const TensorHealth zeros = input.seen ? input.now : model_.health(input.event);
  std::vector<InputEvidence> before;
  find_inputs(input.event, before);
  if (before.size() != 1 || before[0].state != InputState::bad) return false;
  const TensorHealth in = before[0].seen ? before[0].now : model_.health(before[0].event);
  if (!(zeros.num_zero > 0) || in.num_zero < 0 || in.size != zeros.size) return false;
  const double made = detail::zeros_of_infinities(model_.code(input.event), model_.op_type(input.event), in);
  if (made != zeros.num_zero) return false;
  c.event_class = EventClass::propagator;
  c.parents.assign(1, before[0].event);
  c.confidence = std::min(c.confidence, before[0].link.confidence);
  return true;
}

// Does an op count what a comparison found, or hand the count on in another shape or type?
NANLENS_API bool Classifier::counts(OpCode code, std::string_view type) {
  return code == OpCode::cast || code == OpCode::reduce_sum || keeps_all(code, type);
}

// The NaN that was compared to find what a quotient is divided by: the number of elements that are equal.
NANLENS_API EventRef Classifier::compared_in_graph(EventRef quotient) {
  GraphFacts& graphs = model_.graphs();
  const OpLinks* op = &graphs.op(model_.run().trace_op(quotient.index));
  if (op->inputs.size() != 2) return {};
  const Window& window = model_.window(model_.owners().owner(quotient.index));
  std::uint32_t at = op->inputs[1].op;
  for (int steps = 0; steps < farthest_count && at != none; ++steps) {
    op = &graphs.op(at);
    if (graphs.op_type(at) == "Equal") {
      for (const InputEdge& edge : op->inputs) {
        if (edge.op == none) continue;
        const std::uint32_t row = window.find(graphs.tensor(edge.op, edge.slot), window.run_of(quotient.index));
        if (row != none && holds_nan(trace_event(row))) return trace_event(row);
      }
      return {};
    }
    if (op->inputs.empty() || !counts(op->code, graphs.op_type(at))) return {};
    at = op->inputs[0].op;
  }
  return {};
}

// The same of eager ops.
NANLENS_API EventRef Classifier::compared_before(EventRef quotient) {
  const auto ids = model_.calls().inputs(quotient.index);
  if (ids.size() != 2) return {};
  auto made = model_.calls().producer(ids[1].tensor_id, quotient.index);
  for (int steps = 0; steps < farthest_count && made; ++steps) {
    const EventRef result = execution_event(made->execution, 0);
    const auto inputs = model_.calls().inputs(made->execution);
    if (model_.op_type(result) == "Equal") {
      for (const TensorUse& input : inputs) {
        const auto compared = model_.calls().producer(input.tensor_id, made->execution);
        const EventRef event = compared ? execution_event(compared->execution, compared->position) : EventRef{};
        if (event.exists() && holds_nan(event)) return event;
      }
      return {};
    }
    if (inputs.empty() || !counts(model_.code(result), model_.op_type(result))) return {};
    made = model_.calls().producer(inputs[0].tensor_id, made->execution);
  }
  return {};
}

NANLENS_API bool Classifier::holds_nan(EventRef event) {
  return model_.bad(event) && (!model_.kinds_known(event) || (model_.kinds(event) & reader::nan_flag) != 0);
}

// The NaN of which MaxPool made this clean tensor, perhaps in another shape by now.
NANLENS_API EventRef Classifier::swallowed_before(EventRef clean) {
  std::vector<InputEvidence> inputs;
  constexpr int farthest = 4;
  for (int steps = 0; steps < farthest && clean.exists() && !model_.bad(clean); ++steps) {
    const std::string_view type = model_.op_type(clean);
    const bool pools = type.starts_with("MaxPool") && !type.ends_with("Grad") && !type.ends_with("GradV2");
    if (!pools && !keeps_all(model_.code(clean), type)) return {};
    find_inputs(clean, inputs);
    const EventRef fed = inputs.empty() ? EventRef{} : inputs[0].event;
    if (pools) return fed.exists() && holds_nan(fed) ? fed : EventRef{};
    clean = fed;
  }
  return {};
}

}  // namespace nanlens::causes
