// Part of causes.hpp: what a finished, or half finished, analysis answers.
#pragma once

namespace nanlens::causes {

// Is the input of a logarithm a constant of its graph? What an eager program fills with zeros may be meant to become
// something else.
NANLENS_API bool Causes::is_log_of_constant(EventRef event) {
  if (event.is_execution) return false;
  GraphFacts& graphs = model_.graphs();
  const OpLinks& log = graphs.op(run().trace_op(event.index));
  return log.inputs.size() == 1 && log.inputs[0].op != none && graphs.op(log.inputs[0].op).code == OpCode::constant;
}

// A mask for probabilities that are kept as their logarithms: of a constant 0, or of nothing but zeros and ones, more
// than data are by chance. Not where those are probabilities themselves that have become certain.
NANLENS_API bool Causes::is_log_of_mask(EventRef event) {
  if (model_.code(event) != OpCode::log) return false;
  if (is_log_of_constant(event)) return true;
  constexpr std::int64_t more_than_by_chance = 16;
  const TensorHealth out = model_.counted_health(event);
  if (out.size < more_than_by_chance || out.num_zero <= 0 || out.num_neg_inf + out.num_zero != out.size) return false;
  std::vector<InputEvidence> inputs;
  classifier_.find_inputs(event, inputs);
  if (inputs.size() != 1 || !inputs[0].event.exists()) return false;
  switch (model_.code(origin(inputs[0].event))) {
    case OpCode::softmax:
    case OpCode::bounded:
    case OpCode::exp:
    case OpCode::divide:
    case OpCode::relu:
    case OpCode::clamp:
    case OpCode::minimum:
    case OpCode::maximum: return false;
    default: return true;
  }
}

// A bias of −∞ takes a class out of what a softmax chooses from.
NANLENS_API bool Causes::masks_classes(const Root& root) {
  if (!root.remover.exists() || root.nan_reach > 0 || model_.kinds(root.event) != reader::neg_inf_flag) return false;
  const OpCode code = model_.code(root.remover);
  return code == OpCode::softmax || code == OpCode::log_softmax;
}

// Does a layer take what came in? It is data or a weight, then.
NANLENS_API bool Causes::goes_into_layer(const Root& root) {
  if (root.event_class != EventClass::source) return false;
  return goes_into_layer(root.event) ||
         std::any_of(root.also.begin(), root.also.end(), [&](const auto& in) { return goes_into_layer(in.second); });
}

// What took an execution's output: not all of it where that is much.
NANLENS_API std::span<const TensorUse> Causes::first_consumers(EventRef event) {
  const auto uses = model_.calls().consumers(event.index, event.slot);
  if (uses.size() > limits::consumers_looked_at) model_.reach_limit(Limit::consumers);
  return uses.first(std::min(uses.size(), limits::consumers_looked_at));
}

NANLENS_API bool Causes::goes_into_layer(EventRef event) {
  if (takes_weights(model_.code(event), model_.op_type(event))) return true;
  if (!event.is_execution) return goes_into_layer(run().trace_op(event.index));
  const auto uses = first_consumers(event);
  const bool variable = model_.code(event) == OpCode::read_variable;
  return std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    const EventRef user = execution_event(use.execution, 0);
    const std::string_view type = model_.op_type(user);
    return takes_weights(model_.code(user), type) || (variable && use.position == 0 && looks_up(type));
  });
}

// The same of an op of a graph, in all its runs: found once for as long as no op is new.
NANLENS_API bool Causes::goes_into_layer(std::uint32_t op) {
  GraphFacts& graphs = model_.graphs();
  const auto [known, is_new] = into_layer_.try_emplace(op);
  const std::size_t num_ops = run().definitions().ops().size();
  if (!is_new && known->second.num_ops == num_ops) return known->second.goes;
  known->second = {num_ops, false};
  const bool variable = graphs.op(op).code == OpCode::read_variable;
  std::vector<std::uint32_t> names{op};
  for (std::size_t i = 0, looks = 0; i < names.size(); ++i)
    for (const ConsumerEdge& edge : graphs.op(names[i]).consumers) {
      if (++looks > limits::consumers_looked_at) {
        model_.reach_limit(Limit::consumers);
        return false;
      }
      const OpCode code = graphs.op(edge.op).code;
      const bool table = variable && edge.input_slot == 0 && looks_up(graphs.op_type(edge.op));
      if (table || takes_weights(code, graphs.op_type(edge.op))) return known->second.goes = true;
      if (keeps_all(code, graphs.op_type(edge.op))) names.push_back(edge.op);
    }
  return false;
}

