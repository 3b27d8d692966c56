// Part of sentence.hpp: which sentence, and the facts that fill it.
#pragma once

#include <bit>
#include <cmath>
#include <tuple>

#include <nanlens/causes/because.hpp>
#include <nanlens/causes/function_name.hpp>
#include <nanlens/causes/host_names.hpp>
#include <nanlens/causes/inverse_functions.hpp>
#include <nanlens/causes/magnitude.hpp>
#include <nanlens/causes/near_miss.hpp>
#include <nanlens/causes/ruled_out.hpp>
#include <nanlens/causes/sentence_table.hpp>
#include <nanlens/causes/spread.hpp>

namespace nanlens::causes {

NANLENS_API Sentence SentenceWriter::sentence(std::uint32_t number) {
  const Root root = causes_.roots()[number];
  const Lineage lineage = causes_.lineage(root.event);
  Sentence s;
  s.id = choose(root, lineage.classification);
  blame(s.id == "allmasked" || s.id == "zero_times" ? root.first_nan : root.event, s);
  if (s.id == "data") blame_looped(lineage.classification, s);
  CauseFacts facts;
  gather(root, lineage.classification, s, facts);
  if (s.id == "trap") gather_hits(number, s, facts);
  Words words = word(facts, speech_);
  s.arguments = std::move(words.arguments);
  s.text = std::move(words.text);
  s.remedy = std::move(words.remedy);
  if (s.id != "trap")
    s.consequence = named_words(number) + result_words(root) + spread_words(number) + consequence(number);
  if (const auto seen = output_evidence(causes_.run(), root.event)) s.where = places_words(*seen, speech_);
  return s;
}

// The op and the line to look at.
NANLENS_API void SentenceWriter::blame(EventRef event, Sentence& s) {
  if (!event.is_execution) return blame_op(causes_.run().trace_op(event.index), s);
  s.op_type = std::string(causes_.model().op_type(event));
  s.op_name = extension_of(causes_.run(), event).op_name;
  take_places(stack_of(causes_.run(), event), s);
}

// What came of an op without a row that vectorises one of a loop: that one, which the program has a line for.
NANLENS_API void SentenceWriter::blame_looped(const Classification& c, Sentence& s) {
  const auto found = std::find_if(c.inputs.begin(), c.inputs.end(),
                                  [](const InputEvidence& input) { return input.state == InputState::unknown; });
  if (found != c.inputs.end() && is_vectorized(*found)) blame_op(found->link.looped, s);
}

NANLENS_API void SentenceWriter::take_places(const std::vector<reader::StackFrame>& frames, Sentence& s) {
  if (frames.empty()) return;
  s.place = *reader::user_frame(frames);
  s.inside = reader::package_frame(frames).value_or(reader::StackFrame());
}

NANLENS_API void SentenceWriter::blame_op(std::uint32_t op, Sentence& s) {
  GraphFacts& graphs = causes_.model().graphs();
  s.op_type = std::string(graphs.op_type(op));
  s.op_name = std::string(graphs.op_name(op));
  s.graph_id = std::string(graphs.text(graphs.graph(graphs.graph_of(op)).id));
  take_places(stack_of_op(op), s);
  const std::uint32_t forward = forward_op(op);
  const auto of = forward == none ? std::nullopt : reader::user_frame(stack_of_op(forward));
  const bool has_its_own = of && (of->line != s.place.line || of->file_path != s.place.file_path);
  s.gradient_of = has_its_own ? *of : reader::StackFrame();
}

NANLENS_API std::vector<reader::StackFrame> SentenceWriter::stack_of_op(std::uint32_t op) {
  const auto detail = causes_.run().op(op);
  if (!detail) return {};
  return reader::resolve_stack(causes_.run(), detail->event.code_location);
}

// The op whose gradient an op of TensorFlow's calculates: by its name, "gradient_tape/<op>/…" or
// "gradients/<op>_grad/…"; or by what it takes, as SqrtGrad takes the result of Sqrt. None if it is no gradient, or
// can't be told whose.
NANLENS_API std::uint32_t SentenceWriter::forward_op(std::uint32_t op) {
  Model& model = causes_.model();
  GraphFacts& graphs = model.graphs();
  if (model.owners().native()) return none;
  const std::string_view name = graphs.op_name(op);
  const std::string_view of_tape = detail::tape_scope(name);
  const std::string_view scope = of_tape.empty() ? detail::gradient_scope(name) : of_tape;
  const std::uint32_t own = graphs.graph_of(op);
  for (const std::uint32_t graph : {own, model.nested().forward_of(own)}) {
    if (scope.empty() || graph == none) continue;
    const std::uint32_t found = causes_.run().find_op(graphs.text(graphs.graph(graph).id), std::string(scope));
    if (found != none && causes_.run().definitions().ops()[found].declared) return found;
  }
  constexpr std::string_view gradient = "Grad";
  std::string_view type = graphs.op_type(op);
  const bool of_gradient = name.starts_with(detail::tape_prefix) || !detail::gradient_scope(name).empty();
  if (!type.ends_with(gradient)) return of_gradient ? inverse_function_of(graphs, op) : none;
  type.remove_suffix(gradient.size());
  for (const InputEdge& edge : graphs.op(op).inputs)
    if (edge.op != none && graphs.op_type(edge.op) == type) return edge.op;
  return none;
}

// A mask of −∞ whose first NaN is a softmax, or one that is computed by hand: a row was masked whole.
NANLENS_API bool SentenceWriter::masked_row(const Root& root) {
  Model& model = causes_.model();
  if (!root.first_nan.exists() || model.kinds(root.event) != reader::neg_inf_flag) return false;
  const OpCode code = model.code(root.first_nan);
  return code == OpCode::softmax || (code == OpCode::subtract && is_of_whole_rows(root.first_nan));
}

// An infinity whose first NaN is a product with something clean, which has zeros then: a mask that is multiplied with.
NANLENS_API bool SentenceWriter::is_zero_times(const Root& root) {
  Model& model = causes_.model();
  const Kinds kinds = model.kinds(root.event);
  if (!root.first_nan.exists() || (kinds != reader::neg_inf_flag && kinds != reader::pos_inf_flag)) return false;
  if (model.code(root.first_nan) != OpCode::multiply) return false;
  const auto inputs = causes_.lineage(root.first_nan).classification.inputs;
  const auto is_clean = [](const InputEvidence& input) { return input.state == InputState::clean; };
  return inputs.size() == 2 && std::count_if(inputs.begin(), inputs.end(), is_clean) == 1;
}

// Is what came in infinite, and no NaN, and are there zeros in what it was multiplied by?
NANLENS_API bool SentenceWriter::multiplies_zero_by(EventRef event, const InputEvidence& arrived) {
  Model& model = causes_.model();
  if (model.code(event) != OpCode::multiply || (model.kinds(event) & reader::nan_flag) == 0) return false;
  if ((arrived.now.flags & reader::nan_flag) != 0) return false;
  const auto inputs = causes_.lineage(event).classification.inputs;
  return inputs.size() == 2 && std::any_of(inputs.begin(), inputs.end(), [&](const InputEvidence& input) {
           return !input.arrived && input.state == InputState::clean && causes_.health_of(input).num_zero > 0;
         });
}

// Rows less a number each, their maximum or the logarithm of their sum, say: is whatever became NaN a whole row, all of
// whose entries were −∞, as that number was?
NANLENS_API bool SentenceWriter::is_of_whole_rows(EventRef difference) {
  const auto inputs = causes_.lineage(difference).classification.inputs;
  if (inputs.size() != 2) return false;
  const TensorHealth rows = causes_.health_of(inputs[0]);
  const TensorHealth numbers = causes_.health_of(inputs[1]);
  const auto only_negative = [](const TensorHealth& h) {
    return h.num_nan == 0 && h.num_pos_inf == 0 && h.num_neg_inf > 0;
  };
  if (!only_negative(rows) || !only_negative(numbers) || numbers.size >= rows.size) return false;
  const double length = rows.size / numbers.size;
  return length == std::floor(length) &&
         causes_.model().counted_health(difference).num_nan == numbers.num_neg_inf * length;
}

// A mean over targets divides by what their weights add up to, which is an output of its own.
NANLENS_API bool SentenceWriter::has_no_weight(EventRef event) {
  if (!event.is_execution || event.slot != 0) return false;
  const TensorHealth loss = causes_.model().health(event);
  if (loss.size != 1 || loss.num_nan == 0) return false;  // no mean, whose weight is noted, too, or no 0/0
  const TensorHealth weight = causes_.model().health(execution_event(event.index, 1));
  return weight.size == 1 && weight.num_zero == 1;
}

// The gradient of eigenvectors or singular vectors, as PyTorch names it, divides by differences of their values, or by
// those. Source: linalg_eig_backward and svd_backward in its FunctionsManual.cpp.
NANLENS_API bool SentenceWriter::is_of_decomposition(EventRef event) {
  if (!event.is_execution) return false;
  const std::string name = extension_of(causes_.run(), event).op_name;
  return name.starts_with("LinalgEighBackward") || name.starts_with("LinalgEigBackward") ||
         name.starts_with("LinalgSvdBackward");
}

NANLENS_API std::string SentenceWriter::choose(const Root& root, const Classification& c) {
  Model& model = causes_.model();
  if (root.event.is_execution && extension_of(causes_.run(), root.event).hits > 0) return "trap";
  const OpCode code = model.code(root.event);
  if (causes_.is_left_out(root)) {
    if (root.event_class == EventClass::producer) return "scaled";
    if (c.arrived != none) return "scaled_in";
  }
  if (code != OpCode::constant && causes_.guard_of(root).exists()) return "guarded";
  if (causes_.is_benign(root)) return "expected";
  if (root.event_class == EventClass::source) {
    if (c.arrived != none) {
      const InputEvidence& input = c.inputs[c.arrived];
      const bool changed = input.origin == TensorOrigin::changed || input.event.exists();
      if (is_relay(code)) return "data";
      if (!changed && multiplies_zero_by(root.event, input)) return "zero_times";
      // A number of Python's, from where it is put into a tensor.
      if (!changed && input.now.rank == 0 && fills_in(code, model.op_type(root.event))) return "const";
      const bool only_masked = (input.now.flags & reader::bad_flags) == reader::neg_inf_flag;
      if (code == OpCode::softmax && only_masked && (model.kinds(root.event) & reader::nan_flag) != 0)
        return "allmasked";
      return changed ? "changed" : "arrived";
    }
    if (masked_row(root)) return "allmasked";
    if (code == OpCode::constant && is_zero_times(root)) return "zero_times";
    return code == OpCode::constant ? "const" : "data";
  }
  if (root.event_class != EventClass::producer) return "unknown";
  const bool call = root.event.is_execution && model.calls().is_call(root.event.index);
  if (call || c.inside.op != none) return "opaque";
  if (model.may_make_mask(root.event) && masked_row(root)) return "allmasked";
  if (code == OpCode::nll_loss && has_no_weight(root.event)) return "ignored";
  if (code == OpCode::ctc_loss && kinds_of(root.event) == static_cast<Kinds>(reader::pos_inf_flag)) return "ctc";
  const bool judged = c.judgement.verdict != Verdict::none && c.judgement.mechanism != Mechanism::generic;
  const Kinds kinds = kinds_of(root.event).value_or(static_cast<Kinds>(reader::neg_inf_flag));
  const Mechanism mechanism = judged ? c.judgement.mechanism : likely_mechanism(code, kinds);
  if (mechanism == Mechanism::log0 && code == OpCode::log && !c.inputs.empty() && c.inputs[0].event.exists() &&
      model.code(causes_.origin(c.inputs[0].event)) == OpCode::softmax)
    return "log_softmax";
  const std::string_view id = sentence_id(mechanism);
  return std::string((id == "div0" || id == "div00") && is_of_decomposition(root.event) ? "degenerate" : id);
}

// Which kinds of non-finite values an event has; nothing if that is not on record.
NANLENS_API std::optional<Kinds> SentenceWriter::kinds_of(EventRef event) {
  Model& model = causes_.model();
  if (model.is_bad_complex(event)) return std::nullopt;
  if (model.kinds_known(event)) return model.kinds(event);
  const TensorHealth out = model.counted_health(event);
  if (out.num_nan < 0) return std::nullopt;
  return static_cast<Kinds>(out.flags & reader::bad_flags);
}

NANLENS_API void SentenceWriter::gather(const Root& root, const Classification& c, Sentence& s, CauseFacts& f) {
  Model& model = causes_.model();
  f.id = s.id;
  f.event_class = root.event_class;
  f.confidence = causes_.confidence(root);
  f.contradicted = c.contradicted;
  f.code = model.code(root.event);
  f.tensor = tensor_name(model, root.event);
  f.name = user_name(root.event);
  f.complex = model.is_bad_complex(root.event);
  f.unread = root.unread > 0;
  f.nan_follows = root.nan_reach > 0;
  f.written_over = c.written_over;
  const auto kinds = kinds_of(root.event);
  f.kinds_known = kinds.has_value();
  f.kinds = kinds.value_or(0);
  f.out = model.counted_health(root.event);
  f.call = std::string(function_name(s.op_type));
  f.native = model.owners().native();
  f.mode = model.mode();
  gather_inputs(root, c, f);
  if (root.event_class == EventClass::producer) leave_out_what_came_in(c, f);
  f.all_seen = c.all_seen;
  const bool named = f.native && detail::without_number(s.op_name) != s.op_type;  // ops of one hook share a line
  if (root.event.is_execution || named) f.op_name = s.op_name;
  gather_missing(root.event, c, f);
  if (c.lay_there.exists()) f.lay_there = tensor_name(model, c.lay_there);
  f.lost_there = c.lost_there;
  f.alone = causes_.takes_nothing(root) && !c.lay_there.exists() && !c.lost_there;
  f.ends_in_result = causes_.result_of(root).exists();
  if (c.arrived != none) gather_arrived(root.event, c, f);
  if (s.id == "opaque" && c.inside.op != none) gather_inside(c, s, f);
  if (s.id == "guarded") {
    const auto type_of = [&](const OpRef& op) {
      return std::string(op.op == none ? model.op_type(op.event) : model.graphs().op_type(op.op));
    };
    const OpRef guard = causes_.guard_of(root);
    const std::string_view filter = causes_.filter_of(guard);
    f.guard = filter.empty() ? type_of(guard) : std::string(filter);
    const bool of_integers = filter.empty() && !(guard.op == none && guard.event == root.remover);
    if (!root.integers.empty() && of_integers) f.integers = type_of(root.integers.front());
  }
  f.op = s.op_type;
  if (root.event_class == EventClass::producer && s.id != "opaque") {
    f.contradicted = f.contradicted || detail::values_rule_out(f);
    if (f.contradicted) f.id = s.id = "generic";
  }
  f.place = short_place(s.place);
  f.gradient_of = short_place(s.gradient_of);
  f.where = where_it_ran(root.event, s);
}

// Once a program's threads rest from trapping, no count of it is whole.
NANLENS_API bool SentenceWriter::trapped_in_part() {
  if (!trapped_in_part_) trapped_in_part_ = causes::trapped_in_part(causes_.run());
  return *trapped_in_part_;
}

// How often an instruction was trapped: some of its traps are on record, whatever they follow from, each with the
// number that it had. A recording that ended in order has the last.
NANLENS_API void SentenceWriter::gather_hits(std::uint32_t number, const Sentence& s, CauseFacts& f) {
  constexpr std::size_t most = 4096;
  constexpr std::uint32_t farthest = 65'536;
  const EventRef root = causes_.roots()[number].event;
  const auto first = extension_of(causes_.run(), root);
  f.hits = first.hits;
  auto since_start_ns = first.since_start_ns;
  f.hits_are_all = causes_.run().clean_end() == true && !trapped_in_part();
  f.function = without_arguments(s.place.function);
  const CallTable& calls = causes_.model().calls();
  const auto place_of = [&](EventRef event) {
    const auto frame = reader::user_frame(stack_of(causes_.run(), event));
    return frame ? std::tuple(frame->file_path, frame->line, frame->function)
                 : std::tuple<std::string, int, std::string>{};
  };
  const auto place = place_of(root);
  const std::size_t process = causes_.run().set_of_execution(root.index);
  std::size_t looked_at = 0;
  const auto end = static_cast<std::uint32_t>(calls.size());
  for (auto other = end; other-- > end - std::min(end, farthest) && looked_at < most;) {
    if (calls.op_type_number(other) != calls.op_type_number(root.index)) continue;
    if (causes_.run().set_of_execution(other) != process) continue;
    ++looked_at;
    const EventRef event = execution_event(other, 0);
    const auto again = extension_of(causes_.run(), event);
    const bool tells_more = again.hits > f.hits || again.since_start_ns < since_start_ns;
    if (!tells_more || again.op_name != first.op_name || place_of(event) != place) continue;
    f.hits = std::max(f.hits, again.hits);
    since_start_ns = std::min(since_start_ns, again.since_start_ns);
  }
  f.since_start = static_cast<double>(since_start_ns) * 1e-9;
}

// The process that recorded an event, where there are several: by its rank, its host, or among those of one host by its
// number.
NANLENS_API std::string SentenceWriter::where_it_ran(EventRef event, Sentence& s) {
  const Run& run = causes_.run();
  if (run.num_sets() < 2) return {};
  const std::size_t set = event.is_execution ? run.set_of_execution(event.index) : run.set_of_trace(event.index);
  s.host = run.host_of_set(set);
  if (run.hosts().size() == run.num_sets()) {
    const std::int32_t rank = run.rank_of_set(set);
    if (rank < 0) return say(speech_, Saying::on_host, {{"host", s.host}});
    return say(speech_, Saying::in_rank,
               {{"rank", std::to_string(rank)}, {"host", s.host.substr(0, s.host.rfind(".rank"))}});
  }
  return say(speech_, Saying::in_process,
             {{"n", std::to_string(set + 1)}, {"all", std::to_string(run.num_sets())}, {"host", s.host}});
}

NANLENS_API void SentenceWriter::gather_inputs(const Root& root, const Classification& c, CauseFacts& f) {
  const EventRef event = root.event;
  constexpr std::size_t most = 64;
  f.all_clean = !c.inputs.empty();
  for (const InputEvidence& input : c.inputs) {
    f.all_clean = f.all_clean && input.state == InputState::clean;
    if (f.inputs.size() == most) continue;
    InputFacts& facts = f.inputs.emplace_back();
    facts.name = input_name(event, input);
    facts.known = input.state == InputState::clean && (input.seen || input.event.exists());
    if (facts.known) facts.health = causes_.health_of(input);
    if (facts.known && input.event.exists()) facts.largest = detail::largest_magnitude(causes_.run(), input.event);
  }
  gather_values(event, c, f);
  tell_apart(event, c, f);
  if (c.inputs.empty() || !c.inputs.front().event.exists()) return;
  const EventRef origin = causes_.origin(c.inputs.front().event);
  f.origin = std::string(causes_.model().op_type(origin));
  f.masked = causes_.model().code(origin) == OpCode::softmax && may_be_masked(origin, root.alert == 0);
}

// May an op have been given −∞, as a mask holds it? Of a graph's op without a row in that run it is known to be none if
// all that is bad begins with it.
NANLENS_API bool SentenceWriter::may_be_masked(EventRef event, bool begins) {
  const std::vector<InputEvidence> given = causes_.lineage(event).classification.inputs;
  return given.empty() || std::any_of(given.begin(), given.end(), [&](const InputEvidence& input) {
           if (input.state == InputState::clean) return false;
           const bool computed = input.link.reason == Reason::not_recorded || input.link.reason == Reason::nested ||
                                 input.link.reason == Reason::vectorized;
           return !(computed && begins && input.state == InputState::unknown);
         });
}

// An op that made infinities of an input in which something else was bad already (classify: created_kinds, all of which
// work element by element): what that has become there was not made.
NANLENS_API void SentenceWriter::leave_out_what_came_in(const Classification& c, CauseFacts& f) {
  if (c.made_more) {  // of what is bad in the output, which was passed on is not known
    f.out.num_nan = f.out.num_neg_inf = f.out.num_pos_inf = -1;
    f.kinds_known = f.kinds_known && std::has_single_bit(static_cast<unsigned>(f.kinds));
    return;
  }
  if (c.inputs.empty() || c.inputs.front().state != InputState::bad) return;
  const TensorHealth& in = c.inputs.front().now;
  if (!c.inputs.front().seen || in.num_nan < 0 || f.out.num_nan < 0) return;
  f.inputs.front().known = true;
  f.inputs.front().health = in;
  const bool of_reciprocal = f.code == OpCode::reciprocal;  // of which 1/±∞ is 0
  f.out.num_nan = std::max(0.0, f.out.num_nan - in.num_nan - (of_reciprocal ? 0 : in.num_neg_inf));
  if (f.code == OpCode::log || f.code == OpCode::log1p)
    f.out.num_pos_inf = std::max(0.0, f.out.num_pos_inf - in.num_pos_inf);
  if (f.out.num_nan == 0) f.kinds &= static_cast<Kinds>(~reader::nan_flag);
  if (f.out.num_pos_inf == 0) f.kinds &= static_cast<Kinds>(~reader::pos_inf_flag);
}

// What nanlens saw of the inputs when the op had run: of the first bad event of an op, every value.
NANLENS_API void SentenceWriter::gather_values(EventRef event, const Classification& c, CauseFacts& f) {
  if (!f.native) return;
  const auto extension = extension_of(causes_.run(), event);
  const std::size_t slot = event.is_execution ? event.slot : 0;
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    const std::uint32_t input = c.inputs[i].input;
    if (!f.inputs[i].known || !c.inputs[i].seen || input >= extension.input_evidence.size()) continue;
    const TensorEvidence& e = extension.input_evidence[input];
    f.inputs[i].at_bad = e.values;
    const auto stored = reader::stored_tensor(e);
    if (!stored) continue;
    f.inputs[i].largest = detail::largest_magnitude(*stored);
    if (e.values.empty() && slot < extension.output_evidence.size())
      f.inputs[i].at_bad = detail::values_at_bad(*stored, extension.output_evidence[slot]);
  }
}

