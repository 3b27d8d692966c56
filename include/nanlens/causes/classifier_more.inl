// Part of classifier.hpp: what an op made by itself beside what it passed on.
#pragma once

#include <limits>

namespace nanlens::causes {

// Most elements of an output that the bad ones of an input can have spoilt, where an op works element by element: a
// smaller input is repeated, by an op of two. Infinity where that is not counted.
NANLENS_API double Classifier::num_spoilt(OpCode code, const TensorHealth& in, const TensorHealth& out) {
  const bool fits = is_elementwise(code) ? in.size == out.size : in.size <= out.size;
  if (in.num_nan < 0 || in.size <= 0 || !fits) return std::numeric_limits<double>::infinity();
  return (in.num_nan + in.num_neg_inf + in.num_pos_inf) * out.size / in.size;
}

// Are more elements bad than were passed on?
NANLENS_API bool Classifier::exceeds(EventRef event, double num_passed) {
  const TensorHealth out = model_.health(event);
  return out.num_nan >= 0 && out.num_nan + out.num_neg_inf + out.num_pos_inf > num_passed;
}

// Can it matter what the counts are? Only of what an op adds to a mask, which holds no NaN; and counts have to be read.
NANLENS_API bool Classifier::may_add_to_mask(EventRef event, const std::vector<EventRef>& parents) {
  const OpCode code = model_.code(event);
  if (!broadcasts(code) || only_preserves(code)) return false;
  return std::none_of(parents.begin(), parents.end(),
                      [this](EventRef parent) { return (model_.flags(parent) & reader::nan_flag) != 0; });
}

// Of two masks that meet, one may account for all that is bad, and the other for a part of it: it is the first that is
// passed on.
NANLENS_API void Classifier::leave_out_smaller_mask(EventRef event, std::vector<EventRef>& parents) {
  if (parents.size() != 2 || !may_add_to_mask(event, parents)) return;
  const OpCode code = model_.code(event);
  const TensorHealth out = model_.health(event);
  const bool exceeds_first = exceeds(event, num_spoilt(code, model_.health(parents[0]), out));
  const bool exceeds_second = exceeds(event, num_spoilt(code, model_.health(parents[1]), out));
  if (exceeds_first != exceeds_second) parents.erase(parents.begin() + (exceeds_first ? 0 : 1));
}

// By the rows alone; what else went in is looked at by `has_made_more`.
NANLENS_API bool Classifier::may_have_made_more(EventRef event, const std::vector<EventRef>& parents) {
  if (!may_add_to_mask(event, parents)) return false;
  const OpCode code = model_.code(event);
  const TensorHealth out = model_.health(event);
  double passed = 0;
  model_.spend(parents.size());
  for (const EventRef& parent : parents) passed += num_spoilt(code, model_.health(parent), out);
  return exceeds(event, passed);
}

// Did finite elements of all inputs become bad ones beside what was passed on?
NANLENS_API bool Classifier::has_made_more(EventRef event, const Classification& c) {
  constexpr float nearly_sure = 0.9F;
  const OpCode code = model_.code(event);
  if (c.confidence < nearly_sure || !may_add_to_mask(event, c.parents)) return false;
  const TensorHealth out = model_.health(event);
  double passed = 0;
  for (const InputEvidence& input : c.inputs) {
    if (input.written_over) return false;
    if (input.state == InputState::clean) continue;
    if (input.state != InputState::bad) return false;
    passed += num_spoilt(code, input.seen ? input.now : model_.health(input.event), out);
  }
  return exceeds(event, passed);
}

}  // namespace nanlens::causes
