// `nanlens why`: which run, which event.
#include "why.hpp"

#include <nanlens/causes/runs.hpp>

#include "commands.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::cli {

namespace {

using causes::Causes;
using causes::EventRef;
using viewer::Text;
using viewer::tr;

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

bool asks(const WhyOptions& options) { return options.row >= 0 || options.execution >= 0; }

// The runs to answer for: the one that was named, or every bad one, or the leading one where none is bad or an event is
// asked about.
std::vector<reader::Run*> runs_to_explain(const reader::Logdir& logdir, const WhyOptions& options) {
  if (!options.run.empty()) return {&select_run(logdir, options.run)};
  auto runs = runs_by_importance(logdir);
  std::size_t bad = 0;
  while (bad < runs.size() && !runs[bad]->alerts().empty()) ++bad;
  runs.resize(asks(options) || bad == 0 ? 1 : bad);
  return runs;
}

void print_nothing(Causes& causes, report::Mutes& mutes) {
  const auto mode = causes.model().mode();
  const bool trapped = print_trapped(causes, mutes);
  if (mode != TensorDebugMode::unspecified && !tells(mode, Told::health))
    line(tr(Text::out_no_health, {{"mode", debug_mode_name(mode)}}));
  else if (!trapped)
    line(tr(report::tells_nothing(causes.run()) ? Text::out_untold : Text::out_nothing));
  for (const std::string& reason : report::unfinished_words(causes.run())) line("  " + report::sentence_of(reason));
  if (const std::string left_out = report::left_out_words(causes.run()); !left_out.empty())
    line("  " + report::sentence_of(left_out));
  if (const std::string ring = report::ring_words(causes.run()); !ring.empty()) line("  " + report::sentence_of(ring));
  if (const std::string untrapped = report::untrapped_words(causes.run()); !untrapped.empty())
    line("  " + report::sentence_of(untrapped));
  for (const std::string& rule : report::rule_words(causes.run())) line("  " + report::sentence_of(rule));
  print_hidden(causes);
}

void print_run(Causes& causes, EventRef asked, report::Mutes& mutes) {
  if (asked.exists()) return print_event(causes, asked);
  if (causes.total() == 0) return print_nothing(causes, mutes);
  print_headline(causes, mutes);
}

// Marks that do nothing; where one event was asked about, no cause was compared with them.
void print_problems(const report::Mutes& mutes) {
  for (const auto& p : mutes.problems()) line(p.file + ":" + std::to_string(p.line) + ": " + p.message());
}

}  // namespace

std::unique_ptr<Causes> find_causes(reader::Run& run) {
  auto causes = std::make_unique<Causes>(run);
  constexpr std::size_t slice = 65536;
  while (!causes->advance(slice)) {
  }
  return causes;
}

std::vector<reader::Run*> runs_by_importance(const reader::Logdir& logdir) {
  std::vector<reader::Run*> runs;
  for (const auto& run : logdir.runs()) runs.push_back(run.get());
  return causes::by_importance(std::move(runs));
}

int why(const WhyOptions& options) {
  const auto logdir = open_logdir(options.path);
  const auto runs = runs_to_explain(*logdir, options);
  report::Mutes mutes = find_mutes(*logdir, options.path, options.mutes);
  Json answer;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto causes = find_causes(*runs[i]);
    const EventRef asked = asked_event(*causes, options);
    if (options.json) {
      if (i == 0)
        answer = why_json(*causes, asked, mutes);
      else
        answer["other_runs"].push_back(why_json(*causes, asked, mutes));
      continue;
    }
    if (i > 0) line("");
    if (logdir->runs().size() > 1) line(tr(Text::out_run, {{"run", report::run_name(*runs[i])}}) + ":");
    print_run(*causes, asked, mutes);
  }
  if (options.json) {
    answer["mute_problems"] = mute_problems_json(mutes);
    print_line(answer);
  }
  const std::size_t left = logdir->runs().size() - runs.size();
  if (!options.json && left > 0 && options.run.empty())
    line("\n" + tr(asks(options) ? Text::out_other_runs : Text::out_other_runs_clean, {{"n", left}}));
  if (!options.json && !asks(options)) print_problems(mutes);
  return 0;
}

}  // namespace nanlens::cli
