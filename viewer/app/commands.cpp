// Every command by its name. Clicks, keys, menus, scripts and links all come through here.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/app.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

Result fail(std::string message) { return {false, std::move(message)}; }

std::optional<std::int64_t> integer(const Json& a, const char* name) {
  if (!a.contains(name) || !a[name].is_number()) return std::nullopt;
  const double value = a[name].get<double>();
  if (!(std::fabs(value) < 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}
std::optional<double> number(const Json& a, const char* name) {
  if (!a.contains(name) || !a[name].is_number()) return std::nullopt;
  return a[name].get<double>();
}
std::string text(const Json& a, const char* name, const std::string& otherwise = {}) {
  return a.contains(name) && a[name].is_string() ? a[name].get<std::string>() : otherwise;
}
bool flag(const Json& a, const char* name, bool otherwise) {
  return a.contains(name) && a[name].is_boolean() ? a[name].get<bool>() : otherwise;
}

std::optional<Pane> pane_of(const Json& a) {
  const std::string name = text(a, "pane");
  for (std::size_t i = 0; i < num_panes; ++i)
    if (name == pane_ids[i]) return static_cast<Pane>(i);
  return std::nullopt;
}

}  // namespace

/// The commands' bodies; a friend of App.
struct Commands {
  using Body = Result (*)(App&, const Json&);

  static Result step(App& app, IntentKind kind, std::int64_t index, bool by_op = false) {
    if (app.overview.run < 0) return fail("No logdir is open.");
    Select wish;
    wish.kind = kind;
    wish.index = index;
    wish.by_op = by_op;
    app.select(wish);
    return {};
  }
  static Result focus_index(App& app, const Json& a, IntentKind kind, std::uint64_t count, const char* what) {
    const auto index = integer(a, "index");
    if (!index) return fail("index is missing or no number.");
    if (*index < 0 || static_cast<std::uint64_t>(*index) >= count)
      return fail("There is no " + std::string(what) + " " + std::to_string(*index) + ": there are " +
                  std::to_string(count) + ".");
    return step(app, kind, *index);
  }
  static const RunInfo& run(const App& app) {
    static const RunInfo none;
    return app.overview.run < 0 || static_cast<std::size_t>(app.overview.run) >= app.overview.runs.size()
               ? none
               : app.overview.runs[static_cast<std::size_t>(app.overview.run)];
  }

  static Result open_logdir(App& app, const Json& a) {
    if (const std::string path = text(a, "path"); !path.empty()) {
      if (app.platform.is_page) return fail("A page can't open a path: drop the logdir on it.");
      app.open({path});
      return {};
    }
    if (!app.platform.pick)
      return fail("There is no file picker here: drop the logdir on the window, or name it on the command line.");
    app.platform.pick(flag(a, "folder", true));
    return {};
  }
  static Result close_logdir(App& app, const Json&) {
    app.prepare_open();
    app.overview.loading = false;
    app.send(Close{});
    app.send(app.view);
    return {};
  }
  static Result select_run(App& app, const Json& a) {
    auto index = integer(a, "run");
    if (const std::string id = text(a, "run"); !id.empty())
      for (std::size_t i = 0; i < app.overview.runs.size(); ++i)
        if (app.overview.runs[i].run_id == id) index = static_cast<std::int64_t>(i);
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= app.overview.runs.size())
      return fail("There is no such run.");
    app.send(SelectRun{static_cast<std::int32_t>(*index)});
    app.close_popup();
    return {};
  }
  static Result reload(App& app, const Json&) {
    app.send(Reload{});
    return {};
  }
  static Result cancel(App& app, const Json&) {
    if (!app.overview.loading) return fail("Nothing is being read.");
    app.send(Cancel{});
    return {};
  }
  static Result follow(App& app, const Json& a) {
    app.follow = flag(a, "on", !app.follow);
    if (app.platform.follow) app.platform.follow(app.follow);
    if (app.follow && !app.platform.can_follow)
      return fail("This browser can't watch a dropped folder. Use Open folder to follow a running program.");
    return {};
  }
  static Result focus_execution(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::execution, run(app).num_executions, "execution");
  }
  static Result focus_trace(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::trace, run(app).num_traces, "row");
  }
  static Result focus_alert(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::alert, run(app).num_alerts, "alert");
  }
  static Result focus_op(App& app, const Json& a) {
    Select wish;
    wish.kind = text(a, "op_name").empty() ? IntentKind::focus : IntentKind::op;
    wish.focus.graph_id = text(a, "graph_id");
    wish.focus.op_name = text(a, "op_name");
    wish.focus.slot = static_cast<std::int32_t>(integer(a, "slot").value_or(-1));
    if (wish.focus.graph_id.empty()) return fail("graph_id is missing.");
    if (wish.kind == IntentKind::focus) wish.focus.execution = app.selection.focus.execution;
    app.select(wish);
    return {};
  }
  static Result focus_frame(App& app, const Json& a) {
    const auto index = integer(a, "index");
    const auto& frames = app.selection.stack.frames;
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= frames.size())
      return fail("There is no such frame.");
    const Frame& f = frames[static_cast<std::size_t>(*index)];
    // Choosing the innermost frame of a file sticks to that file while the selection moves; choosing another one stops
    // it.
    bool innermost = true;
    for (std::size_t i = static_cast<std::size_t>(*index) + 1; i < frames.size(); ++i)
      if (frames[i].path == f.path && frames[i].host == f.host) innermost = false;
    app.stack_pane.sticky.reset();
    if (innermost) app.stack_pane.sticky = Tab{f.host, f.path, 0, 0};
    app.show_frame(*index);
    return {};
  }
  static Result focus_source(App& app, const Json& a) {
    const std::string path = text(a, "path");
    if (path.empty()) return fail("path is missing.");
    app.show_source(text(a, "host", app.selection.stack.host), path,
                    static_cast<std::int32_t>(integer(a, "line").value_or(0)));
    return {};
  }
  static Result focus_alert_type(App& app, const Json& a) {
    if (text(a, "type") != "InfNanAlert") return fail("The only type is InfNanAlert.");
    app.alerts_pane.folded = !app.alerts_pane.folded;
    return {};
  }
  static Result next_alert(App& app, const Json& a) {
    return step(app, IntentKind::alert_step, 1, text(a, "by") == "op");
  }
  static Result previous_alert(App& app, const Json& a) {
    return step(app, IntentKind::alert_step, -1, text(a, "by") == "op");
  }
  static Result first_bad(App& app, const Json&) { return step(app, IntentKind::first_bad, 0); }
  static Result next_input(App& app, const Json& a) {
    return step(app, IntentKind::input_step, integer(a, "dir").value_or(1));
  }
  static Result next_consumer(App& app, const Json& a) {
    return step(app, IntentKind::consumer_step, integer(a, "dir").value_or(1));
  }
  static Result follow_boundary(App& app, const Json&) { return step(app, IntentKind::boundary, 0); }
  static Result clear_selection(App& app, const Json&) { return step(app, IntentKind::clear, 0); }
  static Result go_in_history(App& app, std::ptrdiff_t by) {
    const auto to = static_cast<std::ptrdiff_t>(app.history_at_) + by;
    if (to < 0 || to >= static_cast<std::ptrdiff_t>(app.history_.size()))
      return fail(by < 0 ? "There is nothing to go back to." : "There is nothing to go forward to.");
    app.history_at_ = static_cast<std::size_t>(to);
    Select wish;
    wish.kind = IntentKind::focus;
    wish.focus = app.history_[app.history_at_].focus;
    app.select(wish, false);
    return {};
  }
  static Result back(App& app, const Json&) { return go_in_history(app, -1); }
  static Result forward(App& app, const Json&) { return go_in_history(app, 1); }
  static Result rows_of_execution(App& app, const Json& a) {
    const auto index = integer(a, "index");
    if (!index) return fail("index is missing.");
    if (app.selection.card.index == *index && app.selection.card.first_row >= 0) {
      app.rows_pane.first = std::max(0.0, static_cast<double>(app.selection.card.first_row) - 1);
      app.active = Pane::rows;
      return {};
    }
    return focus_execution(app, a);
  }
  static Result go_to_source(App& app, const Json&) {
    app.source_pane.center = true;
    app.active = Pane::source;
    return {};
  }

  static Result filter(App& app, const Json& a) {
    const std::string query = text(a, "query");
    if (query.size() >= sizeof app.rows_pane.filter) return fail("The filter is too long.");
    if (query.data() != app.rows_pane.filter) std::memcpy(app.rows_pane.filter, query.c_str(), query.size() + 1);
    app.rows_pane.first = 0;
    return {};
  }
  static Result clear_filter(App& app, const Json&) {
    app.rows_pane.filter[0] = '\0';
    app.rows_pane.only_bad = false;
    app.scroll_rows_ = true;
    return {};
  }
  static Result only_bad(App& app, const Json& a) {
    app.rows_pane.only_bad = flag(a, "on", !app.rows_pane.only_bad);
    app.scroll_rows_ = true;
    return {};
  }
  static Result edit_filter(App& app, const Json&) {
    app.rows_pane.take_keyboard = true;
    app.active = Pane::rows;
    return {};
  }
  static Result find(App& app, const Json& a) {
    auto& pane = app.source_pane;
    if (const Tab* const shown = app.tab(); shown == nullptr) return fail("No source file is shown.");
    pane.finding = flag(a, "open", true);
    if (a.contains("text")) {
      const std::string needle = text(a, "text");
      if (needle.size() >= sizeof pane.find) return fail("The text is too long.");
      std::memcpy(pane.find, needle.c_str(), needle.size() + 1);
    }
    if (!a.contains("dir")) {
      pane.take_keyboard = pane.finding;
      return {};
    }
    const std::string needle = pane.find;
    const auto lines = static_cast<std::int64_t>(app.source.lines.size());
    Tab& tab = pane.tabs[pane.tab];
    const std::int64_t direction = integer(a, "dir").value_or(1) < 0 ? -1 : 1;
    for (std::int64_t n = 1; n <= lines && !needle.empty(); ++n) {
      const std::int64_t at = ((tab.line - 1 + direction * n) % lines + lines) % lines;
      if (app.source.lines[static_cast<std::size_t>(at)].find(needle) == std::string::npos) continue;
      tab.line = static_cast<std::int32_t>(at + 1);
      pane.center = true;
      return {};
    }
    return fail("Not found in this file.");
  }
  static Result find_here(App& app, const Json& a) {
    return app.active == Pane::source ? find(app, a) : edit_filter(app, a);
  }
  static Result next_hit(App& app, const Json& a) { return find(app, {{"dir", integer(a, "dir").value_or(1)}}); }
  static Result group_alerts(App& app, const Json& a) {
    const char* const ways[] = {"op", "call", "graph", "line"};
    std::string by = text(a, "by");
    if (by.empty())
      for (std::size_t i = 0; i < std::size(ways); ++i)
        if (app.alerts_pane.by == ways[i]) by = ways[(i + 1) % std::size(ways)];
    if (std::none_of(std::begin(ways), std::end(ways), [&](const char* w) { return by == w; }))
      return fail("by must be op, call, graph or line.");
    app.alerts_pane.by = by;
    app.alerts_pane.folded_groups.clear();
    app.alerts_pane.first = 0;
    return {};
  }
  static Result fold_alerts(App& app, const Json& a) {
    if (flag(a, "on", true))
      app.alerts_pane.folded_groups.insert(text(a, "group"));
    else
      app.alerts_pane.folded_groups.erase(text(a, "group"));
    return {};
  }
  static Result timeline_range(App& app, const Json& a) {
    const auto begin = number(a, "begin");
    const auto end = number(a, "end");
    if (!begin || !end || *end <= *begin) return fail("begin and end must be numbers, end the larger.");
    app.set_timeline(*begin, *end);
    return {};
  }
  static Result timeline_zoom(App& app, const Json& a) {
    const double factor = number(a, "factor").value_or(1.5);
    if (!(factor > 0)) return fail("factor must be above 0.");
    auto& pane = app.timeline_pane;
    double at = (pane.begin + pane.end) / 2;
    if (const auto given = number(a, "at"))
      at = *given;
    else if (static_cast<double>(app.selection.focus.execution) >= pane.begin &&
             static_cast<double>(app.selection.focus.execution) < pane.end && !pane.time_mode)
      at = static_cast<double>(app.selection.focus.execution) + 0.5;
    const double smallest = pane.time_mode ? std::max(1e-6, app.timeline_whole() / 1e6) : 4;
    const double span =
        std::clamp((pane.end - pane.begin) / factor, smallest, std::max(smallest, app.timeline_whole()));
    const double share = pane.end > pane.begin ? (at - pane.begin) / (pane.end - pane.begin) : 0.5;
    app.set_timeline(at - share * span, at + (1 - share) * span);
    return {};
  }
  static Result timeline_pan(App& app, const Json& a) {
    const double by = number(a, "boxes").value_or(1);
    app.set_timeline(app.timeline_pane.begin + by, app.timeline_pane.end + by);
    return {};
  }
  static Result timeline_pan_page(App& app, const Json& a) {
    const double by = (app.timeline_pane.end - app.timeline_pane.begin) / 4 * number(a, "dir").value_or(1);
    app.set_timeline(app.timeline_pane.begin + by, app.timeline_pane.end + by);
    return {};
  }
  static Result timeline_mode(App& app, const Json& a) {
    std::string mode = text(a, "mode");
    if (mode.empty()) mode = app.timeline_pane.time_mode ? "order" : "time";
    if (mode != "order" && mode != "time") return fail("mode must be order or time.");
    app.timeline_pane.time_mode = mode == "time";
    app.timeline_pane.fitted = false;
    return {};
  }
  static Result timeline_fit(App& app, const Json&) {
    app.set_timeline(0, app.timeline_whole());
    return {};
  }
  static Result center_selection(App& app, const Json& a) {
    const std::int64_t execution = app.selection.focus.execution;
    auto& pane = app.timeline_pane;
    const double at = pane.time_mode ? app.selection.card.time : static_cast<double>(execution);
    const double middle = (pane.begin + pane.end) / 2;
    if (execution < 0 || std::fabs(at - middle) <= (pane.end - pane.begin) / 40 + 1) return timeline_fit(app, a);
    app.set_timeline(at - (pane.end - pane.begin) / 2, at + (pane.end - pane.begin) / 2);
    app.scroll_rows_ = true;
    return {};
  }
  static Result step_execution(App& app, const Json& a) {
    const std::int64_t to = std::max<std::int64_t>(0, app.selection.focus.execution + integer(a, "dir").value_or(1));
    if (static_cast<std::uint64_t>(to) >= run(app).num_executions) return fail("That was the last execution.");
    return step(app, IntentKind::execution, to);
  }
  static Result step_row(App& app, const Json& a) {
    const std::int64_t by = integer(a, "by").value_or(1);
    if (app.rows.shown == 0) return fail("There are no rows.");
    // Among the rows that pass the filter; those near the selection are known.
    const std::int64_t at = app.rows.focus_position >= 0
                                ? app.rows.focus_position
                                : static_cast<std::int64_t>(app.rows_pane.first) - (by > 0 ? 1 : 0);
    const std::int64_t to = std::clamp<std::int64_t>(at + by, 0, static_cast<std::int64_t>(app.rows.shown) - 1);
    const std::int64_t in_window = to - static_cast<std::int64_t>(app.rows.first);
    if (in_window >= 0 && static_cast<std::size_t>(in_window) < app.rows.rows.size())
      return step(app, IntentKind::trace,
                  static_cast<std::int64_t>(app.rows.rows[static_cast<std::size_t>(in_window)].index));
    if (app.rows.shown == app.rows.total) return step(app, IntentKind::trace, to);
    app.rows_pane.first = static_cast<double>(to);
    return {};
  }
  static Result scroll_to(App& app, const Json& a) {
    const auto pane = pane_of(a);
    const auto index = number(a, "index");
    if (!pane || !index || *index < 0) return fail("pane and index are needed.");
    if (*pane == Pane::rows)
      app.rows_pane.first = std::min(*index, static_cast<double>(app.rows.shown));
    else if (*pane == Pane::alerts)
      app.alerts_pane.first = *index;
    else if (*pane == Pane::timeline)
      app.set_timeline(*index, *index + app.timeline_pane.end - app.timeline_pane.begin);
    else
      return fail("That pane is no list.");
    return {};
  }
  static Result graph_hops(App& app, const Json& a) {
    const auto n = integer(a, "n");
    if (!n || *n < 1 || *n > 4) return fail("n must be 1 to 4.");
    app.graph_pane.hops = static_cast<std::uint32_t>(*n);
    app.graph_pane.center = true;
    return {};
  }
  static Result fold_library(App& app, const Json& a) {
    app.stack_pane.fold_library = flag(a, "on", !app.stack_pane.fold_library);
    app.stack_pane.unfolded.clear();
    return {};
  }
  static Result stack_order(App& app, const Json& a) {
    app.stack_pane.inner_first = text(a, "order") == "inner" || !flag(a, "outer", !text(a, "order").empty());
    return {};
  }
  static Result columns(App& app, const Json& a) {
    const auto apply = [&](const char* key, bool show) {
      if (!a.contains(key) || !a[key].is_array()) return;
      for (const Json& name : a[key]) {
        if (!name.is_string()) continue;
        const auto column = name.get<std::string>();
        (show ? app.rows_pane.hidden : app.rows_pane.forced).erase(column);
        (show ? app.rows_pane.forced : app.rows_pane.hidden).insert(column);
      }
    };
    if (a.empty()) app.popup = app.popup == Popup::columns ? Popup::none : Popup::columns;
    apply("show", true);
    apply("hide", false);
    return {};
  }
  static Result ops_of_line(App& app, const Json& a) {
    const auto line = integer(a, "line");
    if (!line) return fail("line is missing.");
    app.popup = Popup::ops_of_line;
    app.popup_line = static_cast<std::int32_t>(*line);
    app.popup_first = 0;
    return {};
  }
  static Result close_tab(App& app, const Json& a) {
    const auto index = integer(a, "index");
    auto& pane = app.source_pane;
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= pane.tabs.size())
      return fail("There is no such tab.");
    pane.tabs.erase(pane.tabs.begin() + static_cast<std::ptrdiff_t>(*index));
    if (pane.tab > static_cast<std::size_t>(*index) || pane.tab >= pane.tabs.size())
      pane.tab = pane.tab == 0 ? 0 : pane.tab - 1;
    return {};
  }
  static Result activate_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    if (*pane == Pane::graph) app.layout.show_graph_tab = true;
    if (*pane == Pane::rows) app.layout.show_graph_tab = false;
    if (app.layout.maximized) app.layout.maximized = *pane;
    return {};
  }
  static Result maximize_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    app.layout.maximized = *pane;
    return {};
  }
  static Result restore_panes(App& app, const Json&) {
    app.layout.maximized.reset();
    return {};
  }
  static Result reset_layout(App& app, const Json&) {
    app.layout = Layout{};
    return {};
  }
  static Result set_splitter(App& app, const Json& a) {
    const auto at = number(a, "at");
    for (std::size_t i = 0; i < Layout::ids.size(); ++i)
      if (text(a, "id") == Layout::ids[i] && at && *at > 0 && *at < 1) {
        app.layout.at[i] = static_cast<float>(*at);
        return {};
      }
    return fail("id must be a splitter's and at between 0 and 1.");
  }
  static Result theme(App& app, const Json& a) {
    std::string name = text(a, "name", text(a, "theme"));
    if (name.empty()) name = app.ui.theme.bg == theme_of(ThemeName::dark).bg ? "light" : "dark";
    if (name != "light" && name != "dark" && name != "contrast" && name != "system")
      return fail("The themes are light, dark, contrast and system.");
    app.theme_choice = name;
    return {};
  }
  static Result scale(App& app, const Json& a) {
    const double percent =
        number(a, "percent").value_or(static_cast<double>(app.user_scale) * 100 + number(a, "by").value_or(0));
    if (!(percent >= 50 && percent <= 300)) return fail("percent must be 50 to 300.");
    app.user_scale = static_cast<float>(percent / 100);
    return {};
  }
  static Result open_popup(App& app, Popup popup) {
    app.popup = app.popup == popup ? Popup::none : popup;
    app.popup_first = 0;
    return {};
  }
  static Result palette(App& app, const Json& a) {
    const std::string start = text(a, "text");
    if (start.size() >= sizeof app.palette.text) return fail("The text is too long.");
    std::memcpy(app.palette.text, start.c_str(), start.size() + 1);
    app.palette.cursor = 0;
    app.palette.take_keyboard = true;
    app.popup = Popup::palette;
    return {};
  }
  static Result help(App& app, const Json&) { return open_popup(app, Popup::help); }
  static Result show_runs(App& app, const Json&) { return open_popup(app, Popup::runs); }
  static Result show_diagnostics(App& app, const Json&) { return open_popup(app, Popup::diagnostics); }
  static Result show_licences(App& app, const Json&) { return open_popup(app, Popup::licences); }
  static Result escape(App& app, const Json& a) {
    if (app.menu_open)
      app.close_menu = true;
    else if (app.popup != Popup::none)
      app.popup = Popup::none;
    else if (app.overview.loading)
      return cancel(app, a);
    else if (app.source_pane.finding)
      app.source_pane.finding = false;
    else if (app.rows_pane.filter[0] != '\0' || app.rows_pane.only_bad)
      return clear_filter(app, a);
    else if (app.layout.maximized)
      app.layout.maximized.reset();
    else if (app.has_focus())
      return clear_selection(app, a);
    return {};
  }
  static std::string stack_text(const App& app) {
    std::string out;
    for (const Frame& f : app.selection.stack.frames)
      out += f.path + ":" + std::to_string(f.line) + " " + f.function + "\n";
    return out;
  }
  static std::string row_text(const App& app, std::int64_t index, bool json) {
    for (const Row& row : app.rows.rows) {
      if (static_cast<std::int64_t>(row.index) != index) continue;
      const std::string name = row.op_name + ":" + std::to_string(row.slot);
      if (!json) return name;
      Json badges = Json::object();
      const char* const names[] = {"dtype", "rank", "shape", "size", "nan",  "ninf",
                                   "pinf",  "neg",  "zero",  "pos",  "curt", "none"};
      for (const Badge& b : row.badges)
        badges[names[static_cast<std::size_t>(b.kind)]] = b.text.empty() ? Json(b.number) : Json(b.text);
      return Json{{"index", row.index},
                  {"tensor", name},
                  {"op_type", row.op_type},
                  {"graph_id", row.graph_id},
                  {"graph_name", row.graph_name},
                  {"execution", row.execution},
                  {"time", row.time},
                  {"device", row.device},
                  {"health", badges}}
          .dump();
    }
    return {};
  }
  static std::string source_text(const App& app) {
    const auto& pane = app.source_pane;
    std::string out;
    const std::int32_t begin = pane.select_begin > 0  ? std::min(pane.select_begin, pane.select_end)
                               : app.tab() != nullptr ? app.tab()->line
                                                      : 1;
    const std::int32_t end = pane.select_begin > 0 ? std::max(pane.select_begin, pane.select_end) : begin;
    for (std::int32_t line = begin; line <= end && static_cast<std::size_t>(line) <= app.source.lines.size(); ++line)
      out += app.source.lines[static_cast<std::size_t>(line - 1)] + "\n";
    return out;
  }
  static Result copy(App& app, const Json& a) {
    std::string what = text(a, "what");
    if (what.empty()) what = app.active == Pane::source ? "source" : app.active == Pane::stack ? "stack" : "row";
    std::string copied;
    const std::int64_t index = integer(a, "index").value_or(app.selection.focus.trace);
    if (what == "stack")
      copied = stack_text(app);
    else if (what == "source")
      copied = source_text(app);
    else if (what == "name")
      copied = row_text(app, index, false);
    else if (what == "row")
      copied = row_text(app, index, true);
    else if (what == "diagnostics")
      for (const Fault& f : app.diagnostics.list)
        copied += f.file + " at " + std::to_string(f.offset) + ": " + f.message + "\n";
    else if (what == "example")
      copied = text(a, "text");
    else
      return fail("what must be row, name, stack, source or diagnostics.");
    if (copied.empty()) return fail("There is nothing to copy.");
    if (app.platform.copy) app.platform.copy(copied);
    app.toast("Copied the " + what + ".");
    return {};
  }
  static Result copy_link(App& app, const Json&) {
    const std::string link = app.link();
    if (app.platform.copy) app.platform.copy(app.platform.link_text ? app.platform.link_text(link) : link);
    app.toast("Link copied. It restores this view when the same logdir is open.");
    return {};
  }
  static Result quit(App& app, const Json&) {
    if (!app.platform.quit) return fail("A page is closed by the browser.");
    app.platform.quit();
    return {};
  }
};

