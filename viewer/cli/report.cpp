#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include "commands.hpp"
#include "describe.hpp"
#include "open.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using reader::Run;

// Colours on a terminal only.
struct Style {
  bool on = ::isatty(STDOUT_FILENO) == 1;
  [[nodiscard]] std::string bold(const std::string& s) const { return on ? "\033[1m" + s + "\033[0m" : s; }
  [[nodiscard]] std::string bad(const std::string& s) const { return on ? "\033[1;35m" + s + "\033[0m" : s; }
  [[nodiscard]] std::string dim(const std::string& s) const { return on ? "\033[2m" + s + "\033[0m" : s; }
};

void line(const std::string& text = "") { std::printf("%s\n", text.c_str()); }

std::string time_text(double wall_time) {
  const auto seconds = static_cast<std::time_t>(wall_time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

std::string plural(std::uint64_t n, const std::string& what) {
  return with_separators(n) + " " + what + (n == 1 ? "" : "s");
}

void print_head(Run& run, const Style& style) {
  std::string hosts;
  for (const auto& host : run.hosts()) hosts += (hosts.empty() ? "" : ", ") + host;
  line(style.bold("Run " + (run.id().empty() ? std::string("without an id") : run.id())) + "  " +
       run.metadata().tensorflow_version + " on " + hosts + ", started " + time_text(run.starting_wall_time()));
  const auto& graphs = run.definitions().graphs();
  const auto declared = std::count_if(graphs.begin(), graphs.end(), [](const auto& g) { return g.declared; });
  line("  " + plural(run.num_executions(), "execution") + ", " + plural(run.num_traces(), "graph tensor") + ", " +
       plural(static_cast<std::uint64_t>(declared), "graph"));
  if (run.dropped() > 0) line(style.bad("  " + plural(run.dropped(), "event") + " could not be recorded"));
  if (run.clean_end() == false)
    line(style.dim("  The recording did not end in order: it is still running, or was killed."));
}

void print_alerts_by_op(Run& run, const Style& style) {
  struct Site {
    std::uint64_t count = 0;
    std::size_t first = 0;
    std::string where;
  };
  std::map<std::string, Site> sites;
  for (std::size_t i = 0; i < run.alerts().size(); ++i) {
    const auto& ref = run.alerts()[i];
    std::string key;
    std::string where;
    if (ref.is_execution) {
      const auto detail = run.execution(ref.event);
      key = detail ? detail->event.op_type : "?";
    } else {
      const auto& op = run.definitions().ops()[run.trace_op(ref.event)];
      key = run.definitions().text(op.name);
      where = run.definitions().text(run.definitions().graphs()[op.graph].name);
    }
    Site& site = sites[key + '\n' + where];
    if (site.count++ == 0) site.first = i;
    site.where = where;
  }
  std::vector<std::pair<std::string, Site>> order(sites.begin(), sites.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  line(style.bad("  " + plural(run.alerts().size(), "alert")) + " (NaN or ∞), by op, in order of appearance:");
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < std::min(order.size(), shown); ++i) {
    const auto& [key, site] = order[i];
    const std::string name = key.substr(0, key.find('\n'));
    std::printf("  %9s  %s%s\n", with_separators(site.count).c_str(), name.c_str(),
                site.where.empty() ? "" : ("  in " + site.where).c_str());
  }
  if (order.size() > shown) line("             … and " + plural(order.size() - shown, "further op"));
}

void print_inputs(Run& run, const reader::Alert& alert) {
  if (alert.trace == reader::none) return;
  const auto op = run.op(run.trace_op(alert.trace));
  if (!op) return;
  const auto rows = run.input_rows(alert.trace);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto& name = op->event.input_names[k];
    const auto detail = rows[k] == reader::none ? std::nullopt : run.trace(rows[k]);
    if (!detail)
      line("    input " + name + ": not on record");
    else
      line("    input " + name + " (row " + std::to_string(rows[k]) + ")  " +
           describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value));
  }
}

void print_place(Run& run, const reader::Alert& alert, const Style& style) {
  const auto frame = reader::user_frame(stack_of(run, alert));
  if (!frame) return line("    where it was made is not on record");
  line("    made at " + style.bold(frame->file_path + ":" + std::to_string(frame->line)) +
       (frame->function.empty() ? "" : " in " + short_function(frame->function)));
  if (const auto text = reader::source_line(run, *frame)) {
    const std::size_t start = text->find_first_not_of(" \t");
    if (start != std::string::npos) line("      " + std::to_string(frame->line) + " | " + text->substr(start));
  }
}

void print_first_bad(Run& run, const Style& style) {
  const auto alert = run.alert(run.alerts().front());
  if (!alert) return;
  line(style.bold("  First bad tensor"));
  if (alert->trace != reader::none) {
    const auto detail = run.trace(alert->trace);
    const auto graph = run.definitions().graphs()[run.definitions().ops()[run.trace_op(alert->trace)].graph];
    const std::string graph_name(run.definitions().text(graph.name));
    line("    " + style.bad(describe_tensor(*alert)) + " (" + alert->op_type + ") in graph " +
         (graph_name.empty() ? "(unnamed)" : graph_name) + ", row " + std::to_string(alert->trace) + "  " +
         (detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : ""));
  } else {
    line("    " + style.bad(describe_tensor(*alert)) + ", execution " + std::to_string(alert->execution) + "  " +
         describe_alert(alert->health));
  }
  print_inputs(run, *alert);
  print_place(run, *alert, style);
}

void print_diagnostics(Run& run, const Style& style) {
  const auto diagnostics = run.diagnostics();
  if (diagnostics.empty()) return;
  line(style.bold("  " + plural(diagnostics.size(), "thing") + " could not be read:"));
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(diagnostics.size(), shown); ++i)
    line("    " + diagnostics[i].file + " at byte " + std::to_string(diagnostics[i].offset) + ": " +
         diagnostics[i].message);
  if (diagnostics.size() > shown) line("    … `nanlens dump LOGDIR --what runs` lists all");
}

void print_why(causes::Causes& causes, const Style& style) {
  const auto headline = causes.headline();
  if (!headline) {
    for (const std::uint32_t root : causes.benign())
      line("  Expected: " + causes::SentenceWriter(causes).sentence(root).text);
    return;
  }
  const auto s = causes::SentenceWriter(causes).sentence(*headline);
  line(style.bold("  Why: ") + style.bad(s.text) + " " + s.consequence);
  line("  " + s.remedy + style.dim(" (`nanlens why` shows the chain and the evidence)"));
}

}  // namespace

int report(const std::string& path) {
  const auto logdir = open_logdir(path);
  const Style style;
  bool first = true;
  for (const auto& run : logdir->runs()) {
    if (!first) line();
    first = false;
    print_head(*run, style);
    if (run->alerts().empty()) {
      line("  No NaN or ∞ on record.");
    } else {
      const auto causes = find_causes(*run);
      print_why(*causes, style);
      print_first_bad(*run, style);
      print_alerts_by_op(*run, style);
    }
    print_diagnostics(*run, style);
  }
  return 0;
}

}  // namespace nanlens::cli
