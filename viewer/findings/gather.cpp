#include "gather.hpp"

#include <algorithm>
#include <limits>

#include <nanlens/causes/runs.hpp>
#include <nanlens/causes/sentence.hpp>
#include <nanlens/causes/sentence_table.hpp>

#include "make_finding.hpp"
#include "report/describe.hpp"
#include "report/trapped.hpp"
#include "rules.hpp"
#include "texts/speech.hpp"

namespace nanlens::findings {

namespace {

using viewer::speech;
using viewer::Text;
using viewer::tr;

using causes::Causes;
using causes::EventRef;
using causes::SentenceWriter;

Step step_of(Causes& causes, const causes::ChainLink& link, const SourceRoot& sources) {
  Step step;
  step.tensor = causes::tensor_name(causes.model(), link.event);
  step.where = where_words(link.event);
  step.what = causes::class_words(link.event_class, speech());
  if (const std::string doubt = causes::doubt_words(link.event_class, link.confidence, speech()); !doubt.empty())
    step.what += ", " + doubt;
  if (const auto change = causes::change_words(link.change, speech()); !change.empty())
    step.what = tr(Text::out_became_nan, {{"text", step.what}, {"change", change}});
  if (const auto frame = reader::user_frame(causes::stack_of(causes.run(), link.event)))
    step.place = place_of(*frame, sources);
  return step;
}

// From the cause to the last that follows, without what is the same tensor again; of a long one both ends.
void add_chain(Causes& causes, EventRef last, const SourceRoot& sources, Finding& f) {
  constexpr std::size_t head = 32;
  constexpr std::size_t tail = 8;
  std::vector<causes::ChainLink> links;
  for (const auto& link : causes.chain(last))
    if (link.event_class != causes::EventClass::relay || link.event == last) links.push_back(link);
  if (links.size() > head + tail) {
    f.steps_left_out = links.size() - head - tail;
    links.erase(links.begin() + head, links.end() - tail);
  }
  for (const auto& link : links) f.chain.push_back(step_of(causes, link, sources));
}

Finding finding_of(Causes& causes, SentenceWriter& writer, std::uint32_t number, const SourceRoot& sources) {
  const causes::Root root = causes.roots()[number];
  const auto s = writer.sentence(number);
  const causes::CauseGroup* const group = writer.groups().find(number);
  report::MuteSubject subject = report::mute_subject(causes.run(), s);
  Finding f;
  f.rule = std::move(subject.rule);
  f.graph = std::move(subject.graph);
  f.sentence = s.text;
  f.consequence = s.consequence;
  f.remedy = s.remedy;
  f.op_type = s.op_type;
  f.op_name = s.op_name;
  f.tensor = causes::tensor_name(causes.model(), root.event);
  f.where = where_words(root.event);
  (root.event.is_execution ? f.execution : f.row) = root.event.index;
  f.place = place_of(s.place, sources);
  f.reach = group != nullptr ? group->reach : root.reach;
  f.count = group != nullptr ? group->count : root.occurrences;
  f.confidence = causes::confidence_words(causes.confidence(root));
  f.run_id = causes.run().id();
  f.host = s.host;
  f.fingerprint = fingerprint(causes.run(), f, s.place);
  add_chain(causes, root.last.exists() ? root.last : root.event, sources, f);
  return f;
}

void gather_run(reader::Run& run, const SourceRoot& sources, Report& report) {
  Causes causes(run);
  constexpr std::size_t slice = 65536;
  while (!causes.advance(slice)) {
  }
  SentenceWriter writer(causes, speech());
  const auto add = [&](std::uint32_t root, Level level) {
    if (report.findings.size() == most_findings) {
      ++report.causes_not_listed;
      return;
    }
    Finding f = finding_of(causes, writer, root, sources);
    f.level = level;
    report.coverage.causes_unknown += f.rule == "rc.unknown";
    report.coverage.traps += f.rule == "rc.trap";
    report.findings.push_back(std::move(f));
  };
  for (const causes::CauseGroup& group : writer.groups().list()) add(group.root, Level::error);
  for (const causes::CauseGroup& group : writer.groups().expected()) add(group.root, Level::warning);
}

Finding finding_of(reader::Run& run, const report::TrappedByProgram& trapped, const SourceRoot& sources) {
  Finding f;
  f.rule = report::trapped_rule;
  f.sentence = report::sentence_of(trapped.words());
  f.op_type = trapped.op_type;
  f.op_name = trapped.what;
  f.tensor = trapped.op_type;
  f.where = where_words(causes::execution_event(trapped.execution, 0));
  f.execution = trapped.execution;
  const reader::StackFrame frame = trapped.frame.value_or(reader::StackFrame{});
  f.place = place_of(frame, sources);
  f.count = trapped.hits;
  f.run_id = run.id();
  f.fingerprint = fingerprint(run, f, frame);
  return f;
}

// What the program trapped itself was meant to be an error by whoever wrote that.
void gather_trapped(reader::Run& run, const SourceRoot& sources, Report& report) {
  report::Mutes none;  // findings are compared with marks when all are there
  for (const report::TrappedByProgram& trapped :
       report::trapped_by_program(run, none, std::numeric_limits<std::size_t>::max())) {
    ++report.coverage.trapped;
    ++report.coverage.traps;
    if (report.findings.size() == most_findings)
      ++report.causes_not_listed;
    else
      report.findings.push_back(finding_of(run, trapped, sources));
  }
}

// "2 muted by nanlens.mutes:4, nanlens.mutes:7"
std::string muted_words(const Report& report) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> places;
  for (const Finding& f : report.findings)
    if (f.state == State::muted && std::find(places.begin(), places.end(), f.muted_by) == places.end())
      places.push_back(f.muted_by);
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, places.size()); ++i) text += (i == 0 ? "" : ", ") + places[i];
  if (places.size() > shown) text = tr(Text::out_more_lines, {{"places", text}, {"n", places.size() - shown}});
  return tr(Text::out_muted, {{"n", report.count(State::muted)}, {"places", text}});
}