namespace {

const std::map<std::string_view, Commands::Body>& bodies() {
  static const std::map<std::string_view, Commands::Body> all = {{"open_logdir", Commands::open_logdir},
                                                                 {"close_logdir", Commands::close_logdir},
                                                                 {"select_run", Commands::select_run},
                                                                 {"reload", Commands::reload},
                                                                 {"cancel", Commands::cancel},
                                                                 {"follow", Commands::follow},
                                                                 {"focus_execution", Commands::focus_execution},
                                                                 {"focus_trace", Commands::focus_trace},
                                                                 {"focus_alert", Commands::focus_alert},
                                                                 {"focus_op", Commands::focus_op},
                                                                 {"focus_frame", Commands::focus_frame},
                                                                 {"focus_source", Commands::focus_source},
                                                                 {"focus_alert_type", Commands::focus_alert_type},
                                                                 {"next_alert", Commands::next_alert},
                                                                 {"previous_alert", Commands::previous_alert},
                                                                 {"first_bad", Commands::first_bad},
                                                                 {"next_input", Commands::next_input},
                                                                 {"next_consumer", Commands::next_consumer},
                                                                 {"follow_boundary", Commands::follow_boundary},
                                                                 {"clear_selection", Commands::clear_selection},
                                                                 {"back", Commands::back},
                                                                 {"forward", Commands::forward},
                                                                 {"rows_of_execution", Commands::rows_of_execution},
                                                                 {"go_to_source", Commands::go_to_source},
                                                                 {"filter", Commands::filter},
                                                                 {"clear_filter", Commands::clear_filter},
                                                                 {"only_bad", Commands::only_bad},
                                                                 {"edit_filter", Commands::edit_filter},
                                                                 {"find", Commands::find},
                                                                 {"find_here", Commands::find_here},
                                                                 {"next_hit", Commands::next_hit},
                                                                 {"group_alerts", Commands::group_alerts},
                                                                 {"fold_alerts", Commands::fold_alerts},
                                                                 {"timeline_range", Commands::timeline_range},
                                                                 {"timeline_zoom", Commands::timeline_zoom},
                                                                 {"timeline_pan", Commands::timeline_pan},
                                                                 {"timeline_pan_page", Commands::timeline_pan_page},
                                                                 {"timeline_mode", Commands::timeline_mode},
                                                                 {"timeline_fit", Commands::timeline_fit},
                                                                 {"center_selection", Commands::center_selection},
                                                                 {"step_execution", Commands::step_execution},
                                                                 {"step_row", Commands::step_row},
                                                                 {"scroll_to", Commands::scroll_to},
                                                                 {"graph_hops", Commands::graph_hops},
                                                                 {"fold_library", Commands::fold_library},
                                                                 {"stack_order", Commands::stack_order},
                                                                 {"columns", Commands::columns},
                                                                 {"ops_of_line", Commands::ops_of_line},
                                                                 {"close_tab", Commands::close_tab},
                                                                 {"activate_pane", Commands::activate_pane},
                                                                 {"maximize_pane", Commands::maximize_pane},
                                                                 {"restore_panes", Commands::restore_panes},
                                                                 {"reset_layout", Commands::reset_layout},
                                                                 {"set_splitter", Commands::set_splitter},
                                                                 {"theme", Commands::theme},
                                                                 {"scale", Commands::scale},
                                                                 {"palette", Commands::palette},
                                                                 {"help", Commands::help},
                                                                 {"show_runs", Commands::show_runs},
                                                                 {"show_diagnostics", Commands::show_diagnostics},
                                                                 {"show_licences", Commands::show_licences},
                                                                 {"escape", Commands::escape},
                                                                 {"copy", Commands::copy},
                                                                 {"copy_link", Commands::copy_link},
                                                                 {"quit", Commands::quit}};
  return all;
}

}  // namespace

