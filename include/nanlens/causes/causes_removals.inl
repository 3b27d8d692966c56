// Part of causes.hpp: ops that took something bad and gave something clean.
#pragma once

namespace nanlens::causes {

NANLENS_API void Causes::list_killer(std::uint32_t op, EventRef event, EventRef removed, std::uint32_t alert) {
  const std::uint64_t site = op != none ? op : std::uint64_t{1} << 62 | model_.calls().op_type_number(event.index);
  const auto [found, is_new] = killer_by_site_.try_emplace(site, static_cast<std::uint32_t>(killers_.size()));
  if (is_new) killers_.push_back({op, event, removed, 0, alert});
  KillerSite& killer = killers_[found->second];
  ++killer.count;
  if (std::pair(alert, event.index) < std::pair(killer.alert, killer.event.index)) {
    killer.event = event;
    killer.removed = removed;
    killer.alert = alert;
  }
}

// Has an op with fewer elements than a bad tensor, one for each that it took, taken a part of that which is clean, or
// what its memory held by then? Nothing bad ended there.
NANLENS_API bool Causes::takes_clean_part(EventRef result, EventRef bad) {
  if (!broadcasts(model_.code(result)) || writes_over(model_.op_type(result))) return false;
  const TensorHealth out = model_.health(result);
  return out.known() && out.size >= 0 && out.size < model_.health(bad).size;
}

// Nothing bad came of it there, be it removed or left out: only an op that can have removed it is named for that.
NANLENS_API void Causes::add_killer(std::uint32_t op, EventRef event, EventRef removed, std::uint32_t alert) {
  if (event.exists() && takes_clean_part(event, removed)) return;
  if (!event.exists() || may_remove(event, removed)) list_killer(op, event, removed, alert);
  removals_.push_back({alert, op, event});
  const std::uint8_t fate = fate_by(event, removed, alert);
  note_fate(alert, fate);
  if (fate == to_integers) note_integers(alert, {event});
  Root& root = roots_[root_of_alert_[alert]];
  ++root.removed;
  if (event.exists() && alert >= root.last_removed_alert) {
    root.last_removed = removed;
    root.last_removed_alert = alert;
    if (fate != 0) root.remover = event;
  }
  if (event.exists() && !event.is_execution) {
    killer_rows_sorted_ = killer_rows_sorted_ && (killer_rows_.empty() || killer_rows_.back() <= event.index);
    killer_rows_.push_back(event.index);
  }
}

NANLENS_API void Causes::note_unread(std::uint32_t alert) {
  unread_.push_back(alert);
  ++roots_[root_of_alert_[alert]].unread;
}

// Can what an op made of a bad tensor be clean because it removed what is bad? Otherwise it got a part of that, or what
// its memory held by then: the record tells what an op was given only where something bad came out.
NANLENS_API bool Causes::may_remove(EventRef result, EventRef bad) {
  const OpCode code = model_.code(result);
  const TensorHealth out = model_.health(result);
  const bool all_zeros = out.num_zero == out.size;  // as TensorFlow's optimizer makes of a product with zeros
  const bool shows_all = shows_all_that_is_bad(model_.op_type(result)) && out.num_zero >= 0 && !all_zeros;
  if (code == OpCode::keep || shows_all) return false;
  const double size = model_.health(bad).size;
  if (!out.known() || out.size < 0 || out.size >= size) return true;
  return code != OpCode::other || out.size <= 1 || sees_every_op(result);  // one number is of all
}

// What ops of a function of TensorFlow's made of something bad that it was given: its arguments may have no rows.
NANLENS_API void Causes::find_killers_in_call(EventRef event, const TensorUse& use, std::uint32_t alert) {
  RowOwners& owners = model_.owners();
  const std::uint32_t graph = owners.native() ? none : owners.graph_of_call(use.execution);
  if (graph == none) return;
  const auto& arguments = model_.graphs().links(graph).placeholders;
  if (model_.calls().inputs(use.execution).size() != arguments.size()) return;
  const std::uint32_t op = arguments[use.position];
  if (owners.has_rows(op) || takers_of(op).with_rows.empty()) return;
  Window& window = model_.window(use.execution);
  if (const std::uint32_t runs = window.num_runs(graph); runs != 1) {
    if (runs == 0) given_.emplace_back(alert, use);
    if (given_.size() > limits::calls_without_rows) given_.pop_front();
    return;
  }
  find_killers_of(op, 0, {window, 0}, event, alert);
}

// Does PyTorch reckon with integers here, which have no summary? Such an op takes no tensor that holds something bad,
// but one of integers that lies in its memory by now.
NANLENS_API bool Causes::counts(EventRef result) {
  const OpCode code = model_.code(result);
  const bool reckons = code == OpCode::add || code == OpCode::subtract || code == OpCode::multiply;
  return reckons && is_eager_torch(result) && !model_.health(result).known();
}

NANLENS_API void Causes::find_execution_killer(EventRef event, const TensorUse& use, std::uint32_t alert) {
  const std::uint32_t user = use.execution;
  if (model_.calls().is_call(user)) return find_killers_in_call(event, use, alert);
  const EventRef result = execution_event(user, 0);
  const OpCode code = model_.code(result);
  if (code == OpCode::split || code == OpCode::identity_n || code == OpCode::assign || code == OpCode::apply) return;
  if (looks_at_shapes_only(code, model_.op_type(result)) || puts_into_container(code, model_.op_type(result))) return;
  if (counts(result) && !model_.calls().is_unread(user)) return;
  const std::size_t num_outputs = model_.calls().outputs(user).size();
  const bool any_bad = (run().execution_flags(user) & reader::bad_flags) != 0 || model_.bad(result);
  if (num_outputs == 0 || (any_bad && (num_outputs > 1 || !model_.has_left_out(result, event)))) return;
  if (model_.calls().is_unread(user))
    note_unread(alert);
  else
    add_killer(none, result, event, alert);
}

// What a rank has put into a minimum or a maximum, where it is not bad in what it got.
NANLENS_API void Causes::find_exchange_killer(EventRef sent, std::uint32_t alert) {
  Exchanges& exchanges = model_.calls().exchanges();
  const Exchange* const put_in = exchanges.find(sent.index);
  if (put_in == nullptr || put_in->received) return;
  if (put_in->reduction != logdir::Reduction::minimum && put_in->reduction != logdir::Reduction::maximum) return;
  const std::uint32_t execution = exchanges.got_by_itself(*put_in);
  if (execution == none || exchanges.sent_by(*exchanges.find(execution), put_in->rank) != sent.index) return;
  const EventRef result = execution_event(execution, sent.slot);
  if (model_.health(result).known() && !model_.bad(result)) add_killer(none, result, sent, alert);
}

NANLENS_API void Causes::find_late_exchange_killer(std::uint32_t execution) {
  Exchanges& exchanges = model_.calls().exchanges();
  const Exchange* const got = exchanges.empty() ? nullptr : exchanges.find(execution);
  if (got == nullptr || !got->received) return;
  const std::uint32_t sent = exchanges.sent_by(*got, got->rank);
  if (sent == none || (run().execution_flags(sent) & reader::bad_flags) == 0) return;
  const std::size_t num_outputs = model_.num_outputs(sent);
  for (std::size_t slot = 0; slot < num_outputs; ++slot) {
    const EventRef event = execution_event(sent, slot);
    const std::uint32_t alert = alert_of(event);
    if (alert != none && alert < done_ && root_of_alert_[alert] != none) find_exchange_killer(event, alert);
  }
}

// Executions that are new may have removed what older ones made, which was looked at long ago.
NANLENS_API void Causes::find_late_killers() {
  const auto end = static_cast<std::uint32_t>(model_.calls().size());
  for (std::uint32_t user = executions_seen_; done_ > 0 && user < end; ++user) {
    find_late_exchange_killer(user);
    for (const TensorUse& use : model_.calls().inputs(user)) {
      const auto producer = model_.calls().producer(use.tensor_id, user);
      if (!producer) continue;
      const EventRef event = execution_event(producer->execution, producer->position);
      const std::uint32_t alert = alert_of(event);
      if (alert != none && alert < done_ && root_of_alert_[alert] != none) find_execution_killer(event, use, alert);
    }
  }
  executions_seen_ = end;
  for (const auto& [alert, use] : std::exchange(given_, {}))
    if (alert < done_ && root_of_alert_[alert] != none) find_killers_in_call(event_of(alert), use, alert);
}

// Ops that take a part of their input, another one, or its shape alone remove nothing.
NANLENS_API const Causes::Takers& Causes::takers_of(std::uint32_t op) {
  const auto [found, is_new] = takers_.try_emplace(op);
  Takers& takers = found->second;
  if (!is_new) return takers;
  std::vector<ConsumerEdge> edges(model_.graphs().op(op).consumers.begin(), model_.graphs().op(op).consumers.end());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const ConsumerEdge edge = edges[i];
    const OpCode code = model_.graphs().op(edge.op).code;
    // TensorFlow records no Identity, which stands between a variable that is read and what takes it.
    if (code == OpCode::identity && !model_.owners().has_rows(edge.op) && edges.size() < limits::consumers_looked_at)
      for (ConsumerEdge next : model_.graphs().op(edge.op).consumers) {
        next.output_slot = edge.output_slot;
        edges.push_back(next);
      }
    const std::string_view type = model_.graphs().op_type(edge.op);
    if (code == OpCode::split || code == OpCode::identity_n || is_relay(code)) continue;
    if ((code == OpCode::keep && !looks_up(type)) || looks_at_shapes_only(code, type)) continue;
    if (asks_if_finite(type) && decides_branch(edge.op)) takers.decide.push_back(edge.output_slot);
    const bool integers = code == OpCode::not_float;
    const bool has_rows = model_.owners().has_rows(edge.op);
    if (!integers && !has_rows && code != OpCode::cast) continue;
    auto& list = integers ? takers.integers : has_rows ? takers.with_rows : takers.casts;
    if (list.size() == limits::consumers_looked_at) {
      model_.reach_limit(Limit::consumers);
      continue;
    }
    list.push_back(edge);
  }
  return takers;
}

