#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include <nanlens/capture/tick_line.hpp>
#include <nanlens/capture/wall_clock.hpp>

using nanlens::detail::ClockSample;
using nanlens::detail::TickLine;
using nanlens::detail::WallClock;

namespace {

constexpr std::uint64_t second = std::uint64_t{1} << 32;
constexpr std::uint64_t today = 1'800'000'000 * second;

// A counter of `frequency` ticks a second, and a clock that is wrong by so many parts of a million.
struct Machine {
  double frequency = 2.6e9;
  double drift = 0;

  [[nodiscard]] ClockSample at(double seconds) const {
    const double time = seconds * (1 + 1e-6 * drift);
    return {static_cast<std::uint64_t>(1e12 + seconds * frequency),
            today + static_cast<std::uint64_t>(static_cast<std::int64_t>(time * static_cast<double>(second)))};
  }
};

// Microseconds by which the line is wrong at a moment.
double error_at(const TickLine& line, const Machine& machine, double seconds) {
  const ClockSample right = machine.at(seconds);
  const std::uint64_t time = line.at(right.ticks);
  REQUIRE(time != 0);
  return 1e6 * static_cast<double>(static_cast<std::int64_t>(time - right.time)) / static_cast<double>(second);
}

}  // namespace

TEST_CASE("a line begins with the second sample, and ends when no more come") {
  for (const double frequency : {0.9e9, 2.6e9, 5.5e9}) {
    const Machine machine{frequency};
    TickLine line;
    CHECK(line.at(machine.at(0).ticks) == 0);
    CHECK(line.add(machine.at(0)));
    CHECK(line.at(machine.at(0).ticks) == 0);
    CHECK(line.add(machine.at(0.02)));
    for (const double t : {0.02, 0.021, 0.05, 0.1}) CHECK(std::abs(error_at(line, machine, t)) < 0.01);
    CHECK(line.at(machine.at(60).ticks) == 0);
    CHECK(line.at(machine.at(-60).ticks) == 0);
    CHECK(line.add(machine.at(60.02)));  // it goes on where the clock is
    CHECK(std::abs(error_at(line, machine, 60.03)) < 0.01);
    line.end();
    CHECK(line.at(machine.at(60.03).ticks) == 0);
  }
}

TEST_CASE("a line follows a clock that is made faster and slower, and time does not go back") {
  TickLine line;
  Machine machine;
  std::uint64_t last = 0;
  double offset = 0;  // of the clock, from what it was made before
  double now = 0;
  for (int i = 0; i < 400; ++i) {
    const double drift = i % 100 < 50 ? 400 : -400;
    offset += (machine.drift - drift) * 1e-6 * now;
    machine.drift = drift;
    ClockSample sample = machine.at(now);
    sample.time += static_cast<std::uint64_t>(static_cast<std::int64_t>(offset * static_cast<double>(second)));
    CHECK(line.add(sample));
    for (double t = now - 1e-6; t < now + 0.05; t += 0.001) {
      const std::uint64_t time = line.at(machine.at(t).ticks);
      if (i > 0) CHECK(time >= last);
      last = time;
    }
    const auto error = static_cast<double>(static_cast<std::int64_t>(line.at(sample.ticks) - sample.time));
    if (i > 1) CHECK(std::abs(error) / static_cast<double>(second) < 100e-6);
    now += 0.05;
  }
}

TEST_CASE("a clock that was set, and a counter that jumps or stands, end the line") {
  const Machine machine;
  const auto begun = [&](TickLine& line) {
    line.add(machine.at(0));
    line.add(machine.at(0.05));
    REQUIRE(line.at(machine.at(0.06).ticks) != 0);
  };
  const auto ends = [&](const ClockSample& sample) {
    TickLine line;
    begun(line);
    return !line.add(sample) && line.at(machine.at(0.06).ticks) == 0;
  };
  ClockSample sample = machine.at(0.1);
  CHECK_FALSE(ends(sample));
  sample.time += second / 100;
  CHECK(ends(sample));
  sample.time -= second / 50;
  CHECK(ends(sample));
  sample = machine.at(0.1);
  sample.ticks += 100'000'000;
  CHECK(ends(sample));
  sample.ticks = machine.at(0.05).ticks;
  CHECK(ends(sample));
  sample.ticks = machine.at(-1).ticks;
  CHECK(ends(sample));
}

TEST_CASE("the time of events is the system's, whoever asks while the two are compared") {
  WallClock clock;
  clock.begin();
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      double last = 0;
      while (!done) {
        const auto system = [] {
          return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
        };
        const double before = system();
        const double now = clock.now();
        const double after = system();
        // What the system itself says in between may be slewed; a millisecond is where the two part.
        if (now < before - 2e-3 || now > after + 2e-3 || now < last - 1e-5) ++wrong;
        last = now;
      }
    });
  for (int i = 0; i < 40; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    clock.compare();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
