// Part of causes.hpp: NaN that stands for a value that is missing, and what leaves that out.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/causes/stack_of.hpp>

namespace nanlens::causes {

// Has the program asked whether a tensor holds a NaN? Then it knows of a fault, and mends what came of it: unless that
// stands for a value that is missing.
NANLENS_API bool Causes::is_asked_for_nan(EventRef bad) {
  if (std::exchange(asked_of_, bad) == bad) return asked_;  // of each op that removed it, one after another
  if (bad.is_execution) {
    const auto uses = model_.calls().consumers(bad.index, bad.slot);
    model_.spend(uses.size());
    return asked_ = std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
             return asks_if_finite(model_.op_type(execution_event(use.execution, 0))) ||
                    compares_with_itself(use.execution);
           });
  }
  const auto& edges = model_.graphs().op(run().trace_op(bad.index)).consumers;
  model_.spend(edges.size());
  return asked_ = std::any_of(edges.begin(), edges.end(), [&](const ConsumerEdge& edge) {
           return asks_if_finite(model_.graphs().op_type(edge.op));
         });
}

// Does an op compare a tensor with itself, which only a NaN does not equal: as PyTorch asks for one?
NANLENS_API bool Causes::compares_with_itself(std::uint32_t execution) {
  const std::string_view type = model_.op_type(execution_event(execution, 0));
  if (type != "aten::ne" && type != "aten::eq") return false;
  const auto inputs = model_.calls().inputs(execution);
  return inputs.size() == 2 && inputs[0].tensor_id == inputs[1].tensor_id;
}

// Is it the comparison of absolute values with infinity by which PyTorch, which multiplies what it gives by what a
// comparison with itself gives, asks what is finite?
NANLENS_API bool Causes::is_part_of_isfinite(EventRef result, EventRef bad) {
  if (model_.op_type(result) != "aten::ne" || model_.op_type(bad) != "aten::abs") return false;
  const auto uses = first_consumers(result);
  return std::any_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    const auto inputs = model_.calls().inputs(use.execution);
    if (model_.op_type(execution_event(use.execution, 0)) != "aten::mul" || inputs.size() != 2) return false;
    const auto other = model_.calls().producer(inputs[use.position == 0 ? 1 : 0].tensor_id, use.execution);
    return other && model_.op_type(execution_event(other->execution, 0)) == "aten::eq";
  });
}

// Is it the one by which PyTorch's log-sum-exp subtracts 0 where the largest element is infinite?
NANLENS_API bool Causes::is_part_of_log_sum(EventRef result, EventRef bad) {
  const auto of = model_.calls().inputs(bad.index);
  if (of.empty() || model_.op_type(result) != "aten::eq") return false;
  const auto uses = first_consumers(result);
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    const auto inputs = model_.calls().inputs(use.execution);
    return model_.op_type(execution_event(use.execution, 0)) == "aten::masked_fill_" &&
           inputs[0].tensor_id == of[0].tensor_id;
  });
}

// Are these absolute values made for such a question alone? Then nothing comes of them.
NANLENS_API bool Causes::is_for_isfinite(EventRef event) {
  if (!event.is_execution || model_.op_type(event) != "aten::abs") return false;
  const auto uses = first_consumers(event);
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const TensorUse& use) {
    const EventRef asks = execution_event(use.execution, 0);
    return is_part_of_isfinite(asks, event) || is_part_of_log_sum(asks, event);
  });
}

// Did it come in through an input pipeline?
NANLENS_API bool Causes::is_piped_data(const Root& root) {
  return root.event_class == EventClass::source &&
         (model_.code(root.event) == OpCode::iterator_get || is_in_pipeline(root.event));
}

NANLENS_API bool Causes::takes_nothing(const Root& root) {
  return root.event_class == EventClass::unknown && root.event.is_execution && model_.owners().native() &&
         model_.code(root.event) == OpCode::other && !model_.calls().is_call(root.event.index) &&
         model_.calls().inputs(root.event.index).empty();
}

// Did it do so, is it written in the program or given by an op without inputs, was a host's graph given it, or PyTorch,
// by Python? There a NaN stands for a value that is missing, if the program asks for it. Not all values are, and no
// parameter, which has a name, or is copied to where it belongs when it is loaded.
NANLENS_API bool Causes::may_lack_values(const Root& root) {
  if (takes_nothing(root)) {
    const TensorHealth health = model_.counted_health(root.event);
    return health.num_nan > 0 && health.num_nan < health.size;
  }
  if (root.event_class != EventClass::source) return false;
  const Arrival& arrival = root.arrival;
  const bool from_python = model_.op_type(root.event).starts_with("aten::") && arrival.exists() && !arrival.changed;
  const bool in_part = arrival.num_bad < arrival.size || arrival.size == 1;
  const bool loaded = root.named || (model_.op_type(root.event) == "aten::copy_" && arrival.size > 1);
  const OpCode code = model_.code(root.event);
  const bool given = code == OpCode::placeholder && !root.event.is_execution && model_.owners().native();
  return (from_python && in_part && !loaded) || given || code == OpCode::constant || is_piped_data(root);
}

