// Part of resolver.hpp: what was passed to a function, a branch or a loop.
#pragma once

namespace nanlens::causes {

NANLENS_API void Resolver::argument(const Place& place, std::uint32_t op, Link& link, int depth) {
  if (depth > limits::link_depth || !step()) return give_up(link);
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(place.graph);
  const std::uint32_t position = graphs.op(op).argument;
  if (position == none) {  // an input off the record
    link.empty = graphs.is_empty_input(op);
    return link.empty ? link.set_clean(1) : link.set_unknown(Reason::eager, 0.6F);
  }
  if (links.role != FlowRole::none) return flow_argument(place, position, links, link, depth);
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  if (outer != none && !graphs.is_root(outer)) {
    if (graphs.is_pipeline(place.graph) && !is_captured(place.graph, op))
      return link.set_unknown(Reason::runtime, 0.5F);
    if (recorded_argument(place, position, link, depth)) return;
    if (captured_argument(place, op, link, depth)) return;
    return nested_argument(place, link, depth);
  }
  if (model_.owners().is_asynchronous(place.graph)) return link.set_unknown(Reason::runtime, 0.5F);
  if (place.call == none && is_given(place, op)) return link.set_unknown(Reason::given, 1);
  if (place.call == none && is_unsummarised(op)) return link.set_clean(0.8F);
  if (place.call == none && earlier_results(place, link)) return;
  if (place.call == none || model_.owners().graph_of_call(place.call) != place.graph)
    return link.set_unknown(Reason::caller, 0.3F);
  const auto inputs = model_.calls().inputs(place.call);
  if (inputs.size() < links.placeholders.size()) return link.set_unknown(Reason::arguments, 0.3F);
  const auto& captures = captures_of(place.graph).all;
  const bool is_argument = captures.empty() || op < captures.front();  // before what the function took in by itself
  if (inputs.size() > links.placeholders.size() && !is_argument) return link.set_unknown(Reason::arguments, 0.3F);
  eager(inputs[position].tensor_id, place.call, link);
}

NANLENS_API void Resolver::eager(std::int64_t tensor_id, std::uint32_t before, Link& link) {
  const auto producer = model_.calls().producer(tensor_id, before);
  if (!producer) {
    const bool before_all = model_.owners().may_lack_beginning() && model_.calls().is_older_than_all(tensor_id, before);
    link.set_unknown(before_all ? Reason::before : Reason::eager, 0.6F);
    link.tensor_id = tensor_id;
    return;
  }
  if (op_code(model_.calls().op_type(producer->execution)) == OpCode::variable_handle) return link.set_clean(1);
  link.set_event(execution_event(producer->execution, producer->position), 1);
}

// A graph that the host declared and runs by itself has no calls: its arguments say that they come from outside.
NANLENS_API bool Resolver::is_given(const Place& place, std::uint32_t op) {
  if (!model_.owners().native() || place.run == none) return false;
  const std::uint32_t row = model_.window(place.call).find(model_.graphs().tensor(op, 0), place.run);
  const auto digest = row == none ? std::nullopt : model_.run().trace_digest(row);
  return digest && digest->outside_source;
}

// The host declares what it looks at. Where nothing is missing, an argument without any row is of a type that no mode
// summarises: integers, such as axes, targets and masks.
NANLENS_API bool Resolver::is_unsummarised(std::uint32_t op) {
  return model_.owners().native() && !model_.owners().has_rows(op) && !misses_events(model_.run());
}

// The caller is not on record (a ring lost it): results of other functions shortly before are what it may have passed.
NANLENS_API bool Resolver::earlier_results(const Place& place, Link& link) {
  if (place.before == none || model_.owners().native() || model_.run().num_executions() == 0) return false;
  constexpr std::size_t farthest = 256;
  constexpr std::size_t most = 8;
  GraphFacts& graphs = model_.graphs();
  const auto rows = model_.window(place.call).rows();
  auto at = std::lower_bound(rows.begin(), rows.end(), place.before);
  std::vector<EventRef> found;
  for (std::size_t i = 0; i < farthest && at != rows.begin() && found.size() < most; ++i) {
    const std::uint32_t op = model_.run().trace_op(*--at);
    const std::uint32_t graph = graphs.graph_of(op);
    if (graph == place.graph || graphs.is_root(graph) || model_.owners().is_asynchronous(graph)) continue;
    const auto& returns = graphs.links(graph).returns;
    if (std::any_of(returns.begin(), returns.end(), [&](const InputEdge& e) { return e.op == op; }))
      found.push_back(trace_event(*at));
  }
  if (found.empty()) return false;
  link.state = Link::State::candidates;
  link.events.assign(found.rbegin(), found.rend());
  link.confidence = 0.5F;
  return true;
}

NANLENS_API void Resolver::flow_argument(const Place& place, std::size_t position, const GraphLinks& links, Link& link,
                                         int depth) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  const auto inputs = std::span(graphs.op(links.flow_op).inputs);
  Place outside = place;
  outside.graph = outer;
  outside.run = run_across(place, outer);
  if (outside.run == none) outside.run = 0;
  if (links.role == FlowRole::branch) return branch_argument(outside, place.graph, position, link, depth);
  Window& window = model_.window(place.call);
  for (const std::uint32_t child : graphs.run_by(outer, links.flow_op)) {
    if (graphs.links(child).role != FlowRole::body) continue;
    // Iteration j reads what iteration j − 1 returned. The first one of a later run of the loop reads what went in:
    // what the run before it returned is older than that.
    if (place.run == none || place.run == 0) continue;
    Place previous = place;
    previous.graph = child;
    previous.run = place.run - 1;
    if (previous.run >= window.num_runs(child) || !loop_value(previous, position, link, depth)) continue;
    const std::uint32_t begin = window.num_runs(outer) > 1 ? window.run_begin(outer, outside.run) : none;
    const bool older =
        begin != none && !link.events.empty() && !link.events.front().is_execution && link.events.front().index < begin;
    if (!older) return link.limit(0.9F);
  }
  if (position >= inputs.size()) return link.set_unknown(Reason::control_flow, 0.3F);
  tensor(outside, inputs[position], link, depth + 1);
  link.limit(0.9F);
}

