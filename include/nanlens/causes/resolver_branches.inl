// Part of resolver.hpp: what the branches of an If or a Case take, give and keep for their gradients.
#pragma once

namespace nanlens::causes {

namespace detail {

inline std::string_view last_part(std::string_view name) noexcept { return name.substr(name.rfind('/') + 1); }

// The inputs of an If or Case that no placeholder of a branch has taken yet, but for the first, the choice.
class FreeInputs {
 public:
  FreeInputs(GraphFacts& graphs, std::span<const InputEdge> inputs) : taken_(inputs.size()) {
    for (std::uint32_t k = 1; k < inputs.size(); ++k) {
      whole_.emplace(graphs.text(inputs[k].name), k);
      last_.emplace(last_part(graphs.text(inputs[k].name)), k);
    }
  }
  // The input by whose name a placeholder's ends; none if there is none.
  std::uint32_t named(std::string_view name) {
    for (;;) {
      if (const std::uint32_t input = take(whole_, name); input != none) return input;
      const std::size_t slash = name.find('/');
      if (slash == std::string_view::npos) return none;
      name.remove_prefix(slash + 1);
    }
  }
  // One that is called alike, in another scope.
  std::uint32_t alike(std::string_view name) { return take(last_, last_part(name)); }
  std::uint32_t next() {
    while (next_ < taken_.size() && taken_[next_]) ++next_;
    return next_ < taken_.size() ? next_++ : none;
  }

 private:
  using ByName = std::multimap<std::string_view, std::uint32_t>;  // several outputs of one op have one name
  std::uint32_t take(ByName& inputs, std::string_view name) {
    for (auto at = inputs.lower_bound(name); at != inputs.end() && at->first == name; at = inputs.erase(at)) {
      if (taken_[at->second]) continue;
      taken_[at->second] = true;
      return at->second;
    }
    return none;
  }
  ByName whole_;
  ByName last_;
  std::vector<bool> taken_;
  std::uint32_t next_ = 1;
};

}  // namespace detail

// Which input of its If or Case each placeholder of a branch is, by their position; `none`: it is none. The first
// branch takes them in their order, the others in one of their own: a placeholder is named after the tensor, "…/<op>",
// and so is one of the graph around, "…/<scope>/<op>", where the tensor is that of another graph. What is left is taken
// in order.
NANLENS_API const std::vector<std::uint32_t>& Resolver::inputs_of_branch(std::uint32_t branch) {
  const auto [found, is_new] = inputs_of_branch_.try_emplace(branch);
  if (!is_new) return found->second;
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(branch);
  const auto& ops = graphs.graph(branch).ops;
  const auto own = std::count_if(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(links.end),
                                 [&](std::uint32_t op) { return graphs.op(op).argument != none; });
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(own), none);
  if (links.first_branch) {
    std::iota(numbers.begin(), numbers.end(), 1U);
    return found->second = std::move(numbers);
  }
  detail::FreeInputs left(graphs, graphs.op(links.flow_op).inputs);
  const auto name = [&](std::size_t position) { return graphs.op_name(links.placeholders[position]); };
  for (std::size_t p = 0; p < numbers.size(); ++p) numbers[p] = left.named(name(p));
  for (std::size_t p = 0; p < numbers.size(); ++p)
    if (numbers[p] == none) numbers[p] = left.alike(name(p));
  for (std::uint32_t& number : numbers)
    if (number == none) number = left.next();
  return found->second = std::move(numbers);
}

// `outside`: where the If or Case is.
NANLENS_API void Resolver::branch_argument(const Place& outside, std::uint32_t branch, std::size_t position, Link& link,
                                           int depth) {
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(branch);
  const auto inputs = std::span(graphs.op(links.flow_op).inputs);
  const std::size_t number = input_of_branch(branch, position);
  if (number >= inputs.size()) return link.set_unknown(Reason::control_flow, 0.3F);
  std::vector<InputEdge> edges;
  for (std::size_t k = 1; k < inputs.size() && edges.size() < most_outputs; ++k)
    if (k == number || (!links.first_branch && inputs[k].name == inputs[number].name))  // outputs of one op
      edges.push_back(inputs[k]);
  one_of(outside, edges, link, depth + 1);
  link.limit(0.9F);
}

