// Rules that the recorder judges by while a program runs: the same rows hold as `nanlens check` finds afterwards.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <nanlens/query/judge.hpp>

#include "left_by_death.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;
using Vector = std::vector<float>;

namespace {

using Hits = std::vector<RuleHit>;

// Options that judge by rules and collect what the handler is told.
auto with_rules(std::vector<std::string> rules, Hits* told = nullptr) {
  return [rules = std::move(rules), told](DumpOptions& options) {
    options.rules = rules;
    options.on_rule = [told](const RuleHit& hit) {
      if (told != nullptr) told->push_back(hit);
    };
  };
}

// Rule, kind of event, its index, output: where hits are on record.
using Place = std::tuple<std::string, bool, std::uint32_t, std::int32_t>;

std::vector<logdir::RuleHit> hits_of(reader::Run& run, const reader::RuleHitRow& row) {
  return row.is_execution ? run.execution(row.event)->extension.rule_hits : run.trace(row.event)->extension.rule_hits;
}

std::map<Place, logdir::RuleHit> recorded_hits(reader::Run& run) {
  std::map<Place, logdir::RuleHit> all;
  for (const reader::RuleHitRow& row : run.rule_hit_rows())
    for (const logdir::RuleHit& hit : hits_of(run, row))
      all.emplace(Place(hit.rule, row.is_execution, row.event, hit.output_slot), hit);
  return all;
}

std::uint64_t total_of(const reader::Run& run, const std::string& rule) {
  for (const logdir::RuleHit& outcome : run.rule_outcomes())
    if (outcome.rule == rule) return outcome.hits;
  return ~std::uint64_t{0};
}

void record_relus(int dead_from, int calls) {
  for (int i = 0; i < calls; ++i) nanlens::op("Relu", i < dead_from ? Vector{1, 2, 3} : Vector{0, 0, 0});
}

}  // namespace

TEST_CASE("a rule holds once for so many calls, its handler is told once, and the record tells where and how often") {
  Hits told;
  const Recorded run([] { record_relus(2, 10); },
                     with_rules({"warning dead relu: zero>95% type:Relu for 5 calls -- too fast"}, &told));
  REQUIRE(told.size() == 1);
  CHECK(told[0].rule == "dead relu");
  CHECK(told[0].level == "warning");
  CHECK(told[0].expression == "zero>95% type:Relu for 5 calls");
  CHECK(told[0].reason == "too fast");
  CHECK(told[0].op_type == "Relu");
  CHECK(told[0].op_name.empty());
  CHECK(told[0].numbers == "zero is 100% of 3, for 5 calls");
  REQUIRE(!told[0].stack.empty());
  CHECK(told[0].stack.back().file.ends_with("rules_test.cpp"));
  CHECK(told[0].message.find("dead relu\" holds of Relu:0 at ") != std::string::npos);
  const auto hits = recorded_hits(*run);
  REQUIRE(hits.size() == 1);
  CHECK(hits.begin()->first == Place("dead relu", true, 6, 0));  // calls 2 to 6 are the first five
  CHECK(hits.begin()->second.hits == 1);
  CHECK(hits.begin()->second.level == "warning");
  CHECK(hits.begin()->second.reason == "too fast");
  CHECK(total_of(*run, "dead relu") == 4);
  CHECK(run->rule_outcomes().at(0).stopped == false);
}

TEST_CASE("numbers that grow are compared with those of the same output") {
  Hits told;
  const Recorded run(
      [] {
        for (const float v : {1.0F, 2.0F, 3.0F, 40.0F}) {
          Function f("step", arg("x", Vector{v}));
          (void)f.result(f.op("Grad", Vector{v, 0}, Vector{v}));
          nanlens::op("Other", Vector{1 / v});
        }
      },
      [&](DumpOptions& options) {
        options.statistics = true;
        with_rules({"explodes: absmax grows 20x in 3 calls", "any: absmax grows 10x in 1 call type:Grad"},
                   &told)(options);
      });
  REQUIRE(told.size() == 2);
  CHECK(told[0].rule == "explodes");
  CHECK(told[0].graph_name == "step");
  CHECK(told[0].numbers == "absmax went from 2 to 40 in 2 calls");
  CHECK(told[1].numbers == "absmax went from 3 to 40 in 1 call");
  CHECK(told[1].op_name == "Grad");
  CHECK(total_of(*run, "any") == 1);
}

