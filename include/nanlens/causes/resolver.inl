// Part of resolver.hpp: tensors of one graph, branches, loops and containers.
#pragma once

namespace nanlens::causes {

inline void Resolver::tensor(const Place& place, const InputEdge& edge, Link& link, int depth) {
  if (depth > deepest) return link.set_unknown(Reason::too_deep, 0.3F);
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

inline void Resolver::without_row(const Place& place, const InputEdge& edge, Link& link, int depth) {
  const OpLinks& op = model_.graphs().op(edge.op);
  if (!model_.owners().has_rows(edge.op)) {
    if (is_always_float(op.code)) return link.set_unknown(Reason::filtered, 0.3F);
    return link.set_clean(0.8F);  // a type that no mode summarises
  }
  Window& window = model_.window(place.call);
  for (std::uint32_t slot = 0; slot < op.num_outputs; ++slot)
    if (slot != edge.slot && window.find(model_.graphs().tensor(edge.op, slot), place.run) != none)
      return link.set_clean(0.8F);
  // It has rows elsewhere, and the one of this run is lost: a bad input of it is enough to blame.
  constexpr int farthest = 6;
  if (depth < farthest) {
    for (const InputEdge& input : op.inputs) {
      Link behind;
      tensor(place, input, behind, depth + 1);
      for (const EventRef& event : behind.events)
        if (behind.state == Link::State::events && model_.bad(event))
          return link.set_event(event, behind.confidence * 0.6F);
    }
  }
  link.set_unknown(Reason::not_recorded, 0.3F);
}

// An element put into a TensorList: any item that this call wrote before may be what is read later.
inline void Resolver::items(const Place& place, const InputEdge& list, Link& link, int depth) {
  const OpLinks& op = model_.graphs().op(list.op);
  const std::size_t value = model_.graphs().op_type(list.op).ends_with("SetItem") ? 2 : 1;
  if (value >= op.inputs.size()) return link.set_unknown(Reason::container, 0.3F);
  const InputEdge& item = op.inputs[value];
  if (item.op != none) {
    const auto rows = model_.window(place.call).rows_of(model_.graphs().tensor(item.op, item.slot));
    link.events.clear();
    constexpr std::size_t most = 256;
    for (std::size_t i = rows.size() > most ? rows.size() - most : 0; i < rows.size(); ++i)
      if (place.before == none || rows[i] < place.before) link.events.push_back(trace_event(rows[i]));
    if (!link.events.empty()) {
      link.state = Link::State::events;
      link.confidence = 0.8F;
      return;
    }
  }
  tensor(place, item, link, depth + 1);
}

// The run of another graph of the same call that goes with this one: the same ordinal where both ran equally often,
// else the one that was under way.
inline std::uint32_t Resolver::run_across(const Place& place, std::uint32_t other_graph) {
  Window& window = model_.window(place.call);
  if (place.run != none && window.num_runs(place.graph) == window.num_runs(other_graph)) return place.run;
  return window.run_at(other_graph, place.before);
}

inline void Resolver::branch_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  std::uint32_t latest = none;
  Place inside = place;
  for (const std::uint32_t child : graphs.graph(place.graph).inner) {
    const GraphLinks& links = graphs.links(child);
    if (links.role != FlowRole::branch || links.flow_op != edge.op || edge.slot >= links.returns.size()) continue;
    const std::uint32_t run = window.run_at(child, place.before);
    if (run == none) continue;
    const std::uint32_t begin = window.run_begin(child, run);
    if (place.before != none && begin > place.before) continue;
    if (latest != none && begin < latest) continue;
    latest = begin;
    inside.graph = child;
    inside.run = run;
  }
  if (latest == none) return link.set_unknown(Reason::control_flow, 0.3F);
  const InputEdge result = graphs.links(inside.graph).returns[edge.slot];
  tensor(inside, result, link, depth + 1);
  link.limit(0.8F);
}

inline void Resolver::loop_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  std::uint32_t body = none;
  for (const std::uint32_t child : graphs.graph(place.graph).inner) {
    const GraphLinks& links = graphs.links(child);
    if (links.flow_op != edge.op) continue;
    if (links.role == FlowRole::body) body = child;
    if (links.role != FlowRole::condition || edge.slot >= links.placeholders.size()) continue;
    // The condition sees each variable once more than the body runs: the last is the final value.
    const auto rows = window.rows_of(graphs.tensor(links.placeholders[edge.slot], 0));
    auto after = place.before == none ? rows.end() : std::lower_bound(rows.begin(), rows.end(), place.before);
    if (after != rows.begin()) return link.set_event(trace_event(*(after - 1)), 0.8F);
  }
  if (body != none && edge.slot < graphs.links(body).returns.size()) {
    Place inside = place;
    inside.graph = body;
    inside.run = window.run_at(body, place.before);
    if (inside.run != none) {
      const InputEdge result = graphs.links(body).returns[edge.slot];
      tensor(inside, result, link, depth + 1);
      return link.limit(0.8F);
    }
  }
  link.set_unknown(Reason::control_flow, 0.3F);
}

}  // namespace nanlens::causes
