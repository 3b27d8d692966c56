// Requests, slices of work and answers.
#include "engine.hpp"

#include <algorithm>
#include <utility>

#include "heat_map.hpp"
#include "report/npy.hpp"
#include "search.hpp"
#include "selection.hpp"
#include "source.hpp"
#include "texts/texts.hpp"
#include "timeline.hpp"

namespace nanlens::viewer {

using Clock = std::chrono::steady_clock;

void Engine::add_fault(const char* reason) {
  constexpr std::size_t most = 100;
  Fault fault{"", 0, tr(Text::engine_failed, {{"reason", reason}})};
  // The same again is told once, as the last.
  std::erase_if(faults_, [&](const Fault& other) { return other.message == fault.message; });
  if (faults_.size() == most) faults_.erase(faults_.begin());
  faults_.push_back(std::move(fault));
  dirty_.overview = dirty_.diagnostics = true;
}

void Engine::handle(Request request) {
  if (request.serial != 0) {
    serial_ = request.serial;
    owes_status_ = true;
  }
  attempt([&] { std::visit([this](auto& what) { apply(what); }, request.what); });
}

void Engine::apply(Close&) {
  current_.reset();
  logdirs_.clear();
  keys_.clear();
  faults_.clear();
  mutes_ = {};
  rules_.clear();
  found_rules_.clear();
  const std::uint64_t generation = overview_.generation;
  overview_ = {};
  why_no_runs_.clear();
  overview_.generation = generation;
  dirty_.all();
}

void Engine::apply(Open& request) {
  Close close;
  apply(close);
  overview_.generation = request.generation;
  for (const std::string& path : request.paths)
    if (!attempt([&] { open_path(path); })) overview_.error = faults_.back().message;
  overview_.open = !logdirs_.empty();
  overview_.loading = mutes_due_ = overview_.open;
  next_partial_ = {};
}

void Engine::open_path(const std::string& path) {
  std::string why;
  auto storage = open_(path, why);
  if (storage == nullptr) {
    overview_.error += (overview_.error.empty() ? "" : "\n") + why;
    return;
  }
  const std::size_t slash = path.find_last_of('/');
  const std::string name = path.substr(slash == std::string::npos || path.back() == '/' ? 0 : slash + 1);
  overview_.name += (overview_.name.empty() ? "" : ", ") + name;
  logdirs_.push_back({path, std::make_unique<reader::Logdir>(std::move(storage))});
}

void Engine::apply(SelectRun& request) {
  for (reader::Run* const run : runs())
    if (key_of(*run) == request.key) open_run(*run);
}

void Engine::apply(Export& request) {
  if (!current_) return;
  current_->exporting.reset();
  if (request.what == "values")
    replies_.emplace_back(whole_values(request.focus, request.values_of));
  else
    current_->exporting.emplace(request.what, request.csv);
}

void Engine::apply(SetRules& request) {
  rules_ = std::move(request.texts);
  dirty_.rules = dirty_.rows = dirty_.timeline = true;
  if (current_) current_->rules.set(rules_);
}

void Engine::apply(Cancel&) {
  if (current_) current_->exporting.reset();
  if (!overview_.loading) return;
  overview_.loading = false;
  overview_.stopped = true;
  dirty_.overview = true;
  refresh();
}

void Engine::apply(Reload& request) {
  if (logdirs_.empty() || (request.quiet && (overview_.loading || overview_.stopped))) return;
  if (request.quiet) {
    looking_ = true;
    return;
  }
  overview_.stopped = false;
  overview_.loading = mutes_due_ = true;
  dirty_.overview = true;
}

void Engine::apply(View& request) {
  const View old = std::exchange(view_, std::move(request));
  const View& now = view_;
  if (now.tongue != old.tongue) {
    set_tongue(now.tongue);
    dirty_.all();
  }
  note_changes(old);
  if (!current_) return;
  if (now.tongue != old.tongue) say_again();
  if (now.filter != old.filter || now.only_bad != old.only_bad) current_->rows.set(now.filter, now.only_bad);
  if (current_->rows.sort(now.sort, now.sort_descending)) dirty_.rows = true;
  current_->alerts.set_expected(now.alerts_expected);
  current_->rows.set_pinned(now.pinned);
  current_->rules.set_draft(now.rules);
  if (now.hops != old.hops) describe_again();
}

// In another language: what holds texts is made anew.
void Engine::say_again() {
  current_->explain.speak(view_.tongue);
  current_->alerts.invalidate();
  current_->rows.say_again();
  describe_again();
}

// Which answers depend on what is seen differently now?
void Engine::note_changes(const View& old) {
  const View& now = view_;
  dirty_.selection = dirty_.selection || (current_ && now.hops != old.hops);
  dirty_.rows = dirty_.rows || now.filter != old.filter || now.only_bad != old.only_bad ||
                now.row_first != old.row_first || now.row_count != old.row_count ||
                now.minimap_cells != old.minimap_cells || now.pinned != old.pinned;
  dirty_.timeline = dirty_.timeline || now.time_mode != old.time_mode || now.timeline_begin != old.timeline_begin ||
                    now.timeline_end != old.timeline_end || now.timeline_columns != old.timeline_columns ||
                    now.overview_columns != old.overview_columns || now.track_first != old.track_first ||
                    now.track_count != old.track_count;
  dirty_.alerts = dirty_.alerts || now.alerts_by != old.alerts_by || now.alerts_folded != old.alerts_folded ||
                  now.alerts_expected != old.alerts_expected || now.alerts_first != old.alerts_first ||
                  now.alerts_count != old.alerts_count;
  dirty_.source = dirty_.source || now.source_path != old.source_path || now.source_host != old.source_host ||
                  now.beside_path != old.beside_path || now.beside_host != old.beside_host;
  dirty_.diagnostics = dirty_.diagnostics || (now.diagnostics && !old.diagnostics);
  dirty_.search = dirty_.search || now.search != old.search;
  dirty_.rules = dirty_.rules || now.rules != old.rules;
  dirty_.values = dirty_.values || now.values_of != old.values_of || now.values_slice != old.values_slice;
}

bool Engine::step() {
  answer();
  const Work work = next_work();
  if (!attempt([&] { do_slice(work); })) attempt([&] { give_up(work); });
  const bool more = has_work();
  if (!more) answer();
  return more;
}

Engine::Work Engine::next_work() const {
  if (current_ && !current_->rows.complete()) return Work::filter;
  if (current_ && !current_->rules.draft_complete()) return Work::draft;
  if (overview_.loading || looking_) return Work::read;
  if (current_ && !current_->unexplained && !current_->explain.complete()) return Work::explain;
  if (current_ && !current_->rules.complete()) return Work::judge;
  if (current_ && current_->exporting) return Work::export_list;
  return Work::none;
}

bool Engine::has_work() const { return next_work() != Work::none; }

void Engine::do_slice(Work work) {
  switch (work) {
    case Work::filter:
      current_->rows.step(Clock::now() + std::chrono::milliseconds(15));
      dirty_.rows = true;
      break;
    case Work::read: read_slice(); break;
    case Work::explain:
      if (!current_->explain.step(Clock::now() + std::chrono::milliseconds(20))) explained();
      break;
    case Work::draft:
    case Work::judge: judge_slice(); break;
    case Work::export_list: export_slice(); break;
    default: slice_ = std::chrono::milliseconds(20); break;
  }
}

// It would throw again: what asked for it is dropped.
void Engine::give_up(Work work) {
  const std::string reason = faults_.back().message;
  switch (work) {
    case Work::filter: current_->rows.give_up(reason); break;
    case Work::read:
      looking_ = overview_.loading = false;
      overview_.stopped = true;
      if (!current_) overview_.error = reason;
      break;
    case Work::explain:
      current_->unexplained = true;
      current_->rules.unexplained();
      dirty_.rules = true;
      break;
    case Work::draft:
    case Work::judge:
      current_->rules.give_up(reason);
      dirty_.rules = true;
      break;
    case Work::export_list: current_->exporting.reset(); break;
    default: break;
  }
  dirty_.rows = true;
}

// What was found is told when it is all, and now and then before.
void Engine::judge_slice() {
  const bool more = current_->rules.step(Clock::now() + std::chrono::milliseconds(15));
  if (more && Clock::now() < next_rules_) return;
  next_rules_ = Clock::now() + std::chrono::milliseconds(200);
  dirty_.rules = true;
  if (!more && current_->rules.signs_due()) dirty_.rows = dirty_.timeline = true;
}

// With the rows at which rules hold in the minimap.
Rows Engine::rows() {
  current_->rows.set_signs(&current_->rules.signs());
  return current_->rows.fill(view_, current_->selection.focus);
}

Timeline Engine::timeline() {
  Timeline timeline = timeline_of(current_->index, view_);
  current_->rules.mark(timeline);
  return timeline;
}

void Engine::export_slice() {
  OpenRun& now = *current_;
  const std::string what = now.exporting->what();
  Exported part = what == "report"
                      ? whole_report(now.explain.report())
                      : now.exporting->step(now.rows, now.alerts, Clock::now() + std::chrono::milliseconds(40));
  if (part.complete) now.exporting.reset();
  replies_.emplace_back(std::move(part));
}

// The file is empty where the values are not on record. Another tensor may be selected by the time that it arrives.
Exported Engine::whole_values(const Focus& focus, std::int32_t values_of) {
  Exported part;
  part.what = "values";
  part.first = part.complete = true;
  const auto seen = seen_tensors(current_->index, focus);
  if (values_of < 0 || static_cast<std::size_t>(values_of) >= seen.size()) return part;
  part.of = tensor_in_name(focus, seen[static_cast<std::size_t>(values_of)].input);
  if (const auto tensor = stored_values(current_->index, focus, values_of)) {
    part.text = report::npy_file(*tensor);
    part.lines = part.total = 1;
  }
  return part;
}

HeatMap Engine::values() {
  const auto tensor = stored_values(current_->index, current_->selection.focus, view_.values_of);
  HeatMap map = tensor ? heat_map(*tensor, view_.values_slice) : HeatMap{};
  map.of = view_.values_of;
  return map;
}

void Engine::answer() {
  answer_topics(std::exchange(dirty_, {}));
  // What threw just now is told with the same batch; nothing is tried again.
  if (std::exchange(dirty_, {}).diagnostics) {
    attempt([&] { overview_.num_diagnostics = num_diagnostics(); });
    replies_.emplace_back(overview_);
    if (view_.diagnostics) attempt([&] { replies_.emplace_back(diagnostics()); });
    dirty_ = {};
  }
  const bool busy = has_work();
  if (replies_.empty() && !(owes_status_ && !busy)) return;
  replies_.emplace_back(Status{serial_, busy});
  owes_status_ = busy;
}

void Engine::answer_topics(const Dirty& dirty) {
  const auto reply = [&](bool wanted, auto&& make) {
    if (wanted) attempt([&] { replies_.emplace_back(make()); });
  };
  reply(dirty.overview, [&] { return overview(); });
  reply(dirty.diagnostics && view_.diagnostics, [&] { return diagnostics(); });
  if (!current_) return;
  OpenRun& now = *current_;
  reply(dirty.selection, [&] { return now.selection; });
  if (dirty.selection) now.selection.serial = 0;  // sent again, it is no longer the answer to a wish
  reply(dirty.rows, [&] { return rows(); });
  reply(dirty.found_rules, [&] { return FoundRules{found_rules_}; });
  reply(dirty.rules, [&] { return now.rules.fill(view_.rules); });
  reply(dirty.timeline, [&] { return timeline(); });
  reply(dirty.alerts, [&] { return now.alerts.fill(view_, now.selection.alert); });
  reply(dirty.source && !view_.source_path.empty(),
        [&] { return source_of(now.index, view_.source_host, view_.source_path); });
  reply(dirty.source && !view_.beside_path.empty(),
        [&] { return source_of(now.index, view_.beside_host, view_.beside_path); });
  reply(dirty.explanation && now.explain.complete(), [&] { return now.explain.explanation(); });
  reply(dirty.values && view_.values_of >= 0, [&] { return values(); });
  reply(dirty.search && !view_.search.empty(), [&] { return search(now.index, now.explain, now.eager, view_.search); });
}

std::vector<Reply> Engine::take_replies() { return std::exchange(replies_, {}); }

}  // namespace nanlens::viewer
