// `nanlens why` for people.
#include <algorithm>

#include <nanlens/causes/near_miss.hpp>

#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "report/trapped.hpp"
#include "texts/fault_words.hpp"
#include "texts/speech.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using causes::Causes;
using causes::EventRef;
using causes::SentenceWriter;
using reader::none;
using report::with_separators;
using viewer::speech;
using viewer::Text;
using viewer::tr;

std::string place_text(const reader::StackFrame& frame) {
  if (frame.line <= 0) return {};
  return report::describe_frame(frame);
}

std::string where_text(Causes& causes, EventRef event) {
  const std::int32_t rank = causes.run().rank_of_set(causes.model().set_of(event));
  std::string text = tr(event.is_execution ? Text::out_execution : Text::out_row, {{"index", event.index}});
  if (rank >= 0) text = tr(Text::out_of_rank, {{"event", text}, {"rank", rank}});
  if (event.is_execution) return text;
  const auto& graphs = causes.model().graphs();
  const std::string graph(graphs.graph_name(graphs.graph_of(causes.run().trace_op(event.index))));
  return graph.empty() ? text : tr(Text::out_event_in, {{"event", text}, {"graph", graph}});
}

std::string values_text(Causes& causes, EventRef event) { return report::values_of(causes.run(), event); }

std::string event_text(Causes& causes, EventRef event) {
  return tensor_name(causes.model(), event) + " (" + where_text(causes, event) + ")";
}

std::string class_text(const causes::ChainLink& step) {
  std::string text = causes::class_words(step.event_class, speech());
  if (const std::string doubt = causes::doubt_words(step.event_class, step.confidence, speech()); !doubt.empty())
    text += ", " + doubt;
  const auto change = causes::change_words(step.change, speech());
  return change.empty() ? text : tr(Text::out_became_nan, {{"text", text}, {"change", change}});
}

// Relays are the same tensor again: a chain is read without them.
void print_chain(Causes& causes, EventRef to) {
  constexpr std::size_t head = 8;
  constexpr std::size_t tail = 3;
  std::vector<causes::ChainLink> steps;
  for (const auto& step : causes.chain(to))
    if (step.event_class != causes::EventClass::relay || step.event == to) steps.push_back(step);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == head && steps.size() > head + tail + 1) {
      line("      " + tr(Text::out_more_steps, {{"n", steps.size() - head - tail}}));
      i = steps.size() - tail;
    }
    std::string text = "      " + event_text(causes, steps[i].event) + "  " + class_text(steps[i]);
    if (const auto frame = reader::user_frame(stack_of(causes.run(), steps[i].event)))
      text += "  " + report::line_or_function(*frame);
    line(text);
  }
}

void print_near_misses(Causes& causes, EventRef event, const char* indent) {
  for (const auto& miss : causes::near_misses(causes, event))
    line(indent + tr(Text::out_warning_sign, {{"text", causes::near_miss_words(miss, speech())}}));
}

std::string origin_text(causes::TensorOrigin origin) {
  using causes::TensorOrigin;
  switch (origin) {
    case TensorOrigin::not_recorded: return tr(Text::seen_not_recorded);
    case TensorOrigin::part: return tr(Text::seen_part);
    case TensorOrigin::copy: return tr(Text::seen_copy);
    case TensorOrigin::holds: return tr(Text::seen_holds);
    case TensorOrigin::changed: return tr(Text::out_changed);
    default: return {};
  }
}

// The counts of what was looked at; of a few elements the values, too.
std::string seen_text(const logdir::TensorEvidence& seen) {
  constexpr std::int64_t few = 16;  // as many as an instruction has operands
  std::string text = report::describe_health(causes::seen_health(seen));
  std::int64_t size = 1;
  for (const std::int64_t dim : seen.shape) size = dim < 0 || dim > few ? few + 1 : std::min(size * dim, few + 1);
  if (const std::string elements = report::elements_text(seen); size <= few && !elements.empty())
    text += " = " + elements;
  return text;
}

