// The report for a terminal.
#include <algorithm>

#include "coverage.hpp"
#include "escape.hpp"
#include "formats.hpp"
#include "texts/texts.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

// As compilers write it, so that editors find the place.
std::string finding_line(const Finding& f) {
  const std::string place = f.place.known() ? f.place.shown() + ":" + std::to_string(f.place.line) + ": " : "";
  const std::string excuse = f.state == State::muted
                                 ? " " + tr(Text::out_muted_by, {{"place", f.muted_by}, {"reason", f.mute_reason}})
                             : f.state == State::known ? std::string(" ") + tr(Text::out_known)
                                                       : "";
  const bool like_command = place.starts_with("::");  // a CI system may take such a line for a command
  return (like_command ? "./" : "") + place + level_name(f.level) + ": " + f.sentence + " (" +
         (f.tensor.empty() ? "" : f.tensor + ", ") + f.where + ")" + excuse;
}

std::string problem_line(const report::MuteProblem& p) {
  return p.file + ":" + std::to_string(p.line) + ":" + (p.column > 0 ? std::to_string(p.column) + ":" : "") +
         " warning: " + p.message();
}

}  // namespace

std::string text_format(const Report& report) {
  constexpr std::size_t shown = 20;
  std::string text;
  const auto line = [&](const std::string& words) { text += one_line(words) + "\n"; };
  const auto told = [&](const std::string& words) { line(report.logdir + ": " + words); };
  told(report.headline);
  const auto& all = report.findings;
  const bool said = all.size() == 1 && all[0].fails();  // by the headline
  for (std::size_t i = 0; !said && i < std::min(shown, all.size()); ++i) line("  " + finding_line(all[i]));
  if (const std::uint64_t more = all.size() - std::min(shown, all.size()) + report.not_listed(); more > 0)
    line("  " + tr(Text::out_more, {{"n", more}}));
  for (const auto& problem : report.mute_problems) line(problem_line(problem));
  for (const std::string& open : open_questions(report)) told(open);
  if (const std::string idle = idle_program_rules(report); !idle.empty()) told(idle);
  if (const std::string idle = idle_rules(report); !idle.empty()) told(tr(Text::rules_idle, {{"rules", idle}}));
  const Coverage& c = report.coverage;
  for (const std::string& reason : c.unfinished) told(tr(Text::out_incomplete, {{"reason", reason}}));
  for (const std::string& reason : c.left_out) told(tr(Text::out_incomplete, {{"reason", reason}}));
  const std::string unreadable = tr(Text::out_things_unreadable, {{"n", c.unreadable}});
  if (c.unreadable > 0) told(tr(Text::out_incomplete, {{"reason", unreadable}}));
  if (report.baseline && report.baseline->gone > 0)
    told(tr(Text::out_gone, {{"n", report.baseline->gone}, {"baseline", report.baseline->path}}));
  told(coverage_line(c));
  return text;
}

}  // namespace nanlens::findings
