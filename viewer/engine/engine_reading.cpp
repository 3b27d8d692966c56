// Reading what grows, and what is said of the runs.
#include <algorithm>
#include <utility>

#include <nanlens/causes/runs.hpp>

#include "engine.hpp"
#include "report/describe.hpp"
#include "report/mutes_files.hpp"
#include "selection.hpp"
#include "source.hpp"
#include "texts/fault_words.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

using Clock = std::chrono::steady_clock;

std::vector<reader::Run*> Engine::runs() const {
  std::vector<reader::Run*> all;
  for (const auto& opened : logdirs_)
    for (const auto& run : opened.logdir->runs()) all.push_back(run.get());
  return all;
}

// A number that a run keeps while runs before it appear.
std::uint64_t Engine::key_of(const reader::Run& run) {
  const auto known = std::find_if(keys_.begin(), keys_.end(), [&](const auto& entry) { return entry.first == &run; });
  if (known != keys_.end()) return known->second;
  keys_.emplace_back(&run, ++last_key_);
  return last_key_;
}

std::int32_t Engine::place_of_current() const {
  if (!current_) return -1;
  const auto all = runs();
  const auto at = std::find(all.begin(), all.end(), &current_->index.run());
  return at == all.end() ? -1 : static_cast<std::int32_t>(at - all.begin());
}

void Engine::open_run(reader::Run& run) {
  overview_.verdict = {};
  current_ = std::make_unique<OpenRun>(run);
  current_->index.refresh();
  current_->explain.speak(view_.tongue);
  current_->explain.set_mutes(mutes_);
  current_->alerts.set_expected(view_.alerts_expected);
  current_->rows.set(view_.filter, view_.only_bad);
  current_->rows.sort(view_.sort, view_.sort_descending);
  current_->rows.restart();
  current_->rows.grow(overview_.loading);
  current_->rules.set(rules_);
  current_->rules.set_draft(view_.rules);
  dirty_.all();
}

Engine::Progress Engine::update(Clock::time_point deadline) {
  Progress progress;
  for (const auto& opened : logdirs_) {
    std::uint64_t in_this = 0;
    const std::uint64_t before = progress.done;
    const bool changed = opened.logdir->update([&](std::uint64_t done, std::uint64_t total) {
      in_this = done;
      progress.total = std::max(progress.total, before + total);
      progress.stopped = Clock::now() >= deadline;
      return !progress.stopped;
    });
    progress.changed = progress.changed || changed;
    progress.done = before + in_this;
    if (progress.stopped) break;
  }
  return progress;
}

// Reads for as long as a slice lasts. Slices grow while nothing else is asked for, since each has a cost of its own.
void Engine::read_slice() {
  const Progress progress = update(Clock::now() + slice_);
  slice_ = std::min(slice_ * 2, std::chrono::milliseconds(160));
  // A look that found nothing is no news.
  const bool quiet = std::exchange(looking_, false) && !overview_.loading;
  if (quiet && !progress.changed && !progress.stopped) return;
  overview_.bytes_done = progress.done;
  overview_.bytes_total = std::max(progress.total, progress.done);
  overview_.loading = progress.stopped;
  const auto all = runs();
  if (place_of_current() < 0) current_.reset();  // it turned out to be a part of another run
  if (!current_ && !all.empty() && (!progress.stopped || all.size() == 1))
    open_run(*causes::by_importance(all).front());
  if (!progress.stopped && std::exchange(mutes_due_, false)) {
    read_mutes();
    read_rules();
  }
  const auto now = Clock::now();
  // While it goes on, panes are filled now and then: each time costs a pass over the index, and reads of what they
  // show.
  if (progress.changed && (!progress.stopped || now >= next_partial_)) {
    refresh();
    answer();
    constexpr int share = 12;
    next_partial_ =
        Clock::now() + std::max<Clock::duration>(std::chrono::milliseconds(700), share * (Clock::now() - now));
  }
  dirty_.overview = dirty_.overview || progress.changed || progress.stopped || !overview_.loading;
}