// What an input held when the op had run.
void print_seen(std::size_t index, const logdir::TensorEvidence& seen) {
  const std::string values = seen_text(seen);
  std::string text = tr(Text::out_input_then, {{"index", index}, {"values", values}});
  if (!seen.name.empty())
    text = tr(Text::out_named_input_then, {{"index", index}, {"name", seen.name}, {"values", values}});
  const std::string origin = origin_text(seen.origin);
  line("      " + text + (origin.empty() ? "" : ", " + origin));
}

void print_inputs(Causes& causes, EventRef event, const causes::Lineage& lineage) {
  const auto seen = causes::extension_of(causes.run(), event).input_evidence;
  for (const auto& input : lineage.classification.inputs) {
    if (input.seen && input.input < seen.size()) print_seen(input.input, seen[input.input]);
    if (!input.event.exists()) {
      if (input.shown_by.exists())
        line("      " +
             tr(Text::out_input_shown, {{"index", input.input}, {"event", event_text(causes, input.shown_by)}}));
      else if (input.state == causes::InputState::unknown)
        line("      " +
             tr(Text::out_input_unknown,
                {{"index", input.input},
                 {"reason", causes::reason_words(input.link.reason, causes.model().owners().native(), speech())}}));
      continue;
    }
    const EventRef origin = causes.origin(input.event);
    line("      " + tr(Text::out_input_event, {{"index", input.input}, {"event", event_text(causes, input.event)}}) +
         "  " + values_text(causes, input.event));
    if (origin != input.event) line("        " + tr(Text::out_which_is, {{"event", event_text(causes, origin)}}));
    print_near_misses(causes, origin, "        ");
  }
}

// The instance before, when the same op was still fine: what changed is the best hint.
void print_last_healthy(Causes& causes, EventRef event) {
  const EventRef before = causes.last_healthy(event);
  if (!before.exists()) return;
  line("    " + tr(Text::out_last_fine, {{"event", event_text(causes, before)}}) + "  " + values_text(causes, before));
  print_inputs(causes, before, causes.lineage(before));
}

void print_place(Causes& causes, const reader::StackFrame& frame, Text words, const std::string& indent = "    ") {
  const std::string place = place_text(frame);
  if (place.empty()) return;
  line(indent + tr(words, {{"place", place}}));
  const auto text = reader::source_line(causes.run(), frame);
  const std::size_t start = text ? text->find_first_not_of(" \t") : std::string::npos;
  if (start != std::string::npos) line(indent + "  " + std::to_string(frame.line) + " | " + text->substr(start));
}

void print_root(SentenceWriter& writer, Causes& causes, std::uint32_t root) {
  const auto s = writer.sentence(root);
  const EventRef event = causes.roots()[root].event;
  line("  " + s.text);
  if (!s.consequence.empty()) line("  " + s.consequence);
  if (!s.remedy.empty()) line("  " + s.remedy);
  print_place(causes, s.place, Text::out_at);
  print_place(causes, s.inside, Text::out_inside);
  print_place(causes, s.gradient_of, Text::out_gradient_of);
  line("    " + tr(Text::out_evidence, {{"event", event_text(causes, event)}}) + "  " + values_text(causes, event));
  if (!s.where.empty()) line("      " + tr(Text::out_where, {{"text", s.where}}));
  print_inputs(causes, event, causes.lineage(event));
  print_last_healthy(causes, event);
}

std::string muted_text(const report::MutedCauses& muted, std::uint32_t root) {
  const report::Mute* const mark = muted.by(root);
  return mark == nullptr ? "" : " " + tr(Text::out_muted_by, {{"place", mark->place()}, {"reason", mark->reason}});
}

std::string cause_text(SentenceWriter& writer, Causes& causes, const causes::CauseGroup& group) {
  const auto sentence = writer.sentence(group.root);
  std::string text = event_text(causes, causes.roots()[group.root].event) + ": " + sentence.text;
  if (sentence.consequence.empty()) return text;
  return text + " " +
         (group.count > 1 ? tr(Text::out_reach_times, {{"n", group.reach}, {"times", group.count}})
                          : tr(Text::out_reach, {{"n", group.reach}}));
}

