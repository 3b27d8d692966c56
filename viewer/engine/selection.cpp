#include "selection.hpp"

#include <algorithm>

#include "badges.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

Focus focus_of_trace(RunIndex& index, std::int64_t row) {
  reader::Run& run = index.run();
  const auto r = static_cast<std::size_t>(row);
  const auto& op = index.op(run.trace_op(r));
  Focus focus;
  focus.trace = row;
  const std::uint32_t call = run.trace_execution(r);
  focus.execution = call == reader::none ? -1 : static_cast<std::int64_t>(call);
  focus.graph_id = index.text(index.graph(op.graph).id);
  focus.op_name = index.text(op.name);
  const auto detail = run.trace(r);
  focus.slot = detail ? detail->event.output_slot : 0;
  return focus;
}

// An op chosen in a graph: its row in the selected call if it ran there, else in the first call in which it went bad,
// else in the first call.
Focus focus_of_op(RunIndex& index, Explain& explain, const Focus& wish, const Focus& current, std::string& notice) {
  const std::uint32_t op = index.run().find_op(wish.graph_id, wish.op_name);
  if (op == reader::none) {
    notice = tr(Text::no_op, {{"op", wish.op_name}});
    return current;
  }
  const std::int32_t slot = std::max(0, wish.slot);
  std::int64_t row = explain.row_near(current, op, slot);
  if (row < 0) {
    const auto rows = index.rows_of_op(op);
    row = rows.first_bad >= 0 ? rows.first_bad : rows.first;
  }
  Focus focus = row >= 0 ? focus_of_trace(index, row) : Focus{};
  if (row < 0) focus.execution = current.execution;
  focus.graph_id = wish.graph_id;
  focus.op_name = wish.op_name;
  if (row < 0 || wish.slot >= 0) focus.slot = slot;
  return focus;
}

Focus focus_of_alert(RunIndex& index, std::size_t i) {
  const auto& ref = index.run().alerts()[i];
  if (!ref.is_execution) return focus_of_trace(index, ref.event);
  Focus focus;
  focus.execution = ref.event;
  if (const auto alert = index.run().alert(ref)) focus.slot = alert->output_slot;
  return focus;
}

// The alert to step from: the selected one, else the last one at or before the selected event's time.
std::int64_t alert_near(RunIndex& index, const Selection& current) {
  if (current.alert >= 0) return current.alert;
  reader::Run& run = index.run();
  double time = 0;
  if (current.focus.trace >= 0) {
    const auto detail = run.trace(static_cast<std::size_t>(current.focus.trace));
    time = detail ? detail->wall_time : 0;
  } else if (current.focus.execution >= 0) {
    time = run.execution_wall_time(static_cast<std::size_t>(current.focus.execution));
  }
  const auto& alerts = run.alerts();
  const auto after = std::upper_bound(alerts.begin(), alerts.end(), time,
                                      [](double t, const auto& a) { return reader::earlier(t, a.wall_time); });
  return after - alerts.begin() - 1;
}

Focus step_alert(RunIndex& index, const AlertList& list, const Selection& current, const Select& wish,
                 std::string& notice) {
  const auto count = static_cast<std::int64_t>(index.run().alerts().size());
  if (count == 0) {
    notice = tr(Text::no_alert);
    return current.focus;
  }
  std::int64_t at = alert_near(index, current);
  const bool on_alert = current.alert >= 0;
  const std::uint64_t op = on_alert ? list.op_key(static_cast<std::size_t>(at)) : 0;
  if (!on_alert && wish.index < 0) ++at;  // the one before the selected time is the previous one
  const auto passed_over = [&](std::size_t alert) {
    return list.is_expected(alert) || (wish.by_op && on_alert && list.op_key(alert) == op);
  };
  do at += wish.index < 0 ? -1 : 1;
  while (at >= 0 && at < count && passed_over(static_cast<std::size_t>(at)));
  if (at < 0 || at >= count) {
    notice = tr(at < 0 ? Text::no_alert_before : Text::no_alert_after);
    return current.focus;
  }
  return focus_of_alert(index, static_cast<std::size_t>(at));
}

