// The traps as a header that a program includes; `nanlens run --traps` is tested on programs as they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include <nanlens/hosts/traps.hpp>

#include "../capture/recorded.hpp"

using namespace nanlens;

namespace {

volatile double zero = 0;
volatile double one = 1;
volatile double sink = 0;

[[gnu::noinline]] void divide() { sink = one / zero; }
[[gnu::noinline]] void make_nan() { sink = zero / zero; }
[[gnu::noinline]] void overflow() { sink = 1e308 * (one * 1e308); }

// What was trapped while `body` ran: "x/0 12" is a kind, and how often by then.
template <class Body>
std::set<std::string> trapped(const Body& body) {
  const test::Recorded run([&] {
    CHECK(traps::attach());
    body();
    traps::detail::finish_recording();
  });
  std::set<std::string> all;
  for (std::size_t i = 0; i < run->num_executions(); ++i) {
    const auto event = run->execution(i);
    all.insert(event->extension.op_name + " " + std::to_string(event->extension.hits) +
               (event->extension.hits_at_least ? "+" : ""));
  }
  CHECK(run->dropped() == 0);
  return all;
}

}  // namespace

// One case, since doctest handles SIGFPE itself from one to the next.
TEST_CASE("exceptions of the thread that attaches, and of those that it starts") {
  const auto few = trapped([] {
    for (int i = 0; i < 3; ++i) divide();
    std::thread([] { make_nan(); }).join();
    CHECK(std::isnan(sink));
  });
  CHECK(few.contains("x/0 1"));
  CHECK(few.contains("x/0 3"));
  CHECK(few.contains("0/0 1"));

  trapped([] {
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~traps::mxcsr_flags);
    overflow();
    const std::uint32_t flags = __builtin_ia32_stmxcsr() & traps::mxcsr_flags;
    CHECK(sink == std::numeric_limits<double>::infinity());
    CHECK((flags & traps::mxcsr_overflow) != 0);  // as without nanlens
    CHECK((flags & traps::mxcsr_invalid) == 0);
  });

  const auto many = trapped([] {
    for (int i = 0; i < 300'000; ++i) divide();
  });
  CHECK(many.size() < 64);
  CHECK(std::any_of(many.begin(), many.end(), [](const std::string& one_of) { return one_of.ends_with('+'); }));
  CHECK_FALSE(many.contains("x/0 300003"));
  __builtin_ia32_ldmxcsr(0x1F80);
}

TEST_CASE("a step that the system takes for a breakpoint is a step all the same") {
  auto& step = traps::detail::step;
  ucontext_t context{};
  REQUIRE(::getcontext(&context) == 0);
  const traps::MachineState state(&context);
  siginfo_t info{};
  info.si_code = TRAP_BRKPT;
  step = {};
  step.on = true;
  step.place = state.pc();
  CHECK_FALSE(traps::detail::is_step_done(info, state));  // not yet run
  step.place = state.pc() - 4;
  CHECK(traps::detail::is_step_done(info, state));
  step.place = state.pc() - 16;  // no instruction is so long
  CHECK_FALSE(traps::detail::is_step_done(info, state));
  step.place = state.pc() - 4;
  state.mxcsr() = 0x1F80;
  state.single_step(true);
  traps::detail::on_trap(SIGTRAP, &info, &context);
  CHECK_FALSE(step.on);
  CHECK_FALSE(state.single_step(false));
  CHECK_FALSE(traps::detail::is_step_done(info, state));  // of the program
}

TEST_CASE("lists of exceptions") {
  traps::Exceptions wanted;
  CHECK(traps::parse("invalid,overflow", wanted));
  CHECK(wanted.invalid);
  CHECK_FALSE(wanted.divide_by_zero);
  CHECK(wanted.overflow);
  CHECK(traps::parse("all", wanted));
  CHECK(wanted.divide_by_zero);
  CHECK_FALSE(traps::parse("inexact", wanted));
  CHECK_FALSE(traps::parse("invalid,,overflow", wanted));
}
