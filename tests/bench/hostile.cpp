// Logdirs that were made to harm, small and a hundred times as large: what an element of each costs. Prints one JSON
// object per shape, with nanoseconds per element of both sizes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/hostile_graphs.hpp"
#include "../support/temporary_directory.hpp"

namespace {

using namespace nanlens;
using Clock = std::chrono::steady_clock;

struct Case {
  std::string name;
  std::size_t small;
  std::function<test::FileBytes(std::size_t n)> files;
  std::function<void(reader::Run&)> ask;  // what is asked beyond reading and diagnostics
};

void alerts(reader::Run& run) {
  for (const auto& alert : run.alerts()) (void)run.alert(alert);
}

void all_ops(reader::Run& run) {
  for (std::uint32_t i = 0; i < run.definitions().ops().size(); ++i) (void)run.op(i);
}

void all_graphs(reader::Run& run) {
  for (std::uint32_t i = 0; i < run.definitions().graphs().size(); ++i) (void)run.definitions().graph_ids(i);
}

void causes_of(reader::Run& run) {
  causes::Causes causes(run);
  while (!causes.advance(65536)) {
  }
}

void details(reader::Run& run) {
  if (run.num_executions() > 0) (void)run.execution(0);
  if (!run.source_files().empty()) (void)run.source_lines(0);
}

double seconds(const Case& shape, const test::FileBytes& files) {
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(files));
  const auto start = Clock::now();
  logdir.update();
  reader::Run& run = *logdir.runs().at(0);
  (void)run.diagnostics();
  if (shape.ask) shape.ask(run);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ns_per_element(const Case& shape, std::size_t n, int repetitions) {
  const test::FileBytes files = shape.files(n);
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) least = std::min(least, seconds(shape, files));
  return 1e9 * least / static_cast<double>(n);
}

void print(const std::string& name, std::size_t n, double small, double large) {
  std::printf("{\"name\": \"%s\", \"n\": %zu, \"small_ns\": %.1f, \"large_ns\": %.1f}\n", name.c_str(), n, small,
              large);
  std::fflush(stdout);
}

// Looks at a directory in which one file of `n` is a logdir's.
double ns_per_entry(std::size_t n, int repetitions) {
  const test::TemporaryDirectory directory;
  for (std::size_t i = 0; i < n; ++i)
    ::close(::open((directory / ("other" + std::to_string(i))).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    reader::DirectoryStorage storage(directory.path());
    const auto start = Clock::now();
    (void)storage.list(logdir::file_prefix);
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return 1e9 * least / static_cast<double>(n);
}

const std::vector<Case> shapes = {
    {"headers that overlap, per header", 2'000, test::overlapping_headers, {}},
    {"graphs nested without end, per graph", 1'000, test::nested_graphs, all_graphs},
    {"one op with many inputs, per input", 600, test::fan_in, all_ops},
    {"one op with many consumers, per consumer", 1'000, test::wide_consumers, all_ops},
    {"names of 2,000 bytes, per row", 100, [](std::size_t n) { return test::long_names(n, 2'000); }, alerts},
    {"empty tensors and lines, per element", 20'000, test::empty_elements, details},
    {"times out of order or none, per event", 3'000, test::times_without_order, alerts},
    {"one execution with many bad outputs, per output", 600, test::wide_execution, alerts},
};

}  // namespace

int main() {
  constexpr std::size_t larger = 100;
  std::vector<Case> all = shapes;
  for (const test::GraphShape& shape : test::graph_shapes)
    all.push_back({std::string("causes of ") + shape.name + ", per element", shape.small, shape.files, causes_of});
  for (const Case& shape : all)
    print(shape.name, shape.small, ns_per_element(shape, shape.small, 20),
          ns_per_element(shape, larger * shape.small, 2));
  print("other files in the directory, per file", 1'000, ns_per_entry(1'000, 20), ns_per_entry(100'000, 3));
  return 0;
}
