// Part of causes.hpp: the pass over all bad events.
#pragma once

namespace nanlens::causes {

NANLENS_API bool Causes::advance(std::size_t most) {
  if (!prepared_) {
    constexpr std::size_t executions_per_event = 4;  // reading links takes less than classifying
    if (!link(most * executions_per_event)) return false;
    prepare();
    return total() == 0;
  }
  const std::size_t end = std::min(total(), done_ + most);
  for (; done_ < end; ++done_) look_at(static_cast<std::uint32_t>(done_));
  if (done_ < total()) return false;
  choose_leads();
  return true;
}

NANLENS_API bool Causes::link(std::size_t most) {
  if (linked_) return true;
  if (!model_.update(most)) return false;
  classifier_.update();
  settled_.update();
  linked_ = true;
  return true;
}

NANLENS_API void Causes::run_has_grown() {
  // What is new has sorted in between: numbers of alerts are right up to the first new one.
  const auto& alerts = run().alerts();
  std::size_t keep = 0;
  while (keep < done_ && settled_.is_known(alerts[keep])) ++keep;
  truncate(keep);
  linked_ = prepared_ = false;
}

NANLENS_API std::size_t Causes::num_settled() {
  if (roots_.size() >= limits::causes) return 0;  // those that were only counted are counted anew
  std::size_t keep = 0;
  while (keep < done_ && settled_.holds(run().alerts()[keep].wall_time, event_of(keep))) ++keep;
  return keep;
}

// A bad tensor and what it was passed on from stay together.
NANLENS_API std::size_t Causes::with_all_parents(std::size_t keep) {
  std::sort(later_parents_.begin(), later_parents_.end());
  for (std::size_t i = later_parents_.size(); i-- > 0;)
    if (later_parents_[i].first < keep && later_parents_[i].second >= keep) keep = later_parents_[i].first;
  return keep;
}

NANLENS_API void Causes::note_parent(std::uint32_t alert, std::uint32_t parent) {
  if (parent != none && parent > alert) later_parents_.emplace_back(alert, parent);
}

// A PyTorch op that writes a part of a tensor, by a view, gives the part, which ends there, and the whole, which goes
// on: the alert of the first by that of the second.
NANLENS_API std::uint32_t Causes::alert_of_part(std::uint32_t whole) {
  const EventRef event = event_of(whole);
  if (!event.is_execution || event.slot != 1 || !model_.owners().native()) return none;
  const std::string_view type = model_.op_type(event);
  const bool writes_one = type.starts_with("aten::") && !type.starts_with("aten::_");  // unlike "aten::_foreach_add_"
  if (!writes_one || !type.ends_with('_') || model_.calls().outputs(event.index).size() != 2) return none;
  const EventRef part = execution_event(event.index, 0);
  return model_.health(part).size < model_.health(event).size ? alert_of(part) : none;
}

NANLENS_API void Causes::note_fate(std::uint32_t alert, std::uint8_t fate) {
  if (alert == none) return;
  note_fate_alone(alert, fate);
  if (const std::uint32_t part = alert_of_part(alert); part != none) note_fate_alone(part, fate);
}

NANLENS_API void Causes::note_fate_alone(std::uint32_t alert, std::uint8_t fate) {
  const std::uint8_t before = fates_[alert];
  const std::uint32_t root = root_of_alert_[alert];
  if (root != none && is_open_outside(alert)) --roots_[root].open_outside;
  fates_[alert] |= fate;
  if (root == none) return;
  if (is_open_outside(alert)) ++roots_[root].open_outside;
  if (is_left(before) && !is_left(fates_[alert])) --roots_[root].left;
  if (is_open(before)) --roots_[root].open;
  if (is_open(fates_[alert])) ++roots_[root].open;
}

NANLENS_API void Causes::truncate(std::size_t keep) {
  lead_with_first();
  keep = with_all_parents(keep);
  if (keep < classes_.size()) {
    // What is counted is counted anew from what stays: roots and removals are few.
    std::vector<Root> kept;
    std::vector<std::uint32_t> new_number(roots_.size(), none);
    root_of_site_.clear();
    root_of_values_.clear();
    root_of_memory_.clear();
    root_of_writer_.clear();
    root_of_unrecorded_.clear();
    bad_behind_pipeline_ = false;
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      if (roots_[r].alert >= keep) continue;
      new_number[r] = static_cast<std::uint32_t>(kept.size());
      Root& root = kept.emplace_back(roots_[r]);
      root.reach = root.nan_reach = root.removed = root.unread = root.left = root.open = root.open_outside = 0;
      std::erase_if(root.also, [&](const auto& in) { return in.first >= keep; });
      std::erase_if(root.joined, [&](const auto& in) { return in.first >= keep; });
      root.first_nan = root.last = root.last_removed = root.remover = {};
      root.integers.clear();
      root.first_nan_alert = none;
      root.last_alert = root.last_removed_alert = 0;
      const auto [found, is_new] = root_of_site_.try_emplace(site_of(root.event), new_number[r]);
      root.first_of_site = is_new ? new_number[r] : kept[found->second].first_of_site;
      found->second = new_number[r];
    }
    for (Root& root : kept)
      for (auto& [alert, into] : root.joined)
        if (into != none) into = new_number[into];  // which stays, as it comes before
    roots_ = std::move(kept);
    for (std::uint32_t r = 0; r < roots_.size(); ++r) note_arrival(r);
    classes_.resize(keep);
    root_of_alert_.resize(keep);
    fates_.resize(keep);
    spread_.resize(keep);
    for (std::uint32_t i = 0; i < keep; ++i) {
      std::uint32_t& root = root_of_alert_[i];
      root = root == none ? none : new_number[root];
      if (root != none) count_reach(root, i, event_of(i));
    }
    std::erase_if(later_parents_, [&](const auto& link) { return link.first >= keep; });
    std::erase_if(given_, [&](const auto& given) { return given.first >= keep; });
    keep_complex_roots(keep, new_number);
    keep_twins(keep, new_number);
    forget_removals(keep);
  }
  done_ = keep;
}

