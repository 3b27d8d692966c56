// Part of resolver.hpp: tensors of one graph, loops and containers.
#pragma once

namespace nanlens::causes {

NANLENS_API void Resolver::tensor(const Place& place, const InputEdge& edge, Link& link, int depth) {
  if (depth > limits::link_depth || !step()) return give_up(link);
  if (edge.op == none) return unrecorded_call_result(place, edge, link, depth);
  GraphFacts& graphs = model_.graphs();
  const OpLinks& op = graphs.op(edge.op);
  Window& window = model_.window(place.call);
  const std::uint32_t number = graphs.tensor(edge.op, edge.slot);
  if (place.run != none) {
    if (const std::uint32_t found = window.find(number, place.run); found != none) return row(place, found, link);
  } else if (const auto rows = window.rows_of(number); !rows.empty()) {
    return link.set_event(trace_event(rows.back()), 0.5F);
  }
  switch (op.code) {
    case OpCode::identity:
    case OpCode::function_return:
      if (op.inputs.empty()) break;
      return tensor(place, op.inputs.front(), link, depth + 1);
    case OpCode::list_from:
      if (op.inputs.empty() || graphs.op_type(edge.op) != "TensorListFromTensor") return link.set_clean(1);
      return tensor(place, op.inputs.front(), link, depth + 1);
    case OpCode::identity_n:
      if (edge.slot >= op.inputs.size()) break;
      return tensor(place, op.inputs[edge.slot], link, depth + 1);
    case OpCode::branch: return branch_result(place, edge, link, depth);
    case OpCode::loop: return loop_result(place, edge, link, depth);
    case OpCode::placeholder: return argument(place, edge.op, link, depth + 1);
    case OpCode::list_set: return items(place, edge, link, depth);
    case OpCode::add_n:
      if (added_lists(place, op, link, depth)) return;
      break;
    case OpCode::call:
      if (recorded_call_result(place, edge, link, depth)) return;
      break;
    case OpCode::constant:
    case OpCode::not_float:
    case OpCode::variable_handle: return link.set_clean(1);
    default: break;
  }
  without_row(place, edge, link, depth);
}

NANLENS_API void Resolver::without_row(const Place& place, const InputEdge& edge, Link& link, int depth) {
  const OpLinks& op = model_.graphs().op(edge.op);
  if (!model_.owners().has_rows(edge.op)) {
    if (is_always_float(op.code)) return link.set_unknown(Reason::filtered, 0.3F);
    link.no_rows = true;
    return link.set_clean(0.8F);  // a type that no mode summarises
  }
  Window& window = model_.window(place.call);
  for (std::uint32_t slot = 0; slot < op.num_outputs; ++slot)
    if (slot != edge.slot && window.find(model_.graphs().tensor(edge.op, slot), place.run) != none)
      return link.set_clean(0.8F);
  // It has rows elsewhere, and the one of this run is lost: a bad input of it is enough to blame.
  constexpr int farthest = 6;
  const std::uint32_t number = model_.graphs().tensor(edge.op, edge.slot);
  if (depth < farthest && lost_.emplace(number, place.run).second) {
    for (const InputEdge& input : op.inputs) {
      Link behind;
      tensor(place, input, behind, depth + 1);
      if (take_bad(behind, link)) return;
    }
  }
  link.set_unknown(Reason::not_recorded, 0.3F);
}

// A bad input of an op without a row may be why it gave something bad.
NANLENS_API bool Resolver::take_bad(const Link& behind, Link& link) {
  if (behind.state != Link::State::events) return false;
  const auto bad =
      std::find_if(behind.events.begin(), behind.events.end(), [this](EventRef event) { return model_.bad(event); });
  if (bad == behind.events.end()) return false;
  link.set_event(*bad, behind.confidence * 0.6F);
  return true;
}

// What came of an op of a loop that TensorFlow has vectorised, where it has written no row of that. The op ran by
// itself, too, as the first round of the loop would: what was bad there was bad in all of them taken together.
NANLENS_API void Resolver::vectorized_result(const Place& place, const InputEdge& looped, Link& link, int depth) {
  constexpr int farthest = 12;
  const std::uint32_t number = model_.graphs().tensor(looped.op, looped.slot);
  Link own;
  if (const std::uint32_t found = model_.window(place.call).find(number, place.run); found != none)
    own.set_event(trace_event(found), 1);
  if (take_bad(own, link)) return;
  if (depth < farthest && lost_.emplace(number, place.run).second) {
    const std::vector<InputEdge> inputs = model_.graphs().op(looped.op).inputs;
    for (const InputEdge& input : inputs) {
      if (!step()) break;
      Link behind;
      vectorized_input(place, input, behind, depth + 1);
      if (take_bad(behind, link)) return;
    }
  }
  link.set_unknown(Reason::vectorized, 0.7F);
  link.looped = looped.op;
}

// What such an op took: what was made before the loop, or what came of another op of it.
NANLENS_API void Resolver::vectorized_input(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  if (edge.op == none) return tensor(place, edge, link, depth);
  if (const std::uint32_t recorded = graphs.vectorized_to(edge.op); recorded != none)
    return tensor(place, {recorded, 0, edge.slot}, link, depth);
  const OpLinks& op = graphs.op(edge.op);
  const bool before = op.first_tensor_id < graphs.links(place.graph).first_loop_id;
  if (before || op.inputs.empty()) return tensor(place, edge, link, depth);
  vectorized_result(place, edge, link, depth);
}

NANLENS_API InputEdge Resolver::recorded_under(std::uint32_t call, InputEdge edge) {
  constexpr int farthest = 8;
  for (int i = 0; i < farthest && edge.op != none; ++i) {
    const OpLinks& op = model_.graphs().op(edge.op);
    const bool here = !model_.window(call).rows_of(model_.graphs().tensor(edge.op, edge.slot)).empty();
    if (here || op.code != OpCode::identity || op.inputs.empty()) break;
    edge = op.inputs.front();
  }
  return edge;
}

// An element put into a TensorList: any item that this call wrote before may be what is read later.
NANLENS_API void Resolver::items(const Place& place, const InputEdge& list, Link& link, int depth) {
  const OpLinks& op = model_.graphs().op(list.op);
  const std::size_t value = model_.graphs().op_type(list.op).ends_with("SetItem") ? 2 : 1;
  if (value >= op.inputs.size()) return link.set_unknown(Reason::container, 0.3F);
  const InputEdge item = recorded_under(place.call, op.inputs[value]);
  if (item.op != none) {
    const bool branched = model_.graphs().op(item.op).code == OpCode::branch;
    const auto rows = model_.window(place.call).rows_of(model_.graphs().tensor(item.op, item.slot));
    link.events.clear();
    if (place.popped < rows.size()) return link.set_event(trace_event(rows[rows.size() - 1 - place.popped]), 0.8F);
    constexpr std::size_t most = 256;
    for (std::size_t i = rows.size() > most ? rows.size() - most : 0; i < rows.size(); ++i)
      if (place.before == none || rows[i] < place.before) link.events.push_back(trace_event(rows[i]));
    if (branched && rows.empty() && place.popped == none) branch_items(place, item, link.events, depth);
  }
  if (link.events.empty()) tensor(place, item, link, depth + 1);
  Link before;
  initial_items(place, op.inputs.front(), before, depth + 1);
  if (before.state == Link::State::events)
    link.events.insert(link.events.end(), before.events.begin(), before.events.end());
  if (link.events.empty()) return;
  link.state = Link::State::events;
  link.confidence = 0.8F;
}

// The gradient of a loop that reads items of a list: in each step one item, in a list of its own, is added to the
// others.
NANLENS_API bool Resolver::added_lists(const Place& place, const OpLinks& sum, Link& link, int depth) {
  std::vector<EventRef> all;
  for (const InputEdge& list : sum.inputs) {
    if (list.op == none || model_.graphs().op(list.op).code != OpCode::list_set) continue;
    if (!step()) break;
    Link one;
    items(place, list, one, depth + 1);
    if (one.state == Link::State::events) all.insert(all.end(), one.events.begin(), one.events.end());
  }
  if (all.empty()) return false;
  link.state = Link::State::events;
  link.events = std::move(all);
  link.confidence = 0.8F;
  return true;
}

// What a list held before a loop began to set its items. All the items that were set are known already.
NANLENS_API void Resolver::initial_items(const Place& place, const InputEdge& list, Link& link, int depth) {
  constexpr int farthest = 16;
  Place at = place;
  InputEdge edge = list;
  GraphFacts& graphs = model_.graphs();
  for (int i = 0; i < farthest && edge.op != none; ++i) {
    const OpLinks& op = graphs.op(edge.op);
    if (op.code == OpCode::list_from) return tensor(at, edge, link, depth);
    if (op.code == OpCode::placeholder) {
      const GraphLinks& links = graphs.links(at.graph);
      if (links.role != FlowRole::body || op.argument == none) return;
      const auto& inputs = graphs.op(links.flow_op).inputs;
      const std::uint32_t position = op.argument;
      if (position >= inputs.size()) return;
      at.graph = graphs.graph(at.graph).outer;
      at.run = run_across(place, at.graph);
      edge = inputs[position];
    } else if ((op.code == OpCode::identity || op.code == OpCode::list_set) && !op.inputs.empty()) {
      edge = op.inputs.front();
    } else {
      return;
    }
  }
}

// The run of another graph of the same call that goes with this one: the same ordinal where both ran equally often,
// else the one that was under way.
NANLENS_API std::uint32_t Resolver::run_across(const Place& place, std::uint32_t other_graph) {
  Window& window = model_.window(place.call);
  if (place.run != none && window.num_runs(place.graph) == window.num_runs(other_graph)) return place.run;
  return window.run_at(other_graph, place.before);
}

// What a run of a loop's body returned as one of the loop's variables. Bodies of TensorFlow 1 have no return ops: what
// nobody consumes there is what they return, known apart by its shape.
NANLENS_API bool Resolver::loop_value(const Place& inside, std::size_t position, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(inside.graph);
  if (position < links.returns.size()) {
    const InputEdge result = links.returns[position];
    tensor(inside, result, link, depth + 1);
    return true;
  }
  if (links.loose_results.empty() || position >= links.placeholders.size()) return false;
  Window& window = model_.window(inside.call);
  const std::uint32_t own = window.find(graphs.tensor(links.placeholders[position], 0), inside.run);
  if (own == none) return false;
  const TensorHealth health = model_.health(trace_event(own));
  link.events.clear();
  for (const std::uint32_t op : links.loose_results) {
    const std::uint32_t row = window.find(graphs.tensor(op, 0), inside.run);
    if (row == none) continue;
    const TensorHealth other = model_.health(trace_event(row));
    if (other.dtype == health.dtype && other.size == health.size && other.rank == health.rank)
      link.events.push_back(trace_event(row));
  }
  if (link.events.empty()) return false;
  link.state = link.events.size() == 1 ? Link::State::events : Link::State::candidates;
  link.confidence = 0.7F;
  return true;
}

NANLENS_API void Resolver::loop_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  std::uint32_t body = none;
  for (const std::uint32_t child : graphs.run_by(place.graph, edge.op)) {
    const GraphLinks& links = graphs.links(child);
    if (links.role == FlowRole::body) body = child;
    if (links.role != FlowRole::condition || edge.slot >= links.placeholders.size()) continue;
    // The condition sees each variable once more than the body runs: the last is the final value.
    const auto rows = window.rows_of(graphs.tensor(links.placeholders[edge.slot], 0));
    auto after = place.before == none ? rows.end() : std::lower_bound(rows.begin(), rows.end(), place.before);
    if (after != rows.begin()) return link.set_event(trace_event(*(after - 1)), 0.8F);
  }
  if (body == none) return link.set_unknown(Reason::control_flow, 0.3F);
  const GraphLinks& links = graphs.links(body);
  const OpLinks& loop = graphs.op(edge.op);
  Place inside = place;
  inside.graph = body;
  inside.run = window.run_at(body, place.before);
  if (inside.run == none && edge.slot < links.returns.size()) return link.set_unknown(Reason::control_flow, 0.3F);
  if (inside.run != none && loop_value(inside, edge.slot, link, depth)) return link.limit(0.8F);
  if (edge.slot < loop.inputs.size() && edge.slot < loop.num_outputs) {
    const InputEdge unchanged = loop.inputs[edge.slot];
    tensor(place, unchanged, link, depth + 1);
  } else if (const std::size_t extra = edge.slot - loop.num_outputs; extra < links.accumulators.size()) {
    items(inside, {links.accumulators[extra], 0, 0}, link, depth + 1);
  } else {
    return link.set_unknown(Reason::control_flow, 0.3F);
  }
  link.limit(0.8F);
}

}  // namespace nanlens::causes
