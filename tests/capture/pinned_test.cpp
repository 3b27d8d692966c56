// A ring forgets, but not what led to the first NaN of each call site.
#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nanlens/causes/sentence.hpp>

#include "../support/finish.hpp"
#include "../support/slowness.hpp"
#include "left_by_death.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::left_by_death;
using test::ring_of;
using test::TemporaryDirectory;

namespace {

enum class End { in_order, by_death };

// What is read of a recording by `body` that ends in this way.
class Ended {
 public:
  template <class Body>
  Ended(DumpOptions options, End end, const Body& body) {
    options.logdir = directory_ / "run";
    enable_dump_debug_info(options);
    body();
    if (end == End::by_death) logdir_ = std::make_unique<reader::Logdir>(left_by_death(options.logdir));
    disable_dump_debug_info();
    if (end == End::in_order) logdir_ = std::make_unique<reader::Logdir>(options.logdir);
    logdir_->update();
    CHECK(run().diagnostics().empty());
    CHECK(run().dropped() == 0);
  }
  [[nodiscard]] reader::Run& run() const { return *logdir_->runs().at(0); }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<reader::Logdir> logdir_;
};

// Outputs of eager ops are numbered as they come.
std::vector<std::int64_t> outputs_of(reader::Run& run) {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < run.num_executions(); ++i) ids.push_back(run.execution(i)->event.output_tensor_ids.at(0));
  return ids;
}

void check_order(const reader::Run& run) {
  for (std::size_t i = 1; i < run.num_executions(); ++i)
    REQUIRE(run.execution_wall_time(i) >= run.execution_wall_time(i - 1));
}

void record_values(int count, float value = 1) {
  for (int i = 0; i < count; ++i) nanlens::op("Eager", value);
}

// As `nanlens why` says it.
std::string cause_in(reader::Run& run) {
  causes::Causes causes(run);
  test::finish(causes);
  const auto headline = causes.headline();
  REQUIRE(headline.has_value());
  return causes::SentenceWriter(causes).sentence(*headline).text;
}

// A loss that goes wrong early, and a long run behind it in which everything is NaN.
void train(int steps, int bad_step) {
  std::vector<float> x{1, 2};
  std::vector<float> y{1, 2};
  for (int i = 0; i < steps; ++i) {
    x[0] = i == bad_step ? -1.0F : 1.0F;
    nanlens::op("Load", x);
    y[0] = std::log(x[0]);
    nanlens::op("Log", y, x);
    for (int k = 0; k < 8; ++k) nanlens::op("Other", 1.0F);
  }
}

}  // namespace

TEST_CASE("a long run of a ring that dies or ends gives the same cause as a recording of everything") {
  constexpr int steps = 20'000 / test::slowness;
  constexpr int bad = 300;
  const Ended all(everything(""), End::in_order, [] { train(bad + 100, bad); });
  const std::string expected = cause_in(all.run());
  CHECK(expected.find("Log") != std::string::npos);
  for (const End end : {End::in_order, End::by_death}) {
    const Ended ended(ring_of("", 100), end, [] { train(steps, bad); });
    CHECK(ended.run().num_executions() == 500 + 1 + 500 + 100);
    check_order(ended.run());
    CHECK(cause_in(ended.run()) == expected);
  }
}

TEST_CASE("the window is whole, and what the ring keeps behind it is the newest") {
  for (const End end : {End::in_order, End::by_death}) {
    const Ended ended(ring_of("", 10), end, [] {
      for (int i = 0; i <= 3000; ++i) {
        const std::string number = std::to_string(i);
        nanlens::op({"Numbered", number}, i == 1000 ? NAN : 1.0F);
      }
    });
    reader::Run& run = ended.run();
    REQUIRE(run.num_executions() == 500 + 1 + 500 + 10);
    for (std::size_t i = 0; i < run.num_executions(); ++i)
      CHECK(run.execution(i)->extension.op_name == std::to_string(i < 1001 ? 500 + i : 2991 + i - 1001));
  }
}

TEST_CASE("without a NaN exactly the newest are kept, though rings hold more") {
  for (const End end : {End::in_order, End::by_death}) {
    const Ended ended(ring_of("", 10), end, [] {
      std::thread([] { record_values(50); }).join();
      record_values(7);
    });
    CHECK(ended.run().num_executions() == 10);
    check_order(ended.run());
  }
}

TEST_CASE("each call site has a window, up to a number; 0 means none") {
  const auto count = [](std::int64_t sites, std::int64_t events) {
    DumpOptions options = ring_of("", 1);
    options.pinned_sites = sites;
    options.pinned_events = events;
    const Ended ended(options, End::in_order, [] {
      record_values(100);
      for (int i = 0; i < 3; ++i) {
        nanlens::op("First", NAN);
        record_values(30);
      }
      nanlens::op("Second", NAN);
      record_values(30);
      nanlens::op("Third", NAN);
      record_values(30);
    });
    check_order(ended.run());
    return ended.run().num_executions();
  };
  CHECK(count(0, 10) == 1);
  CHECK(count(1, 10) == 21 + 1);
  CHECK(count(2, 10) == 42 + 1);
  CHECK(count(8, 10) == 63 + 1);
  CHECK(count(8, 0) == 3 * 2 + 1);  // what the ring held
  CHECK(count(1, -5) == 2 + 1);
}

