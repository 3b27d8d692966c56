// Part of nested_calls.hpp.
#pragma once

namespace nanlens::causes {

// Ids of the tensors of graphs' own ops (they are given in the order of tracing), and which graph is whose gradient.
NANLENS_API void NestedCalls::prepare() {
  if (prepared_) return;
  prepared_ = true;
  const auto num_graphs = static_cast<std::uint32_t>(graphs_.run().definitions().graphs().size());
  ids_.assign(num_graphs, {detail::latest_id, 0});
  forward_.assign(num_graphs, none);
  backward_.assign(num_graphs, {});
  std::map<std::string_view, std::vector<std::uint32_t>> top;  // functions directly under the root
  for (std::uint32_t g = 0; g < num_graphs; ++g) {
    const auto& ops = graphs_.graph(g).ops;
    const std::size_t end = graphs_.links(g).end;
    for (std::size_t i = 0; i < end; ++i) {
      const std::int32_t id = graphs_.op(ops[i]).first_tensor_id;
      if (id <= 0) continue;
      ids_[g] = {std::min(ids_[g].first, id), std::max(ids_[g].second, id)};
    }
    if (graphs_.top(g) == g) top[graphs_.graph_name(g)].push_back(g);
  }
  for (std::uint32_t g = 0; g < num_graphs; ++g) {
    const std::string_view name = graphs_.graph_name(g);
    if (!name.starts_with(detail::backward_prefix)) continue;
    forward_[g] = graphs_.graph(g).outer;
    if (graphs_.top(g) == g) {
      // Directly under the root: the function of that name that was traced last before.
      forward_[g] = none;
      for (const std::uint32_t f : top[detail::without_number(name.substr(detail::backward_prefix.size()))])
        if (graphs_.set_of(f) == graphs_.set_of(g) && (forward_[g] == none || ids_[f].first < ids_[g].first))
          forward_[g] = f;
    }
    if (forward_[g] != none) backward_[forward_[g]].push_back(g);
  }
}

NANLENS_API NestedCalls::Ids NestedCalls::ids(std::uint32_t graph) {
  prepare();
  return ids_[graph];
}

NANLENS_API std::uint32_t NestedCalls::forward_of(std::uint32_t backward) {
  prepare();
  return forward_[backward];
}

NANLENS_API const std::vector<std::uint32_t>& NestedCalls::backward_functions(std::uint32_t function) {
  prepare();
  return backward_[function];
}

NANLENS_API const NestedCalls::Captured& NestedCalls::captured_by(std::uint32_t backward) {
  const auto [found, is_new] = captured_.try_emplace(backward);
  Captured& captured = found->second;
  if (!is_new) return captured;
  for (const std::uint32_t op : graphs_.links(backward).placeholders) {
    if (detail::without_number(graphs_.op_name(op)) == "Placeholder") continue;
    captured.number.emplace(op, static_cast<std::uint32_t>(captured.list.size()));
    captured.list.push_back(op);
  }
  return captured;
}

NANLENS_API const std::vector<std::uint32_t>& NestedCalls::captured(std::uint32_t backward) {
  return captured_by(backward).list;
}

NANLENS_API std::uint32_t NestedCalls::number_of_captured(std::uint32_t backward, std::uint32_t placeholder) {
  const Captured& captured = captured_by(backward);
  const auto found = captured.number.find(placeholder);
  return found == captured.number.end() ? none : found->second;
}

NANLENS_API void NestedCalls::list_sites(std::uint32_t caller, std::vector<CallSite>& plain,
                                         std::vector<CallSite>& gradients) {
  std::map<std::uint32_t, CallSite> by_name;
  for (const std::uint32_t name : graphs_.links(caller).unrecorded) {
    by_name[name].name = name;
    by_name[name].used_before = detail::latest_id;
  }
  for (const std::uint32_t op : graphs_.graph(caller).ops)
    for (const InputEdge& edge : graphs_.op(op).inputs) {
      const auto found = edge.op == none ? by_name.find(edge.name) : by_name.end();
      if (found == by_name.end()) continue;
      const std::int32_t id = graphs_.op(op).first_tensor_id;
      if (id > 0) found->second.used_before = std::min(found->second.used_before, id);
      found->second.num_outputs = std::max(found->second.num_outputs, edge.slot + 1U);
    }
  for (const std::uint32_t name : graphs_.links(caller).unrecorded) {
    const bool gradient = !detail::gradient_scope(graphs_.text(name)).empty();
    (gradient ? gradients : plain).push_back(by_name[name]);
  }
}

// Calls whose result is used by other calls alone have no name on record; the numbers of the others tell of them.
NANLENS_API void NestedCalls::fill_gaps(std::vector<CallSite>& plain) {
  std::map<std::string_view, std::vector<CallSite>> by_prefix;
  std::size_t left = most_gaps;
  for (const CallSite& site : plain) {
    const std::string_view name = graphs_.text(site.name);
    auto& list = by_prefix[detail::without_number(name)];
    const long number = detail::trailing_number(name);
    for (; static_cast<long>(list.size()) < number && left > 0; --left) list.push_back({});
    list.push_back(site);
  }
  plain.clear();
  for (auto& [prefix, list] : by_prefix) {
    // An anonymous call came before the next one that is used.
    std::int32_t limit = detail::latest_id;
    for (std::size_t i = list.size(); i-- > 0;) {
      limit = std::min(limit, list[i].name == 0 ? limit : list[i].used_before);
      if (list[i].name == 0) list[i].used_before = limit;
    }
    plain.insert(plain.end(), list.begin(), list.end());
  }
  if (by_prefix.size() > 1)
    reader::sort_stably(plain, [](const CallSite& a, const CallSite& b) { return a.used_before < b.used_before; });
}

// Functions that were traced while their caller was, and the gradients of those, in order.
NANLENS_API std::vector<std::uint32_t> NestedCalls::traced_inside(std::uint32_t caller) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> list;
  const std::int32_t end = ids(caller).second;
  const std::int32_t begin = ids(caller).first;
  for (const std::uint32_t f : graphs_.links(caller).functions) {
    list.emplace_back(ids(f).first, f);
    for (const std::uint32_t b : backward_functions(f)) {
      const std::int32_t first = ids(b).first;
      // Those of a backward graph, or of a later tape, are called elsewhere.
      if (first > begin && first < end) list.emplace_back(first, b);
    }
  }
  std::sort(list.begin(), list.end());
  std::vector<std::uint32_t> functions;
  for (const auto& [id, f] : list) functions.push_back(f);
  return functions;
}

