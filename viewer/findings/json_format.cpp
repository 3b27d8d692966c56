// The report as one JSON object.
#include <nanlens/version.hpp>

#include "coverage.hpp"
#include "formats.hpp"
#include "json.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

constexpr const char* state_name(State state) {
  return state == State::fresh ? "new" : state == State::known ? "known" : "muted";
}

constexpr const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::clean ? "clean" : verdict == Verdict::findings ? "findings" : "cannot_tell";
}

template <class Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json place_json(const Place& place) {
  return {{"path", text_or_null(place.file)},
          {"path_in_root", text_or_null(place.in_root)},
          {"line", place.line > 0 ? Json(place.line) : Json(nullptr)},
          {"function", text_or_null(place.function)}};
}

Json finding_json(const Finding& f) {
  Json j{{"rule", f.rule},
         {"of_rule", f.of_rule},
         {"expression", text_or_null(f.expression)},
         {"level", level_name(f.level)},
         {"state", state_name(f.state)},
         {"fingerprint", f.fingerprint},
         {"sentence", f.sentence},
         {"consequence", f.consequence},
         {"remedy", f.remedy},
         {"confidence", text_or_null(f.confidence)},
         {"op_type", text_or_null(f.op_type)},
         {"op_name", text_or_null(f.op_name)},
         {"graph", text_or_null(f.graph)},
         {"tensor", f.tensor},
         {"row", number_or_null(f.row)},
         {"execution", number_or_null(f.execution)},
         {"place", place_json(f.place)},
         {"bad_tensors", f.reach},
         {"occurrences", f.count},
         {"run_id", text_or_null(f.run_id)},
         {"host", text_or_null(f.host)},
         {"muted_by", text_or_null(f.muted_by)},
         {"mute_reason", text_or_null(f.mute_reason)},
         {"chain", Json::array()},
         {"chain_left_out", f.steps_left_out}};
  for (const Step& step : f.chain)
    j["chain"].push_back(
        {{"tensor", step.tensor}, {"where", step.where}, {"what", step.what}, {"place", place_json(step.place)}});
  return j;
}

Json coverage_json(const Coverage& c) {
  Json details = Json::array();
  for (const CoverageDetail& detail : coverage_details(c))
    details.push_back({{"about", detail.about}, {"words", detail.words}});
  return {{"line", coverage_line(c)},
          {"runs", c.runs},
          {"processes", c.processes},
          {"modes", c.modes},
          {"graph_tensors", c.traces},
          {"graph_tensors_checked", c.traces_checked},
          {"calls", c.executions},
          {"calls_checked", c.executions_checked},
          {"graph_ops", c.graph_ops},
          {"graph_ops_with_a_row", c.graph_ops_seen},
          {"bad_tensors", c.bad},
          {"places_trapped_by_program", c.trapped},
          {"findings_that_cannot_tell", c.causes_unknown},
          {"lost_events", c.lost > 0 || c.all_losses_known ? Json(c.lost) : Json(nullptr)},
          {"lost_events_is_all", c.all_losses_known},
          {"unreadable", c.unreadable},
          {"incomplete", c.unfinished},
          {"left_out", c.left_out},
          {"bytes", number_or_null(c.bytes)},
          {"details", std::move(details)}};
}

Json rules_json(const Report& report) {
  Json list = Json::array();
  for (const RuleOutcome& rule : report.rules)
    list.push_back({{"name", rule.name},
                    {"level", level_name(rule.level)},
                    {"expression", rule.expression},
                    {"reason", text_or_null(rule.reason)},
                    {"findings", rule.findings},
                    {"rows_judged", rule.rows},
                    {"rows_not_judged", rule.unjudged},
                    {"not_judged", text_or_null(rule.not_judged)},
                    {"not_followed", text_or_null(rule.not_followed)},
                    {"idle", rule.idle ? Json(*rule.idle) : Json(nullptr)}});
  return list;
}

Json rule_files_json(const Report& report) {
  Json list = Json::array();
  for (const RuleFile& file : report.rule_files) list.push_back({{"file", file.name}, {"rules", file.rules}});
  return list;
}

Json mutes_json(const Report& report) {
  Json problems = Json::array();
  for (const auto& p : report.mute_problems)
    problems.push_back({{"file", p.file},
                        {"line", p.line},
                        {"column", p.column > 0 ? Json(p.column) : Json(nullptr)},
                        {"message", p.message()}});
  return {{"files", report.mute_files}, {"problems", std::move(problems)}};
}

}  // namespace

std::string json_format(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(finding_json(finding));
  return json_text(
      {{"format", "nanlens-check"},
       {"version", 1},
       {"nanlens", NANLENS_VERSION_STRING},
       {"logdir", report.logdir},
       {"verdict", verdict_name(report.verdict)},
       {"exit_code", report.exit_code},
       {"headline", report.headline},
       {"counts",
        {{"new", report.count(State::fresh)},
         {"known", report.count(State::known)},
         {"muted", report.count(State::muted)}}},
       {"findings", std::move(findings)},
       {"not_listed", report.not_listed()},
       {"baseline",
        report.baseline ? Json{{"path", report.baseline->path}, {"gone", report.baseline->gone}} : Json(nullptr)},
       {"mutes", mutes_json(report)},
       {"rules", rules_json(report)},
       {"rule_files", rule_files_json(report)},
       {"coverage", coverage_json(report.coverage)}});
}

}  // namespace nanlens::findings
