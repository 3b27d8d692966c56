// Opening what many ranks recorded, beside as many events of one process: `ranks DIRECTORY [RANKS CALLS]`. Writes both
// logdirs there, and prints one JSON object: seconds and memory of each, the least of three.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/logdir_generator.hpp"

namespace {

using namespace nanlens;

constexpr int ops_per_graph = 100;

void write_set(const std::string& directory, int calls, const std::string& host, const std::string& prefix) {
  test::GeneratorOptions options;
  options.calls = calls;
  options.ops_per_graph = ops_per_graph;
  options.bad_every = 10007;
  options.id_prefix = prefix;
  std::filesystem::create_directories(directory);
  std::array<std::FILE*, logdir::num_file_kinds> files{};
  for (std::size_t i = 0; i < files.size(); ++i)
    files[i] =
        std::fopen((directory + "/" + test::generated_name(static_cast<logdir::FileKind>(i), host)).c_str(), "wb");
  test::LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), files[static_cast<std::size_t>(kind)]);
  }).run();
  for (std::FILE* const file : files) std::fclose(file);
}

struct Opening {
  double seconds = std::numeric_limits<double>::infinity();
  double causes = std::numeric_limits<double>::infinity();
  std::size_t events = 0;
  double megabytes = 0;
};

// In a process of its own, so that its memory can be told.
Opening open_once(const std::string& path) {
  int ends[2];
  Opening cost;
  if (::pipe(ends) != 0) std::exit(1);
  if (::fork() == 0) {
    const auto start = std::chrono::steady_clock::now();
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    reader::Logdir logdir(path);
    logdir.update();
    cost.seconds = since();
    reader::Run& run = *logdir.runs().at(0);
    cost.events = run.num_traces() + run.num_executions();
    causes::Causes causes(run);
    while (!causes.advance(2048)) {
    }
    cost.causes = since() - cost.seconds;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    cost.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    ::_exit(::write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
  }
  if (::read(ends[0], &cost, sizeof cost) != sizeof cost) std::exit(1);
  ::close(ends[0]);
  ::close(ends[1]);
  ::wait(nullptr);
  return cost;
}

Opening open_best(const std::string& path) {
  Opening best;
  for (int i = 0; i < 3; ++i) {
    const Opening once = open_once(path);
    best = {std::min(best.seconds, once.seconds), std::min(best.causes, once.causes), once.events, once.megabytes};
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string directory = argv[1];
  const int ranks = argc > 2 ? std::atoi(argv[2]) : 64;
  const int calls = argc > 3 ? std::atoi(argv[3]) : 1000;
  for (int rank = 0; rank < ranks; ++rank)
    write_set(directory + "/ranks", calls, "host.rank" + std::to_string(rank), "r" + std::to_string(rank));
  write_set(directory + "/one", calls * ranks, "host", "");
  const Opening many = open_best(directory + "/ranks");
  const Opening one = open_best(directory + "/one");
  std::printf(
      "{\"events\": %zu, \"ranks\": %d, \"open_s\": %.3f, \"one_open_s\": %.3f, \"ratio\": %.2f, "
      "\"causes_s\": %.3f, \"one_causes_s\": %.3f, \"max_rss_mb\": %.0f, \"one_max_rss_mb\": %.0f}\n",
      many.events, ranks, many.seconds, one.seconds, many.seconds / one.seconds, many.causes, one.causes,
      many.megabytes, one.megabytes);
  return many.events == one.events ? 0 : 1;
}