// Was a bad tensor made of another one, by ops that passed on what is bad? Nothing where it is too far to be found out.
NANLENS_API std::optional<bool> Causes::is_made_of(EventRef event, EventRef other) {
  std::vector<EventRef> way{event};
  for (std::size_t at = 0; at < way.size(); ++at) {
    if (way[at] == other) return true;
    const auto inputs = model_.calls().inputs(way[at].index);
    model_.spend(inputs.size());
    for (const TensorUse& input : inputs) {
      if (way.size() >= limits::question_steps) return {};
      const auto made = model_.calls().producer(input.tensor_id, way[at].index);
      if (!made || made->execution < other.index) continue;
      const EventRef maker = execution_event(made->execution, made->position);
      if (model_.bad(maker) && std::find(way.begin(), way.end(), maker) == way.end()) way.push_back(maker);
    }
  }
  return false;
}

// What the integers and booleans that went into an op of PyTorch's were made of: of what follows from the root of a bad
// tensor, or from that. What comes later may not be known to follow yet. Where that is too far to be found out, a
// comparison may be behind it.
NANLENS_API Causes::Question Causes::question_of(EventRef result, EventRef bad) {
  Question question;
  std::vector<std::uint32_t> way{result.index};
  for (std::size_t at = 0; at < way.size(); ++at) {
    const auto inputs = model_.calls().inputs(way[at]);
    model_.spend(inputs.size());
    const bool of_itself = compares_with_itself(way[at]);
    for (const TensorUse& input : inputs) {
      if (way.size() >= limits::question_steps) {
        question.compared = true;
        return question;
      }
      const auto made = model_.calls().producer(input.tensor_id, way[at]);
      if (!made) continue;
      const EventRef event = execution_event(made->execution, made->position);
      if (!model_.health(event).known()) {
        if (std::find(way.begin(), way.end(), made->execution) == way.end()) way.push_back(made->execution);
        continue;
      }
      if (at == 0 || !model_.bad(event)) continue;
      const auto follows = follows_with(event, bad);
      if (!follows) question.compared = true;
      if (follows.value_or(false)) {
        const EventRef asker = execution_event(way[at], 0);
        const bool asks = of_itself || asks_if_finite(model_.op_type(asker)) || is_part_of_isfinite(asker, event);
        (asks ? question.asked : question.compared) = true;
      }
    }
  }
  return question;
}

// Has a bad tensor the root of another one, or was it made of that?
NANLENS_API std::optional<bool> Causes::follows_with(EventRef event, EventRef bad) {
  const std::uint32_t alert = alert_of(event);
  const std::uint32_t own = alert_of(bad);
  return alert <= own ? root_of_alert_[alert] == root_of_alert_[own] : is_made_of(event, bad);
}

// Does an op of PyTorch's choose by what is bad itself: by whether it is, or by how it compares with something, which a
// NaN decides without a word?
NANLENS_API bool Causes::is_decided_by(EventRef result, EventRef bad) {
  if (!is_eager_torch(result)) return false;
  const Question question = question_of(result, bad);
  return question.asked || question.compared;
}

// Does the op show a tensor, as Python's print() does? It takes what is finite of it to find out how wide that is.
NANLENS_API bool Causes::only_shows(EventRef result) {
  const auto frames = stack_of(run(), result);
  return std::any_of(frames.begin(), frames.end(), [](const reader::StackFrame& frame) {
    return frame.file_path.ends_with("/torch/_tensor_str.py");
  });
}

// Does the op with this clean result leave out, or fill, what is missing in its bad input? Not by a comparison, which a
// NaN decides without a word.
NANLENS_API bool Causes::leaves_missing_out(EventRef result, EventRef bad, const Root& root) {
  const OpCode code = model_.code(result);
  const std::string_view type = model_.op_type(result);
  if (code == OpCode::keep && looks_up(type) && is_piped_data(root)) return true;
  if (leaves_nan_out(type) || code == OpCode::nan_to_num) return true;
  const bool writes = writes_over(type) && model_.health(result).known();
  const bool chooses_elements = chooses(code) && code != OpCode::clamp;
  if (!takes_named(type) && !writes && !chooses_elements) return false;
  if (!is_eager_torch(result)) return !takes_named(type);
  const Question question = question_of(result, bad);
  return takes_named(type) ? question.asked && !only_shows(result) : question.asked || !question.compared;
}

}  // namespace nanlens::causes
