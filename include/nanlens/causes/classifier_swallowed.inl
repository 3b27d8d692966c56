// Part of classifier.hpp: what an op made of a NaN without giving one, and what came of that.
#pragma once

namespace nanlens::causes {

// TensorFlow's MaxPool looks for the largest element, and a NaN is none: of nothing but NaN it gives the lowest number,
// which the next sum takes beyond the range.
NANLENS_API bool Classifier::classify_swallowed(Classification& c) {
  if (model_.owners().native()) return false;
  const Judgement& j = c.judgement;
  if (j.verdict != Verdict::none && j.mechanism != Mechanism::overflow) return false;
  for (const InputEvidence& input : c.inputs) {
    const EventRef swallowed = swallowed_before(input.event);
    if (!swallowed.exists()) continue;
    constexpr float probably = 0.7F;
    c.event_class = EventClass::propagator;
    c.parents.assign(1, swallowed);
    c.confidence = probably;
    return true;
  }
  return false;
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
    if (pools) {
      const bool nan =
          fed.exists() && model_.bad(fed) && (!model_.kinds_known() || (model_.kinds(fed) & reader::nan_flag) != 0);
      return nan ? fed : EventRef{};
    }
    clean = fed;
  }
  return {};
}

}  // namespace nanlens::causes
