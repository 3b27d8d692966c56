#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "commands.hpp"
#include "findings/page.hpp"
#include "look_at.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "report/report.hpp"
#include "report/whole_file.hpp"
#include "why.hpp"

namespace nanlens::cli {

int report(const std::string& path) {
  const auto logdir = open_logdir(path);
  const report::Style style{::isatty(STDOUT_FILENO) == 1};  // colours on a terminal only
  report::Mutes mutes = find_mutes(*logdir, path);
  bool first = true;
  for (reader::Run* const run : runs_by_importance(*logdir)) {
    if (!first) std::printf("\n");
    first = false;
    const auto causes = run->alerts().empty() ? nullptr : find_causes(*run);
    std::printf("%s", report::run_report(*run, causes.get(), style).c_str());
    if (causes == nullptr) continue;
    causes::SentenceWriter writer(*causes);
    const std::string words = report::MutedCauses(writer, *causes, mutes).words();
    if (!words.empty()) line("  " + report::sentence_of(words));
  }
  return 0;
}

int report_page(const CheckOptions& options, const std::string& output) {
  const auto logdir = open_logdir(options.path);
  const findings::Report report = look_at(*logdir, options);
  const std::string page = findings::html_page(report, findings::illustrate(*logdir, report));
  if (output.empty()) {
    if (std::fwrite(page.data(), 1, page.size(), stdout) != page.size() || std::fflush(stdout) != 0)
      throw Failure(std::string("can't write to stdout: ") + std::strerror(errno));
    return 0;
  }
  report::WholeFile file(output);
  file.write(page);
  file.finish();
  std::printf("%s\n", output.c_str());
  return 0;
}

}  // namespace nanlens::cli