// The run of a graph that a run of its gradient goes with; gradients run in the reverse order.
NANLENS_API Place Resolver::forward_run(const Place& place, std::uint32_t forward_graph) {
  Window& window = model_.window(place.call);
  Place forward = place;
  forward.graph = forward_graph;
  const std::uint32_t runs = window.num_runs(forward_graph);
  if (place.run != none && runs > 1 && runs == window.num_runs(place.graph))
    forward.run = runs - 1 - std::min(place.run, runs - 1);
  else
    forward.run = window.run_at(forward_graph, place.before);
  return forward;
}

// A gradient function's placeholder is named after the forward tensor that it takes: ".../<op>".
NANLENS_API bool Resolver::captured_argument(const Place& place, std::uint32_t op, Link& link, int depth) {
  const std::uint32_t forward_graph = model_.owners().native() ? none : model_.nested().forward_of(place.graph);
  if (forward_graph == none) return false;
  if (kept_argument(place, op, link, depth)) return true;
  Place forward = forward_run(place, forward_graph);
  if (forward.run == none) forward.run = 0;
  const std::string name(model_.graphs().op_name(op));
  if (!captured(forward, name, link, depth)) return false;
  link.limit(0.7F);
  return true;
}

// The gradient function that calls this one takes what it passes on as "gradients/<call>_grad/<call>_k", in the same
// order.
NANLENS_API bool Resolver::kept_argument(const Place& place, std::uint32_t op, Link& link, int depth) {
  const std::uint32_t number = model_.nested().number_of_captured(place.graph, op);
  if (number == none) return false;
  const Place outside = outside_of(place);
  const CallSite* const site = model_.nested().first_named(outside.graph, place.graph);
  const std::string call(site == nullptr ? "" : detail::gradient_scope(model_.graphs().text(site->name)));
  if (call.empty()) return false;
  std::string name = "gradients/" + call + "_grad/" + call;
  if (number != 0) name.append("_").append(std::to_string(number));
  const std::uint32_t outer = model_.run().find_op(model_.graphs().text(model_.graphs().graph(outside.graph).id), name);
  if (outer == none || !model_.run().definitions().ops()[outer].declared) return false;
  tensor(outside, {outer, 0, 0}, link, depth + 1);
  link.limit(0.9F);
  return link.state == Link::State::events || link.state == Link::State::clean;
}