TEST_CASE("rules that can't be read, or ask what only the whole recording tells, are left out; others are judged by") {
  Hits told;
  const Recorded run(
      [] { nanlens::op("Log", Vector{-INFINITY}); },
      with_rules({"odd: typ:Log", "regular: type:/Log/", "later: first", "sum: bad count>0", "calls: call:f",
                  "place: file:x.cpp", "bad one: bad", "bad one: inf>0", "@/nowhere/at/all"},
                 &told));
  REQUIRE(told.size() == 1);
  CHECK(told[0].rule == "bad one");
  CHECK(told[0].expression == "bad");
  CHECK(run->rule_outcomes().size() == 1);
}

TEST_CASE("the rules that ship can be named, and none of them needs what the program can't judge") {
  const Recorded run([] { nanlens::op("Relu", Vector{1}); }, with_rules({"standard"}));
  CHECK(run->rule_outcomes().size() == 11);
}

TEST_CASE("a handler may record, end the recording, and throw") {
  int calls = 0;
  const Recorded run([] { record_relus(0, 3); },
                     [&](DumpOptions& options) {
                       options.rules = {"zeros: zero>50%", "all zero: zero=100%"};
                       options.on_rule = [&](const RuleHit&) {
                         ++calls;
                         nanlens::op("OfHandler", Vector{0, 0});
                         throw std::runtime_error("on purpose");
                       };
                     });
  CHECK(calls == 2);
  CHECK(run->num_executions() == 5);
  CHECK(total_of(*run, "zeros") == 3);  // what handlers record is not judged
  const Recorded ended([] { record_relus(0, 3); },
                       [](DumpOptions& options) {
                         options.rules = {"zeros: zero>50%"};
                         options.on_rule = [](const RuleHit&) { disable_dump_debug_info(); };
                       });
  CHECK(ended->num_executions() == 1);
  CHECK(ended->clean_end() == true);
  CHECK(recorded_hits(*ended).size() == 1);
}

TEST_CASE("the same options are the same recording; another handler is another one") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  with_rules({"zeros: zero>50%"})(options);
  const DumpDebugInfo recording(options);
  CHECK(enable_dump_debug_info(options));
  DumpOptions other = options;
  with_rules({"zeros: zero>50%"})(other);
  CHECK_THROWS_AS(enable_dump_debug_info(other), std::invalid_argument);
}

TEST_CASE("of an output that the filters reject, statistics are judged as they are on record") {
  for (const bool by_type : {false, true}) {
    const Recorded run(
        [] {
          nanlens::op("Other", Vector{1, 3});
          nanlens::op("Relu", Vector{1, 3});
        },
        [&](DumpOptions& options) {
          options.tensor_debug_mode = TensorDebugMode::full_tensor;
          options.statistics = true;
          if (by_type)
            options.op_regex = "Relu";
          else
            options.tensor_dtypes = {DType::float64};
          with_rules({"big: max>2"})(options);
        });
    const auto outputs = run->execution(0)->extension.outputs;
    REQUIRE(outputs.size() == 1);
    CHECK(outputs[0].min == 1);
    CHECK(outputs[0].max == 3);
    CHECK(recorded_hits(*run).size() == 2);
  }
}

TEST_CASE("threads that call one op are judged together") {
  constexpr int threads = 4;
  constexpr int calls = 300;
  std::atomic<int> told{0};
  const Recorded run(
      [] {
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t)
          all.emplace_back([] {
            for (int i = 0; i < calls; ++i) nanlens::op("Relu", Vector{0, 0});
          });
        for (std::thread& thread : all) thread.join();
      },
      [&](DumpOptions& options) {
        options.rules = {"dead: zero>95% for 10 calls", "any: zero>0"};
        options.on_rule = [&](const RuleHit&) { ++told; };
      });
  CHECK(told == 2);
  CHECK(total_of(*run, "any") == threads * calls);
  CHECK(total_of(*run, "dead") == threads * calls - 9);
  CHECK(recorded_hits(*run).size() == 2);
}

