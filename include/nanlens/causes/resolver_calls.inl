// Part of resolver.hpp: arguments and results, across functions and calls.
#pragma once

namespace nanlens::causes {

inline void Resolver::argument(const Place& place, std::uint32_t op, Link& link, int depth) {
  if (depth > deepest) return link.set_unknown(Reason::too_deep, 0.3F);
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(place.graph);
  const auto at = std::find(links.placeholders.begin(), links.placeholders.end(), op);
  if (at == links.placeholders.end()) {  // an input off the record
    link.empty = graphs.is_empty_input(op);
    return link.empty ? link.set_clean(1) : link.set_unknown(Reason::eager, 0.6F);
  }
  const auto position = static_cast<std::size_t>(at - links.placeholders.begin());
  if (links.role != FlowRole::none) return flow_argument(place, position, links, link, depth);
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  if (outer != none && !graphs.is_root(outer)) {
    if (recorded_argument(place, position, link, depth)) return;
    if (graphs.graph_name(place.graph).starts_with("__backward") && backward_argument(place, op, link)) return;
    return nested_argument(place, link, depth);
  }
  if (model_.owners().is_asynchronous(place.graph)) return link.set_unknown(Reason::runtime, 0.5F);
  if (place.call == none || model_.owners().graph_of_call(place.call) != place.graph)
    return link.set_unknown(Reason::caller, 0.3F);
  const auto inputs = model_.calls().inputs(place.call);
  if (inputs.size() != links.placeholders.size()) return link.set_unknown(Reason::arguments, 0.3F);
  eager(inputs[position].tensor_id, place.call, link);
}

inline void Resolver::eager(std::int64_t tensor_id, std::uint32_t before, Link& link) {
  const auto producer = model_.calls().producer(tensor_id, before);
  if (!producer) {
    link.set_unknown(Reason::eager, 0.6F);
    link.tensor_id = tensor_id;
    return;
  }
  if (op_code(model_.calls().op_type(producer->execution)) == OpCode::variable_handle) return link.set_clean(1);
  link.set_event(execution_event(producer->execution, producer->position), 1);
}

inline void Resolver::flow_argument(const Place& place, std::size_t position, const GraphLinks& links, Link& link,
                                    int depth) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  const auto inputs = std::span(graphs.op(links.flow_op).inputs);
  Place outside = place;
  outside.graph = outer;
  outside.run = run_across(place, outer);
  if (outside.run == none) outside.run = 0;
  if (links.role == FlowRole::branch) {
    if (position + 1 >= inputs.size()) return link.set_unknown(Reason::control_flow, 0.3F);
    tensor(outside, inputs[position + 1], link, depth + 1);
    return link.limit(0.9F);
  }
  Window& window = model_.window(place.call);
  for (const std::uint32_t child : graphs.graph(outer).inner) {
    const GraphLinks& body = graphs.links(child);
    if (body.role != FlowRole::body || body.flow_op != links.flow_op || position >= body.returns.size()) continue;
    // Iteration j reads what iteration j − 1 returned. Only a loop that runs once per call has such ordinals.
    if (place.run == none || place.run == 0 || window.num_runs(outer) > 1) continue;
    Place previous = place;
    previous.graph = child;
    previous.run = place.run - 1;
    if (previous.run >= window.num_runs(child)) continue;
    tensor(previous, body.returns[position], link, depth + 1);
    return link.limit(0.9F);
  }
  if (position >= inputs.size()) return link.set_unknown(Reason::control_flow, 0.3F);
  tensor(outside, inputs[position], link, depth + 1);
  link.limit(0.9F);
}

// A backward function's placeholder is named after the forward op whose value it takes: "…/<op>".
inline bool Resolver::backward_argument(const Place& place, std::uint32_t op, Link& link) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  const std::string_view name = graphs.op_name(op);
  std::uint32_t best = none;
  std::size_t longest = 0;
  for (const std::uint32_t candidate : graphs.graph(outer).ops) {
    const std::string_view other = graphs.op_name(candidate);
    const bool tail = name == other || (name.size() > other.size() && name.ends_with(other) &&
                                        name[name.size() - other.size() - 1] == '/');
    if (!tail || other.size() <= longest) continue;
    best = candidate;
    longest = other.size();
  }
  if (best == none) return false;
  const auto rows = model_.window(place.call).rows_of(graphs.tensor(best, 0));
  for (std::size_t i = rows.size(); i-- > 0;)
    if (place.before == none || rows[i] < place.before) {
      link.set_event(trace_event(rows[i]), 0.7F);
      return true;
    }
  return false;
}

