#include "engine.hpp"

#include <algorithm>
#include <utility>

#include "search.hpp"
#include "selection.hpp"
#include "source.hpp"
#include "texts/texts.hpp"
#include "timeline.hpp"

namespace nanlens::viewer {

using Clock = std::chrono::steady_clock;

void Engine::handle(Request request) {
  if (request.serial != 0) {
    serial_ = request.serial;
    owes_status_ = true;
  }
  std::visit([this](auto& what) { apply(what); }, request.what);
}

std::vector<reader::Run*> Engine::runs() const {
  std::vector<reader::Run*> all;
  for (const auto& opened : logdirs_)
    for (const auto& run : opened.logdir->runs()) all.push_back(run.get());
  return all;
}

void Engine::apply(Close&) {
  current_.reset();
  logdirs_.clear();
  run_ = -1;
  const std::uint64_t generation = overview_.generation;
  overview_ = {};
  overview_.generation = generation;
  dirty_.all();
}

void Engine::apply(Open& request) {
  Close close;
  apply(close);
  overview_.generation = request.generation;
  for (const std::string& path : request.paths) {
    std::string why;
    auto storage = open_(path, why);
    if (storage == nullptr) {
      overview_.error += (overview_.error.empty() ? "" : "\n") + why;
      continue;
    }
    const std::string name =
        path.substr(path.find_last_of('/') == std::string::npos || path.back() == '/' ? 0 : path.find_last_of('/') + 1);
    overview_.name += (overview_.name.empty() ? "" : ", ") + name;
    logdirs_.push_back({path, std::make_unique<reader::Logdir>(std::move(storage))});
  }
  overview_.open = !logdirs_.empty();
  overview_.loading = overview_.open;
  next_partial_ = {};
}

void Engine::apply(SelectRun& request) {
  if (request.run >= 0 && static_cast<std::size_t>(request.run) < runs().size()) open_run(request.run);
}

void Engine::apply(Export& request) {
  if (current_) current_->exporting.emplace(request.what, request.csv);
}

void Engine::apply(Cancel&) {
  if (current_) current_->exporting.reset();
  if (!overview_.loading) return;
  overview_.loading = false;
  overview_.stopped = true;
  dirty_.overview = true;
}

void Engine::apply(Reload& request) {
  if (logdirs_.empty() || (request.quiet && (overview_.loading || overview_.stopped))) return;
  if (request.quiet) {
    looking_ = true;
    return;
  }
  overview_.stopped = false;
  overview_.loading = true;
  dirty_.overview = true;
}

void Engine::apply(Select& request) {
  if (!current_) return;
  std::string notice;
  describe(wished(request, notice));
  current_->selection.notice = notice;
  current_->selection.serial = serial_;
  current_->rows.set_roles({current_->selection.input_rows, current_->selection.consumer_rows});
  dirty_.selection = dirty_.rows = dirty_.alerts = true;
}

Focus Engine::wished(const Select& request, std::string& notice) {
  OpenRun& now = *current_;
  if (request.kind == IntentKind::cause_step) return step_chain(request.index, notice);
  if (request.kind != IntentKind::cause)
    return resolve(now.index, now.alerts, now.steps, now.selection, request, notice);
  Select to;
  to.kind = IntentKind::focus;
  to.focus = now.explain.cause_of(now.selection.focus);
  if (to.focus == Focus{}) {
    notice = tr(now.explain.complete() ? Text::no_cause : Text::no_cause_yet);
    return now.selection.focus;
  }
  return resolve(now.index, now.alerts, now.steps, now.selection, to, notice);
}

// Along the chain of the tensor where walking began: −1 towards the cause, +1 back; beyond its end to what it feeds.
Focus Engine::step_chain(std::int64_t direction, std::string& notice) {
  OpenRun& now = *current_;
  const auto same = [&](const Focus& f) {
    const Focus& focus = now.selection.focus;
    return f.trace == focus.trace && (f.trace >= 0 || (f.execution == focus.execution && focus.op_name.empty()));
  };
  auto at = std::find_if(now.walk.begin(), now.walk.end(), same);
  if (at == now.walk.end()) {
    now.walk.clear();
    for (const ChainStep& step : now.selection.chain) {
      Focus focus;
      focus.trace = step.trace;
      if (step.trace < 0) focus.execution = step.execution;
      if (step.trace < 0) focus.slot = step.slot;
      now.walk.push_back(focus);
    }
    at = std::find_if(now.walk.begin(), now.walk.end(), same);
  }
  Select to;
  to.kind = IntentKind::focus;
  if (direction < 0 && at != now.walk.end() && at != now.walk.begin()) {
    to.focus = *(at - 1);
  } else if (direction > 0 && at != now.walk.end() && at + 1 != now.walk.end()) {
    to.focus = *(at + 1);
  } else if (direction > 0) {
    for (const std::int64_t row : now.selection.consumer_rows)
      if (to.focus.trace < 0 && (now.index.run().trace_flags(static_cast<std::size_t>(row)) & reader::bad_flags) != 0)
        to.focus.trace = row;
  }
  if (to.focus == Focus{}) {
    notice = tr(now.selection.chain.empty() ? Text::no_chain : direction < 0 ? Text::chain_begins : Text::chain_ends);
    return now.selection.focus;
  }
  return resolve(now.index, now.alerts, now.steps, now.selection, to, notice);
}

void Engine::describe(const Focus& focus) {
  current_->selection = describe_selection(current_->index, current_->alerts, focus, view_.hops);
  current_->explain.fill(current_->selection);
}

// The analysis has come to its end: whatever shows classes or causes is answered anew.
void Engine::explained() {
  const std::uint64_t serial = current_->selection.serial;
  describe(current_->selection.focus);
  current_->selection.serial = serial;
  current_->alerts.invalidate();
  if (current_->rows.uses_classes()) current_->rows.restart();
  dirty_.all();
}

bool Engine::has_work() const {
  return overview_.loading ||
         (current_ && (!current_->rows.complete() || !current_->explain.complete() || current_->exporting));
}

void Engine::apply(View& request) {
  const View old = std::exchange(view_, std::move(request));
  const View& now = view_;
  if (now.tongue != old.tongue) {
    set_tongue(now.tongue);
    dirty_.all();
  }
  if (now.filter != old.filter || now.only_bad != old.only_bad) {
    if (current_) current_->rows.set(now.filter, now.only_bad);
    dirty_.rows = true;
  }
  if (current_ && current_->rows.sort(now.sort, now.sort_descending)) dirty_.rows = true;
  dirty_.rows = dirty_.rows || now.row_first != old.row_first || now.row_count != old.row_count ||
                now.minimap_cells != old.minimap_cells || now.pinned != old.pinned;
  dirty_.timeline = dirty_.timeline || now.time_mode != old.time_mode || now.timeline_begin != old.timeline_begin ||
                    now.timeline_end != old.timeline_end || now.timeline_columns != old.timeline_columns ||
                    now.overview_columns != old.overview_columns;
  dirty_.alerts = dirty_.alerts || now.alerts_by != old.alerts_by || now.alerts_folded != old.alerts_folded ||
                  now.alerts_expected != old.alerts_expected || now.alerts_first != old.alerts_first ||
                  now.alerts_count != old.alerts_count;
  dirty_.source = dirty_.source || now.source_path != old.source_path || now.source_host != old.source_host ||
                  now.beside_path != old.beside_path || now.beside_host != old.beside_host;
  dirty_.diagnostics = dirty_.diagnostics || (now.diagnostics && !old.diagnostics);
  dirty_.search = dirty_.search || now.search != old.search;
  if (current_) current_->alerts.set_expected(now.alerts_expected);
  if (current_) current_->rows.set_pinned(now.pinned);
  if (now.hops != old.hops && current_) {
    const std::uint64_t serial = current_->selection.serial;
    describe(current_->selection.focus);
    current_->selection.serial = serial;
    dirty_.selection = true;
  }
}

void Engine::open_run(std::int32_t run) {
  run_ = run;
  overview_.verdict = {};
  current_ = std::make_unique<OpenRun>(*runs()[static_cast<std::size_t>(run)]);
  current_->index.refresh();
  current_->alerts.set_expected(view_.alerts_expected);
  current_->rows.set(view_.filter, view_.only_bad);
  current_->rows.sort(view_.sort, view_.sort_descending);
  current_->rows.restart();
  dirty_.all();
}

// Reads for as long as a slice lasts. Slices grow while nothing else is asked for, since each has a cost of its own.
void Engine::read_slice() {
  const auto deadline = Clock::now() + slice_;
  slice_ = std::min(slice_ * 2, std::chrono::milliseconds(160));
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  bool stopped = false;
  bool changed = false;
  std::uint64_t before = 0;
  for (const auto& opened : logdirs_) {
    std::uint64_t in_this = 0;
    changed = opened.logdir->update([&](std::uint64_t d, std::uint64_t t) {
      in_this = d;
      total = std::max(total, before + t);
      stopped = Clock::now() >= deadline;
      return !stopped;
    }) || changed;
    before += in_this;
    done = before;
    if (stopped) break;
  }
  // A look that found nothing is no news.
  const bool quiet = std::exchange(looking_, false) && !overview_.loading;
  if (quiet && !changed && !stopped) return;
  overview_.bytes_done = done;
  overview_.bytes_total = std::max(total, done);
  overview_.loading = stopped;
  const auto all = runs();
  if (run_ < 0 && !all.empty() && (!stopped || all.size() == 1)) {
    // Of several runs, the latest that recorded anything.
    std::int32_t latest = static_cast<std::int32_t>(all.size()) - 1;
    for (std::int32_t i = latest; i >= 0; --i)
      if (all[static_cast<std::size_t>(i)]->num_executions() + all[static_cast<std::size_t>(i)]->num_traces() > 0) {
        latest = i;
        break;
      }
    open_run(latest);
  }
  const auto now = Clock::now();
  // While it goes on, panes are filled now and then: each time costs a pass over the index, and reads of what they
  // show.
  if (changed && (!stopped || now >= next_partial_)) {
    refresh();
    answer();
    constexpr int share = 12;
    next_partial_ =
        Clock::now() + std::max<Clock::duration>(std::chrono::milliseconds(700), share * (Clock::now() - now));
  }
  dirty_.overview = dirty_.overview || changed || stopped || !overview_.loading;
}

void Engine::refresh() {
  if (!current_) return;
  current_->index.refresh();
  current_->explain.grow();
  current_->alerts.invalidate();
  current_->rows.restart();
  const std::uint64_t serial = current_->selection.serial;
  describe(current_->selection.focus);
  current_->selection.serial = serial;
  dirty_.all();
}

bool Engine::step() {
  answer();
  const bool filtering = current_ && !current_->rows.complete();
  if (filtering) {
    current_->rows.step(Clock::now() + std::chrono::milliseconds(15));
    dirty_.rows = true;
  } else if (overview_.loading || looking_) {
    read_slice();
  } else if (current_ && !current_->explain.complete()) {
    if (!current_->explain.step(Clock::now() + std::chrono::milliseconds(20))) explained();
  } else if (current_ && current_->exporting) {
    OpenRun& now = *current_;
    replies_.emplace_back(
        now.exporting->what() == "report"
            ? whole_report(now.explain.report())
            : now.exporting->step(now.rows, now.alerts, Clock::now() + std::chrono::milliseconds(40)));
    if (std::get<Exported>(replies_.back()).complete) now.exporting.reset();
  } else {
    slice_ = std::chrono::milliseconds(20);
  }
  const bool more = has_work();
  if (!more) answer();
  return more;
}

void Engine::answer() {
  const Dirty dirty = std::exchange(dirty_, {});
  if (dirty.overview) send_overview();
  if (current_) {
    if (dirty.selection) {
      replies_.emplace_back(current_->selection);
      current_->selection.serial = 0;  // sent again, it is no longer the answer to a wish
    }
    if (dirty.rows) replies_.emplace_back(current_->rows.fill(view_, current_->selection.focus.trace));
    if (dirty.timeline) replies_.emplace_back(timeline_of(current_->index, view_));
    if (dirty.alerts) replies_.emplace_back(current_->alerts.fill(view_, current_->selection.alert));
    if (dirty.source && !view_.source_path.empty())
      replies_.emplace_back(source_of(current_->index, view_.source_host, view_.source_path));
    if (dirty.source && !view_.beside_path.empty())
      replies_.emplace_back(source_of(current_->index, view_.beside_host, view_.beside_path));
    if (dirty.explanation && current_->explain.complete()) replies_.emplace_back(current_->explain.explanation());
    if (dirty.search && !view_.search.empty()) replies_.emplace_back(search(current_->index, view_.search));
    if (dirty.diagnostics && view_.diagnostics) {
      Diagnostics faults;
      for (const auto& d : current_->index.run().diagnostics()) faults.list.push_back({d.file, d.offset, d.message});
      replies_.emplace_back(std::move(faults));
    }
  }
  const bool busy = has_work();
  if (replies_.empty() && !(owes_status_ && !busy)) return;
  replies_.emplace_back(Status{serial_, busy});
  owes_status_ = busy;
}

Verdict Engine::verdict() {
  Verdict v;
  reader::Run& run = current_->index.run();
  if (run.alerts().empty()) return v;
  v.alert = 0;
  Select first;
  first.kind = IntentKind::first_bad;
  std::string notice;
  const Focus focus = resolve(current_->index, current_->alerts, current_->steps, {}, first, notice);
  const Selection s = describe_selection(current_->index, current_->alerts, focus, 1);
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

void Engine::send_overview() {
  overview_.runs.clear();
  const auto all = runs();
  for (reader::Run* run : all) {
    RunInfo info;
    info.run_id = run->id();
    info.version = run->metadata().tensorflow_version;
    info.start = run->starting_wall_time();
    info.num_executions = run->num_executions();
    info.num_traces = run->num_traces();
    info.num_alerts = run->alerts().size();
    info.num_graphs = run->definitions().graphs().size();
    if (run->num_traces() > 0) {
      if (const auto trace = run->trace(0)) info.mode = trace->event.tensor_debug_mode;
    } else if (run->num_executions() > 0) {
      if (const auto execution = run->execution(0)) info.mode = execution->event.tensor_debug_mode;
    }
    overview_.runs.push_back(std::move(info));
  }
  overview_.run = run_;
  overview_.open = !logdirs_.empty();
  if (overview_.open && all.empty() && !overview_.loading) overview_.error = tr(Text::open_not_logdir);
  if (current_) {
    overview_.num_diagnostics = current_->index.run().diagnostics().size();
    refresh_verdict();
    current_->explain.fill(overview_.verdict);
    overview_.memory_bytes = current_->index.run().index_bytes() + current_->explain.memory_bytes();
  }
  replies_.emplace_back(overview_);
}

std::vector<Reply> Engine::take_replies() { return std::exchange(replies_, {}); }

}  // namespace nanlens::viewer