// Inputs of one name are one tensor in a graph; results of ops of one type need not be.
NANLENS_API void SentenceWriter::tell_apart(EventRef event, const Classification& c, CauseFacts& f) {
  const std::size_t first = detail::dividend_of(f.code);
  if (f.inputs.size() < first + 2 || f.inputs[first].name != f.inputs[first + 1].name) return;
  const EventRef one = c.inputs[first].event;
  const EventRef other = c.inputs[first + 1].event;
  f.by_itself = one.exists() || other.exists() ? one == other : !event.is_execution;
  if (f.by_itself) return;
  for (std::size_t i = first; i < first + 2; ++i)
    f.inputs[i].name = say(speech_, Saying::input_numbered, {{"index", std::to_string(c.inputs[i].input)}});
}

// An input that was bad when the op got it, and what had been in its memory.
NANLENS_API void SentenceWriter::gather_arrived(EventRef event, const Classification& c, CauseFacts& f) {
  const InputEvidence& input = c.inputs[c.arrived];
  f.arrived.known = true;
  f.arrived.health = input.now;
  f.arrived.name = event.is_execution ? host_name(event, input.input) : input_name(event, input);
  const bool sent = event.is_execution && causes_.model().calls().exchanges().find(event.index) != nullptr;
  if (f.arrived.name.empty() || f.arrived.name == speech_[Saying::its_input])  // "in its input of Add"
    f.arrived.name = sent ? say(speech_, Saying::send_buffer)
                          : say(speech_, Saying::input_numbered, {{"index", std::to_string(input.input)}});
  if (input.event.exists()) f.recorded_there = user_name(input.event);
}