NANLENS_API void Causes::forget_removals(std::size_t keep) {
  const auto kept = std::exchange(removals_, {});
  killers_.clear();
  killer_by_site_.clear();
  removed_by_integers_.clear();
  killer_rows_.clear();
  killer_rows_sorted_ = true;
  for (const Removal& removal : kept)
    if (removal.alert < keep) add_killer(removal.op, removal.result, event_of(removal.alert), removal.alert);
  for (const std::uint32_t alert : std::exchange(unread_, {}))
    if (alert < keep) note_unread(alert);
  for (std::uint32_t alert = 0; alert < keep; ++alert)
    if (!run().alerts()[alert].is_execution) count_integer_killers(event_of(alert), alert);
}

NANLENS_API void Causes::count_reach(std::uint32_t root, std::uint32_t alert, EventRef event) {
  Root& r = roots_[root];
  ++r.reach;
  r.left += is_left(fates_[alert]) ? 1 : 0;
  r.open += is_open(fates_[alert]) ? 1 : 0;
  r.open_outside += is_open_outside(alert) ? 1 : 0;
  const OpCode code = model_.code(event);
  bad_behind_pipeline_ = bad_behind_pipeline_ || code == OpCode::iterator_get || code == OpCode::container_get;
  if (alert >= r.last_alert) {
    r.last = event;
    r.last_alert = alert;
  }
  if ((model_.kinds(event) & reader::nan_flag) == 0) return;
  ++r.nan_reach;
  if (alert >= r.first_nan_alert) return;
  r.first_nan = event;
  r.first_nan_alert = alert;
}

