// Recordings of some steps only, and the switch: what is left out is not on record, and is told.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <nanlens/capture/sampler.hpp>

#include "left_by_death.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;

namespace {

using Vector = std::vector<float>;

// Six ops a step, each recorded in another way.
void run_step(const Vector& x) {
  nanlens::op("Value", Vector{1}, x);
  Vector y{2};
  nanlens::op("Reference", y, x);
  nanlens::op("Callable", [&] { return Vector{3}; }, x);
  record("Record", outputs(y), inputs(x));
  OpScope scope("Scope", inputs(x));
  scope.finish(outputs(y));
  Function f("call", arg("x", x));
  f.result(f.op("Inside", Vector{4}, x));
}

void run_steps(int count) {
  const Vector x{1, 2};
  for (int i = 0; i < count; ++i) {
    run_step(x);
    step();
  }
}

std::ptrdiff_t count_of(reader::Run& run, std::string_view op) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < run.num_executions(); ++i) count += run.execution(i)->event.op_type == op;
  return count;
}

// What `nanlens off` and `nanlens on` do.
void turn(const std::string& logdir, bool off) {
  constexpr auto at = logdir::live::region_content + offsetof(logdir::live::LiveHeader, switched_off);
  constexpr auto obeyed = logdir::live::region_content + offsetof(logdir::live::LiveHeader, obeyed);
  const std::uint32_t word = off ? 1 : 0;
  const std::string path = test::file_of(logdir, logdir::live::suffix);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at).write(reinterpret_cast<const char*>(&word), sizeof word).flush();
  for (std::uint32_t seen = 2; seen != word; std::this_thread::yield())
    std::memcpy(&seen, test::bytes_of(path).data() + obeyed, sizeof seen);
}

}  // namespace

TEST_CASE("of every third step all is on record, and what is not is counted") {
  const Recorded run([] { run_steps(10); }, [](DumpOptions& o) { o.every = 3; });
  for (const char* const op : {"Value", "Reference", "Callable", "Record", "Scope"}) CHECK(count_of(*run, op) == 4);
  CHECK(run->num_executions() == 4 * 6);
  CHECK(run->num_traces() == 4 * 2);
  CHECK(run->left_out().steps == 6);
  CHECK(run->left_out().ops == 6 * 6);
  CHECK(run->left_out().ns > 0);
  CHECK(run->clean_end() == true);
  CHECK(run->dropped() == 0);
}

TEST_CASE("a range of steps is recorded, and those around it are not") {
  const Recorded run([] { run_steps(6); },
                     [](DumpOptions& o) {
                       o.first_step = 2;
                       o.last_step = 3;
                     });
  CHECK(count_of(*run, "Value") == 2);
  CHECK(run->left_out().steps == 4);
  const Recorded later([] { run_steps(6); }, [](DumpOptions& o) { o.first_step = 4; });
  CHECK(count_of(*later, "Value") == 2);
  CHECK(later->left_out().ops == 4 * 6);
}

TEST_CASE("a recording of everything has left out nothing, whatever the one before it did") {
  const Recorded before([] { run_steps(3); }, [](DumpOptions& o) { o.every = 3; });
  CHECK(before->left_out().ns > 0);
  CHECK(detail::Sampler::get().left_out() == logdir::LeftOut{});  // what the next one's writer is told at once
  const Recorded run([] { run_steps(3); });
  CHECK(count_of(*run, "Value") == 3);
  CHECK(run->left_out() == logdir::LeftOut{});
}

TEST_CASE("a tensor from before a rest is not taken for what is there after it") {
  const Recorded run(
      [] {
        Vector x{1, 2};
        nanlens::op("Before", x);
        nanlens::op("Reads", Vector{3}, x);
        step();
        step();
        nanlens::op("Reads", Vector{3}, x);
      },
      [](DumpOptions& o) { o.every = 2; });
  REQUIRE(run->num_executions() == 3);
  const auto made = run->execution(0)->event.output_tensor_ids.at(0);
  CHECK(run->execution(1)->event.input_tensor_ids.at(0) == made);
  CHECK(run->execution(2)->event.input_tensor_ids.at(0) != made);
}

TEST_CASE("the switch has a recording rest, and go on") {
  const TemporaryDirectory dir;
  enable_dump_debug_info(everything(dir / "run"));
  nanlens::op("On", Vector{1});
  turn(dir / "run", true);
  for (int i = 0; i < 7; ++i) nanlens::op("Off", Vector{1});
  turn(dir / "run", false);
  nanlens::op("Again", Vector{1});
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  reader::Run& run = *logdir.runs().at(0);
  CHECK(run.num_executions() == 2);
  CHECK(count_of(run, "Off") == 0);
  CHECK(run.left_out().ops == 7);
  CHECK(run.left_out().steps == 0);
  // A recording that begins again in the same place is on, and keeps what was left out before.
  enable_dump_debug_info(everything(dir / "run"));
  nanlens::op("Another", Vector{1});
  disable_dump_debug_info();
  logdir.update();
  CHECK(run.num_executions() == 3);
  CHECK(run.left_out().ops == 7);
  CHECK(run.clean_end() == true);
}

TEST_CASE("a recording that dies while it rests has told what it left out by then") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  options.every = 2;
  enable_dump_debug_info(options);
  nanlens::op("First", Vector{1});
  step();
  const auto left = [&] {
    nanlens::op("Left", Vector{1});
    auto read = std::make_unique<reader::Logdir>(test::left_by_death(options.logdir));
    read->update();
    return read;
  };
  auto read = left();
  while (read->runs().at(0)->left_out().ops == 0) read = left();
  CHECK(read->runs().at(0)->num_executions() == 1);
  CHECK(read->runs().at(0)->clean_end() == false);
  disable_dump_debug_info();
}

TEST_CASE("check_numerics looks at ops while a recording rests") {
  int found = 0;
  const Recorded run(
      [&] {
        step();
        enable_check_numerics({.handler = [&](const NumericsEvent&) { ++found; }});
        nanlens::op("Bad", Vector{NAN});
        disable_check_numerics();
        nanlens::op("Bad", Vector{NAN});
      },
      [](DumpOptions& o) { o.last_step = 0; });
  CHECK(found == 1);
  CHECK(run->num_executions() == 0);
  CHECK(run->left_out().ops == 2);
}

TEST_CASE("steps that can't be are refused") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  options.every = 0;
  CHECK_THROWS_WITH(enable_dump_debug_info(options), "nanlens: of `every` steps one is recorded: 0 can't be");
  options.every = 1;
  options.first_step = 3;
  options.last_step = 2;
  CHECK_THROWS_WITH(enable_dump_debug_info(options), "nanlens: steps 3 to 2 are none");
}

TEST_CASE("threads that record while steps end and the recording rests lose nothing but that") {
  constexpr int threads = 3;
  constexpr int ops = 20'000;
  const Recorded run(
      [&] {
        std::vector<std::thread> workers;
        for (int t = 0; t < threads; ++t)
          workers.emplace_back([] {
            for (int i = 0; i < ops; ++i) {
              nanlens::op("Op", Vector{1});
              if (i % 100 == 0) step();
            }
          });
        for (auto& w : workers) w.join();
      },
      [](DumpOptions& o) { o.every = 2; });
  CHECK(run->num_executions() + run->left_out().ops == threads * ops);
  CHECK(run->left_out().steps == threads * ops / 100 / 2);
  CHECK(run->dropped() == 0);
}
