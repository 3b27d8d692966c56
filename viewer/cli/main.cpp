// The nanlens command: no GUI library is linked in.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <nanlens/version.hpp>

#include "commands.hpp"
#include "open.hpp"

namespace {

constexpr int cannot_read = 2;

int run(int argc, char** argv) {
  using namespace nanlens::cli;
  CLI::App app{
      "nanlens finds where a NaN comes from: reads the logdirs of TensorFlow's Debugger V2 and of nanlens itself."};
  app.set_version_flag("--version", NANLENS_VERSION_STRING);
  app.require_subcommand(1);
  app.footer(
      "LOGDIR is a directory, or an archive of one (.nanlens, .tar.zst, .tar).\nExit codes: 0 done, 2 can't read or "
      "wrong usage; 'check' has its own.");
  int code = 0;

  std::string path;
  const auto logdir_argument = [&](CLI::App* command) {
    command->add_option("LOGDIR", path, "a logdir, or an archive of one")->required();
  };

  CLI::App* const report_command = app.add_subcommand("report", "what was recorded, and the first bad tensor");
  logdir_argument(report_command);
  report_command->callback([&] { code = report(path); });

  WhyOptions question;
  CLI::App* const why_command = app.add_subcommand("why", "why there is a NaN: cause, chain, evidence, remedy");
  why_command->add_option("LOGDIR", question.path, "a logdir, or an archive of one")->required();
  auto* const row = why_command->add_option("--row", question.row, "ask about this row of the graph executions");
  why_command->add_option("--execution", question.execution, "ask about an output of this execution")->excludes(row);
  why_command->add_option("--output", question.output, "which output; the first bad one by default");
  why_command->add_option("--run", question.run,
                          "id of the run, where there are several; by default all that have a NaN or infinity");
  why_command->add_flag("--json", question.json, "one JSON object");
  why_command->callback([&] { code = why(question); });

  std::vector<std::string> paths;
  CLI::App* const view_command = app.add_subcommand("view", "open the desktop viewer");
  view_command->add_option("LOGDIR", paths, "logdirs, or archives of them");
  view_command->callback([&] { code = view(paths); });

  bool strict = false;
  CLI::App* const check_command =
      app.add_subcommand("check", "exit code 0: clean, 1: a NaN or infinity, 3: can't tell");
  logdir_argument(check_command);
  check_command->add_flag("--strict", strict, "a damaged or incomplete logdir without alerts is exit code 3, not 0");
  check_command->callback([&] { code = check(path, strict); });

  DumpOptions options;
  std::string raw;
  CLI::App* const dump_command = app.add_subcommand("dump", "one JSON object per line");
  auto* const dump_path = dump_command->add_option("LOGDIR", options.path, "a logdir, or an archive of one");
  auto* const what = dump_command->add_option("--what", options.what, "kind of items")
                         ->check(CLI::IsMember({"runs", "executions", "traces", "graphs", "ops", "alerts",
                                                "source_files", "stack_frames", "devices"}));
  dump_command->add_option("--begin", options.begin, "first item");
  dump_command->add_option("--end", options.end, "one past the last item; -1: all");
  dump_command->add_option("--run", options.run, "id of the run, where there are several");
  dump_command->add_flag("--lines", options.lines, "source_files: with their text");
  auto* const raw_option =
      dump_command->add_option("--raw", raw, "print every DebugEvent of this file as protobuf JSON");
  raw_option->excludes(dump_path)->excludes(what);
  dump_command->callback([&] {
    if (!raw.empty()) {
      code = dump_raw(raw);
      return;
    }
    if (options.path.empty() || options.what.empty())
      throw CLI::RequiredError("dump needs LOGDIR and --what KIND, or --raw FILE: it");
    code = dump(options);
  });

  std::string output;
  CLI::App* const pack_command = app.add_subcommand("pack", "put a logdir into one compressed file");
  logdir_argument(pack_command);
  pack_command->add_option("-o,--output", output, "the archive to write; LOGDIR.nanlens by default");
  pack_command->callback([&] { code = pack(path, output); });

  CLI::App* const recover_command = app.add_subcommand(
      "recover", "move what a program that died had not written yet into TensorFlow's files, for TensorBoard");
  recover_command->add_option("LOGDIR", path, "a directory")->required();
  recover_command->callback([&] { code = recover(path); });

  std::string directory = ".";
  CLI::App* const unpack_command = app.add_subcommand("unpack", "take an archive apart");
  unpack_command->add_option("FILE", path, "the archive")->required();
  unpack_command->add_option("-C,--directory", directory, "where to; the current directory by default");
  unpack_command->callback([&] { code = unpack(path, directory); });

  // A first word that is no subcommand is a logdir to look at; `nanlens ./report` opens a directory of that name. Where
  // no window can be opened it is reported on in text.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool names_logdir =
      !arguments.empty() && !arguments[0].starts_with('-') &&
      std::none_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == arguments[0]; });
  if (names_logdir) {
    const std::string why = why_no_viewer();
    if (!why.empty()) std::fprintf(stderr, "nanlens: no viewer: %s; here is the report\n", why.c_str());
    arguments.insert(arguments.begin(), why.empty() ? "view" : "report");
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : cannot_read;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: %s\n", error.what());
    return cannot_read;
  }
}
