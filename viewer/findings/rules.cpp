#include "rules.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/stack_of.hpp>
#include <nanlens/query/judge.hpp>
#include <nanlens/query/rule_words.hpp>

#include "gather.hpp"
#include "make_finding.hpp"
#include "recorded_rules.hpp"
#include "report/describe.hpp"
#include "texts/rule_reasons.hpp"
#include "texts/speech.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

// The analysis, if any rule asks what it says.
class Analysed final : public query::Surroundings {
 public:
  Analysed(reader::Run& run, const std::vector<query::Rule>& rules) {
    const bool asked = std::any_of(rules.begin(), rules.end(),
                                   [](const query::Rule& rule) { return rule.conditions.rows.uses_classes; });
    if (!asked) return;
    causes_ = std::make_unique<causes::Causes>(run);
    constexpr std::size_t slice = 65536;
    while (!causes_->advance(slice)) {
    }
  }
  causes::EventClass class_of(causes::EventRef row) override {
    return causes_ ? causes_->event_class(row) : causes::EventClass::clean;
  }

 private:
  std::unique_ptr<causes::Causes> causes_;
};

Level level_of(query::Level level) {
  return level == query::Level::error ? Level::error : level == query::Level::warning ? Level::warning : Level::note;
}

std::string host_of(const reader::Run& run, causes::EventRef row) {
  if (run.num_sets() < 2 || !row.exists()) return {};
  return run.host_of_set(row.is_execution ? run.set_of_execution(row.index) : run.set_of_trace(row.index));
}

Finding finding_of_hit(reader::Run& run, const query::Rule& rule, const query::Hit& hit, const SourceRoot& sources) {
  Finding f;
  f.rule = rule.name;
  f.of_rule = true;
  f.level = level_of(rule.level);
  f.expression = rule.expression;
  f.sentence = query::words(rule, hit, viewer::speech());
  f.consequence = viewer::rule_reason(rule.reason);
  f.op_type = hit.op_type;
  f.op_name = hit.op_name;
  f.tensor = hit.tensor;
  f.count = hit.count;
  f.run_id = run.id();
  f.host = host_of(run, hit.row);
  reader::StackFrame frame;
  if (hit.row.exists()) {
    f.where = where_words(hit.row);
    (hit.row.is_execution ? f.execution : f.row) = hit.row.index;
    if (!hit.row.is_execution) {
      const auto& definitions = run.definitions();
      f.graph = definitions.text(definitions.graphs()[definitions.ops()[run.trace_op(hit.row.index)].graph].name);
    }
    if (const auto user = reader::user_frame(causes::stack_of(run, hit.row))) frame = *user;
    f.place = place_of(frame, sources);
  } else {
    f.where = tr(Text::rules_whole_run);
  }
  f.fingerprint = fingerprint(run, f, frame);
  return f;
}

// The same rule in a list of rules; null: it is not there.
const RecordedRule* find_recorded(const query::Rule& rule, const std::vector<RecordedRule>& list) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const RecordedRule& r) {
    return r.rule.name == rule.name && r.rule.expression == rule.expression;
  });
  return same == list.end() ? nullptr : &*same;
}

bool is_among(const query::Rule& rule, const std::vector<query::Rule>& list) {
  return std::any_of(list.begin(), list.end(), [&](const query::Rule& other) {
    return other.name == rule.name && other.expression == rule.expression;
  });
}

RuleOutcome outcome_of(const query::Rule& rule, const RecordedRule* of_program) {
  RuleOutcome outcome;
  outcome.name = rule.name;
  outcome.level = level_of(rule.level);
  outcome.expression = rule.expression;
  outcome.reason = rule.reason;
  if (of_program == nullptr) return outcome;
  logdir::RuleHit told;
  told.rule = rule.name;
  told.not_followed = of_program->not_followed;
  outcome.not_followed = report::not_followed_words(told);
  outcome.idle = of_program->idle;
  return outcome;
}

// Outputs of one op, processes and turns of a loop that was unrolled are one finding. `only_if_new`: a hit that may be
// one of those that were found already.
void add_finding(Finding f, RuleOutcome& outcome, std::size_t first_of_rule, Report& report, bool only_if_new) {
  const auto same = std::find_if(
      report.findings.begin() + static_cast<std::ptrdiff_t>(first_of_rule), report.findings.end(),
      [&](const Finding& other) { return other.fingerprint == f.fingerprint && other.run_id == f.run_id; });
  if (same != report.findings.end()) {
    if (!only_if_new) same->count += f.count;
    return;
  }
  // The first of each rule is listed in any case: who fails, and why, is in the list.
  if (++outcome.findings == 1 || report.findings.size() < most_findings)
    report.findings.push_back(std::move(f));
  else
    ++report.rules_not_listed[static_cast<std::size_t>(f.level)];
}

