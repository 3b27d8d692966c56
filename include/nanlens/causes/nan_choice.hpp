/// @file
/// Choices by what is NaN: `where(isnan(x), y, x)` takes no NaN of x, whatever y holds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/call_table.hpp>
#include <nanlens/causes/event.hpp>
#include <nanlens/causes/graph_facts.hpp>
#include <nanlens/causes/op_code.hpp>

namespace nanlens::causes {

/// Looks at what the condition of an op that chooses was made of.
class NanChoice {
 public:
  NanChoice(GraphFacts& graphs, const CallTable& calls) : graphs_(graphs), calls_(calls) {}

  /// Does an op whose inputs are a condition, what it takes where that holds, and what it takes elsewhere, take `input`
  /// only where that is no NaN? Both are events, `result` of such an op.
  [[nodiscard]] bool takes_no_nan(EventRef result, EventRef input) const {
    if (result.is_execution != input.is_execution) return false;
    const std::vector<Tensor> inputs = result.is_execution ? inputs_of(result.index) : inputs_of_row(result.index);
    if (inputs.size() != 3) return false;
    const Tensor bad = result.is_execution ? output_of(input) : row_of(input);
    bool any = false;
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      if (inputs[k] != bad) continue;
      any = true;
      if (!holds_where(inputs[0], bad, k == 2, result)) return false;
    }
    return any;
  }

 private:
  // An output of an op of a graph, or the id of an eager tensor.
  using Tensor = std::pair<std::int64_t, std::uint16_t>;
  struct Made {
    std::string by;  // plain name
    std::vector<Tensor> of;
  };

  std::vector<Tensor> inputs_of(std::uint32_t execution) const {
    std::vector<Tensor> inputs;
    for (const TensorUse& use : calls_.inputs(execution)) inputs.emplace_back(use.tensor_id, 0);
    return inputs;
  }
  std::vector<Tensor> inputs_of_op(std::uint32_t op) const {
    std::vector<Tensor> inputs;
    for (const InputEdge& edge : graphs_.op(op).inputs) inputs.emplace_back(edge.op, edge.slot);
    return inputs;
  }
  std::vector<Tensor> inputs_of_row(std::uint32_t row) const { return inputs_of_op(graphs_.run().trace_op(row)); }
  Tensor output_of(EventRef event) const {
    const auto outputs = calls_.outputs(event.index);
    return {event.slot < outputs.size() ? outputs[event.slot].tensor_id : -1, 0};
  }
  Tensor row_of(EventRef row) const {
    const auto digest = graphs_.run().trace_digest(row.index);
    return {graphs_.run().trace_op(row.index), static_cast<std::uint16_t>(digest ? digest->output_slot : 0)};
  }

  Made made(Tensor tensor, EventRef user) const {
    if (!user.is_execution) {
      const auto op = static_cast<std::uint32_t>(tensor.first);
      return op == none ? Made{} : Made{plain(graphs_.op_type(op)), inputs_of_op(op)};
    }
    const auto producer = calls_.producer(tensor.first, user.index);
    return producer ? Made{plain(calls_.op_type(producer->execution)), inputs_of(producer->execution)} : Made{};
  }
  static std::string plain(std::string_view type) {
    constexpr std::string_view aten = "aten::";
    if (type.starts_with(aten)) type.remove_prefix(aten.size());
    return detail::plain_name(type);
  }

  // Does the condition hold, or, unless `where_nan`, not hold, wherever the tensor is NaN?
  bool holds_where(Tensor condition, Tensor bad, bool where_nan, EventRef user) const {
    constexpr int most_steps = 4;
    for (int step = 0; step < most_steps; ++step) {
      const Made condition_made = made(condition, user);
      const std::vector<Tensor>& of = condition_made.of;
      const std::string& by = condition_made.by;
      const bool of_itself = of.size() == 2 && of[0] == of[1];
      const bool of_bad = !of.empty() && of[0] == bad;
      if (by == "isnan" || ((by == "ne" || by == "notequal") && of_itself)) return of_bad && where_nan;
      if (by == "isfinite" || ((by == "eq" || by == "equal") && of_itself)) return of_bad && !where_nan;
      const bool negated = by == "logicalnot" || by == "bitwisenot" || by == "not";
      if (of.size() != 1 || !(negated || by == "identity")) return false;
      where_nan = where_nan != negated;
      condition = of[0];
    }
    return false;
  }

  GraphFacts& graphs_;
  const CallTable& calls_;
};

}  // namespace nanlens::causes