// What lies around an op in one direction: the rows of its graph, or what ran eagerly.
std::vector<Focus> places_around(const Selection& current, bool inputs) {
  std::vector<Focus> places = inputs ? current.input_places : current.consumer_places;
  for (const std::int64_t row : inputs ? current.input_rows : current.consumer_rows)
    if (row >= 0) places.emplace_back().trace = row;
  return places;
}

bool is_at(const Focus& focus, const Focus& place) {
  return focus.trace == place.trace && (place.trace >= 0 || focus.execution == place.execution);
}

// To the next of the ops around an op. Once there, the same key goes on to the op's other ones, as long as nothing
// else is selected in between; where there is only one, it goes on from there.
Focus step_around(RunIndex& index, OpSteps& steps, const Selection& current, IntentKind kind, std::int64_t direction,
                  std::string& notice) {
  const auto there = [&] {
    const Focus& place = steps.places[steps.at];
    return place.trace >= 0 ? focus_of_trace(index, place.trace) : place;
  };
  const bool goes_on = steps.kind == kind && steps.places.size() > 1 && steps.at < steps.places.size() &&
                       is_at(current.focus, steps.places[steps.at]);
  if (goes_on) {
    steps.at = (steps.at + (direction < 0 ? steps.places.size() - 1 : 1)) % steps.places.size();
    return there();
  }
  const bool inputs = kind == IntentKind::input_step;
  steps = {kind, places_around(current, inputs), 0};
  if (steps.places.empty()) {
    const bool eager = current.has_neighbourhood && current.neighbourhood.graph_id.empty();
    notice = eager ? tr(inputs ? Text::no_input_made : Text::no_consumer)
                   : tr(inputs ? Text::no_input_row : Text::no_consumer_row);
    return current.focus;
  }
  if (direction < 0) steps.at = steps.places.size() - 1;
  return there();
}

Focus cross_boundary(RunIndex& index, const Selection& current, std::string& notice) {
  const auto& n = current.neighbourhood;
  if (current.has_neighbourhood && n.boundary.exists) {
    if (n.boundary.trace >= 0) return focus_of_trace(index, n.boundary.trace);
    if (n.boundary.known) {
      Focus focus;
      focus.execution = n.boundary.execution;
      return focus;
    }
    notice = tr(Text::no_caller, {{"function", n.boundary.function}});
    return current.focus;
  }
  if (current.focus.op_name.empty() && current.card.first_row >= 0)
    return focus_of_trace(index, current.card.first_row);
  notice = tr(Text::no_boundary);
  return current.focus;
}

// What was selected in a run that had more of it: the last of what there is.
Focus nearest_focus(RunIndex& index, Focus focus) {
  const reader::Run& run = index.run();
  focus.execution = std::min(focus.execution, static_cast<std::int64_t>(run.num_executions()) - 1);
  focus.trace = std::min(focus.trace, static_cast<std::int64_t>(run.num_traces()) - 1);
  return focus.trace >= 0 ? focus_of_trace(index, focus.trace) : focus;
}

Stack stack_of(RunIndex& index, const Focus& focus) {
  Stack stack;
  reader::Run& run = index.run();
  std::optional<logdir::CodeLocation> location;
  if (!focus.op_name.empty()) {
    const std::uint32_t op = run.find_op(focus.graph_id, focus.op_name);
    const auto detail = op == reader::none ? std::nullopt : run.op(op);
    stack.exists = true;
    stack.op_name = focus.op_name;
    if (op != reader::none) stack.op_type = index.text(index.op(op).type);
    if (detail) location = detail->event.code_location;
  } else if (focus.execution >= 0) {
    const auto detail = run.execution(static_cast<std::size_t>(focus.execution));
    stack.exists = true;
    stack.execution = focus.execution;
    if (detail) {
      stack.op_type = detail->event.op_type;
      location = detail->event.code_location;
    }
  }
  if (!location) return stack;
  stack.host = location->host_name;
  const auto frames = reader::resolve_stack(run, location);
  stack.missing = static_cast<std::uint32_t>(location->stack_frame_ids.size() - frames.size());
  for (const auto& f : frames) {
    Frame frame{f.host_name, f.file_path, f.line, f.function, !reader::is_library_path(f.file_path) && f.line > 0,
                false};
    for (const auto& file : run.source_files())
      if (file.file_path == f.file_path && file.host_name == f.host_name) frame.has_text = file.num_lines > 0;
    stack.frames.push_back(std::move(frame));
  }
  return stack;
}

}  // namespace