NANLENS_API void Causes::prepare() {
  takers_.clear();
  gradient_ops_.clear();
  into_layer_.clear();
  types_with_rows_.clear();
  arrivals_as_of_ = {};
  results_as_of_ = {};
  others_as_of_ = {};
  asked_of_ = {};
  truncate(num_settled());
  settled_.reset();
  bad_slots_of_ = none;
  const auto& alerts = run().alerts();
  classes_.resize(alerts.size(), unseen);
  root_of_alert_.resize(alerts.size(), none);
  fates_.resize(alerts.size());
  spread_.resize(alerts.size());
  blocks_.assign(run().num_traces() / 64 + 1, {});
  std::uint32_t bad_rows = 0;
  for (std::size_t row = 0; row < run().num_traces(); ++row) {
    RowBlock& block = blocks_[row / 64];
    if (row % 64 == 0) block.before = bad_rows;
    if ((run().trace_flags(row) & reader::bad_flags) == 0) continue;
    block.bad |= std::uint64_t{1} << row % 64;
    ++bad_rows;
  }
  alert_of_row_.assign(bad_rows, none);
  alert_of_execution_.clear();
  prepared_ = true;
  for (std::uint32_t i = 0; i < alerts.size(); ++i) {
    if (!alerts[i].is_execution)
      alert_of_row_[rank(alerts[i].event)] = i;
    else if (alerts[i].nth_bad == 0)
      alert_of_execution_.emplace_back(alerts[i].event, i);
  }
  std::sort(alert_of_execution_.begin(), alert_of_execution_.end());
  find_late_killers();
}

// Bad rows before this one.
NANLENS_API std::size_t Causes::rank(std::uint32_t row) const {
  const RowBlock& block = blocks_[row / 64];
  const std::uint64_t before = (std::uint64_t{1} << row % 64) - 1;
  return block.before + static_cast<std::size_t>(std::popcount(block.bad & before));
}

NANLENS_API std::uint32_t Causes::alert_of(EventRef event) {
  if (!event.is_execution) {
    const bool bad = event.index / 64 < blocks_.size() && (blocks_[event.index / 64].bad >> event.index % 64 & 1) != 0;
    return bad ? alert_of_row_[rank(event.index)] : none;
  }
  const auto found = std::lower_bound(alert_of_execution_.begin(), alert_of_execution_.end(),
                                      std::pair(event.index, std::uint32_t{0}));
  if (found == alert_of_execution_.end() || found->first != event.index) return none;
  const auto& slots = bad_slots(event.index);
  const auto slot = std::lower_bound(slots.begin(), slots.end(), event.slot);
  if (slot == slots.end() || *slot != event.slot) return none;
  return found->second + static_cast<std::uint32_t>(slot - slots.begin());
}

NANLENS_API const std::vector<std::uint16_t>& Causes::bad_slots(std::uint32_t execution) {
  if (std::exchange(bad_slots_of_, execution) == execution) return bad_slots_;
  bad_slots_.clear();
  const std::size_t num_outputs = model_.num_outputs(execution);
  for (std::size_t slot = 0; slot < num_outputs; ++slot)
    if (const EventRef event = execution_event(execution, slot); model_.bad(event) && !model_.is_bad_complex(event))
      bad_slots_.push_back(event.slot);
  return bad_slots_;
}

NANLENS_API EventRef Causes::event_of(std::size_t alert) {
  const reader::AlertRef& ref = run().alerts()[alert];
  if (!ref.is_execution) return trace_event(ref.event);
  const auto& slots = bad_slots(ref.event);
  return execution_event(ref.event, ref.nth_bad < slots.size() ? slots[ref.nth_bad] : 0);
}

NANLENS_API Arrival Causes::arrival_of(const Classification& c) {
  if (c.event_class != EventClass::source) return {};
  if (c.arrived == none) {
    Arrival read;
    for (const InputEvidence& in : c.inputs) {
      if (in.state != InputState::unknown) continue;
      const Reason reason = in.link.reason;
      read.computed = read.computed || reason == Reason::nested || reason == Reason::vectorized ||
                      reason == Reason::passed || reason == Reason::control_flow;
      read.piped = read.piped || reason == Reason::runtime || reason == Reason::container;
    }
    if (c.inputs.size() != 1) return read;
    read.writer = c.inputs[0].link.writer;
    read.updated = c.inputs[0].link.reason != Reason::assigned;
    return read;
  }
  const InputEvidence& in = c.inputs[c.arrived];
  const double num_bad = in.now.num_nan + in.now.num_neg_inf + in.now.num_pos_inf;
  Arrival arrival{in.values_hash, in.recorded_id, in.now.size, num_bad};
  arrival.part = in.origin == TensorOrigin::part;
  arrival.changed = in.origin == TensorOrigin::changed;
  return arrival;
}

