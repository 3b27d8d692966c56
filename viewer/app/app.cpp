#include "app/app.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <nanlens/query/query.hpp>

#include "engine/time_axis.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

App::App(Platform p) : platform(std::move(p)) {
  // Seconds: what systems use. ImGui's 0.3 is too short where frames are slow.
  ImGui::GetIO().MouseDoubleClickTime = 0.5F;
  ImGui::GetIO().MouseSingleClickDelay = 0.6F;  // must be longer
  // What is pressed is what was under the mouse a frame before. A press that comes at once with the move to its place
  // (a tap, a remote desktop, a program) must wait for that frame, and ImGui lets only touch screens wait.
  ImGui::GetIO().AddMouseSourceEvent(ImGuiMouseSource_TouchScreen);
  apply_theme();
}

void App::send(decltype(Request::what) what) {
  if (platform.send) platform.send({++serial_, std::move(what)});
}

void App::prepare_open() {
  overview = {};
  overview.loading = true;
  forget_run();
  rules_pane = {};
  found_rules_.reset();
  source_pane.tabs.clear();
  given_sources_.clear();
  history_.clear();
  history_at_ = 0;
  ++generation_;
  load_started_ = now;
  wake();
}

void App::open(std::vector<std::string> paths) {
  prepare_open();
  send(Open{std::move(paths), generation_});
  send(view);  // the page's worker is a new one, which has not seen it
}

// Everything that was answered about a run, when another one takes its place.
void App::forget_run() {
  selection = {};
  mute_pane = {};
  values_pane = {};
  heat_map = {};
  rows = {};
  timeline = {};
  alerts = {};
  source = {};
  source_beside = {};
  source_pane.two = false;
  diagnostics = {};
  explanation = {};
  rules = {};
  exporting.clear();
  stack_pane.frame = -1;
  timeline_pane.fitted = false;
  timeline_pane.track_first = 0;
  rows_pane.first = alerts_pane.first = 0;
  rows_pane.pins.clear();
  rows_pane.range_begin = rows_pane.range_end = rows_pane.wanted = -1;
  rows_pane.tail = rows_pane.settled = false;
  first_bad_done_ = all_eager_ = false;
  begun_with_ = -1;
  user_selected_ = false;
  linked_row_ = -1;
}

void App::select(Select wish, bool in_history) {
  wishes_in_history_ = in_history;
  user_selected_ = chosen_by_user_ = true;
  rows_pane.range_begin = rows_pane.range_end = rows_pane.wanted = -1;
  rows_pane.tail = false;
  alert_wish_ = alert_end = 0;
  send(std::move(wish));
  last_select_ = serial_;
}

void App::toast(std::string text) { toast(std::move(text), {}, {}); }

void App::toast(std::string text, std::string undo, Json arguments) {
  toasts.push_back({std::move(text), now + toast_seconds, std::move(undo), std::move(arguments)});
  if (toasts.size() > 3) toasts.erase(toasts.begin());
  wake();
}

float App::row_height() const {
  constexpr float finger_row = 30;
  return touch ? std::max(rows_pane.row_height, finger_row) : rows_pane.row_height;
}

bool App::source_is_given() const {
  const Tab* const shown = tab();
  return shown != nullptr && source.path == shown->path && !source.lines.empty() &&
         given_sources_.contains(shown->path);
}

bool App::wants_source(const std::string& name) const {
  const Tab* const shown = tab();
  return shown != nullptr && source.path == shown->path && (source.lines.empty() || source_is_given()) &&
         base_name(name) == base_name(shown->path);
}

void App::give_source(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at - (end > at && text[end - 1] == '\r' ? 1 : 0)));
    at = end + 1;
  }
  source.lines = lines;
  given_sources_[source.path] = std::move(lines);
  source_pane.center = true;
  active = Pane::source;
  wake();
}

const Tab* App::tab() const {
  return source_pane.tab < source_pane.tabs.size() ? &source_pane.tabs[source_pane.tab] : nullptr;
}