// An infinity in data ends as a loss of +∞, which nothing removes.
NANLENS_API bool Causes::ends_in_infinity(const Root& root) {
  return root.left > 0 && (model_.kinds(root.last) & reader::pos_inf_flag) != 0;
}

NANLENS_API TensorHealth Causes::health_of(const InputEvidence& input) {
  if (input.seen) return input.now;
  return input.event.exists() ? model_.health(input.event) : TensorHealth{};
}

// Is it made of more than one element, as far as its op is known: none of the largest or the least?
NANLENS_API bool Causes::brings_together(EventRef event) {
  const OpCode code = model_.code(event);
  if (code == OpCode::mean || code == OpCode::reduce_sum) return true;
  if (code != OpCode::other || is_eager_torch(event)) return false;
  std::vector<InputEvidence> inputs;
  classifier_.find_inputs(event, inputs);
  return std::any_of(inputs.begin(), inputs.end(), [&](const InputEvidence& in) { return health_of(in).size > 1; });
}

// Is it a number with which something ends: of PyTorch's a loss, or one that nothing takes but Python; or what a sum or
// a mean has come to, unless a choice or a bound leaves it out?
NANLENS_API bool Causes::is_result(std::uint32_t alert) {
  const EventRef event = event_of(alert);
  if (model_.health(event).size != 1) return false;
  if (is_eager_torch(event) && (first_consumers(event).empty() || is_loss(event))) return true;
  return is_open(fates_[alert]) && brings_together(event);
}

// Does a backward pass of PyTorch's begin with it?
NANLENS_API bool Causes::is_loss(EventRef event) {
  if (!is_eager_torch(event)) return false;
  const auto uses = first_consumers(event);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const TensorUse& use) { return scaled_.begins_backward_pass(use.execution); });
}

// Is infinity what a mean or a sum, or the loss, has come to of what follows from a root, without any NaN? Whoever
// masks something does not want it in there.
NANLENS_API EventRef Causes::result_of(const Root& root) {
  if (!model_.owners().native()) return {};
  if (is_outdated(results_as_of_)) {
    results_.assign(roots_.size(), {});
    for (std::uint32_t alert = 0; alert < done_; ++alert) {
      const std::uint32_t of = root_of_alert_[alert];
      if (of == none || results_[of].exists() || roots_[of].nan_reach > 0) continue;
      const bool mixed = (spread_[alert] & into_others) != 0;
      if (mixed ? is_result(alert) : is_loss(event_of(alert))) results_[of] = event_of(alert);
    }
  }
  const std::uint32_t number = root.alert < done_ ? root_of_alert_[root.alert] : none;
  return number == none ? EventRef{} : results_[number];
}

// Did an op remove what follows, or did it all meet what follows from other masks, as one mask that is added to another
// does?
NANLENS_API bool Causes::is_taken_away(const Root& root, std::size_t joined_in_turn) {
  if (root.removed > 0) return true;
  if (joined_in_turn == 0 || root.joined.empty()) return false;
  return std::all_of(root.joined.begin(), root.joined.end(), [&](const auto& met) {
    if (met.second == none) return false;
    const Root& other = roots_[met.second];
    return is_benign(other, joined_in_turn - 1) && !ends_in_infinity(other);
  });
}

