// Part of resolver.hpp: what came out of functions and calls.
#pragma once

namespace nanlens::causes {

// --- nanlens' own logdirs: calls are ops of the caller's graph.

NANLENS_API Resolver::CallsByName& Resolver::native_calls(const Place& caller) {
  constexpr std::size_t most = 64;  // remembered: those of a few runs are asked about again and again
  const NativeKey key(caller.call, caller.graph, caller.run);
  const auto known = native_calls_.find(key);
  if (known != native_calls_.end()) return known->second;
  if (native_calls_.size() >= most) native_calls_.clear();
  CallsByName& calls = native_calls_[key];
  const auto& ops = model_.graphs().graph(caller.graph).ops;
  model_.spend(ops.size());
  for (const std::uint32_t op : ops) {
    if (model_.graphs().op(op).code != OpCode::call) continue;
    const std::string_view full = model_.graphs().op_name(op);
    const std::string_view plain = detail::without_number(full);
    for (const std::string_view name : {full, plain}) {
      NativeCalls& one = calls[name];
      if (one.by_op.emplace(op, one.ops.size()).second) one.ops.push_back(op);
    }
  }
  find_runs(caller, calls);
  return calls;
}

// Runs of the caller's nested functions that began inside one run of the caller, in order.
NANLENS_API void Resolver::find_runs(const Place& caller, CallsByName& calls) {
  Window& window = model_.window(caller.call);
  const auto callers = window.runs_by_number(caller.graph);
  const std::uint64_t begin = callers.empty() ? 0 : window.run_number(caller.graph, caller.run);
  const auto after = [](std::span<const std::pair<std::uint64_t, std::uint32_t>> runs, std::uint64_t number) {
    return std::upper_bound(runs.begin(), runs.end(), std::pair(number, none));
  };
  const auto next = after(callers, begin);
  const std::uint64_t end = next == callers.end() ? ~std::uint64_t{0} : next->first;
  const auto& inner = model_.graphs().graph(caller.graph).inner;
  model_.spend(inner.size());
  for (const std::uint32_t child : inner) {
    const auto runs = window.runs_by_number(child);
    for (auto run = after(runs, begin); run != runs.end() && run->first < end; ++run)
      calls[model_.graphs().graph_name(child)].runs.push_back({run->first, child, run->second});
  }
  for (auto& [name, one] : calls) {
    std::sort(one.runs.begin(), one.runs.end(),
              [](const CalleeRun& a, const CalleeRun& b) { return a.number < b.number; });
    for (std::size_t i = 0; i < one.runs.size(); ++i)
      one.by_run.emplace(std::uint64_t{one.runs[i].graph} << 32 | one.runs[i].run, i);
  }
}

NANLENS_API std::uint32_t Resolver::caller_run(const Place& callee, std::uint32_t caller) {
  Window& window = model_.window(callee.call);
  const std::uint64_t number = window.run_number(callee.graph, callee.run);
  const auto runs = window.runs_by_number(caller);
  const auto after = std::lower_bound(runs.begin(), runs.end(), std::pair(number, std::uint32_t{0}));
  return after == runs.begin() ? 0 : (after - 1)->second;
}

NANLENS_API bool Resolver::recorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  if (!model_.owners().native() || place.run == none) return false;
  const std::string_view full = model_.graphs().op_name(edge.op);
  for (const std::string_view name : {full, detail::without_number(full)}) {
    const NativeCalls& calls = native_calls(place)[name];
    const auto at = calls.by_op.find(edge.op);
    if (at == calls.by_op.end() || at->second >= calls.runs.size()) continue;
    const CalleeRun& run = calls.runs[at->second];
    const GraphLinks& callee = model_.graphs().links(run.graph);
    if (edge.slot >= callee.returns.size()) continue;
    const bool exact = calls.ops.size() == calls.runs.size();
    Place inside = place;
    inside.graph = run.graph;
    inside.run = run.run;
    tensor(inside, callee.returns[edge.slot], link, depth + 1);
    if (!exact) link.limit(0.7F);
    return true;
  }
  return false;
}

NANLENS_API bool Resolver::recorded_argument(const Place& place, std::size_t position, Link& link, int depth) {
  if (!model_.owners().native() || place.run == none) return false;
  const std::uint32_t caller = model_.graphs().graph(place.graph).outer;
  Place outside = place;
  outside.graph = caller;
  outside.run = caller_run(place, caller);
  const NativeCalls& calls = native_calls(outside)[model_.graphs().graph_name(place.graph)];
  const auto at = calls.by_run.find(std::uint64_t{place.graph} << 32 | place.run);
  if (at == calls.by_run.end() || at->second >= calls.ops.size()) return false;
  const auto& inputs = model_.graphs().op(calls.ops[at->second]).inputs;
  if (position >= inputs.size()) return false;
  const bool exact = calls.ops.size() == calls.runs.size();
  tensor(outside, inputs[position], link, depth + 1);
  if (!exact) link.limit(0.7F);
  return true;
}

// --- TensorFlow's logdirs: nested calls are not recorded, only their graphs and rows.

