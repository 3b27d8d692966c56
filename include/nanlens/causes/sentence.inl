// Part of sentence.hpp: which sentence, and what fills it.
#pragma once

namespace nanlens::causes {

inline Sentence SentenceWriter::sentence(std::uint32_t number) {
  const Root root = causes_.roots()[number];
  const Lineage lineage = causes_.lineage(root.event);
  const Classification& c = lineage.classification;
  Sentence s;
  Model& model = causes_.model();
  s.op_type = std::string(model.op_type(root.event));
  if (!root.event.is_execution) {
    const std::uint32_t op = causes_.run().trace_op(root.event.index);
    s.op_name = std::string(model.graphs().op_name(op));
    s.graph_id = std::string(model.graphs().text(model.graphs().graph(model.graphs().graph_of(op)).id));
  }
  if (const auto frame = reader::user_frame(stack_of(causes_.run(), root.event))) s.place = *frame;
  choose(root, c, s);
  fill(root, c, s);
  if (c.inside.op != none && s.id == "opaque") fill_inside(c, s);
  s.arguments["src"] = short_place(s.place);
  s.consequence = consequence(number);
  write(root, s);
  return s;
}

inline void SentenceWriter::choose(const Root& root, const Classification& c, Sentence& s) {
  Model& model = causes_.model();
  const OpCode code = model.code(root.event);
  const Kinds kinds = model.kinds(root.event);
  switch (root.event_class) {
    case EventClass::source:
      if (causes_.is_benign(root)) {
        s.id = "expected";
      } else if (root.first_nan.exists() && (kinds & reader::nan_flag) == 0 &&
                 model.code(root.first_nan) == OpCode::softmax && kinds == reader::neg_inf_flag) {
        s.id = "allmasked";
        s.op_type = std::string(model.op_type(root.first_nan));
        if (!root.first_nan.is_execution) {
          const std::uint32_t op = causes_.run().trace_op(root.first_nan.index);
          s.op_name = std::string(model.graphs().op_name(op));
          s.graph_id = std::string(model.graphs().text(model.graphs().graph(model.graphs().graph_of(op)).id));
        }
        if (const auto frame = reader::user_frame(stack_of(causes_.run(), root.first_nan))) s.place = *frame;
      } else {
        s.id = code == OpCode::constant ? "const" : "data";
      }
      return;
    case EventClass::producer: break;
    default: s.id = "unknown"; return;
  }
  if (c.inside.op != none) {
    s.id = "opaque";
    return;
  }
  if (root.event.is_execution && model.calls().is_call(root.event.index)) {
    s.id = "opaque";
    return;
  }
  const Mechanism mechanism =
      c.judgement.verdict == Verdict::none || c.judgement.mechanism == Mechanism::generic
          ? likely_mechanism(code, model.kinds_known() ? kinds : static_cast<Kinds>(reader::neg_inf_flag))
          : c.judgement.mechanism;
  s.id = sentence_id(mechanism);
  if (s.id != "log0" || c.inputs.empty() || !c.inputs[0].event.exists()) return;
  const OpCode origin = model.code(causes_.origin(c.inputs[0].event));
  if (origin == OpCode::softmax) s.id = "log_softmax";
}

inline void SentenceWriter::fill(const Root& root, const Classification& c, Sentence& s) {
  Model& model = causes_.model();
  const TensorHealth health = model.health(root.event);
  s.arguments["op"] = s.op_type;
  s.arguments["t"] = tensor_name(model, root.event);
  s.arguments["call"] = std::string(function_name(s.op_type));
  s.arguments["kinds"] = detail::kinds_words(model.kinds(root.event));
  s.arguments["in"] = user_name(root.event);
  fill_counts(health, s);
  if (s.id == "data") {
    std::string name;
    s.arguments["why"] = why_unknown(c, name, root.event);
    return;
  }
  if (s.id == "const" || s.id == "expected" || s.id == "allmasked") return;
  if (s.id == "unknown") {
    std::string name;
    s.arguments["why"] = why_unknown(c, name, root.event);
    s.arguments["in"] = name;
    return;
  }
  fill_inputs(root.event, c, s);
}

inline void SentenceWriter::fill_counts(const TensorHealth& health, Sentence& s) {
  const double bad = health.num_nan + health.num_neg_inf + health.num_pos_inf;
  s.arguments["size"] = detail::grouped(health.size);
  s.arguments["nan"] = detail::grouped(health.num_nan);
  s.arguments["ninf"] = detail::grouped(health.num_neg_inf);
  s.arguments["pinf"] = detail::grouped(health.num_pos_inf);
  s.arguments["bad"] = detail::grouped(bad);
  if (health.dtype == DType::invalid) return;
  s.arguments["dtype"] = std::string(dtype_name(health.dtype));
  s.arguments["max"] = detail::short_number(dtype_max(health.dtype));
  s.arguments["limit"] = detail::short_number(exp_limit(health.dtype));
}

inline void SentenceWriter::fill_inputs(EventRef event, const Classification& c, Sentence& s) {
  Model& model = causes_.model();
  const auto describe = [&](std::size_t k, const std::string& prefix) {
    if (k >= c.inputs.size()) return;
    s.arguments[prefix] = input_name(event, c.inputs[k]);
    if (!c.inputs[k].event.exists()) return;
    const TensorHealth health = model.health(c.inputs[k].event);
    s.arguments[prefix + "_zeros"] = detail::counted_noun(health.num_zero, "zero", "zeros");
    s.arguments[prefix + "_negatives"] = detail::counted_noun(health.num_negative, "negative value", "negative values");
    s.arguments[prefix + "_size"] = detail::grouped(health.size);
  };
  if (!c.inputs.empty()) describe(0, "in");
  const OpCode code = model.code(event);
  describe(code == OpCode::reciprocal ? 0 : 1, "den");
  if (s.id == "log_softmax" && !c.inputs.empty())
    s.arguments["origin"] = std::string(model.op_type(causes_.origin(c.inputs[0].event)));
}

// A call without rows: the op inside that most likely did it.
inline void SentenceWriter::fill_inside(const Classification& c, Sentence& s) {
  Model& model = causes_.model();
  const std::uint32_t op = c.inside.op;
  s.op_type = std::string(model.graphs().op_type(op));
  s.op_name = std::string(model.graphs().op_name(op));
  s.graph_id = std::string(model.graphs().text(model.graphs().graph(model.graphs().graph_of(op)).id));
  s.arguments["op"] = s.arguments["inside"] = s.op_type;
  if (const auto detail = causes_.run().op(op))
    if (const auto frame = reader::user_frame(reader::resolve_stack(causes_.run(), detail->event.code_location)))
      s.place = *frame;
  if (!c.inside.input.exists()) return;
  const TensorHealth health = model.health(c.inside.input);
  s.arguments["in"] = user_name(c.inside.input);
  const bool negatives = c.inside.mechanism == Mechanism::logneg || c.inside.mechanism == Mechanism::sqrtneg;
  s.arguments["in_zeros"] = negatives ? detail::counted_noun(health.num_negative, "negative value", "negative values")
                                      : detail::counted_noun(health.num_zero, "zero", "zeros");
}

inline std::string SentenceWriter::user_name(EventRef event) {
  Model& model = causes_.model();
  if (event.is_execution) {
    if (model.calls().is_call(event.index))
      return "output " + std::to_string(event.slot) + " of " +
             std::string(function_name(model.calls().op_type(event.index)));
    return "the result of " + std::string(model.calls().op_type(event.index));
  }
  return std::string(model.graphs().op_name(causes_.run().trace_op(event.index)));
}

// The input by the name that its op's graph has for it, which is what a user wrote; else by the event.
inline std::string SentenceWriter::input_name(EventRef event, const InputEvidence& input) {
  Model& model = causes_.model();
  if (!event.is_execution) {
    const auto& inputs = model.graphs().op(causes_.run().trace_op(event.index)).inputs;
    const bool stand_in = input.input < inputs.size() && inputs[input.input].op != none &&
                          model.graphs().is_unlinked_input(inputs[input.input].op);
    if (stand_in) return inputs.size() == 1 ? "its input" : "input " + std::to_string(input.input);
    if (input.input < inputs.size() && inputs[input.input].name != 0) {
      const std::string name(model.graphs().text(inputs[input.input].name));
      return inputs[input.input].slot == 0 ? name : name + ":" + std::to_string(inputs[input.input].slot);
    }
  }
  return input.event.exists() ? user_name(input.event) : "input " + std::to_string(input.input);
}

inline std::string SentenceWriter::why_unknown(const Classification& c, std::string& name, EventRef event) {
  for (const InputEvidence& input : c.inputs) {
    if (input.state != InputState::unknown) continue;
    name = input_name(event, input);
    return std::string(reason_words(input.link.reason));
  }
  name = "an input";
  return c.inputs.empty() ? "the op itself supplies the value" : "no recorded input accounts for it";
}

inline std::string SentenceWriter::consequence(std::uint32_t number) {
  const Root& root = causes_.roots()[number];
  const std::uint64_t total = causes_.total();
  if (root.reach == 0) return {};
  if (!causes_.complete())
    return "So far " +
           detail::counted_noun(static_cast<double>(root.reach), "bad tensor follows", "bad tensors follow") + ".";
  if (root.reach == total)
    return total == 1 ? "It is the only bad tensor."
                      : "All " + detail::grouped(static_cast<double>(total)) + " bad tensors follow from it.";
  std::size_t others = 0;
  for (const Root& other : causes_.roots()) others += other.reach > 0 && !causes_.is_benign(other);
  std::string text = detail::grouped(static_cast<double>(root.reach)) + " of " +
                     detail::grouped(static_cast<double>(total)) + " bad tensors follow from it";
  if (others > 1) text += "; " + detail::counted_noun(static_cast<double>(others - 1), "other cause", "other causes");
  return text + ".";
}

inline void SentenceWriter::write(const Root& root, Sentence& s) {
  Model& model = causes_.model();
  const SentenceText& table = sentence_text(s.id);
  const TensorHealth health = model.health(root.event);
  const bool made = root.event_class == EventClass::producer && s.id != "opaque";
  std::string_view text = table.full;
  if (s.id == "opaque" && !s.arguments.contains("inside")) {
    s.text = detail::filled(table.concise, s.arguments);
    s.remedy = detail::filled(table.remedy, s.arguments);
  } else if (!model.kinds_known() && made && !table.does.empty()) {
    s.text = detail::filled("{op} at {src} made NaN or ∞ from clean input {in}. {op} does that with ", s.arguments) +
             detail::filled(table.does, s.arguments);
    s.remedy = detail::filled(table.remedy, s.arguments) + " Record with FULL_HEALTH to see which it was.";
  } else {
    if (health.num_zero < 0) text = table.concise;
    s.text = detail::filled(text, s.arguments);
    s.remedy = detail::filled(table.remedy, s.arguments);
  }
  const std::string doubt = confidence_words(root.confidence);
  if (!doubt.empty() && s.id != "unknown") s.text = (doubt == "probably" ? "Probably: " : "Perhaps: ") + s.text;
  s.text += ".";
}

}  // namespace nanlens::causes
