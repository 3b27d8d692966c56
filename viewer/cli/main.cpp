// The nanlens command: no GUI library is linked in.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <nanlens/version.hpp>

#include "commands.hpp"
#include "help.hpp"
#include "language.hpp"
#include "open.hpp"
#include "texts/texts.hpp"

namespace {

constexpr int cannot_read = 2;
constexpr const char* language_help =
    "of what is said: en, de, ja, ko, zh-TW, pt-BR or system; by default, where people read it, NANLENS_LANG or the "
    "system's; English where programs do";
constexpr const char* mutes_help =
    "the file of mutes; by default nanlens.mutes in LOGDIR, and in the working directory or above";

// What the subcommands take, and what the one that ran returned.
struct Arguments {
  std::string path;
  std::string language;
  nanlens::cli::WhyOptions question;
  nanlens::cli::TensorOptions tensor;
  std::vector<std::string> paths;
  nanlens::cli::CheckOptions check;
  bool instrument = false;
  bool html = false;
  nanlens::cli::DumpOptions dump;
  std::string raw;
  std::string output;
  std::string directory = ".";
  std::string host;
  nanlens::cli::RunOptions run;
  nanlens::cli::ShareOptions share;
  nanlens::cli::OnnxOptions onnx;
  int code = 0;
};

void add_logdir(CLI::App& command, std::string& path) {
  command.add_option("LOGDIR", path, "a logdir, or an archive of one")->required();
}

std::array<CLI::Option*, 2> add_rules(CLI::App& command, nanlens::cli::CheckOptions& options) {
  auto* const rules =
      command
          .add_option(
              "--rule", options.rules,
              "'NAME: CONDITIONS', as in 'dead relu: zero>95% type:Relu for 5 calls'; may be given several times")
          ->allow_extra_args(false);
  auto* const files = command
                          .add_option("--rules", options.rule_files,
                                      "a file of such rules, one per line; 'standard': those that ship; by default "
                                      "nanlens.rules in LOGDIR, and in the working directory or above")
                          ->allow_extra_args(false);
  return {rules, files};
}

void add_report(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("report", "what was recorded, and the first bad tensor");
  add_logdir(*command, a.path);
  auto* const html = command->add_flag("--html", a.html,
                                       "as a page of HTML, to print or to mail: no scripts, nothing from the network");
  command->add_option("-o,--output", a.output, "the page to write; stdout by default")->needs(html);
  for (CLI::Option* const option : add_rules(*command, a.check)) option->needs(html);
  command->add_option("--lang", a.language, language_help);
  command->callback([&a] {
    nanlens::cli::speak(a.language, true);
    a.check.path = a.path;
    a.code = a.html ? nanlens::cli::report_page(a.check, a.output) : nanlens::cli::report(a.path);
  });
}

void add_why(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("why", "why there is a NaN: cause, chain, evidence, remedy");
  add_logdir(*command, a.question.path);
  auto* const row = command->add_option("--row", a.question.row, "ask about this row of the graph executions");
  command->add_option("--execution", a.question.execution, "ask about an output of this execution")->excludes(row);
  command->add_option("--output", a.question.output, "which output; the first bad one by default");
  command->add_option("--run", a.question.run,
                      "id of the run, where there are several; by default all that have a NaN or infinity");
  command->add_option("--mutes", a.question.mutes, mutes_help);
  command->add_flag("--json", a.question.json, "one JSON object");
  command->add_option("--lang", a.language, language_help);
  command->callback([&a] {
    nanlens::cli::speak(a.language, !a.question.json);
    a.code = nanlens::cli::why(a.question);
  });
}

void add_view(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("view", "open the desktop viewer");
  command->add_option("LOGDIR", a.paths, "logdirs, or archives of them");
  command->callback([&a] { a.code = nanlens::cli::view(a.paths); });
}

void add_check(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand(
      "check", "exit code 0: clean, 1: a NaN or infinity that does harm, or a rule's error, 3: can't tell");
  add_logdir(*command, a.check.path);
  command->add_flag("--strict", a.check.strict,
                    "a damaged, incomplete or sampled logdir without alerts is exit code 3, not 0");
  command->add_option("--format", a.check.format, "what is printed: text, json, junit, sarif, github, markdown")
      ->check([](const std::string& name) { return nanlens::cli::why_no_output(name + "=-"); });
  command->add_option("--output", a.check.outputs, "FORMAT=FILE: written besides; may be given several times")
      ->allow_extra_args(false)
      ->check(&nanlens::cli::why_no_output);
  command->add_option("--source-root", a.check.source_root,
                      "the directory that paths of source files are told from; the working directory by default");
  command->add_option("--baseline", a.check.baseline,
                      "a logdir, or what an earlier check wrote as json or sarif: only what is new fails");
  command->add_option("--mutes", a.check.mutes, mutes_help);
  add_rules(*command, a.check);
  command->add_option("--lang", a.language, language_help);
  command->callback([&a] {
    nanlens::cli::speak(a.language, nanlens::cli::for_people(a.check));
    a.code = nanlens::cli::check(a.check);
  });
}

void add_tensor(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("tensor", "values on record: as a NumPy file, or in words");
  command->add_option("LOGDIR", a.tensor.path, "a logdir, or an archive of one")->required();
  auto* const row = command->add_option("--row", a.tensor.row, "of this row of the graph executions");
  command->add_option("--execution", a.tensor.execution, "of this execution")->excludes(row);
  auto* const input = command->add_option("--input", a.tensor.input, "this input of its op");
  command->add_option("--output", a.tensor.output, "this output; the first that is stored by default")->excludes(input);
  command->add_option("--run", a.tensor.run, "id of the run, where there are several");
  command->add_option("-o,--file", a.tensor.file, "the .npy file to write; without it, shape, range and bad places");
  command->callback([&a] { a.code = nanlens::cli::tensor(a.tensor); });
}

void add_dump(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("dump", "one JSON object per line");
  auto* const path = command->add_option("LOGDIR", a.dump.path, "a logdir, or an archive of one");
  auto* const what = command->add_option("--what", a.dump.what, "kind of items")
                         ->check(CLI::IsMember({"runs", "executions", "traces", "graphs", "ops", "alerts",
                                                "source_files", "stack_frames", "devices"}));
  command->add_option("--begin", a.dump.begin, "first item");
  command->add_option("--end", a.dump.end, "one past the last item; -1: all");
  command->add_option("--run", a.dump.run, "id of the run, where there are several");
  command->add_flag("--lines", a.dump.lines, "source_files: with their text");
  auto* const raw = command->add_option("--raw", a.raw, "print every DebugEvent of this file as protobuf JSON");
  raw->excludes(path)->excludes(what);
  command->callback([&a] {
    if (a.raw.empty() && (a.dump.path.empty() || a.dump.what.empty()))
      throw CLI::ValidationError("dump needs LOGDIR and --what KIND, or --raw FILE");
    a.code = a.raw.empty() ? nanlens::cli::dump(a.dump) : nanlens::cli::dump_raw(a.raw);
  });
}

void add_pack(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("pack", "put a logdir into one compressed file");
  add_logdir(*command, a.path);
  command->add_option("-o,--output", a.output, "the archive to write; LOGDIR.nanlens by default");
  command->callback([&a] { a.code = nanlens::cli::pack(a.path, a.output); });
}

void add_recover(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand(
      "recover", "move what a program that died had not written yet into TensorFlow's files, for TensorBoard");
  command->add_option("LOGDIR", a.path, "a directory")->required();
  command->callback([&a] { a.code = nanlens::cli::recover(a.path); });
}

void add_adapter(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand(
      "adapter", "print the path of a library that records a host, compiled against the host's version if need be");
  command->add_option("HOST", a.host, "torch, mpi or ggml")->required();
  command
      ->add_option("LIBRARY", a.path,
                   "the host's library: libtorch_cpu.so, libggml-base.so, or the libmpi.so of a version")
      ->required();
  command->callback([&a] { a.code = nanlens::cli::adapter(a.host, a.path); });
}

void add_unpack(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand("unpack", "take an archive apart");
  command->add_option("FILE", a.path, "the archive")->required();
  command->add_option("-C,--directory", a.directory, "where to; the current directory by default");
  command->callback([&a] { a.code = nanlens::cli::unpack(a.path, a.directory); });
}

// CLI11's own validator tells the largest double as well.
CLI::Validator at_least(std::int64_t least) {
  const auto wrong = [least](const std::string& text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stopped == end && value >= least
               ? ""
               : "'" + text + "' is no whole number from " + std::to_string(least) + " on";
  };
  return {wrong, "≥" + std::to_string(least)};
}

void add_share(CLI::App& app, Arguments& a) {
  CLI::App* const command =
      app.add_subcommand("share", "write one HTML file with the viewer and this recording in it, to mail or to attach");
  add_logdir(*command, a.share.path);
  command->add_option("-o,--output", a.share.output, "the file to write; NAME.html by default");
  auto* const view = command->add_option("--view", a.share.view,
                                         "what it shows at first: a link copied in the viewer, or 't=88' for row 88");
  command
      ->add_option("--around-cause", a.share.around_cause,
                   "only what causes need: what led to them and came of them, and so many rows around each")
      ->excludes(view)  // rows have other numbers then
      ->check(at_least(0));
  command->add_flag("--no-source", a.share.no_source, "without the text of source files");
  command
      ->add_option("--redact", a.share.redact,
                   "a text that must not be in it, such as a user's name: taken out of paths, names and sources")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--page", a.share.page, "the page, nanlens.html; by default the one beside this program");
  command->callback([&a] { a.code = nanlens::cli::share(a.share); });
}

void add_onnx(CLI::App& app, Arguments& a) {
  CLI::App* const command = app.add_subcommand(
      "onnx", "run a model as it was written and as ONNX Runtime optimises it: the first bad node of each");
  command->add_option("MODEL", a.onnx.model, "an .onnx file")->required();
  auto* const input = command->add_option("--input", a.onnx.inputs,
                                          "NAME=FILE.npy for each input; or FILE.npy, in the order of the model");
  auto* const random = command->add_option("--random", a.onnx.random, "make up inputs that are not given, by this seed")
                           ->check(at_least(0));
  command->add_option("--library", a.onnx.library, "libonnxruntime.so; by default where the loader looks");
  command->add_option("--logdir", a.onnx.logdir, "where to record; ./nanlens-DATE-TIME by default");
  command->add_flag("--check", a.onnx.check,
                    "exit code 1 if there is a NaN or infinity that nanlens.mutes does not list");
  auto* const flag = command->add_flag("--instrument", a.instrument,
                                       "write the model with probes, for programs that load libnanlens_onnx.so");
  command->add_option("-o,--output", a.onnx.output, "the model to write")
      ->needs(flag)
      ->excludes(input)
      ->excludes(random);
  command->callback([&a] {
    if (a.instrument && a.onnx.output.empty()) throw CLI::ValidationError("--instrument needs -o OUT");
    a.code = nanlens::cli::onnx(a.onnx);
  });
}

// Empty if it is a range of steps.
std::string wrong_steps(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? "" : text.substr(dots + 2);
  constexpr std::size_t longest = 18;
  const auto is_number = [](const std::string& part) {
    return part.size() <= longest && part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (dots == std::string::npos || text.size() == 2 || !is_number(first) || !is_number(last))
    return "'" + text + "' is no range of steps: A..B, A.. or ..B";
  if (!first.empty() && !last.empty() && std::stoll(last) < std::stoll(first)) return "'" + text + "' holds no step";
  return {};
}

void add_turn(CLI::App& app, Arguments& a) {
  for (const bool on : {false, true}) {
    CLI::App* const command = app.add_subcommand(
        on ? "on" : "off", on ? "have programs that rest after 'off' record again"
                              : "have the programs that record into a logdir rest: they go on, cheap");
    command->add_option("LOGDIR", a.path, "a directory")->required();
    command->callback([&a, on] { a.code = nanlens::cli::turn(a.path, on); });
  }
}

void add_run(CLI::App& app, Arguments& a) {
  CLI::App* const command =
      app.add_subcommand("run", "run a program as it is, and record it: nanlens run --traps -- ./solver input.txt");
  command->add_option("--logdir", a.run.logdir, "where to; ./nanlens-DATE-TIME by default");
  command->add_option("--mode", a.run.mode, "what is recorded of tensors; FULL_HEALTH by default");
  command->add_option("--ring", a.run.ring, "keep the last so many events; 0: all")->check(at_least(0));
  auto* const every =
      command->add_option("--every", a.run.every, "record one of so many steps, the first")->check(at_least(1));
  command->add_option("--steps", a.run.steps, "record these steps alone: A..B, A.. or ..B; they count from 0")
      ->excludes(every)
      ->check(CLI::Validator(&wrong_steps, "A..B"));
  command
      ->add_option(
          "--rule", a.run.rules,
          "judge by this rule while the program runs, \"NAME: CONDITIONS\" as for check; the first hit is told")
      ->allow_extra_args(false);
  command->add_option("--rules", a.run.rule_files, "a file of such rules, one per line; 'standard': those that ship")
      ->allow_extra_args(false);
  command->add_flag("--stop-on-rule", a.run.stop_on_rule,
                    "end the program, with exit code 97, where a rule of level error holds");
  command->add_flag("--traps{all}", a.run.traps,
                    "trap floating-point exceptions of native code: all, or a list of invalid, "
                    "divbyzero, overflow (--traps=invalid,overflow)");
  command->add_option("--hosts", a.run.hosts,
                      "libraries whose ops are recorded: torch, ggml, onnx, mpi, none; all by default");
  command->add_flag("--check", a.run.check,
                    "where the program succeeded: exit code 1 if there is a NaN or infinity that does harm and "
                    "nanlens.mutes does not list it; 3 if something could not be recorded or read");
  command->add_flag("--best-effort", a.run.best_effort, "run it unrecorded where it can't be recorded");
  command->footer(
      "The program follows behind '--'. Its exit code, or 128 and the number of a signal, is that of run.\n"
      "A step ends with each step() of a PyTorch optimizer, with each graph of ggml, and where a C++ program calls\n"
      "nanlens::step(); a program in which none ends has one. Steps and 'nanlens off' concern ops: exceptions are "
      "trapped all the same.");
  command->callback([&a] { a.code = nanlens::cli::run(a.run); });
}

// What is behind "--" is another program's.
void take_program(std::vector<std::string>& words, Arguments& a) {
  if (words.empty() || words.front() != "run") return;
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end == words.end()) return;
  a.run.program.assign(end + 1, words.end());
  words.erase(end, words.end());
}

// A first word that is no subcommand is a logdir to look at; `nanlens ./report` opens a directory of that name. Where
// no window can be opened it is reported on in text.
void complete(std::vector<std::string>& words, const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool names_logdir =
      !words.empty() && !words[0].starts_with('-') &&
      std::none_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == words[0]; });
  if (!names_logdir) return;
  const std::string why = nanlens::cli::why_no_viewer();
  if (!why.empty()) std::fprintf(stderr, "nanlens: no viewer: %s; here is the report\n", why.c_str());
  words.insert(words.begin(), why.empty() ? "view" : "report");
}

int run(int argc, char** argv) {
  CLI::App app{
      "nanlens finds where a NaN comes from: reads the logdirs of TensorFlow's Debugger V2 and of nanlens itself."};
  app.set_version_flag("--version", NANLENS_VERSION_STRING);
  app.require_subcommand(1);
  app.footer(
      "LOGDIR is a directory, or an archive of one (.nanlens, .tar.zst, .tar).\nExit codes: 0 done, 2 can't read or "
      "wrong usage; 'check' and 'run' have their own.");
  Arguments arguments;
  for (const auto add : {add_report, add_why, add_tensor, add_view, add_check, add_dump, add_run, add_onnx, add_turn,
                         add_share, add_pack, add_recover, add_unpack, add_adapter})
    add(app, arguments);
  std::vector<std::string> words(argv + 1, argv + argc);
  take_program(words, arguments);
  complete(words, app);
  const nanlens::viewer::Tongue of_help = nanlens::cli::translate_help(app, words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them last first
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    nanlens::viewer::set_tongue(of_help);
    return app.exit(error) == 0 ? 0 : cannot_read;
  }
  return arguments.code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: %s\n", nanlens::cli::failure_words(error.what()).c_str());
    return cannot_read;
  }
}
