#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../support/failing_allocation.hpp"
#include "../support/slowness.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;
using Vector = std::vector<float>;

namespace {

void record_some(const Vector& x, std::vector<Vector>& results) {
  for (Vector& y : results) {
    record("Add", outputs(y), inputs(x));
    Function f("step", arg("x", x));
    record("Mul", outputs(y), inputs(x));
    f.result(y);
  }
}

}  // namespace

TEST_CASE("any allocation may fail: the host goes on, the loss is counted, the rest is readable") {
  for (const std::int64_t ring : {-1, 50}) {
    for (long k = 0; k < 60; k += (1 + test::slowness) / 2) {
      const TemporaryDirectory dir;
      DumpOptions options = everything(dir / "run");
      options.circular_buffer_size = ring;
      enable_dump_debug_info(options);
      const Vector x(16, 1.0f);
      std::vector<Vector> results(5, x);
      std::thread([&] {  // a new thread: its state is allocated, too
        const test::FailingAllocation failing(k);
        record_some(x, results);
      })
          .join();
      record_some(x, results);
      disable_dump_debug_info();
      reader::Logdir logdir{options.logdir};
      logdir.update();
      REQUIRE(logdir.runs().size() == 1);
      CHECK(logdir.runs()[0]->diagnostics().empty());
      CHECK(logdir.runs()[0]->num_executions() >= 10);
    }
  }
}

TEST_CASE("a host's thread_local object may record when its thread ends") {
  struct Workspace {
    Vector values = Vector(16, 1.0f);
    ~Workspace() {
      Function f("flush", arg("values", values));
      f.result(f.op("Flush", Vector(values), values));
    }
  };
  const Recorded run([] {
    std::thread([] {
      Function f("step");
      thread_local Workspace workspace;  // made inside the thread's first call
      f.result(f.op("Add", Vector(workspace.values), workspace.values));
    }).join();
  });
  CHECK(run->num_executions() == 2);
}

// Runs in a process of its own, whose first op comes before anything was enabled.
TEST_CASE("an op before enable" * doctest::skip()) {
  nanlens::op("Early", 1.0f);
  CHECK(enable_dump_debug_info(everything(std::getenv("NANLENS_TEST_LOGDIR"))));
  nanlens::op("Late", 1.0f);
  disable_dump_debug_info();
}

TEST_CASE("what the program enables replaces what the environment has begun") {
  const TemporaryDirectory dir;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "NANLENS_LOGDIR='" + (dir / "environment") + "' NANLENS_TEST_LOGDIR='" +
                              (dir / "program") + "' '" + self +
                              "' --no-skip --test-case='an op before enable' >/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  for (const char* const name : {"environment", "program"}) {
    reader::Logdir logdir{dir / name};
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_executions() == 1);
    CHECK(logdir.runs()[0]->clean_end() == true);
  }
}