// --- nanlens' own logdirs: calls are ops of the caller's graph.

inline std::vector<std::uint32_t> Resolver::call_ops(std::uint32_t caller, std::string_view name) {
  std::vector<std::uint32_t> ops;
  for (const std::uint32_t op : model_.graphs().graph(caller).ops) {
    if (model_.graphs().op(op).code != OpCode::call) continue;
    const std::string_view own = model_.graphs().op_name(op);
    if (own == name || detail::without_number(own) == name) ops.push_back(op);
  }
  return ops;
}

// Runs of the caller's nested functions of one name that began inside one run of the caller, in order.
inline std::vector<Resolver::CalleeRun> Resolver::callee_runs(const Place& caller, std::string_view name) {
  Window& window = model_.window(caller.call);
  const std::uint32_t num_callers = window.num_runs(caller.graph);
  const std::uint64_t begin = num_callers == 0 ? 0 : window.run_number(caller.graph, caller.run);
  std::uint64_t end = ~std::uint64_t{0};
  for (std::uint32_t run = 0; run < num_callers; ++run)
    if (const std::uint64_t n = window.run_number(caller.graph, run); n > begin) end = std::min(end, n);
  std::vector<CalleeRun> runs;
  for (const std::uint32_t child : model_.graphs().graph(caller.graph).inner) {
    if (model_.graphs().graph_name(child) != name) continue;
    for (std::uint32_t run = 0; run < window.num_runs(child); ++run) {
      const std::uint64_t number = window.run_number(child, run);
      if (number > begin && number < end) runs.push_back({number, child, run});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const CalleeRun& a, const CalleeRun& b) { return a.number < b.number; });
  return runs;
}

inline std::uint32_t Resolver::caller_run(const Place& callee, std::uint32_t caller) {
  Window& window = model_.window(callee.call);
  const std::uint64_t number = window.run_number(callee.graph, callee.run);
  std::uint32_t best = 0;
  std::uint64_t nearest = 0;
  for (std::uint32_t run = 0; run < window.num_runs(caller); ++run)
    if (const std::uint64_t n = window.run_number(caller, run); n < number && n >= nearest) {
      nearest = n;
      best = run;
    }
  return best;
}

inline bool Resolver::recorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  if (!model_.owners().native() || place.run == none) return false;
  const std::string_view full = model_.graphs().op_name(edge.op);
  for (const std::string_view name : {full, detail::without_number(full)}) {
    const auto ops = call_ops(place.graph, name);
    const auto runs = callee_runs(place, name);
    const auto at = static_cast<std::size_t>(std::find(ops.begin(), ops.end(), edge.op) - ops.begin());
    if (at >= runs.size()) continue;
    const GraphLinks& callee = model_.graphs().links(runs[at].graph);
    if (edge.slot >= callee.returns.size()) continue;
    Place inside = place;
    inside.graph = runs[at].graph;
    inside.run = runs[at].run;
    tensor(inside, callee.returns[edge.slot], link, depth + 1);
    if (ops.size() != runs.size()) link.limit(0.7F);
    return true;
  }
  return false;
}

inline bool Resolver::recorded_argument(const Place& place, std::size_t position, Link& link, int depth) {
  if (!model_.owners().native() || place.run == none) return false;
  const std::uint32_t caller = model_.graphs().graph(place.graph).outer;
  Place outside = place;
  outside.graph = caller;
  outside.run = caller_run(place, caller);
  const std::string_view name = model_.graphs().graph_name(place.graph);
  const auto runs = callee_runs(outside, name);
  const auto ops = call_ops(caller, name);
  const auto at = std::find_if(runs.begin(), runs.end(),
                               [&](const CalleeRun& r) { return r.graph == place.graph && r.run == place.run; });
  const auto j = static_cast<std::size_t>(at - runs.begin());
  if (j >= ops.size()) return false;
  const auto& inputs = model_.graphs().op(ops[j]).inputs;
  if (position >= inputs.size()) return false;
  tensor(outside, inputs[position], link, depth + 1);
  if (ops.size() != runs.size()) link.limit(0.7F);
  return true;
}