// A call without rows: the op inside that most likely did it.
NANLENS_API void SentenceWriter::gather_inside(const Classification& c, Sentence& s, CauseFacts& f) {
  blame_op(c.inside.op, s);
  f.inside = s.op_type;
  if (!c.inside.input.exists()) return;
  f.inside_input.known = true;
  f.inside_input.name = user_name(c.inside.input);
  f.inside_input.health = causes_.model().health(c.inside.input);
  f.inside_negatives = c.inside.mechanism == Mechanism::logneg || c.inside.mechanism == Mechanism::sqrtneg;
}

// What wrote to a variable what is not known.
NANLENS_API void SentenceWriter::gather_write(const Link& link, CauseFacts& f) {
  if (link.reason != Reason::assigned && link.reason != Reason::updated) return;
  const EventRef call = execution_event(link.reason == Reason::updated ? link.updater : link.writer, 0);
  if (!call.exists()) return;
  const bool in_graph = link.reason == Reason::updated && link.update_op != none;
  f.written_by =
      in_graph ? causes_.model().graphs().op_type(link.update_op) : causes_.model().calls().op_type(call.index);
  if (const auto frame = reader::user_frame(in_graph ? stack_of_op(link.update_op) : stack_of(causes_.run(), call)))
    f.written_at = short_place(*frame);
}

