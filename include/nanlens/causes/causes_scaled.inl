// Part of causes.hpp: steps that loss scaling leaves out.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace nanlens::causes {

// Infinities that float16 made of a gradient, in the backward pass or behind it. A NaN would come again and again, and
// what divides may have done so by 0.
NANLENS_API bool Causes::was_scaled_too_far(const Root& root) {
  if (root.event_class != EventClass::producer || !model_.kinds_known(root.event)) return false;
  if (model_.health(root.event).dtype != DType::float16 || fails_at_zero(model_.code(root.event))) return false;
  if ((model_.kinds(root.event) & reader::nan_flag) != 0) return false;
  if (!root.event.is_execution) return is_gradient_op(root.event);
  return scaled_.is_in_backward_pass(root.event.index) || scaled_.is_cast_of_gradient(root.event.index);
}

// What torch.compile's code, or an exchange that is not on record, made of gradients is seen by an op of the backward
// pass, or when they are searched. A NaN may be the difference of two infinities there; one that comes again and again
// is none.
NANLENS_API bool Causes::came_in_scaled(const Root& root, std::uint32_t search) {
  if (root.event_class != EventClass::source) return false;
  if (root.event.index != search && !scaled_.is_of_backward_pass(root.event.index)) return false;
  return (model_.kinds(root.event) & reader::nan_flag) == 0 || scaled_.is_well_after(search);
}

// Does a program ask by itself, in PyTorch, whether what is bad is finite?
NANLENS_API bool Causes::asks_of_bad(std::uint32_t execution) {
  const std::string_view type = model_.calls().op_type(execution);
  if (!type.starts_with("aten::")) return false;
  if (!asks_if_finite(type) && !compares_with_itself(execution)) return false;
  const auto inputs = model_.calls().inputs(execution);
  const auto made = inputs.empty() ? std::nullopt : model_.calls().producer(inputs[0].tensor_id, execution);
  return made && model_.bad(execution_event(made->execution, made->position));
}

// The next time that it does so after an execution, in its process.
NANLENS_API std::uint32_t Causes::question_after(std::uint32_t execution) {
  for (; questions_seen_ < model_.calls().size(); ++questions_seen_)
    if (asks_of_bad(questions_seen_)) questions_.push_back(questions_seen_);
  auto at = std::upper_bound(questions_.begin(), questions_.end(), execution);
  while (at != questions_.end() && run().set_of_execution(*at) != run().set_of_execution(execution)) ++at;
  return at == questions_.end() ? none : *at;
}

// A program that scales its loss by itself asks whether the gradients are finite: where nothing is heard of what it
// found when the next backward pass begins, it has left the step out.
NANLENS_API bool Causes::is_left_out_when_asked(const Root& root) {
  if (!is_eager_torch(root.event) || !was_scaled_too_far(root)) return false;
  const std::uint32_t question = question_after(root.event.index);
  const std::uint32_t pass = question == none ? none : scaled_.pass_after(question);
  return pass != none && root.last.index < pass;
}

// What is bad in gradients, and of which nothing is heard any more when the next backward pass begins: PyTorch's loss
// scaling found it, left the step out, and went on with a smaller scale. What clips gradients, or reports on them, may
// have gone on with them until then.
NANLENS_API bool Causes::is_left_out(const Root& root) {
  if (!root.event.is_execution) return is_skipped(root, limits::joined_in_turn);
  if (!root.last.is_execution || !root.last.exists()) return false;
  if (!model_.kinds_known(root.event)) return false;
  const std::uint32_t at = root.event.index;
  const std::uint32_t search = scaled_.is_search(at) ? at : scaled_.search_after(at);
  if (search == none || (run().execution_flags(search) & reader::bad_flags) == 0) return is_left_out_when_asked(root);
  if (!was_scaled_too_far(root) && !came_in_scaled(root, search)) return false;
  if (root.last.index <= search) return search + 1 < run().num_executions();  // else who knows what came then
  const std::uint32_t pass = scaled_.pass_after(search);
  return pass != none && root.last.index < pass;
}

