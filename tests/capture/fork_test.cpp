#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <nanlens/reader/stack.hpp>

#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::TemporaryDirectory;
using Vector = std::vector<float>;

// The sanitizers' runtimes don't take threads in the child of a process with threads.
#if defined(NANLENS_SANITIZED)
constexpr bool not_here = true;
#else
constexpr bool not_here = false;
#endif

namespace {

// What a child ends with; a child that hangs is ended by its alarm.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Op types of a run's executions, in order.
std::string ops_of(reader::Run& run) {
  std::string text;
  for (std::size_t i = 0; i < run.num_executions(); ++i) text += run.execution(i)->event.op_type + " ";
  return text;
}

}  // namespace

TEST_CASE("what threads of a forked child do while one of them begins is on record" * doctest::skip(not_here)) {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "run"));
  nanlens::op("Parent", 1.0f);
  CHECK(in_child([] {
          test::record_at_once(4, 10);
          return 0;
        }) == 0);
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 2);
  CHECK(logdir.runs()[0]->num_executions() == 1);
  CHECK(logdir.runs()[1]->num_executions() == 40);
}

TEST_CASE("a forked child records into a run of its own beside its parent's" * doctest::skip(not_here)) {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "run"));
  nanlens::op("Parent", 1.0f);
  CHECK(in_child([] {
          nanlens::op("Child", 1.0f);
          return 0;  // at _exit nothing is written: it is read from memory
        }) == 0);
  CHECK(in_child([] {
          nanlens::op("Second", 1.0f);
          disable_dump_debug_info();
          return 0;
        }) == 0);
  CHECK(in_child([] { return 0; }) == 0);  // nothing recorded, no run
  nanlens::op("Parent", 2.0f);
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 3);
  CHECK(ops_of(*logdir.runs()[0]) == "Parent Parent ");
  CHECK(ops_of(*logdir.runs()[1]) == "Child ");
  CHECK(logdir.runs()[1]->clean_end() == false);
  CHECK(ops_of(*logdir.runs()[2]) == "Second ");
  CHECK(logdir.runs()[2]->clean_end() == true);
}

TEST_CASE("children record nothing if the options say so, and where they enable it themselves" *
          doctest::skip(not_here)) {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  options.record_children = false;
  enable_dump_debug_info(options);
  CHECK(in_child([] {
          nanlens::op("Child", 1.0f);
          return 0;
        }) == 0);
  CHECK(in_child([&] {
          nanlens::op("Before", 1.0f);
          enable_dump_debug_info(everything(dir / "own"));
          nanlens::op("Own", 1.0f);
          disable_dump_debug_info();
          return 0;
        }) == 0);
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  CHECK(logdir.runs()[0]->num_executions() == 0);
  reader::Logdir own{dir / "own"};
  own.update();
  REQUIRE(own.runs().size() == 1);
  CHECK(ops_of(*own.runs()[0]) == "Own ");
}

TEST_CASE("children that are ranks of one run have lines of their own" * doctest::skip(not_here)) {
  const TemporaryDirectory dir;
  (void)detail::recorder().add_stack(nullptr, 0);  // the parent has a catalogue, which they inherit
  for (const char* const file : {"first.py", "second.py"})
    CHECK(in_child([&] {
            ::setenv("NANLENS_RUN_ID", "job", 1);
            enable_dump_debug_info(everything(dir / "run"));
            const detail::SourcePlace line(file, "main", 3U, 0U);
            float value = 1.0f;
            detail::OutputRef output{view_of(value), {}};
            const auto where = detail::SourcePlace::of_stack(detail::recorder().add_stack(&line, 1));
            (void)detail::recorder().record({"Log", "Log", where}, nullptr, 0, &output, 1, {});
            disable_dump_debug_info();
            return 0;
          }) == 0);
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  reader::Run& run = *logdir.runs()[0];
  REQUIRE(run.num_executions() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto frames = reader::resolve_stack(run, run.execution(i)->event.code_location);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].file_path == (i == 0 ? "first.py" : "second.py"));
  }
}

TEST_CASE("check_numerics works in a child" * doctest::skip(not_here)) {
  for (const bool dumping : {false, true}) {
    const TemporaryDirectory dir;
    if (dumping) enable_dump_debug_info(everything(dir / "run"));
    enable_check_numerics();
    CHECK(in_child([] {
            try {
              nanlens::op("Log", -1.0f / 0.0f);
            } catch (const NumericsError&) {
              return 7;
            }
            return 0;
          }) == 7);
    disable_check_numerics();
    disable_dump_debug_info();
  }
}

TEST_CASE("a child is born whole while other threads record, write and declare variables" * doctest::skip(not_here)) {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "run"));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> recorded{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        Vector x(64, 1.0f);
        nanlens::op("Busy", x);
        nanlens::variable(x);
        Function f("step", nanlens::arg("x", x));
        f.result(f.op("Traced", Vector(8, 2.0f), x));
        ++recorded;
      }
    });
  constexpr int children = 60;
  for (int i = 0; i < children; ++i) {
    const std::uint64_t before = recorded;
    while (recorded == before) std::this_thread::yield();
    CHECK(in_child([&] {
            const Vector x(8, 1.0f);
            nanlens::op("Child", x);
            nanlens::variable(x);
            {
              Function f("step", nanlens::arg("x", x));
              f.result(f.op("Traced", Vector(8, 3.0f), x));
            }
            if (i % 3 == 1) flush_debug_info();
            if (i % 3 == 2) disable_dump_debug_info();
            return 0;
          }) == 0);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == children + 1);
  for (std::size_t i = 1; i <= children; ++i) CHECK(ops_of(*logdir.runs()[i]).starts_with("Child __inference_step"));
}
