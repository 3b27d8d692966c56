// The graph around an op: inputs, consumers, farther hops, and what lies behind a placeholder.
#include <algorithm>

#include "badges.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::size_t most_cards = 64;  // of one farther hop

// Makes cards of ops of one graph in one call.
class CardMaker {
 public:
  CardMaker(RunIndex& index, std::uint32_t graph, const Focus& focus) : index_(index), graph_(graph), focus_(focus) {
    near_ = focus.trace >= 0 ? focus.trace : index.rows_of_call(focus.execution).first;
  }

  // A card of an op, with the health of its output `output_slot`.
  OpCard card(const std::string& op_name, std::int32_t shown_slot, std::int32_t output_slot) {
    OpCard card;
    card.op_name = op_name;
    card.slot = shown_slot;
    const std::uint32_t op = index_.run().find_op(index_.text(index_.graph(graph_).id), op_name);
    card.known = op != reader::none && index_.op(op).declared;
    if (op == reader::none) return card;
    card.op_type = index_.text(index_.op(op).type);
    card.trace = near_ < 0 ? -1 : index_.row_of(op, output_slot, focus_.execution, near_);
    if (card.trace < 0) {
      // An argument that was not traced: its tensor is on record where the caller made it.
      if (const Boundary b = describe_boundary(index_, op, focus_.execution); b.known) {
        card.badges = b.badges;
        card.bad = b.bad;
      }
      return card;
    }
    card.bad = (index_.run().trace_flags(static_cast<std::size_t>(card.trace)) & reader::bad_flags) != 0;
    if (const auto trace = index_.run().trace(static_cast<std::size_t>(card.trace)))
      card.badges = badges_of(trace->event.tensor_debug_mode, trace->debug_tensor_value,
                              trace->event.tensor_proto ? &*trace->event.tensor_proto : nullptr);
    return card;
  }
  std::vector<OpCard> inputs(const reader::OpDetail& op, std::uint32_t parent) {
    std::vector<OpCard> cards;
    for (const auto& name : op.event.input_names) {
      const auto input = reader::parse_tensor_name(name);
      cards.push_back(input ? card(input->op_name, input->slot, input->slot) : card(name, 0, 0));
      cards.back().parent = parent;
    }
    return cards;
  }
  std::vector<OpCard> consumers(const reader::OpDetail& op, std::size_t slot, std::uint32_t parent) {
    std::vector<OpCard> cards;
    for (const auto& consumer : op.consumers[slot]) {
      cards.push_back(card(consumer.op_name, consumer.input_slot, 0));
      cards.back().parent = parent;
    }
    return cards;
  }
  std::optional<reader::OpDetail> detail(const std::string& op_name) {
    const std::uint32_t op = index_.run().find_op(index_.text(index_.graph(graph_).id), op_name);
    return op == reader::none ? std::nullopt : index_.run().op(op);
  }

 private:
  RunIndex& index_;
  std::uint32_t graph_;
  Focus focus_;
  std::int64_t near_ = -1;
};

void add_farther(CardMaker& maker, Neighbourhood& n, std::uint32_t hops) {
  std::vector<OpCard> inputs = n.inputs;
  std::vector<OpCard> consumers;
  for (const auto& slot : n.consumers) consumers.insert(consumers.end(), slot.begin(), slot.end());
  for (std::uint32_t hop = 2; hop <= hops; ++hop) {
    std::vector<OpCard> next_inputs;
    std::vector<OpCard> next_consumers;
    for (std::size_t i = 0; i < inputs.size() && next_inputs.size() < most_cards; ++i)
      if (const auto detail = maker.detail(inputs[i].op_name))
        for (OpCard& card : maker.inputs(*detail, static_cast<std::uint32_t>(i)))
          next_inputs.push_back(std::move(card));
    for (std::size_t i = 0; i < consumers.size() && next_consumers.size() < most_cards; ++i)
      if (const auto detail = maker.detail(consumers[i].op_name))
        for (std::size_t slot = 0; slot < detail->consumers.size(); ++slot)
          for (OpCard& card : maker.consumers(*detail, slot, static_cast<std::uint32_t>(i)))
            next_consumers.push_back(std::move(card));
    n.farther_inputs.push_back(next_inputs);
    n.farther_consumers.push_back(next_consumers);
    inputs = std::move(next_inputs);
    consumers = std::move(next_consumers);
  }
}

}  // namespace

