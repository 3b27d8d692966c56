// Part of causes.hpp: the pass over all bad events.
#pragma once

namespace nanlens::causes {

inline bool Causes::advance(std::size_t most) {
  if (total() == 0) {
    prepared_ = true;
    return true;
  }
  if (!prepared_) {
    constexpr std::size_t executions_per_event = 4;  // reading links takes less than classifying
    if (!model_.update(most * executions_per_event)) return false;
    prepare();
    return false;
  }
  const std::size_t end = std::min(total(), done_ + most);
  for (; done_ < end; ++done_) look_at(static_cast<std::uint32_t>(done_));
  return done_ == total();
}

inline void Causes::run_has_grown() {
  // Ops that came late may be what was missing anywhere.
  if (num_ops() != ops_seen_) {
    truncate(0);
    prepared_ = false;
    return;
  }
  // Events of calls that had ended are final. Rows of an open call, and whatever sorted in between, are looked at
  // again.
  const auto& alerts = run().alerts();
  std::size_t keep = std::min(done_, classes_.size());
  const std::size_t executions = model_.calls().size();
  const double closed = executions == 0 ? 0 : run().execution_wall_time(executions - 1);
  while (keep > 0 && (alerts[keep - 1].wall_time > closed || root_of_alert_[keep - 1] == none)) --keep;
  for (std::size_t i = 0; i < keep; ++i)
    if (static_cast<EventClass>(classes_[i]) == EventClass::unknown) keep = i;  // what was missing may have come
  truncate(keep);
  prepared_ = false;
}

inline std::size_t Causes::num_ops() const {
  std::size_t n = 0;
  for (const auto& graph : run().definitions().graphs()) n += graph.ops.size();
  return n;
}

inline void Causes::truncate(std::size_t keep) {
  if (keep < classes_.size()) {
    // Reach is counted anew from what stays: roots are few.
    std::vector<Root> kept;
    std::vector<std::uint32_t> new_number(roots_.size(), none);
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      if (roots_[r].alert >= keep) continue;
      new_number[r] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(roots_[r]);
      kept.back().reach = kept.back().nan_reach = 0;
      kept.back().first_nan = {};
    }
    roots_ = std::move(kept);
    root_of_site_.clear();
    classes_.resize(keep);
    root_of_alert_.resize(keep);
    for (std::size_t i = 0; i < keep; ++i) {
      std::uint32_t& root = root_of_alert_[i];
      root = root == none ? none : new_number[root];
      if (root == none) continue;
      ++roots_[root].reach;
      const EventRef event = event_of(i);
      if ((model_.kinds(event) & reader::nan_flag) == 0) continue;
      ++roots_[root].nan_reach;
      if (!roots_[root].first_nan.exists()) roots_[root].first_nan = event;
    }
  }
  done_ = keep;
}

inline void Causes::prepare() {
  classifier_.update();
  ops_seen_ = num_ops();
  const auto& alerts = run().alerts();
  classes_.resize(alerts.size(), unseen);
  root_of_alert_.resize(alerts.size(), none);
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
}

// Bad rows before this one.
inline std::size_t Causes::rank(std::uint32_t row) const {
  const RowBlock& block = blocks_[row / 64];
  const std::uint64_t before = (std::uint64_t{1} << row % 64) - 1;
  return block.before + static_cast<std::size_t>(std::popcount(block.bad & before));
}

inline std::uint32_t Causes::alert_of(EventRef event) {
  if (!event.is_execution) {
    const bool bad = event.index / 64 < blocks_.size() && (blocks_[event.index / 64].bad >> event.index % 64 & 1) != 0;
    return bad ? alert_of_row_[rank(event.index)] : none;
  }
  const auto found = std::lower_bound(alert_of_execution_.begin(), alert_of_execution_.end(),
                                      std::pair(event.index, std::uint32_t{0}));
  if (found == alert_of_execution_.end() || found->first != event.index || !model_.bad(event)) return none;
  std::uint32_t alert = found->second;
  for (std::uint16_t slot = 0; slot < event.slot; ++slot) alert += model_.bad(execution_event(event.index, slot));
  return alert;
}

inline EventRef Causes::event_of(std::size_t alert) {
  const reader::AlertRef& ref = run().alerts()[alert];
  if (!ref.is_execution) return trace_event(ref.event);
  std::size_t nth = 0;
  for (std::size_t slot = 0; slot < 0xffff; ++slot)
    if (model_.bad(execution_event(ref.event, slot)) && nth++ == ref.nth_bad) return execution_event(ref.event, slot);
  return execution_event(ref.event, 0);
}

inline Causes::Step Causes::begin(std::uint32_t alert) {
  classes_[alert] = visiting;
  const EventRef event = event_of(alert);
  if (!classifier_.pass_on(event, scratch_)) classifier_.classify(event, scratch_);
  return {alert, event, scratch_.event_class, scratch_.confidence, scratch_.also_made, none};
}

inline void Causes::take_root_of(std::uint32_t alert, Step& step) const {
  if (alert == none || classes_[alert] == visiting) return;
  const std::uint32_t root = root_of_alert_[alert];
  if (root != none && (step.best == none || roots_[root].alert < roots_[step.best].alert)) step.best = root;
}