NANLENS_API void NestedCalls::assign(std::uint32_t caller, std::vector<CallSite>& plain) {
  const auto functions = traced_inside(caller);
  const auto fits = [&](const CallSite& site, std::uint32_t f) {
    return ids(f).second < site.used_before &&
           (site.num_outputs <= graphs_.links(f).returns.size() || !backward_functions(f).empty());
  };
  const bool exact = functions.size() == plain.size();
  std::size_t next = 0;
  std::uint32_t last = none;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CallSite& site = plain[i];
    std::size_t at = next;
    while (!exact && at < functions.size() && functions.size() - at > plain.size() - i && !fits(site, functions[at]))
      ++at;
    if (at < functions.size() && (exact || fits(site, functions[at]))) {
      last = site.callee = functions[at];
      next = at + 1;
      site.confidence = exact ? 0.9F : 0.7F;
    } else if (last != none && fits(site, last)) {
      site.callee = last;  // called again
      site.confidence = functions.size() == 1 ? 0.7F : 0.5F;
    }
  }
}

NANLENS_API void NestedCalls::assign_gradients(std::uint32_t caller, std::vector<CallSite>& gradients, int depth) {
  const std::uint32_t forward = forward_of(caller);
  if (forward == none || depth > deepest) return;
  const std::int32_t begin = ids(caller).first;
  std::vector<CallSite> called;
  find_sites(forward, called, depth + 1);
  std::unordered_map<std::string_view, const CallSite*> by_name;
  for (const CallSite& site : called)
    if (site.name != 0) by_name.try_emplace(graphs_.text(site.name), &site);
  for (CallSite& site : gradients) {
    const std::string_view op = detail::gradient_scope(graphs_.text(site.name));
    const auto found = by_name.find(op);
    // A call that no recorded op uses has no name: its place in the order is in its number.
    const auto number = static_cast<std::size_t>(detail::trailing_number(op));
    const CallSite* const call = found != by_name.end()   ? found->second
                                 : number < called.size() ? &called[number]
                                                          : nullptr;
    if (call == nullptr || call->callee == none) continue;
    for (const std::uint32_t b : backward_functions(call->callee)) {
      const std::int32_t first = ids(b).first;
      if (first >= site.used_before) continue;
      if (site.callee == none || (first > begin && first > ids(site.callee).first)) site.callee = b;
    }
    site.confidence = 0.9F;
  }
  reader::sort_stably(gradients, [](const CallSite& a, const CallSite& b) { return a.used_before < b.used_before; });
}

NANLENS_API void NestedCalls::find_sites(std::uint32_t caller, std::vector<CallSite>& list, int depth) {
  std::vector<CallSite> plain;
  std::vector<CallSite> gradients;
  list_sites(caller, plain, gradients);
  fill_gaps(plain);
  assign(caller, plain);
  if (!gradients.empty()) assign_gradients(caller, gradients, depth);
  list = std::move(plain);
  list.insert(list.end(), gradients.begin(), gradients.end());
  std::map<std::uint32_t, std::uint32_t> seen;
  for (CallSite& site : list)
    if (site.callee != none) site.ordinal = seen[site.callee]++;
}

