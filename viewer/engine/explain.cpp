#include "explain.hpp"

#include <algorithm>

#include "badges.hpp"
#include "report/report.hpp"
#include "selection.hpp"

namespace nanlens::viewer {

namespace {

using causes::EventRef;

constexpr std::size_t most_lines = 200;     // of the list of causes
constexpr std::size_t longest_chain = 400;  // steps of a chain that are shown

std::int64_t number(std::uint32_t index) { return index == reader::none ? -1 : static_cast<std::int64_t>(index); }

}  // namespace

bool Explain::step(std::chrono::steady_clock::time_point deadline) {
  constexpr std::size_t slice = 256;  // each event may cost a read of some milliseconds in the page
  while (!causes_->advance(slice))
    if (std::chrono::steady_clock::now() >= deadline) return true;
  return false;
}

std::string Explain::report() {
  reader::Run& run = index_.run();
  return report::run_report(run, run.alerts().empty() ? nullptr : causes_.get());
}

EventRef Explain::event_of(const Focus& focus) {
  const reader::Run& run = index_.run();
  if (focus.trace >= 0 && static_cast<std::size_t>(focus.trace) < run.num_traces())
    return causes::trace_event(static_cast<std::uint32_t>(focus.trace));
  if (focus.op_name.empty() && focus.execution >= 0 &&
      static_cast<std::size_t>(focus.execution) < run.num_executions()) {
    const auto execution = static_cast<std::uint32_t>(focus.execution);
    if (focus.slot >= 0) return causes::execution_event(execution, static_cast<std::size_t>(focus.slot));
    for (std::size_t slot = 0; slot < causes_->model().calls().outputs(execution).size(); ++slot)
      if (causes_->model().bad(causes::execution_event(execution, slot)))
        return causes::execution_event(execution, slot);
  }
  return {};
}

Focus Explain::focus_of(EventRef event) {
  Focus focus;
  if (!event.exists()) return focus;
  if (event.is_execution) {
    focus.execution = event.index;
    focus.slot = event.slot;
  } else {
    focus.trace = event.index;
  }
  return focus;
}

Focus Explain::cause_of(const Focus& focus) {
  if (!complete()) return {};
  const EventRef event = event_of(focus);
  std::uint32_t root = event.exists() ? causes_->root_of(event) : reader::none;
  if (root == reader::none) root = causes_->headline().value_or(reader::none);
  return root == reader::none ? Focus{} : focus_of(causes_->roots()[root].event);
}

CauseLine Explain::line_of(std::uint32_t root) {
  const auto& r = causes_->roots()[root];
  const auto s = causes::SentenceWriter(*causes_).sentence(root);
  CauseLine line;
  line.id = "rc." + s.id;
  line.sentence = s.text;
  line.consequence = s.consequence;
  line.remedy = s.remedy;
  line.event_class = causes_->event_class(r.event);
  line.op_type = s.op_type;
  line.op_name = s.op_name;
  line.graph_id = s.graph_id;
  line.path = s.place.file_path;
  line.line = s.place.line;
  line.reach = r.reach;
  const Focus focus = focus_of(r.event);
  line.trace = focus.trace;
  line.execution = r.event.is_execution ? focus.execution : number(causes_->model().owners().owner(r.event.index));
  line.slot = focus.slot;
  line.tensor = causes::tensor_name(causes_->model(), r.event);
  return line;
}

void Explain::fill(Verdict& verdict) {
  verdict.explained = false;
  if (!complete()) return;
  verdict.total = causes_->total();
  std::optional<std::uint32_t> headline = causes_->headline();
  const auto benign = causes_->benign();
  verdict.num_expected = benign.size();
  if (!headline && !benign.empty()) headline = benign.front();
  if (!headline) return;
  verdict.explained = true;
  verdict.cause = line_of(*headline);
}

ChainStep Explain::step_of(const causes::ChainLink& link) {
  ChainStep step;
  const Focus focus = focus_of(link.event);
  step.tensor = causes::tensor_name(causes_->model(), link.event);
  step.trace = focus.trace;
  step.slot = focus.slot;
  step.execution =
      link.event.is_execution ? focus.execution : number(causes_->model().owners().owner(link.event.index));
  step.event_class = link.event_class;
  step.doubt = causes::confidence_words(link.confidence);
  step.change = causes::change_words(link.change);
  const auto health = causes_->model().health(link.event);
  for (const auto& [kind, count] :
       {std::pair{BadgeKind::nan, health.num_nan}, std::pair{BadgeKind::ninf, health.num_neg_inf},
        std::pair{BadgeKind::pinf, health.num_pos_inf}})
    if (count > 0) step.badges.push_back({kind, count, {}});
  if (const auto frame = reader::user_frame(causes::stack_of(index_.run(), link.event))) {
    step.path = frame->file_path;
    step.line = frame->line;
  }
  return step;
}

// Behind the argument of a nested function: what the analysis found there.
void Explain::find_caller(Selection& selection, const causes::Classification& classification) {
  Boundary& b = selection.neighbourhood.boundary;
  constexpr float sure = 0.65F;
  if (!b.exists || b.known || classification.inputs.size() != 1) return;
  const auto& input = classification.inputs.front();
  if (!input.event.exists() || input.link.confidence < sure) return;
  b.known = true;
  b.tensor = causes::tensor_name(causes_->model(), input.event);
  b.bad = causes_->model().bad(input.event);
  const Focus focus = focus_of(input.event);
  b.trace = focus.trace;
  b.execution = focus.execution;
  if (focus.trace >= 0) {
    selection.caller_row = focus.trace;
    if (const auto trace = index_.run().trace(static_cast<std::size_t>(focus.trace))) b.badges = badges_of(*trace);
  } else {
    b.badges = describe_output(index_, focus.execution, focus.slot).badges;
  }
}

// The clean input that the cause made it from, as what it was before it was handed on.
void Explain::add_evidence(EventRef root, Selection& selection) {
  const auto lineage = causes_->lineage(root);
  if (lineage.classification.event_class != EventClass::producer || lineage.classification.inputs.empty()) return;
  for (const auto& input : lineage.classification.inputs) {
    if (!input.event.exists() || causes_->model().bad(input.event)) continue;
    const EventRef origin = causes_->origin(input.event);
    const auto health = causes_->model().health(origin);
    if (health.num_zero <= 0 && health.num_negative <= 0 && health.size != 0) continue;
    selection.chain.push_back(step_of({origin, EventClass::clean, 1, causes::Mechanism::generic}));
    ChainStep& step = selection.chain.back();
    if (health.num_zero > 0) step.badges.push_back({BadgeKind::zero, health.num_zero, {}});
    if (health.num_negative > 0) step.badges.push_back({BadgeKind::neg, health.num_negative, {}});
    return;
  }
}

void Explain::fill(Selection& selection) {
  selection.chain.clear();
  selection.cause.clear();
  selection.event_class = EventClass::clean;
  if (!complete()) return;
  const auto mark = [&](OpCard& card) { card.event_class = of_row(card.trace); };
  for (OpCard& card : selection.neighbourhood.outputs) mark(card);
  for (OpCard& card : selection.neighbourhood.inputs) mark(card);
  for (auto& slot : selection.neighbourhood.consumers)
    for (OpCard& card : slot) mark(card);
  for (TensorInfo& output : selection.card.outputs) output.event_class = of_output(selection.card.index, output.slot);
  const EventRef event = event_of(selection.focus);
  if (!event.exists()) return;
  const auto lineage = causes_->lineage(event);
  selection.event_class = lineage.classification.event_class;
  selection.doubt = causes::confidence_words(lineage.classification.confidence);
  find_caller(selection, lineage.classification);
  if (lineage.root == reader::none) return;
  selection.cause = causes::SentenceWriter(*causes_).sentence(lineage.root).text;
  const auto chain = causes_->chain(event);
  if (!chain.empty()) add_evidence(chain.front().event, selection);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    // Of a very long chain: its beginning, and the steps next to the selection.
    const bool shown = chain.size() <= longest_chain || i < longest_chain / 2 || i >= chain.size() - longest_chain / 2;
    if (shown) selection.chain.push_back(step_of(chain[i]));
  }
}