void App::toggle_popup(Popup wanted) {
  popup = popup == wanted ? Popup::none : wanted;
  popup_of = drawing ? drawing : layout.detached(active) ? std::optional(active) : std::nullopt;
  popup_first = 0;
  ui.stops.cursor = wanted == Popup::runs && overview.run >= 0 ? static_cast<std::size_t>(overview.run) : 0;
  ui.stops.moved = true;
}

bool App::typing() const { return ImGui::GetIO().WantTextInput || ui.held.typing; }

bool App::idle() const {
  return status_.serial == serial_ && !status_.busy && sent_view_ == view && frames_wanted_ <= 0;
}

bool App::wants_frame(double at) const {
  if (frames_wanted_ > 0 || (tooltip_at_ > 0 && at >= tooltip_at_)) return true;
  return std::any_of(toasts.begin(), toasts.end(), [&](const Toast& t) { return t.until <= at; });
}

double App::next_frame_in(double at) const {
  if (wants_frame(at)) return 0;
  double due = tooltip_at_;
  for (const Toast& t : toasts)
    if (due == 0 || t.until < due) due = t.until;
  return due > 0 ? std::max(0.001, due - at) : -1;
}

void App::apply_theme() {
  ThemeName name = system_contrast_ ? ThemeName::contrast : system_dark_ ? ThemeName::dark : ThemeName::light;
  if (theme_choice == "light") name = ThemeName::light;
  if (theme_choice == "dark") name = ThemeName::dark;
  if (theme_choice == "contrast") name = ThemeName::contrast;
  ui.theme = theme_of(name);
  ui.scale = user_scale * device_scale;
  if (ImGui::GetCurrentContext() == nullptr) return;
  // Larger text never costs so much room that the panes no longer fit.
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float fits = std::min(size.x / 640, size.y / 480);
  if (fits > 0.1f) ui.scale = std::min(ui.scale, std::max(1.0f, fits));
  apply_to_imgui(ui.theme, ui.scale);
}

void App::set_system_theme(bool dark, bool contrast) {
  system_dark_ = dark;
  system_contrast_ = contrast;
  wake();
}

void App::set_system_tongue(Tongue tongue) {
  system_tongue_ = tongue;
  if (language_choice == "system") command("language", {{"tag", "system"}});
}

double App::timeline_whole() const {
  return timeline_pane.time_mode ? std::max(1e-9, timeline.duration)
         : overview.run < 0      ? 0
                                 : static_cast<double>(timeline.tracks.empty() ? timeline.total : timeline.longest);
}

bool App::filters_rank(std::int32_t rank) const {
  const auto parts = query::parts(rows_pane.filter);
  return std::find(parts.begin(), parts.end(), "job_rank:" + std::to_string(rank)) != parts.end();
}

double App::timeline_place() const {
  return timeline_pane.time_mode
             ? to_axis(timeline.gaps, selection.card.time)
             : static_cast<double>(timeline.tracks.empty() ? selection.focus.execution : selection.card.place);
}

void App::set_timeline(double begin, double end) {
  if (!std::isfinite(begin) || !(end >= begin)) return;  // times of damaged records
  const double whole = timeline_whole();
  const double span = std::min(end - begin, whole);
  const double start = std::clamp(begin, 0.0, std::max(0.0, whole - span));
  timeline_pane.begin = start;
  timeline_pane.end = start + span;
}

void App::show_source(const std::string& host, const std::string& path, std::int32_t line) {
  line = std::max(line, 0);  // of a record it can be anything
  Tab wanted{host, path, line, 0};
  auto& tabs = source_pane.tabs;
  auto found = std::find(tabs.begin(), tabs.end(), wanted);
  if (found == tabs.end()) {
    constexpr std::size_t most = 12;
    if (tabs.size() >= most) tabs.erase(tabs.begin());
    found = tabs.insert(tabs.end(), wanted);
  }
  if (line > 0) found->line = line;
  source_pane.tab = static_cast<std::size_t>(found - tabs.begin());
  source_pane.center = true;
  source_pane.select_begin = source_pane.select_end = 0;
}