TEST_CASE("the tensors of a function are pinned as well, a line that runs again and again once") {
  DumpOptions options = ring_of("", 2);
  options.pinned_sites = 2;
  options.pinned_events = 4;
  const Ended ended(options, End::in_order, [] {
    std::vector<float> x{1};
    Function f("loop");
    for (int i = 0; i < 20; ++i) f.op("Step", x);
    x[0] = NAN;
    for (int i = 0; i < 5; ++i) f.op("Step", x);
    x[0] = 1;
    for (int i = 0; i < 20; ++i) f.op("Step", x);
    x[0] = NAN;
    f.op("Other", x);
    x[0] = 1;
    for (int i = 0; i < 20; ++i) f.op("Step", x);
  });
  CHECK(ended.run().num_traces() == (4 + 1 + 4) + (4 + 1 + 4) + 2);
}

TEST_CASE("threads: a window holds what all rings held, and its number of events of all of them") {
  constexpr int threads = 4;
  for (const End end : {End::in_order, End::by_death}) {
    const Ended ended(ring_of("", 100), end, [] {
      std::barrier together(threads);
      std::vector<std::thread> workers;
      for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
          record_values(600);
          together.arrive_and_wait();
          if (t == 0) nanlens::op("Bad", NAN);
          together.arrive_and_wait();
          record_values(1000);
        });
      for (auto& w : workers) w.join();
    });
    std::vector<std::int64_t> ids = outputs_of(ended.run());
    CHECK(ids.size() == threads * 500 + 1 + 500 + 100);
    CHECK(std::set<std::int64_t>(ids.begin(), ids.end()).size() == ids.size());
  }
}

TEST_CASE("threads that go on recording while windows are opened lose nothing of them") {
  constexpr int threads = 3;
  constexpr int sites = 6;
  DumpOptions options = ring_of("", 20);
  options.pinned_events = 50;
  const Ended ended(options, End::in_order, [] {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([t] {
        for (int i = 0; i < 20'000 / test::slowness; ++i) {
          const bool bad = t == 0 && i % 300 == 299 && i / 300 < sites;
          const std::string number = bad ? std::to_string(i / 300) : std::string();
          nanlens::op({"Work", number}, bad ? NAN : static_cast<float>(1));
        }
      });
    for (auto& w : workers) w.join();
  });
  reader::Run& run = ended.run();
  std::map<std::uint64_t, std::vector<std::int64_t>> by_thread;
  std::set<std::int64_t> ids;
  std::set<std::string> found;
  for (std::size_t i = 0; i < run.num_executions(); ++i) {
    const auto detail = run.execution(i);
    const std::int64_t id = detail->event.output_tensor_ids.at(0);
    CHECK(ids.insert(id).second);
    auto& own = by_thread[detail->extension.thread_id];
    CHECK((own.empty() || own.back() < id));  // of one thread, in order
    own.push_back(id);
    if (detail->extension.op_name.empty()) continue;
    found.insert(std::string(detail->extension.op_name));
    // What the thread itself had recorded before it, without a gap but where a block of numbers ends.
    REQUIRE(own.size() > 50);
    for (std::size_t k = own.size() - 50; k < own.size(); ++k) CHECK((own[k] == own[k - 1] + 1 || own[k] % 256 == 0));
  }
  CHECK(found.size() == sites);
}

TEST_CASE("who watches a ring sees a window, however late, and what was shown stays") {
  const TemporaryDirectory dir;
  enable_dump_debug_info(ring_of(dir / "run", 10));
  record_values(5);
  reader::Logdir logdir{dir / "run"};
  do logdir.update();
  while (logdir.runs().empty() || logdir.runs()[0]->num_executions() < 5);
  record_values(1, NAN);
  record_values(3000);
  do logdir.update();
  while (logdir.runs()[0]->num_executions() < 5 + 1 + 500 + 1);
  reader::Run& run = *logdir.runs()[0];
  CHECK(run.alerts().size() == 1);
  record_values(700);
  nanlens::op("Last", 1.0F);
  disable_dump_debug_info();
  do logdir.update();
  while (!run.clean_end());
  logdir.update();
  check_order(run);
  const std::vector<std::int64_t> ids = outputs_of(run);
  CHECK(std::set<std::int64_t>(ids.begin(), ids.end()).size() == ids.size());
  CHECK(run.execution(ids.size() - 1)->event.op_type == "Last");
  CHECK(run.alerts().size() == 1);
  CHECK(run.diagnostics().empty());
}