Result App::command(std::string_view name, const Json& arguments) {
  const auto found = bodies().find(name);
  if (found == bodies().end()) return {false, "There is no command \"" + std::string(name) + "\"."};
  if (!arguments.is_object() && !arguments.is_null()) return {false, "The arguments must be an object."};
  wake();
  Result result = found->second(*this, arguments.is_null() ? Json::object() : arguments);
  return result;
}

const std::vector<CommandInfo>& command_list() {
  static const std::vector<CommandInfo> list = {
      {"next_alert", "Next alert", ".", "{}"},
      {"previous_alert", "Previous alert", ",", "{}"},
      {"next_alert", "Next alert in another op", "Shift+.", R"({"by":"op"})"},
      {"previous_alert", "Previous alert in another op", "Shift+,", R"({"by":"op"})"},
      {"first_bad", "First bad tensor of the run", "N", "{}"},
      {"next_input", "Go to the next input's row", "I", "{}"},
      {"next_input", "Go to the previous input's row", "Shift+I", R"({"dir":-1})"},
      {"next_consumer", "Go to the next consumer's row", "O", "{}"},
      {"next_consumer", "Go to the previous consumer's row", "Shift+O", R"({"dir":-1})"},
      {"follow_boundary", "Caller's tensor, or into the function", "K", "{}"},
      {"back", "Back", "[", "{}"},
      {"forward", "Forward", "]", "{}"},
      {"edit_filter", "Filter Graph Executions", "/", "{}"},
      {"find_here", "Find in the active pane", "Ctrl+F", "{}"},
      {"next_hit", "Next hit in the source", "F3", "{}"},
      {"next_hit", "Previous hit in the source", "Shift+F3", R"({"dir":-1})"},
      {"only_bad", "Only bad rows", "B", "{}"},
      {"clear_filter", "Clear the filter", "", "{}"},
      {"group_alerts", "Group alerts by op, call, graph or line", "G", "{}"},
      {"timeline_zoom", "Zoom the timeline in", "W", "{}"},
      {"timeline_zoom", "Zoom the timeline out", "S", R"({"factor":0.6667})"},
      {"timeline_pan_page", "Pan the timeline left", "A", R"({"dir":-1})"},
      {"timeline_pan_page", "Pan the timeline right", "D", "{}"},
      {"center_selection", "Centre the selection; again: show the whole run", "F", "{}"},
      {"timeline_mode", "Timeline by order or by time", "T", "{}"},
      {"step_execution", "Previous execution", "←", R"({"dir":-1})"},
      {"step_execution", "Next execution", "→", "{}"},
      {"step_row", "Row, frame or alert above", "↑", R"({"by":-1})"},
      {"step_row", "Row, frame or alert below", "↓", "{}"},
      {"fold_library", "Fold library frames", "L", "{}"},
      {"graph_hops", "Graph: one hop", "", R"({"n":1})"},
      {"graph_hops", "Graph: two hops", "", R"({"n":2})"},
      {"graph_hops", "Graph: three hops", "", R"({"n":3})"},
      {"columns", "Columns of Graph Executions", "", "{}"},
      {"copy", "Copy the selection", "Ctrl+C", "{}"},
      {"copy_link", "Copy a link to this view", "", "{}"},
      {"maximize_pane", "Maximise Alerts", "Shift+1", R"({"pane":"alerts"})"},
      {"maximize_pane", "Maximise Execution Timeline", "Shift+2", R"({"pane":"timeline"})"},
      {"maximize_pane", "Maximise Graph Executions", "Shift+3", R"({"pane":"graph_executions"})"},
      {"maximize_pane", "Maximise Graph Structure", "Shift+4", R"({"pane":"graph_structure"})"},
      {"maximize_pane", "Maximise Source Code", "Shift+5", R"({"pane":"source_code"})"},
      {"maximize_pane", "Maximise Stack Trace", "Shift+6", R"({"pane":"stack_trace"})"},
      {"activate_pane", "Go to Alerts", "1", R"({"pane":"alerts"})"},
      {"activate_pane", "Go to Execution Timeline", "2", R"({"pane":"timeline"})"},
      {"activate_pane", "Go to Graph Executions", "3", R"({"pane":"graph_executions"})"},
      {"activate_pane", "Go to Graph Structure", "4", R"({"pane":"graph_structure"})"},
      {"activate_pane", "Go to Source Code", "5", R"({"pane":"source_code"})"},
      {"activate_pane", "Go to Stack Trace", "6", R"({"pane":"stack_trace"})"},
      {"restore_panes", "Show all panes", "Esc", "{}"},
      {"reset_layout", "Reset the layout", "", "{}"},
      {"theme", "Light or dark", "", "{}"},
      {"theme", "High contrast", "", R"({"name":"contrast"})"},
      {"theme", "Theme of the system", "", R"({"name":"system"})"},
      {"scale", "Larger text", "Ctrl++", R"({"by":10})"},
      {"scale", "Smaller text", "Ctrl+−", R"({"by":-10})"},
      {"scale", "Text at 100 %", "Ctrl+0", R"({"percent":100})"},
      {"show_runs", "Choose a run", "", "{}"},
      {"show_diagnostics", "Diagnostics: what could not be read", "", "{}"},
      {"show_licences", "Licences", "", "{}"},
      {"open_logdir", "Open a folder", "Ctrl+O", "{}"},
      {"open_logdir", "Open files or an archive", "", R"({"folder":false})"},
      {"reload", "Look for new data", "", "{}"},
      {"follow", "Follow a growing logdir: on or off", "", "{}"},
      {"close_logdir", "Close the logdir", "", "{}"},
      {"palette", "Go to, filter, command", "Ctrl+P", "{}"},
      {"help", "Keys", "?", "{}"},
      {"quit", "Quit", "Ctrl+Q", "{}"},
  };
  return list;
}

}  // namespace nanlens::viewer