void App::show_frame(std::int64_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= selection.stack.frames.size()) return;
  stack_pane.frame = index;
  stack_pane.reveal = true;
  const Frame& f = selection.stack.frames[static_cast<std::size_t>(index)];
  show_source(f.host, f.path, f.line);
}

// The file that is stuck to, else the innermost frame of the user's own code, else the innermost; −1: there is none.
std::int64_t App::frame_to_show() {
  const auto& frames = selection.stack.frames;
  const auto count = static_cast<std::int64_t>(frames.size());
  if (const std::int64_t linked = std::exchange(linked_frame_, -1); linked >= 0 && linked < count) return linked;
  const auto innermost = [&](auto&& wanted) {
    const auto found = std::find_if(frames.rbegin(), frames.rend(), wanted);
    return static_cast<std::int64_t>(frames.rend() - found) - 1;
  };
  const auto& sticky = stack_pane.sticky;
  const auto sticks = [&](const Frame& f) { return sticky && f.path == sticky->path && f.host == sticky->host; };
  if (const std::int64_t stuck = innermost(sticks); stuck >= 0) return stuck;
  const std::int64_t own = innermost([](const Frame& f) { return f.own; });
  return own >= 0 ? own : count - 1;
}

// Selections in quick succession of one op are one step back.
void App::remember_selection() {
  const bool same_op = !history_.empty() && now - history_[history_at_].when < 0.5 &&
                       history_[history_at_].focus.op_name == selection.focus.op_name &&
                       !selection.focus.op_name.empty();
  if (!history_.empty() && history_[history_at_].focus == selection.focus) return;
  if (!history_.empty()) history_.resize(history_at_ + 1);
  if (same_op)
    history_.back() = {selection.focus, now};
  else
    history_.push_back({selection.focus, now});
  constexpr std::size_t deepest = 200;
  if (history_.size() > deepest) history_.erase(history_.begin());
  history_at_ = history_.size() - 1;
}

// Everything that is on screen follows the selection.
void App::selection_arrived() {
  stack_pane.frame = -1;
  stack_pane.unfolded.clear();
  show_frame(frame_to_show());
  scroll_rows_ = scroll_alerts_ = true;
  graph_pane.center = true;
  const std::int64_t execution = selection.focus.execution;
  if (execution >= 0 && timeline.total > 0) {
    const double at = timeline_place();
    const double span = timeline_pane.end - timeline_pane.begin;
    if (at < timeline_pane.begin || at + (timeline_pane.time_mode ? 0 : 1) > timeline_pane.end)
      set_timeline(at - span / 2, at + span / 2);
    timeline_pane.reveal_track = true;
  }
  if (wishes_in_history_) remember_selection();
}

const RunInfo& App::run() const {
  static const RunInfo none;
  const auto at = static_cast<std::size_t>(overview.run);
  return overview.run < 0 || at >= overview.runs.size() ? none : overview.runs[at];
}

void App::list_arrived(const Exported& part) {
  if (!platform.save_list || exporting.empty()) return;  // stopped meanwhile
  const std::string& id = run().run_id;
  const std::string name = "nanlens-" + part.what + (id.empty() ? "" : "-" + id.substr(0, 8)) +
                           (part.of.empty() ? "" : "-" + part.of) +
                           (part.what == "report"   ? ".txt"
                            : part.what == "values" ? ".npy"
                            : part.csv              ? ".csv"
                                                    : ".jsonl");
  if (part.what == "values" && part.text.empty()) {
    exporting.clear();
    return toast(tr(Text::values_not_stored));
  }
  const std::string place = platform.save_list(name, part);
  exporting =
      part.complete || place.empty() ? "" : tr(Text::export_done_of, {{"done", part.lines}, {"total", part.total}});
  if (place.empty()) {
    send(Cancel{});
    toast(tr(Text::export_failed, {{"name", name}}));
  } else if (part.what == "values") {
    toast(tr(Text::values_saved, {{"place", place}}));
  } else if (part.complete) {
    toast(tr(Text::export_written, {{"n", part.lines}, {"place", place}}));
  }
}

