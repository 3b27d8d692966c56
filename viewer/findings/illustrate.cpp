// What a page shows besides the report: read from the logdir once more.
#include <algorithm>
#include <cstddef>
#include <utility>

#include <nanlens/causes/stack_of.hpp>

#include "page.hpp"
#include "report/describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::findings {

namespace {

using viewer::Text;
using viewer::tr;

causes::EventRef event_of(const Finding& finding) {
  if (finding.execution) return causes::execution_event(*finding.execution, 0);
  return causes::trace_event(finding.row.value_or(causes::none));
}

Excerpt excerpt_of(reader::Run& run, const Finding& finding) {
  constexpr std::int64_t around = 4;
  Excerpt excerpt;
  if (!event_of(finding).exists()) return excerpt;
  const auto frame = reader::user_frame(causes::stack_of(run, event_of(finding)));
  if (!frame || frame->line <= 0) return excerpt;
  for (std::size_t i = 0; i < run.source_files().size() && excerpt.lines.empty(); ++i) {
    const auto& file = run.source_files()[i];
    if (file.file_path != frame->file_path || file.host_name != frame->host_name) continue;
    const auto lines = run.source_lines(i);
    const auto end = std::min(static_cast<std::int64_t>(lines.size()), frame->line + around);
    excerpt.first = std::max<std::int64_t>(1, frame->line - around);
    for (std::int64_t line = excerpt.first; line <= end; ++line)
      excerpt.lines.push_back(lines[static_cast<std::size_t>(line - 1)]);
  }
  return excerpt;
}

template <class IsBad>
Overview overview_of(std::string title, std::size_t count, std::optional<std::uint32_t> cause, const IsBad& is_bad) {
  constexpr std::size_t most_stretches = 180;
  Overview overview{std::move(title), count, 0, {}, {}};
  const std::size_t stretches = std::min(count, most_stretches);
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t begin = s * count / stretches;
    const std::size_t end = (s + 1) * count / stretches;
    std::size_t bad = 0;
    for (std::size_t i = begin; i < end; ++i) bad += is_bad(i);
    overview.bad += bad;
    overview.shares.push_back(static_cast<double>(bad) / static_cast<double>(end - begin));
  }
  if (cause) overview.cause = (static_cast<double>(*cause) + 0.5) / static_cast<double>(count);
  return overview;
}

void add_overviews(const reader::Run& run, bool named, const Finding* lead, std::vector<Overview>& overviews) {
  const auto titled = [&](Text alone, Text of_run) {
    return named ? tr(of_run, {{"run", report::run_name(run)}}) : std::string(tr(alone));
  };
  const bool leads = lead != nullptr && lead->run_id == run.id();
  if (run.num_traces() > 0)
    overviews.push_back(overview_of(titled(Text::page_rows, Text::page_rows_of), run.num_traces(),
                                    leads ? lead->row : std::nullopt,
                                    [&](std::size_t i) { return (run.trace_flags(i) & reader::bad_flags) != 0; }));
  if (run.num_executions() > 0)
    overviews.push_back(overview_of(titled(Text::page_executions, Text::page_executions_of), run.num_executions(),
                                    leads ? lead->execution : std::nullopt,
                                    [&](std::size_t i) { return (run.execution_flags(i) & reader::bad_flags) != 0; }));
}

}  // namespace

Illustrations illustrate(const reader::Logdir& logdir, const Report& report) {
  Illustrations result;
  for (std::size_t i = 0; i < std::min(most_shown, report.findings.size()); ++i) {
    reader::Run* const run = logdir.find_run(report.findings[i].run_id);
    result.excerpts.push_back(run == nullptr ? Excerpt{} : excerpt_of(*run, report.findings[i]));
  }
  const Finding* const lead = report.findings.empty() ? nullptr : &report.findings.front();
  for (const auto& run : logdir.runs()) add_overviews(*run, logdir.runs().size() > 1, lead, result.overviews);
  return result;
}

}  // namespace nanlens::findings