NANLENS_API Causes::Step Causes::begin(std::uint32_t alert) {
  classes_[alert] = visiting;
  const EventRef event = event_of(alert);
  const bool passed = classifier_.pass_on(event, scratch_);
  if (!passed) classifier_.classify(event, scratch_);
  Step step{alert, event, scratch_.event_class, scratch_.confidence, scratch_.also_made};
  step.made_more = scratch_.made_more;
  step.only_asked = is_for_isfinite(event);
  if (!passed) step.arrival = arrival_of(scratch_);
  const bool came_in = step.event_class == EventClass::source || step.event_class == EventClass::unknown;
  if (!passed && came_in) step.arrival.unrecorded_id = scratch_.unrecorded_id;
  const bool told = step.event_class == EventClass::source && scratch_.unrecorded_id >= 0;
  if (!passed && !told)  // what else takes them may show that one came in
    for (const std::int64_t id : scratch_.unrecorded)
      settled_.rest_on(static_cast<std::uint32_t>(model_.set_of(event)), id, run().alerts()[alert].wall_time);
  if (!passed && step.event_class == EventClass::producer)
    step.doubted = scratch_.written_over || (scratch_.contradicted && model_.owners().native());
  if (!passed && (step.event_class == EventClass::producer || step.made_more)) collect_failing(scratch_.inputs, step);
  if (!run().bad_complex().empty()) look_behind_complex(step);
  return step;
}

NANLENS_API void Causes::note_arrival(std::uint32_t root) {
  const Arrival& arrival = roots_[root].arrival;
  if (arrival.values_hash != 0) root_of_values_.try_emplace(arrival.values_hash, root);
  if (arrival.recorded_id >= 0) root_of_memory_[arrival.recorded_id] = root;
  if (arrival.writer != none && !arrival.updated) root_of_writer_.try_emplace(arrival.writer, root);
  if (arrival.unrecorded_id >= 0)
    root_of_unrecorded_.try_emplace(
        {model_.set_of(roots_[root].event), arrival.unrecorded_id, roots_[root].event_class}, root);
}

// What a PyTorch op wrote into a part of a tensor, and so into the whole.
NANLENS_API std::uint32_t Causes::arrival_of_part(const Step& step) {
  if (step.event_class != EventClass::source) return none;
  const std::uint32_t part = alert_of_part(step.alert);
  const std::uint32_t root = root_of_alert(part);
  if (root == none || roots_[root].alert != part || roots_[root].event_class != EventClass::source) return none;
  const Arrival& before = roots_[root].arrival;
  const Arrival& now = step.arrival;
  const bool same = before.exists() && before.size == now.size && before.num_bad == now.num_bad &&
                    before.values_hash == now.values_hash && before.recorded_id == now.recorded_id;
  return same ? root : none;
}

// What several ops of a process take has come in once: what was written to a variable, a tensor of TensorFlow's that is
// not on record, a tensor with the same values, or one of the same memory, where one op takes the whole and another a
// part. Two parts may have gone bad one by one, and so may two contents of a buffer.
NANLENS_API std::uint32_t Causes::same_arrival(const Step& step) {
  const Arrival& now = step.arrival;
  if (const std::uint32_t part = arrival_of_part(step); part != none) return part;
  if (const auto read = root_of_writer_.find(now.writer); read != root_of_writer_.end()) return read->second;
  const auto same_set = [&](std::uint32_t r) { return model_.set_of(roots_[r].event) == model_.set_of(step.event); };
  if (const auto found = root_of_unrecorded_.find({model_.set_of(step.event), now.unrecorded_id, step.event_class});
      found != root_of_unrecorded_.end())
    return found->second;
  if (const auto found = root_of_values_.find(now.values_hash); found != root_of_values_.end() && now.values_hash != 0)
    if (same_set(found->second)) return found->second;
  const auto found = root_of_memory_.find(now.recorded_id);
  if (found == root_of_memory_.end() || now.recorded_id < 0 || !same_set(found->second)) return none;
  const Arrival& before = roots_[found->second].arrival;
  const Arrival& whole = now.size > before.size ? now : before;
  const Arrival& part = now.size > before.size ? before : now;
  return whole.size > part.size && !whole.part && part.part && whole.num_bad >= part.num_bad ? found->second : none;
}

