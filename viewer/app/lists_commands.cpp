// What the lists show: filter, groups, ranges, order.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include <nanlens/query/query.hpp>

#include "app/commands.hpp"
#include "engine/row_order.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

// A part of a filter as it can stand beside another: "or" binds less than what follows it.
std::string in_brackets(const std::string& part) {
  const bool has_or = part.find(" or ") != std::string::npos || part.find('|') != std::string::npos;
  return has_or && !part.starts_with('(') && !part.starts_with('/') ? "(" + part + ")" : part;
}

}  // namespace

/// A friend of App.
struct ListCommands {
  static Result filter(App& app, const Json& a) {
    const std::string query = text(a, "query");
    if (query.size() >= sizeof app.rows_pane.filter) return fail(tr(Text::filter_too_long));
    if (query.data() != app.rows_pane.filter) std::memcpy(app.rows_pane.filter, query.c_str(), query.size() + 1);
    app.rows_pane.first = 0;
    app.rows_pane.range_begin = app.rows_pane.range_end = -1;
    return {};
  }
  // Rows by their positions among those shown, to be copied together; without any, none.
  static Result select_range(App& app, const Json& a) {
    auto& pane = app.rows_pane;
    const auto begin = integer(a, "begin");
    const auto end = integer(a, "end");
    const auto shown = static_cast<std::int64_t>(app.rows.shown);
    if (!a.empty() && (!begin || !end || *begin < 0 || *end < 0 || *begin >= shown || *end >= shown))
      return fail("begin and end must be positions of rows that are shown.");
    constexpr std::int64_t most = 1000;
    if (begin && std::abs(*begin - *end) >= most) return fail(tr(Text::range_too_long));
    pane.range_begin = begin.value_or(-1);
    pane.range_end = end.value_or(-1);
    if (begin) app.active = Pane::rows;
    return {};
  }
  static Result follow_tail(App& app, const Json& a) {
    if (app.rows.shown == 0) return fail(tr(Text::no_rows));
    if (!flag(a, "on", true)) {
      app.rows_pane.tail = false;
      return {};
    }
    const Result result = app.command("step_row", {{"by", app.rows.shown}});
    app.rows_pane.tail = true;
    return result;
  }
  static Result pin(App& app, const Json& a) {
    const std::int64_t row = integer(a, "trace").value_or(app.selection.focus.trace);
    auto& pins = app.rows_pane.pins;
    if (row < 0 || static_cast<std::uint64_t>(row) >= app.run().num_traces) return fail(tr(Text::pin_select));
    if (const auto at = std::find(pins.begin(), pins.end(), row); at != pins.end()) {
      pins.erase(at);
      return {};
    }
    constexpr std::size_t most = 20;
    if (pins.size() >= most) return fail(tr(Text::pins_full));
    pins.push_back(row);
    return {};
  }
  static Result unpin(App& app, const Json& a) {
    const std::int64_t row = integer(a, "trace").value_or(app.selection.focus.trace);
    return std::erase(app.rows_pane.pins, row) == 0 ? fail("That row is not pinned.") : Result{};
  }
  static Result clear_pins(App& app, const Json&) {
    app.rows_pane.pins.clear();
    return {};
  }
  static Result density(App& app, const Json& a) {
    const std::string name = choice(a, {"compact", "comfortable", "touch"});
    if (name.empty()) return fail("The densities are compact, comfortable and touch.");
    app.rows_pane.row_height = name == "compact" ? 18.0f : name == "touch" ? 30.0f : 22.0f;
    return {};
  }
  // Rows of one rank alone; again: of all of them. Where no rank has rows, what went bad first in this one.
  static Result filter_rank(App& app, const Json& a) {
    const auto rank = integer(a, "rank");
    const auto& tracks = app.timeline.tracks;
    const auto track =
        std::find_if(tracks.begin(), tracks.end(), [&](const Track& t) { return rank && t.rank == *rank; });
    if (track == tracks.end()) return fail("rank must be one that has recorded.");
    if (app.rows.total == 0 || app.rows.of_executions)
      return app.command("focus_track",
                         {{"track", track - tracks.begin()}, {"begin", 0}, {"end", app.timeline_whole()}});
    const std::string part = "job_rank:" + std::to_string(*rank);
    std::string query;
    for (const std::string& other : query::parts(app.rows_pane.filter))
      if (!other.starts_with("job_rank:")) query += in_brackets(other) + " ";
    if (!app.filters_rank(track->rank)) query += part;
    while (query.ends_with(' ')) query.pop_back();
    return filter(app, {{"query", query}});
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
  // A column again: the other direction, then the order of the file.
  static Result sort(App& app, const Json& a) {
    auto& pane = app.rows_pane;
    const std::string column = text(a, "column");
    if (!column.empty() && !is_sortable(column)) return fail("Rows can't be sorted by \"" + column + "\".");
    const bool large_first = column == "health" || column == "size";
    const bool again = column == pane.sort && !a.contains("descending");
    const bool both_done = again && pane.sort_descending != large_first;
    pane.sort_descending = flag(a, "descending", again ? !pane.sort_descending : large_first);
    pane.sort = both_done ? "" : column;
    if (pane.sort.empty()) pane.sort_descending = false;
    pane.first = 0;
    pane.range_begin = pane.range_end = -1;
    return {};
  }
  static Result edit_filter(App& app, const Json&) {
    app.rows_pane.take_keyboard = true;
    app.active = Pane::rows;
    return {};
  }
  static Result find(App& app, const Json& a) {
    auto& pane = app.source_pane;
    if (const Tab* const shown = app.tab(); shown == nullptr) return fail(tr(Text::no_source));
    pane.finding = flag(a, "open", true);
    if (a.contains("text")) {
      const std::string needle = text(a, "text");
      if (needle.size() >= sizeof pane.find) return fail(tr(Text::text_too_long));
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
    return fail(tr(Text::not_found));
  }
  static Result find_here(App& app, const Json& a) {
    return app.active == Pane::source ? find(app, a) : edit_filter(app, a);
  }
  // The next place in the source while that is active, else the next row that passes the filter; after the last one the
  // first.
  static Result next_hit(App& app, const Json& a) {
    const std::int64_t direction = integer(a, "dir").value_or(1) < 0 ? -1 : 1;
    if (app.active == Pane::source && app.source_pane.find[0] != '\0') return find(app, {{"dir", direction}});
    if (app.rows_pane.filter[0] == '\0' && !app.rows_pane.only_bad) return fail(tr(Text::no_hits_without_filter));
    if (app.rows.shown == 0) return fail(tr(Text::rows_filtered));
    const auto shown = static_cast<std::int64_t>(app.rows.shown);
    const bool filtered_out = app.rows.focus_position < 0;
    const std::int64_t at =
        filtered_out ? app.rows.position_before_focus - (direction > 0 ? 1 : 0) : app.rows.focus_position;
    return app.command("step_row", {{"to", ((at + direction) % shown + shown) % shown}});
  }
  static Result focus_alert_type(App& app, const Json& a) {
    const std::string type = text(a, "type");
    if (type.empty()) return fail("type must be InfNanAlert, or the name of a rule.");
    if (type != "InfNanAlert") return app.command("next_rule_hit", {{"name", type}, {"dir", 0}});
    app.alerts_pane.folded = false;
    app.alerts_pane.first = 0;
    return app.command("first_bad");
  }
  static Result group_alerts(App& app, const Json& a) {
    std::vector<const char*> ways = {"op", "call", "graph", "line", "class"};
    if (app.several_ranks()) ways.push_back("rank");
    std::string by = text(a, "by");
    if (by.empty())
      for (std::size_t i = 0; i < ways.size(); ++i)
        if (app.alerts_pane.by == ways[i]) by = ways[(i + 1) % ways.size()];
    if (std::none_of(ways.begin(), ways.end(), [&](const char* w) { return by == w; }))
      return fail("by must be op, call, graph, line or class; rank where there are several.");
    app.alerts_pane.by = by;
    app.alerts_pane.folded_groups = {"muted"};
    app.alerts_pane.first = 0;
    return {};
  }
  static Result mark_expected(App& app, const Json& a) {
    const std::string site = text(a, "scope", app.selection.alert_site);
    if (site.empty()) return fail(tr(Text::mark_select));
    auto& expected = app.alerts_pane.expected;
    if (flag(a, "on", !expected.contains(site))) {
      expected.insert(site);
      app.toast(tr(Text::marked, {{"site", site}}), "mark_expected", {{"scope", site}, {"on", false}});
    } else {
      expected.erase(site);
      app.toast(tr(Text::unmarked, {{"site", site}}), "mark_expected", {{"scope", site}, {"on", true}});
    }
    return {};
  }
  static Result fold_alerts(App& app, const Json& a) {
    const std::string group = text(a, "group");
    auto& folded = app.alerts_pane.folded_groups;
    if (!a.contains("group"))
      app.alerts_pane.folded = flag(a, "on", !app.alerts_pane.folded);
    else if (flag(a, "on", !folded.contains(group)))
      folded.insert(group);
    else
      folded.erase(group);
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
      at = std::clamp(*given, pane.begin, std::max(pane.begin, pane.end));
    else if (const double place = app.timeline_place();
             app.selection.focus.execution >= 0 && place >= pane.begin && place < pane.end)
      at = place + (pane.time_mode ? 0 : 0.5);
    const double smallest = pane.time_mode ? std::max(1e-6, app.timeline_whole() / 1e6) : 4;
    const double span =
        std::clamp((pane.end - pane.begin) / factor, smallest, std::max(smallest, app.timeline_whole()));
    const double share = pane.end > pane.begin ? (at - pane.begin) / (pane.end - pane.begin) : 0.5;
    app.set_timeline(at - share * span, at + (1 - share) * span);
    return {};
  }
  // The window stays as wide as it is, which the sum of two numbers of any size need not be.
  static Result pan_to(App& app, double place) {
    const double begin = std::clamp(place, 0.0, app.timeline_whole());
    app.set_timeline(begin, begin + app.timeline_pane.end - app.timeline_pane.begin);
    return {};
  }
  static Result timeline_pan(App& app, const Json& a) {
    return pan_to(app, app.timeline_pane.begin + number(a, "boxes").value_or(1));
  }
  static Result timeline_pan_page(App& app, const Json& a) {
    const double quarter = (app.timeline_pane.end - app.timeline_pane.begin) / 4;
    return pan_to(app, app.timeline_pane.begin + quarter * number(a, "dir").value_or(1));
  }
  static Result timeline_mode(App& app, const Json& a) {
    std::string mode = choice(a, {"order", "time"});
    if (mode.empty() && !a.empty()) return fail("The modes are order and time.");
    if (mode.empty()) mode = app.timeline_pane.time_mode ? "order" : "time";
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
    const double at = app.timeline_place();
    const double middle = (pane.begin + pane.end) / 2;
    if (execution < 0 || std::fabs(at - middle) <= (pane.end - pane.begin) / 40 + 1) return timeline_fit(app, a);
    app.set_timeline(at - (pane.end - pane.begin) / 2, at + (pane.end - pane.begin) / 2);
    app.scroll_rows_ = true;
    return {};
  }
  static Result scroll_to(App& app, const Json& a) {
    const auto pane = pane_of(a);
    const auto index = number(a, "index");
    if (!pane || !index || *index < 0) return fail("pane and index are needed.");
    if (*pane == Pane::rows)
      app.rows_pane.first = std::min(*index, static_cast<double>(app.rows.shown));
    else if (*pane == Pane::alerts)
      app.alerts_pane.first = std::min(*index, static_cast<double>(app.alerts.num_lines));
    else if (*pane == Pane::timeline)
      return pan_to(app, *index);
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
    const std::string order = choice(a, {"outer", "inner"});
    if (order.empty() && !a.empty()) return fail("The orders are outer and inner: which frame comes first.");
    app.stack_pane.inner_first = order.empty() ? !app.stack_pane.inner_first : order == "inner";
    return {};
  }
  // Names of columns; nothing if there is anything else.
  static std::optional<std::vector<std::string>> column_names(const Json& a, const char* key) {
    std::vector<std::string> names;
    if (!a.contains(key)) return names;
    if (!a[key].is_array()) return std::nullopt;
    for (const Json& name : a[key]) {
      const auto is_it = [&](const char* column) { return name.is_string() && name.get<std::string>() == column; };
      if (std::none_of(std::begin(row_columns), std::end(row_columns), is_it)) return std::nullopt;
      names.push_back(name.get<std::string>());
    }
    return names;
  }
  static Result columns(App& app, const Json& a) {
    const auto show = column_names(a, "show");
    const auto hide = column_names(a, "hide");
    if (!show || !hide) return fail("show and hide must be lists of columns.");
    if (a.empty()) app.toggle_popup(Popup::columns);
    auto& pane = app.rows_pane;
    for (const std::string& name : *show) {
      pane.hidden.erase(name);
      pane.forced.insert(name);
    }
    for (const std::string& name : *hide) {
      pane.forced.erase(name);
      pane.hidden.insert(name);
    }
    return {};
  }
  static Result ops_of_line(App& app, const Json& a) {
    const auto line = integer(a, "line");
    if (!line) return fail("line is missing.");
    app.close_popup();
    app.toggle_popup(Popup::ops_of_line);
    app.popup_line = static_cast<std::int32_t>(*line);
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
};

const CommandTable& list_commands() {
  using C = ListCommands;
  static const CommandTable all = {
      {"focus_alert_type", C::focus_alert_type},
      {"filter", C::filter},
      {"select_range", C::select_range},
      {"follow_tail", C::follow_tail, {{Text::cmd_follow_tail, "End"}}},
      {"filter_rank", C::filter_rank},
      {"clear_filter", C::clear_filter, {{Text::cmd_clear_filter}}},
      {"pin", C::pin, {{Text::cmd_pin, "P"}}},
      {"unpin", C::unpin},
      {"clear_pins", C::clear_pins, {{Text::cmd_clear_pins}}},
      {"density",
       C::density,
       {{Text::cmd_density_compact, "", R"({"name":"compact"})"},
        {Text::cmd_density_comfortable, "", R"({"name":"comfortable"})"},
        {Text::cmd_density_touch, "", R"({"name":"touch"})"}}},
      {"only_bad", C::only_bad, {{Text::cmd_only_bad, "B"}}},
      {"sort",
       C::sort,
       {{Text::cmd_sort_health, "", R"({"column":"health"})"},
        {Text::cmd_sort_size, "", R"({"column":"size"})"},
        {Text::cmd_sort_tensor, "", R"({"column":"tensor"})"},
        {Text::cmd_sort_none}}},
      {"edit_filter", C::edit_filter, {{Text::cmd_edit_filter, "/"}}},
      {"find", C::find},
      {"find_here", C::find_here, {{Text::cmd_find_here, "Ctrl+F"}}},
      {"next_hit", C::next_hit, {{Text::cmd_next_hit, "F3"}, {Text::cmd_previous_hit, "Shift+F3", R"({"dir":-1})"}}},
      {"group_alerts", C::group_alerts, {{Text::cmd_group_alerts, "G"}}},
      {"fold_alerts", C::fold_alerts},
      {"mark_expected", C::mark_expected, {{Text::cmd_mark_expected, "X"}}},
      {"timeline_range", C::timeline_range},
      {"timeline_zoom",
       C::timeline_zoom,
       {{Text::cmd_zoom_in, "W"}, {Text::cmd_zoom_out, "S", R"({"factor":0.6666666666666666})"}}},
      {"timeline_pan", C::timeline_pan},
      {"timeline_pan_page",
       C::timeline_pan_page,
       {{Text::cmd_pan_left, "A", R"({"dir":-1})"}, {Text::cmd_pan_right, "D"}}},
      {"timeline_mode", C::timeline_mode, {{Text::cmd_timeline_mode, "T"}}},
      {"timeline_fit", C::timeline_fit},
      {"center_selection", C::center_selection, {{Text::cmd_center, "F"}}},
      {"scroll_to", C::scroll_to},
      {"graph_hops",
       C::graph_hops,
       {{Text::cmd_hops_1, "", R"({"n":1})"},
        {Text::cmd_hops_2, "", R"({"n":2})"},
        {Text::cmd_hops_3, "", R"({"n":3})"}}},
      {"fold_library", C::fold_library, {{Text::cmd_fold_library, "L"}}},
      {"stack_order", C::stack_order},
      {"columns", C::columns, {{Text::cmd_columns}}},
      {"ops_of_line", C::ops_of_line},
      {"close_tab", C::close_tab},
  };
  return all;
}

}  // namespace nanlens::viewer