double App::first_with_selection() const {
  const std::int64_t at = rows.focus_position >= 0 ? rows.focus_position : rows.position_before_focus;
  if (focused_row() < 0 || at < 0 || rows_pane.fitting <= 1) return rows_pane.first;
  const double fitting = static_cast<double>(rows_pane.fitting) - 1;
  const double target = static_cast<double>(at);
  const bool shown = target >= rows_pane.first + 1 && target <= rows_pane.first + fitting - 2;
  return shown ? rows_pane.first : std::max(0.0, target - std::floor(fitting / 3));
}

// The end of an answer. Its rows may still be those of before what was asked for next, or in the order of the file
// until another is known; and before the pane was drawn once, nobody knows how many fit. The next answer comes right
// after that.
void App::status_arrived(const Status& status) {
  status_ = status;
  if (!scroll_rows_ || rows_pane.fitting <= 1 || rows.sorting || !answered()) return;
  rows_pane.first = first_with_selection();
  scroll_rows_ = false;
}

void App::rows_arrived(Rows arrived) {
  rows = std::move(arrived);
  const std::int64_t wanted = rows_pane.wanted - static_cast<std::int64_t>(rows.first);
  if (rows_pane.wanted < 0 || wanted < 0 || static_cast<std::size_t>(wanted) >= rows.rows.size()) return;
  const bool tail = rows_pane.tail;
  command(rows.of_executions ? "focus_execution" : "focus_trace",
          {{"index", rows.rows[static_cast<std::size_t>(wanted)].index}});
  rows_pane.tail = tail;
}

void App::overview_arrived(Overview arrived) {
  if (arrived.generation != generation_) return;
  const std::uint64_t shown_before = run().key;
  const bool was_loading = overview.loading;
  overview = std::move(arrived);
  const bool other_run = run().key != shown_before;
  if (other_run) forget_run();
  if (other_run && overview.run >= 0) {
    const auto known = expected_of_run_.find(run().run_id);
    alerts_pane.expected = known == expected_of_run_.end() ? std::set<std::string>{} : known->second;
    if (const auto pins = pins_of_run_.find(run().run_id); pins != pins_of_run_.end()) rows_pane.pins = pins->second;
    choose_rules();
  }
  if (!overview.loading || run().num_traces > 0) all_eager_ = run().num_traces == 0 && run().num_executions > 0;
  if (!overview.loading && overview.run >= 0 && !std::exchange(first_bad_done_, true)) make_first_selection();
  begin_again();
  if (!was_loading || overview.loading) return;
  if (platform.follow) platform.follow(follow);
  if (platform.loaded && !overview.stopped && !overview.runs.empty()) platform.loaded(overview);
}

// What is to blame, or the first bad tensor, is selected when loading ends, unless the user or a link was faster.
void App::make_first_selection() {
  if (!pending_link_.empty()) return apply_link(std::exchange(pending_link_, {}));
  if (user_selected_) return;
  if (overview.verdict.alert >= 0) return select_what_is_to_blame();
  if (!overview.verdict.trapped) return;
  command("focus_execution", {{"index", overview.verdict.execution}});
  chosen_by_user_ = false;
}

void App::select_what_is_to_blame() {
  Select wish;
  wish.kind = IntentKind::alert;
  wish.index = begun_with_ = overview.verdict.begins;
  select(wish);
  chosen_by_user_ = false;
}

// What was selected first may turn out to be meant to be, or not to be to blame.
void App::begin_again() {
  const bool untouched = !chosen_by_user_ && last_select_ == 0 && selection.alert >= 0;
  if (untouched && overview.verdict.explained && begun_with_ != overview.verdict.begins) select_what_is_to_blame();
}

