// What is selected, and steps along the chain that explains it.
#include <algorithm>
#include <utility>

#include "engine.hpp"
#include "selection.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

void Engine::apply(Select& request) {
  if (!current_) return;
  std::string notice;
  describe(wished(request, notice));
  current_->selection.notice = notice;
  current_->selection.serial = serial_;
  current_->rows.set_roles(current_->selection);
  dirty_.selection = dirty_.rows = dirty_.alerts = dirty_.values = true;
}

Focus Engine::wished(const Select& request, std::string& notice) {
  OpenRun& now = *current_;
  if (request.kind == IntentKind::cause_step) return step_chain(request.index, notice);
  if (request.kind == IntentKind::rule_step) {
    Select hit;
    hit.kind = IntentKind::focus;
    hit.focus = now.rules.step_hit(request.rule, now.selection.focus, request.index, notice);
    return notice.empty() ? resolve(now.index, now.explain, now.alerts, now.steps, now.selection, hit, notice)
                          : now.selection.focus;
  }
  if (request.kind != IntentKind::cause)
    return resolve(now.index, now.explain, now.alerts, now.steps, now.selection, request, notice);
  Select to;
  to.kind = IntentKind::focus;
  to.focus = now.explain.cause_of(now.selection.focus);
  if (to.focus == Focus{}) {
    notice = tr(now.explain.complete() ? Text::no_cause : Text::no_cause_yet);
    return now.selection.focus;
  }
  return resolve(now.index, now.explain, now.alerts, now.steps, now.selection, to, notice);
}

// Where the focus is in the chain that is walked along; the chain of the focus itself if it is not in the last one.
std::vector<Focus>::const_iterator Engine::place_in_walk() {
  OpenRun& now = *current_;
  const auto same = [&](const Focus& f) {
    const Focus& focus = now.selection.focus;
    return f.trace == focus.trace && (f.trace >= 0 || (f.execution == focus.execution && focus.op_name.empty()));
  };
  const auto at = std::find_if(now.walk.cbegin(), now.walk.cend(), same);
  if (at != now.walk.cend()) return at;
  now.walk.clear();
  for (const ChainStep& step : now.selection.chain) {
    Focus focus;
    focus.trace = step.trace;
    if (step.trace < 0) focus.execution = step.execution;
    if (step.trace < 0) focus.slot = step.slot;
    now.walk.push_back(focus);
  }
  return std::find_if(now.walk.cbegin(), now.walk.cend(), same);
}

// Along the chain of the tensor where walking began: −1 towards the cause, +1 back; beyond its end to what it feeds.
Focus Engine::step_chain(std::int64_t direction, std::string& notice) {
  OpenRun& now = *current_;
  const auto at = place_in_walk();
  Select to;
  to.kind = IntentKind::focus;
  if (direction < 0 && at != now.walk.cend() && at != now.walk.cbegin()) {
    to.focus = *(at - 1);
  } else if (direction > 0 && at != now.walk.cend() && at + 1 != now.walk.cend()) {
    to.focus = *(at + 1);
  } else if (direction > 0) {
    for (const std::int64_t row : now.selection.consumer_rows)
      if (to.focus.trace < 0 && (now.index.run().trace_flags(static_cast<std::size_t>(row)) & reader::bad_flags) != 0)
        to.focus.trace = row;
    for (const Focus& place : now.selection.consumer_places)
      if (to.focus.execution < 0 &&
          (now.index.run().execution_flags(static_cast<std::size_t>(place.execution)) & reader::bad_flags) != 0)
        to.focus = place;
  }
  if (to.focus == Focus{}) {
    notice = tr(now.selection.chain.empty() ? Text::no_chain : direction < 0 ? Text::chain_begins : Text::chain_ends);
    return now.selection.focus;
  }
  return resolve(now.index, now.explain, now.alerts, now.steps, now.selection, to, notice);
}

void Engine::describe(const Focus& focus) {
  current_->selection = describe_selection(current_->index, current_->explain, current_->alerts, focus, view_.hops);
  current_->explain.fill(current_->selection);
}

// What is selected stays; what is said of it may have changed.
void Engine::describe_again() {
  const std::uint64_t serial = current_->selection.serial;
  describe(current_->selection.focus);
  current_->selection.serial = serial;
}

// The analysis has come to its end: whatever shows classes or causes is answered anew.
void Engine::explained() {
  describe_again();
  current_->alerts.invalidate();
  current_->rows.explained();
  current_->rules.explained();
  dirty_.all();
}

}  // namespace nanlens::viewer