NANLENS_API std::uint16_t Causes::slot_of(EventRef event) {
  if (model_.graphs().op(run().trace_op(event.index)).num_outputs == 1) return 0;
  const auto digest = run().trace_digest(event.index);
  return digest ? static_cast<std::uint16_t>(digest->output_slot) : 0;
}

NANLENS_API void Causes::count_integer_killers(EventRef event, std::uint32_t alert) {
  const std::uint32_t op = run().trace_op(event.index);
  const Takers& all = takers_of(op);
  const auto& takers = all.integers;
  if (takers.empty() && all.casts.empty()) return;
  const std::uint16_t slot = slot_of(event);
  const bool decides = std::find(all.decide.begin(), all.decide.end(), slot) != all.decide.end();
  if (decides && was_scaled_too_far(roots_[root_of_alert_[alert]])) note_fate(alert, decided);
  const auto note = [&](const ConsumerEdge& edge) {
    if (edge.output_slot == slot) note_fate(alert, to_integers), note_integers(alert, {{}, edge.op});
  };
  std::for_each(all.casts.begin(), all.casts.end(), note);
  if (!takers.empty() && !filter_of({{}, takers.front().op}).empty() && is_piped_data(roots_[root_of_alert_[alert]]))
    std::for_each(takers.begin(), takers.end(), note);
  const auto n =
      std::count_if(takers.begin(), takers.end(), [&](const ConsumerEdge& edge) { return edge.output_slot == slot; });
  if (n == 0) return;
  RemovedByIntegers& removed = removed_by_integers_[{op, slot}];
  if (alert < removed.first_alert) {
    removed.first = event;
    removed.first_alert = alert;
  }
  ++removed.count;
  roots_[root_of_alert_[alert]].removed += static_cast<std::uint64_t>(n);
}

