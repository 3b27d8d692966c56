#include "report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "describe.hpp"
#include "texts/fault_words.hpp"
#include "texts/speech.hpp"
#include "trapped.hpp"

namespace nanlens::report {

namespace {

using reader::Run;

using viewer::Text;
using viewer::tr;

/// Puts the page together, line by line.
class Page {
 public:
  Page(Run& run, const Style& style) : run_(run), style_(style) {}
  void head();
  bool trapped();
  void why(causes::Causes& causes);
  void first_bad(causes::Causes& causes);
  void alerts_by_op();
  void diagnostics();
  void line(const std::string& text) { out_.append(text).append("\n"); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void inputs(causes::Causes& causes, const reader::Alert& alert);
  void place(const reader::Alert& alert);

  Run& run_;
  const Style& style_;
  std::string out_;
};

void Page::head() {
  line(style_.bold(tr(Text::out_run, {{"run", run_name(run_)}})) + "  " + run_.metadata().tensorflow_version);
  const auto& graphs = run_.definitions().graphs();
  const auto declared = std::count_if(graphs.begin(), graphs.end(), [](const auto& g) { return g.declared; });
  line("  " + tr(Text::out_totals,
                 {{"executions", run_.num_executions()}, {"rows", run_.num_traces()}, {"graphs", declared}}));
  for (const std::string& reason : unfinished_words(run_)) line(style_.bad("  " + sentence_of(reason)));
  if (const std::string left_out = left_out_words(run_); !left_out.empty())
    line(style_.bad("  " + sentence_of(left_out)));
  if (const std::string ring = ring_words(run_); !ring.empty()) line("  " + sentence_of(ring));
  if (const std::string untrapped = untrapped_words(run_); !untrapped.empty())
    line(style_.bad("  " + sentence_of(untrapped)));
  for (const std::string& rule : rule_words(run_)) line(style_.bad("  " + sentence_of(rule)));
}

// Alerts of ops of one name in graphs of one name.
struct Site {
  std::string name;
  std::string graph;
  std::uint64_t count = 0;
  std::size_t first = 0;
};

// In order of appearance. Counted by op first: there may be millions of alerts, and names are made of few ops.
std::vector<Site> sites_of(const Run& run) {
  std::map<std::pair<bool, std::uint32_t>, Site> ops;
  const auto& alerts = run.alerts();
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    Site& site = ops[{alerts[i].is_execution, alerts[i].op}];
    if (site.count++ == 0) site.first = i;
  }
  std::map<std::pair<std::string, std::string>, Site> named;
  const auto& definitions = run.definitions();
  for (auto& [op, counted] : ops) {
    if (op.first) {
      counted.name = definitions.text(op.second);
    } else {
      counted.name = definitions.text(definitions.ops()[op.second].name);
      counted.graph = definitions.text(definitions.graphs()[definitions.ops()[op.second].graph].name);
    }
    const auto [found, is_new] = named.try_emplace({counted.name, counted.graph}, counted);
    if (is_new) continue;
    found->second.first = std::min(found->second.first, counted.first);
    found->second.count += counted.count;
  }
  std::vector<Site> sites;
  for (auto& [key, site] : named) sites.push_back(std::move(site));
  std::sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) { return a.first < b.first; });
  return sites;
}

void Page::alerts_by_op() {
  const std::vector<Site> sites = sites_of(run_);
  line(style_.bad("  " + tr(Text::out_alerts, {{"n", run_.alerts().size()}})));
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < std::min(sites.size(), shown); ++i) {
    const std::string count = with_separators(sites[i].count);
    constexpr std::size_t width = 11;
    const std::string name = sites[i].graph.empty()
                                 ? sites[i].name
                                 : tr(Text::out_op_in_graph, {{"op", sites[i].name}, {"graph", sites[i].graph}});
    line(std::string(width - std::min(width, count.size()), ' ') + count + "  " + name);
  }
  if (sites.size() > shown) line("             " + tr(Text::out_further_ops, {{"n", sites.size() - shown}}));
}

void Page::inputs(causes::Causes& causes, const reader::Alert& alert) {
  if (alert.trace == reader::none) return;
  const auto op = run_.op(run_.trace_op(alert.trace));
  if (!op) return;
  for (const auto& input : causes.lineage(causes::trace_event(alert.trace)).classification.inputs) {
    const auto& names = op->event.input_names;
    const std::string name = input.input < names.size() ? names[input.input] : std::string("0");
    if (!input.event.exists()) {
      line("    " + tr(Text::out_input_missing, {{"name", name}}));
      continue;
    }
    const Text id = input.event.is_execution ? Text::out_input_execution : Text::out_input_row;
    line("    " + tr(id, {{"name", name}, {"index", input.event.index}}) + "  " + values_of(run_, input.event));
  }
}

