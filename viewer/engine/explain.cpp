#include "explain.hpp"

#include <algorithm>

#include <nanlens/causes/sentence_table.hpp>
#include <nanlens/reader/sort_stably.hpp>

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
  forget_groups();
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
  if (root == reader::none) root = muted().headline();
  return root == reader::none ? Focus{} : focus_of(causes_->roots()[root].event);
}

CauseLine Explain::line_of(std::uint32_t root) {
  const auto& r = causes_->roots()[root];
  const auto s = writer().sentence(root);
  const causes::CauseGroup* const group = writer().groups().find(root);
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
  line.reach = group != nullptr ? group->reach : r.reach;
  const Focus focus = focus_of(r.event);
  line.trace = focus.trace;
  line.execution = r.event.is_execution ? focus.execution : number(causes_->model().owners().owner(r.event.index));
  line.slot = focus.slot;
  line.tensor = causes::tensor_name(causes_->model(), r.event);
  line.conditions = report::mute_conditions(report::mute_subject(index_.run(), s));
  if (const report::Mute* const mark = mute_of_root(root)) {
    line.muted_by = mark->place();
    line.reason = mark->reason;
  }
  return line;
}

const report::MutedCauses& Explain::muted() { return muted_ ? *muted_ : muted_.emplace(writer(), *causes_, *mutes_); }

const report::Mute* Explain::mute_of_root(std::uint32_t root) {
  if (root == reader::none || !has_mutes()) return nullptr;
  const causes::CauseGroup* const group = writer().groups().find(root);
  return muted().by(group == nullptr ? root : group->root);
}

const report::Mute* Explain::mute_of_alert(std::size_t alert) {
  return has_mutes() ? mute_of_root(causes_->root_of(causes_->event_of(alert))) : nullptr;
}

const std::vector<report::TrappedByProgram>& Explain::trapped() {
  return trapped_ ? *trapped_ : trapped_.emplace(report::trapped_by_program(index_.run(), *mutes_));
}

std::vector<report::MuteProblem> Explain::mute_problems() {
  if (complete()) {
    static_cast<void>(muted());  // what matches has matched then
    if (has_mutes()) static_cast<void>(trapped());
    return mutes_->problems();
  }
  std::vector<report::MuteProblem> faulty = mutes_->problems();
  std::erase_if(faulty, [](const report::MuteProblem& p) { return p.is_idle(); });
  return faulty;
}