// May an output of an op be bad in one run of its graph, by what it took of one of its inputs?
NANLENS_API bool Causes::may_have_bad_output(const Window& window, std::uint32_t op, std::uint32_t in_run,
                                             EventRef taken) {
  constexpr std::uint32_t few = 64;  // for each of many inputs all would be looked at
  const std::uint32_t num_outputs = std::max<std::uint32_t>(model_.graphs().op(op).num_outputs, 1);
  if (num_outputs > few) return true;
  model_.spend(num_outputs);
  for (std::uint32_t slot = 0; slot < num_outputs; ++slot) {
    const std::uint32_t row = window.find(model_.graphs().tensor(op, static_cast<std::uint16_t>(slot)), in_run);
    if (row != none && model_.bad(trace_event(row)) && !model_.has_left_out(trace_event(row), taken)) return true;
  }
  return false;
}

// Consumers whose outputs are clean, or hold nothing of what is bad here.
NANLENS_API void Causes::find_killers(EventRef event, std::uint32_t alert) {
  if (event.is_execution) {
    const auto uses = model_.calls().consumers(event.index, event.slot);
    model_.spend(uses.size());
    for (const TensorUse& use : uses) find_execution_killer(event, use, alert);
    if (!model_.calls().exchanges().empty()) find_exchange_killer(event, alert);
    return;
  }
  count_integer_killers(event, alert);
  const std::uint32_t op = run().trace_op(event.index);
  if (takers_of(op).with_rows.empty()) return;
  Window& window = model_.window(model_.owners().owner(event.index));
  find_killers_of(op, slot_of(event), {window, window.run_of(event.index)}, event, alert);
}

