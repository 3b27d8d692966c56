#include "why.hpp"

#include <cstdio>

#include <nanlens/causes/near_miss.hpp>

#include "commands.hpp"
#include "json.hpp"
#include "open.hpp"
#include "report/describe.hpp"

namespace nanlens::cli {

namespace {

using causes::Causes;
using causes::EventRef;
using causes::SentenceWriter;
using reader::none;
using report::describe_values;
using report::short_function;
using report::with_separators;

void line(const std::string& text) { std::printf("%s\n", text.c_str()); }

std::string place_text(const reader::StackFrame& frame) {
  if (frame.line <= 0) return {};
  return frame.file_path + ":" + std::to_string(frame.line) +
         (frame.function.empty() ? "" : " in " + short_function(frame.function));
}

std::string where_text(Causes& causes, EventRef event) {
  if (event.is_execution) return "execution " + std::to_string(event.index);
  const auto& graphs = causes.model().graphs();
  const std::string graph(graphs.graph_name(graphs.graph_of(causes.run().trace_op(event.index))));
  return "row " + std::to_string(event.index) + (graph.empty() ? "" : " in " + graph);
}

std::string values_text(Causes& causes, EventRef event) {
  if (!event.is_execution) {
    const auto detail = causes.run().trace(event.index);
    return detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : "";
  }
  const auto detail = causes.run().execution(event.index);
  if (!detail || event.slot >= detail->debug_tensor_values.size()) return "";
  return describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_values[event.slot]);
}

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

void print_inputs(Causes& causes, const causes::Lineage& lineage) {
  for (const auto& input : lineage.classification.inputs) {
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

void print_root(Causes& causes, std::uint32_t root) {
  const auto s = SentenceWriter(causes).sentence(root);
  const EventRef event = causes.roots()[root].event;
  line("  " + s.text);
  if (!s.consequence.empty()) line("  " + s.consequence);
  if (!s.remedy.empty()) line("  " + s.remedy);
  if (const std::string place = place_text(s.place); !place.empty()) {
    line("    at " + place);
    if (const auto text = reader::source_line(causes.run(), s.place)) {
      const std::size_t start = text->find_first_not_of(" \t");
      if (start != std::string::npos) line("      " + std::to_string(s.place.line) + " | " + text->substr(start));
    }
  }
  line("    Evidence: " + event_text(causes, event) + "  " + values_text(causes, event));
  print_inputs(causes, causes.lineage(event));
  print_last_healthy(causes, event);
}

void print_others(Causes& causes, std::uint32_t headline) {
  constexpr std::size_t shown = 8;
  std::size_t printed = 0;
  std::size_t left = 0;
  SentenceWriter writer(causes);
  for (const auto& incident : causes.incidents())
    for (const std::uint32_t root : incident.roots) {
      if (root == headline || causes.roots()[root].reach == 0) continue;
      if (printed == shown) {
        ++left;
        continue;
      }
      if (printed++ == 0) line("  Other causes:");
      line("    " + event_text(causes, causes.roots()[root].event) + ": " + writer.sentence(root).text + " " +
           with_separators(causes.roots()[root].reach) + " bad.");
    }
  if (left > 0) line("    … and " + with_separators(left) + " more");
  for (const std::uint32_t root : causes.benign()) line("  Expected: " + writer.sentence(root).text);
}

void print_killers(Causes& causes) {
  constexpr std::size_t shown = 5;
  const auto& killers = causes.killers();
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
    if (const auto frame = reader::user_frame(stack_of(causes.run(), event)))
      text += ", " + SentenceWriter::short_place(*frame);
    line(text);
  }
  if (hidden.size() > shown) line("    … and " + with_separators(hidden.size() - shown) + " more");
}

Json event_json(Causes& causes, EventRef event) {
  Json j{{"row", event.is_execution ? Json(nullptr) : Json(event.index)},
         {"execution", event.is_execution ? Json(event.index) : Json(nullptr)},
         {"output_slot", event.slot},
         {"tensor", text_or_null(tensor_name(causes.model(), event))},
         {"op_type", text_or_null(std::string(causes.model().op_type(event)))},
         {"class", causes::class_name(causes.event_class(event))}};
  if (!event.is_execution) {
    const std::uint32_t call = causes.model().owners().owner(event.index);
    if (call != none) j["execution"] = call;
    if (const auto digest = causes.run().trace_digest(event.index)) j["output_slot"] = digest->output_slot;
  }
  return j;
}

Json inputs_json(Causes& causes, const causes::Lineage& lineage) {
  Json list = Json::array();
  for (const auto& input : lineage.classification.inputs) {
    Json j{{"input", input.input},
           {"event", nullptr},
           {"bad", nullptr},
           {"confidence", number(static_cast<double>(input.link.confidence))},
           {"reason", text_or_null(std::string(causes::reason_words(input.link.reason)))}};
    if (input.event.exists()) {
      j["event"] = event_json(causes, input.event);
      j["bad"] = input.state == causes::InputState::bad;
    }
    list.push_back(std::move(j));
  }
  return list;
}

Json root_json(Causes& causes, std::uint32_t number_of_root) {
  const auto& root = causes.roots()[number_of_root];
  const auto s = SentenceWriter(causes).sentence(number_of_root);
  return {{"id", "rc." + s.id},
          {"sentence", s.text},
          {"consequence", s.consequence},
          {"remedy", s.remedy},
          {"arguments", s.arguments},
          {"class", causes::class_name(root.event_class)},
          {"confidence", number(static_cast<double>(root.confidence))},
          {"op_type", text_or_null(s.op_type)},
          {"op_name", text_or_null(s.op_name)},
          {"graph_id", text_or_null(s.graph_id)},
          {"path", text_or_null(s.place.file_path)},
          {"line", s.place.line},
          {"reach", root.reach},
          {"occurrences", root.occurrences},
          {"event", event_json(causes, root.event)},
          {"inputs", inputs_json(causes, causes.lineage(root.event))}};
}

Json chain_json(Causes& causes, EventRef event) {
  Json list = Json::array();
  for (const auto& step : causes.chain(event)) {
    Json j = event_json(causes, step.event);
    j["confidence"] = number(static_cast<double>(step.confidence));
    j["change"] = causes::change_words(step.change);
    if (const auto frame = reader::user_frame(stack_of(causes.run(), step.event))) {
      j["path"] = text_or_null(frame->file_path);
      j["line"] = frame->line;
    }
    list.push_back(std::move(j));
  }
  return list;
}

void print_json(Causes& causes, EventRef asked) {
  const auto headline = causes.headline();
  Json j{{"run_id", text_or_null(causes.run().id())},
         {"total", causes.total()},
         {"explained", causes.explained()},
         {"dropped", causes.run().dropped()},
         {"headline", headline ? root_json(causes, *headline) : Json(nullptr)},
         {"causes", Json::array()},
         {"expected", Json::array()},
         {"removed_by", Json::array()}};
  for (const auto& incident : causes.incidents())
    for (const std::uint32_t root : incident.roots)
      if (causes.roots()[root].reach > 0) j["causes"].push_back(root_json(causes, root));
  for (const std::uint32_t root : causes.benign()) j["expected"].push_back(root_json(causes, root));
  for (const auto& k : causes.killers())
    j["removed_by"].push_back(
        {{"op_name", k.op == none ? Json(nullptr) : text_or_null(std::string(causes.model().graphs().op_name(k.op)))},
         {"event", k.event.exists() ? event_json(causes, k.event) : Json(nullptr)},
         {"removed", event_json(causes, k.removed)},
         {"count", k.count}});
  const EventRef event = asked.exists() ? asked : headline ? causes.roots()[*headline].last : EventRef{};
  if (event.exists()) {
    j["event"] = event_json(causes, event);
    j["chain"] = chain_json(causes, event);
    j["inputs"] = inputs_json(causes, causes.lineage(event));
  }
  print_line(j);
}

EventRef asked_event(Causes& causes, const WhyOptions& options) {
  const auto check = [](std::int64_t index, std::size_t count, const char* what) {
    if (index >= 0 && static_cast<std::size_t>(index) >= count)
      throw Failure(std::string("there is no ") + what + " " + std::to_string(index) + ": the run has " +
                    std::to_string(count));
  };
  check(options.row, causes.run().num_traces(), "row");
  check(options.execution, causes.run().num_executions(), "execution");
  if (options.row >= 0) return causes::trace_event(static_cast<std::uint32_t>(options.row));
  if (options.execution < 0) return {};
  const auto execution = static_cast<std::uint32_t>(options.execution);
  if (options.output >= 0) return causes::execution_event(execution, static_cast<std::size_t>(options.output));
  for (std::size_t slot = 0; slot < causes.model().calls().outputs(execution).size(); ++slot)
    if (causes.model().bad(causes::execution_event(execution, slot))) return causes::execution_event(execution, slot);
  return causes::execution_event(execution, 0);
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
  print_root(causes, lineage.root);
}

void print_dropped(Causes& causes) {
  if (causes.run().dropped() > 0)
    line("  " + with_separators(causes.run().dropped()) +
         " events were dropped while recording; the answer may miss a step.");
  if (!causes.model().owners().matched())
    line("  Rows and calls can't be matched by time in this logdir; each row is judged by its graph alone.");
}

}  // namespace

std::unique_ptr<Causes> find_causes(reader::Run& run) {
  auto causes = std::make_unique<Causes>(run);
  constexpr std::size_t slice = 65536;
  while (!causes->advance(slice)) {
  }
  return causes;
}

std::string headline_text(Causes& causes) {
  const auto headline = causes.headline();
  if (!headline) return {};
  const auto s = SentenceWriter(causes).sentence(*headline);
  return s.text + (s.consequence.empty() ? "" : " " + s.consequence);
}

void print_headline(Causes& causes) {
  const auto headline = causes.headline();
  if (!headline) {
    for (const std::uint32_t root : causes.benign()) line("  Expected: " + SentenceWriter(causes).sentence(root).text);
    return;
  }
  print_root(causes, *headline);
  line("    What follows:");
  print_chain(causes, causes.roots()[*headline].last);
  print_others(causes, *headline);
  print_killers(causes);
  print_hidden(causes);
  print_dropped(causes);
}

int why(const WhyOptions& options) {
  const auto logdir = open_logdir(options.path);
  reader::Run& run =
      logdir->runs().size() == 1 || !options.run.empty() ? select_run(*logdir, options.run) : *logdir->runs().back();
  const auto causes = find_causes(run);
  const EventRef asked = asked_event(*causes, options);
  if (options.json) {
    print_json(*causes, asked);
  } else if (asked.exists()) {
    print_event(*causes, asked);
  } else if (causes->total() == 0) {
    const auto mode = causes->model().mode();
    if (mode == TensorDebugMode::no_tensor || mode == TensorDebugMode::shape)
      line("This run has no health data (mode " + std::string(debug_mode_name(mode)) + "): record with FULL_HEALTH.");
    else
      line("Nothing to explain: no NaN or ∞ on record.");
    print_hidden(*causes);
  } else {
    print_headline(*causes);
  }
  return 0;
}

}  // namespace nanlens::cli
