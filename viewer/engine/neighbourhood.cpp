// The graph around an op: inputs, consumers, farther hops, and what lies behind a placeholder.
#include <algorithm>

#include <nanlens/reader/sort_stably.hpp>

#include "badges.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

namespace {

using causes::ConsumerEvidence;
using causes::EventRef;
using causes::InputEvidence;
using reader::none;

constexpr float sure = 0.65F;  // links below this are not shown as facts

std::int64_t row_of(EventRef event) { return event.exists() && !event.is_execution ? std::int64_t{event.index} : -1; }

// Makes cards of ops of one graph in one run of it.
class CardMaker {
 public:
  CardMaker(RunIndex& index, Explain& explain, const causes::Place& place)
      : index_(index), explain_(explain), place_(place) {}

  OpCard output(std::uint32_t op, std::int32_t slot) {
    return card(op, index_.op(op).name, slot, explain_.neighbours().output(place_, op, static_cast<std::size_t>(slot)));
  }
  std::vector<InputEvidence> evidence(std::uint32_t op) {
    auto list = explain_.neighbours().inputs(place_, op);
    for (InputEvidence& input : list)
      if (input.link.confidence < sure) input.event = {};
    return list;
  }
  std::vector<OpCard> inputs(std::uint32_t op, std::uint32_t parent) {
    const auto found = evidence(op);
    const auto edges = explain_.graphs().op(op).inputs;
    std::vector<OpCard> cards;
    for (std::size_t k = 0; k < std::min(edges.size(), most_cards); ++k) {
      EventRef event;
      if (edges.size() == found.size()) event = found[k].event;
      cards.push_back(card(edges[k].op, edges[k].name, edges[k].slot, event));
      cards.back().parent = parent;
    }
    return cards;
  }
  OpCard consumer(const ConsumerEvidence& evidence, std::uint32_t parent) {
    OpCard made = card(evidence.op, index_.op(evidence.op).name, evidence.input_slot, evidence.event);
    made.parent = parent;
    return made;
  }
  // Of the consumers of an op those that get a card: all, or of very many the bad ones first.
  std::vector<ConsumerEvidence> consumers(std::uint32_t op) {
    auto all = explain_.neighbours().consumers(place_, op);
    if (all.size() <= most_cards) return all;
    const auto bad = [&](const ConsumerEvidence& e) {
      return e.event.exists() && (index_.run().trace_flags(e.event.index) & reader::bad_flags) != 0;
    };
    reader::sort_stably(all, [&](const ConsumerEvidence& a, const ConsumerEvidence& b) { return bad(a) && !bad(b); });
    all.resize(most_cards);
    return all;
  }

  [[nodiscard]] std::uint32_t find(const std::string& op_name) {
    return index_.run().find_op(index_.text(index_.graph(place_.graph).id), op_name);
  }

  // A card of an op that shows an event, if that exists.
  OpCard card(std::uint32_t op, std::uint32_t name, std::int32_t shown_slot, EventRef event) {
    OpCard card;
    card.op_name = index_.text(name);
    card.slot = shown_slot;
    card.known = op != none && index_.op(op).declared;
    if (op != none) card.op_type = index_.text(index_.op(op).type);
    if (!event.exists()) return card;
    if (event.is_execution) {
      const TensorInfo info = describe_output(index_, event.index, static_cast<std::int32_t>(event.slot));
      card.badges = info.badges;
      card.bad = info.bad;
      return card;
    }
    // The tensor may be on record under the name of an op it was handed on from.
    if (index_.run().trace_op(event.index) == op) card.trace = event.index;
    card.bad = (index_.run().trace_flags(event.index) & reader::bad_flags) != 0;
    if (const auto trace = index_.run().trace(event.index)) card.badges = badges_of(*trace);
    return card;
  }

