// `nanlens why` for people.

#include <nanlens/causes/near_miss.hpp>

#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "texts/speech.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using causes::Causes;
using causes::EventRef;
using causes::SentenceWriter;
using reader::none;
using report::short_function;
using report::with_separators;

std::string place_text(const reader::StackFrame& frame) {
  if (frame.line <= 0) return {};
  return frame.file_path + ":" + std::to_string(frame.line) +
         (frame.function.empty() ? "" : " in " + short_function(frame.function));
}

std::string where_text(Causes& causes, EventRef event) {
  const std::int32_t rank = causes.run().rank_of_set(causes.model().set_of(event));
  const std::string of_rank = rank < 0 ? "" : " of rank " + std::to_string(rank);
  if (event.is_execution) return "execution " + std::to_string(event.index) + of_rank;
  const auto& graphs = causes.model().graphs();
  const std::string graph(graphs.graph_name(graphs.graph_of(causes.run().trace_op(event.index))));
  return "row " + std::to_string(event.index) + of_rank + (graph.empty() ? "" : " in " + graph);
}

std::string values_text(Causes& causes, EventRef event) { return report::values_of(causes.run(), event); }

std::string event_text(Causes& causes, EventRef event) {
  return tensor_name(causes.model(), event) + " (" + where_text(causes, event) + ")";
}

std::string class_text(const causes::ChainLink& step) {
  std::string text = causes::class_words(step.event_class);
  if (const std::string doubt = causes::confidence_words(step.confidence); !doubt.empty()) text += ", " + doubt;
  if (const auto change = causes::change_words(step.change); !change.empty())
    text.append(": ∞ became NaN, ").append(change);
  return text;
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
      line("      … " + with_separators(steps.size() - head - tail) + " more");
      i = steps.size() - tail;
    }
    std::string text = "      " + event_text(causes, steps[i].event) + "  " + class_text(steps[i]);
    if (const auto frame = reader::user_frame(stack_of(causes.run(), steps[i].event)))
      text += "  " + SentenceWriter::short_place(*frame);
    line(text);
  }
}

void print_near_misses(Causes& causes, EventRef event, const char* indent) {
  for (const auto& miss : causes::near_misses(causes, event))
    line(std::string(indent) + "warning sign: " + causes::near_miss_words(miss));
}

// What an input held when the op had run.
void print_seen(const causes::InputEvidence& input) {
  constexpr const char* origins[] = {", not recorded before", "", ", part of what is recorded",
                                     ", a copy of what is recorded", ", changed since it was recorded"};
  const auto origin = static_cast<std::size_t>(input.origin);
  line("      input " + std::to_string(input.input) + (input.name.empty() ? "" : " (" + input.name + ")") +
       ", as it was then: " + report::describe_health(input.now) +
       (origin < std::size(origins) ? origins[origin] : ""));
}

void print_inputs(Causes& causes, const causes::Lineage& lineage) {
  for (const auto& input : lineage.classification.inputs) {
    if (input.seen) print_seen(input);
    if (!input.event.exists()) {
      if (input.state == causes::InputState::unknown)
        line("      input " + std::to_string(input.input) + ": not known (" +
             std::string(causes::reason_words(input.link.reason)) + ")");
      continue;
    }
    const EventRef origin = causes.origin(input.event);
    line("      input " + std::to_string(input.input) + ": " + event_text(causes, input.event) + "  " +
         values_text(causes, input.event));
    if (origin != input.event) line("        which is " + event_text(causes, origin));
    print_near_misses(causes, origin, "        ");
  }
}

// The instance before, when the same op was still fine: what changed is the best hint.
void print_last_healthy(Causes& causes, EventRef event) {
  const EventRef before = causes.last_healthy(event);
  if (!before.exists()) return;
  line("    The last time it was fine: " + event_text(causes, before) + "  " + values_text(causes, before));
  print_inputs(causes, causes.lineage(before));
}

void print_place(Causes& causes, const reader::StackFrame& frame) {
  const std::string place = place_text(frame);
  if (place.empty()) return;
  line("    at " + place);
  const auto text = reader::source_line(causes.run(), frame);
  const std::size_t start = text ? text->find_first_not_of(" \t") : std::string::npos;
  if (start != std::string::npos) line("      " + std::to_string(frame.line) + " | " + text->substr(start));
}

void print_root(SentenceWriter& writer, Causes& causes, std::uint32_t root) {
  const auto s = writer.sentence(root);
  const EventRef event = causes.roots()[root].event;
  line("  " + s.text);
  if (!s.consequence.empty()) line("  " + s.consequence);
  if (!s.remedy.empty()) line("  " + s.remedy);
  print_place(causes, s.place);
  line("    Evidence: " + event_text(causes, event) + "  " + values_text(causes, event));
  if (!s.where.empty()) line("      where: " + s.where);
  print_inputs(causes, causes.lineage(event));
  print_last_healthy(causes, event);
}

std::string muted_text(const report::MutedCauses& muted, std::uint32_t root) {
  const report::Mute* const mark = muted.by(root);
  return mark == nullptr ? "" : " [muted by " + mark->place() + ": " + mark->reason + "]";
}

