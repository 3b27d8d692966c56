#include "coverage.hpp"

#include <algorithm>
#include <cstdio>

#include "report/describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

void add_mode(std::vector<std::string>& modes, std::int32_t number) {
  const auto mode = static_cast<TensorDebugMode>(number);
  if (mode != TensorDebugMode::unspecified) add_once(modes, std::string(debug_mode_name(mode)));
}

// Every event tells its mode, in its record. So many of each kind are read, the first and the last among them.
void add_modes(reader::Run& run, std::vector<std::string>& modes) {
  constexpr std::size_t most = 64;
  const auto look = [most](std::size_t count, auto&& at) {
    const std::size_t looks = std::min(count, most);
    for (std::size_t i = 0; i < looks; ++i) at(looks == 1 ? 0 : i * (count - 1) / (looks - 1));
  };
  look(run.num_traces(), [&](std::size_t i) {
    if (const auto detail = run.trace(i)) add_mode(modes, detail->event.tensor_debug_mode);
  });
  look(run.num_executions(), [&](std::size_t i) {
    if (const auto detail = run.execution(i)) add_mode(modes, detail->event.tensor_debug_mode);
  });
}

void add_events(const reader::Run& run, Coverage& c) {
  std::vector<bool> seen(run.definitions().ops().size());
  for (std::size_t i = 0; i < run.num_traces(); ++i) {
    c.traces_checked += (run.trace_flags(i) & reader::has_summary_flag) != 0;
    if (run.trace_op(i) < seen.size()) seen[run.trace_op(i)] = true;
  }
  for (std::size_t i = 0; i < run.num_executions(); ++i)
    c.executions_checked += (run.execution_flags(i) & reader::has_summary_flag) != 0;
  c.traces += run.num_traces();
  c.executions += run.num_executions();
  c.graph_ops += seen.size();
  c.graph_ops_seen += static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), true));
}

void add_run(reader::Run& run, Coverage& c) {
  add_modes(run, c.modes);
  add_events(run, c);
  c.processes += run.num_sets();
  c.bad += run.alerts().size();
  c.bad_runs += !run.alerts().empty();
  c.unreadable += run.diagnostics().size();
  // nanlens' own recordings tell; where one did not end in order, what it counted is the least.
  if (run.clean_end() != true) c.all_losses_known = false;
  c.lost += run.dropped();
  for (const std::string& reason : report::unfinished_words(run)) add_once(c.unfinished, reason);
  add_once(c.left_out, report::left_out_words(run));
}

std::string looked_at(const Coverage& c) {
  std::string rows = tr(Text::cov_tensors, {{"n", c.traces_checked}, {"all", c.traces}});
  std::string calls = tr(Text::cov_calls, {{"n", c.executions_checked}, {"all", c.executions}});
  if (c.executions == 0) return rows;
  return c.traces == 0 ? calls : tr(Text::out_and, {{"one", rows}, {"other", calls}});
}

std::string joined(const std::vector<std::string>& list, const char* between) {
  std::string text;
  for (const std::string& part : list) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string size_words(std::uint64_t bytes) {
  if (bytes < 1000) return tr(Text::cov_bytes, {{"n", bytes}});
  const char* unit = "kB";
  double value = static_cast<double>(bytes) / 1e3;
  for (const char* const larger : {"MB", "GB", "TB"}) {
    if (value < 999.95) break;
    value /= 1e3;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, unit);
  std::string size = text;
  return size.replace(size.find('.'), 1, tr(Text::number_point));
}

std::string losses(const Coverage& c) {
  if (c.lost == 0) return tr(c.all_losses_known ? Text::cov_none_lost : Text::cov_lost_unknown);
  return tr(c.all_losses_known ? Text::cov_lost : Text::cov_lost_least, {{"n", c.lost}});
}

}  // namespace

Coverage coverage_of(const reader::Logdir& logdir) {
  Coverage c;
  c.runs = logdir.runs().size();
  for (const auto& run : logdir.runs()) add_run(*run, c);
  return c;
}

std::string coverage_line(const Coverage& c) {
  const std::string modes = c.modes.empty() ? tr(Text::cov_no_mode) : joined(c.modes, ", ");
  std::string text = tr(Text::cov_looked_at, {{"what", looked_at(c)}, {"modes", modes}});
  const auto add = [&text](const std::string& part) { text += "; " + part; };
  if (c.events() > c.checked()) add(tr(Text::cov_no_health, {{"n", c.events() - c.checked()}}));
  if (c.graph_ops > c.graph_ops_seen) add(tr(Text::cov_ops, {{"n", c.graph_ops_seen}, {"all", c.graph_ops}}));
  if (c.traps > 0) add(tr(Text::cov_native));
  add(losses(c));
  if (!c.left_out.empty()) add(tr(Text::cov_sampled));
  if (!c.unfinished.empty()) add(tr(Text::cov_incomplete));
  if (c.unreadable > 0) add(tr(Text::out_things_unreadable, {{"n", c.unreadable}}));
  if (c.bytes) add(size_words(*c.bytes));
  return text;
}

std::vector<CoverageDetail> coverage_details(const Coverage& c) {
  std::vector<CoverageDetail> details;
  const auto add = [&details](const char* about, Text title, const std::string& words) {
    details.push_back({about, tr(title), words});
  };
  add("runs", Text::about_runs, tr(Text::cov_runs, {{"runs", c.runs}, {"n", c.processes}}));
  add("mode", Text::about_mode, c.modes.empty() ? tr(Text::cov_not_on_record) : joined(c.modes, ", "));
  add("health of", Text::about_health, looked_at(c));
  if (c.events() > c.checked())
    add("no health", Text::about_no_health, tr(Text::cov_silent, {{"n", c.events() - c.checked()}}));
  if (c.graph_ops > 0)
    add("ops of graphs", Text::about_ops, tr(Text::cov_ops_seen, {{"n", c.graph_ops_seen}, {"all", c.graph_ops}}));
  if (c.traps > 0) add("native code", Text::about_native, tr(Text::cov_trapped));
  add("filters", Text::about_filters, tr(Text::cov_filters));
  add("lost", Text::about_lost, losses(c));
  for (const std::string& reason : c.unfinished) add("incomplete", Text::cov_incomplete, reason);
  for (const std::string& reason : c.left_out) add("left out", Text::about_left_out, reason);
  if (c.unreadable > 0) add("unreadable", Text::about_unreadable, tr(Text::cov_unreadable, {{"n", c.unreadable}}));
  if (c.causes_unknown > 0) add("can't tell", Text::about_unknown, tr(Text::cov_unknown, {{"n", c.causes_unknown}}));
  add("size", Text::about_size, c.bytes ? size_words(*c.bytes) : std::string(tr(Text::cov_size_unknown)));
  add("time", Text::about_time, tr(Text::cov_time));
  return details;
}

}  // namespace nanlens::findings
