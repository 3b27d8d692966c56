// The report as SARIF 2.1.0.
#include <algorithm>
#include <utility>
#include <vector>

#include <nanlens/version.hpp>

#include "coverage.hpp"
#include "escape.hpp"
#include "formats.hpp"
#include "json.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

constexpr const char* root_id = "SRCROOT";

// What a rule is about, whatever the op. In English alone: those who collect results take it for the name of the rule.
constexpr std::pair<std::string_view, const char*> rule_words[] = {
    {"rc.log0", "The logarithm of 0"},
    {"rc.logneg", "The logarithm of a negative number"},
    {"rc.log_softmax", "The logarithm of a softmax that is 0"},
    {"rc.sqrtneg", "The root of a negative number"},
    {"rc.rsqrt0", "The reciprocal root of 0"},
    {"rc.sqrtgrad0", "The gradient of a function that is infinitely steep at 0"},
    {"rc.div0", "A division by 0"},
    {"rc.div00", "A division of 0 by 0"},
    {"rc.empty", "A reduction over no elements"},
    {"rc.exp", "An exponential function that overflowed"},
    {"rc.overflow", "A result beyond the range of its type"},
    {"rc.cast", "A conversion to a type whose range is too small"},
    {"rc.pow", "A power that is not defined, or too large"},
    {"rc.domain", "A function outside its domain"},
    {"rc.matrix", "A matrix that is singular or not positive definite"},
    {"rc.ignored", "A mean over targets that are all ignored"},
    {"rc.degenerate", "A gradient of eigenvectors or singular vectors that is not defined"},
    {"rc.ctc", "An infinite loss of a target that does not fit into its input"},
    {"rc.allmasked", "A row of which every entry is masked"},
    {"rc.zero_times", "Zeros multiplied by an infinity"},
    {"rc.arrived", "A NaN or infinity in an input that was not recorded before"},
    {"rc.changed", "A NaN or infinity in memory that changed unrecorded"},
    {"rc.data", "A NaN or infinity that came in from outside the record"},
    {"rc.const", "A constant that holds a NaN or infinity"},
    {"rc.expected", "An infinity that is meant, as in a mask"},
    {"rc.scaled", "An infinity for which loss scaling has left out a step"},
    {"rc.guarded", "A NaN or infinity that the program leaves out by a choice or a bound"},
    {"rc.scaled_in", "A gradient that came in bad, for which loss scaling has left out a step"},
    {"rc.opaque", "A NaN or infinity made where no row is on record"},
    {"rc.unknown", "A NaN or infinity whose cause is not on record"},
    {"rc.trap", "A floating-point exception"},
    {"rc.trapped", "A floating-point exception that the program trapped itself"},
};

const char* words_of(std::string_view rule) {
  for (const auto& [id, words] : rule_words)
    if (id == rule) return words;
  return "A NaN or infinity made from clean inputs";
}

std::vector<std::string> rules_of(const Report& report) {
  std::vector<std::string> rules;
  for (const Finding& f : report.findings)
    if (std::find(rules.begin(), rules.end(), f.rule) == rules.end()) rules.push_back(f.rule);
  return rules;
}

Json rules_json(const Report& report, const std::vector<std::string>& rules) {
  Json list = Json::array();
  for (const std::string& rule : rules) {
    const auto first =
        std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) { return f.rule == rule; });
    Json j{{"id", rule}, {"shortDescription", {{"text", first->of_rule ? first->expression : words_of(rule)}}}};
    if (!first->remedy.empty()) j["help"] = {{"text", first->remedy}};
    list.push_back(std::move(j));
  }
  return list;
}

// Below the source root: from there, so that it is the same file on every machine. Else as a file of this one.
Json artifact_json(const Place& place) {
  if (!place.in_root.empty()) return {{"uri", uri_path(place.in_root)}, {"uriBaseId", root_id}};
  return {{"uri", (place.file.starts_with('/') ? "file://" : "") + uri_path(place.file)}};
}

Json location_json(const Place& place, Json logical) {
  Json j = Json::object();
  if (place.known())
    j["physicalLocation"] = {{"artifactLocation", artifact_json(place)}, {"region", {{"startLine", place.line}}}};
  if (!place.function.empty()) logical.push_back({{"name", place.function}, {"kind", "function"}});
  if (!logical.empty()) j["logicalLocations"] = std::move(logical);
  return j;
}

