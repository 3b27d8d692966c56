// make_logdir DIRECTORY CALLS OPS_PER_GRAPH BAD_EVERY [cjk|fan]: a logdir of any size for tests and benchmarks. fan:
// all ops take the first one's output.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "logdir_generator.hpp"

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: make_logdir DIRECTORY CALLS OPS_PER_GRAPH BAD_EVERY [cjk|fan]\n");
    return 2;
  }
  namespace logdir = nanlens::logdir;
  nanlens::test::GeneratorOptions options;
  options.calls = std::atoi(argv[2]);
  options.ops_per_graph = std::atoi(argv[3]);
  options.bad_every = std::atoi(argv[4]);
  options.cjk = argc > 5 && std::string(argv[5]) == "cjk";
  options.fan_out = argc > 5 && std::string(argv[5]) == "fan";
  std::filesystem::create_directories(argv[1]);
  std::array<std::FILE*, logdir::num_file_kinds> files{};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = std::string(argv[1]) + "/" +
                             logdir::file_name("tfdbg_events.1700000000.host", static_cast<logdir::FileKind>(i));
    files[i] = std::fopen(path.c_str(), "wb");
    if (files[i] == nullptr) {
      std::perror(path.c_str());
      return 1;
    }
  }
  bool written = true;
  nanlens::test::LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
    written =
        std::fwrite(bytes.data(), 1, bytes.size(), files[static_cast<std::size_t>(kind)]) == bytes.size() && written;
  }).run();
  for (std::FILE* file : files) written = std::fclose(file) == 0 && written;
  return written ? 0 : 1;
}