std::uint64_t fresh_findings(const Report& report, Level level) {
  const auto listed = std::count_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
    return f.of_rule && f.level == level && f.state == State::fresh;
  });
  return static_cast<std::uint64_t>(listed) + report.rules_not_listed[static_cast<std::size_t>(level)];
}

// " (7 of nanlens.rules)": nobody named that file.
std::string found_words(const Report& report) {
  std::string text;
  for (const RuleFile& file : report.rule_files)
    text += (text.empty() ? "" : ", ") + tr(Text::rules_of_file, {{"n", file.rules}, {"file", file.name}});
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace

void judge(const reader::Logdir& logdir, const std::vector<query::Rule>& given, const SourceRoot& sources,
           Report& report) {
  const std::vector<RecordedRule> recorded = recorded_rules(logdir);
  std::vector<query::Rule> rules = given;
  for (const RecordedRule& one : recorded)
    if (!is_among(one.rule, given)) rules.push_back(one.rule);
  for (const query::Rule& rule : rules) report.rules.push_back(outcome_of(rule, find_recorded(rule, recorded)));
  for (const auto& run : logdir.runs()) {
    Analysed analysed(*run, rules);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const query::Judgement judgement = query::Judge(*run, rules[i], analysed).judge();
      RuleOutcome& outcome = report.rules[i];
      outcome.rows += judgement.rows;
      outcome.unjudged += judgement.unjudged;
      outcome.seen += judgement.seen;
      if (outcome.not_judged.empty()) outcome.not_judged = query::why_not_judged(rules[i], judgement, viewer::speech());
      const std::size_t first = report.findings.size();
      const RecordedRule* const of_program = find_recorded(rules[i], recorded);
      const auto add = [&](const query::Hit& hit, bool only_if_new) {
        Finding f = finding_of_hit(*run, rules[i], hit, sources);
        if (of_program != nullptr) f.sentence = with_program(f.sentence, *of_program);
        add_finding(std::move(f), outcome, first, report, only_if_new);
      };
      for (const query::Hit& hit : judgement.hits) add(hit, false);
      if (of_program == nullptr) continue;
      // What a ring or a rest has left of the calls may not suffice to judge again.
      const auto judged = [&](const query::Hit& hit) {
        return std::any_of(judgement.hits.begin(), judgement.hits.end(),
                           [&](const query::Hit& other) { return other.row == hit.row; });
      };
      for (const query::Hit& hit : recorded_hits(*run, rules[i]))
        if (!judged(hit)) add(hit, true);
    }
  }
  // What rows of another run decide; a total is one of each run.
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (report.rules[i].rows > 0 && !rules[i].conditions.total) report.rules[i].not_judged.clear();
}

std::string rules_line(const Report& report) {
  if (report.rules.empty()) return {};
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (const auto n = fresh_findings(report, Level::error); n > 0) add(tr(Text::rules_errors, {{"n", n}}));
  if (const auto n = fresh_findings(report, Level::warning); n > 0) add(tr(Text::rules_warnings, {{"n", n}}));
  if (const auto n = fresh_findings(report, Level::note); n > 0) add(tr(Text::rules_notes, {{"n", n}}));
  const std::uint64_t excused = report.count(State::known, true) + report.count(State::muted, true);
  if (excused > 0) add(tr(Text::rules_excused, {{"n", excused}}));
  const auto unjudged = static_cast<std::size_t>(std::count_if(
      report.rules.begin(), report.rules.end(), [](const RuleOutcome& rule) { return !rule.not_judged.empty(); }));
  // Of what could not be judged nobody knows whether it holds.
  const bool none_holds = text.empty() && unjudged < report.rules.size();
  if (none_holds && unjudged == 0) add(tr(Text::rules_none));
  if (unjudged > 0) add(tr(Text::rules_unjudged, {{"n", unjudged}}));
  if (none_holds && unjudged > 0) add(tr(Text::rules_no_other));
  return tr(Text::rules_line, {{"n", report.rules.size()}, {"files", found_words(report)}, {"text", text}});
}

}  // namespace nanlens::findings