// The first input that is not on record. What only hands a tensor on is that tensor itself, but where it is told of the
// op that made it.
NANLENS_API void SentenceWriter::gather_missing(EventRef event, const Classification& c, CauseFacts& f) {
  for (const InputEvidence& input : c.inputs) {
    if (input.state != InputState::unknown && !input.arrived) continue;
    f.reason = input.link.reason;
    gather_write(input.link, f);
    const bool is_itself = is_relay(f.code) || f.code == OpCode::iterator_get || f.code == OpCode::python;
    if (f.code == OpCode::python) f.reason = Reason::none;  // what it is given tells nothing of what it gives
    const bool by_name = is_vectorized(input);
    const bool has_row = !event.is_execution && (f.code == OpCode::identity || f.code == OpCode::identity_n);
    const bool lost = f.reason == Reason::lost || (has_row && f.reason == Reason::not_recorded);
    if (is_itself && !lost && !by_name) return;
    f.missing = by_name ? std::string(causes_.model().graphs().text(input.link.name)) : input_name(event, input);
    if (f.id == "data" && !(by_name && (is_itself || event.is_execution)))
      f.missing =
          say(speech_, Saying::input_of, {{"input", f.missing}, {"op", std::string(causes_.model().op_type(event))}});
    return;
  }
}