// Those that perhaps follow from the headline, or all others.
void print_others(SentenceWriter& writer, Causes& causes, const report::MutedCauses& muted, bool may_follow) {
  constexpr std::size_t shown = 8;
  std::vector<const causes::CauseGroup*> others;
  for (const causes::CauseGroup& group : writer.groups().list())
    if (group.root != muted.headline() && writer.may_follow(group, muted.headline()) == may_follow)
      others.push_back(&group);
  if (others.empty()) return;
  line(std::string("  ") + tr(may_follow ? Text::out_came_in_later : Text::out_other_causes));
  for (const causes::CauseGroup* const group : causes::shortened(others, shown))
    line("    " + cause_text(writer, causes, *group) + muted_text(muted, group->root));
  if (others.size() > shown) line("    " + tr(Text::out_more, {{"n", others.size() - shown}}));
}

void print_expected(SentenceWriter& writer, const report::MutedCauses& muted) {
  constexpr std::size_t shown = 8;
  const auto& groups = writer.groups().expected();
  for (std::size_t i = 0; i < std::min(groups.size(), shown); ++i)
    line("  " + report::expected_words(writer, groups[i]) + muted_text(muted, groups[i].root));
  if (groups.size() > shown) line("    " + tr(Text::out_more, {{"n", groups.size() - shown}}));
}

std::string killer_text(Causes& causes, const causes::KillerSite& k) {
  if (k.op == none) return event_text(causes, k.event);
  const std::string op(causes.model().graphs().op_name(k.op));
  return k.event.exists() ? op + " (" + where_text(causes, k.event) + ")" : tr(Text::out_integers, {{"op", op}});
}

void print_killers(Causes& causes) {
  constexpr std::size_t shown = 5;
  const auto killers = causes.killers();
  if (!killers.empty()) line(std::string("  ") + tr(Text::out_removed_by));
  for (std::size_t i = 0; i < std::min(shown, killers.size()); ++i) {
    const auto& k = killers[i];
    const std::string name = killer_text(causes, k);
    const std::string removed = event_text(causes, k.removed);
    line("    " + (k.count > 1 ? tr(Text::out_got_times, {{"op", name}, {"event", removed}, {"n", k.count}})
                               : tr(Text::out_got, {{"op", name}, {"event", removed}})));
  }
  if (killers.size() > shown) line("    " + tr(Text::out_more_ops, {{"n", killers.size() - shown}}));
}

void print_limits(Causes& causes) {
  for (const std::string& rule : report::rule_words(causes.run())) line("  " + rule + ".");
  for (const std::string& reason : report::unfinished_words(causes.run()))
    line("  " + tr(Text::out_may_miss, {{"reason", reason}}));
  if (const std::string left_out = report::left_out_words(causes.run()); !left_out.empty())
    line("  " + tr(Text::out_may_miss, {{"reason", left_out}}));
  if (const std::string ring = report::ring_words(causes.run()); !ring.empty()) line("  " + report::sentence_of(ring));
  if (const std::string untrapped = report::untrapped_words(causes.run()); !untrapped.empty())
    line("  " + report::sentence_of(untrapped));
  for (const causes::Limit limit : causes.model().limits_reached())
    line("  " + tr(Text::out_limited, {{"limit", viewer::fault_words(causes::fault_of(limit))}}));
  if (!causes.model().owners().matched()) line(std::string("  ") + tr(Text::out_unmatched));
}

// "sqrt:0 (execution 3): invalid, at scan.cpp:12"
std::string hidden_text(Causes& causes, const reader::HiddenException& hidden) {
  const EventRef event =
      hidden.is_execution ? causes::execution_event(hidden.event, 0) : causes::trace_event(hidden.event);
  const auto extension = causes::extension_of(causes.run(), event);
  const bool is_instruction = extension.hits > 0;  // whose name is what it did
  std::string text =
      event_text(causes, event) + ": " + (is_instruction ? extension.op_name : exceptions_text(hidden.fp_flags));
  const auto frame = reader::user_frame(stack_of(causes.run(), event));
  if (const std::string place = frame ? report::line_or_function(*frame) : ""; !place.empty()) text += ", " + place;
  return text;
}

}  // namespace