Boundary describe_boundary(RunIndex& index, std::uint32_t op, std::int64_t call) {
  Boundary b;
  if (index.run().definitions().text(index.op(op).type) != "Placeholder") return b;
  b.exists = true;
  const auto& placeholders = index.placeholders(index.op(op).graph);
  const auto at = std::find(placeholders.begin(), placeholders.end(), op);
  b.argument = static_cast<std::int32_t>(at - placeholders.begin());
  b.function = index.text(index.graph(index.op(op).graph).name);
  if (call < 0) return b;
  const auto execution = index.run().execution(static_cast<std::size_t>(call));
  if (!execution || index.graph_of(execution->event) != index.op(op).graph) return b;
  const auto& ids = execution->event.input_tensor_ids;
  // Arguments come first, then captures, in creation order; a different count means that some are not told.
  if (ids.size() != placeholders.size()) return b;
  const auto producer = index.producer(ids[static_cast<std::size_t>(b.argument)], call);
  if (!producer) return b;
  const TensorInfo info = describe_output(index, producer->execution, producer->slot);
  b.known = true;
  b.tensor = info.name;
  b.badges = info.badges;
  b.bad = info.bad;
  b.execution = producer->execution;
  const Card card = describe_execution(index, producer->execution);
  if (static_cast<std::size_t>(producer->slot) < card.outputs.size())
    b.trace = card.outputs[static_cast<std::size_t>(producer->slot)].trace;
  return b;
}

Neighbourhood describe_neighbourhood(RunIndex& index, const Focus& focus, std::uint32_t hops) {
  Neighbourhood n;
  reader::Run& run = index.run();
  n.graph_id = focus.graph_id;
  n.op_name = focus.op_name;
  n.call = focus.execution;
  std::uint32_t graph = reader::none;
  for (std::uint32_t g = 0; g < run.definitions().graphs().size(); ++g)
    if (run.definitions().text(index.graph(g).id) == focus.graph_id) graph = g;
  if (graph == reader::none) {
    n.known = false;
    return n;
  }
  n.graph_name = index.text(index.graph(graph).name);
  n.num_ops = index.graph(graph).ops.size();
  std::uint32_t g = graph;
  for (std::size_t depth = 0; g != reader::none && depth < 64; ++depth, g = index.graph(g).outer)
    n.crumbs.insert(n.crumbs.begin(), {index.text(index.graph(g).id), index.text(index.graph(g).name)});
  if (focus.op_name.empty()) return n;

  const std::uint32_t op = run.find_op(focus.graph_id, focus.op_name);
  const auto detail = op == reader::none ? std::nullopt : run.op(op);
  if (op != reader::none) n.op_type = index.text(index.op(op).type);
  n.known = detail.has_value();
  if (op != reader::none)
    for (std::size_t row = 0; row < run.num_traces(); ++row)
      if (run.trace_op(row) == op) {
        ++n.num_instances;
        if ((run.trace_flags(row) & reader::bad_flags) != 0) ++n.num_bad_instances;
      }
  CardMaker maker(index, graph, focus);
  const std::int32_t outputs = detail ? std::clamp(detail->event.num_outputs, 0, 1 << 10) : 1;
  for (std::int32_t slot = 0; slot < std::max(1, outputs); ++slot)
    n.outputs.push_back(maker.card(focus.op_name, slot, slot));
  if (!detail) return n;
  n.device = detail->event.device_name;
  n.inputs = maker.inputs(*detail, 0);
  for (std::size_t slot = 0; slot < detail->consumers.size(); ++slot)
    n.consumers.push_back(maker.consumers(*detail, slot, 0));
  if (hops > 1) add_farther(maker, n, std::min(hops, 4u));
  n.boundary = describe_boundary(index, op, focus.execution);
  return n;
}

}  // namespace nanlens::viewer