NANLENS_API std::string SentenceWriter::user_name(EventRef event) {
  Model& model = causes_.model();
  if (!event.is_execution) return std::string(model.graphs().op_name(causes_.run().trace_op(event.index)));
  const std::string_view type = model.calls().op_type(event.index);
  if (!model.calls().is_call(event.index)) return say(speech_, Saying::result_of, {{"op", std::string(type)}});
  return say(speech_, Saying::output_of,
             {{"slot", std::to_string(event.slot)}, {"function", std::string(function_name(type))}});
}

// The input by the name that its op's graph has for it, which is what a user wrote; else by the event.
NANLENS_API std::string SentenceWriter::input_name(EventRef event, const InputEvidence& input) {
  GraphFacts& graphs = causes_.model().graphs();
  const std::string number = say(speech_, Saying::input_numbered, {{"index", std::to_string(input.input)}});
  if (!event.is_execution) {
    const auto& inputs = graphs.op(causes_.run().trace_op(event.index)).inputs;
    const bool named = input.input < inputs.size() && inputs[input.input].name != 0;
    if (named && inputs[input.input].op != none && graphs.is_unlinked_input(inputs[input.input].op))
      return inputs.size() == 1 ? say(speech_, Saying::its_input) : number;
    if (named) {
      const std::string name(graphs.text(inputs[input.input].name));
      return inputs[input.input].slot == 0 ? name : name + ":" + std::to_string(inputs[input.input].slot);
    }
  }
  if (std::string name = host_name(event, input.input); !name.empty()) return name;
  if (input.link.reason == Reason::other_rank)
    return say(speech_, Saying::part_of_rank, {{"rank", std::to_string(input.input)}});
  // What its memory held when that was recorded is not what the op got.
  const bool is_result = input.event.exists() && input.origin != TensorOrigin::changed;
  return is_result ? user_name(input.event) : number;
}

