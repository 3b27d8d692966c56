/// @file
/// Makes logdirs with the structure of real ones, of any size, into any sink: functions with graphs, several calls,
/// traces per call, eager ops in between, stacks, and now and then a bad tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <nanlens/logdir/file_set.hpp>

namespace nanlens::test {

struct GeneratorOptions {
  int calls = 100;
  int ops_per_graph = 10;
  int bad_every = 0;  ///< every n-th trace holds a NaN; 0: none
  bool call_ids = true;
  bool cjk = false;  ///< names and source text in Chinese and Japanese
  std::string name_prefix = "op";
  std::string run_id = "12345678";
  std::string version = "nanlens-test";
  double start_time = 1.7e9;
  std::string id_prefix = {};  ///< of graphs and stack frames: those of each process are its own
  bool fan_out = false;        ///< every op takes the first one's output, in place of a chain
};

/// Takes bytes for a file of the set.
using FileSink = std::function<void(logdir::FileKind, const std::string&)>;

class LogdirGenerator {
 public:
  LogdirGenerator(GeneratorOptions options, FileSink sink) : options_(std::move(options)), sink_(std::move(sink)) {}

  void run() const;

  /// Traces that `run` makes.
  [[nodiscard]] static int traces_of(const GeneratorOptions& o) { return o.calls * o.ops_per_graph; }

 private:
  GeneratorOptions options_;
  FileSink sink_;
};

/// File name of a generated set.
std::string generated_name(logdir::FileKind kind, const std::string& host = "host", std::int64_t seconds = 1);

/// All six files of a generated set.
std::map<logdir::FileKind, std::string> generated_set(const GeneratorOptions& options);

/// The same by their names.
std::map<std::string, std::string> generated_files(const GeneratorOptions& options,
                                                   const std::string& stem = "tfdbg_events.1700000000.host");

}  // namespace nanlens::test
