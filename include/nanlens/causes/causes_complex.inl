// Part of causes.hpp: bad tensors of complex numbers. They raise no alert, as in TensorFlow, and yet a NaN comes by
// them.
#pragma once

namespace nanlens::causes {

// Puts what a complex tensor was passed on from in its place among the parents. Where one is a root, that is taken.
NANLENS_API void Causes::look_behind_complex(Step& step) {
  std::vector<EventRef> open = std::exchange(scratch_.parents, {});
  std::set<std::pair<std::uint32_t, std::uint16_t>> met;
  Classification c;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (met.size() == limits::link_steps) return model_.reach_limit(Limit::link_steps);
    const EventRef event = open[i];
    if (!model_.is_bad_complex(event)) {
      scratch_.parents.push_back(event);
      continue;
    }
    if (!met.emplace(event.index, event.slot).second) continue;
    if (const std::uint32_t known = root_of(event); known != none) {
      take_root(known, step);
      continue;
    }
    model_.spend(1);
    classifier_.classify(event, c);
    step.complex.push_back(event);
    if (is_root(c.event_class) || c.parents.empty())
      take_root(add_complex_root(event, c, step), step);
    else
      open.insert(open.end(), c.parents.begin(), c.parents.end());
  }
}

// The root that a complex tensor is, or that of the op whose gradient failed together with it.
NANLENS_API std::uint32_t Causes::add_complex_root(EventRef event, const Classification& c, const Step& step) {
  const bool is_made = c.event_class == EventClass::producer;
  Step own{step.alert, event, is_root(c.event_class) ? c.event_class : EventClass::unknown, c.confidence, false};
  own.arrival = arrival_of(c);
  if (is_made) collect_failing(c.inputs, own);
  const std::uint32_t twin = is_made ? same_failure(own) : none;
  const std::uint32_t root = twin != none ? twin : add_root(own);
  complex_roots_.try_emplace({event.index, event.slot}, ComplexRoot{root, step.alert});
  return root;
}

// What was found behind alerts that are looked at anew is forgotten.
NANLENS_API void Causes::keep_complex_roots(std::size_t keep, const std::vector<std::uint32_t>& new_number) {
  std::erase_if(complex_roots_,
                [&](const auto& entry) { return entry.second.alert >= keep || new_number[entry.second.root] == none; });
  for (auto& [event, found] : complex_roots_) found.root = new_number[found.root];
}

}  // namespace nanlens::causes