// --- TensorFlow's logdirs: nested calls are not recorded, only their graphs and rows.

inline void Resolver::unrecorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  const GraphLinks& links = graphs.links(place.graph);
  const auto& names = links.unrecorded;
  const auto& callees = links.functions;
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), edge.name) - names.begin());
  Place inside = place;
  // One function called several times: its j-th run inside the caller's.
  if (callees.size() == 1 && names.size() > 1 && at < names.size()) {
    const std::uint32_t runs = window.num_runs(callees[0]);
    const std::uint32_t callers = std::max(1U, window.num_runs(place.graph));
    const auto& returns = graphs.links(callees[0]).returns;
    if (runs > 0 && edge.slot < returns.size() && runs % callers == 0 && runs / callers >= names.size()) {
      inside.graph = callees[0];
      inside.run = (place.run == none ? 0 : place.run) * (runs / callers) + static_cast<std::uint32_t>(at);
      tensor(inside, returns[edge.slot], link, depth + 1);
      return link.limit(0.7F);
    }
  }
  std::vector<std::uint32_t> candidates = callees;
  float confidence = 0.5F;
  const auto index = static_cast<std::size_t>(detail::trailing_number(graphs.text(edge.name)));
  if (index < callees.size() && names.size() <= callees.size()) {
    candidates = {callees[index]};
    confidence = 0.9F;
  }
  link.events.clear();
  for (const std::uint32_t callee : candidates) {
    const auto& returns = graphs.links(callee).returns;
    if (edge.slot >= returns.size()) continue;
    inside.graph = callee;
    inside.run = run_across(place, callee);
    if (inside.run == none) inside.run = 0;
    Link one;
    tensor(inside, returns[edge.slot], one, depth + 1);
    confidence = std::min(confidence, one.confidence);
    link.events.insert(link.events.end(), one.events.begin(), one.events.end());
  }
  if (link.events.empty()) return link.set_unknown(Reason::nested, 0.3F);
  link.state = candidates.size() == 1 ? Link::State::events : Link::State::candidates;
  link.confidence = confidence;
}

// Which tensor of the caller went in is not recorded: all that existed before are candidates, nearest last.
inline void Resolver::nested_argument(const Place& place, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  const auto first_id = [&](std::uint32_t graph) {
    std::int32_t first = 0x7fffffff;
    for (const std::uint32_t o : graphs.graph(graph).ops)
      if (const std::int32_t id = graphs.op(o).first_tensor_id; id > 0) first = std::min(first, id);
    return first;
  };
  // A function that runs more often than its caller is reused: later tensors of the caller may be arguments too.
  const bool reused = window.num_runs(outer) > 0 && window.num_runs(place.graph) > window.num_runs(outer);
  const std::int32_t limit = reused ? 0x7fffffff : first_id(place.graph);
  Place outside = place;
  outside.graph = outer;
  outside.run = run_across(place, outer);
  std::vector<EventRef> found;
  const auto add = [&](const EventRef& event) {
    if (std::find(found.begin(), found.end(), event) == found.end()) found.push_back(event);
  };
  const GraphLinks& links = graphs.links(outer);
  for (const std::uint32_t sibling : links.functions) {
    if (sibling == place.graph || first_id(sibling) >= limit) continue;
    for (const InputEdge& result : graphs.links(sibling).returns) {
      Place inside = place;
      inside.graph = sibling;
      inside.run = window.run_at(sibling, place.before);
      if (inside.run == none) continue;
      Link one;
      tensor(inside, result, one, depth + 4);
      if (one.state == Link::State::events) std::for_each(one.events.begin(), one.events.end(), add);
    }
  }
  for (const std::uint32_t argument_op : links.placeholders) {
    if (graphs.op(argument_op).first_tensor_id >= limit) continue;
    Link one;
    tensor(outside, {argument_op, 0, 0}, one, depth + 4);
    if (one.state == Link::State::events) std::for_each(one.events.begin(), one.events.end(), add);
  }
  for (const std::uint32_t other : graphs.graph(outer).ops) {
    const OpLinks& candidate = graphs.op(other);
    if (candidate.first_tensor_id >= limit || candidate.code == OpCode::placeholder || outside.run == none) continue;
    for (std::uint32_t slot = 0; slot < candidate.num_outputs; ++slot) {
      const std::uint32_t row = window.find(graphs.tensor(other, slot), outside.run);
      if (row != none && (place.before == none || row <= place.before || !reused)) add(trace_event(row));
    }
  }
  if (found.empty()) return link.set_unknown(Reason::nested, 0.3F);
  link.state = Link::State::candidates;
  link.events = std::move(found);
  link.confidence = 0.5F;
}