NANLENS_API bool Causes::is_benign(const Root& root, std::size_t joined_in_turn) {
  if (is_left_out(root) || guard_of(root).exists()) return true;
  if (result_of(root).exists()) return false;
  if (goes_into_layer(root) && !masks_classes(root)) return false;
  const bool mask =
      root.event_class == EventClass::producer && (is_log_of_mask(root.event) || model_.may_make_mask(root.event));
  if (root.event_class != EventClass::source && !mask) return false;
  const bool constant = model_.code(root.event) == OpCode::constant;
  // A constant all of which was removed again, before much came of it. In a call that has not ended yet, as far as it
  // goes as it did before.
  // A NaN is meant only where ops that choose have removed it: others that swallow one (a maximum with 0, the gates of
  // a recurrent layer) hide that a weight is broken.
  constexpr std::uint64_t little = 8;
  const bool nan = (model_.kinds(root.event) & reader::nan_flag) != 0;
  const auto removed = [nan](const Root& r) {
    return r.last_removed.exists() && (nan ? r.open : r.left) == 0 && r.unread == 0 && r.reach <= little;
  };
  if (constant && removed(root)) return true;
  const Root& first = roots_[root.first_of_site];
  const bool as_before = root.reach <= first.reach && root.nan_reach <= first.nan_reach;
  if (constant && root.call == none && as_before && removed(first)) return true;
  if (root.nan_reach > 0) return false;
  const Kinds kinds = model_.kinds(root.event);
  if (kinds != reader::neg_inf_flag && kinds != reader::pos_inf_flag) return false;
  if (constant && kinds == reader::pos_inf_flag && ends_in_infinity(root) &&
      (spread_[root.last_alert] & into_others) != 0) {
    const TensorHealth health = model_.counted_health(root.event);
    if (health.num_pos_inf < health.size) return false;  // a mean over what was masked
  }
  // What holds the best value so far begins with infinity throughout; a mask in a variable, or put into memory that
  // held something else, is made of −∞.
  const bool variable = model_.code(root.event) == OpCode::read_variable;
  const TensorHealth health = variable ? model_.counted_health(root.event) : TensorHealth{};
  const bool in_part = variable ? health.num_pos_inf < health.size : root.arrival.num_bad < root.arrival.size;
  if ((variable || root.arrival.changed) && kinds == reader::pos_inf_flag && in_part) return false;
  const bool best_so_far = (variable || model_.owners().native()) && !in_part;
  if (!constant && !best_so_far && ends_in_infinity(root)) return false;
  return constant || is_taken_away(root, joined_in_turn);
}

NANLENS_API std::vector<std::uint32_t> Causes::benign() {
  std::vector<std::uint32_t> list;
  for (std::uint32_t r = 0; r < roots_.size(); ++r)
    if (is_benign(roots_[r])) list.push_back(r);
  return list;
}

NANLENS_API std::uint64_t Causes::explained() const {
  std::uint64_t n = 0;
  for (const Root& root : roots_)
    if (root.event_class != EventClass::unknown && !root.doubted) n += root.reach;
  return n;
}

NANLENS_API EventClass Causes::known_class(EventRef event) {
  const std::uint32_t alert = alert_of(event);
  if (alert >= classes_.size() || classes_[alert] >= visiting) return EventClass::unknown;
  return static_cast<EventClass>(classes_[alert]);
}

NANLENS_API EventClass Causes::event_class(EventRef event) {
  if (const std::uint32_t alert = alert_of(event); alert != none) {
    const EventClass found = known_class(event);
    const std::uint32_t root = root_of_alert(alert);
    const bool benign = root != none && roots_[root].alert == alert && is_benign(roots_[root]);
    return benign || is_left_out_twin(alert) ? EventClass::expected : found;
  }
  if (model_.is_bad_complex(event)) {
    Classification c;
    classifier_.classify(event, c);
    return c.event_class;
  }
  if (event.is_execution) {
    for (const KillerSite& site : killers_)
      if (site.event == event) return EventClass::killer;
    return EventClass::clean;
  }
  if (!killer_rows_sorted_) std::sort(killer_rows_.begin(), killer_rows_.end());
  killer_rows_sorted_ = true;
  return std::binary_search(killer_rows_.begin(), killer_rows_.end(), event.index) ? EventClass::killer
                                                                                   : EventClass::clean;
}

NANLENS_API bool Causes::did_no_harm(std::uint32_t alert) {
  const std::uint32_t root = root_of_alert(alert);
  return root != none && (is_benign(roots_[root]) || is_left_out_twin(alert));
}

