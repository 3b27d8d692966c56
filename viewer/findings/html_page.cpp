// The page itself. All that comes from a program is escaped as text of XML, which is text of HTML, too.
#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include <nanlens/version.hpp>

#include "coverage.hpp"
#include "escape.hpp"
#include "page.hpp"
#include "report/describe.hpp"
#include "words.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

constexpr const char* style = R"(
:root { color-scheme: light dark; --bad: #c0126c; --line: #8888; --quiet: #777; --mark: #ffd3a8 }
@media (prefers-color-scheme: dark) { :root { --bad: #ff6cb8; --quiet: #aaa; --mark: #6b3f10 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.3em } h2 { font-size: 1.1em; margin-top: 2em; border-top: 1px solid var(--line); padding-top: 1em }
table { border-collapse: collapse; margin: 1em 0 } th, td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; border-bottom: 1px solid var(--line) }
td.number { text-align: right } caption { text-align: left; color: var(--quiet) }
pre { overflow-x: auto; border: 1px solid var(--line); padding: .5em } pre mark { background: var(--mark); color: inherit }
code, pre { font: 13px/1.45 ui-monospace, monospace } figure { margin: 1em 0 } figcaption, .quiet { color: var(--quiet) }
.bad { color: var(--bad); font-weight: 600 } svg { width: 100%; height: 56px; display: block } svg .bar { fill: var(--bad) } svg .ground { fill: var(--line) }
@media print { body { margin: 0; max-width: none } h2, figure, pre, tr { break-inside: avoid } pre { white-space: pre-wrap } }
)";

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string text_of(std::string_view text) { return xml_text(one_line(text)); }

std::string element(const char* name, const std::string& content) {
  return std::string("<") + name + ">" + content + "</" + name + ">\n";
}

std::string place_of(const Place& place) {
  if (!place.known()) return {};
  std::string line = "<code>" + text_of(place.shown() + ":" + std::to_string(place.line)) + "</code>";
  if (place.function.empty()) return line;
  return tr(Text::out_in_function, {{"place", line}, {"function", "<code>" + text_of(place.function) + "</code>"}});
}

// Bars as high as the share of bad ones, over a ground line; a triangle below where the cause is.
std::string figure(const Overview& overview) {
  constexpr double width = 900;
  constexpr double height = 46;
  const double step = width / static_cast<double>(overview.shares.size());
  std::string words =
      tr(Text::page_overview, {{"title", overview.title}, {"bad", overview.bad}, {"all", overview.count}});
  if (overview.cause) words = tr(Text::page_cause_marked, {{"text", words}});
  std::string bars;
  for (std::size_t i = 0; i < overview.shares.size(); ++i) {
    if (overview.shares[i] <= 0) continue;
    const double high = std::max(2.0, overview.shares[i] * height);
    bars += "<rect class=\"bar\" x=\"" + number(static_cast<double>(i) * step) + "\" y=\"" + number(height - high) +
            "\" width=\"" + number(std::max(step - 0.5, 0.5)) + "\" height=\"" + number(high) + "\"/>";
  }
  if (overview.cause) {
    const double x = *overview.cause * width;
    bars += "<path class=\"bar\" d=\"M" + number(x) + " 48l-5 8h10z\"/>";
  }
  return "<figure><figcaption>" + text_of(words) +
         "</figcaption><svg viewBox=\"0 0 900 56\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" +
         xml_attribute(words) + "\"><rect class=\"ground\" x=\"0\" y=\"46\" width=\"900\" height=\"1\"/>" + bars +
         "</svg></figure>\n";
}

std::string head(std::initializer_list<const char*> titles) {
  std::string row = "<tr>";
  for (const char* const title : titles) row += std::string("<th scope=\"col\">") + title;
  return row + "</tr>\n";
}

std::string summary(const Report& report) {
  std::string rows = head({"", tr(Text::column_op), tr(Text::page_place), tr(Text::page_why), tensors_title(report)});
  for (const Finding& f : report.findings)
    rows +=
        std::string("<tr><td>") + state_words(f) + "<td>" + text_of(f.op_name.empty() ? f.op_type : f.op_name) +
        "<td>" + place_of(f.place) + "<td>" + text_of(f.sentence) +
        (f.state == State::muted ? " <span class=\"quiet\">(" + text_of(f.muted_by + ": " + f.mute_reason) + ")</span>"
                                 : "") +
        "<td class=\"number\">" + report::with_separators(f.tensors()) + "</tr>\n";
  const std::string more =
      report.not_listed() == 0 ? "" : element("p", tr(Text::page_more_findings, {{"n", report.not_listed()}}));
  return "<table>" + element("caption", tr(Text::page_findings)) + rows + "</table>\n" + more;
}

std::string source(const Excerpt& excerpt, std::int64_t marked) {
  if (excerpt.lines.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < excerpt.lines.size(); ++i) {
    const std::int64_t line = excerpt.first + static_cast<std::int64_t>(i);
    char gutter[32];
    std::snprintf(gutter, sizeof gutter, "%6lld | ", static_cast<long long>(line));
    const std::string shown = gutter + text_of(excerpt.lines[i]);
    text += (line == marked ? "<mark>" + shown + "</mark>" : shown) + "\n";
  }
  return "<pre>" + text + "</pre>\n";
}

std::string chain(const Finding& f) {
  if (f.chain.empty()) return {};
  std::string rows = head({tr(Text::column_tensor), tr(Text::page_where), tr(Text::page_what), tr(Text::page_line)});
  for (const Step& step : f.chain)
    rows += "<tr><td><code>" + text_of(step.tensor) + "</code><td>" + text_of(step.where) + "<td>" +
            text_of(step.what) + "<td>" + place_of(step.place) + "</tr>\n";
  const std::string left_out =
      f.steps_left_out == 0 ? "" : element("p", tr(Text::page_left_out, {{"n", f.steps_left_out}}));
  return "<table>" + element("caption", tr(Text::page_way)) + rows + "</table>\n" + left_out;
}

std::string section(const Finding& f, const Excerpt& excerpt) {
  std::string text = "<section>\n" + element("h2", "<span class=\"bad\">" + text_of(f.sentence) + "</span>");
  if (!f.consequence.empty()) text += element("p", text_of(f.consequence));
  if (!f.remedy.empty()) text += element("p", text_of(f.remedy));
  if (f.state == State::muted)
    text += element("p", text_of(tr(Text::page_muted_by, {{"place", f.muted_by}, {"reason", f.mute_reason}})));
  const std::string tensor = "<code>" + text_of(f.tensor) + "</code>";
  text += element(
      "p", f.place.known()
               ? tr(Text::page_made_at, {{"tensor", tensor}, {"where", text_of(f.where)}, {"place", place_of(f.place)}})
               : tr(Text::page_no_line, {{"tensor", tensor}, {"where", text_of(f.where)}}));
  return text + source(excerpt, f.place.line) + chain(f) + "</section>\n";
}

std::string coverage(const Report& report) {
  std::string rows;
  for (const CoverageDetail& detail : coverage_details(report.coverage))
    rows += "<tr><th scope=\"row\">" + text_of(detail.title) + "<td>" + text_of(detail.words) + "</tr>\n";
  return element("h2", tr(Text::page_looked_at)) + element("p", text_of(coverage_line(report.coverage))) + "<table>\n" +
         rows + "</table>\n";
}

}  // namespace

