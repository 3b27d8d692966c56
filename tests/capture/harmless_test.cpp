#include <doctest/doctest.h>

#include <bit>
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("any allocation of the thread that writes may fail: all is written in the end, and once") {
  bool failed = true;
  for (long k = 0; failed; k += test::slowness) {
    CAPTURE(k);
    const TemporaryDirectory dir;
    enable_dump_debug_info(everything(dir / "run"));
    const Vector x(16, 1.0F);
    std::vector<Vector> results(5, x);
    {
      const test::FailingElsewhere failing(k);
      record_some(x, results);
      const std::string executions = test::file_of(dir / "run", ".execution");
      while (!(failed = test::FailingElsewhere::has_failed()) && std::filesystem::file_size(executions) == 0)
        std::this_thread::yield();
    }
    record_some(x, results);
    disable_dump_debug_info();
    reader::Logdir logdir{dir / "run"};
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->diagnostics().empty());
    CHECK(logdir.runs()[0]->num_executions() == 20);
    CHECK(logdir.runs()[0]->num_traces() == 20);
    CHECK(logdir.runs()[0]->dropped() == 0);
  }
}

#if defined(__GLIBC__) && NANLENS_X86_64
namespace {

// Everything that computes with what it finds: statistics, rules, evidence, verdicts.
void record_extremes(const DumpOptions& options) {
  enable_dump_debug_info(options);
  enable_check_numerics({.handler = [](const NumericsEvent& event) { CHECK_FALSE(event.message.empty()); }});
  const std::vector<double> extremes = {1.7e308, 1.7e308, 5e-324, 1e-320, -INFINITY, NAN};
  const std::vector<std::uint64_t> bits = {0x7ff4000000000000};  // a signalling NaN
  op("Huge", std::vector<double>(100, 1.7e308), extremes);
  op("Subnormal", std::vector<float>(100, 1e-44F), extremes);
  op("Bad", extremes, extremes);
  op("Signalling", extremes, tensor_view(reinterpret_cast<const double*>(bits.data()), {1}));
  Function f("step", arg("x", extremes));
  f.result(f.op("Divide", extremes, extremes));
  flush_debug_info();
}

}  // namespace

TEST_CASE("errno, floating-point flags, traps and modes of the host are met by nobody and stay as they are") {
  const TemporaryDirectory dir;
  std::fenv_t before{};
  std::fegetenv(&before);
  int round = 0;
  for (const TensorDebugMode mode : {TensorDebugMode::full_health, TensorDebugMode::full_tensor}) {
    DumpOptions options = everything(dir / std::to_string(++round), mode);
    options.statistics = true;
    options.rules = {"large: norm>1e10", "flat: zero>90%"};
    options.on_rule = [](const RuleHit&) {};
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    feenableexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);  // a wrong step dies of SIGFPE
    std::fesetround(FE_UPWARD);
    errno = 77;
    record_extremes(options);
    disable_check_numerics();
    disable_dump_debug_info();
    CHECK(errno == 77);
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
    CHECK(std::fegetround() == FE_UPWARD);
    CHECK(fegetexcept() == (FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT));
    std::fesetenv(&before);
    reader::Logdir logdir{options.logdir};
    logdir.update();
    CHECK(logdir.runs().at(0)->num_executions() == 5);
  }
}

TEST_CASE("the same of healthy tensors of a declared graph, in rings and queues that run full") {
  std::fenv_t before{};
  std::fegetenv(&before);
  for (const std::int64_t ring : {0, 5'000}) {
    const TemporaryDirectory dir;
    DumpOptions options = everything(dir / "run", TensorDebugMode::full_health);
    options.circular_buffer_size = ring;
    options.statistics = false;
    enable_dump_debug_info(options);
    GraphBuilder graph("plain");
    const GraphTensor tensor = graph.op("Add", "add", {});
    const Vector x(5, 1.0F);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    feenableexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);  // a wrong step dies of SIGFPE
    std::fesetround(FE_UPWARD);
    errno = 77;
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) trace(tensor, view_of(x), 1);
    CHECK(errno == 77);
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
    CHECK(std::fegetround() == FE_UPWARD);
    CHECK(fegetexcept() == (FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT));
    std::fesetenv(&before);
    disable_dump_debug_info();
    reader::Logdir logdir{options.logdir};
    logdir.update();
    CHECK(logdir.runs().at(0)->num_traces() == static_cast<std::size_t>(ring == 0 ? count : ring));
  }
}

TEST_CASE("subnormals are numbers to statistics, though the host flushes them to zero") {
  constexpr unsigned flush = 0x8040;
  const unsigned before = __builtin_ia32_stmxcsr();
  const Recorded run(
      [&] {
        __builtin_ia32_ldmxcsr(before | flush);
        op("Tiny", std::vector<double>(4, std::bit_cast<double>(std::uint64_t{5})));
        CHECK(__builtin_ia32_stmxcsr() == (before | flush));
        __builtin_ia32_ldmxcsr(before);
      },
      [](DumpOptions& options) { options.statistics = true; });
  CHECK(run->execution(0)->extension.outputs.at(0).max == 5 * std::numeric_limits<double>::denorm_min());
}
#endif

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
#if defined(__linux__) && !defined(NANLENS_SANITIZED)  // their runtimes don't take threads in a forked process
namespace {

// How a forked process ends that does this.
template <class Body>
int ends_with(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a signal that the host waits for does not come to a thread of the recorder's") {
  const TemporaryDirectory dir;
  const int status = ends_with([&] {
    enable_dump_debug_info(everything(dir / "run"));
    sigset_t waited;
    ::sigemptyset(&waited);
    ::sigaddset(&waited, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &waited, nullptr);
    ::kill(::getpid(), SIGUSR1);
    int signal = 0;
    ::sigwait(&waited, &signal);
    ::_exit(signal == SIGUSR1 ? 0 : 1);
  });
  CHECK(status == 0);
}

TEST_CASE("files may not grow beyond a limit: the host goes on, and what fits is readable") {
  for (const rlim_t most : {0, 3'000, 100'000, 3'000'000}) {
    CAPTURE(most);
    const TemporaryDirectory dir;
    const int status = ends_with([&] {
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::freopen("/dev/null", "w", stderr);  // one line says so
      try {
        enable_dump_debug_info(everything(dir / "run"));
      } catch (const std::exception&) {
        ::_exit(most == 0 ? 0 : 1);  // it says why
      }
      const Vector x(16, 1.0F);
      for (int i = 0; i < 50'000; ++i) op("Add", x, x);
      disable_dump_debug_info();
    });
    CHECK(status == 0);
    if (most == 0) continue;
    reader::Logdir logdir{dir / "run"};
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_executions() < 50'000);
    constexpr rlim_t record = 1'000;  // more bytes than one takes
    // With less room the definitions of what other tests have recorded do not fit, and no event without them.
    if (most > 1'000'000) CHECK(std::filesystem::file_size(test::file_of(dir / "run", ".execution")) > most - record);
  }
}
#endif

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

TEST_CASE("threads whose first ops come at once" * doctest::skip()) {
#if defined(NANLENS_SANITIZED)
  (void)detail::recorder();  // of the loader's lock, under which a process finds its recorder, they know nothing
#endif
  test::record_at_once(4, 10);
}

TEST_CASE("what threads do while another one reads the environment is on record") {
  const TemporaryDirectory dir;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "NANLENS_LOGDIR='" + (dir / "run") + "' '" + self +
                              "' --no-skip --test-case='threads whose first ops*' >/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  CHECK(logdir.runs()[0]->num_executions() == 40);
}
