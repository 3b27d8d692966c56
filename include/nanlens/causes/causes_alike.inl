// Part of causes.hpp: ops that failed alike are one cause, and which of them leads.
#pragma once

#include <nanlens/causes/autograd_name.hpp>
#include <nanlens/causes/stack_of.hpp>

namespace nanlens::causes {

// The clean inputs whose zeros an op that divides, or takes a logarithm, may have failed on. Their origins: what two
// ops share may reach them under two names.
NANLENS_API void Causes::collect_failing(const std::vector<InputEvidence>& evidence, Step& step) {
  const OpCode code = model_.code(step.event);
  if (!fails_at_zero(code) || code == OpCode::nll_loss) return;  // which divides by what is no input of it
  const bool divides = code == OpCode::divide || code == OpCode::modulo;
  const std::size_t place = code == OpCode::add_quotient ? 2 : divides ? 1 : 0;  // of what may not be 0
  // 0/0 is NaN by what both hold; what is infinite is so by the divisor.
  const bool by_both = code == OpCode::divide && (model_.kinds(step.event) & ~reader::nan_flag) == 0;
  std::vector<EventRef> inputs;
  for (std::size_t i = 0; i < evidence.size() && inputs.size() < step.failing.size(); ++i) {
    const InputEvidence& input = evidence[i];
    const bool may_fail = by_both || i == place;
    if (may_fail && input.event.exists() && input.state == InputState::clean) inputs.push_back(input.event);
  }
  if (step.event.is_execution && place < evidence.size() && !evidence[place].event.exists())
    step.failing_tensor = evidence[place].link.tensor_id;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool counted = model_.health(inputs[i]).num_zero >= 0;
    constexpr float probably = 0.65F;  // a gradient's argument is known by its name
    if (!counted || (model_.flags(inputs[i]) & reader::zero_flag) != 0) step.failing[i] = origin(inputs[i], probably);
  }
}

// Did both fail on the zeros of one tensor?
NANLENS_API bool Causes::fails_alike(const Step& step, const Root& root) {
  if (!fails_at_zero(model_.code(step.event)) || !fails_at_zero(model_.code(root.event))) return false;
  if (step.failing_tensor >= 0 && step.failing_tensor == root.failing_tensor)
    return model_.set_of(step.event) == model_.set_of(root.event);
  return std::any_of(step.failing.begin(), step.failing.end(), [&](EventRef e) {
    return e.exists() && std::find(root.failing.begin(), root.failing.end(), e) != root.failing.end();
  });
}

// In the same call, or one of the next: forward and backward functions that a program calls itself.
NANLENS_API bool Causes::near_root(EventRef event, const Root& root) {
  constexpr std::uint32_t near = 4;
  if (event.is_execution && root.event.is_execution) return true;  // eager gradients run after the whole of a model
  const std::uint32_t call = event.is_execution ? event.index : model_.owners().owner(event.index);
  if (call == root.call) return true;
  if (call == none || root.call == none) return false;
  const std::uint32_t a = model_.calls().place_in_set(call);
  const std::uint32_t b = model_.calls().place_in_set(root.call);
  return (a > b ? a - b : b - a) <= near;
}

// A gradient that fails together with the op whose gradient it is, or on the very zeros on which another op failed: one
// cause; so is a number that comes in bad while that gradient runs. Rows of nested functions are in no order: the
// gradient may have come first.
NANLENS_API std::uint32_t Causes::same_failure(const Step& step) {
  constexpr std::size_t most = 32;
  for (std::size_t r = roots_.size(), tried = 0; r-- > 0 && tried < most; ++tried) {
    const Root& root = roots_[r];
    if (root.event_class != EventClass::producer) continue;
    if (fails_alike(step, root) || (near_root(step.event, root) &&
                                    (is_gradient_of(step.event, root.event) || is_gradient_of(root.event, step.event))))
      return static_cast<std::uint32_t>(r);
  }
  return none;
}

