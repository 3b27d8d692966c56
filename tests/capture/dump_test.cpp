#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include <unistd.h>

#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;
using Vector = std::vector<float>;

namespace {

std::size_t num_executions(const std::string& path) {
  reader::Logdir logdir{path};
  logdir.update();
  std::size_t n = 0;
  for (const auto& run : logdir.runs()) n += run->num_executions();
  return n;
}

}  // namespace

TEST_CASE("enabling again: the same is a no-op, other settings an error, another logdir after disabling works") {
  const TemporaryDirectory dir;
  const DumpOptions first = everything(dir / "a");
  CHECK(enable_dump_debug_info(first));
  CHECK(enable_dump_debug_info(first));
  DumpOptions other = first;
  other.tensor_debug_mode = TensorDebugMode::shape;
  CHECK_THROWS_WITH_AS(enable_dump_debug_info(other), doctest::Contains("disable_dump_debug_info"),
                       std::invalid_argument);
  const Vector x = nanlens::op("First", Vector{1});
  disable_dump_debug_info();
  disable_dump_debug_info();
  nanlens::op("Unrecorded", 1.0f);
  {
    const DumpDebugInfo scope(everything(dir / "b"));
    nanlens::op("Second", 1.0f, x);
  }
  enable_dump_debug_info(other);  // the first logdir again, with another mode: its file set is continued
  {
    Function f("late");
    f.op("Third", 1.0f);
  }
  disable_dump_debug_info();
  reader::Logdir a{dir / "a"};
  a.update();
  REQUIRE(a.runs().size() == 1);
  CHECK(a.runs()[0]->num_executions() == 2);
  CHECK(a.runs()[0]->clean_end() == true);
  CHECK(a.runs()[0]->diagnostics().empty());
  reader::Logdir b{dir / "b"};
  b.update();
  CHECK(b.runs()[0]->num_executions() == 1);
  CHECK(b.runs()[0]->diagnostics().empty());  // frames and files are all there, also those first used in the other
  CHECK(a.runs()[0]->id() == b.runs()[0]->id());
}

TEST_CASE("configuration errors say what is wrong") {
  CHECK_THROWS_WITH_AS(enable_dump_debug_info({}), doctest::Contains("needs a logdir"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(enable_dump_debug_info({.logdir = "/proc/nope/x"}),
                       doctest::Contains("can't make the directory"), std::invalid_argument);
  const TemporaryDirectory dir;
  DumpOptions bad = everything(dir / "x");
  bad.op_regex = "(";
  CHECK_THROWS_WITH_AS(enable_dump_debug_info(bad), doctest::Contains("op_regex"), std::invalid_argument);
  bad = everything(dir / "x", TensorDebugMode::full_numerics);
  CHECK_THROWS_WITH_AS(enable_dump_debug_info(bad), doctest::Contains("can't be recorded"), std::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(dir / "x"));
}

TEST_CASE("rings keep the last N of each kind, of all threads together, and write only at the end") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "ring");
  options.circular_buffer_size = 5;
  enable_dump_debug_info(options);
  for (int i = 0; i < 20; ++i) nanlens::op("Early", 1.0f);
  std::thread([&] {
    for (int i = 0; i < 3; ++i) nanlens::op("Late", 1.0f);
  }).join();
  while (num_executions(dir / "ring") < 5) {  // read from memory: see live_test.cpp
  }
  for (const auto& file : std::filesystem::directory_iterator(dir / "ring"))
    if (file.path().extension() == ".execution") CHECK(file.file_size() == 0);
  flush_debug_info();
  CHECK(num_executions(dir / "ring") == 5);
  nanlens::op("AfterFlush", 1.0f);
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "ring"};
  logdir.update();
  reader::Run& run = *logdir.runs()[0];
  REQUIRE(run.num_executions() == 6);
  CHECK(run.execution(1)->event.op_type == "Early");
  CHECK(run.execution(2)->event.op_type == "Late");
  CHECK(run.execution(5)->event.op_type == "AfterFlush");
}

TEST_CASE("unbuffered data reaches the system within a moment, without a flush") {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "live"));
  nanlens::op("Now", 1.0f);
  bool seen = false;
  for (int i = 0; i < 200 && !seen; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    seen = num_executions(dir / "live") == 1;
  }
  CHECK(seen);
  disable_dump_debug_info();
}

TEST_CASE("threads record at once, and nothing is lost or mixed up") {
  constexpr int threads = 4;
  constexpr int calls = 3000;
  const Recorded run([] {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([] {
        for (int i = 0; i < calls; ++i) {
          Function f("work");
          const Vector x = f.op("Make", Vector{1, 2});
          f.result(f.op("Neg", Vector{-1, -2}, x));
        }
      });
    for (auto& w : workers) w.join();
  });
  CHECK(run->num_executions() == threads * calls);
  CHECK(run->num_traces() == 2 * threads * calls);
  CHECK(run->dropped() == 0);
  CHECK(run->diagnostics().empty());
  std::vector<int> rows(run->num_executions());
  for (std::size_t i = 0; i < run->num_traces(); ++i) {
    REQUIRE(run->trace_execution(i) != reader::none);
    ++rows[run->trace_execution(i)];
  }
  CHECK(std::all_of(rows.begin(), rows.end(), [](int n) { return n == 2; }));
}

TEST_CASE("large full tensors go through; very many events never drop") {
  const Recorded run(
      [] {
        nanlens::op("Large", Vector(1'000'000, 2.0f));
        for (int i = 0; i < 20'000; ++i) nanlens::op("Small", Vector(8));
      },
      [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::full_tensor; });
  CHECK(run->num_executions() == 20'001);
  CHECK(run->execution(0)->event.tensor_protos[0].tensor_content.size() == 4'000'000);
  CHECK(run->dropped() == 0);
}

TEST_CASE("enabling and disabling while other threads record is safe") {
  const TemporaryDirectory dir;
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int t = 0; t < 2; ++t)
    workers.emplace_back([&] {
      while (!stop) {
        Function f("busy");
        f.op("Op", Vector{1});
      }
    });
  for (int i = 0; i < 10; ++i) {
    enable_dump_debug_info(everything(dir / std::to_string(i % 2)));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    disable_dump_debug_info();
  }
  stop = true;
  for (auto& w : workers) w.join();
  for (const char* name : {"0", "1"}) {
    reader::Logdir logdir{dir / name};
    logdir.update();
    CHECK(logdir.runs()[0]->clean_end() == true);
    CHECK(logdir.runs()[0]->diagnostics().empty());
  }
}

TEST_CASE("memory that can't be read is counted, not touched") {
  const Recorded run([] {
    Function f("device");
    TensorView view{nullptr, DType::float32, {4}, {1}, "/device:GPU:0"};
    f.op("Remote", view);
  });
  CHECK(run->num_traces() == 0);
  CHECK(run->unread_tensors() == 1);
  CHECK(run->dropped() == 0);
}
