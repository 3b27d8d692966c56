#include "recorded_rules.hpp"

#include <algorithm>
#include <utility>

#include "texts/texts.hpp"

namespace nanlens::findings {

namespace {

query::Level level_called(const std::string& name) {
  for (const query::Level level : {query::Level::warning, query::Level::note})
    if (name == query::name_of(level)) return level;
  return query::Level::error;
}

// What can't be read, of another version of rules, holds where the program says so alone.
query::Rule rule_of(const logdir::RuleHit& hit) {
  query::Rule rule;
  rule.name = hit.rule;
  rule.level = level_called(hit.level);
  rule.expression = hit.expression;
  rule.reason = hit.reason;
  query::Error ignored;
  if (auto conditions = query::parse_conditions(hit.expression, ignored))
    rule.conditions = std::move(*conditions);
  else
    rule.conditions.rows.root.kind = query::Node::Kind::any;
  return rule;
}

RecordedRule& find_or_add(std::vector<RecordedRule>& rules, const logdir::RuleHit& hit) {
  const auto same = std::find_if(rules.begin(), rules.end(), [&](const RecordedRule& r) {
    return r.rule.name == hit.rule && r.rule.expression == hit.expression;
  });
  if (same != rules.end()) return *same;
  return rules.emplace_back(RecordedRule{rule_of(hit), 0, false, 0, std::nullopt});
}

const std::vector<logdir::RuleHit>& none() {
  static const std::vector<logdir::RuleHit> empty;
  return empty;
}

// Calls visit(hit, row, tensor's name, op type, is the op's name its own) of each that is on record.
template <class Visit>
void for_each_hit(reader::Run& run, const Visit& visit) {
  for (const reader::RuleHitRow& row : run.rule_hit_rows()) {
    query::Hit at;
    if (row.is_execution) {
      const auto detail = run.execution(row.event);
      for (const logdir::RuleHit& hit : detail ? detail->extension.rule_hits : none()) {
        const std::string& name = detail->extension.op_name;
        const auto slot = static_cast<std::size_t>(std::max(hit.output_slot, 0));
        at.row = causes::execution_event(row.event, slot);
        at.op_type = detail->event.op_type;
        at.op_name = name;
        at.tensor = (name.empty() ? at.op_type : name) + ":" + std::to_string(slot);
        visit(hit, at);
      }
    } else {
      const auto detail = run.trace(row.event);
      for (const logdir::RuleHit& hit : detail ? detail->extension.rule_hits : none()) {
        at.row = causes::trace_event(row.event);
        at.op_type = detail->op_type;
        at.op_name = detail->event.op_name;
        at.tensor = at.op_name + ":" + std::to_string(detail->event.output_slot);
        visit(hit, at);
      }
    }
  }
}

}  // namespace

std::vector<RecordedRule> recorded_rules(const reader::Logdir& logdir) {
  std::vector<RecordedRule> rules;
  for (const auto& run : logdir.runs()) {
    for (const logdir::RuleHit& outcome : run->rule_outcomes()) {
      if (rules.size() >= query::most_rules) continue;
      RecordedRule& rule = find_or_add(rules, outcome);
      rule.hits += outcome.hits;
      rule.stopped = rule.stopped || outcome.stopped;
      rule.not_followed += outcome.not_followed;
      rule.idle = rule.idle.value_or(true) && outcome.idle;
    }
    for_each_hit(*run, [&](const logdir::RuleHit& hit, const query::Hit&) {
      if (rules.size() < query::most_rules) find_or_add(rules, hit);
    });
  }
  return rules;
}

std::vector<query::Hit> recorded_hits(reader::Run& run, const query::Rule& rule) {
  std::vector<query::Hit> hits;
  for_each_hit(run, [&](const logdir::RuleHit& hit, query::Hit at) {
    if (hit.rule != rule.name || hit.expression != rule.expression) return;
    at.count = 1;
    hits.push_back(std::move(at));
  });
  return hits;
}

std::string with_program(const std::string& sentence, const RecordedRule& rule) {
  using viewer::Text;
  if (rule.hits == 0) return sentence;
  const std::string times =
      rule.hits == 1 ? viewer::tr(Text::rules_once) : viewer::tr(Text::rules_times, {{"n", rule.hits}});
  return viewer::tr(rule.stopped ? Text::rules_held_and_stopped : Text::rules_held,
                    {{"sentence", sentence}, {"times", times}});
}

}  // namespace nanlens::findings