void print_others(SentenceWriter& writer, Causes& causes, const report::MutedCauses& muted) {
  constexpr std::size_t shown = 8;
  const auto& groups = writer.groups().list();
  if (groups.size() > 1) line("  Other causes:");
  std::size_t told = 0;
  for (const causes::CauseGroup& group : groups) {
    if (group.root == muted.headline()) continue;
    if (++told > shown) break;
    const auto sentence = writer.sentence(group.root);
    std::string text = event_text(causes, causes.roots()[group.root].event) + ": " + sentence.text;
    if (!sentence.consequence.empty())
      text += " " + with_separators(group.reach) + (group.reach == 1 ? " bad tensor" : " bad tensors") +
              (group.count > 1 ? ", " + with_separators(group.count) + " times." : ".");
    line("    " + text + muted_text(muted, group.root));
  }
  if (groups.size() > shown + 1) line("    … and " + with_separators(groups.size() - shown - 1) + " more");
}

void print_expected(SentenceWriter& writer, Causes& causes, const report::MutedCauses& muted) {
  constexpr std::size_t shown = 8;
  const auto benign = causes.benign();
  for (std::size_t i = 0; i < std::min(benign.size(), shown); ++i)
    line("  Expected: " + writer.sentence(benign[i]).text + muted_text(muted, benign[i]));
  if (benign.size() > shown) line("    … and " + with_separators(benign.size() - shown) + " more");
}

void print_killers(Causes& causes) {
  constexpr std::size_t shown = 5;
  const auto killers = causes.killers();
  if (!killers.empty()) line("  Removed again by:");
  for (std::size_t i = 0; i < std::min(shown, killers.size()); ++i) {
    const auto& k = killers[i];
    const std::string name = k.op == none
                                 ? event_text(causes, k.event)
                                 : std::string(causes.model().graphs().op_name(k.op)) +
                                       (k.event.exists() ? " (" + where_text(causes, k.event) + ")" : " (integers)");
    line("    " + name + ", which got " + event_text(causes, k.removed) +
         (k.count > 1 ? "; " + with_separators(k.count) + " times" : ""));
  }
  if (killers.size() > shown) line("    … and " + with_separators(killers.size() - shown) + " more ops");
}

void print_limits(Causes& causes) {
  for (const std::string& reason : report::unfinished_words(causes.run()))
    line("  " + reason + "; the answer may miss a step.");
  if (const std::string left_out = report::left_out_words(causes.run()); !left_out.empty())
    line("  " + left_out + "; the answer may miss a step.");
  for (const causes::Limit limit : causes.model().limits_reached())
    line("  Not everything was looked at: " + causes::limit_words(limit) + ".");
  if (!causes.model().owners().matched())
    line("  Rows and calls can't be matched by time in this logdir; each row is judged by its graph alone.");
}

}  // namespace

std::string exceptions_text(std::uint32_t flags) {
  std::string text;
  for (const auto& [bit, name] : {std::pair{1U, "invalid"}, std::pair{2U, "divide by zero"}, std::pair{4U, "overflow"},
                                  std::pair{8U, "underflow"}})
    if ((flags & bit) != 0) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

void print_hidden(Causes& causes) {
  const auto& hidden = causes.run().hidden_exceptions();
  constexpr std::size_t shown = 5;
  if (!hidden.empty()) line("  Made and removed inside one op (floating-point exceptions, clean outputs):");
  for (std::size_t i = 0; i < std::min(shown, hidden.size()); ++i) {
    const EventRef event =
        hidden[i].is_execution ? causes::execution_event(hidden[i].event, 0) : causes::trace_event(hidden[i].event);
    std::string text = "    " + event_text(causes, event) + ": " + exceptions_text(hidden[i].fp_flags);
    const auto frame = reader::user_frame(stack_of(causes.run(), event));
    if (const std::string place = frame ? SentenceWriter::short_place(*frame) : ""; !place.empty())
      text += ", " + place;
    line(text);
  }
  if (hidden.size() > shown) line("    … and " + with_separators(hidden.size() - shown) + " more");
}

void print_event(Causes& causes, EventRef event) {
  const auto lineage = causes.lineage(event);
  line(event_text(causes, event) + "  " + values_text(causes, event));
  const std::string doubt = causes::confidence_words(lineage.classification.confidence);
  line("  " + std::string(causes::class_words(lineage.classification.event_class)) +
       (doubt.empty() ? "" : ", " + doubt));
  print_near_misses(causes, event, "  ");
  print_inputs(causes, lineage);
  if (lineage.root == none) return;
  line("  How it got there:");
  print_chain(causes, event);
  line("  Why:");
  SentenceWriter writer(causes, viewer::speech());
  print_root(writer, causes, lineage.root);
}

void print_headline(Causes& causes, report::Mutes& mutes) {
  SentenceWriter writer(causes, viewer::speech());
  const report::MutedCauses muted(writer, causes, mutes);
  const std::uint32_t headline = muted.headline();
  if (const std::string words = muted.words(); !words.empty()) line("  " + words + ".");
  if (headline != none) {
    print_root(writer, causes, headline);
    line("    What follows:");
    print_chain(causes, causes.roots()[headline].last);
    print_others(writer, causes, muted);
  }
  print_expected(writer, causes, muted);
  if (headline == none) return print_limits(causes);
  print_killers(causes);
  print_hidden(causes);
  print_limits(causes);
}

}  // namespace nanlens::cli
