// `nanlens run`: a program as it is, recorded.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include <nanlens/summary/debug_mode.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "library.hpp"
#include "loaded_library.hpp"
#include "open.hpp"
#include "program_file.hpp"
#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "report/trapped.hpp"
#include "rules_files.hpp"
#include "run.hpp"
#include "share/file_text.hpp"
#include "share/own_program.hpp"
#include "trap_list.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

// Of --check, as `nanlens check` has them.
constexpr int found_bad = 1;
constexpr int can_not_tell = 3;

}  // namespace

// That of the ranks of a job has the job's name: their clocks may not agree on the second.
std::string default_logdir() {
  if (const std::string job = job_name(); !job.empty()) return "nanlens-" + job;
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "nanlens-%Y%m%d-%H%M%S", &parts);
  return text;
}

namespace {

std::string checked_mode(const std::string& mode) {
  if (!is_recordable(debug_mode_from_name(mode)))
    throw Failure("unknown mode '" + mode +
                  "': use NO_TENSOR, CURT_HEALTH, CONCISE_HEALTH, FULL_HEALTH, SHAPE or FULL_TENSOR");
  return mode;
}

// Beside those that nanlens knows, the environment may name one (viewer/run/preload.c).
void check_hosts(std::string_view list) {
  const char* const more = std::getenv("NANLENS_HOST_LIBRARY");
  const std::string_view another = more == nullptr ? "" : std::string_view(more).substr(0, std::strcspn(more, "="));
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (name != "torch" && name != "ggml" && name != "onnx" && name != "mpi" && name != "none" &&
        (another.empty() || name != another))
      throw Failure("unknown host '" + std::string(name) + "': use torch, ggml, onnx, mpi or none");
  }
}

// What a run records into, and how it is found out that somebody was there to record.
struct Recording {
  std::string logdir;
  std::string mark;
  bool was_there = false;       // the logdir, before
  std::int64_t unrecorded = 0;  // places whose exceptions are not on record
};

Recording prepare_logdir(const RunOptions& options) {
  Recording recording;
  recording.logdir = fs::absolute(options.logdir.empty() ? default_logdir() : options.logdir).string();
  recording.was_there = fs::exists(recording.logdir);
  std::error_code error;
  fs::create_directories(recording.logdir, error);
  recording.mark = recording.logdir + "/.run-" + std::to_string(::getpid());
  std::FILE* const file = error ? nullptr : std::fopen(recording.mark.c_str(), "we");
  if (file == nullptr)
    throw Failure("can't write to '" + recording.logdir + "': " + (error ? error.message() : std::strerror(errno)) +
                  "; choose another directory with --logdir");
  std::fclose(file);
  fs::remove(recording.mark);
  return recording;
}

std::vector<std::string> variables_for(const RunOptions& options, const Recording& recording) {
  std::vector<std::string> variables{"NANLENS_LOGDIR=" + recording.logdir};
  if (!options.mode.empty()) variables.push_back("NANLENS_MODE=" + checked_mode(options.mode));
  if (options.ring > 0) variables.push_back("NANLENS_CIRCULAR_BUFFER_SIZE=" + std::to_string(options.ring));
  if (options.every > 0) variables.push_back("NANLENS_EVERY=" + std::to_string(options.every));
  if (!options.steps.empty()) variables.push_back("NANLENS_STEPS=" + options.steps);
  if (const std::string rules = program_rules(options.rules, options.rule_files); !rules.empty())
    variables.push_back("NANLENS_RULES=" + rules);
  if (options.stop_on_rule) variables.emplace_back("NANLENS_RULES_STOP=1");
  std::string preload = "LD_PRELOAD=" + library("libnanlens_preload.so");
  if (!options.traps.empty()) preload += ":" + library("libnanlens_traps.so");
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += std::string(":") + others;
  variables.push_back(preload);
  if (std::getenv("NANLENS_COMMAND") == nullptr)
    variables.push_back("NANLENS_COMMAND=" + share::own_program().string());
  if (!options.hosts.empty()) variables.push_back("NANLENS_HOSTS=" + options.hosts);
  if (!options.traps.empty()) variables.push_back("NANLENS_TRAPS=" + options.traps);
  variables.push_back("NANLENS_RUN_MARK=" + recording.mark);
  return variables;
}

bool has_records(const std::string& logdir) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(logdir, error))
    if (entry.path().filename().string().starts_with("tfdbg_events.")) return true;
  return false;
}

// What the marked processes have left: how many places trapped an exception that did not come on record.
std::int64_t unrecorded_places(const std::string& mark) {
  std::int64_t count = 0;
  std::ifstream(mark, std::ios::binary).read(reinterpret_cast<char*>(&count), sizeof count);
  return std::max<std::int64_t>(count, 0);
}

