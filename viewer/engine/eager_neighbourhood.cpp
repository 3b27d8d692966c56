// What fed an op that ran eagerly, and what took its results: the graph that nobody built.
#include <algorithm>

#include "badges.hpp"
#include "selection.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

using causes::EventRef;
using causes::TensorUse;

// Makes cards of executions.
class EagerCards {
 public:
  EagerCards(RunIndex& index, Explain& explain) : index_(index), explain_(explain) {}

  // An execution that shows one of its outputs; `slot` is what the card names.
  OpCard card(std::int64_t execution, std::int32_t output, std::int32_t slot) {
    OpCard card;
    card.execution = execution;
    card.output = output;
    card.slot = slot;
    if (const auto detail = index_.run().execution(static_cast<std::size_t>(execution))) {
      card.op_type = stripped_name(detail->event.op_type);
      card.op_name = detail->extension.op_name.empty() ? card.op_type : detail->extension.op_name;
    }
    TensorInfo info = describe_output(index_, execution, output);
    card.badges = std::move(info.badges);
    card.bad = info.bad;
    return card;
  }
  std::vector<OpCard> inputs(std::int64_t execution, std::uint32_t parent) {
    std::vector<OpCard> cards;
    const auto detail = index_.run().execution(static_cast<std::size_t>(execution));
    if (!detail) return cards;
    for (const std::int64_t id : detail->event.input_tensor_ids) {
      if (cards.size() == most_cards) break;
      cards.push_back(input(id, execution));
      cards.back().parent = parent;
    }
    return cards;
  }
  // Those of an output's uses that get a card: the first ones, or of very many the bad ones first.
  std::vector<OpCard> consumers(std::int64_t execution, std::int32_t slot, std::size_t most, std::uint32_t parent) {
    const auto uses = explain_.consumers_of(execution, slot);
    std::vector<TensorUse> chosen(uses.begin(),
                                  uses.begin() + static_cast<std::ptrdiff_t>(std::min(uses.size(), most)));
    if (uses.size() > most) {
      std::vector<TensorUse> bad;
      for (auto use = uses.begin(); use != uses.end() && bad.size() < most; ++use)
        if (is_bad_execution(use->execution)) bad.push_back(*use);
      std::erase_if(chosen, [&](const TensorUse& use) { return is_bad_execution(use.execution); });
      chosen.insert(chosen.begin(), bad.begin(), bad.end());
      chosen.resize(most);
    }
    std::vector<OpCard> cards;
    for (const TensorUse& use : chosen) {
      cards.push_back(card(use.execution, 0, use.position));
      cards.back().parent = parent;
    }
    return cards;
  }
  // Of all outputs of an execution.
  std::vector<OpCard> all_consumers(std::int64_t execution, std::uint32_t parent) {
    std::vector<OpCard> cards;
    const auto outputs = static_cast<std::int32_t>(num_outputs(execution));
    for (std::int32_t slot = 0; slot < outputs && cards.size() < most_cards; ++slot)
      for (OpCard& card : consumers(execution, slot, most_cards - cards.size(), parent))
        cards.push_back(std::move(card));
    return cards;
  }
  std::size_t num_outputs(std::int64_t execution) {
    const auto detail = index_.run().execution(static_cast<std::size_t>(execution));
    return detail ? std::clamp<std::size_t>(detail->event.output_tensor_ids.size(), 1, most_cards) : 1;
  }

 private:
  [[nodiscard]] bool is_bad_execution(std::uint32_t execution) const {
    return (index_.run().execution_flags(execution) & reader::bad_flags) != 0;
  }
  OpCard input(std::int64_t tensor_id, std::int64_t execution) {
    const EventRef producer = explain_.producer_of(tensor_id, execution);
    if (producer.exists()) return card(producer.index, producer.slot, producer.slot);
    OpCard unknown;
    unknown.known = false;
    unknown.op_name = tr(Text::tensor_id, {{"id", tensor_id}});
    unknown.badges.push_back(missing_badge(Missing::not_recorded));
    return unknown;
  }

  RunIndex& index_;
  Explain& explain_;
};

// Who made them is not on record, but nanlens may have looked at them when the op had run, and may know their names.
void add_seen(const std::vector<SeenTensor>& seen, std::vector<OpCard>& inputs) {
  for (const SeenTensor& tensor : seen) {
    if (tensor.input < 0 || static_cast<std::size_t>(tensor.input) >= inputs.size()) continue;
    OpCard& card = inputs[static_cast<std::size_t>(tensor.input)];
    if (card.known) continue;
    if (!tensor.name.empty()) card.op_name = tensor.name;
    if (!tensor.looked_at) continue;
    card.badges = tensor.badges;
    card.bad = is_bad(card.badges);
  }
}

void add_farther(EagerCards& maker, Neighbourhood& n, std::uint32_t hops) {
  std::vector<OpCard> inputs = n.inputs;
  std::vector<OpCard> consumers;
  for (const auto& slot : n.consumers) consumers.insert(consumers.end(), slot.begin(), slot.end());
  const auto next = [](const std::vector<OpCard>& from, auto&& around) {
    std::vector<OpCard> cards;
    for (std::size_t i = 0; i < from.size() && cards.size() < most_cards; ++i)
      if (from[i].execution >= 0)
        for (OpCard& card : around(from[i].execution, static_cast<std::uint32_t>(i))) cards.push_back(std::move(card));
    return cards;
  };
  for (std::uint32_t hop = 2; hop <= hops; ++hop) {
    inputs =
        next(inputs, [&](std::int64_t execution, std::uint32_t parent) { return maker.inputs(execution, parent); });
    consumers = next(consumers, [&](std::int64_t execution, std::uint32_t parent) {
      return maker.all_consumers(execution, parent);
    });
    n.farther_inputs.push_back(inputs);
    n.farther_consumers.push_back(consumers);
  }
}

Focus place_of(const OpCard& card) {
  Focus focus;
  focus.execution = card.execution;
  focus.slot = card.output;
  return focus;
}

}  // namespace

void describe_eager_neighbourhood(RunIndex& index, Explain& explain, std::uint32_t hops, Selection& s) {
  Neighbourhood& n = s.neighbourhood;
  const std::int64_t execution = s.focus.execution;
  EagerCards maker(index, explain);
  n.call = execution;
  n.op_type = stripped_name(s.card.op_type);
  n.op_name = s.card.op_name.empty() ? n.op_type : s.card.op_name;
  n.device = s.card.device;
  n.inputs = maker.inputs(execution, 0);
  n.num_inputs = s.card.inputs.size();
  add_seen(s.seen, n.inputs);
  for (const OpCard& card : n.inputs)
    if (card.execution >= 0) s.input_places.push_back(place_of(card));
  std::size_t room = most_cards;
  for (std::size_t k = 0; k < maker.num_outputs(execution); ++k) {
    const auto slot = static_cast<std::int32_t>(k);
    n.outputs.push_back(maker.card(execution, slot, slot));
    n.num_consumers.push_back(explain.consumers_of(execution, slot).size());
    n.consumers.push_back(maker.consumers(execution, slot, room, 0));
    room -= n.consumers.back().size();
    for (const OpCard& card : n.consumers.back()) s.consumer_places.push_back(place_of(card));
  }
  if (hops > 1) add_farther(maker, n, std::min(hops, 4U));
}

}  // namespace nanlens::viewer
