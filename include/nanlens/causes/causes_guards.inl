// Part of causes.hpp: what a program has left out by a choice or a bound.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace nanlens::causes {

// Has the program asked whether a tensor holds a NaN? Then it knows of a fault, and mends what came of it: unless that
// stands for a value that is missing.
NANLENS_API bool Causes::is_asked_for_nan(EventRef bad) {
  if (std::exchange(asked_of_, bad) == bad) return asked_;  // of each op that removed it, one after another
  if (bad.is_execution) {
    const auto uses = model_.calls().consumers(bad.index, bad.slot);
    model_.spend(uses.size());
    return asked_ = std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
             return asks_if_finite(model_.op_type(execution_event(use.execution, 0)));
           });
  }
  const auto& edges = model_.graphs().op(run().trace_op(bad.index)).consumers;
  model_.spend(edges.size());
  return asked_ = std::any_of(edges.begin(), edges.end(), [&](const ConsumerEdge& edge) {
           return asks_if_finite(model_.graphs().op_type(edge.op));
         });
}

// Did it come in through an input pipeline?
NANLENS_API bool Causes::is_piped_data(const Root& root) {
  return root.event_class == EventClass::source &&
         (model_.code(root.event) == OpCode::iterator_get || is_in_pipeline(root.event));
}

// Did it do so, or is it written in the program? There a NaN stands for a value that is missing, if the program asks
// for it.
NANLENS_API bool Causes::may_lack_values(const Root& root) {
  const bool constant = root.event_class == EventClass::source && model_.code(root.event) == OpCode::constant;
  return constant || is_piped_data(root);
}

// What an op with this clean result made of its bad input. A bound that a NaN did not pass was written without care,
// and what looks for NaN hides a fault, where that may be one: only a choice by something else was meant.
NANLENS_API std::uint8_t Causes::fate_by(EventRef result, EventRef bad, const Root& root) {
  if (!result.exists()) return removed_otherwise;
  const OpCode code = model_.code(result);
  const OpCode before = model_.code(bad);
  const bool clips = code == OpCode::clamp || (code == OpCode::maximum && before == OpCode::minimum) ||
                     (code == OpCode::minimum && before == OpCode::maximum);  // as TensorFlow clips
  if (clips || chooses(code)) {
    const bool nan = !model_.kinds_known(bad) || (model_.kinds(bad) & reader::nan_flag) != 0;
    if (!nan || (!clips && may_lack_values(root))) return chosen_from;
    if (!clips && code != OpCode::nan_to_num && !is_asked_for_nan(bad)) return chosen_from;
  }
  if (code == OpCode::keep && looks_up(model_.op_type(result)) && is_piped_data(root)) return chosen_from;
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

// May what came in later, from where nobody knows, be what is bad here, handed on by code that is not on record?
NANLENS_API bool Causes::may_have_led_on(const Root& root) {
  if (sees_every_op(root.event)) return false;
  if (const std::pair now(done_, roots_.size()); arrivals_as_of_ != now) {
    arrivals_as_of_ = now;
    last_arrival_ = 0;
    for (const Root& other : roots_)
      if ((other.arrival.exists() || other.event_class == EventClass::unknown) && !is_left_out(other))
        last_arrival_ = std::max(last_arrival_, other.alert);
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

// What met something else was left out if that was.
NANLENS_API OpRef Causes::guard_of(const Root& root, std::size_t joined_in_turn) {
  const bool known = root.event_class == EventClass::producer || root.event_class == EventClass::source;
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
