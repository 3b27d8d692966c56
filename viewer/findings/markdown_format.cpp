// The report as Markdown, for the summary of a job.
#include "coverage.hpp"
#include "escape.hpp"
#include "formats.hpp"
#include "report/describe.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

std::string place_code(const Place& place, bool in_table) {
  return place.known() ? markdown_code(place.shown() + ":" + std::to_string(place.line), in_table) : std::string("–");
}

std::string state_mark(const Finding& f) {
  const std::string words = state_words(f);
  return f.state == State::fresh ? "**" + words + "**" : words;
}

std::string table(const Report& report) {
  std::string text = std::string("| | ") + tr(Text::column_op) + " | " + tr(Text::page_place) + " | " +
                     tr(Text::page_why) + " | " + tensors_title(report) + " |\n|---|---|---|---|---:|\n";
  for (const Finding& f : report.findings)
    text += std::string("| ") + state_mark(f) + " | " + markdown(f.op_name.empty() ? f.op_type : f.op_name) + " | " +
            place_code(f.place, true) + " | " + markdown(f.sentence) +
            (f.state == State::muted ? " *(" + markdown(f.muted_by + ": " + f.mute_reason) + ")*" : "") + " | " +
            report::with_separators(f.tensors()) + " |\n";
  if (report.not_listed() > 0) text += "\n" + tr(Text::page_more_findings, {{"n", report.not_listed()}}) + "\n";
  return text;
}

std::string details(const Finding& f) {
  std::string text = std::string("\n<details><summary>") + tr(f.of_rule ? Text::page_rule : Text::page_way_and_remedy) +
                     "</summary>\n\n" + markdown(f.sentence + (f.consequence.empty() ? "" : " " + f.consequence)) +
                     "\n\n" + markdown(f.remedy) + "\n\n";
  for (const Step& step : f.chain)
    text += "1. " + markdown_code(step.tensor) + " (" + markdown(step.where) + "): " + markdown(step.what) + " " +
            (step.place.known() ? place_code(step.place, false) : "") + "\n";
  if (f.steps_left_out > 0) text += "\n" + tr(Text::page_some_left_out, {{"n", f.steps_left_out}}) + "\n";
  return text + "\n</details>\n";
}

}  // namespace

std::string markdown_format(const Report& report) {
  const char* const mark = report.verdict == Verdict::findings ? "❌" : report.verdict == Verdict::clean ? "✅" : "❔";
  std::string text = std::string("## ") + mark + " nanlens check " + markdown_code(report.logdir) + "\n\n" +
                     markdown(report.headline) + "\n\n";
  if (!report.findings.empty()) text += table(report);
  constexpr int shown = 10;
  int told = 0;
  for (const Finding& f : report.findings)
    if (f.state == State::fresh && told++ < shown) text += details(f);
  for (const auto& p : report.mute_problems)
    text += "\n⚠ " + markdown_code(p.file + ":" + std::to_string(p.line)) + " " + markdown(p.message()) + "\n";
  for (const std::string& open : open_questions(report)) text += "\n⚠ " + markdown(open) + "\n";
  if (report.baseline && report.baseline->gone > 0)
    text += "\n" +
            tr(Text::page_gone, {{"n", report.baseline->gone}, {"baseline", markdown_code(report.baseline->path)}}) +
            "\n";
  text += "\n" + markdown(coverage_line(report.coverage)) + "\n\n<details><summary>" + tr(Text::page_looked_at) +
          "</summary>\n\n| | |\n|---|---|\n";
  for (const CoverageDetail& detail : coverage_details(report.coverage))
    text += "| " + markdown(detail.title) + " | " + markdown(detail.words) + " |\n";
  return text + "\n</details>\n";
}

}  // namespace nanlens::findings