NANLENS_API std::uint32_t Causes::root_of(EventRef event) {
  if (model_.is_bad_complex(event)) {
    const auto found = complex_roots_.find({event.index, event.slot});
    return found == complex_roots_.end() ? none : found->second.root;
  }
  return root_of_alert(alert_of(event));
}

NANLENS_API bool Causes::is_pipeline_function(std::uint32_t graph) {
  return model_.owners().is_asynchronous(graph) || model_.graphs().is_pipeline(graph);
}

NANLENS_API bool Causes::is_in_pipeline(EventRef event) {
  return !event.is_execution && !model_.owners().native() &&
         is_pipeline_function(model_.graphs().graph_of(run().trace_op(event.index)));
}

// Did one of a pipeline's functions that were made before a graph, or, of `none`, any, make floating tensors?
NANLENS_API bool Causes::has_pipeline_before(std::uint32_t graph) {
  const auto& graphs = run().definitions().graphs();
  RowOwners& owners = model_.owners();
  for (std::uint32_t g = 0; g < std::min<std::size_t>(graph, graphs.size()); ++g)
    if (is_pipeline_function(g) &&
        std::any_of(graphs[g].ops.begin(), graphs[g].ops.end(), [&](std::uint32_t op) { return owners.has_rows(op); }))
      return true;
  return false;
}

// Bad before all else, what TensorFlow's input pipelines are given or give can't come from an op on record, unless one
// of the pipeline's own functions made it: of those, TensorFlow leaves out the first rows at times. Asked when all is
// read, since what was read later may be earlier.
NANLENS_API bool Causes::came_in_first(EventRef event, EventClass what) {
  RowOwners& owners = model_.owners();
  if (what != EventClass::source || event.is_execution || owners.native() || owners.may_lack_beginning() ||
      run().num_sets() > 1 || run().dropped() > 0)
    return false;
  const std::uint32_t own = alert_of(event);
  constexpr std::uint32_t most_before = 256;
  if (own > most_before) return false;
  // Rows of one function come in any order: what was written before may well follow from it.
  const auto& alerts = run().alerts();
  for (std::uint32_t i = 0; i < alerts.size() && (i < own || !(alerts[own].wall_time < alerts[i].wall_time)); ++i)
    if (root_of_alert(i) != root_of_alert(own)) return false;
  // An iterator that was made in a function itself may give what the function made, whose rows may come later.
  const OpLinks& op = model_.graphs().op(run().trace_op(event.index));
  const std::uint32_t graph = model_.graphs().graph_of(run().trace_op(event.index));
  const bool given = op.code == OpCode::iterator_get && !op.inputs.empty() && op.inputs[0].op != none &&
                     model_.graphs().op(op.inputs[0].op).code == OpCode::placeholder &&
                     model_.graphs().top(graph) == graph;
  const bool argument = op.code == OpCode::placeholder && owners.is_asynchronous(graph);
  return (given && !has_pipeline_before(none)) || (argument && !has_pipeline_before(graph));
}

NANLENS_API Lineage Causes::lineage(EventRef event) {
  Lineage answer;
  answer.event = event;
  answer.root = root_of(event);
  if (model_.bad(event)) {
    classifier_.classify(event, answer.classification);
    answer.classification.event_class = event_class(event);
    if (came_in_first(event, event_class(event))) answer.classification.confidence = 1;
    return answer;
  }
  classifier_.find_inputs(event, answer.classification.inputs);
  answer.classification.event_class = event_class(event);
  return answer;
}

NANLENS_API bool Causes::has_nan(EventRef event) {
  return !model_.is_bad_complex(event) && (model_.kinds(event) & reader::nan_flag) != 0;
}

// Of those that follow from the same root, the first that explains what is bad: a NaN comes of a NaN if there is one.
NANLENS_API EventRef Causes::parent_of(EventRef event, const std::vector<EventRef>& parents) {
  EventRef first;
  for (const EventRef& parent : parents) {
    if (parent == event || root_of(parent) != root_of(event)) continue;
    if (!has_nan(event) || has_nan(parent)) return parent;
    if (!first.exists()) first = parent;
  }
  return first;
}

