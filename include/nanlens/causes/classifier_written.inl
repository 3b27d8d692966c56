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

// What memory was recorded as last; does not exist if that is not known.
NANLENS_API EventRef Classifier::recorded_there(EventRef event, const TensorEvidence& e) {
  if (e.recorded_id == 0) return {};
  if (e.recorded_id < 0) return rows_.find(-1 - e.recorded_id, e.recorded_run, event);
  const std::uint32_t user = event.is_execution ? event.index : model_.owners().owner(event.index);
  const auto made = model_.calls().producer(e.recorded_id - 1, user);
  return made ? execution_event(made->execution, made->position) : EventRef{};
}

NANLENS_API bool Classifier::is_same_site(EventRef a, EventRef b) {
  if (std::string(model_.op_type(a)) != model_.op_type(b)) return false;
  const auto one = reader::user_frame(stack_of(model_.run(), a));
  const auto other = reader::user_frame(stack_of(model_.run(), b));
  return !one || !other || (one->line == other->line && one->file_path == other->file_path);
}

// What was in the memory is not on record, as behind the gap of a ring. An op that handed on what was bad in the same
// places, when it was on record last, has gone on with that; else nobody can tell, unless nothing was bad before.
NANLENS_API bool Classifier::classify_written_over_lost(EventRef event, const TensorEvidence& now, Classification& c) {
  if (!rows_.any_bad_before(event)) return false;
  const EventRef last = rows_.last_bad_like(event, [&](EventRef e) { return is_same_site(event, e); });
  if (last.exists() && known_class_(last) == EventClass::propagator && is_bad_where(now, last)) {
    c.event_class = EventClass::propagator;
    c.parents.push_back(last);
    c.confidence = std::min(c.confidence, 0.5F);
    return true;
  }
  c.event_class = EventClass::unknown;
  c.lost_there = true;
  return true;
}

// An op that was recorded with none of its inputs bad, and has written over what was bad in the same places: it may
// have read that, as `x *= scale` does. Not where an input is 0 there. Nobody can tell where what was there may have
// been freed meanwhile, and all of the output is bad; nor where the op itself had made it, which may fill a buffer anew
// each time, or add to what is there, as a running mean does. What it had only handed on it hands on.
NANLENS_API bool Classifier::classify_written_over(EventRef event, Classification& c) {
  if (!model_.owners().native()) return false;
  const auto extension = extension_of(model_.run(), event);
  const std::size_t slot = event.is_execution ? event.slot : 0;
  if (slot >= extension.output_evidence.size()) return false;
  const TensorEvidence& now = extension.output_evidence[slot];
  const bool may_be_new = now.origin == TensorOrigin::lay_there;
  if (!now.looked_at || (now.origin != TensorOrigin::recorded && !may_be_new)) return false;
  const auto& inputs = extension.input_evidence;
  if (std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return detail::is_zero_where(input, now); }))
    return false;
  const EventRef before = recorded_there(event, now);
  if (!before.exists()) return now.recorded_id != 0 && classify_written_over_lost(event, now, c);
  if (!model_.bad(before) || !is_bad_where(now, before)) return false;
  const TensorHealth health = seen_health(now);
  const bool all = health.num_nan + health.num_neg_inf + health.num_pos_inf >= health.size;
  const bool itself = is_same_site(event, before) && known_class_(before) != EventClass::propagator;
  if (itself && model_.may_make_mask(event) && known_class_(before) == EventClass::producer) return false;  // as before
  if ((may_be_new && all) || itself) {
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