NANLENS_API void Resolver::unrecorded_call_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  const std::uint32_t looped =
      model_.owners().native() ? none : model_.graphs().vectorized_from(place.graph, edge.name);
  if (looped != none) {
    vectorized_result(place, {looped, 0, edge.slot}, link, depth);
    link.name = edge.name;
    return;
  }
  const CallSite* const site = model_.owners().native() ? nullptr : model_.nested().find(place.graph, edge.name);
  if (site == nullptr) return link.set_unknown(Reason::nested, 0.3F);
  const auto& runs = runs_in_order(place.call, place.graph);
  if (!runs.empty()) {
    // A call whose result nobody uses has no name: which function another one calls is then told by their order.
    const std::size_t callers = std::max<std::size_t>(model_.window(place.call).num_runs(place.graph), 1);
    const auto number = static_cast<std::size_t>(site - model_.nested().sites(place.graph).data());
    const std::size_t at = (place.run == none ? 0 : place.run) * (runs.size() / callers) + number;
    Place inside = place;
    if (at < runs.size()) inside.graph = runs[at].graph, inside.run = runs[at].run;
    if (at >= runs.size() || edge.slot >= model_.graphs().links(inside.graph).returns.size())
      return link.set_unknown(Reason::nested, 0.3F);
    nested_result(inside, edge.slot, link, depth);
    return link.limit(0.7F);
  }
  if (site->callee == none) return foreign_result(place, *site, edge, link, depth);
  nested_result(inside_of(place, *site), edge.slot, link, depth);
  link.limit(site->confidence);
}

NANLENS_API const std::vector<Resolver::OrderedRun>& Resolver::runs_in_order(std::uint32_t call, std::uint32_t graph) {
  constexpr std::size_t most = 64;  // remembered
  const auto known = runs_in_order_.find({call, graph});
  if (known != runs_in_order_.end()) return known->second;
  if (runs_in_order_.size() >= most) runs_in_order_.clear();
  std::vector<OrderedRun>& runs = runs_in_order_[{call, graph}];
  if (model_.owners().native()) return runs;
  Window& window = model_.window(call);
  const std::size_t callers = std::max<std::size_t>(window.num_runs(graph), 1);
  bool as_shown = true;
  for (const std::uint32_t callee : model_.nested().called_in_order(graph)) {
    const std::uint32_t num_runs = window.num_runs(callee);
    model_.spend(num_runs + 1);
    if (num_runs == 0 || model_.nested().callers(callee).size() != 1) return runs = {};
    as_shown = as_shown && num_runs == callers * model_.nested().count(graph, callee);
    for (std::uint32_t run = 0; run < num_runs; ++run) runs.push_back({window.run_begin(callee, run), callee, run});
  }
  if (as_shown || runs.size() % callers != 0) return runs = {};
  std::sort(runs.begin(), runs.end());
  return runs;
}

NANLENS_API void Resolver::nested_result(const Place& inside, std::uint32_t slot, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  const auto& returns = graphs.links(inside.graph).returns;
  if (slot < returns.size()) {
    const InputEdge result = returns[slot];
    return tensor(inside, result, link, depth + 1);
  }
  CallSite site;
  site.callee = inside.graph;
  const std::uint32_t kept = extra_output_name(site, slot - returns.size());
  if (kept != none && captured(inside, std::string(graphs.op_name(kept)), link, depth + 1)) return;
  link.set_unknown(Reason::nested, 0.3F);
}

// A function that was traced elsewhere: the one whose result was made last before it is used.
NANLENS_API void Resolver::foreign_result(const Place& place, const CallSite& site, const InputEdge& edge, Link& link,
                                          int depth) {
  Window& window = model_.window(place.call);
  link.set_unknown(Reason::nested, 0.3F);
  std::uint32_t latest = none;
  for (const std::uint32_t callee : model_.nested().candidates(place.graph, site)) {
    Place inside = place;
    inside.graph = callee;
    inside.run = window.run_at(callee, place.before);
    const std::uint32_t begin = inside.run == none ? none : window.run_begin(callee, inside.run);
    if (begin == none || (place.before != none && begin > place.before)) continue;
    Link one;
    nested_result(inside, edge.slot, one, depth + 1);
    if (one.state != Link::State::events || one.events.front().is_execution) continue;
    const std::uint32_t row = one.events.front().index;
    if ((place.before != none && row > place.before) || (latest != none && row <= latest)) continue;
    latest = row;
    link = one;
  }
  link.limit(0.5F);
}

// The run of a function that a call of its caller's run made: by their numbers where they agree, else the last that had
// begun.
NANLENS_API Place Resolver::inside_of(const Place& place, const CallSite& site) {
  Window& window = model_.window(place.call);
  Place inside = place;
  inside.graph = site.callee;
  const std::uint32_t callers = window.num_runs(place.graph);
  const std::uint32_t runs = window.num_runs(site.callee);
  const std::uint32_t per_run = model_.nested().count(place.graph, site.callee);
  const bool alone = model_.nested().callers(site.callee).size() == 1;
  if (alone && callers > 0 && runs == callers * per_run && place.run != none)
    inside.run = place.run * per_run + site.ordinal;
  else if (alone && callers == 0 && runs == per_run)
    inside.run = site.ordinal;
  else
    inside.run = window.run_at(site.callee, place.before);
  if (inside.run == none) inside.run = 0;
  return inside;
}

// --- calls

NANLENS_API void Resolver::call_output(EventRef output, Link& link) {
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
    if (link.state == Link::State::unknown && link.reason == Reason::vectorized) return;
    // Outputs beyond the returns are kept for a backward call, whose placeholder is named after the op.
    for (const TensorUse& use : model_.calls().consumers(call, output.slot)) {
      const std::uint32_t user =
          model_.calls().is_call(use.execution) ? model_.owners().graph_of_call(use.execution) : none;
      if (user == none) continue;
      const auto& placeholders = graphs.links(user).placeholders;
      if (placeholders.size() != model_.calls().inputs(use.execution).size()) continue;
      const std::string name(graphs.op_name(placeholders[use.position]));
      inside.run = window.num_runs(graph) == 0 ? 0 : window.num_runs(graph) - 1;
      if (captured(inside, name, link, 0) && link.state == Link::State::events && link.events.front() != output)
        return link.limit(0.9F);
    }
  }
  link.set_unknown(Reason::not_recorded, 0.3F);
}

}  // namespace nanlens::causes