// Is every function known, and do the names differ by their numbers alone?
NANLENS_API bool NestedCalls::numbered_in_order(const std::vector<CallSite>& list) {
  std::string_view prefix;
  for (const CallSite& site : list) {
    if (site.callee == none) return false;
    if (site.name == 0) continue;
    const std::string_view name = graphs_.text(site.name);
    const std::string_view own = detail::without_number(name);
    if (!detail::gradient_scope(name).empty() || (!prefix.empty() && prefix != own)) return false;
    prefix = own;
  }
  return true;
}

NANLENS_API NestedCalls::Sites& NestedCalls::sites_of(std::uint32_t caller) {
  const auto [found, is_new] = sites_.try_emplace(caller);
  if (!is_new) return found->second;
  Sites sites;
  find_sites(caller, sites.list, 0);
  for (std::size_t i = 0; i < sites.list.size(); ++i) {
    if (sites.list[i].name != 0) sites.by_name.emplace(sites.list[i].name, i);
    if (sites.list[i].callee == none) continue;
    ++sites.count[sites.list[i].callee];
    sites.last[sites.list[i].callee] = i;
    if (sites.list[i].name != 0) sites.first_named.emplace(sites.list[i].callee, i);
  }
  if (numbered_in_order(sites.list))
    for (const auto& [callee, n] : sites.count) sites.in_order.push_back(callee);
  return sites_[caller] = std::move(sites);
}

NANLENS_API const std::vector<CallSite>& NestedCalls::sites(std::uint32_t caller) { return sites_of(caller).list; }

NANLENS_API const CallSite* NestedCalls::find(std::uint32_t caller, std::uint32_t name) {
  const Sites& sites = sites_of(caller);
  const auto found = sites.by_name.find(name);
  return found == sites.by_name.end() ? nullptr : &sites.list[found->second];
}

NANLENS_API const CallSite* NestedCalls::first_named(std::uint32_t caller, std::uint32_t callee) {
  const Sites& sites = sites_of(caller);
  const auto found = sites.first_named.find(callee);
  return found == sites.first_named.end() ? nullptr : &sites.list[found->second];
}

NANLENS_API std::size_t NestedCalls::last_site(std::uint32_t caller, std::uint32_t callee) {
  const Sites& sites = sites_of(caller);
  const auto found = sites.last.find(callee);
  return found == sites.last.end() ? sites.list.size() : found->second + 1;
}

NANLENS_API std::uint32_t NestedCalls::count(std::uint32_t caller, std::uint32_t callee) {
  const Sites& sites = sites_of(caller);
  const auto found = sites.count.find(callee);
  return found == sites.count.end() ? 0 : found->second;
}

NANLENS_API void NestedCalls::find_all() {
  found_ = true;
  const auto num_graphs = static_cast<std::uint32_t>(graphs_.run().definitions().graphs().size());
  std::size_t searches = 0;
  constexpr std::size_t most_searches = 4096;
  for (std::uint32_t g = 0; g < num_graphs; ++g) {
    if (graphs_.is_root(g)) continue;
    for (const CallSite& site : sites(g)) {
      const auto add = [&](std::uint32_t callee) {
        auto& list = callers_[callee];
        if (list.empty() || list.back() != g) list.push_back(g);
      };
      if (site.callee != none) {
        add(site.callee);
        continue;
      }
      if (searches++ < most_searches)
        for (const std::uint32_t callee : candidates(g, site)) add(callee);
    }
  }
}

NANLENS_API const std::vector<std::uint32_t>& NestedCalls::callers(std::uint32_t callee) {
  if (!found_) find_all();
  return callers_[callee];
}

NANLENS_API std::vector<std::uint32_t> NestedCalls::candidates(std::uint32_t caller, const CallSite& site) {
  constexpr std::size_t most = 64;
  std::vector<std::uint32_t> list;
  const auto num_graphs = static_cast<std::uint32_t>(graphs_.run().definitions().graphs().size());
  constexpr std::size_t farthest = 4096;
  std::size_t seen = 0;
  for (std::uint32_t g = num_graphs; g-- > 0 && list.size() < most && seen++ < farthest;) {
    const std::uint32_t outer = graphs_.graph(g).outer;
    if (g == caller || outer == none || graphs_.links(g).role != FlowRole::none) continue;
    if (ids(g).second >= site.used_before || site.num_outputs > graphs_.links(g).returns.size()) continue;
    if (!graphs_.graph_name(g).starts_with(detail::backward_prefix)) list.push_back(g);
  }
  return list;
}

}  // namespace nanlens::causes