// Did infinities become NaN here?
NANLENS_API bool Causes::changes_kind(EventRef event, EventRef parent, const std::vector<EventRef>& parents) {
  return parent.exists() && !model_.is_bad_complex(parent) && has_nan(event) &&
         std::none_of(parents.begin(), parents.end(), [&](EventRef e) { return has_nan(e); });
}

NANLENS_API std::vector<ChainLink> Causes::chain(EventRef event, std::size_t longest) {
  std::vector<ChainLink> steps;
  Classification c;
  while (event.exists() && steps.size() < longest) {
    const std::uint32_t root = root_of(event);
    if (root == none) break;
    classifier_.classify(event, c);
    const EventClass what = event_class(event);
    ChainLink step{event, what, came_in_first(event, what) ? 1 : c.confidence, Mechanism::generic};
    EventRef parent = parent_of(event, c.parents);
    if (changes_kind(event, parent, c.parents)) step.change = kind_change(model_.code(event), model_.kinds(parent));
    if (!parent.exists() && event != roots_[root].event && !is_other_op(event, roots_[root]))
      parent = roots_[root].event;
    const bool seen = std::any_of(steps.begin(), steps.end(), [&](const ChainLink& s) { return s.event == event; });
    if (seen) break;
    steps.push_back(step);
    if (event == roots_[root].event) break;
    event = parent;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

NANLENS_API EventRef Causes::origin(EventRef event, float sure) {
  std::vector<InputEvidence> inputs;
  constexpr int farthest = 32;
  for (int step = 0; step < farthest; ++step) {
    if (!is_relay(model_.code(event))) return event;
    classifier_.find_inputs(event, inputs);
    if (inputs.size() != 1 || !inputs[0].event.exists() || inputs[0].event == event) return event;
    if (inputs[0].link.confidence < sure) return event;
    event = inputs[0].event;
  }
  return event;
}

NANLENS_API EventRef Causes::last_healthy(EventRef event) {
  if (event.is_execution) return {};
  const std::uint32_t op = run().trace_op(event.index);
  constexpr std::uint32_t farthest = 1'000'000;
  for (std::uint32_t back = 1; back <= std::min(event.index, farthest); ++back) {
    const std::uint32_t row = event.index - back;
    if (run().trace_op(row) != op || (run().trace_flags(row) & reader::bad_flags) != 0) continue;
    const auto one = run().trace_digest(row);
    const std::int32_t slot = one ? one->output_slot : -1;
    const auto other = run().trace_digest(event.index);
    if (other && other->output_slot == slot) return trace_event(row);
  }
  return {};
}

NANLENS_API std::vector<SiteStats> Causes::by_site() {
  std::map<std::pair<std::uint32_t, std::string>, SiteStats> sites;
  const auto& alerts = run().alerts();
  for (std::size_t i = 0; i < std::min(done_, alerts.size()); ++i) {
    const auto& ref = alerts[i];
    const std::uint32_t op = ref.is_execution ? none : run().trace_op(ref.event);
    const std::string type(ref.is_execution ? model_.calls().op_type(ref.event) : model_.graphs().op_type(op));
    SiteStats& site = sites[{op, op == none ? type : std::string()}];
    site.op = op;
    site.op_type = type;
    switch (static_cast<EventClass>(classes_[i])) {
      case EventClass::producer: ++site.made; break;
      case EventClass::propagator:
      case EventClass::relay: ++site.passed; break;
      case EventClass::source: ++site.source; break;
      default: ++site.unknown; break;
    }
  }
  std::vector<SiteStats> list;
  for (auto& [key, site] : sites) list.push_back(std::move(site));
  const auto total_of = [](const SiteStats& s) { return s.made + s.passed + s.source + s.unknown; };
  std::sort(list.begin(), list.end(), [&](const SiteStats& a, const SiteStats& b) {
    if (total_of(a) != total_of(b)) return total_of(a) > total_of(b);
    return a.op != b.op ? a.op < b.op : a.op_type < b.op_type;
  });
  return list;
}

}  // namespace nanlens::causes