// The tensor of the forward graph that a placeholder's name means: its tail is an op, or the result of a nested call,
// or "gradients/<call>_grad/<call>_k": the k-th tensor that the call keeps for its own gradient.
NANLENS_API bool Resolver::captured(const Place& forward, std::string_view name, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  if (depth > limits::link_depth) return false;
  const std::string_view id = graphs.text(graphs.graph(forward.graph).id);
  const std::string_view scope = detail::gradient_scope(name);
  const auto called = [&](std::string_view text) {
    return model_.nested().find(forward.graph, model_.run().intern(text));
  };
  if (!scope.empty()) {
    const std::string_view tail = name.substr(name.rfind("_grad/") + 6);
    const CallSite* site = called(scope);
    const auto number = static_cast<std::size_t>(detail::trailing_number(scope));
    if (site == nullptr && scope.find("PartitionedCall") != std::string_view::npos &&
        number < model_.nested().sites(forward.graph).size())
      site = &model_.nested().sites(forward.graph)[number];
    if (site != nullptr && tail.starts_with(scope)) {
      const auto k = tail == scope ? 0 : static_cast<std::size_t>(detail::trailing_number(tail));
      const std::uint32_t inner = extra_output_name(*site, k);
      if (inner == none) return false;
      return captured(inside_of(forward, *site), std::string(graphs.op_name(inner)), link, depth + 1);
    }
  }
  for (std::size_t begin = 0; begin != std::string_view::npos;) {
    const std::string tail(name.substr(begin));
    const std::uint32_t op = model_.run().find_op(id, tail);
    const bool known = op != none && model_.run().definitions().ops()[op].declared;
    if (known || called(tail) != nullptr) {
      const std::uint32_t text = model_.run().intern(tail);
      const std::uint32_t outputs = known ? std::clamp(graphs.op(op).num_outputs, 1U, most_outputs) : 1;
      std::vector<InputEdge> edges;  // the name does not tell which output it is
      for (std::uint32_t slot = 0; slot < outputs; ++slot)
        edges.push_back({known ? op : none, text, static_cast<std::uint16_t>(slot)});
      one_of(forward, edges, link, depth + 1);
      return link.state == Link::State::events || link.state == Link::State::clean ||
             (outputs > 1 && link.state == Link::State::candidates);
    }
    const std::size_t slash = name.find('/', begin);
    begin = slash == std::string_view::npos ? slash : slash + 1;
  }
  return false;
}

// One of several tensors that have one name.
NANLENS_API void Resolver::one_of(const Place& place, std::span<const InputEdge> edges, Link& link, int depth) {
  if (edges.size() == 1) return tensor(place, edges.front(), link, depth);
  Candidates found;
  bool all_known = true;
  for (const InputEdge& edge : edges) {
    Link one;
    tensor(place, edge, one, depth + 1);
    found.add(one);
    all_known = all_known && one.state != Link::State::unknown;
  }
  const bool any_bad = std::any_of(found.list.begin(), found.list.end(), [this](EventRef e) { return model_.bad(e); });
  if (!all_known && !any_bad) return link.set_unknown(Reason::control_flow, 0.3F);
  if (found.list.empty()) return link.set_clean(0.5F);
  link.state = found.list.size() == 1 && all_known ? Link::State::events : Link::State::candidates;
  link.events = std::move(found.list);
  link.confidence = 0.5F;
}

// The placeholder of a called function's gradient that takes the k-th tensor which the call keeps.
NANLENS_API std::uint32_t Resolver::extra_output_name(const CallSite& site, std::size_t number) {
  if (site.callee == none) return none;
  const auto& backward = model_.nested().backward_functions(site.callee);
  for (std::size_t i = backward.size(); i-- > 0;)
    if (const auto& list = model_.nested().captured(backward[i]); number < list.size()) return list[number];
  return none;
}

// The run of the graph that called this one: of several that call it, the one that was under way.
NANLENS_API Place Resolver::outside_of(const Place& place) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  Place outside = place;
  outside.graph = graphs.graph(place.graph).outer;
  const std::uint32_t forward = model_.nested().forward_of(place.graph);
  const std::uint32_t begin = place.run == none ? place.before : window.run_begin(place.graph, place.run);
  std::uint32_t latest = none;
  for (const std::uint32_t caller : model_.nested().callers(place.graph)) {
    if (!step()) break;
    const std::uint32_t row = window.last_row_before(caller, begin);
    if (row == none ? outside.graph != forward : latest != none && row <= latest) continue;
    if (row != none) latest = row;
    outside.graph = caller;
  }
  outside.run = run_across(place, outside.graph);
  if (outside.run == none) outside.run = 0;
  return outside;
}