// What the host called an input of a bad event; empty for most.
NANLENS_API std::string SentenceWriter::host_name(EventRef event, std::uint32_t input) {
  if (!event.is_execution || !causes_.model().owners().native()) return {};
  if (named_ != event) {
    named_ = event;
    names_.clear();
    for (TensorEvidence& e : extension_of(causes_.run(), event).input_evidence) names_.push_back(std::move(e.name));
  }
  return input < names_.size() ? names_[input] : std::string();
}

// " at model.cpp:52"; empty for what is not on record.
NANLENS_API std::string SentenceWriter::at_words(EventRef event) {
  const auto frame = reader::user_frame(stack_of(causes_.run(), event));
  const std::string place = frame ? short_place(*frame) : std::string();
  return place.empty() ? place : say(speech_, Saying::at, {{"place", place}});
}

// Which gradient the first bad tensor is, and what brought it into the parameters.
NANLENS_API std::string SentenceWriter::named_words(std::uint32_t number) {
  const HostNames names = host_names(causes_, number);
  std::string text;
  if (!names.root.empty()) text = say(speech_, Saying::it_is, {{"name", names.root}});
  if (names.parameter.empty() || names.parameter == names.root) return text;
  return text + say(speech_, Saying::brought_into,
                    {{"op", std::string(causes_.model().op_type(names.writer))},
                     {"at", at_words(names.writer)},
                     {"name", names.parameter}});
}

