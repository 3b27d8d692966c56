#include "report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "describe.hpp"
#include "texts/speech.hpp"

namespace nanlens::report {

namespace {

using reader::Run;

std::string plural(std::uint64_t n, const std::string& what) {
  return with_separators(n) + " " + what + (n == 1 ? "" : "s");
}

/// Puts the page together, line by line.
class Page {
 public:
  Page(Run& run, const Style& style) : run_(run), style_(style) {}
  void head();
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
  line(style_.bold("Run " + run_name(run_)) + "  " + run_.metadata().tensorflow_version);
  const auto& graphs = run_.definitions().graphs();
  const auto declared = std::count_if(graphs.begin(), graphs.end(), [](const auto& g) { return g.declared; });
  line("  " + plural(run_.num_executions(), "execution") + ", " + plural(run_.num_traces(), "graph tensor") + ", " +
       plural(static_cast<std::uint64_t>(declared), "graph"));
  for (const std::string& reason : unfinished_words(run_)) line(style_.bad("  " + reason + "."));
  if (const std::string left_out = left_out_words(run_); !left_out.empty()) line(style_.bad("  " + left_out + "."));
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
  line(style_.bad("  " + plural(run_.alerts().size(), "alert")) + " (NaN or ∞), by op, in order of appearance:");
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < std::min(sites.size(), shown); ++i) {
    const std::string count = with_separators(sites[i].count);
    constexpr std::size_t width = 11;
    line(std::string(width - std::min(width, count.size()), ' ') + count + "  " + sites[i].name +
         (sites[i].graph.empty() ? "" : "  in " + sites[i].graph));
  }
  if (sites.size() > shown) line("             … and " + plural(sites.size() - shown, "further op"));
}

void Page::inputs(causes::Causes& causes, const reader::Alert& alert) {
  if (alert.trace == reader::none) return;
  const auto op = run_.op(run_.trace_op(alert.trace));
  if (!op) return;
  for (const auto& input : causes.lineage(causes::trace_event(alert.trace)).classification.inputs) {
    const auto& names = op->event.input_names;
    const std::string name = "    input " + (input.input < names.size() ? names[input.input] : std::string("0"));
    if (!input.event.exists()) {
      line(name + ": not on record");
      continue;
    }
    const std::string where = input.event.is_execution ? "execution " : "row ";
    line(name + " (" + where + std::to_string(input.event.index) + ")  " + values_of(run_, input.event));
  }
}

void Page::place(const reader::Alert& alert) {
  const auto frame = reader::user_frame(stack_of(run_, alert));
  if (!frame) return line("    where it was made is not on record");
  line("    made at " + style_.bold(frame->file_path + ":" + std::to_string(frame->line)) +
       (frame->function.empty() ? "" : " in " + short_function(frame->function)));
  if (const auto text = reader::source_line(run_, *frame)) {
    const std::size_t start = text->find_first_not_of(" \t");
    if (start != std::string::npos) line("      " + std::to_string(frame->line) + " | " + text->substr(start));
  }
}

void Page::first_bad(causes::Causes& causes) {
  const auto alert = run_.alert(run_.alerts().front());
  if (!alert) return;
  line(style_.bold("  First bad tensor"));
  if (alert->trace != reader::none) {
    const auto detail = run_.trace(alert->trace);
    const auto graph = run_.definitions().graphs()[run_.definitions().ops()[run_.trace_op(alert->trace)].graph];
    const std::string graph_name(run_.definitions().text(graph.name));
    line("    " + style_.bad(describe_tensor(*alert)) + " (" + alert->op_type + ") in graph " +
         (graph_name.empty() ? "(unnamed)" : graph_name) + ", row " + std::to_string(alert->trace) + "  " +
         (detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : ""));
  } else {
    line("    " + style_.bad(describe_tensor(*alert)) + ", execution " + std::to_string(alert->execution) + "  " +
         describe_alert(alert->health));
  }
  inputs(causes, *alert);
  place(*alert);
}

void Page::diagnostics() {
  const auto diagnostics = run_.diagnostics();
  if (diagnostics.empty()) return;
  line(style_.bold("  " + plural(diagnostics.size(), "thing") + " could not be read:"));
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(diagnostics.size(), shown); ++i)
    line("    " + diagnostics[i].file + " at byte " + std::to_string(diagnostics[i].offset) + ": " +
         diagnostics[i].message);
  if (diagnostics.size() > shown) line("    … `nanlens dump LOGDIR --what runs` lists all");
}

void Page::why(causes::Causes& causes) {
  causes::SentenceWriter writer(causes, viewer::speech());
  const std::uint32_t headline = writer.groups().headline();
  constexpr std::size_t shown = 8;
  const auto benign = causes.benign();
  for (std::size_t i = 0; headline == reader::none && i < std::min(benign.size(), shown); ++i)
    line("  Expected: " + writer.sentence(benign[i]).text);
  if (headline == reader::none) return;
  const auto s = writer.sentence(headline);
  line(style_.bold("  Why: ") + style_.bad(s.text) + " " + s.consequence);
  line("  " + s.remedy + style_.dim(" (`nanlens why` shows the chain and the evidence)"));
}

}  // namespace

std::string run_report(Run& run, causes::Causes* causes, const Style& style) {
  Page page(run, style);
  page.head();
  if (causes == nullptr) {
    page.line(unfinished_words(run).empty() && left_out_words(run).empty()
                  ? "  No NaN or ∞ on record."
                  : "  No NaN or ∞ in what is on record; more may have happened.");
  } else {
    page.why(*causes);
    page.first_bad(*causes);
    page.alerts_by_op();
  }
  page.diagnostics();
  return page.take();
}

}  // namespace nanlens::report