std::string exceptions_text(std::uint32_t flags) {
  std::string text;
  for (const auto& [bit, name] : {std::pair{1U, "invalid"}, std::pair{2U, "divide by zero"}, std::pair{4U, "overflow"},
                                  std::pair{8U, "underflow"}})
    if ((flags & bit) != 0) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

bool print_trapped(Causes& causes, report::Mutes& mutes) {
  constexpr std::size_t shown = 5;
  const auto all = report::trapped_by_program(causes.run(), mutes);
  if (!all.empty()) line(std::string("  ") + tr(Text::out_taken));
  for (std::size_t i = 0; i < std::min(all.size(), shown); ++i) {
    const report::TrappedByProgram& trapped = all[i];
    std::string text = event_text(causes, causes::execution_event(trapped.execution, 0)) + ": " + trapped.what;
    if (const std::string place = trapped.place(); !place.empty()) text += ", " + place;
    if (trapped.mute != nullptr)
      text += " " + tr(Text::out_muted_by, {{"place", trapped.mute->place()}, {"reason", trapped.mute->reason}});
    line("    " + text);
    if (trapped.frame) print_place(causes, *trapped.frame, Text::out_at, "      ");
    for (std::size_t k = 0; k < trapped.operands.size(); ++k) print_seen(k, trapped.operands[k]);
  }
  if (all.size() > shown) line("    " + tr(Text::out_more, {{"n", all.size() - shown}}));
  return !all.empty();
}

void print_hidden(Causes& causes) {
  constexpr std::size_t shown = 5;
  for (const bool unknown : {false, true}) {
    std::size_t hidden = 0;
    for (const reader::HiddenException& exception : causes.run().hidden_exceptions()) {
      if (exception.taken_by_program() || exception.result_unknown() != unknown) continue;
      if (hidden == 0) line(std::string("  ") + tr(unknown ? Text::out_hidden_unknown : Text::out_hidden));
      if (++hidden <= shown) line("    " + hidden_text(causes, exception));
    }
    if (hidden > shown) line("    " + tr(Text::out_more, {{"n", hidden - shown}}));
  }
}

void print_event(Causes& causes, EventRef event) {
  const auto lineage = causes.lineage(event);
  line(event_text(causes, event) + "  " + values_text(causes, event));
  const causes::EventClass what = lineage.classification.event_class;
  const std::string doubt = causes::doubt_words(what, lineage.classification.confidence, speech());
  line("  " + std::string(causes::class_words(what, speech())) + (doubt.empty() ? "" : ", " + doubt));
  print_near_misses(causes, event, "  ");
  print_inputs(causes, event, lineage);
  if (lineage.root == none) return;
  line(std::string("  ") + tr(Text::out_how));
  print_chain(causes, event);
  line(std::string("  ") + tr(Text::out_why));
  SentenceWriter writer(causes, viewer::speech());
  print_root(writer, causes, lineage.root);
}

void print_headline(Causes& causes, report::Mutes& mutes) {
  SentenceWriter writer(causes, viewer::speech());
  const report::MutedCauses muted(writer, causes, mutes);
  const std::uint32_t headline = muted.headline();
  if (const std::string words = muted.words(); !words.empty()) line("  " + report::sentence_of(words));
  if (headline != none) {
    print_root(writer, causes, headline);
    line(std::string("    ") + tr(Text::out_follows));
    print_chain(causes, causes.roots()[headline].last);
    print_others(writer, causes, muted, false);
    print_others(writer, causes, muted, true);
  }
  print_expected(writer, muted);
  print_trapped(causes, mutes);
  if (headline == none) return print_limits(causes);
  print_killers(causes);
  print_hidden(causes);
  print_limits(causes);
}

}  // namespace nanlens::cli
