// Part of causes.hpp: incidents, and which cause leads.
#pragma once

namespace nanlens::causes {

NANLENS_API std::vector<Incident> Causes::incidents() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < roots_.size(); ++r)
    if (!is_benign(roots_[r])) order.push_back(r);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return comes_before(roots_[a], roots_[b]); });
  std::vector<Incident> list;
  std::vector<std::size_t> last(run().num_sets(), order.size());  // incident of each process
  for (const std::uint32_t r : order) {
    const EventRef event = roots_[r].event;
    std::size_t& before =
        last[event.is_execution ? run().set_of_execution(event.index) : run().set_of_trace(event.index)];
    if (before == order.size() || !same_incident(list[before].call, roots_[r])) {
      before = list.size();
      list.push_back({roots_[r].call, {}, 0});
    }
    list[before].roots.push_back(r);
    list[before].reach += roots_[r].reach;
  }
  return list;
}

NANLENS_API bool Causes::comes_before(const Root& a, const Root& b) const {
  if (model_.clock_offset() == 0 || a.time == b.time) return a.alert < b.alert;
  return reader::earlier(a.time, b.time);
}

// An eager op and its direct successors are one incident, like the ops of one call.
NANLENS_API bool Causes::same_incident(std::uint32_t call, const Root& root) {
  constexpr std::uint32_t near = 4;
  if (call == root.call) return true;
  if (call == none || root.call == none || !root.event.is_execution) return false;
  const std::uint32_t first = model_.calls().place_in_set(call);
  const std::uint32_t then = model_.calls().place_in_set(root.call);
  return then > first && then - first <= near;
}

// Has all that it made been removed again? What came in may come in elsewhere, too.
NANLENS_API bool Causes::is_gone(const Root& root) {
  return root.event_class == EventClass::producer && root.left == 0 && root.unread == 0;
}

// Unless what stays may be that, handed on by code that is not on record.
NANLENS_API void Causes::leave_out_gone(std::vector<Incident>& list) {
  const auto gone = [&](std::uint32_t r) { return is_gone(roots_[r]); };
  const auto stays = [&](std::uint32_t r) {
    return !gone(r) && (roots_[r].event_class == EventClass::producer || sees_every_op(roots_[r].event));
  };
  const auto has_what_stays = [&](const Incident& incident) {
    return std::any_of(incident.roots.begin(), incident.roots.end(), stays);
  };
  if (std::none_of(list.begin(), list.end(), has_what_stays)) return;
  for (Incident& incident : list) std::erase_if(incident.roots, gone);
  std::erase_if(list, [](const Incident& incident) { return incident.roots.empty(); });
}

NANLENS_API bool Causes::may_be_handed_on(const Root& root) {
  if (root.arrival.exists() || root.doubted) return true;
  if (!model_.owners().native()) return false;
  return root.event_class == EventClass::unknown ||
         (root.event_class == EventClass::source && model_.code(root.event) == OpCode::placeholder);
}

NANLENS_API std::optional<std::uint32_t> Causes::headline() {
  const auto all = incidents();
  if (all.empty()) return std::nullopt;
  auto staying = all;
  leave_out_gone(staying);
  const std::uint32_t leads = leader(staying);
  const bool made = roots_[leads].event_class == EventClass::producer;
  // What comes in behind what was removed again may be that.
  const bool gone_before = std::all_of(all.front().roots.begin(), all.front().roots.end(),
                                       [&](std::uint32_t r) { return is_gone(roots_[r]); });
  return !made && may_be_handed_on(roots_[leads]) && gone_before ? leader(all) : leads;
}

// Does nothing in what it was given, all of it clean, account for the NaN that an op of unknown kind made? It may work
// with numbers that are not on record, too.
NANLENS_API bool Causes::is_unaccounted(const Root& root) {
  const bool made = root.event_class == EventClass::producer && model_.kinds(root.event) == reader::nan_flag;
  if (!made || !model_.owners().native() || model_.code(root.event) != OpCode::other) return false;
  Classification c;
  classifier_.classify(root.event, c);
  const double num_nan = model_.health(root.event).num_nan;
  return std::all_of(c.inputs.begin(), c.inputs.end(), [&](const InputEvidence& in) {
    const TensorHealth health = health_of(in);
    return in.state == InputState::clean && health.num_zero == 0 && !are_negatives_odd(health, num_nan);
  });
}

NANLENS_API bool Causes::may_lead_to(const Root& unread, const Root& then) {
  const bool known = begins_there(unread) && model_.code(unread.event) != OpCode::other;
  return known && unread.reach == 1 && unread.left == 1 && is_unaccounted(then);
}

// The largest cause of an incident; `made`: of those that made what is bad, none if there is none.
NANLENS_API std::uint32_t Causes::largest(const Incident& incident, bool made) {
  std::uint32_t best = none;
  for (const std::uint32_t r : incident.roots) {
    if (made && (roots_[r].event_class != EventClass::producer || roots_[r].doubted)) continue;
    // What comes in behind another cause may be that one; so may the result of a call behind what is known to be made.
    const bool larger = best != none && roots_[r].reach > roots_[best].reach;
    const bool computed = larger && roots_[r].arrival.computed && roots_[best].event_class == EventClass::producer;
    const bool handed_on = larger && (may_be_handed_on(roots_[r]) || may_lead_to(roots_[best], roots_[r]));
    if (best == none || (larger && !computed && !handed_on)) best = r;
  }
  return best;
}

// What follows from a root and from what happened at the same place, in the same way, other times.
NANLENS_API std::uint64_t Causes::reach_of_site(std::uint32_t root) const {
  std::uint64_t reach = 0;
  for (const Root& other : roots_)
    if (other.first_of_site == roots_[root].first_of_site && other.event_class == roots_[root].event_class)
      reach += other.reach;
  return reach;
}