std::string html_page(const Report& report, const Illustrations& illustrations) {
  std::string page = std::string("<!doctype html>\n<html lang=\"") +
                     viewer::tongue_tags[static_cast<std::size_t>(viewer::tongue())] +
                     "\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\">\n<title>nanlens: " +
                     text_of(report.logdir) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n" +
                     element("h1", tr(Text::page_title, {{"logdir", "<code>" + text_of(report.logdir) + "</code>"}})) +
                     element("p", text_of(report.headline));
  for (const Overview& overview : illustrations.overviews) page += figure(overview);
  if (report.findings.size() > 1) page += summary(report);
  for (std::size_t i = 0; i < std::min(most_shown, report.findings.size()); ++i)
    page += section(report.findings[i], i < illustrations.excerpts.size() ? illustrations.excerpts[i] : Excerpt{});
  for (const auto& problem : report.mute_problems)
    page += element("p", "⚠ <code>" + text_of(problem.file + ":" + std::to_string(problem.line)) + "</code> " +
                             text_of(problem.message()));
  for (const std::string& open : open_questions(report)) page += element("p", "⚠ " + text_of(open));
  return page + coverage(report) + "</main>\n<footer class=\"quiet\">" +
         element("p", tr(Text::page_written_by, {{"version", NANLENS_VERSION_STRING}})) +
         "</footer>\n</body>\n</html>\n";
}

}  // namespace nanlens::findings
