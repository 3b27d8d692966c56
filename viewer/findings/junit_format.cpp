// The report as JUnit's XML.
#include <map>

#include <nanlens/version.hpp>

#include "coverage.hpp"
#include "escape.hpp"
#include "formats.hpp"
#include "report/describe.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + xml_attribute(value) + "\"";
}

// Without a line number: a CI system follows a test by its name.
std::string test_name(const Finding& f) {
  const std::size_t slash = f.place.file.find_last_of('/');
  const std::string file = f.place.file.substr(slash == std::string::npos ? 0 : slash + 1);
  return f.rule + ": " + (f.op_name.empty() ? f.op_type : f.op_name) + (f.graph.empty() ? "" : " in " + f.graph) +
         (file.empty() ? "" : " at " + file);
}

std::string story(const Finding& f) {
  std::string text = f.sentence + "\n";
  for (const std::string* const more : {&f.consequence, &f.remedy})
    if (!more->empty()) text += *more + "\n";
  if (f.place.known()) text += f.place.shown() + ":" + std::to_string(f.place.line) + "\n";
  for (const Step& step : f.chain)
    text += "  " + step.tensor + " (" + step.where + "): " + step.what +
            (step.place.known() ? "  " + step.place.shown() + ":" + std::to_string(step.place.line) : "") + "\n";
  if (f.steps_left_out > 0) {
    const std::string count = report::with_separators(f.steps_left_out);
    text += "  (" + tr(Text::page_steps_left_out, {{"n", f.steps_left_out}, {"count", count}}) + ")\n";
  }
  return text;
}

std::string excuse(const Finding& f) {
  return f.state == State::muted ? tr(Text::page_muted, {{"place", f.muted_by}, {"reason", f.mute_reason}})
                                 : tr(Text::page_known, {{"text", f.sentence}});
}

std::string test_case(const Finding& f, const std::string& name) {
  std::string text = "  <testcase" + attribute("classname", "nanlens") + attribute("name", name) + " time=\"0\"";
  if (f.place.known()) text += attribute("file", f.place.shown()) + attribute("line", std::to_string(f.place.line));
  text += ">\n";
  if (f.fails())
    text += "   <failure" + attribute("message", f.sentence) + attribute("type", f.rule) + ">" + xml_text(story(f)) +
            "</failure>\n";
  else if (f.state == State::fresh)
    text += "   <system-out>" + xml_text(std::string(level_name(f.level)) + ": " + story(f)) + "</system-out>\n";
  else
    text += "   <skipped" + attribute("message", excuse(f)) + "/>\n";
  return text + "  </testcase>\n";
}

// One test that is always there, so that its history tells when the program went bad.
std::string verdict_case(const Report& report) {
  std::string text =
      "  <testcase" + attribute("classname", "nanlens") + attribute("name", "no NaN or infinity") + " time=\"0\">\n";
  if (report.bad)
    text += "   <failure" + attribute("message", report.headline) + attribute("type", "findings") + "/>\n";
  if (report.verdict == Verdict::cannot_tell)
    text += "   <error" + attribute("message", report.headline) + attribute("type", "cannot_tell") + "/>\n";
  return text + "  </testcase>\n";
}

// A rule that holds nowhere is a test that passes; one that could not be judged is skipped.
std::string rule_case(const RuleOutcome& rule) {
  std::string text =
      "  <testcase" + attribute("classname", "nanlens") + attribute("name", "rule " + rule.name) + " time=\"0\">\n";
  if (!rule.not_judged.empty()) text += "   <skipped" + attribute("message", rule.not_judged) + "/>\n";
  return text + "  </testcase>\n";
}

std::string properties(const Report& report) {
  const auto property = [](const std::string& name, const std::string& value) {
    return "   <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  };
  std::string text = "  <properties>\n" + property("nanlens", NANLENS_VERSION_STRING) +
                     property("logdir", report.logdir) + property("coverage", coverage_line(report.coverage));
  for (const CoverageDetail& detail : coverage_details(report.coverage))
    text += property(std::string("coverage: ") + detail.about, detail.words);
  return text + "  </properties>\n";
}

}  // namespace

std::string junit_format(const Report& report) {
  std::string cases = verdict_case(report);
  std::map<std::string, int> used;
  for (const Finding& f : report.findings) {
    const std::string name = test_name(f);
    const int times = ++used[name];
    cases += test_case(f, times == 1 ? name : name + " #" + std::to_string(times));
  }
  std::uint64_t kept = 0;
  std::uint64_t skipped = report.count(State::known) + report.count(State::muted);
  for (const RuleOutcome& rule : report.rules) {
    if (rule.findings > 0) continue;
    cases += rule_case(rule);
    ++kept;
    skipped += !rule.not_judged.empty();
  }
  const std::uint64_t listed = report.listed_failures();
  const std::string counts = attribute("tests", std::to_string(report.findings.size() + kept + 1)) +
                             attribute("failures", std::to_string(listed + (report.bad ? 1 : 0))) +
                             attribute("errors", report.verdict == Verdict::cannot_tell ? "1" : "0") +
                             attribute("skipped", std::to_string(skipped)) + " time=\"0\"";
  std::string out = report.headline + "\n";
  for (const auto& p : report.mute_problems) out += p.file + ":" + std::to_string(p.line) + ": " + p.message() + "\n";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n <testsuite" +
         attribute("name", "nanlens check " + report.logdir) + counts + ">\n" + properties(report) + cases +
         "  <system-out>" + xml_text(out) + "</system-out>\n </testsuite>\n</testsuites>\n";
}

}  // namespace nanlens::findings