void tell(const std::string& text) { std::fprintf(stderr, "nanlens: %s\n", text.c_str()); }

// The causes of a run that are not muted, the leading one first, with what came of it. False if all is known to be
// muted, or to do no harm.
bool tell_causes(reader::Run& run, report::Mutes& mutes) {
  const auto causes = find_causes(run);
  causes::SentenceWriter writer(*causes);
  const report::MutedCauses muted(writer, *causes, mutes);
  constexpr std::size_t shown = 5;
  std::vector<const causes::CauseGroup*> groups;
  for (const causes::CauseGroup& group : writer.groups().list())
    if (muted.by(group.root) == nullptr) groups.push_back(&group);
  for (const causes::CauseGroup* const group : causes::shortened(groups, shown)) {
    const auto s = writer.sentence(group->root);
    tell(group != groups.front() || s.consequence.empty() ? s.text : s.text + " " + s.consequence);
  }
  if (groups.size() > shown) tell("… and " + std::to_string(groups.size() - shown) + " more");
  const auto& expected = writer.groups().expected();
  if (writer.groups().list().empty() && !expected.empty() && !muted.all_muted())
    tell(writer.sentence(expected.front().root).text + writer.times_words(expected.front().root));
  if (const std::string words = muted.words(); !words.empty()) tell(words);
  return !groups.empty() || (writer.groups().list().empty() && expected.empty());
}

// An op that raised exceptions, by its type and name; empty if it can't be read.
std::string hidden_op(reader::Run& run, const reader::HiddenException& hidden) {
  const auto named = [](const std::string& type, const std::string& name) { return type + " \"" + name + "\""; };
  if (hidden.is_execution) {  // an instruction: what it did is its name
    const auto detail = run.execution(hidden.event);
    return detail ? named(detail->event.op_type, detail->extension.op_name) : std::string();
  }
  const auto op = run.op(run.trace_op(hidden.event));
  return op ? named(op->event.op_type, op->event.op_name) + ", " + exceptions_text(hidden.fp_flags) : std::string();
}

// Such an op and where it is; empty if it can't be read.
std::string hidden_words(reader::Run& run, const reader::HiddenException& hidden) {
  std::string op = hidden_op(run, hidden);
  if (op.empty()) return op;
  const auto event = hidden.is_execution ? causes::execution_event(hidden.event, 0) : causes::trace_event(hidden.event);
  const auto frame = reader::user_frame(causes::stack_of(run, event));
  const std::string place = frame ? report::line_or_function(*frame) : "";
  if (!place.empty()) op += (frame->line > 0 ? " at " : " in ") + place;
  return op + (hidden.result_unknown() ? ": what came of it is not known" : ": no NaN or ∞ came of it");
}

// What ends a list of which the first are shown, of so many; where not all were looked at there are more.
void tell_more(std::size_t told, std::size_t shown, bool all_read) {
  if (told > shown) tell("… and " + std::string(all_read ? "" : "at least ") + std::to_string(told - shown) + " more");
}

// Exceptions of ops whose results are clean: each op and place once, however often it is on record.
void tell_hidden(reader::Run& run) {
  constexpr std::size_t shown = 5;
  constexpr std::size_t most_read = 5000;
  std::set<std::string> told;
  std::size_t read = 0;
  for (const reader::HiddenException& hidden : run.hidden_exceptions()) {
    if (hidden.taken_by_program()) continue;
    if (++read > most_read) break;
    const std::string words = hidden_words(run, hidden);
    if (!words.empty() && told.insert(words).second && told.size() <= shown) tell(words);
  }
  tell_more(told.size(), shown, read <= most_read);
}

// Exceptions that the program trapped itself. False if there are none but muted ones.
bool tell_trapped(reader::Run& run, report::Mutes& mutes) {
  constexpr std::size_t shown = 5;
  std::size_t told = 0;
  for (const report::TrappedByProgram& trapped : report::trapped_by_program(run, mutes))
    if (trapped.mute == nullptr && ++told <= shown) tell(trapped.words());
  tell_more(told, shown, true);
  return told > 0;
}

std::string why_nothing(const RunOptions& options, bool watched, const std::string& path) {
  if (!watched && share::has_text(path, "GGML_ASSERT(%s) failed"))
    return "nothing was recorded: ggml is linked into '" + path +
           "', where nanlens run can't see it: build it as a shared library (-DBUILD_SHARED_LIBS=ON), or include "
           "nanlens/hosts/ggml.hpp";
  if (!watched && options.traps.empty())
    return "nothing was recorded: the program does not record, no library that nanlens knows (PyTorch's, ggml's, ONNX "
           "Runtime's, MPI's) was in it, and --traps was not given";
  if (!watched) return "nothing was recorded: nanlens was not loaded into the program";
  if (options.traps.empty()) return "nothing was recorded: no op ran";
  return "no floating-point exception was trapped (" + options.traps + ")";
}