Explanation Explain::explanation() {
  Explanation e;
  e.complete = complete();
  e.done = causes_->done();
  e.total = causes_->total();
  if (!e.complete) return e;
  e.explained = causes_->explained();
  e.dropped = index_.run().dropped();
  const auto headline = causes_->headline();
  if (headline) e.causes.push_back(line_of(*headline));
  for (const auto& incident : causes_->incidents())
    for (const std::uint32_t root : incident.roots) {
      if (causes_->roots()[root].reach == 0) continue;
      ++e.num_causes;
      if (root != headline && e.causes.size() < most_lines) e.causes.push_back(line_of(root));
    }
  for (const std::uint32_t root : causes_->benign())
    if (e.expected.size() < most_lines) e.expected.push_back(line_of(root));
  for (const auto& site : causes_->killers()) {
    if (e.removed.size() == most_lines) break;
    RemovedLine line;
    const Focus focus = focus_of(site.event.exists() ? site.event : site.removed);
    line.op = site.op == reader::none ? causes::tensor_name(causes_->model(), site.event)
                                      : index_.text(index_.op(site.op).name);
    line.removed = causes::tensor_name(causes_->model(), site.removed);
    line.to_integers = !site.event.exists();
    line.trace = focus.trace;
    line.execution = focus.execution;
    line.count = site.count;
    e.removed.push_back(std::move(line));
  }
  return e;
}

EventClass Explain::of_row(std::int64_t row) {
  if (row < 0 || !complete()) return EventClass::clean;
  return causes_->event_class(causes::trace_event(static_cast<std::uint32_t>(row)));
}

EventClass Explain::of_output(std::int64_t execution, std::int32_t slot) {
  if (execution < 0 || slot < 0 || !complete()) return EventClass::clean;
  return causes_->event_class(
      causes::execution_event(static_cast<std::uint32_t>(execution), static_cast<std::size_t>(slot)));
}

EventClass Explain::of_alert(std::size_t alert) {
  return complete() ? causes_->event_class(causes_->event_of(alert)) : EventClass::unknown;
}

}  // namespace nanlens::viewer