// The loss, or the number that is left, which is infinite because of a mask.
NANLENS_API std::string SentenceWriter::result_words(const Root& root) {
  const bool mask = root.event_class == EventClass::source || causes_.model().may_make_mask(root.event);
  const EventRef result = !mask || causes_.is_benign(root) ? EventRef{} : causes_.result_of(root);
  if (!result.exists() || result == root.event) return {};
  return say(speech_, Saying::ends_in,
             {{"op", std::string(causes_.model().op_type(result))},
              {"at", at_words(result)},
              {"kinds", detail::kinds_words(causes_.model().kinds(result), speech_)}});
}

// To how many other ranks it came, and by what first.
NANLENS_API std::string SentenceWriter::spread_words(std::uint32_t number) {
  const Exchanges& exchanges = causes_.model().calls().exchanges();
  const EventRef root = causes_.roots()[number].event;
  if (exchanges.empty() || !root.is_execution || !causes_.complete()) return {};
  const CauseGroup* const group = groups().find(number);
  std::vector<std::uint32_t> roots{number};  // and those of the same place, in the same process
  for (const std::uint32_t other : group != nullptr ? group->roots : std::vector<std::uint32_t>{})
    if (causes_.model().set_of(causes_.roots()[other].event) == causes_.model().set_of(root)) roots.push_back(other);
  const Spread spread = spread_of(causes_, roots);
  if (spread.ranks == 0) return {};
  return say(speech_, spread.at_once ? Saying::spread_at_once : Saying::spread_later,
             {{"op", std::string(causes_.model().op_type(spread.first))},
              {"at", at_words(spread.first)},
              {"ranks", detail::counted(speech_, Saying::other_ranks, static_cast<double>(spread.ranks))}});
}

