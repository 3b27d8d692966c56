#include <cstdio>

#include "commands.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using report::describe_alert;
using report::describe_frame;
using report::describe_tensor;
using report::stack_of;
using report::with_separators;

struct Found {
  std::uint64_t checked = 0;
  std::uint64_t alerts = 0;
  std::uint64_t dropped = 0;
  std::uint64_t faults = 0;
  reader::Run* first_run = nullptr;
};

Found look_at(const reader::Logdir& logdir) {
  Found found;
  for (const auto& run : logdir.runs()) {
    for (std::size_t i = 0; i < run->num_traces(); ++i)
      found.checked += (run->trace_flags(i) & reader::has_summary_flag) != 0;
    for (std::size_t i = 0; i < run->num_executions(); ++i)
      found.checked += (run->execution_flags(i) & reader::has_summary_flag) != 0;
    found.alerts += run->alerts().size();
    found.dropped += run->dropped();
    found.faults += run->diagnostics().size();
    if (run->alerts().empty()) continue;
    if (found.first_run == nullptr || run->alerts().front().wall_time < found.first_run->alerts().front().wall_time)
      found.first_run = run.get();
  }
  return found;
}

std::string first_alert(reader::Run& run) {
  const auto alert = run.alert(run.alerts().front());
  if (!alert) return "its record can't be read";
  std::string text = describe_tensor(*alert) + " has " + describe_alert(alert->health);
  if (alert->trace != reader::none)
    text += ", row " + std::to_string(alert->trace);
  else
    text += ", execution " + std::to_string(alert->execution);
  if (const auto frame = reader::user_frame(stack_of(run, *alert))) text += ", made at " + describe_frame(*frame);
  return text;
}

}  // namespace

int check(const std::string& path, bool strict) {
  constexpr int clean = 0;
  constexpr int has_alerts = 1;
  constexpr int nothing_checked = 3;
  const auto logdir = open_logdir(path);
  const Found found = look_at(*logdir);
  int code = clean;
  if (found.alerts > 0) {
    code = has_alerts;
    const std::string why = headline_text(*find_causes(*found.first_run));
    std::printf("%s: %s bad tensor%s; the first: %s%s\n", path.c_str(), with_separators(found.alerts).c_str(),
                found.alerts == 1 ? "" : "s", first_alert(*found.first_run).c_str(),
                why.empty() ? "" : ("; why: " + why).c_str());
  } else if (found.checked == 0) {
    code = nothing_checked;
    std::printf("%s: nothing could be checked: no tensor on record has health data (record with FULL_HEALTH)\n",
                path.c_str());
  } else {
    std::printf("%s: clean: no NaN or ∞ in %s tensors and calls on record\n", path.c_str(),
                with_separators(found.checked).c_str());
  }
  if (found.dropped + found.faults > 0) {
    std::printf("%s: incomplete: %s events were not recorded, %s things could not be read\n", path.c_str(),
                with_separators(found.dropped).c_str(), with_separators(found.faults).c_str());
    if (strict && code == clean) code = nothing_checked;
  }
  return code;
}

}  // namespace nanlens::cli
