// The report as workflow commands of GitHub Actions.
#include "coverage.hpp"
#include "escape.hpp"
#include "formats.hpp"
#include "texts/texts.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

std::string command(const char* level, const std::string& file, std::int64_t line, const std::string& title,
                    const std::string& message) {
  std::string text = std::string("::") + level + " ";
  if (!file.empty()) text += "file=" + github_property(file) + ",line=" + std::to_string(line) + ",";
  return text + "title=" + github_property(title) + "::" + github_message(message) + "\n";
}

std::string annotation(const Finding& f) {
  const bool fresh = f.state == State::fresh;
  const char* const level = !fresh || f.level == Level::note ? "notice" : f.level == Level::error ? "error" : "warning";
  std::string message = f.sentence;
  for (const std::string* const more : {&f.consequence, &f.remedy})
    if (!more->empty()) message += "\n" + *more;
  if (f.state == State::muted)
    message = tr(Text::page_muted, {{"place", f.muted_by}, {"reason", f.mute_reason}}) + "\n" + message;
  if (f.state == State::known) message = tr(Text::state_known) + ("\n" + message);
  message += "\n" + (f.tensor.empty() ? "" : f.tensor + ", ") + f.where;
  return command(level, f.place.known() ? f.place.shown() : "", f.place.line, f.rule, message);
}

}  // namespace

std::string github_format(const Report& report) {
  std::string text;
  for (const Finding& f : report.findings) text += annotation(f);
  for (const auto& p : report.mute_problems)
    text += command("warning", p.file, static_cast<std::int64_t>(p.line), "nanlens mutes", p.message());
  for (const std::string& open : open_questions(report)) text += command("warning", "", 0, "nanlens rules", open);
  const char* const level = report.verdict == Verdict::findings      ? "error"
                            : report.verdict == Verdict::cannot_tell ? "warning"
                                                                     : "notice";
  std::string message = report.headline;
  for (const CoverageDetail& detail : coverage_details(report.coverage))
    message += std::string("\n") + detail.title + ": " + detail.words;
  text += command(level, "", 0, "nanlens check " + report.logdir, message);
  return text + one_line(coverage_line(report.coverage)) + "\n";
}

}  // namespace nanlens::findings