NANLENS_API void Causes::join_arrival(const Step& step, Root& root) {
  const auto known = [&](const auto& in) { return same_op(in.second, step.event); };
  if (root.also.size() < limits::arrivals_of_root && !same_op(root.event, step.event) &&
      std::none_of(root.also.begin(), root.also.end(), known))
    root.also.emplace_back(step.alert, step.event);
}

// Can an op of PyTorch's repeat a smaller operand, as a factor that is learnt?
NANLENS_API bool Causes::may_repeat(EventRef event) {
  const OpCode code = model_.code(event);
  return broadcasts(code) && !is_elementwise(code) && is_eager_torch(event);
}

NANLENS_API void Causes::take_root_of(std::uint32_t alert, Step& step) {
  if (alert == none || classes_[alert] == visiting) return;
  take_root(root_of_alert_[alert], step);
  step.spread |= spread_[alert];
  if (may_repeat(step.event) && model_.health(event_of(alert)).size < model_.health(step.event).size)
    step.spread |= into_state;
}

NANLENS_API void Causes::take_root(std::uint32_t root, Step& step) {
  if (root == none || root == step.best) return;
  if (step.best != none) {
    step.mixed = true;
    const bool earlier = comes_before(roots_[root], roots_[step.best]);
    join(step.alert, earlier ? step.best : root, earlier ? root : step.best);
    if (!earlier) return;
  }
  step.best = root;
}

// What follows from a root met what follows from an earlier one, as which it counts.
NANLENS_API void Causes::join(std::uint32_t alert, std::uint32_t root, std::uint32_t into) {
  auto& joined = roots_[root].joined;
  const auto same = [&](const auto& known) { return known.second == into || known.second == none; };
  if (std::any_of(joined.begin(), joined.end(), same)) return;
  joined.emplace_back(alert, joined.size() < limits::joined_of_root ? into : none);
}

NANLENS_API void Causes::look_at(std::uint32_t alert) {
  if (classes_[alert] != unseen) return;
  Step step = begin(alert);
  bool all_seen = true;
  for (const EventRef& parent : scratch_.parents) {
    const std::uint32_t index = alert_of(parent);
    note_parent(alert, index);
    if (!step.only_asked) note_fate(index, passed_on);
    all_seen = all_seen && (index == none || classes_[index] != unseen);
    if (all_seen) take_root_of(index, step);
  }
  if (all_seen) return finish(step);
  follow(step);
}

// Links lead to earlier events nearly always; where one leads forward, that event is looked at first.
NANLENS_API void Causes::follow(const Step& first) {
  stack_.push_back({first, scratch_.parents, 0});
  while (!stack_.empty()) {
    Frame& top = stack_.back();
    if (top.next == top.parents.size()) {
      const Step done = top.step;
      stack_.pop_back();
      finish(done);
      continue;
    }
    const std::uint32_t parent = alert_of(top.parents[top.next]);
    note_parent(top.step.alert, parent);
    if (!top.step.only_asked) note_fate(parent, passed_on);
    if (parent != none && classes_[parent] == unseen) {
      const Step inner = begin(parent);
      stack_.push_back({inner, scratch_.parents, 0});
      continue;
    }
    ++top.next;
    take_root_of(parent, top.step);
  }
}

// Did an op to which only a mask came make something bad by itself? The mask is not to blame for that.
NANLENS_API bool Causes::makes_beside_mask(const Step& step) {
  if (step.best == none || !(step.also_made || step.made_more)) return false;
  const Root& root = roots_[step.best];
  const Kinds kinds = model_.kinds(root.event);
  if (kinds != reader::neg_inf_flag && kinds != reader::pos_inf_flag) return false;
  if (root.event_class == EventClass::producer) return is_log_of_mask(root.event);
  const bool filled = kinds == reader::neg_inf_flag || model_.code(root.event) == OpCode::constant;
  return root.event_class == EventClass::source && filled;
}