// Which causes came into a loss, as PyTorch's backward passes begin with one.
NANLENS_API std::vector<bool> Causes::in_losses() {
  std::vector<bool> spoilt(roots_.size());
  if (!model_.owners().native()) return spoilt;
  for (std::uint32_t user = 0; user < model_.calls().size(); ++user) {
    if (!scaled_.begins_backward_pass(user)) continue;
    for (const TensorUse& use : model_.calls().inputs(user)) {
      const auto producer = model_.calls().producer(use.tensor_id, user);
      if (!producer) continue;
      const std::uint32_t root = root_of_alert(alert_of(execution_event(producer->execution, producer->position)));
      if (root != none) spoilt[root] = true;
    }
  }
  return spoilt;
}

// Which causes came into a loss or a gradient, as far as its op is known by its name.
NANLENS_API std::vector<bool> Causes::in_training() {
  std::vector<bool> spoilt = in_losses();
  enum : std::uint8_t { not_asked, no_gradient, gradient };
  std::array<std::vector<std::uint8_t>, 2> known;  // by op, and by the name of one that runs by itself
  for (std::size_t alert = 0; alert < root_of_alert_.size(); ++alert) {
    const std::uint32_t root = root_of_alert_[alert];
    if (root == none || spoilt[root]) continue;
    const EventRef event = event_of(alert);
    const bool eager = event.is_execution;
    const std::size_t op = eager ? model_.calls().op_name_number(event.index) : run().trace_op(event.index);
    std::vector<std::uint8_t>& kinds = known[eager ? 1 : 0];
    if (op >= kinds.size()) kinds.resize(op + 1);
    if (kinds[op] == not_asked) {
      const bool is =
          eager ? model_.owners().native() && scaled_.is_of_backward_pass(event.index) : is_gradient_op(event);
      kinds[op] = is ? gradient : no_gradient;
    }
    spoilt[root] = kinds[op] == gradient;
  }
  return spoilt;
}

// Does no earlier cause lead to it, whatever is not on record?
NANLENS_API bool Causes::begins_there(const Root& root) {
  if (root.event_class == EventClass::producer) return !root.doubted;
  return root.event_class == EventClass::source && model_.code(root.event) == OpCode::constant;
}

// Of the causes in one call of a function, what came into its results leads before what came into none. `first`, unless
// that is so.
NANLENS_API std::uint32_t Causes::first_given_back(const std::vector<Incident>& list, std::uint32_t first) {
  const std::uint32_t call = roots_[first].call;
  if (roots_[first].event.is_execution || call == none || !model_.calls().is_call(call)) return first;
  const auto is_listed = [&](std::uint32_t root) {
    return std::any_of(list.begin(), list.end(), [root](const Incident& incident) {
      return std::find(incident.roots.begin(), incident.roots.end(), root) != incident.roots.end();
    });
  };
  std::uint32_t leads = none;
  for (const std::uint16_t slot : std::vector<std::uint16_t>(bad_slots(call))) {
    const std::uint32_t root = root_of_alert(alert_of(execution_event(call, slot)));
    if (root == first) return first;
    if (root == none || roots_[root].call != call || !begins_there(roots_[root]) || !is_listed(root)) continue;
    if (leads == none || roots_[root].reach > roots_[leads].reach) leads = root;
  }
  return leads == none ? first : leads;
}

// Of what was made, what came into a loss or a gradient leads before what came into none: a number that is only
// reported, or not used at all.
NANLENS_API std::uint32_t Causes::first_in_training(const std::vector<Incident>& list, std::uint32_t first,
                                                    const std::vector<bool>& spoilt) {
  if (spoilt[first]) return first;
  for (Incident incident : list) {
    std::erase_if(incident.roots, [&](std::uint32_t r) { return !spoilt[r] || !begins_there(roots_[r]); });
    const std::uint32_t leads = largest(incident, false);
    if (leads == none) continue;
    // What a checkpoint computes once more in the backward pass is the same.
    return classifier_.is_same_site(roots_[leads].event, roots_[first].event) ? first : leads;
  }
  return first;
}

// By what they spoilt: the training, and where there is none the results.
NANLENS_API std::uint32_t Causes::first_that_spoilt(const std::vector<Incident>& list, std::uint32_t first) {
  if (list.size() == 1 && list.front().roots.size() == 1) return first;
  const std::vector<bool> spoilt = in_training();
  const bool trains = std::find(spoilt.begin(), spoilt.end(), true) != spoilt.end();
  return trains ? first_in_training(list, first, spoilt) : first_given_back(list, first);
}

NANLENS_API std::uint32_t Causes::leader(const std::vector<Incident>& list) {
  const std::uint32_t first = largest(list.front(), false);
  if (roots_[first].event_class == EventClass::producer) return first_that_spoilt(list, first);
  std::uint64_t total = 0;
  for (const Incident& incident : list) total += incident.reach;
  // What nobody made leads only if it came first and most follows from it.
  for (const Incident& incident : list) {
    const std::uint32_t made = largest(incident, true);
    if (made == none) continue;
    const bool leads = comes_before(roots_[first], roots_[made]) && reach_of_site(first) * 2 > total;
    return leads ? first : first_that_spoilt(list, made);
  }
  if (model_.owners().native() || roots_[first].event_class != EventClass::unknown) return first;
  // Of what little nobody can tell at the beginning of TensorFlow's ring less is to be learnt than of what came in.
  for (const Incident& incident : list)
    for (const std::uint32_t r : incident.roots)
      if (roots_[r].event_class == EventClass::source && roots_[r].reach > roots_[first].reach) return r;
  return first;
}

}  // namespace nanlens::causes