// Readers of SARIF want a file for every result. Where the program's line is not on record, it is the recording.
Json finding_location(const Report& report, const Finding& f) {
  const std::string name = f.op_name.empty() ? f.op_type : f.op_name;
  Json op{{"name", name}, {"kind", "member"}};
  if (!f.graph.empty()) op["fullyQualifiedName"] = f.graph + "/" + name;
  Json j = location_json(f.place, Json::array({std::move(op)}));
  if (f.place.known()) return j;
  Json recording = artifact_json(report.recording);
  recording["description"] = {{"text", tr(Text::page_of_recording)}};
  j["physicalLocation"] = {{"artifactLocation", std::move(recording)}};
  return j;
}

Json flow_json(const Finding& f) {
  Json steps = Json::array();
  for (const Step& step : f.chain) {
    Json location = location_json(step.place, Json::array());
    location["message"] = {{"text", step.tensor + " (" + step.where + "): " + step.what}};
    steps.push_back({{"location", std::move(location)}});
  }
  Json thread{{"locations", std::move(steps)}};
  if (f.steps_left_out > 0)
    thread["message"] = {{"text", tr(Text::page_steps_left_out,
                                     {{"n", f.steps_left_out}, {"count", std::to_string(f.steps_left_out)}})}};
  return Json::array({{{"threadFlows", Json::array({std::move(thread)})}}});
}

Json suppressions_json(const Finding& f) {
  Json list = Json::array();
  if (f.state == State::muted)
    list.push_back({{"kind", "external"},
                    {"status", "accepted"},
                    {"justification", f.mute_reason},
                    {"properties", {{"mutedBy", f.muted_by}}}});
  return list;
}

Json result_json(const Report& report, const Finding& f, std::size_t rule) {
  std::string message = f.sentence;
  for (const std::string* const more : {&f.consequence, &f.remedy})
    if (!more->empty()) message += " " + *more;
  Json j{{"ruleId", f.rule},
         {"ruleIndex", rule},
         {"level", level_name(f.level)},
         {"message", {{"text", message}}},
         {"locations", Json::array({finding_location(report, f)})},
         {"partialFingerprints", {{"nanlensFinding/v1", f.fingerprint}}},
         {"occurrenceCount", std::max<std::uint64_t>(f.count, 1)}};
  if (!f.chain.empty()) j["codeFlows"] = flow_json(f);
  if (!report.mute_files.empty()) j["suppressions"] = suppressions_json(f);
  if (report.baseline) j["baselineState"] = report.baseline->has(f.fingerprint) ? "unchanged" : "new";
  j["properties"] = {{"tensor", f.tensor}, {"where", f.where}, {"badTensors", f.reach}};
  if (!f.run_id.empty()) j["properties"]["runId"] = f.run_id;
  if (!f.host.empty()) j["properties"]["host"] = f.host;
  return j;
}

Json notification(const char* level, const std::string& text) {
  return {{"level", level}, {"message", {{"text", text}}}};
}

Json invocation_json(const Report& report) {
  Json notes = Json::array();
  notes.push_back(notification(report.verdict == Verdict::cannot_tell ? "warning" : "note", report.headline));
  for (const CoverageDetail& detail : coverage_details(report.coverage))
    notes.push_back(notification("note", std::string(detail.title) + ": " + detail.words));
  Json faults = Json::array();
  for (const auto& p : report.mute_problems)
    faults.push_back(notification("warning", p.file + ":" + std::to_string(p.line) + ": " + p.message()));
  for (const std::string& open : open_questions(report)) faults.push_back(notification("warning", open));
  return {{"executionSuccessful", true},
          {"exitCode", report.exit_code},
          {"toolExecutionNotifications", std::move(notes)},
          {"toolConfigurationNotifications", std::move(faults)}};
}

}  // namespace

std::string sarif_format(const Report& report) {
  const std::vector<std::string> rules = rules_of(report);
  Json results = Json::array();
  for (const Finding& f : report.findings)
    results.push_back(result_json(
        report, f, static_cast<std::size_t>(std::find(rules.begin(), rules.end(), f.rule) - rules.begin())));
  const Json driver{{"name", "nanlens"},
                    {"semanticVersion", NANLENS_VERSION_STRING},
                    {"shortDescription", {{"text", "Finds the op that made a NaN, and says why"}}},
                    {"rules", rules_json(report, rules)}};
  Json run{{"tool", {{"driver", driver}}},
           {"originalUriBaseIds", {{root_id, {{"uri", "file://" + uri_path(report.root) + "/"}}}}},
           {"invocations", Json::array({invocation_json(report)})},
           {"results", std::move(results)},
           {"properties", {{"logdir", report.logdir}, {"coverage", coverage_line(report.coverage)}}}};
  return json_text(
      {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs", Json::array({std::move(run)})}});
}

}  // namespace nanlens::findings