TEST_CASE("the first hit of a rule is told, at however many outputs another one holds") {
  Hits told;
  const Recorded run(
      [] {
        for (int i = 0; i < 9000; ++i)
          nanlens::op({"Relu", "n" + std::to_string(i)}, std::tuple(0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F));
        nanlens::op("Log", -1.0F);
      },
      with_rules({"any: zero>0", "late: neg>0"}, &told));
  REQUIRE(told.size() == 2);
  CHECK(told[1].rule == "late");
  CHECK(total_of(*run, "any") == 72000);
  CHECK(recorded_hits(*run).count(Place("late", true, 9000, 0)) == 1);
}

TEST_CASE("a ring keeps the first hit of each rule, with what led to it; so does a program that dies") {
  for (const bool dies : {false, true}) {
    const TemporaryDirectory dir;
    DumpOptions options = test::ring_of(dir / "run", 10);
    options.pinned_events = 20;
    with_rules({"dead: zero>95% type:Relu for 3 calls", "again: zero>95% type:Relu"})(options);
    enable_dump_debug_info(options);
    record_relus(200, 203);
    for (int i = 0; i < 3000; ++i) nanlens::op("Other", 1.0F);
    auto left = dies ? test::left_by_death(options.logdir) : nullptr;
    disable_dump_debug_info();
    reader::Logdir logdir = dies ? reader::Logdir(std::move(left)) : reader::Logdir(options.logdir);
    logdir.update();
    reader::Run& run = *logdir.runs().at(0);
    const auto hits = recorded_hits(run);
    REQUIRE(hits.size() == 2);
    for (const auto& [place, hit] : hits) {
      CHECK(std::get<2>(place) >= 20);  // those before it
      CHECK(run.execution(std::get<2>(place))->event.op_type == "Relu");
      CHECK(hit.hits == 1);
    }
    CHECK(run.num_executions() > 50);
    CHECK(run.clean_end() == !dies);
  }
}

#if !defined(NANLENS_SANITIZED)  // their runtimes don't take threads in the child of a process with threads
TEST_CASE(
    "a rule stops the program, even if its handler throws: its level is error, and the logdir is whole and says which "
    "one it was") {
  for (const bool is_error : {true, false}) {
    const TemporaryDirectory dir;
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      DumpOptions options = everything(dir / "run");
      options.rules = {is_error ? "dead: zero>95%" : "warning dead: zero>95%", "note other: zero>1"};
      options.on_rule = [](const RuleHit&) { throw std::runtime_error("on purpose"); };
      options.stop = true;
      enable_dump_debug_info(options);
      record_relus(5, 10);
      disable_dump_debug_info();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == (is_error ? 97 : 0));
    reader::Logdir logdir{dir / "run"};
    logdir.update();
    reader::Run& run = *logdir.runs().at(0);
    CHECK(run.num_executions() == (is_error ? 6 : 10));
    CHECK(run.clean_end() == true);
    REQUIRE(run.rule_outcomes().size() == 2);
    CHECK(run.rule_outcomes()[0].stopped == is_error);
    CHECK(run.rule_outcomes()[1].stopped == false);
    CHECK(total_of(run, "dead") == (is_error ? 1 : 5));
  }
}

TEST_CASE("a forked child judges by its parent's rules, from the beginning") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  with_rules({"dead: zero>95% for 3 calls"})(options);
  enable_dump_debug_info(options);
  record_relus(0, 2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    record_relus(0, 3);
    ::_exit(0);  // it is read from memory
  }
  ::waitpid(child, nullptr, 0);
  disable_dump_debug_info();
  reader::Logdir logdir{dir / "run"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 2);
  CHECK(recorded_hits(*logdir.runs()[0]).empty());
  CHECK(recorded_hits(*logdir.runs()[1]).size() == 1);
}
#endif