inline void Causes::look_at(std::uint32_t alert) {
  if (classes_[alert] != unseen) return;
  Step step = begin(alert);
  bool all_seen = true;
  for (const EventRef& parent : scratch_.parents) {
    const std::uint32_t index = alert_of(parent);
    all_seen = all_seen && (index == none || classes_[index] != unseen);
    if (all_seen) take_root_of(index, step);
  }
  if (all_seen) return finish(step);
  step.best = none;
  follow(step);
}

// Links lead to earlier events nearly always; where one leads forward, that event is looked at first.
inline void Causes::follow(const Step& first) {
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
    if (parent != none && classes_[parent] == unseen) {
      const Step inner = begin(parent);
      stack_.push_back({inner, scratch_.parents, 0});
      continue;
    }
    ++top.next;
    take_root_of(parent, top.step);
  }
}

inline void Causes::finish(const Step& step) {
  Step done = step;
  const bool begins = is_root(step.event_class) || step.best == none;
  if (begins && !is_root(step.event_class)) done.event_class = EventClass::unknown;  // only a cycle leads here
  const std::uint32_t root = begins ? add_root(done) : step.best;
  if (!begins && step.also_made) {
    add_root(step);
    roots_.back().event_class = EventClass::producer;
  }
  classes_[step.alert] = static_cast<std::uint8_t>(done.event_class);
  root_of_alert_[step.alert] = root;
  Root& r = roots_[root];
  ++r.reach;
  r.last = step.event;
  if ((model_.kinds(step.event) & reader::nan_flag) != 0) {
    ++r.nan_reach;
    if (!r.first_nan.exists()) r.first_nan = step.event;
  }
  find_killers(step.event, root);
}

inline std::uint64_t Causes::site_of(EventRef event) {
  if (!event.is_execution) return run().trace_op(event.index);
  return std::uint64_t{1} << 62 | std::uint64_t{model_.calls().op_type_number(event.index)} << 16 | event.slot;
}

inline std::uint32_t Causes::add_root(const Step& step) {
  constexpr std::size_t many = 100'000;
  const std::uint64_t site = site_of(step.event);
  if (roots_.size() >= many) {
    if (const auto found = root_of_site_.find(site); found != root_of_site_.end()) {
      ++roots_[found->second].occurrences;
      return found->second;
    }
  }
  Root root;
  root.event = step.event;
  root.event_class = step.event_class;
  root.confidence = step.confidence;
  root.alert = step.alert;
  root.call = step.event.is_execution ? step.event.index : model_.owners().owner(step.event.index);
  roots_.push_back(root);
  const auto number = static_cast<std::uint32_t>(roots_.size() - 1);
  root_of_site_[site] = number;
  return number;
}

inline void Causes::add_killer(std::uint32_t op, EventRef event, EventRef removed, std::uint32_t root) {
  const std::uint64_t site = op != none ? op : std::uint64_t{1} << 62 | model_.calls().op_type_number(event.index);
  const auto [found, is_new] = killer_by_site_.try_emplace(site, killers_.size());
  if (is_new) killers_.push_back({op, event, removed, 0});
  ++killers_[found->second].count;
  ++roots_[root].removed;
  if (event.exists() && !event.is_execution) {
    killer_rows_sorted_ = killer_rows_sorted_ && (killer_rows_.empty() || killer_rows_.back() <= event.index);
    killer_rows_.push_back(event.index);
  }
}

// Consumers whose output is clean. Ops that take a part of their input, or another one, remove nothing.
inline void Causes::find_killers(EventRef event, std::uint32_t root) {
  if (event.is_execution) {
    const auto outputs = model_.calls().outputs(event.index);
    if (event.slot >= outputs.size()) return;
    for (const TensorUse& use : model_.calls().consumers(outputs[event.slot].tensor_id)) {
      if (model_.calls().is_call(use.execution)) continue;
      const EventRef user = execution_event(use.execution, 0);
      const OpCode code = model_.code(user);
      if (code == OpCode::split || code == OpCode::identity_n || code == OpCode::assign || code == OpCode::apply)
        continue;
      if (model_.calls().outputs(use.execution).empty() || model_.bad(user)) continue;
      add_killer(none, user, event, root);
    }
    return;
  }
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t op = run().trace_op(event.index);
  const OpLinks& links = graphs.op(op);
  if (links.consumers.empty()) return;
  const std::uint32_t call = model_.owners().owner(event.index);
  Window& window = model_.window(call);
  const std::uint32_t at = window.run_of(event.index);
  for (const ConsumerEdge& edge : links.consumers) {
    if (links.num_outputs > 1 && graphs.tensor(op, edge.output_slot) != none) {
      const auto rows = window.rows_of(graphs.tensor(op, edge.output_slot));
      if (std::find(rows.begin(), rows.end(), event.index) == rows.end()) continue;
    }
    const OpLinks& consumer = graphs.op(edge.op);
    if (consumer.code == OpCode::split || consumer.code == OpCode::identity_n || is_relay(consumer.code)) continue;
    if (consumer.code == OpCode::keep && !model_.owners().has_rows(edge.op)) continue;
    if (consumer.code == OpCode::not_float) {
      add_killer(edge.op, {}, event, root);
      continue;
    }
    const std::uint32_t row = window.find(graphs.tensor(edge.op, 0), at);
    if (row == none || (run().trace_flags(row) & reader::bad_flags) != 0) continue;
    if ((run().trace_flags(row) & reader::has_summary_flag) == 0 || consumer.code == OpCode::keep) continue;
    add_killer(edge.op, trace_event(row), event, root);
  }
}

}  // namespace nanlens::causes
