/// @file
/// What may have happened in a call whose rows are not on record: signs of tensors, followed through the recorded
/// graph.
#pragma once

#include <unordered_map>

#include <nanlens/causes/resolver.hpp>

namespace nanlens::causes {

/// The first op inside a call that makes a non-finite value from the signs of the call's inputs.
struct Possibility {
  std::uint32_t op = none;  ///< none: nothing was found
  Mechanism mechanism = Mechanism::generic;
  EventRef input;  ///< the event outside that brings the sign, if one does directly
};

class Possibilities {
 public:
  explicit Possibilities(Model& model) : model_(model) {}

  Possibility in_call(std::uint32_t call) {
    GraphFacts& graphs = model_.graphs();
    const std::uint32_t graph = model_.owners().graph_of_call(call);
    if (graph == none) return {};
    const auto& placeholders = graphs.links(graph).placeholders;
    const auto inputs = model_.calls().inputs(call);
    if (placeholders.size() != inputs.size()) return {};
    signs_.clear();
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto producer = model_.calls().producer(inputs[k].tensor_id, call);
      State state{likely, false, {}};
      if (producer) {
        const EventRef event = execution_event(producer->execution, producer->position);
        state = from_counts(model_.health(event), event);
      }
      signs_[graphs.tensor(placeholders[k], 0)] = state;
    }
    for (const std::uint32_t op : graphs.graph(graph).ops) {
      const Possibility found = step(op);
      if (found.op != none) return found;
    }
    return {};
  }

 private:
  static constexpr std::uint8_t negative = 1;
  static constexpr std::uint8_t zero = 2;
  static constexpr std::uint8_t positive = 4;
  static constexpr std::uint8_t likely = negative | positive;  // of a tensor that nothing is known of

  struct State {
    std::uint8_t signs = likely;
    bool certain = false;  // found from counts, not supposed
    EventRef from;
  };

  static State from_counts(const TensorHealth& h, EventRef event) {
    if (h.num_zero < 0) return {likely, false, {}};
    const auto bit = [](double count, std::uint8_t sign) { return count > 0 ? sign : std::uint8_t{0}; };
    return {static_cast<std::uint8_t>(bit(h.num_negative, negative) | bit(h.num_zero, zero) |
                                      bit(h.num_positive, positive)),
            true, event};
  }
  State state_of(const InputEdge& edge) {
    if (edge.op == none) return {};
    const auto found = signs_.find(model_.graphs().tensor(edge.op, edge.slot));
    return found == signs_.end() ? State{} : found->second;
  }

  Possibility step(std::uint32_t index) {
    const OpLinks& op = model_.graphs().op(index);
    if (op.code == OpCode::placeholder) return {};
    const State a = op.inputs.empty() ? State{} : state_of(op.inputs[0]);
    const State b = op.inputs.size() > 1 ? state_of(op.inputs[1]) : State{};
    const bool a_zero = a.certain && (a.signs & zero) != 0;
    const bool a_negative = a.certain && (a.signs & negative) != 0;
    switch (op.code) {
      case OpCode::log:
        if (a_zero) return {index, Mechanism::log0, a.from};
        if (a_negative) return {index, Mechanism::logneg, a.from};
        break;
      case OpCode::rsqrt:
        if (a_zero) return {index, Mechanism::rsqrt0, a.from};
        if (a_negative) return {index, Mechanism::sqrtneg, a.from};
        break;
      case OpCode::sqrt:
        if (a_negative) return {index, Mechanism::sqrtneg, a.from};
        break;
      case OpCode::reciprocal:
        if (a_zero) return {index, Mechanism::div0, a.from};
        break;
      case OpCode::divide:
        if (b.certain && (b.signs & zero) != 0) return {index, Mechanism::div0, b.from};
        break;
      case OpCode::sqrt_grad:
      case OpCode::reciprocal_grad:
        if (a_zero) return {index, Mechanism::sqrtgrad0, a.from};
        break;
      default: break;
    }
    const State out = transfer(op.code, a, b);
    for (std::uint32_t slot = 0; slot < op.num_outputs; ++slot) signs_[op.first_tensor + slot] = out;
    return {};
  }

  static State transfer(OpCode code, const State& a, const State& b) {
    switch (code) {
      case OpCode::identity:
      case OpCode::keep: return a;
      case OpCode::negate: {
        const auto swapped = static_cast<std::uint8_t>((a.signs & zero) | ((a.signs & positive) != 0 ? negative : 0) |
                                                       ((a.signs & negative) != 0 ? positive : 0));
        return {swapped, a.certain, a.from};
      }
      case OpCode::relu:
        return {static_cast<std::uint8_t>((a.signs & (zero | positive)) | ((a.signs & negative) != 0 ? zero : 0)),
                a.certain, a.from};
      case OpCode::multiply:
        if ((a.certain && (a.signs & zero) != 0) || (b.certain && (b.signs & zero) != 0))
          return {negative | zero | positive, true, (a.signs & zero) != 0 && a.certain ? a.from : b.from};
        return {};
      default: return {};
    }
  }

  Model& model_;
  std::unordered_map<std::uint32_t, State> signs_;  // by tensor number
};

}  // namespace nanlens::causes