// --- calls

inline void Resolver::call_output(EventRef output, Link& link) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t call = output.index;
  const std::uint32_t graph = model_.owners().graph_of_call(call);
  Window& window = model_.window(call);
  Place inside;
  inside.call = call;
  inside.graph = graph;
  const auto resolves = [&](const InputEdge& edge, float most) {
    inside.run = window.num_runs(graph) == 0 ? 0 : window.num_runs(graph) - 1;
    tensor(inside, edge, link);
    link.limit(most);
    return link.state == Link::State::events && !link.events.empty() && link.events.front() != output;
  };
  if (graph != none) {
    const auto& returns = graphs.links(graph).returns;
    if (output.slot < returns.size() && resolves(returns[output.slot], 1)) return;
    // Outputs beyond the returns are kept for a backward call, whose placeholder is named after the op.
    const auto outputs = model_.calls().outputs(call);
    const auto uses = output.slot < outputs.size() ? model_.calls().consumers(outputs[output.slot].tensor_id)
                                                   : std::span<const TensorUse>{};
    for (const TensorUse& use : uses) {
      const std::uint32_t user =
          model_.calls().is_call(use.execution) ? model_.owners().graph_of_call(use.execution) : none;
      if (user == none) continue;
      const auto& placeholders = graphs.links(user).placeholders;
      if (placeholders.size() != model_.calls().inputs(use.execution).size()) continue;
      const std::string_view name = graphs.op_name(placeholders[use.position]);
      InputEdge best;
      std::size_t longest = 0;
      for (const std::uint32_t op : graphs.graph(graph).ops) {
        const std::string_view other = graphs.op_name(op);
        if (other.size() <= longest || name.size() <= other.size() || !name.ends_with(other) ||
            name[name.size() - other.size() - 1] != '/')
          continue;
        best = {op, 0, 0};
        longest = other.size();
      }
      if (best.op != none && resolves(best, 0.9F)) return;
    }
  }
  link.set_unknown(Reason::not_recorded, 0.3F);
}

inline std::int64_t Resolver::handle(const Place& place, const InputEdge& edge, int depth) {
  if (edge.op == none || depth > deepest) return -1;
  GraphFacts& graphs = model_.graphs();
  const OpLinks& op = graphs.op(edge.op);
  if (op.code == OpCode::identity && !op.inputs.empty()) return handle(place, op.inputs.front(), depth + 1);
  if (op.code != OpCode::placeholder) return -1;
  const GraphLinks& links = graphs.links(place.graph);
  const auto at = std::find(links.placeholders.begin(), links.placeholders.end(), edge.op);
  const auto position = static_cast<std::size_t>(at - links.placeholders.begin());
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  if (links.role != FlowRole::none) {
    const auto& inputs = graphs.op(links.flow_op).inputs;
    const std::size_t input = links.role == FlowRole::branch ? position + 1 : position;
    Place outside = place;
    outside.graph = outer;
    return input < inputs.size() ? handle(outside, inputs[input], depth + 1) : -1;
  }
  if (place.call == none || model_.owners().graph_of_call(place.call) != place.graph) return -1;
  const auto inputs = model_.calls().inputs(place.call);
  return inputs.size() == links.placeholders.size() ? inputs[position].tensor_id : -1;
}

}  // namespace nanlens::causes