// Which inputs of its If or Case a branch takes that have a gradient; the first is the choice.
NANLENS_API const std::vector<bool>& Resolver::inputs_with_gradient(std::uint32_t branch) {
  const auto [found, is_new] = inputs_with_gradient_.try_emplace(branch);
  if (!is_new) return found->second;
  GraphFacts& graphs = model_.graphs();
  const GraphLinks& links = graphs.links(branch);
  std::vector<bool> taken(graphs.op(links.flow_op).inputs.size());
  const auto& numbers = inputs_of_branch(branch);
  for (std::size_t p = 0; p < numbers.size(); ++p)
    if (numbers[p] < taken.size() && has_gradient(links.placeholders[p])) taken[numbers[p]] = true;
  return found->second = std::move(taken);
}

// Which of a branch's returns an output of its If or Case is; `none`: it is zeros. The gradient of a branch returns
// those of the If's inputs that the branch takes, and that have one; zeros stand in for the others.
NANLENS_API std::optional<std::size_t> Resolver::return_of_branch(std::uint32_t graph, std::size_t slot) {
  const GraphLinks& links = model_.graphs().links(graph);
  if (!links.gradient) return slot < links.returns.size() ? std::optional(slot) : std::nullopt;
  if (links.forward == none || model_.graphs().links(links.forward).role != FlowRole::branch) return std::nullopt;
  const std::vector<bool>& taken = inputs_with_gradient(links.forward);
  const auto number = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), true));
  if (number != links.returns.size() || slot + 1 >= taken.size()) return std::nullopt;
  if (!taken[slot + 1]) return none;
  return static_cast<std::size_t>(
      std::count(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(slot) + 1, true));
}

// Is an argument a floating tensor, or a variable that is read?
NANLENS_API bool Resolver::has_gradient(std::uint32_t placeholder) {
  if (model_.owners().has_rows(placeholder)) return true;
  const auto& consumers = model_.graphs().op(placeholder).consumers;
  return std::any_of(consumers.begin(), consumers.end(), [this](const ConsumerEdge& edge) {
    return model_.graphs().op(edge.op).code == OpCode::read_variable;
  });
}

NANLENS_API void Resolver::branch_result(const Place& place, const InputEdge& edge, Link& link, int depth) {
  GraphFacts& graphs = model_.graphs();
  Window& window = model_.window(place.call);
  std::uint32_t latest = none;
  Place inside = place;
  const auto& children = graphs.run_by(place.graph, edge.op);
  constexpr std::size_t few = 256;
  for (std::size_t i = 0; i < std::min(children.size(), few); ++i) {
    const std::uint32_t child = children[i];
    if (graphs.links(child).role != FlowRole::branch) continue;
    const std::uint32_t run = window.run_at(child, place.before);
    if (run == none) continue;
    const std::uint32_t begin = window.run_begin(child, run);
    if (place.before != none && begin > place.before) continue;
    if (latest != none && begin < latest) continue;
    latest = begin;
    inside.graph = child;
    inside.run = run;
  }
  const auto number = latest == none ? std::nullopt : return_of_branch(inside.graph, edge.slot);
  if (!number) return link.set_unknown(Reason::control_flow, 0.3F);
  if (*number == none) return link.set_clean(0.8F);
  const InputEdge result = graphs.links(inside.graph).returns[*number];
  tensor(inside, result, link, depth + 1);
  link.limit(0.8F);
}

// What the branches gave, in each run of a loop's body; TensorFlow writes no rows of an If itself.
NANLENS_API void Resolver::branch_items(const Place& place, const InputEdge& item, std::vector<EventRef>& events,
                                        int depth) {
  Window& window = model_.window(place.call);
  const std::uint32_t num_runs = window.num_runs(place.graph);
  constexpr std::uint32_t most = 256;
  for (std::uint32_t run = num_runs > most ? num_runs - most : 0; run < num_runs; ++run) {
    Place at = place;
    at.run = run;
    if (run + 1 < num_runs) at.before = window.run_begin(place.graph, run + 1);
    if (place.before != none && (at.before == none || at.before > place.before)) at.before = place.before;
    Link one;
    branch_result(at, item, one, depth + 1);
    if (one.state == Link::State::events) events.insert(events.end(), one.events.begin(), one.events.end());
  }
}

// What a branch keeps for its gradient goes through an Optional; the gradient's placeholder is named after it, as a
// gradient function's is.
NANLENS_API bool Resolver::kept_by_branch(const Place& place, std::uint32_t placeholder, Link& link) {
  const std::uint32_t branch = model_.graphs().links(place.graph).forward;
  if (branch == none) return false;
  const Place forward = forward_run(place, branch);
  if (forward.run == none || !captured(forward, model_.graphs().op_name(placeholder), link, 0)) return false;
  link.limit(0.9F);
  return true;
}

}  // namespace nanlens::causes