NANLENS_API void Causes::finish(const Step& step) {
  Step done = step;
  const bool beside_mask = makes_beside_mask(step);
  const bool begins = beside_mask || is_root(step.event_class) || step.best == none;
  if (beside_mask)
    done.event_class = EventClass::producer;
  else if (begins && !is_root(step.event_class))
    done.event_class = EventClass::unknown;  // only a cycle leads here
  const bool made = done.event_class == EventClass::producer || step.also_made;
  std::uint32_t twin = made || step.arrival.exists() ? same_failure(done) : none;
  if (twin != none && made && begins) note_twin(twin, done);
  if (twin == none && begins) {
    twin = same_arrival(done);
    if (twin != none) join_arrival(done, roots_[twin]);
  }
  const std::uint32_t root = !begins ? step.best : twin != none ? twin : add_root(done);
  if (!begins && step.also_made && twin == none) {
    add_root(step);
    roots_.back().event_class = EventClass::producer;
  }
  classes_[step.alert] = static_cast<std::uint8_t>(done.event_class);
  root_of_alert_[step.alert] = root;
  for (const EventRef& event : step.mixed ? std::vector<EventRef>{} : step.complex)
    complex_roots_.try_emplace({event.index, event.slot}, ComplexRoot{root, step.alert});
  note_parent(step.alert, roots_[root].alert);
  spread_[step.alert] = step.spread | spread_by(step);
  count_reach(root, step.alert, step.event);
  if (step.only_asked) note_fate(step.alert, chosen_from);
  find_killers(step.event, step.alert);
}

NANLENS_API std::uint8_t Causes::spread_by(const Step& step) {
  const EventRef event = step.event;
  const std::string_view type = model_.op_type(event);
  const OpCode code = model_.code(event);
  // The best of what can't be is that, too.
  const Kinds kinds = model_.kinds(event);
  const bool log_sum = is_log_sum_exp(type) || (code == OpCode::log && step.event_class == EventClass::propagator);
  const bool impossible = ((code == OpCode::maximum_of || log_sum) && kinds == reader::neg_inf_flag) ||
                          (code == OpCode::minimum_of && kinds == reader::pos_inf_flag);
  const bool given = event.is_execution && model_.calls().inputs(event.index).empty();
  const bool apart = given || impossible || keeps_elements_apart(code, type);
  std::uint8_t bits = apart ? std::uint8_t{0} : std::uint8_t{into_others};
  if (!is_eager_torch(event)) return bits;
  const bool in_place = type.ends_with('_') && broadcasts(code) && !writes_over(type);
  const bool repeated = step.arrival.exists() && may_repeat(event) && step.arrival.size < model_.health(event).size;
  if (in_place || repeated || scaled_.is_of_backward_pass(event.index)) bits |= into_state;
  return bits;
}

NANLENS_API std::uint64_t Causes::site_of(EventRef event) {
  if (!event.is_execution) return run().trace_op(event.index);
  return std::uint64_t{1} << 62 | std::uint64_t{model_.calls().op_type_number(event.index)} << 16 | event.slot;
}

NANLENS_API std::uint32_t Causes::add_root(const Step& step) {
  const std::uint64_t site = site_of(step.event);
  if (roots_.size() >= limits::causes) {
    model_.reach_limit(Limit::causes);
    if (const auto found = root_of_site_.find(site); found != root_of_site_.end()) {
      ++roots_[found->second].occurrences;
      return found->second;
    }
  }
  Root root;
  root.event = step.event;
  root.event_class = step.event_class;
  root.confidence = step.confidence;
  root.doubted = step.doubted;
  root.alert = step.alert;
  const double time =
      model_.is_bad_complex(step.event) ? model_.time(step.event) : run().alerts()[step.alert].wall_time;
  root.time = time + (step.event.is_execution ? 0 : model_.owners().clock_offset());
  root.failing = step.failing;
  root.failing_tensor = step.failing_tensor;
  root.arrival = step.arrival;
  if (step.event_class == EventClass::source && is_eager_torch(step.event)) {
    const auto evidence = output_evidence(run(), step.event);
    root.named = evidence && !evidence->name.empty();
  }
  root.call = step.event.is_execution ? step.event.index : model_.owners().owner(step.event.index);
  const auto number = static_cast<std::uint32_t>(roots_.size());
  const auto [found, is_new] = root_of_site_.try_emplace(site, number);
  root.first_of_site = is_new ? number : roots_[found->second].first_of_site;
  found->second = number;
  roots_.push_back(root);
  note_arrival(number);
  return number;
}

}  // namespace nanlens::causes