// Archives can be looked into only now that they are read.
void Engine::read_mutes() {
  report::Mutes mutes;
  for (const auto& opened : logdirs_)
    attempt([&] {
      reader::Storage& storage = opened.logdir->storage();
      if (find_mutes_)
        find_mutes_(storage, opened.path, mutes);
      else
        report::read_mutes_in(storage, {}, mutes);
    });
  mutes_ = std::move(mutes);
  dirty_.overview = dirty_.diagnostics = true;
  if (!current_) return;
  current_->explain.set_mutes(mutes_);
  if (current_->explain.complete()) explained();
}

void Engine::read_rules() {
  found_rules_.clear();
  for (const auto& opened : logdirs_)
    attempt([&] {
      reader::Storage& storage = opened.logdir->storage();
      for (report::RulesFile& file : find_rules_ ? find_rules_(storage, opened.path) : report::read_rules_in(storage))
        found_rules_.push_back({std::move(file.name), std::move(file.path), std::move(file.text)});
    });
  // The same file may go with several logdirs.
  for (std::size_t i = 0; i < found_rules_.size(); ++i)
    for (std::size_t k = found_rules_.size(); k-- > i + 1;)
      if (!found_rules_[k].path.empty() && found_rules_[k].path == found_rules_[i].path)
        found_rules_.erase(found_rules_.begin() + static_cast<std::ptrdiff_t>(k));
  dirty_.found_rules = true;
  SetRules found{found_rules_};
  apply(found);
}

void Engine::refresh() {
  if (!current_) return;
  current_->index.refresh();
  current_->explain.grow();
  current_->alerts.invalidate();
  current_->rows.grow(overview_.loading);
  current_->rules.grow();
  describe_again();
  dirty_.all();
}

// The last exception that the program trapped itself: it has mostly ended there.
Verdict Engine::trapped_verdict() {
  Verdict v;
  const report::TrappedByProgram* last = nullptr;
  for (const auto& one : current_->explain.trapped())
    if (one.mute == nullptr && (last == nullptr || one.last >= last->last)) last = &one;
  if (last == nullptr) return v;
  v.trapped = true;
  v.execution = last->last;
  v.op_type = last->op();
  v.path = last->place();
  v.line = last->frame ? last->frame->line : 0;
  return v;
}

Verdict Engine::verdict() {
  Verdict v;
  reader::Run& run = current_->index.run();
  if (run.alerts().empty()) return overview_.loading ? v : trapped_verdict();
  v.alert = 0;
  Select first;
  first.kind = IntentKind::alert;
  first.index = 0;
  std::string notice;
  const Focus focus = resolve(current_->index, current_->explain, current_->alerts, current_->steps, {}, first, notice);
  const Selection s = describe_selection(current_->index, current_->explain, current_->alerts, focus, 1);
  v.execution = focus.execution;
  v.trace = focus.trace;
  if (const auto alert = run.alert(run.alerts().front())) {
    v.op_type = alert->op_type;
    v.tensor = (focus.trace >= 0 ? alert->op_name : alert->op_type) + ":" + std::to_string(alert->output_slot);
  }
  if (focus.trace >= 0) {
    v.graph_name = s.neighbourhood.graph_name;
    for (const OpCard& card : s.neighbourhood.outputs)
      if (card.slot == focus.slot) v.badges = card.badges;
  } else if (focus.slot >= 0 && static_cast<std::size_t>(focus.slot) < s.card.outputs.size()) {
    v.badges = s.card.outputs[static_cast<std::size_t>(focus.slot)].badges;
  }
  const Frame* line = nullptr;
  for (const Frame& f : s.stack.frames)
    if (f.own) line = &f;
  if (line == nullptr && !s.stack.frames.empty()) line = &s.stack.frames.back();
  if (line != nullptr) {
    v.path = line->path;
    v.line = line->line;
    v.code = source_line_of(current_->index, line->host, line->path, line->line);
  }
  return v;
}

