// Handlers of a host's signals, which come in the middle of recording calls.
#if defined(__linux__)
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/failing_allocation.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::Recorded;
using test::TemporaryDirectory;

namespace {

const std::vector<float> small(8, 1.0F);
std::atomic<int> handled{0};

// Calls `handler` in this thread again and again, at any instant: each time when it has been called before.
class Interruptions {
 public:
  explicit Interruptions(void (*handler)(int)) {
    handled = 0;
    before_ = std::signal(SIGUSR1, handler);
    thread_ = std::thread([this, target = ::pthread_self()] {
      for (int sent = 0; !ended_; std::this_thread::sleep_for(std::chrono::microseconds(20 + sent % 7)))
        if (handled == sent && ::pthread_kill(target, SIGUSR1) == 0) ++sent;
    });
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() {
    ended_ = true;
    thread_.join();
    std::signal(SIGUSR1, before_);
  }

 private:
  void (*before_)(int) = nullptr;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

void record_and_flush(int) {
  op("Handler", [] { return 1.0F; }, small);  // nothing that allocates: the call it interrupts may do so
  if (handled.fetch_add(1) % 16 == 0) flush_debug_info();
}

}  // namespace

TEST_CASE("a handler that records and flushes interrupts recording calls: what it can't record is counted") {
  for (const std::int64_t ring : {-1, 1'000'000}) {
    CAPTURE(ring);
    long recorded = 0;
    const Recorded run(
        [&] {
          op("First", small);
          const Interruptions begun(&record_and_flush);
          for (recorded = 1; handled < 300; ++recorded) op("Add", small, small);
        },
        [&](DumpOptions& options) { options.circular_buffer_size = ring; });
    CHECK(run->diagnostics().empty());
    CHECK(static_cast<long>(run->num_executions() + run->dropped()) == recorded + handled);
    CHECK(static_cast<long>(run->num_executions()) >= recorded);
  }
}

namespace {
std::atomic<int> in_allocations{0};
}

TEST_CASE("no handler comes while a recording call takes memory to write: exit() from it would meet taken locks") {
  handled = in_allocations = 0;
  void (*const before)(int) = std::signal(SIGUSR1, [](int) {
    ++handled;
    if (test::InterruptedAllocations::inside()) ++in_allocations;
  });
  long recorded = 0;
  const Recorded run([&] {
    const auto record = [&] { op("Add", small, small); };
    for (; recorded < 100; ++recorded) record();
    const test::InterruptedAllocations begun(SIGUSR1);
    for (; recorded < 1'000'000 && handled < 20; ++recorded) record();  // a queue is full now and then
  });
  std::signal(SIGUSR1, before);
  CHECK(static_cast<long>(run->num_executions()) == recorded);
  CHECK(in_allocations == 0);
}

#if !defined(NANLENS_SANITIZED)  // their runtimes don't take threads in a forked process
namespace {

// Memory that a forked process shares.
std::atomic<long>& shared_counter() {
  void* const memory =
      ::mmap(nullptr, sizeof(std::atomic<long>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) std::atomic<long>(0);
}

}  // namespace

TEST_CASE("a handler ends the program by exit in the middle of a recording call: all is readable") {
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const TemporaryDirectory dir;
    std::atomic<long>& recorded = shared_counter();
    std::fflush(nullptr);  // or the child writes it once more as it ends
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      DumpOptions options = test::everything(dir / "run");
      if (i % 2 == 1) options.circular_buffer_size = 1'000'000;
      enable_dump_debug_info(options);
      op("First", small);
      const Interruptions begun([](int) {
        if (++handled == 20) std::exit(0);
      });
      while (true) {
        op("Add", small, small);
        recorded.fetch_add(1);
      }
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    reader::Logdir logdir{dir / "run"};
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(static_cast<long>(logdir.runs()[0]->num_executions()) > recorded);
    ::munmap(&recorded, sizeof recorded);
  }
}
#endif
#endif
