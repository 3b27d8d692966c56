// Part of causes.hpp: what a program has left out by a choice or a bound.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nanlens/causes/autograd_name.hpp>

namespace nanlens::causes {

// Were the zeros of which this is the logarithm given, as those of what is impossible are, and no underflow? What is
// divided by its sum, masked or picked out has the zeros that it had; of what comes in from outside nothing else is
// known.
NANLENS_API bool Causes::has_given_zeros(EventRef log) {
  constexpr int most_steps = 8;
  std::vector<InputEvidence> inputs;
  EventRef event = log;
  for (int step = 0; step < most_steps; ++step) {
    classifier_.find_inputs(event, inputs);
    if (inputs.empty() || !inputs[0].event.exists()) return true;
    event = inputs[0].event;
    switch (model_.code(event)) {
      case OpCode::constant:
      case OpCode::placeholder: return true;
      case OpCode::keep:
      case OpCode::identity:
      case OpCode::cast:
      case OpCode::divide:
      case OpCode::multiply:
      case OpCode::select: break;
      default: classifier_.find_inputs(event, inputs); return inputs.empty();
    }
  }
  return false;
}

// Does an op, as programs do that reckon with logarithms of probabilities, take −∞ for that of 0, or +∞ for the cost
// of what can't be? Only where a logarithm made it: what has these logarithms, their sum, the best, or a bound.
NANLENS_API bool Causes::takes_as_log(EventRef result, EventRef bad, const Root& root) {
  if (root.event_class != EventClass::producer || model_.code(root.event) != OpCode::log) return false;
  if (!model_.kinds_known(bad) || !model_.health(result).known()) return false;
  const OpCode code = model_.code(result);
  const Kinds kinds = model_.kinds(bad);
  if (kinds == reader::pos_inf_flag) return code == OpCode::minimum_of && has_given_zeros(root.event);
  if (kinds != reader::neg_inf_flag) return false;
  const bool takes = code == OpCode::maximum_of || code == OpCode::maximum || code == OpCode::exp ||
                     is_log_sum_exp(model_.op_type(result));
  return takes && has_given_zeros(root.event);
}

// Is what is +∞ replaced by the least of it and something else? ONNX calls that "Min", as TensorFlow the least element.
// The least of all ranks may hide that one has failed, unless that had nothing of which it could be the least.
NANLENS_API bool Causes::is_bound_from_above(EventRef result, EventRef bad, const Root& root) {
  if (root.event_class != EventClass::producer || model_.kinds(bad) != reader::pos_inf_flag) return false;
  const OpCode code = model_.code(result);
  if (result.is_execution && model_.calls().exchanges().find(result.index) != nullptr)
    return code == OpCode::minimum && is_of_nothing(root);
  return code == OpCode::minimum || (code == OpCode::minimum_of && model_.owners().native() &&
                                     model_.health(result).size == model_.health(bad).size);
}

NANLENS_API bool Causes::is_of_nothing(const Root& root) {
  Classification c;
  classifier_.classify(root.event, c);
  return c.judgement.mechanism == Mechanism::empty;
}

// What an op with this clean result made of its bad input. A bound that a NaN did not pass was written without care,
// and what looks for NaN hides a fault, where that may be one: only a choice by something else was meant. So it does
// where more is bad by then than the elements that came in so.
NANLENS_API std::uint8_t Causes::fate_by(EventRef result, EventRef bad, std::uint32_t alert) {
  if (!result.exists()) return removed_otherwise;
  const Root& root = roots_[root_of_alert_[alert]];
  const OpCode code = model_.code(result);
  const OpCode before = model_.code(bad);
  const bool clips = code == OpCode::clamp || (code == OpCode::maximum && before == OpCode::minimum) ||
                     (code == OpCode::minimum && before == OpCode::maximum);  // as TensorFlow clips
  const bool nan = !model_.kinds_known(bad) || (model_.kinds(bad) & reader::nan_flag) != 0;
  // With zero_infinity=True its gradient leaves out what did not fit, as the loss does.
  if (code == OpCode::other && before == OpCode::ctc_loss && model_.op_type(result) == "aten::_ctc_loss_backward")
    return chosen_from;
  if ((clips || is_bound_from_above(result, bad, root) || chooses(code)) && !nan) return chosen_from;
  if (spread_[alert] == 0 && may_lack_values(root) && leaves_missing_out(result, bad, root)) return chosen_from;
  const bool chosen = !clips && chooses(code) && code != OpCode::nan_to_num && !is_asked_for_nan(bad);
  if (chosen && !is_decided_by(result, bad)) return chosen_from;
  if ((spread_[alert] & into_others) == 0 && takes_as_log(result, bad, root)) return taken_as_log;
  if (model_.health(result).known()) return removed_otherwise;
  return code == OpCode::cast ? std::uint8_t{to_integers} : std::uint8_t{0};
}

NANLENS_API void Causes::note_integers(std::uint32_t alert, OpRef integers) {
  std::vector<OpRef>& list = roots_[root_of_alert_[alert]].integers;
  const auto same = [&](const OpRef& other) { return other.event == integers.event && other.op == integers.op; };
  if (list.size() < limits::integers_of_root && std::none_of(list.begin(), list.end(), same)) list.push_back(integers);
}

// An input pipeline keeps a sample by the result of such a function, as TensorFlow names it.
NANLENS_API std::string_view Causes::filter_of(const OpRef& guard) {
  if (guard.op == none) return {};
  const GraphFacts& graphs = model_.graphs();
  const std::string_view name = graphs.graph_name(graphs.graph_of(guard.op));
  return name.starts_with("Dataset_filter_") ? name : std::string_view{};
}

// The op that chooses among integers which came of bad values: every way from them leads to one.
NANLENS_API OpRef Causes::choice_of_integers(EventRef integers) {
  std::vector<std::uint32_t> way{integers.index};
  std::size_t steps = 0;
  OpRef choice;
  for (std::size_t at = 0; at < way.size(); ++at) {
    const std::size_t num_outputs = model_.calls().outputs(way[at]).size();
    bool used = false;
    for (std::size_t slot = 0; slot < num_outputs; ++slot)
      for (const TensorUse& use : model_.calls().consumers(way[at], static_cast<std::uint16_t>(slot))) {
        const EventRef result = execution_event(use.execution, 0);
        used = true;
        if (++steps > limits::integer_steps) return {};
        if (model_.code(result) == OpCode::select && use.position > 0) {
          if (!choice.exists()) choice.event = result;
        } else if (model_.health(result).known() || model_.calls().is_call(use.execution)) {
          return {};
        } else {
          way.push_back(use.execution);
        }
      }
    if (!used) return {};
  }
  return choice;
}

// Has any op of this one's type a row: does no filter leave them out?
NANLENS_API bool Causes::type_has_rows(std::uint32_t op) {
  const auto& ops = run().definitions().ops();
  if (types_with_rows_.empty())
    for (std::uint32_t i = 0; i < ops.size(); ++i)
      if (model_.owners().has_rows(i)) types_with_rows_.insert(ops[i].type);
  return types_with_rows_.contains(ops[op].type);
}

// The same of an op of a graph, whose outputs have no row. That they are integers, and not left out by a filter, shows
// an op on the way of which others have rows.
NANLENS_API OpRef Causes::choice_of_integers(std::uint32_t op) {
  std::vector<std::uint32_t> way{op};
  std::size_t steps = 0;
  OpRef choice;
  bool filtered = true;
  for (std::size_t at = 0; at < way.size(); ++at) {
    const auto& consumers = model_.graphs().op(way[at]).consumers;
    if (consumers.empty()) {
      if (filter_of({{}, way[at]}).empty()) return {};
      filtered = false;
      choice.op = way[at];
    }
    filtered = filtered && !type_has_rows(way[at]);
    for (const ConsumerEdge& edge : consumers) {
      const OpCode code = model_.graphs().op(edge.op).code;
      const bool leads_out =
          code == OpCode::call || code == OpCode::branch || code == OpCode::loop || code == OpCode::function_return;
      if (model_.owners().has_rows(edge.op) || leads_out || ++steps > limits::integer_steps) return {};
      if (code == OpCode::select && edge.input_slot > 0) {
        filtered = filtered && !type_has_rows(edge.op);
        choice.op = edge.op;
      } else {
        way.push_back(edge.op);
      }
    }
  }
  return filtered ? OpRef{} : choice;
}

// Does the host record every op? Where a program names its ops itself, what it has not named may take a tensor, too.
NANLENS_API bool Causes::sees_every_op(EventRef event) {
  return !model_.owners().native() || model_.op_type(event).starts_with("aten::");
}

// Is it of an op that PyTorch ran, outside of TorchScript?
NANLENS_API bool Causes::is_eager_torch(EventRef event) {
  return event.is_execution && model_.op_type(event).starts_with("aten::");
}

// Must what is kept be found anew? It will be.
NANLENS_API bool Causes::is_outdated(AsOf& found) {
  const AsOf now(done_, roots_.size(), model_.calls().size());
  return std::exchange(found, now) != now;
}

// May what came in later, from where nobody knows, be what is bad here, handed on by code that is not on record?
NANLENS_API bool Causes::may_have_led_on(const Root& root) {
  if (sees_every_op(root.event)) return false;
  if (is_outdated(arrivals_as_of_)) {
    last_arrival_ = 0;
    // The later ones first: of what did no harm, nothing was handed on.
    for (auto other = roots_.rbegin(); other != roots_.rend(); ++other) {
      const bool arrives = other->arrival.exists() || other->event_class == EventClass::unknown;
      if (arrives && !is_benign(*other)) last_arrival_ = std::max(last_arrival_, other->alert);
    }
  }
  return last_arrival_ > root.alert;
}

// A ReLU is a bound, too, and hides that the weight of a layer before it is broken.
NANLENS_API bool Causes::is_bound_of_layer(OpRef guard, const Root& root) {
  if (!guard.exists()) return false;
  const OpCode code = guard.event.exists() ? model_.code(guard.event) : model_.graphs().op(guard.op).code;
  const bool bound = code == OpCode::clamp || code == OpCode::minimum || code == OpCode::maximum;
  return bound && goes_into_layer(root) && !masks_classes(root);
}

// Is it a sample of an input pipeline of which nothing is on record outside of that?
NANLENS_API bool Causes::ends_in_pipeline(const Root& root) {
  return root.left > 0 && root.removed == 0 && is_piped_data(root) && is_in_pipeline(root.last);
}

// What left out the samples from the same op of which more is on record; nothing unless it did so with all of them.
NANLENS_API OpRef Causes::guard_of_others(const Root& root) {
  if (is_outdated(others_as_of_)) {
    others_.assign(roots_.size(), {{}, true});
    for (const Root& other : roots_) {
      if (!is_piped_data(other) || ends_in_pipeline(other)) continue;
      auto& [guard, all] = others_[other.first_of_site];
      const OpRef own = guard_of(other);
      all = all && own.exists();
      if (own.exists()) guard = own;
    }
  }
  const auto& [guard, all] = others_[root.first_of_site];
  return all ? guard : OpRef{};
}

// What met something else was left out if that was.
NANLENS_API OpRef Causes::guard_of(const Root& root, std::size_t joined_in_turn) {
  if (ends_in_pipeline(root)) return guard_of_others(root);
  const bool known =
      root.event_class == EventClass::producer || root.event_class == EventClass::source || takes_nothing(root);
  if (!known || root.open > 0 || root.unread > 0 || may_have_led_on(root)) return {};
  if (root.integers.size() == limits::integers_of_root) return {};
  OpRef choice;
  for (const OpRef& integers : root.integers) {
    if (integers.op != none && model_.owners().has_rows(integers.op)) continue;  // since then: no integers
    choice = integers.op == none ? choice_of_integers(integers.event) : choice_of_integers(integers.op);
    // What comes out of a pipeline may be a sample that was kept.
    if (!choice.exists() || (!filter_of(choice).empty() && bad_behind_pipeline_)) return {};
  }
  if (root.remover.exists() && (!choice.exists() || !filter_of(choice).empty())) choice = {root.remover};
  for (const auto& [alert, into] : root.joined) {
    const OpRef guard = into == none || joined_in_turn == 0 ? OpRef{} : guard_of(roots_[into], joined_in_turn - 1);
    if (!guard.exists()) return {};
    if (!choice.exists()) choice = guard;
  }
  return is_bound_of_layer(choice, root) ? OpRef{} : choice;
}

}  // namespace nanlens::causes