// Working the verdict out costs a pass over the rows: while a logdir is read, only a new first alert is worth it.
void Engine::refresh_verdict() {
  const auto& alerts = current_->index.run().alerts();
  const Verdict& v = overview_.verdict;
  const bool same = overview_.loading && v.alert >= 0 && !alerts.empty() &&
                    (alerts.front().is_execution ? v.trace < 0 && v.execution == alerts.front().event
                                                 : v.trace == alerts.front().event);
  if (!same) overview_.verdict = verdict();
}

RunInfo Engine::describe_run(reader::Run& run) {
  RunInfo info;
  info.key = key_of(run);
  info.run_id = run.id();
  info.version = run.metadata().tensorflow_version;
  info.start = run.starting_wall_time();
  info.num_executions = run.num_executions();
  info.num_traces = run.num_traces();
  info.num_alerts = run.alerts().size();
  info.num_graphs = run.definitions().graphs().size();
  info.num_ranks = num_ranks(run);
  info.num_bad_complex = run.bad_complex().size();
  if (info.num_bad_complex > 0) info.first_bad_complex = run.bad_complex().front();
  if (run.num_traces() > 0) {
    if (const auto trace = run.trace(0)) info.mode = trace->event.tensor_debug_mode;
  } else if (run.num_executions() > 0) {
    if (const auto execution = run.execution(0)) info.mode = execution->event.tensor_debug_mode;
  }
  return info;
}

// In the language of now.
std::string Engine::why_no_runs() const {
  std::string why;
  for (const auto& opened : logdirs_)
    if (const reader::Fault fault = opened.logdir->fault(); !fault.empty())
      why += (why.empty() ? "" : "\n") + opened.path + ": " + fault_words(fault);
  return why.empty() ? tr(Text::open_not_logdir) : why;
}

Overview Engine::overview() {
  overview_.runs.clear();
  for (reader::Run* const run : runs()) overview_.runs.push_back(describe_run(*run));
  overview_.run = place_of_current();
  overview_.open = !logdirs_.empty();
  if (overview_.open && overview_.runs.empty() && !overview_.loading && overview_.error == why_no_runs_)
    overview_.error = why_no_runs_ = why_no_runs();
  overview_.num_diagnostics = num_diagnostics();
  if (current_) {
    attempt([&] { refresh_verdict(); });
    current_->explain.fill(overview_.verdict);
    overview_.verdict.first_bad = first_bad_alert(current_->explain, current_->alerts);
    const std::int64_t cause = current_->explain.alert_of_cause();
    const bool shown = cause >= 0 && !current_->alerts.is_expected(static_cast<std::size_t>(cause));
    overview_.verdict.begins = shown ? cause : overview_.verdict.first_bad;
    overview_.memory_bytes = current_->index.run().index_bytes() + current_->index.ranks().memory_bytes() +
                             current_->explain.memory_bytes() + current_->rules.memory_bytes();
  }
  return overview_;
}

std::uint64_t Engine::num_diagnostics() {
  if (!current_) return faults_.size();
  reader::Run& run = current_->index.run();
  return faults_.size() + run.diagnostics().size() + current_->explain.mute_problems().size() +
         (report::left_out_words(run).empty() ? 0 : 1);
}

Diagnostics Engine::diagnostics() {
  Diagnostics all;
  all.list = faults_;
  if (!current_) return all;
  reader::Run& run = current_->index.run();
  if (const std::string left_out = report::left_out_words(run); !left_out.empty())
    all.list.push_back({"", 0, left_out});
  for (const auto& p : current_->explain.mute_problems())
    all.list.push_back({p.file + ":" + std::to_string(p.line), 0, p.message()});
  for (const auto& d : run.diagnostics()) all.list.push_back({d.file, d.offset, fault_words(d.what)});
  return all;
}

}  // namespace nanlens::viewer