void App::answered_selection(Selection arrived) {
  const bool chosen = arrived.serial != 0 && arrived.serial == last_select_;
  selection = std::move(arrived);
  if (!chosen) return;
  if (!chosen_by_user_) told_focus_ = selection.focus;
  last_select_ = 0;
  begin_again();
  if (selection.notice.empty()) return selection_arrived();
  toast(selection.notice);
  alert_end = selection.alert >= 0 ? alert_wish_ : 0;
}

void App::alerts_arrived(Alerts arrived) {
  alerts = std::move(arrived);
  if (!scroll_alerts_ || alerts_pane.fitting <= 1 || alerts.line_of_focus < 0) return;
  scroll_alerts_ = false;
  const auto at = static_cast<double>(alerts.line_of_focus);
  const double fitting = static_cast<double>(alerts_pane.fitting) - 1;
  if (at < alerts_pane.first || at + 1 > alerts_pane.first + fitting - 1)
    alerts_pane.first = std::max(0.0, at - fitting / 3);
}

void App::source_arrived(Source arrived) {
  const bool is_beside = arrived.path == view.beside_path && arrived.path != view.source_path;
  Source& shown = is_beside ? source_beside : source;
  shown = std::move(arrived);
  if (const auto given = given_sources_.find(shown.path); shown.lines.empty() && given != given_sources_.end())
    shown.lines = given->second;
}

void App::receive(Reply reply) {
  if (auto* o = std::get_if<Overview>(&reply)) {
    overview_arrived(std::move(*o));
  } else if (auto* status = std::get_if<Status>(&reply)) {
    status_arrived(*status);
  } else if (overview.generation != generation_) {
    return;  // about what was open before
  } else if (auto* r = std::get_if<Rows>(&reply)) {
    rows_arrived(std::move(*r));
  } else if (auto* part = std::get_if<Exported>(&reply)) {
    list_arrived(*part);
  } else if (auto* map = std::get_if<HeatMap>(&reply)) {
    heat_map = std::move(*map);
  } else if (auto* e = std::get_if<Explanation>(&reply)) {
    explanation = std::move(*e);
  } else if (auto* t = std::get_if<Timeline>(&reply)) {
    timeline = std::move(*t);
  } else if (auto* s = std::get_if<Selection>(&reply)) {
    answered_selection(std::move(*s));
  } else if (auto* a = std::get_if<Alerts>(&reply)) {
    alerts_arrived(std::move(*a));
  } else if (auto* c = std::get_if<Source>(&reply)) {
    source_arrived(std::move(*c));
  } else if (auto* d = std::get_if<Diagnostics>(&reply)) {
    diagnostics = std::move(*d);
  } else if (auto* found = std::get_if<Search>(&reply)) {
    search = std::move(*found);
  } else if (auto* list = std::get_if<RuleList>(&reply)) {
    rules_arrived(std::move(*list));
  } else if (auto* texts = std::get_if<FoundRules>(&reply)) {
    rules_found(std::move(*texts));
  }
  wake(1);
}

namespace {

// Where the ":52" of "mnist.py:52" begins; npos: nowhere.
std::size_t line_at(std::string_view text) {
  const std::size_t colon = text.find_last_not_of("0123456789");
  const bool line = colon != std::string_view::npos && colon > 0 && text[colon] == ':' && colon + 1 < text.size();
  return line ? colon : std::string_view::npos;
}

}  // namespace

std::string App::Palette::name() const {
  const std::string_view whole = text;
  const std::size_t begin = whole.starts_with('@') ? 1 : 0;
  return std::string(whole.substr(begin, std::min(line_at(whole), whole.size()) - begin));
}

std::int32_t App::Palette::line() const {
  const std::string_view whole = text;
  const std::size_t colon = line_at(whole);
  return colon == std::string_view::npos ? 0 : static_cast<std::int32_t>(std::atol(text + colon + 1));
}