NANLENS_API void Causes::lead(Root& root, const Step& step) {
  root.event = step.event;
  root.alert = step.alert;
  root.confidence = step.confidence;
  root.doubted = step.doubted;
  root.failing = step.failing;
  root.failing_tensor = step.failing_tensor;
}

// Of an op and its gradient, the op leads, whichever was found first. Others that fail on the same zeros may lead
// later.
NANLENS_API void Causes::note_twin(std::uint32_t number, const Step& step) {
  Root& root = roots_[number];
  if (is_gradient_op(root.event)) {
    if (is_gradient_op(step.event)) return;
    note_parent(root.alert, step.alert);
    lead(root, step);
    return;
  }
  Twins& twins = twins_[number];
  const auto is_same = [&](const Step& twin) { return same_op(twin.event, step.event); };
  if (twins.ops.size() == limits::twins_of_root || twins.gradient != none || same_op(root.event, step.event) ||
      std::any_of(twins.ops.begin(), twins.ops.end(), is_same))
    return;
  const auto is_its_gradient = [&](const Step& twin) { return is_gradient_of(step.event, twin.event); };
  const bool of_root = is_gradient_of(step.event, root.event);
  if (!of_root && std::any_of(twins.ops.begin(), twins.ops.end(), is_its_gradient)) return;
  if (of_root || is_any_gradient(step.event)) {
    twins.gradient = step.alert;
    return;
  }
  if (twins.ops.empty()) twins.ops.push_back(step_of(root));
  twins.ops.push_back(step);
}

// Of a gradient that failed together with its op, the op's story is told. Another op that failed alike has its own.
NANLENS_API bool Causes::is_other_op(EventRef event, const Root& root) {
  return known_class(event) == EventClass::producer && !is_any_gradient(event) && !is_gradient_of(event, root.event);
}

NANLENS_API bool Causes::same_op(EventRef a, EventRef b) {
  if (a.is_execution || b.is_execution) return a.is_execution == b.is_execution && a.index == b.index;
  return run().trace_op(a.index) == run().trace_op(b.index);
}

NANLENS_API Causes::Step Causes::step_of(const Root& root) {
  Step step{root.alert, root.event, root.event_class, root.confidence, false, root.doubted};
  step.failing = root.failing;
  step.failing_tensor = root.failing_tensor;
  return step;
}

// The first leads of which something was made. Failing that, the first that no choice has left out. A gradient that
// failed with the first of all is not left out: the choice gives it a 0, which it multiplies by infinity.
NANLENS_API void Causes::choose_leads() {
  for (const auto& [number, twins] : twins_) {
    if (twins.ops.empty()) continue;
    const auto first = [&, &ops = twins.ops](const auto& is) {
      const auto found = std::find_if(ops.begin(), ops.end(), [&](const Step& twin) { return is(fates_[twin.alert]); });
      return found == ops.end() ? nullptr : &*found;
    };
    const Step* leads = twins.gradient != none ? &twins.ops.front() : nullptr;
    if (leads == nullptr) leads = first([](std::uint8_t fate) { return (fate & passed_on) != 0; });
    if (leads == nullptr) leads = first([](std::uint8_t fate) { return fate != chosen_from; });
    lead(roots_[number], leads == nullptr ? twins.ops.front() : *leads);
  }
}

NANLENS_API std::vector<EventRef> Causes::failed_alike(std::uint32_t root) const {
  std::vector<EventRef> others;
  if (const auto found = twins_.find(root); found != twins_.end())
    for (const Step& twin : found->second.ops)
      if (twin.alert != roots_[root].alert) others.push_back(twin.event);
  return others;
}

// Of ops that failed alike, one that does not lead, and of which a choice has left out all.
NANLENS_API bool Causes::is_left_out_twin(std::uint32_t alert) const {
  const auto found = twins_.find(root_of_alert(alert));
  if (found == twins_.end() || roots_[found->first].alert == alert || fates_[alert] != chosen_from) return false;
  const auto& ops = found->second.ops;
  return std::any_of(ops.begin(), ops.end(), [&](const Step& twin) { return twin.alert == alert; });
}