void Explain::fill(Verdict& verdict) {
  verdict.explained = verdict.all_muted = verdict.harmless = false;
  verdict.num_muted = 0;
  if (!complete()) return;
  verdict.total = causes_->total();
  std::uint32_t root = muted().headline();
  verdict.num_causes = muted().all();
  verdict.num_muted = muted().muted();
  verdict.all_muted = muted().all_muted();
  verdict.muted_by = report::mark_words(muted().marks(), false, speaks_);
  verdict.reasons = report::mark_words(muted().marks(), true, speaks_);
  const auto& expected = writer().groups().expected();
  verdict.num_expected = expected.size();
  if (root == reader::none && !expected.empty()) {
    root = expected.front().root;
    verdict.harmless = !verdict.all_muted;
  }
  if (root == reader::none) return;
  verdict.explained = true;
  verdict.cause = line_of(root);
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
  step.doubt = causes::doubt_words(link.event_class, link.confidence, speech_of(speaks_));
  step.change = causes::change_words(link.change, speech_of(speaks_));
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
  selection.partners.clear();
  selection.cause.clear();
  selection.event_class = EventClass::clean;
  if (!complete()) return;
  const auto mark = [&](OpCard& card) {
    card.event_class = card.execution < 0 ? of_row(card.trace) : of_output(card.execution, card.output);
  };
  for (OpCard& card : selection.neighbourhood.outputs) mark(card);
  for (OpCard& card : selection.neighbourhood.inputs) mark(card);
  for (auto& slot : selection.neighbourhood.consumers)
    for (OpCard& card : slot) mark(card);
  for (TensorInfo& output : selection.card.outputs) output.event_class = of_output(selection.card.index, output.slot);
  selection.partners = partners_of(selection.focus.execution);
  const EventRef event = event_of(selection.focus);
  if (!event.exists()) return;
  const auto lineage = causes_->lineage(event);
  selection.event_class = lineage.classification.event_class;
  selection.doubt = causes::doubt_words(selection.event_class, lineage.classification.confidence, speech_of(speaks_));
  if (lineage.root == reader::none) return;
  const causes::Sentence sentence = writer().sentence(lineage.root);
  selection.cause = sentence.text;
  selection.conditions = report::mute_conditions(report::mute_subject(index_.run(), sentence));
  if (const report::Mute* const mark = mute_of_root(lineage.root)) {
    selection.muted_by = mark->place();
    selection.reason = mark->reason;
  }
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
  e.unread_tensors = index_.run().unread_tensors();
  const auto& groups = writer().groups().list();
  e.num_causes = groups.size();
  for (std::size_t i = 0; i < std::min(groups.size(), most_lines); ++i) e.causes.push_back(line_of(groups[i].root));
  // The headline leads, then other causes; what is muted comes last.
  if (const std::uint32_t headline = muted().headline(); headline != reader::none)
    for (std::size_t i = 0; i < e.causes.size(); ++i) e.causes[i].may_follow = writer().may_follow(groups[i], headline);
  reader::sort_stably(e.causes, [](const CauseLine& a, const CauseLine& b) {
    if (a.muted_by.empty() != b.muted_by.empty()) return a.muted_by.empty();
    return !a.may_follow && b.may_follow;
  });
  for (const causes::CauseGroup& group : writer().groups().expected()) {
    if (e.expected.size() == most_lines) break;
    e.expected.push_back(line_of(group.root));
  }
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

bool Explain::linked() {
  constexpr std::size_t executions = 1 << 16;  // some tens of milliseconds
  return causes_->link(executions);
}

causes::Place Explain::place_of(const Focus& focus, std::uint32_t graph) {
  const causes::Place nowhere{reader::none, graph, reader::none, reader::none};
  if (!linked()) return nowhere;
  if (focus.trace >= 0 && static_cast<std::size_t>(focus.trace) < index_.run().num_traces()) {
    const causes::Place place = neighbours_.place_of(static_cast<std::uint32_t>(focus.trace));
    return place.graph == graph ? place : neighbours_.place_in_call(graph, place.call);
  }
  return focus.execution < 0 ? nowhere : neighbours_.place_in_call(graph, static_cast<std::uint32_t>(focus.execution));
}

std::int64_t Explain::row_near(const Focus& focus, std::uint32_t op, std::int32_t slot) {
  if (slot < 0) return -1;
  const causes::Place place = place_of(focus, index_.op(op).graph);
  return number(neighbours_.output(place, op, static_cast<std::size_t>(slot)).index);
}

std::int64_t Explain::row_behind(std::int64_t execution, std::int32_t slot) {
  if (!linked() || execution < 0 || slot < 0) return -1;
  const EventRef event = neighbours_.behind(
      causes::execution_event(static_cast<std::uint32_t>(execution), static_cast<std::size_t>(slot)));
  return event.is_execution ? -1 : number(event.index);
}

std::uint32_t Explain::graph_of_call(std::int64_t execution) {
  if (!linked() || execution < 0) return reader::none;
  return causes_->model().owners().graph_of_call(static_cast<std::uint32_t>(execution));
}

std::vector<std::uint32_t> Explain::arguments(std::uint32_t graph) {
  return graph == reader::none ? std::vector<std::uint32_t>{} : graphs().links(graph).placeholders;
}

EventRef Explain::producer_of(std::int64_t tensor_id, std::int64_t execution) {
  if (!linked() || execution < 0) return {};
  const auto use = causes_->model().calls().producer(tensor_id, static_cast<std::uint32_t>(execution));
  return use ? causes::execution_event(use->execution, use->position) : EventRef{};
}

const causes::CallTable* Explain::calls() { return linked() ? &causes_->model().calls() : nullptr; }

std::span<const causes::TensorUse> Explain::consumers_of(std::int64_t execution, std::int32_t slot) {
  if (!linked() || execution < 0 || slot < 0) return {};
  return causes_->model().calls().consumers(static_cast<std::uint32_t>(execution), static_cast<std::uint16_t>(slot));
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

std::int64_t Explain::alert_of_cause() {
  if (!complete()) return -1;
  const std::uint32_t root = muted().headline();
  return root == reader::none || muted().all_muted() ? -1 : static_cast<std::int64_t>(causes_->roots()[root].alert);
}

bool Explain::is_intended(std::size_t alert) {
  return complete() && causes_->did_no_harm(static_cast<std::uint32_t>(alert));
}

EventClass Explain::of_alert(std::size_t alert) {
  return complete() ? causes_->event_class(causes_->event_of(alert)) : EventClass::unknown;
}

}  // namespace nanlens::viewer