std::int64_t first_bad_alert(Explain& explain, const AlertList& alerts) {
  const std::size_t count = alerts.size();
  for (std::size_t i = 0; i < count; ++i)
    if (!alerts.is_expected(i) && !explain.is_intended(i)) return static_cast<std::int64_t>(i);
  return count == 0 ? -1 : 0;
}

Focus resolve(RunIndex& index, Explain& explain, AlertList& alerts, OpSteps& steps, const Selection& current,
              const Select& wish, std::string& notice) {
  reader::Run& run = index.run();
  const auto in_range = [&](std::int64_t i, std::size_t size, Text none) {
    if (i >= 0 && static_cast<std::size_t>(i) < size) return true;
    notice = tr(none, {{"index", i}});
    return false;
  };
  switch (wish.kind) {
    case IntentKind::focus: return nearest_focus(index, wish.focus);
    case IntentKind::execution: {
      if (!in_range(wish.index, run.num_executions(), Text::no_execution)) return current.focus;
      Focus focus;
      focus.execution = wish.index;
      return focus;
    }
    case IntentKind::trace:
      return in_range(wish.index, run.num_traces(), Text::no_row) ? focus_of_trace(index, wish.index) : current.focus;
    case IntentKind::op: return focus_of_op(index, explain, wish.focus, current.focus, notice);
    case IntentKind::alert:
      return in_range(wish.index, run.alerts().size(), Text::no_alert_index)
                 ? focus_of_alert(index, static_cast<std::size_t>(wish.index))
                 : current.focus;
    case IntentKind::alert_step: return step_alert(index, alerts, current, wish, notice);
    case IntentKind::first_bad:
      if (const std::int64_t first = first_bad_alert(explain, alerts); first >= 0)
        return focus_of_alert(index, static_cast<std::size_t>(first));
      notice = tr(Text::no_bad);
      return current.focus;
    case IntentKind::input_step:
    case IntentKind::consumer_step: return step_around(index, steps, current, wish.kind, wish.index, notice);
    case IntentKind::rank_execution_step:
    case IntentKind::rank_step:
    case IntentKind::rank_place: return focus_by_rank(index, current.focus, wish, notice);
    case IntentKind::boundary: return cross_boundary(index, current, notice);
    default: return {};
  }
}

Selection describe_selection(RunIndex& index, Explain& explain, const AlertList& alerts, const Focus& focus,
                             std::uint32_t hops) {
  Selection s;
  s.focus = focus;
  s.alert = alerts.find(focus);
  if (s.alert >= 0) s.alert_site = alerts.site(static_cast<std::size_t>(s.alert));
  s.card = describe_execution(index, explain, focus.execution);
  s.seen = seen_tensors(index, focus);
  s.neighbourhood.graph_id = focus.graph_id.empty() ? s.card.graph_id : focus.graph_id;
  const bool in_graph = !s.neighbourhood.graph_id.empty();
  s.has_neighbourhood = in_graph || s.card.index >= 0;
  if (in_graph)
    describe_neighbourhood(index, explain, hops, s);
  else if (s.has_neighbourhood)
    describe_eager_neighbourhood(index, explain, hops, s);
  s.stack = stack_of(index, focus);
  return s;
}

}  // namespace nanlens::viewer