NANLENS_API bool SentenceWriter::may_follow(const CauseGroup& group, std::uint32_t root) const {
  const Root& other = causes_.roots()[group.root];
  const Root& first = causes_.roots()[root];
  if (!causes_.comes_before(first, other)) return false;
  const bool computed = other.arrival.computed || other.event_class == EventClass::unknown;
  return computed || causes_.may_be_handed_on(other) || (other.arrival.piped && causes_.is_in_pipeline(first.event));
}

// Is it known that not every event is on record?
NANLENS_API bool SentenceWriter::recorded_in_part() const {
  const reader::Run& run = causes_.run();
  return run.left_out() != logdir::LeftOut{} || misses_events(run);
}

// How many bad tensors follow, without the full stop. `perhaps`: there are others that may.
NANLENS_API std::string SentenceWriter::reach_words(const Root& root, std::uint64_t reach, bool perhaps) {
  const std::uint64_t total = causes_.total();
  const bool in_part = recorded_in_part();
  const auto told = [&](Saying id) {
    return say(speech_, id,
               {{"n", detail::grouped(static_cast<double>(reach), speech_)},
                {"all", detail::grouped(static_cast<double>(total), speech_)},
                {"on_record", in_part ? say(speech_, Saying::on_record) : std::string()}});
  };
  if (reach == 1 && causes_.model().is_bad_complex(root.event)) return told(Saying::one_follows);  // it is not counted
  if (reach == total) return told(total == 1 ? Saying::the_only_one : Saying::all_follow);
  if (reach == 1) return told(perhaps ? Saying::one_of_some : in_part ? Saying::one_of_recorded : Saying::one_of_all);
  return told(Saying::some_follow);
}

// Other ops that failed on what the cause failed on, whose tensors its reach counts. One line in a loop is one op.
NANLENS_API std::string SentenceWriter::twin_words(std::uint32_t number) {
  using Named = std::pair<std::string, std::string>;
  const auto named = [&](EventRef e) { return Named(causes_.model().op_type(e), at_words(e)); };
  std::vector<Named> ops;
  for (const EventRef& event : causes_.failed_alike(number)) {
    if (ops.empty()) ops.push_back(named(causes_.roots()[number].event));
    Named op = named(event);
    if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(std::move(op));
  }
  if (ops.size() < 2) return {};
  const auto more = static_cast<double>(ops.size() - 2);
  return say(speech_, more == 0 ? Saying::counted_with : Saying::counted_with_more,
             {{"op", ops[1].first}, {"at", ops[1].second}, {"n", detail::grouped(more, speech_)}}, more);
}

NANLENS_API std::string SentenceWriter::consequence(std::uint32_t number) {
  const auto counted = [&](Saying id, std::uint64_t n) { return detail::counted(speech_, id, static_cast<double>(n)); };
  if (causes_.roots()[number].reach == 0) return {};
  if (!causes_.complete()) return counted(Saying::so_far, causes_.roots()[number].reach);
  const CauseGroup* const group = groups().find(number);
  const std::uint64_t reach = group != nullptr ? group->reach : causes_.roots()[number].reach;
  const std::uint64_t unknown = group != nullptr ? group->unknown_reach : 0;
  std::uint64_t others = 0;
  std::uint64_t perhaps = 0;
  bool is_open = unknown > 0;
  for (const CauseGroup& other : groups().list()) {
    if (&other == group) continue;
    if (may_follow(other, number))
      perhaps += other.reach;
    else
      ++others;
    is_open = is_open || causes_.may_lead_to(causes_.roots()[number], causes_.roots()[other.root]);
  }
  std::string text = reach_words(causes_.roots()[number], reach, is_open || perhaps > 0);
  text += twin_words(number);
  if (unknown > 0) text += counted(Saying::unknown_alike, unknown);
  if (perhaps > 0) text += counted(Saying::may_follow, perhaps);
  if (reach != causes_.total() && others > 0) text += counted(Saying::other_causes, others);
  return say(speech_, Saying::full_stop, {{"text", text}}) + times_words(number);
}

NANLENS_API std::string SentenceWriter::times_words(std::uint32_t number) {
  const CauseGroup* const group = causes_.complete() ? groups().find(number) : nullptr;
  if (group == nullptr || group->count < 2) return {};
  std::string times = detail::counted(speech_, Saying::times, static_cast<double>(group->count));
  if (recorded_in_part()) times = say(speech_, Saying::at_least, {{"times", times}});
  return say(speech_, group->root == number ? Saying::happened_first : Saying::happened, {{"times", times}});
}

}  // namespace nanlens::causes
