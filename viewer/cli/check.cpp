#include <cstdio>

#include "commands.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

using report::with_separators;

constexpr int clean = 0;
constexpr int has_alerts = 1;
constexpr int not_checked = 3;

struct Found {
  std::uint64_t checked = 0;
  std::uint64_t alerts = 0;
  std::uint64_t faults = 0;
  std::uint64_t bad_runs = 0;
  std::uint64_t events = 0;
  std::string unfinished;  ///< why what is on record may not be all that happened
  std::string left_out;    ///< what nobody wanted to be recorded
};

void add_once(std::string& text, const std::string& reason) {
  if (text.find(reason) == std::string::npos) text += (text.empty() ? "" : "; ") + reason;
}

Found look_at(const reader::Logdir& logdir) {
  Found found;
  for (const auto& run : logdir.runs()) {
    for (std::size_t i = 0; i < run->num_traces(); ++i)
      found.checked += (run->trace_flags(i) & reader::has_summary_flag) != 0;
    for (std::size_t i = 0; i < run->num_executions(); ++i)
      found.checked += (run->execution_flags(i) & reader::has_summary_flag) != 0;
    found.events += run->num_traces() + run->num_executions();
    found.alerts += run->alerts().size();
    found.bad_runs += !run->alerts().empty();
    found.faults += run->diagnostics().size();
    for (const std::string& reason : report::unfinished_words(*run)) add_once(found.unfinished, reason);
    add_once(found.left_out, report::left_out_words(*run));
  }
  return found;
}

// The cause and the tensor that it made; where there is none to tell, the first bad tensor.
std::string story(reader::Run& run) {
  const auto causes = find_causes(run);
  causes::SentenceWriter writer(*causes);
  std::uint32_t root = writer.groups().headline();
  if (root == reader::none && !causes->benign().empty()) root = causes->benign().front();
  if (root == reader::none) return {};
  const auto s = writer.sentence(root);
  const causes::EventRef event = causes->roots()[root].event;
  const std::string where = (event.is_execution ? "execution " : "row ") + std::to_string(event.index);
  return "; why: " + s.text + (s.consequence.empty() ? "" : " " + s.consequence) + " (" +
         causes::tensor_name(causes->model(), event) + ", " + where + ")";
}

std::string bad_words(const reader::Logdir& logdir, const Found& found) {
  std::string text = with_separators(found.alerts) + (found.alerts == 1 ? " bad tensor" : " bad tensors");
  if (found.bad_runs > 1) text += " in " + with_separators(found.bad_runs) + " runs";
  return text + story(*runs_by_importance(logdir).front());
}

std::string unchecked_words(const reader::Logdir& logdir, const Found& found) {
  if (found.events == 0) return "nothing could be checked: no event is on record";
  causes::Causes causes(*runs_by_importance(logdir).front());
  const auto mode = causes.model().mode();
  return std::string("nothing could be checked: no tensor on record has health data") +
         (tells(mode, Told::finite_counts) ? "" : " (record with FULL_HEALTH)");
}

}  // namespace

int check(const std::string& path, bool strict) {
  const auto logdir = open_logdir(path);
  const Found found = look_at(*logdir);
  const std::string checked = "no NaN or ∞ in " + with_separators(found.checked) + " tensors and calls on record";
  int code = clean;
  std::string text = (found.left_out.empty() ? "clean: " : "clean as far as it was recorded: ") + checked;
  if (found.alerts > 0) {
    code = has_alerts;
    text = bad_words(*logdir, found);
  } else if (found.checked == 0) {
    code = not_checked;
    text = unchecked_words(*logdir, found);
  } else if (!found.unfinished.empty()) {
    code = not_checked;
    text = "can't tell: " + checked;
  }
  std::printf("%s: %s\n", path.c_str(), text.c_str());
  if (!found.unfinished.empty()) std::printf("%s: incomplete: %s\n", path.c_str(), found.unfinished.c_str());
  if (!found.left_out.empty()) std::printf("%s: incomplete: %s\n", path.c_str(), found.left_out.c_str());
  if (found.faults > 0)
    std::printf("%s: incomplete: %s %s could not be read\n", path.c_str(), with_separators(found.faults).c_str(),
                found.faults == 1 ? "thing" : "things");
  const bool incomplete = found.faults > 0 || !found.left_out.empty();
  return strict && incomplete && code == clean ? not_checked : code;
}

}  // namespace nanlens::cli