namespace {

const std::vector<std::string> asked = {
    "zeros: zero>50%",
    "five: zero>50% for 5 calls",
    "bad: bad",
    "ok: ok for 3 calls",
    "good relu: ok type:Relu for 4 calls",
    "empty: empty",
    "unchecked: unchecked",
    "constant: constant",
    "constant thrice: constant for 3 calls",
    "named: op:first",
    "slot: op:Pair:1 neg>0",
    "in graph: graph:step inf>0",
    "other graph: -graph:step nan>0 for 2 calls",
    "any text: relu max>1",
    "range: zero:1..2 size:3..4",
    "share: pos:50%..100% for 2 calls",
    "narrow: dtype:float16 absmax>1",
    "wide: dtype:float64 or dtype:int",
    "device: device:CPU nan>0",
    "mode: mode:FULL neg>1",
    "rank: rank=1 neg>0 for 2 calls",
    "grows: norm grows 3x in 2 calls",
    "shrinks: max shrinks 2x in 3 calls type:Relu for 2 calls",
    "mean: mean<0 -bad for 2 calls",
    "brackets: (zero>0 or nan>0) not (type:Pair or op:first) for 3 calls",
    "min: min<-1 ok",
    "no norm: -norm>5",
    "no min: -min>5 for 2 calls",
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  template <class T>
  std::vector<T> values() {
    const std::size_t size = below(8) == 0 ? below(2) : 2 + below(4);
    const bool one_value = below(4) == 0;
    std::vector<T> all;
    for (std::size_t i = 0; i < size; ++i) {
      constexpr float choices[] = {0, 0, 0, 1, -1, 5, -30, 1e6F, NAN, INFINITY, -INFINITY};
      const bool bad = below(6) == 0;
      all.push_back(one_value && i > 0 ? all.front() : static_cast<T>(choices[below(bad ? 11 : 8)]));
    }
    return all;
  }

 private:
  std::mt19937 engine_;
};

void record_at_random(unsigned seed) {
  Random random(seed);
  for (int step = 0; step < 60; ++step) {
    nanlens::op("Relu", random.values<float>());
    nanlens::op({"Relu", "first"}, random.values<double>());
    nanlens::op("Pair", std::tuple(random.values<float>(), random.values<float>()));
    nanlens::op("Whole", std::vector<std::int32_t>{1, 0});
    Function f("step", arg("x", random.values<float>()));
    const Vector h = f.op("Relu", random.values<float>());
    f.op("Pair", std::tuple(random.values<float>(), random.values<double>()), h);
    for (int k = 0; k < 2; ++k) f.op("Log", random.values<float>(), h);
    (void)f.result(f.op({"Relu", "first"}, random.values<double>(), h));
  }
}

}  // namespace

TEST_CASE("the program and `nanlens check` judge alike, whatever is recorded") {
  using enum TensorDebugMode;
  unsigned seed = 1;
  std::size_t hits_compared = 0;
  for (const TensorDebugMode mode : {full_health, concise_health, curt_health, shape, full_tensor, no_tensor})
    for (const bool statistics : {false, true}) {
      const Recorded run([&] { record_at_random(++seed); },
                         [&](DumpOptions& options) {
                           options.tensor_debug_mode = mode;
                           options.statistics = statistics;
                           with_rules(asked)(options);
                         });
      std::map<Place, std::uint64_t> judged;
      for (const std::string& text : asked) {
        query::Error error;
        const auto rule = query::parse_rule(text, error);
        REQUIRE_MESSAGE(rule.has_value(), text);
        query::Surroundings nobody;
        std::uint64_t total = 0;
        for (const query::Hit& hit : query::Judge(*run, *rule, nobody).judge().hits) {
          const std::int32_t slot = hit.row.is_execution ? hit.row.slot : run->trace(hit.row.index)->event.output_slot;
          judged.emplace(Place(rule->name, hit.row.is_execution, hit.row.index, slot), hit.count);
          total += hit.count;
        }
        CHECK_MESSAGE(total_of(*run, rule->name) == total, text, ", mode ", static_cast<int>(mode), ", ", statistics);
      }
      std::map<Place, std::uint64_t> recorded;
      for (const auto& [place, hit] : recorded_hits(*run)) recorded.emplace(place, judged[place]);
      CHECK_MESSAGE(recorded == judged, "mode ", static_cast<int>(mode), ", ", statistics);
      hits_compared += judged.size();
    }
  CHECK(hits_compared > 300);
}
