// What is selected, and the steps from there.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/commands.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

/// A friend of App.
struct SelectionCommands {
  static Result step(App& app, IntentKind kind, std::int64_t index, bool by_op = false) {
    if (app.overview.run < 0) return fail(tr(Text::no_logdir));
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
  static Result focus_execution(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::execution, app.run().num_executions, "execution");
  }
  static Result focus_trace(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::trace, app.run().num_traces, "row");
  }
  static Result focus_alert(App& app, const Json& a) {
    return focus_index(app, a, IntentKind::alert, app.run().num_alerts, "alert");
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
  // After the last one was said to be the last, the first comes, and the other way.
  static Result step_alert(App& app, const Json& a, std::int32_t direction) {
    const bool again = app.alert_end == direction && app.alerts.total > 0;
    if (again && direction > 0) return step(app, IntentKind::alert, 0);
    if (again) return step(app, IntentKind::alert, static_cast<std::int64_t>(app.alerts.total) - 1);
    const Result result = step(app, IntentKind::alert_step, direction, text(a, "by") == "op");
    app.alert_wish_ = direction;
    return result;
  }
  static Result next_alert(App& app, const Json& a) { return step_alert(app, a, 1); }
  static Result previous_alert(App& app, const Json& a) { return step_alert(app, a, -1); }
  static Result first_bad(App& app, const Json&) { return step(app, IntentKind::first_bad, 0); }
  static Result focus_cause(App& app, const Json& a) {
    const auto index = integer(a, "index");
    if (!index) return step(app, IntentKind::cause, 0);
    if (*index < 0 || static_cast<std::size_t>(*index) >= app.explanation.causes.size())
      return fail("There is no such cause.");
    const CauseLine& cause = app.explanation.causes[static_cast<std::size_t>(*index)];
    app.close_popup();
    return focus_event(app, cause.trace, cause.execution, cause.slot);
  }
  static Result focus_event(App& app, std::int64_t trace, std::int64_t execution, std::int32_t slot) {
    Select wish;
    wish.kind = IntentKind::focus;
    wish.focus.trace = trace;
    if (trace < 0) wish.focus.execution = execution;
    if (trace < 0) wish.focus.slot = slot;
    app.select(wish);
    return {};
  }
  static Result focus_chain(App& app, const Json& a) {
    const auto index = integer(a, "index");
    const auto& chain = app.selection.chain;
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= chain.size()) return fail("There is no such step.");
    const ChainStep& s = chain[static_cast<std::size_t>(*index)];
    return focus_event(app, s.trace, s.execution, s.slot);
  }
  static Result cause_step(App& app, const Json& a) {
    return step(app, IntentKind::cause_step, integer(a, "dir").value_or(-1));
  }
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
      return fail(tr(by < 0 ? Text::no_back : Text::no_forward));
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
  static Result step_execution(App& app, const Json& a) {
    if (!app.timeline.tracks.empty()) return step(app, IntentKind::rank_execution_step, integer(a, "dir").value_or(1));
    const std::int64_t to = std::max<std::int64_t>(0, app.selection.focus.execution + integer(a, "dir").value_or(1));
    if (static_cast<std::uint64_t>(to) >= app.run().num_executions) return fail(tr(Text::no_execution_after));
    return step(app, IntentKind::execution, to);
  }
  static Result step_rank(App& app, const Json& a) {
    if (app.timeline.tracks.empty()) return fail(tr(Text::no_rank_further));
    Select wish;
    wish.kind = IntentKind::rank_step;
    wish.index = integer(a, "dir").value_or(1);
    wish.by_time = app.timeline.time_mode;
    app.select(wish);
    return {};
  }
  // Of a part of a track: what is bad in it first, else the first.
  static Result focus_track(App& app, const Json& a) {
    const auto track = integer(a, "track");
    const auto begin = number(a, "begin");
    const auto end = number(a, "end");
    if (!track || *track < 0 || static_cast<std::size_t>(*track) >= app.timeline.tracks.size())
      return fail("There is no such track.");
    if (!begin || !end || *end < *begin) return fail("begin and end must be numbers, end the larger.");
    Select wish;
    wish.kind = IntentKind::rank_place;
    wish.index = *track;
    wish.by_time = app.timeline.time_mode;
    wish.begin = *begin;
    wish.end = *end;
    app.select(wish);
    return {};
  }
  // To a row by its place among those that pass the filter, or by steps from the selection.
  static Result step_row(App& app, const Json& a) {
    if (app.rows.shown == 0) return fail(tr(Text::no_rows));
    const std::int64_t by = integer(a, "by").value_or(1);
    const std::int64_t at = app.rows.focus_position >= 0
                                ? app.rows.focus_position
                                : static_cast<std::int64_t>(app.rows_pane.first) - (by > 0 ? 1 : 0);
    const std::int64_t to =
        std::clamp<std::int64_t>(integer(a, "to").value_or(at + by), 0, static_cast<std::int64_t>(app.rows.shown) - 1);
    const std::int64_t in_window = to - static_cast<std::int64_t>(app.rows.first);
    const IntentKind kind = app.rows.of_executions ? IntentKind::execution : IntentKind::trace;
    if (in_window >= 0 && static_cast<std::size_t>(in_window) < app.rows.rows.size())
      return step(app, kind, static_cast<std::int64_t>(app.rows.rows[static_cast<std::size_t>(in_window)].index));
    if (app.rows.shown == app.rows.total && app.rows_pane.sort.empty()) return step(app, kind, to);
    // Which row that is comes with the next answer.
    app.rows_pane.wanted = to;
    app.rows_pane.first = static_cast<double>(to);
    return {};
  }
};