// While the pass goes on, and what fails alike is found by what the first failed on.
NANLENS_API void Causes::lead_with_first() {
  for (const auto& [number, twins] : twins_)
    if (!twins.ops.empty()) lead(roots_[number], twins.ops.front());
}

NANLENS_API void Causes::keep_twins(std::size_t keep, const std::vector<std::uint32_t>& new_number) {
  for (auto& [number, twins] : std::exchange(twins_, {})) {
    if (new_number[number] == none) continue;
    Twins& kept = twins_[new_number[number]] = twins;
    std::erase_if(kept.ops, [&](const Step& twin) { return twin.alert >= keep; });
    if (kept.gradient != none && kept.gradient >= keep) kept.gradient = none;
  }
}

// By name, as TensorFlow gives it.
NANLENS_API bool Causes::is_gradient_op(EventRef event) {
  if (event.is_execution || model_.owners().native()) return false;
  const std::string_view name = model_.graphs().op_name(run().trace_op(event.index));
  return !detail::gradient_scope(name).empty() || name.starts_with(detail::tape_prefix);
}

// The same of an op that runs by itself: by the name of PyTorch's node, or by what walks TensorFlow's tape.
NANLENS_API bool Causes::is_any_gradient(EventRef event) {
  if (!event.is_execution) return is_gradient_op(event);
  if (model_.owners().native()) return scaled_.is_of_backward_pass(event.index);
  const auto frames = stack_of(run(), event);
  return std::any_of(frames.begin(), frames.end(),
                     [](const auto& frame) { return frame.function == "imperative_grad"; });
}

// An op of a node of PyTorch's backward pass: by the node's name, and the line that both have. Of two ops of such nodes
// neither is the other's: a node's ops have types that forward ops have, too.
NANLENS_API bool Causes::is_eager_gradient_of(EventRef event, EventRef forward) {
  if (scaled_.is_of_backward_pass(forward.index)) return false;
  if (!is_node_of(extension_of(run(), event).op_name, model_.op_type(forward))) return false;
  const auto line = reader::user_frame(stack_of(run(), event));
  const auto forward_line = reader::user_frame(stack_of(run(), forward));
  return line && forward_line && line->line > 0 && line->line == forward_line->line &&
         line->file_path == forward_line->file_path;
}

// By name: "gradients/<op>_grad/…" in the gradient function of the op's graph, or in the op's own graph; there also
// "gradient_tape/<op>/…", of an op that has a scope of its own.
NANLENS_API bool Causes::is_gradient_of(EventRef event, EventRef forward) {
  if (event.is_execution && forward.is_execution) return is_eager_gradient_of(event, forward);
  if (event.is_execution || forward.is_execution) return false;
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t op = run().trace_op(event.index);
  const std::uint32_t forward_op = run().trace_op(forward.index);
  const std::uint32_t graph = graphs.graph_of(op);
  const std::string_view forward_name = graphs.op_name(forward_op);
  if (detail::tape_scope(graphs.op_name(op)) == forward_name) return graph == graphs.graph_of(forward_op);
  if (detail::gradient_scope(graphs.op_name(op)) != forward_name) return false;
  const std::uint32_t forward_graph = graphs.graph_of(forward_op);
  if (graph == forward_graph || model_.nested().forward_of(graph) == forward_graph) return true;
  // That of a loop's body or a branch: "while_body_277_grad_332" of "while_body_277".
  const std::string_view forward_graph_name = graphs.graph_name(forward_graph);
  const std::string_view graph_name = graphs.graph_name(graph);
  return !forward_graph_name.empty() && graph_name.starts_with(forward_graph_name) &&
         graph_name.substr(forward_graph_name.size()).starts_with("_grad_");
}

}  // namespace nanlens::causes
