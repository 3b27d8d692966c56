#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>

#include "../support/slowness.hpp"
#include "left_by_death.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::left_by_death;
using test::ring_of;
using test::TemporaryDirectory;

namespace {

void record_eager(int count) {
  for (int i = 0; i < count; ++i) nanlens::op("Eager", static_cast<float>(i));
}

// Follows a logdir until it has so many executions.
void wait_for(reader::Logdir& logdir, std::size_t executions) {
  do logdir.update();
  while (logdir.runs().empty() || logdir.runs()[0]->num_executions() < executions);
}

}  // namespace

TEST_CASE("a ring can be watched while it runs, and what was shown stays when it ends") {
  const TemporaryDirectory dir;
  DumpOptions options = ring_of(dir / "run", 10);
  options.pinned_sites = 0;  // rings hold more while they may have to be pinned
  enable_dump_debug_info(options);
  record_eager(5);
  reader::Logdir logdir{dir / "run"};
  wait_for(logdir, 5);
  CHECK(logdir.runs()[0]->num_executions() == 5);
  record_eager(25);
  wait_for(logdir, 15);
  CHECK_FALSE(test::file_of(dir / "run", logdir::live::suffix).empty());
  record_eager(3);
  disable_dump_debug_info();
  CHECK(test::file_of(dir / "run", logdir::live::suffix).empty());
  wait_for(logdir, 18);
  logdir.update();
  reader::Run& run = *logdir.runs()[0];
  CHECK(run.num_executions() == 18);
  CHECK(run.clean_end() == true);
  CHECK(run.diagnostics().empty());
  for (std::size_t i = 1; i < run.num_executions(); ++i)
    CHECK(run.execution_wall_time(i) >= run.execution_wall_time(i - 1));

  reader::Logdir afterwards{dir / "run"};  // only the last ten are in the files
  afterwards.update();
  CHECK(afterwards.runs()[0]->num_executions() == 10);
}

TEST_CASE("a recording that dies leaves everything readable: events, graphs, lines") {
  for (const std::int64_t ring : {-1, 8}) {
    CAPTURE(ring);
    const TemporaryDirectory dir;
    enable_dump_debug_info(ring_of(dir / "run", ring));
    {
      Function f("step");
      f.op("Log", -1.0f);
    }
    record_eager(6);
    std::thread([] { record_eager(1); }).join();
    reader::Logdir logdir(left_by_death(dir / "run"));
    disable_dump_debug_info();
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    reader::Run& run = *logdir.runs()[0];
    CHECK(run.clean_end() == false);
    CHECK(run.diagnostics().empty());
    CHECK(run.num_executions() == 8);
    REQUIRE(run.num_traces() == 1);
    const auto trace = run.trace(0);
    REQUIRE(trace);
    CHECK(trace->event.op_name == "Log");
    const auto execution = run.execution(1);
    REQUIRE(execution);
    CHECK(execution->event.op_type == "Eager");
    REQUIRE(execution->event.code_location);
    REQUIRE(execution->event.code_location->stack_frame_ids.size() == 1);
    const auto frame = run.frame(execution->event.code_location->stack_frame_ids[0]);
    REQUIRE(frame);
    CHECK(frame->file_path.ends_with("live_test.cpp"));
  }
}

TEST_CASE("a recording that dies has told that there are tensors it could not read") {
  const TemporaryDirectory dir;
  const DumpOptions options = everything(dir / "run");
  enable_dump_debug_info(options);
  const auto left = [&] {
    record("OnDevice", outputs(TensorView{nullptr, DType::float32, Shape{4}, {}, gpu_device}));
    auto read = std::make_unique<reader::Logdir>(left_by_death(options.logdir));
    read->update();
    return read;
  };
  auto read = left();
  while (read->runs().at(0)->unread_tensors() == 0) read = left();
  CHECK(read->runs().at(0)->unread_tensors() <= read->runs().at(0)->num_executions());
  CHECK(read->runs().at(0)->clean_end() == false);
  disable_dump_debug_info();
  read = std::make_unique<reader::Logdir>(options.logdir);
  read->update();
  CHECK(read->runs().at(0)->unread_tensors() == read->runs().at(0)->num_executions());
  CHECK(read->runs().at(0)->dropped() == 0);
}

TEST_CASE("a damaged memory file harms nothing") {
  const TemporaryDirectory dir;
  enable_dump_debug_info(ring_of(dir / "run", 20));
  {
    Function f("step");
    f.op("Log", -1.0f);
  }
  record_eager(30);
  const auto whole = left_by_death(dir / "run");
  disable_dump_debug_info();
  std::mt19937 random(7);
  std::string why;
  for (int trial = 0; trial < 300 / test::slowness; ++trial) {
    auto storage = std::make_unique<reader::MemoryStorage>();
    for (const std::string& name : whole->list()) {
      const auto file = whole->open(name, why);
      std::string bytes(file->size(), '\0');
      file->read(0, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
      if (name.ends_with(logdir::live::suffix)) {
        for (int i = 0; i < 4; ++i)
          bytes[random() % std::min<std::size_t>(bytes.size(), 24576)] = static_cast<char>(random());
        if (trial % 4 == 0) bytes.resize(random() % bytes.size());
      }
      storage->put(name, std::move(bytes));
    }
    reader::Logdir logdir(std::move(storage));
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_executions() <= 31);
  }
}

TEST_CASE("a full disk: whole records only, losses counted, and recording resumes when there is room") {
  const TemporaryDirectory dir;
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto no_signal = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 12'000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  enable_dump_debug_info(everything(dir / "run"));
  for (int i = 0; i < 20; ++i) {
    record_eager(50);
    flush_debug_info();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  {
    Function f("late");
    f.op("Log", -1.0f);
  }
  disable_dump_debug_info();
  std::signal(SIGXFSZ, no_signal);
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  reader::Run& run = *logdir.runs().at(0);
  CHECK(run.diagnostics().empty());
  CHECK(run.num_executions() > 0);
  CHECK(run.num_executions() < 1001);
  CHECK(run.num_executions() + run.dropped() == 1001);
  REQUIRE(run.num_traces() == 1);
  CHECK(run.trace(0)->event.op_name == "Log");
}

TEST_CASE("what is reserved for a file that grows is free again when the recording ends") {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "run"));
  for (int i = 0; i < 10; ++i) {
    record_eager(2'000);
    flush_debug_info();
  }
  disable_dump_debug_info();
  struct stat info{};
  REQUIRE(::stat(test::file_of(dir / "run", ".execution").c_str(), &info) == 0);
  CHECK(info.st_size > 2'000'000);
  constexpr blkcnt_t of_512 = 512;
  CHECK(info.st_blocks * of_512 < info.st_size + 100'000);
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  CHECK(logdir.runs().at(0)->num_executions() == 20'000);
}