// Marks that do nothing are told only where they had something to match.
void tell_problems(const report::Mutes& mutes) {
  for (const report::MuteProblem& p : mutes.problems())
    tell(p.file + ":" + std::to_string(p.line) + ": " + p.message());
}

// What came of it, on stderr. The exit code of --check: is there a NaN or infinity that does harm and is not muted, or
// may there be one in what is missing?
int tell_findings(const RunOptions& options, const Recording& recording, bool watched, const std::string& path) {
  if (!has_records(recording.logdir)) {
    if (recording.unrecorded == 0) tell(why_nothing(options, watched, path));
    if (!recording.was_there) fs::remove(recording.logdir);  // if it is empty
    return 0;
  }
  const auto logdir = open_logdir(recording.logdir);
  report::Mutes mutes = find_mutes(*logdir, recording.logdir);
  bool any = false;
  bool bad = false;
  for (reader::Run* const run : runs_by_importance(*logdir)) {
    if (!run->alerts().empty()) {
      any = true;
      bad = tell_causes(*run, mutes) || bad;
    }
    bad = tell_trapped(*run, mutes) || bad;
    tell_hidden(*run);
  }
  if (any) tell_problems(mutes);
  if (!any) tell("no NaN or ∞ on record");
  std::size_t sampled = 0;
  std::uint64_t dropped = 0;
  std::uint64_t unread = 0;
  for (const auto& run : logdir->runs()) {
    dropped += run->dropped();
    unread += run->unread_tensors();
    for (const std::string& rule : report::rule_words(*run)) tell(rule);
    for (const std::string& gap : report::rule_gaps(*run)) tell(gap);
    if (const std::string untrapped = report::untrapped_words(*run); !untrapped.empty()) tell(untrapped);
    const std::string left_out = report::left_out_words(*run);
    if (left_out.empty()) continue;
    tell(left_out);
    ++sampled;
  }
  for (const std::string& words : report::missing_words(dropped, unread)) tell(words);
  if (sampled == 0 && options.every > 1) tell("nothing was left out: no second step began (see nanlens run --help)");
  tell("more: nanlens why " + recording.logdir);
  return bad ? found_bad : dropped + unread > 0 ? can_not_tell : 0;
}

Ended run_as_rank(const std::string& path, const RunOptions& options, const Recording& recording) {
  const RankAtWork at_work(recording.logdir);
  return run_program(path, options.program, variables_for(options, recording));
}

int run_recorded(const RunOptions& options, const std::string& path) {
  if (const std::string why = why_no_traps(options.traps); !why.empty()) throw Failure(why);
  check_hosts(options.hosts);
  if (const std::string why = why_not_watchable(path, !options.traps.empty()); !why.empty()) throw Failure(why);
  Recording recording = prepare_logdir(options);
  const Ended ended = run_as_rank(path, options, recording);
  recording.unrecorded = unrecorded_places(recording.mark);
  const bool watched = fs::remove(recording.mark);
  if (ended.signal != 0)
    tell(options.program.front() + " was ended by signal " + std::to_string(ended.signal) + " (" +
         ::strsignal(ended.signal) + ")");
  if (recording.unrecorded > 0)
    tell("the program ended before all was on record: floating-point exceptions at " +
         std::to_string(recording.unrecorded) + (recording.unrecorded == 1 ? " place" : " places") + " are missing");
  if (!tells_for_job()) return ended.code;
  wait_for_ranks(recording.logdir);
  const int found = tell_findings(options, recording, watched, path);
  if (ended.code != 0 || !options.check) return ended.code;
  return found == 0 && recording.unrecorded > 0 ? can_not_tell : found;
}

}  // namespace

int run(const RunOptions& options) {
  if (options.program.empty())
    throw Failure("run needs a program behind '--': nanlens run --traps -- ./solver input.txt");
  const std::string path = find_program(options.program.front());
  (void)program_rules(options.rules, options.rule_files);  // a wrong one is told before anything is made
  if (!options.best_effort) return run_recorded(options, path);
  try {
    return run_recorded(options, path);
  } catch (const Failure& failure) {
    tell(std::string(failure.what()) + "; it runs unrecorded");
  }
  const Ended ended = run_program(path, options.program, {});
  return ended.code;
}

}  // namespace nanlens::cli