// The same of what takes an output of an op, in one run of its graph, where that output is bad.
NANLENS_API void Causes::find_killers_of(std::uint32_t op, std::uint16_t slot, const RunOfGraph& at, EventRef bad,
                                         std::uint32_t alert) {
  const auto& takers = takers_of(op).with_rows;
  model_.spend(takers.size());
  for (const ConsumerEdge& edge : takers) {
    if (edge.output_slot != slot) continue;
    if (model_.graphs().op(edge.op).code == OpCode::keep && !is_piped_data(roots_[root_of_alert_[alert]])) continue;
    const std::uint32_t row = at.window.find(model_.graphs().tensor(edge.op, 0), at.number);
    if (row == none || may_have_bad_output(at.window, edge.op, at.number, bad)) continue;
    if ((run().trace_flags(row) & reader::has_summary_flag) != 0) add_killer(edge.op, trace_event(row), bad, alert);
  }
}

NANLENS_API std::vector<KillerSite> Causes::killers() {
  std::vector<KillerSite> list = killers_;
  std::map<std::uint32_t, std::size_t> place;  // of ops without a summary
  for (const auto& [output, removed] : removed_by_integers_)
    for (const ConsumerEdge& edge : takers_of(output.first).integers) {
      if (edge.output_slot != output.second) continue;
      const auto [found, is_new] = place.try_emplace(edge.op, list.size());
      if (is_new) list.push_back({edge.op, {}, removed.first, 0, removed.first_alert});
      KillerSite& killer = list[found->second];
      killer.count += removed.count;
      if (removed.first_alert >= killer.alert) continue;
      killer.removed = removed.first;
      killer.alert = removed.first_alert;
    }
  reader::sort_stably(list, [](const KillerSite& a, const KillerSite& b) {
    return std::tuple(a.alert, a.event.index, a.op) < std::tuple(b.alert, b.event.index, b.op);
  });
  return list;
}

}  // namespace nanlens::causes