void Page::place(const reader::Alert& alert) {
  const auto frame = reader::user_frame(stack_of(run_, alert));
  if (!frame) return line(std::string("    ") + tr(Text::out_no_place));
  std::string where = style_.bold(frame->file_path + ":" + std::to_string(frame->line));
  if (const std::string function = short_function(frame->function); !function.empty())
    where = tr(Text::out_in_function, {{"place", where}, {"function", function}});
  line("    " + tr(Text::out_made_at, {{"place", where}}));
  if (const auto text = reader::source_line(run_, *frame)) {
    const std::size_t start = text->find_first_not_of(" \t");
    if (start != std::string::npos) line("      " + std::to_string(frame->line) + " | " + text->substr(start));
  }
}

void Page::first_bad(causes::Causes& causes) {
  const auto alert = run_.alert(run_.alerts().front());
  if (!alert) return;
  line(style_.bold(std::string("  ") + tr(Text::out_first_bad)));
  if (alert->trace != reader::none) {
    const auto detail = run_.trace(alert->trace);
    const auto graph = run_.definitions().graphs()[run_.definitions().ops()[run_.trace_op(alert->trace)].graph];
    const std::string graph_name(run_.definitions().text(graph.name));
    line("    " +
         tr(Text::out_bad_row, {{"tensor", style_.bad(describe_tensor(*alert))},
                                {"op", alert->op_type},
                                {"graph", graph_name.empty() ? tr(Text::graph_unnamed) : graph_name.c_str()},
                                {"row", alert->trace}}) +
         "  " + (detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : ""));
  } else {
    line("    " +
         tr(Text::out_bad_execution, {{"tensor", style_.bad(describe_tensor(*alert))}, {"index", alert->execution}}) +
         "  " + describe_alert(alert->health));
  }
  inputs(causes, *alert);
  place(*alert);
}

void Page::diagnostics() {
  const auto diagnostics = run_.diagnostics();
  if (diagnostics.empty()) return;
  line(style_.bold("  " + tr(Text::out_unreadable, {{"n", diagnostics.size()}})));
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(diagnostics.size(), shown); ++i)
    line("    " + tr(Text::out_at_byte, {{"file", diagnostics[i].file},
                                         {"offset", std::to_string(diagnostics[i].offset)},
                                         {"message", viewer::fault_words(diagnostics[i].what)}}));
  if (diagnostics.size() > shown) line(std::string("    ") + tr(Text::out_see_runs));
}

// What the program trapped itself, whatever marks say: they are the command's.
bool Page::trapped() {
  constexpr std::size_t shown = 5;
  Mutes none;
  const auto all = trapped_by_program(run_, none);
  for (std::size_t i = 0; i < std::min(all.size(), shown); ++i)
    line(style_.bad("  " + sentence_of(all[i].words())) + style_.dim(std::string(" ") + tr(Text::out_see_why)));
  if (all.size() > shown) line("    " + tr(Text::out_more, {{"n", all.size() - shown}}));
  return !all.empty();
}

void Page::why(causes::Causes& causes) {
  causes::SentenceWriter writer(causes, viewer::speech());
  const std::uint32_t headline = writer.groups().headline();
  constexpr std::size_t shown = 8;
  const auto& expected = writer.groups().expected();
  for (std::size_t i = 0; headline == reader::none && i < std::min(expected.size(), shown); ++i)
    line("  " + expected_words(writer, expected[i]));
  if (headline == reader::none) return;
  const auto s = writer.sentence(headline);
  line(style_.bold(std::string("  ") + tr(Text::out_why) + " ") + style_.bad(s.text) + " " + s.consequence);
  line("  " + s.remedy + style_.dim(std::string(" ") + tr(Text::out_see_why)));
}

}  // namespace

std::string run_report(Run& run, causes::Causes* causes, const Style& style) {
  Page page(run, style);
  page.head();
  const bool trapped = page.trapped();
  if (causes == nullptr && !trapped) {
    const bool whole = unfinished_words(run).empty() && left_out_words(run).empty();
    page.line(std::string("  ") + tr(tells_nothing(run) ? Text::out_untold
                                     : whole            ? Text::out_none
                                                        : Text::out_none_so_far));
  } else if (causes != nullptr) {
    page.why(*causes);
    page.first_bad(*causes);
    page.alerts_by_op();
  }
  page.diagnostics();
  return page.take();
}

}  // namespace nanlens::report