const CommandTable& selection_commands() {
  using C = SelectionCommands;
  static const CommandTable all = {
      {"focus_execution", C::focus_execution},
      {"focus_trace", C::focus_trace},
      {"focus_alert", C::focus_alert},
      {"focus_op", C::focus_op},
      {"focus_frame", C::focus_frame},
      {"focus_source", C::focus_source},
      {"next_alert",
       C::next_alert,
       {{Text::cmd_next_alert, "."}, {Text::cmd_next_alert_op, "Shift+.", R"({"by":"op"})"}}},
      {"previous_alert",
       C::previous_alert,
       {{Text::cmd_previous_alert, ","}, {Text::cmd_previous_alert_op, "Shift+,", R"({"by":"op"})"}}},
      {"first_bad", C::first_bad, {{Text::cmd_first_bad, "N"}}},
      {"focus_cause", C::focus_cause, {{Text::cmd_focus_cause, "Y"}}},
      {"focus_chain", C::focus_chain},
      {"cause_step", C::cause_step, {{Text::cmd_cause_up, "U"}, {Text::cmd_cause_down, "J", R"({"dir":1})"}}},
      {"next_input",
       C::next_input,
       {{Text::cmd_next_input, "I"}, {Text::cmd_previous_input, "Shift+I", R"({"dir":-1})"}}},
      {"next_consumer",
       C::next_consumer,
       {{Text::cmd_next_consumer, "O"}, {Text::cmd_previous_consumer, "Shift+O", R"({"dir":-1})"}}},
      {"follow_boundary", C::follow_boundary, {{Text::cmd_follow_boundary, "K"}}},
      {"clear_selection", C::clear_selection},
      {"back", C::back, {{Text::cmd_back, "[ Alt+←"}}},
      {"forward", C::forward, {{Text::cmd_forward, "] Alt+→"}}},
      {"rows_of_execution", C::rows_of_execution},
      {"go_to_source", C::go_to_source},
      {"step_execution",
       C::step_execution,
       {{Text::cmd_previous_execution, "←", R"({"dir":-1})"}, {Text::cmd_next_execution, "→"}}},
      {"step_rank", C::step_rank, {{Text::cmd_rank_above, "↑", R"({"dir":-1})"}, {Text::cmd_rank_below, "↓"}}},
      {"focus_track", C::focus_track},
      {"step_row", C::step_row, {{Text::cmd_row_above, "↑", R"({"by":-1})"}, {Text::cmd_row_below, "↓"}}},
  };
  return all;
}

}  // namespace nanlens::viewer