 private:
  RunIndex& index_;
  Explain& explain_;
  causes::Place place_;
};

void add_farther(CardMaker& maker, Neighbourhood& n, std::uint32_t hops) {
  std::vector<OpCard> inputs = n.inputs;
  std::vector<OpCard> consumers;
  for (const auto& slot : n.consumers) consumers.insert(consumers.end(), slot.begin(), slot.end());
  for (std::uint32_t hop = 2; hop <= hops; ++hop) {
    std::vector<OpCard> next_inputs;
    std::vector<OpCard> next_consumers;
    for (std::size_t i = 0; i < inputs.size() && next_inputs.size() < most_cards; ++i)
      if (const std::uint32_t op = maker.find(inputs[i].op_name); op != none)
        for (OpCard& card : maker.inputs(op, static_cast<std::uint32_t>(i))) next_inputs.push_back(std::move(card));
    for (std::size_t i = 0; i < consumers.size() && next_consumers.size() < most_cards; ++i)
      if (const std::uint32_t op = maker.find(consumers[i].op_name); op != none)
        for (const ConsumerEvidence& taker : maker.consumers(op))
          next_consumers.push_back(maker.consumer(taker, static_cast<std::uint32_t>(i)));
    n.farther_inputs.push_back(next_inputs);
    n.farther_consumers.push_back(next_consumers);
    inputs = std::move(next_inputs);
    consumers = std::move(next_consumers);
  }
}

// Where a placeholder's tensor comes from: the caller's argument.
void add_boundary(RunIndex& index, Explain& explain, CardMaker& maker, std::uint32_t op, Boundary& b) {
  const auto& placeholders = explain.graphs().links(index.op(op).graph).placeholders;
  const auto at = std::find(placeholders.begin(), placeholders.end(), op);
  if (at == placeholders.end()) return;
  b.exists = true;
  b.argument = static_cast<std::int32_t>(at - placeholders.begin());
  b.function = index.text(index.graph(index.op(op).graph).name);
  const auto evidence = maker.evidence(op);
  if (evidence.size() != 1 || !evidence.front().event.exists()) return;
  const EventRef event = evidence.front().event;
  b.known = true;
  b.tensor = explain.name_of(event);
  const OpCard shown = maker.card(none, 0, 0, event);
  b.badges = shown.badges;
  b.bad = shown.bad;
  b.trace = row_of(event);
  if (!event.is_execution) return;
  b.tensor = describe_output(index, event.index, static_cast<std::int32_t>(event.slot)).name;
  b.execution = event.index;
  b.trace = explain.row_behind(event.index, static_cast<std::int32_t>(event.slot));
}

void add_consumers(CardMaker& maker, const std::vector<ConsumerEvidence>& all, std::uint32_t op, Selection& s) {
  Neighbourhood& n = s.neighbourhood;
  n.consumers.resize(n.outputs.size());
  n.num_consumers.resize(n.outputs.size());
  for (const ConsumerEvidence& taker : all) {
    if (taker.output_slot < n.num_consumers.size()) ++n.num_consumers[taker.output_slot];
    if (const std::int64_t row = row_of(taker.event); row >= 0) s.consumer_rows.push_back(row);
  }
  for (const ConsumerEvidence& taker : maker.consumers(op))
    if (taker.output_slot < n.consumers.size()) n.consumers[taker.output_slot].push_back(maker.consumer(taker, 0));
}

void add_graph(RunIndex& index, std::uint32_t graph, Neighbourhood& n) {
  n.graph_name = index.text(index.graph(graph).name);
  n.num_ops = index.graph(graph).ops.size();
  std::uint32_t g = graph;
  for (std::size_t depth = 0; g != none && depth < 64; ++depth, g = index.graph(g).outer)
    n.crumbs.insert(n.crumbs.begin(), {index.text(index.graph(g).id), index.text(index.graph(g).name)});
}

}  // namespace

void describe_neighbourhood(RunIndex& index, Explain& explain, std::uint32_t hops, Selection& s) {
  Neighbourhood& n = s.neighbourhood;
  reader::Run& run = index.run();
  n.op_name = s.focus.op_name;
  n.call = s.focus.execution;
  const std::uint32_t graph = run.definitions().find_graph(n.graph_id);
  if (graph == none) {
    n.known = false;
    return;
  }
  add_graph(index, graph, n);
  if (n.op_name.empty()) return;
  const std::uint32_t op = run.find_op(n.graph_id, n.op_name);
  const auto detail = op == none ? std::nullopt : run.op(op);
  n.known = detail.has_value();
  if (op == none) {
    n.outputs.emplace_back().op_name = n.op_name;
    n.outputs.front().known = false;
    return;
  }
  n.op_type = index.text(index.op(op).type);
  n.num_instances = index.rows_of_op(op).count;
  n.num_bad_instances = index.rows_of_op(op).bad;
  CardMaker maker(index, explain, explain.place_of(s.focus, graph));
  const std::int32_t outputs = detail ? std::clamp(detail->event.num_outputs, 1, 1 << 10) : 1;
  for (std::int32_t slot = 0; slot < outputs; ++slot) n.outputs.push_back(maker.output(op, slot));
  if (!detail) return;
  n.device = detail->event.device_name;
  n.inputs = maker.inputs(op, 0);
  n.num_inputs = explain.graphs().op(op).inputs.size();
  add_boundary(index, explain, maker, op, n.boundary);
  if (n.boundary.exists)
    s.caller_row = n.boundary.trace;
  else
    for (const InputEvidence& input : maker.evidence(op)) s.input_rows.push_back(row_of(input.event));
  add_consumers(maker, explain.neighbours().consumers(explain.place_of(s.focus, graph), op), op, s);
  if (hops > 1) add_farther(maker, n, std::min(hops, 4U));
}

}  // namespace nanlens::viewer
