// `nanlens check`: finds, compares, writes.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "commands.hpp"
#include "findings/baseline.hpp"
#include "findings/coverage.hpp"
#include "findings/formats.hpp"
#include "findings/gather.hpp"
#include "findings/rules.hpp"
#include "look_at.hpp"
#include "open.hpp"
#include "report/whole_file.hpp"
#include "rules_files.hpp"

namespace nanlens::cli {

namespace {

const findings::Format* find_format(std::string_view name) {
  const auto found = std::find_if(findings::formats.begin(), findings::formats.end(),
                                  [&](const findings::Format& format) { return format.name == name; });
  return found == findings::formats.end() ? nullptr : &*found;
}

// Of a baseline that is a file: what an earlier check wrote. An archive of a logdir is none.
bool is_written_report(const std::string& path, std::string& text) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    throw Failure("can't read the baseline '" + path + "': " + std::strerror(errno));
  std::ifstream file(path, std::ios::binary);
  if (!S_ISREG(info.st_mode) || (file >> std::ws).peek() != '{') return false;
  text.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

findings::Baseline read_baseline(const std::string& path, const std::vector<query::Rule>& rules,
                                 const findings::SourceRoot& sources) {
  findings::Baseline baseline{path, {}, 0};
  std::string text;
  if (is_written_report(path, text)) {
    std::string why;
    auto found = findings::fingerprints_in(text, why);
    if (!found) throw Failure("the baseline '" + path + "' can't be read: " + why);
    baseline.fingerprints = std::move(*found);
    return baseline;
  }
  findings::Report before;
  const auto logdir = open_logdir(path);
  findings::gather(*logdir, sources, before);
  findings::judge(*logdir, rules, sources, before);
  for (const findings::Finding& finding : before.findings) baseline.fingerprints.insert(finding.fingerprint);
  return baseline;
}

}  // namespace

findings::Report look_at(const reader::Logdir& logdir, const CheckOptions& options) {
  CheckRules given = read_rules(options.rules, options.rule_files, &logdir, options.path);
  for (const std::string& hidden : given.hidden) std::fprintf(stderr, "nanlens: %s\n", hidden.c_str());
  const findings::SourceRoot sources(options.source_root);
  findings::Report report;
  report.rule_files = std::move(given.found);
  report.logdir = options.path;
  report.root = sources.path();
  std::error_code none;
  report.recording.file = std::filesystem::absolute(options.path, none).lexically_normal().string();
  report.recording.in_root = sources.below(report.recording.file);
  report.coverage = findings::coverage_of(logdir);
  report.coverage.bytes = recorded_bytes(options.path);
  findings::gather(logdir, sources, report);
  findings::judge(logdir, given.rules, sources, report);
  report::Mutes mutes = find_mutes(logdir, options.path, options.mutes);
  findings::mute(report, mutes);
  if (!options.baseline.empty()) findings::compare(report, read_baseline(options.baseline, given.rules, sources));
  findings::conclude(report, options.strict);
  return report;
}

std::string why_no_output(const std::string& output) {
  const std::size_t equals = output.find('=');
  if (find_format(output.substr(0, equals)) == nullptr) {
    std::string names;
    for (const findings::Format& format : findings::formats)
      names.append(names.empty() ? "" : ", ").append(format.name);
    return "there is no format '" + output.substr(0, equals) + "'; there are " + names;
  }
  if (equals == std::string::npos || equals + 1 == output.size())
    return "'" + output + "' names no file: FORMAT=FILE, such as sarif=nanlens.sarif";
  return {};
}

// All formats are of one report, whose sentences are of one language.
bool for_people(const CheckOptions& options) {
  return find_format(options.format)->for_people &&
         std::all_of(options.outputs.begin(), options.outputs.end(), [](const std::string& output) {
           return find_format(std::string_view(output).substr(0, output.find('=')))->for_people;
         });
}

int check(const CheckOptions& options) {
  (void)read_rules(options.rules, options.rule_files);  // a wrong one is told before a large logdir is read
  const findings::Report report = look_at(*open_logdir(options.path), options);
  for (const std::string& output : options.outputs) {
    const std::size_t equals = output.find('=');
    report::WholeFile file(output.substr(equals + 1));
    file.write(find_format(output.substr(0, equals))->write(report));
    file.finish();
  }
  const std::string text = find_format(options.format)->write(report);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Failure(std::string("can't write to stdout: ") + std::strerror(errno));
  return report.exit_code;
}

}  // namespace nanlens::cli