std::string excused_words(const Report& report) {
  std::string text;
  if (report.count(State::known) > 0)
    text += ", " + tr(Text::out_known_from, {{"n", report.count(State::known)}, {"baseline", report.baseline->path}});
  if (report.count(State::muted) > 0) text += ", " + muted_words(report);
  return text;
}

std::string bad_words(const Report& report) {
  const Coverage& c = report.coverage;
  std::string text = c.bad > 0 || c.trapped == 0 ? tr(Text::out_bad_tensors, {{"n", c.bad}}) : std::string();
  if (c.bad_runs > 1) text = tr(Text::out_in_runs, {{"text", text}, {"n", c.bad_runs}});
  if (c.trapped > 0) text += (text.empty() ? "" : ", ") + tr(Text::out_trapped_places, {{"n", c.trapped}});
  const std::uint64_t fresh = report.count(State::fresh, false);
  const std::string excused = excused_words(report);
  if (fresh > 1 || (fresh == 1 && !excused.empty()))
    text += ", " + tr(report.baseline ? Text::out_new_findings : Text::out_findings, {{"n", fresh}});
  return text + excused;
}

std::string explained(const Report& report, const std::string& text) {
  for (const Finding& f : report.findings) {
    if (f.state != State::fresh || f.of_rule) continue;
    const std::string sentence = f.sentence + (f.consequence.empty() ? "" : " " + f.consequence);
    return tr(Text::out_because, {{"text", text}, {"sentence", sentence}, {"tensor", f.tensor}, {"where", f.where}});
  }
  return text;
}

// What the first rule that fails says; of one whose listed findings are excused, while others are not listed, as much.
std::string broken_words(const Report& report) {
  for (const Finding& f : report.findings)
    if (f.of_rule && f.fails()) return f.sentence + (f.tensor.empty() ? "" : " (" + f.where + ")");
  const std::uint64_t more = report.rules_not_listed[static_cast<std::size_t>(Level::error)];
  return more == 0 ? "" : tr(Text::rules_not_listed, {{"n", more}});
}

// Is there an error's rule that nothing could be judged by, or with `strict` any rule?
bool misses_rule(const Report& report, bool strict) {
  return std::any_of(report.rules.begin(), report.rules.end(), [&](const RuleOutcome& rule) {
    return !rule.not_judged.empty() && (strict || rule.level == Level::error);
  });
}

