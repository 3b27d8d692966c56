#include <unistd.h>

#include <cstdio>

#include "commands.hpp"
#include "muted_causes.hpp"
#include "mutes_files.hpp"
#include "open.hpp"
#include "report/report.hpp"
#include "why.hpp"

namespace nanlens::cli {

int report(const std::string& path) {
  const auto logdir = open_logdir(path);
  const report::Style style{::isatty(STDOUT_FILENO) == 1};  // colours on a terminal only
  report::Mutes mutes = find_mutes(path, {});
  bool first = true;
  for (reader::Run* const run : runs_by_importance(*logdir)) {
    if (!first) std::printf("\n");
    first = false;
    const auto causes = run->alerts().empty() ? nullptr : find_causes(*run);
    std::printf("%s", report::run_report(*run, causes.get(), style).c_str());
    if (causes == nullptr) continue;
    causes::SentenceWriter writer(*causes);
    if (const std::string words = MutedCauses(writer, *causes, mutes).words(); !words.empty()) line("  " + words + ".");
  }
  return 0;
}

}  // namespace nanlens::cli
