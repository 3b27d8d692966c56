// Which files make a run, and how they are found.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <nanlens/reader/reader.hpp>

#include "../support/allocations.hpp"
#include "../support/diagnostics.hpp"
#include "../support/hostile.hpp"
#include "../support/temporary_directory.hpp"

using namespace nanlens;
using namespace nanlens::reader;
using test::allocations;
using test::mentions;

TEST_CASE("a file set that is seen before its metadata goes to the run of its id") {
  const std::string metadata = test::hostile_set()[logdir::FileKind::metadata];
  std::string record;
  logdir::append_event(record, 1.0, test::bad_execution(1));
  const std::string a = "tfdbg_events.0000000001.rank0.";
  const std::string b = "tfdbg_events.0000000001.rank1.";
  for (const bool other_first : {true, false}) {
    auto storage = std::make_unique<MemoryStorage>();
    MemoryStorage& files = *storage;
    const auto put = [&](const std::string& set, bool complete) {
      for (const char* kind : {"source_files", "stack_frames", "graphs", "graph_execution_traces"})
        files.put(set + kind, "");
      files.put(set + "execution", record);
      if (complete) files.put(set + "metadata", metadata);
    };
    if (other_first) put(a, true);
    put(b, false);
    Logdir logdir(std::move(storage));
    logdir.update();
    CHECK(logdir.runs().size() == (other_first ? 2 : 1));
    Run* const alone = logdir.find_run("");
    REQUIRE(alone != nullptr);
    CHECK(mentions(alone->diagnostics(), "no readable metadata"));
    if (!other_first) put(a, true);
    logdir.update();
    CHECK(logdir.runs().size() == 2);
    files.put(b + "metadata", metadata);
    CHECK(logdir.update());
    REQUIRE(logdir.runs().size() == 1);
    Run& run = *logdir.runs()[0];
    CHECK(run.id() == "abcdef01");
    CHECK(run.hosts().size() == 2);
    CHECK(run.num_executions() == 2);
    CHECK_FALSE(mentions(run.diagnostics(), "no readable metadata"));
    CHECK(alone->num_executions() == 1);  // still there for who looks at it
    CHECK_FALSE(logdir.update());
  }
}

TEST_CASE("one set whose metadata comes late keeps its run") {
  auto storage = std::make_unique<MemoryStorage>();
  MemoryStorage& files = *storage;
  const std::string name = "tfdbg_events.0000000001.host.";
  for (const char* kind : {"source_files", "stack_frames", "graphs", "graph_execution_traces", "execution"})
    files.put(name + kind, "");
  Logdir logdir(std::move(storage));
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  Run* const run = logdir.runs()[0].get();
  files.put(name + "metadata", test::hostile_set()[logdir::FileKind::metadata]);
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  CHECK(logdir.runs()[0].get() == run);
  CHECK(run->id() == "abcdef01");
}

TEST_CASE("a directory full of other files is not looked at all the time") {
  const test::TemporaryDirectory directory;
  constexpr int others = 3'000;
  for (int i = 0; i < others; ++i)
    ::close(::open((directory.path() + "/other" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  std::ofstream(directory.path() + "/tfdbg_events.0000000001.host.metadata") << "x";
  DirectoryStorage storage(directory.path());
  const auto start = DirectoryStorage::Clock::now();
  allocations.restart();
  for (int i = 0; i < 50; ++i) CHECK(storage.list(logdir::file_prefix).size() == 1);
  const std::chrono::nanoseconds taken = DirectoryStorage::Clock::now() - start;
  CHECK(storage.visited() == others + 1);
  CHECK(storage.looks() <=
        1 + static_cast<std::uint64_t>(taken.count()) / (std::uint64_t{others} * limits::pause_ns_per_entry));
  CHECK(allocations.count < 10 * (50 + storage.looks()));  // nothing per file that is not wanted
  CHECK(storage.list("other").size() == others);
}

TEST_CASE("a pipe with the name of a file is not waited for") {
  const test::TemporaryDirectory directory;
  const std::string name = directory.path() + "/tfdbg_events.0000000001.host.";
  std::ofstream(name + "metadata", std::ios::binary) << test::hostile_set()[logdir::FileKind::metadata];
  REQUIRE(::mkfifo((name + "execution").c_str(), 0644) == 0);
  Logdir logdir(directory.path());
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  CHECK(mentions(logdir.runs()[0]->diagnostics(), "no regular file"));
}