// Does a branch go by what an op of a graph tells, as by whether all gradients are finite?
NANLENS_API bool Causes::decides_branch(std::uint32_t op) {
  std::vector<std::uint32_t> way{op};
  std::size_t steps = 0;
  for (std::size_t at = 0; at < way.size(); ++at)
    for (const ConsumerEdge& edge : model_.graphs().op(way[at]).consumers) {
      if (++steps > limits::integer_steps) return false;
      const OpCode code = model_.graphs().op(edge.op).code;
      if (code == OpCode::branch && edge.input_slot == 0) return true;
      const bool leads_out =
          code == OpCode::call || code == OpCode::branch || code == OpCode::loop || code == OpCode::function_return;
      if (!leads_out && !model_.owners().has_rows(edge.op)) way.push_back(edge.op);
    }
  return false;
}

// Is there such a branch in a graph, or in one around or within it?
NANLENS_API bool Causes::skips_steps(std::uint32_t graph) {
  GraphFacts& graphs = model_.graphs();
  const std::size_t num_ops = run().definitions().ops().size();
  if (std::exchange(skipping_as_of_, num_ops) != num_ops) {
    skipping_.clear();
    for (std::uint32_t op = 0; op < num_ops; ++op)
      if (graphs.op(op).code == OpCode::not_float && asks_if_finite(graphs.op_type(op)) && decides_branch(op))
        skipping_.insert(graphs.top(graphs.graph_of(op)));
  }
  return skipping_.contains(graphs.top(graph));
}

// Does something bad end at an event that no choice left out, by which no branch goes, and that is no gradient, of
// which many are calculated in vain?
NANLENS_API bool Causes::is_open_outside(std::uint32_t alert) {
  if (!is_open(fates_[alert]) || fates_[alert] == decided) return false;
  const reader::AlertRef& ref = run().alerts()[alert];
  if (ref.is_execution) return true;
  const std::uint32_t op = run().trace_op(ref.event);
  if (op >= gradient_ops_.size()) gradient_ops_.resize(std::max<std::size_t>(run().definitions().ops().size(), op + 1));
  std::uint8_t& known = gradient_ops_[op];
  if (known == 0) known = is_gradient_op(trace_event(ref.event)) ? 2 : 1;
  return known == 1;
}

// Was an output of an op of a graph without anything bad in a later call? Of the last one that was so.
NANLENS_API bool Causes::is_clean_later(EventRef event) {
  const std::uint32_t op = run().trace_op(event.index);
  const std::uint16_t slot = slot_of(event);
  const auto num_rows = static_cast<std::uint32_t>(run().num_traces());
  auto& [rows_seen, last] = last_clean_.try_emplace({op, slot}, 0, none).first->second;
  if (rows_seen != num_rows) {
    constexpr std::uint32_t farthest = 1'000'000;
    const std::uint32_t end = num_rows - std::min(num_rows, farthest);
    rows_seen = num_rows;
    last = none;
    for (std::uint32_t row = num_rows; row-- > end && last == none;)
      if (run().trace_op(row) == op && (run().trace_flags(row) & reader::bad_flags) == 0 &&
          slot_of(trace_event(row)) == slot)
        last = row;
    model_.spend(num_rows - (last == none ? end : last));
  }
  return last != none && last > event.index && model_.owners().owner(last) != model_.owners().owner(event.index);
}

// All that is bad stayed among the gradients, a branch asks whether what is trained with is finite, and later ones
// were.
NANLENS_API bool Causes::is_skipped(const Root& root, std::size_t joined_in_turn) {
  if (root.open_outside > 0 || root.unread > 0 || !was_scaled_too_far(root)) return false;
  const auto is_other_skipped = [&](const auto& met) {
    return met.second != none && joined_in_turn > 0 && is_skipped(roots_[met.second], joined_in_turn - 1);
  };
  return std::all_of(root.joined.begin(), root.joined.end(), is_other_skipped) &&
         skips_steps(model_.graphs().graph_of(run().trace_op(root.event.index))) && is_clean_later(root.event);
}

}  // namespace nanlens::causes
