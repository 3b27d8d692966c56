// Part of classifier.hpp: what lay in the memory that an op has written.
#pragma once

namespace nanlens::causes {

namespace detail {

// Is an input 0 in all places where an output is bad, and not so everywhere that more places should be?
inline bool is_zero_where(const TensorEvidence& input, const TensorEvidence& output) {
  const TensorHealth in = seen_health(input);
  const TensorHealth out = seen_health(output);
  if (in.num_zero == in.size && out.num_nan + out.num_neg_inf + out.num_pos_inf < out.size) return false;
  std::vector<double> values = input.values;
  if (values.empty())
    if (const auto stored = reader::stored_tensor(input)) values = values_at_bad(*stored, output);
  return !values.empty() && std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

}  // namespace detail

// Is the tensor bad wherever another was that lay in its memory before, as far as both tell?
NANLENS_API bool Classifier::is_bad_where(const TensorEvidence& now, EventRef before) {
  const auto was = output_evidence(model_.run(), before);
  const TensorHealth here = seen_health(now);
  const TensorHealth there = model_.health(before);
  if (here.dtype != there.dtype || here.size != there.size || here.num_nan < there.num_nan) return false;
  if (!was) return true;
  const auto places = places_of(now);
  const bool all = static_cast<double>(places.size()) == here.num_nan + here.num_neg_inf + here.num_pos_inf;
  const auto old = places_of(*was);
  return std::all_of(old.begin(), old.end(), [&](std::uint64_t place) {
    return std::binary_search(places.begin(), places.end(), place) ||
           (!all && (places.empty() || place > places.back()));
  });
}

// Was what an input's memory held before bad where the output is not, although they have the same number of elements?
NANLENS_API bool Classifier::is_gone(EventRef event, EventRef before) {
  const auto now = output_evidence(model_.run(), event);
  if (!now) return false;
  const TensorHealth here = seen_health(*now);
  const TensorHealth there = model_.health(before);
  return here.dtype == there.dtype && here.size == there.size && !is_bad_where(*now, before);
}

// What an output was written over, if that was bad; `tensor` as TensorEvidence::recorded_id has it.
NANLENS_API EventRef Classifier::lay_there(EventRef event, std::int64_t tensor) {
  if (tensor > 0) {
    const std::uint32_t user = event.is_execution ? event.index : model_.owners().owner(event.index);
    const auto made = model_.calls().producer(tensor - 1, user);
    if (!made) return {};
    const EventRef found = execution_event(made->execution, made->position);
    return model_.bad(found) ? found : EventRef{};
  }
  if (tensor == 0 || event.is_execution) return {};
  const Window& window = model_.window(model_.owners().owner(event.index));
  const auto rows = window.bad_rows();
  auto row = std::lower_bound(rows.begin(), rows.end(), event.index);
  for (std::size_t tried = 0; row != rows.begin() && tried < limits::rows_alike; ++tried) {
    model_.spend(1);
    --row;
    const std::uint32_t op = model_.run().trace_op(*row);
    const auto digest = model_.run().trace_digest(*row);
    if (!digest || std::int64_t{model_.graphs().op(op).first_tensor_id} + digest->output_slot != -1 - tensor) continue;
    return window.run_of(*row) == window.run_of(event.index) ? trace_event(*row) : EventRef{};
  }
  return {};
}

// Were two events made by ops of one type at one line?
NANLENS_API bool Classifier::is_same_site(EventRef a, EventRef b) {
  if (std::string(model_.op_type(a)) != model_.op_type(b)) return false;
  const auto one = reader::user_frame(stack_of(model_.run(), a));
  const auto other = reader::user_frame(stack_of(model_.run(), b));
  return !one || !other || (one->line == other->line && one->file_path == other->file_path);
}

// An op that was recorded with none of its inputs bad, and has written over what was bad in the same places: it may
// have read that, as `x *= scale` does. Not where an input is 0 there, nor where the op itself was there before, which
// is a buffer that is filled anew each time. Where what was there may have been freed meanwhile, and all of the output
// is bad, nobody can tell.
NANLENS_API bool Classifier::classify_written_over(EventRef event, Classification& c) {
  if (!model_.owners().native()) return false;
  const auto extension = extension_of(model_.run(), event);
  const std::size_t slot = event.is_execution ? event.slot : 0;
  if (slot >= extension.output_evidence.size()) return false;
  const TensorEvidence& now = extension.output_evidence[slot];
  const bool may_be_new = now.origin == TensorOrigin::lay_there;
  if (!now.looked_at || (now.origin != TensorOrigin::recorded && !may_be_new)) return false;
  const EventRef before = lay_there(event, now.recorded_id);
  if (!before.exists() || is_same_site(event, before) || !is_bad_where(now, before)) return false;
  const auto& inputs = extension.input_evidence;
  if (std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return detail::is_zero_where(input, now); }))
    return false;
  const TensorHealth health = seen_health(now);
  if (may_be_new && health.num_nan + health.num_neg_inf + health.num_pos_inf >= health.size) {
    c.event_class = EventClass::unknown;
    c.lay_there = before;
    return true;
  }
  c.event_class = EventClass::propagator;
  c.parents.push_back(before);
  c.confidence = std::min(c.confidence, 0.5F);
  return true;
}

}  // namespace nanlens::causes