void App::ask_for_rows() {
  // Two screens ahead in both directions, in steps, so that small movements need no new answer.
  const auto fitting = static_cast<std::uint64_t>(rows_pane.fitting);
  const auto first = static_cast<std::uint64_t>(std::max(0.0, rows_pane.first));
  const std::uint64_t step = std::max<std::uint64_t>(1, fitting / 2);
  view.row_first = first / step * step > 2 * fitting ? first / step * step - 2 * fitting : 0;
  view.row_count = static_cast<std::uint32_t>(5 * fitting + step);
  // Rows that are selected together stay known, so that they can be copied.
  if (rows_pane.range_begin >= 0) {
    const auto begin = static_cast<std::uint64_t>(std::min(rows_pane.range_begin, rows_pane.range_end));
    const auto end = static_cast<std::uint64_t>(std::max(rows_pane.range_begin, rows_pane.range_end)) + 1;
    const std::uint64_t last = std::max(view.row_first + view.row_count, end);
    view.row_first = std::min(view.row_first, begin);
    view.row_count = static_cast<std::uint32_t>(last - view.row_first);
  }
}

void App::ask_for_alerts() {
  const auto fitting = static_cast<std::uint64_t>(alerts_pane.fitting);
  const auto first = static_cast<std::uint64_t>(std::max(0.0, alerts_pane.first));
  const std::uint64_t step = std::max<std::uint64_t>(1, fitting / 2);
  view.alerts_first = first / step * step > fitting ? first / step * step - fitting : 0;
  view.alerts_count = static_cast<std::uint32_t>(3 * fitting + step);
}

// A link's first row comes on screen when all rows that the link asks for are known.
void App::restore_first_row() {
  if (linked_row_ < 0 || overview.loading || rows_pane.fitting <= 1 || !answered() || !rows.complete) return;
  rows_pane.first = std::min(linked_row_, static_cast<double>(rows.shown));
  linked_row_ = -1;
  scroll_rows_ = false;
  wake();
}

// What is on screen goes to the engine whenever it has changed.
void App::sync_view() {
  view.tongue = tongue();
  view.filter = rows_pane.filter;
  view.only_bad = rows_pane.only_bad;
  view.sort = rows_pane.sort;
  view.sort_descending = rows_pane.sort_descending;
  ask_for_rows();
  view.pinned = rows_pane.pins;
  view.time_mode = timeline_pane.time_mode;
  view.timeline_begin = timeline_pane.begin;
  view.timeline_end = timeline_pane.end;
  view.track_first = static_cast<std::uint32_t>(std::max(0.0, timeline_pane.track_first));
  view.track_count = timeline_pane.tracks_fitting;
  view.alerts_by = alerts_pane.by;
  view.alerts_folded.assign(alerts_pane.folded_groups.begin(), alerts_pane.folded_groups.end());
  view.alerts_expected.assign(alerts_pane.expected.begin(), alerts_pane.expected.end());
  ask_for_alerts();
  const Tab* const shown = tab();
  view.source_host = shown == nullptr ? "" : shown->host;
  view.source_path = shown == nullptr ? "" : shown->path;
  view.beside_host = source_pane.two ? source_pane.beside.host : "";
  view.beside_path = source_pane.two ? source_pane.beside.path : "";
  view.hops = graph_pane.hops;
  // '>' leads commands, ':' and '#' numbers; any other text may be a name.
  const bool searching = popup == Popup::palette && std::strchr(">:# ", palette.text[0]) == nullptr;
  view.search = searching ? palette.name() : "";
  view.values_of = popup == Popup::values ? values_pane.of : -1;
  view.values_slice = values_pane.slice;
  ask_for_rules();
  view.diagnostics = popup == Popup::diagnostics || overview.num_diagnostics > 0;
  if (view == sent_view_) return;
  sent_view_ = view;
  send(view);
}

}  // namespace nanlens::viewer