// Which tensor of the caller went in is not recorded: all that existed before are candidates, nearest last.
NANLENS_API void Resolver::nested_argument(const Place& place, Link& link, int depth) {
  Window& window = model_.window(place.call);
  const Place outside = outside_of(place);
  // A function that runs more often than its caller is reused: later tensors of the caller may be arguments too.
  const std::uint32_t outer_runs = window.num_runs(outside.graph);
  const bool reused = outside.graph != model_.graphs().graph(place.graph).outer ||
                      (outer_runs > 0 && window.num_runs(place.graph) > outer_runs);
  const std::int32_t limit = reused ? detail::latest_id : model_.nested().first_id(place.graph);
  const std::uint32_t begin = place.run == none ? place.before : window.run_begin(place.graph, place.run);
  Place earlier = outside;
  earlier.before = begin;
  Candidates found;
  results_before(earlier, place, limit, found, depth);
  const auto& arguments = model_.graphs().links(outside.graph).placeholders;
  for (std::size_t i = 0; i < std::min(arguments.size(), limits::candidates); ++i) {
    if (model_.graphs().op(arguments[i]).first_tensor_id >= limit) continue;
    Link one;
    tensor(outside, {arguments[i], 0, 0}, one, depth + 4);
    found.add(one);
  }
  tensors_before(outside, begin, reused, limit, found);
  if (found.list.empty()) return link.set_unknown(Reason::passed, 0.3F);
  link.state = Link::State::candidates;
  link.events = std::move(found.list);
  link.confidence = 0.5F;
}

// What earlier calls of the caller gave.
NANLENS_API void Resolver::results_before(const Place& outside, const Place& place, std::int32_t limit,
                                          Candidates& found, int depth) {
  constexpr std::uint32_t late = 8;  // rows are written beside the ops: some come after what their tensors went into
  const Window& window = model_.window(outside.call);
  const auto& sites = model_.nested().sites(outside.graph);
  const std::size_t end =
      limit == detail::latest_id ? sites.size() : model_.nested().last_site(outside.graph, place.graph);
  for (std::size_t i = end - std::min(end, limits::candidates); i < end && step(); ++i) {
    const CallSite& site = sites[i];
    if (site.callee == none || site.callee == place.graph || model_.nested().first_id(site.callee) >= limit) continue;
    const Place inside = inside_of(outside, site);
    const std::uint32_t first = window.run_begin(inside.graph, inside.run);
    if (outside.before != none && first != none && first > outside.before + late) continue;
    const auto num_returns = static_cast<std::uint32_t>(model_.graphs().links(site.callee).returns.size());
    for (std::uint32_t slot = 0; slot < std::min(num_returns, 16U) && step(); ++slot) {
      Link one;
      nested_result(inside, slot, one, depth + 4);
      found.add(one);
    }
  }
}

// Tensors of the caller's own ops that existed before the call.
NANLENS_API void Resolver::tensors_before(const Place& outside, std::uint32_t begin, bool reused, std::int32_t limit,
                                          Candidates& found) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(outside.call);
  const auto& ops = graphs.graph(outside.graph).ops;  // in the order of their creation, and so of their ids
  const auto end = std::partition_point(ops.begin(), ops.end(),
                                        [&](std::uint32_t op) { return graphs.op(op).first_tensor_id < limit; });
  std::vector<std::uint32_t> rows;
  const std::size_t most = reused ? 4 * limits::candidates : limits::candidates;
  for (auto at = end; at != ops.begin() && static_cast<std::size_t>(end - at) < most && step();) {
    const OpLinks& op = graphs.op(*--at);
    if (op.code == OpCode::placeholder) continue;
    for (std::uint32_t slot = op.num_outputs; slot-- > 0 && rows.size() < limits::candidates;) {
      const std::uint32_t row = window.find(graphs.tensor(*at, slot), outside.run);
      if (row != none && (begin == none || row <= begin || !reused)) rows.push_back(row);
    }
  }
  for (std::size_t i = rows.size(); i-- > 0;) {
    Link one;
    one.set_event(trace_event(rows[i]), 1);
    found.add(one);
  }
}

// What a function takes from outside: its placeholders named "<op>/<input>", and those named by numbers, which are
// there for functions that it calls.
NANLENS_API const Resolver::Captures& Resolver::captures_of(std::uint32_t graph) {
  const auto [found, is_new] = captures_.try_emplace(graph);
  Captures& captures = found->second;
  if (!is_new) return captures;
  for (const std::uint32_t op : model_.graphs().links(graph).placeholders) {
    const std::string_view name = model_.graphs().op_name(op);
    const bool number = detail::all_digits(name);
    if (number) captures.numbered.push_back(op);
    if (!number && name.find('/') == std::string_view::npos) continue;
    captures.begins_with_own = captures.begins_with_own || (!number && captures.numbered.empty());
    captures.all.push_back(op);
    if (number || name.ends_with("/resource")) captures.handles.push_back(op);
  }
  return captures;
}

NANLENS_API bool Resolver::is_captured(std::uint32_t graph, std::uint32_t op) {
  const auto& captures = captures_of(graph).all;
  return std::find(captures.begin(), captures.end(), op) != captures.end();
}