std::string unchecked_words(const Coverage& c) {
  if (c.events() == 0) return tr(Text::out_unchecked_empty);
  const bool health = std::any_of(c.modes.begin(), c.modes.end(), [](const std::string& mode) {
    return mode == debug_mode_name(TensorDebugMode::full_health) ||
           mode == debug_mode_name(TensorDebugMode::full_tensor);
  });
  const std::string text = tr(Text::out_unchecked);
  return health ? text : tr(Text::out_unchecked_mode, {{"text", text}});
}

}  // namespace

void gather(const reader::Logdir& logdir, const SourceRoot& sources, Report& report) {
  std::vector<reader::Run*> runs;
  for (const auto& run : logdir.runs()) runs.push_back(run.get());
  for (reader::Run* const run : causes::by_importance(std::move(runs))) {
    if (!run->alerts().empty()) gather_run(*run, sources, report);
    gather_trapped(*run, sources, report);
  }
}

void mute(Report& report, report::Mutes& mutes) {
  for (Finding& f : report.findings) {
    const report::Mute* const mark = mutes.match(
        {f.rule, f.op_type, f.op_name.empty() ? f.op_type : f.op_name, f.graph, f.place.file, f.place.line});
    if (mark == nullptr) continue;
    f.state = State::muted;
    f.muted_by = mark->place();
    f.mute_reason = mark->reason;
  }
  report.mute_files = mutes.files();
  report.mute_problems = mutes.problems();
}

void compare(Report& report, Baseline baseline) {
  std::set<std::string> gone = baseline.fingerprints;
  for (Finding& f : report.findings) {
    gone.erase(f.fingerprint);
    if (f.state == State::fresh && baseline.has(f.fingerprint)) f.state = State::known;
  }
  baseline.gone = gone.size();
  report.baseline = std::move(baseline);
}

void conclude(Report& report, bool strict) {
  constexpr int has_findings = 1;
  constexpr int not_checked = 3;
  const Coverage& c = report.coverage;
  const bool excused = report.count(State::known, false) + report.count(State::muted, false) > 0 &&
                       report.count(State::fresh, false) == 0;
  const bool harmless = c.bad > 0 && report.count(State::fresh, false) > 0 && !report.fails_by_cause();
  const std::string broken = broken_words(report);
  const std::string rules = report.rules.empty() ? "" : "; " + rules_line(report);
  const std::string checked = excused || harmless ? bad_words(report) : tr(Text::out_checked, {{"n", c.checked()}});
  const Text clean = harmless          ? Text::out_clean_harmless
                     : !excused        ? (c.left_out.empty() ? Text::out_clean : Text::out_clean_recorded)
                     : report.baseline ? Text::out_nothing_new
                                       : Text::out_clean_muted;
  report.verdict = Verdict::clean;
  report.headline = tr(clean, {{"text", checked}});
  report.bad = c.bad + c.trapped > 0 && !excused && !harmless;
  if (report.bad) {
    report.verdict = Verdict::findings;
    report.headline = explained(report, bad_words(report));
  } else if (!broken.empty()) {
    report.verdict = Verdict::findings;
    report.headline = tr(Text::out_otherwise, {{"broken", broken}, {"text", checked}});
  } else if (c.checked() == 0) {
    report.verdict = Verdict::cannot_tell;
    report.headline = unchecked_words(c);
  } else if (!c.unfinished.empty()) {
    report.verdict = Verdict::cannot_tell;
    report.headline = tr(Text::out_cannot_tell, {{"text", checked}});
  } else if (misses_rule(report, strict)) {
    report.verdict = Verdict::cannot_tell;
    report.headline = tr(Text::out_cannot_tell_rules, {{"text", checked}});
  }
  report.headline += rules;
  const bool incomplete = c.unreadable > 0 || !c.left_out.empty();
  if (strict && incomplete && report.verdict == Verdict::clean) {
    report.verdict = Verdict::cannot_tell;
    report.headline = tr(Text::out_strict, {{"text", report.headline}});
  }
  report.exit_code = report.verdict == Verdict::findings      ? has_findings
                     : report.verdict == Verdict::cannot_tell ? not_checked
                                                              : 0;
}

}  // namespace nanlens::findings