// The graph that calls a function takes in, in the same order, what the function takes, but for what it had taken in
// before. So only what the first call of a graph takes is certain.
NANLENS_API Resolver::Taken Resolver::taken_from(std::uint32_t outer, std::uint32_t graph) {
  constexpr float sure = 0.9F;
  const auto& sites = model_.nested().sites(outer);
  const bool only = sites.size() == 1;
  if (sites.empty() || (!only && (sites.front().callee != graph || sites.front().confidence < sure))) return {};
  const Captures& given = captures_of(outer);
  const Captures& own = captures_of(graph);
  const std::size_t count = own.all.size();
  if (given.begins_with_own || (only ? count != given.numbered.size() : count > given.numbered.size())) return {};
  for (const std::uint32_t other : model_.graphs().links(outer).functions) {
    const bool later = model_.nested().first_id(other) > model_.nested().first_id(graph);
    if (only && later && captures_of(other).all.size() == count) return {};  // it was traced anew, and that is called
  }
  Taken taken;
  for (std::size_t i = 0; i < count; ++i) taken.emplace(own.all[i], given.numbered[i]);
  return taken;
}

// The variables that a call was given, in order.
NANLENS_API const std::vector<std::int64_t>& Resolver::handles_given(std::uint32_t call) {
  if (std::exchange(handles_of_, call) == call) return handles_;
  handles_.clear();
  for (const TensorUse& input : model_.calls().inputs(call)) {
    const auto made = model_.calls().producer(input.tensor_id, call);
    if (made && op_code(model_.calls().op_type(made->execution)) == OpCode::variable_handle)
      handles_.push_back(input.tensor_id);
  }
  return handles_;
}

// The handle of a call that a placeholder stands for. A call is given more than there are placeholders where the
// function has taken in a small constant.
NANLENS_API std::int64_t Resolver::given_handle(std::uint32_t call, std::uint32_t graph, std::uint32_t op) {
  const auto inputs = model_.calls().inputs(call);
  if (inputs.size() == model_.graphs().links(graph).placeholders.size())
    return inputs[model_.graphs().op(op).argument].tensor_id;
  const Captures& captures = captures_of(graph);
  const auto& handles = handles_given(call);
  for (const auto* const list : {&captures.handles, &captures.all}) {
    const auto found = std::lower_bound(list->begin(), list->end(), op);
    if (list->size() == handles.size() && found != list->end() && *found == op)
      return handles[static_cast<std::size_t>(found - list->begin())];
  }
  return -1;
}

// The handle that a function took from the one graph that calls it.
NANLENS_API std::int64_t Resolver::taken_handle(const Place& place, std::uint32_t op, int depth) {
  if (model_.owners().native() || model_.nested().callers(place.graph).size() > 1) return -1;
  Place outside = place;
  outside.graph = model_.graphs().graph(place.graph).outer;
  const auto [found, is_new] = taken_.try_emplace(place.graph);
  if (is_new) found->second = taken_from(outside.graph, place.graph);
  const auto outer = found->second.find(op);
  return outer == found->second.end() ? -1 : handle(outside, {outer->second, 0, 0}, depth + 1);
}

NANLENS_API std::int64_t Resolver::handle(const Place& place, const InputEdge& edge, int depth) {
  if (edge.op == none || depth > limits::link_depth) return -1;
  GraphFacts& graphs = model_.graphs();
  const OpLinks& op = graphs.op(edge.op);
  if (op.code == OpCode::identity && !op.inputs.empty()) return handle(place, op.inputs.front(), depth + 1);
  if (op.code != OpCode::placeholder) return -1;
  const GraphLinks& links = graphs.links(place.graph);
  const std::uint32_t position = op.argument;
  if (position == none) return -1;
  const std::uint32_t outer = graphs.graph(place.graph).outer;
  if (links.role != FlowRole::none) {
    const auto& inputs = graphs.op(links.flow_op).inputs;
    const std::size_t input = links.role == FlowRole::branch ? input_of_branch(place.graph, position) : position;
    Place outside = place;
    outside.graph = outer;
    return input < inputs.size() ? handle(outside, inputs[input], depth + 1) : -1;
  }
  if (place.call == none) return -1;
  if (model_.owners().graph_of_call(place.call) != place.graph) {
    const bool nested = outer != none && !graphs.is_root(outer);
    return nested ? taken_handle(place, edge.op, depth) : -1;
  }
  return given_handle(place.call, place.graph, edge.op);
}

}  // namespace nanlens::causes
