// Rules over recordings whose verdicts are known: of programs that record themselves here, and of real TensorFlow.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/rule_words.hpp>

#include "../capture/recorded.hpp"

namespace query = nanlens::query;
using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

query::Rule rule_of(const std::string& text) {
  query::Error error;
  auto rule = query::parse_rule(text, error);
  INFO(query::marked(text, error), "\n", query::words(error));
  REQUIRE(rule.has_value());
  return *rule;
}

query::Judgement judge(reader::Run& run, const std::string& conditions) {
  const query::Rule rule = rule_of("n: " + conditions);
  query::Surroundings nobody;
  return query::Judge(run, rule, nobody).judge();
}

// At how many outputs of ops it holds, and how often.
struct Verdict {
  std::size_t places = 0;
  std::uint64_t hits = 0;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};
Verdict verdict(reader::Run& run, const std::string& conditions) {
  const query::Judgement judgement = judge(run, conditions);
  CHECK_MESSAGE(!judgement.could_not_be_judged(), conditions);
  Verdict v{judgement.hits.size(), 0};
  for (const query::Hit& hit : judgement.hits) v.hits += hit.count;
  return v;
}
constexpr Verdict never{};

void with_statistics(DumpOptions& options) { options.statistics = true; }

// Eight calls of a small net: a unit dies in the fourth, the gradient doubles with each, the loss jumps once.
void train() {
  for (int step = 0; step < 8; ++step) {
    const auto s = static_cast<float>(step);
    Function f("step", arg("x", Vector{1, 2, 3, 4}));
    const Vector h = f.op("Relu", step < 3 ? Vector{1, 0, 2, 3} : Vector{0, 0, 0, 0});
    const Vector g = f.op("ReluGrad", Vector{std::pow(2.0F, s), 0, -1, 1}, h);
    const Vector loss = f.op("Mean", Vector{step == 6 ? 50.0F : 1.0F}, h);
    f.result(loss);
    nanlens::op("Apply", Vector{s, s}, g);
  }
}

}  // namespace

TEST_CASE("in slices a rule finds the same, and keeps no more than it is told to") {
  const Recorded run(train, with_statistics);
  for (const char* const asked :
       {"zero>95% type:Relu for 5 calls", "size>0", "absmax grows 2x in 2 calls", "count>3"}) {
    CAPTURE(asked);
    const query::Rule rule = rule_of(std::string("n: ") + asked);
    query::Surroundings nobody;
    const query::Judgement whole = query::Judge(*run, rule, nobody).judge();
    query::Judge sliced(*run, rule, nobody, {1, 3});
    while (!sliced.advance(1)) {
    }
    const query::Judgement part = sliced.judgement();
    CHECK(part.rows == whole.rows);
    REQUIRE_FALSE(whole.hits.empty());
    REQUIRE(part.hits.size() == 1);
    CHECK(part.hits.front().tensor == whole.hits.front().tensor);
    CHECK(part.hits.front().count == whole.hits.front().count);
    CHECK(part.hits.size() + part.hits_left_out == whole.hits.size());
    CHECK(part.held == whole.held);
    CHECK(part.hit_rows.size() == std::min<std::uint64_t>(3, part.hits.front().count));
  }
}

TEST_CASE("thresholds, shares and durations") {
  const Recorded run(train, with_statistics);
  CHECK(verdict(*run, "zero>95% type:Relu -type:Grad") == Verdict{1, 5});
  CHECK(verdict(*run, "zero>95% type:Relu -type:Grad for 5 calls") == Verdict{1, 1});
  CHECK(verdict(*run, "zero>95% type:Relu -type:Grad for 6 calls") == never);
  CHECK(verdict(*run, "zero>=25% type:Relu -type:Grad") == Verdict{1, 8});
  CHECK(verdict(*run, "max>100 type:ReluGrad") == Verdict{1, 1});
  CHECK(verdict(*run, "max>128 type:ReluGrad") == never);
  CHECK(verdict(*run, "min<0 type:ReluGrad") == Verdict{1, 8});
  CHECK(verdict(*run, "mean:32..33 type:ReluGrad") == Verdict{1, 1});
  CHECK(verdict(*run, "absmax>=64 type:ReluGrad") == Verdict{1, 2});
  CHECK(verdict(*run, "norm>128 type:ReluGrad") == Verdict{1, 1});
  CHECK(verdict(*run, "norm>128.1 type:ReluGrad") == never);
  CHECK(verdict(*run, "bad") == never);
  CHECK(verdict(*run, "constant type:Relu -type:Grad") == Verdict{1, 5});
  CHECK(verdict(*run, "constant type:Mean") == never);  // one element
}

TEST_CASE("changes are those of one op, over its last calls") {
  const Recorded run(train, with_statistics);
  CHECK(verdict(*run, "absmax grows 8x in 3 calls type:ReluGrad") == Verdict{1, 5});
  CHECK(verdict(*run, "absmax grows 8x in 2 calls type:ReluGrad") == never);
  CHECK(verdict(*run, "absmax grows 9x in 3 calls type:ReluGrad") == never);
  CHECK(verdict(*run, "absmax grows 8x in 3 calls type:ReluGrad max>100") == Verdict{1, 1});
  CHECK(verdict(*run, "mean grows 10x in 1 calls type:Mean") == Verdict{1, 1});
  CHECK(verdict(*run, "mean shrinks 10x in 1 calls type:Mean") == Verdict{1, 1});
  CHECK(verdict(*run, "mean shrinks 10x in 1 calls type:Mean for 2 calls") == never);
  CHECK(verdict(*run, "norm grows 2x in 1 calls type:Apply max>0") ==
        Verdict{1, 1});  // from 1 to 2; from 0 is no factor
  const auto judgement = judge(*run, "mean grows 10x in 1 calls type:Mean");
  REQUIRE(judgement.hits.size() == 1);
  CHECK(judgement.rows == 8);
  const std::string words = query::words(rule_of("loss jump: mean grows 10x in 1 calls"), judgement.hits[0]);
  CHECK(words == "The rule \"loss jump\" holds of Mean:0: mean went from 1 to 50 in 1 call.");
}

TEST_CASE("totals are of all rows") {
  const Recorded run(train, with_statistics);
  CHECK(verdict(*run, "count>0 type:Mean max>40") == Verdict{1, 1});
  CHECK(verdict(*run, "count>1 type:Mean max>40") == never);
  CHECK(verdict(*run, "count=8 type:Apply") == Verdict{1, 8});
  const auto none = judge(*run, "count=0 type:Adam");
  REQUIRE(none.hits.size() == 1);
  CHECK_FALSE(none.hits[0].row.exists());
  CHECK(judge(*run, "count=0 type:Apply").hits.empty());
}

TEST_CASE("eager ops are told apart by their line; a call's outputs are not judged twice") {
  const Recorded run([] {
    for (int i = 0; i < 3; ++i) {
      nanlens::op("Exp", Vector{2});
      nanlens::op("Exp", Vector{3});
    }
    Function f("call");
    f.result(f.op("Exp", Vector{4}));
  });
  CHECK(verdict(*run, "pos>0 type:Exp for 3 calls") == Verdict{2, 2});
  CHECK(verdict(*run, "pos>0 type:Exp") == Verdict{3, 7});
  CHECK(verdict(*run, "pos>0 eager") == Verdict{2, 6});
  CHECK(verdict(*run, "pos>0 call:call") == Verdict{2, 2});  // the row, and what the call returned
}

TEST_CASE("what is not on record is told, and is no 0") {
  const Recorded run(train);  // no statistics
  const auto judgement = judge(*run, "max>6e4 type:Relu");
  CHECK(judgement.could_not_be_judged());
  CHECK(judgement.hits.empty());
  CHECK(judgement.unjudged == 16);
  const std::string why = query::why_not_judged(rule_of("hot: max>6e4 type:Relu"), judgement);
  CHECK(why == "rule \"hot\" could not be judged: no recording of max (record with .statistics = true)");
  CHECK(judge(*run, "not max>6e4 type:Relu").could_not_be_judged());
  CHECK(judge(*run, "min=0 type:Relu").could_not_be_judged());
  CHECK(judge(*run, "norm grows 2x in 3 calls type:Relu").could_not_be_judged());
  CHECK(judge(*run, "count=0 max>1").hits.empty());
  CHECK_FALSE(judge(*run, "max>6e4 type:Softmax").could_not_be_judged());  // it is about nothing
  // One that is decided by what is on record is judged.
  CHECK(verdict(*run, "(zero>95% or max<0) type:Relu -type:Grad") == Verdict{1, 5});
  CHECK(judge(*run, "(zero>95% or max<0) type:Relu -type:Grad").unjudged == 3);
  const Recorded curt(train, [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::curt_health; });
  CHECK(judge(*curt, "zero>95% type:Relu").could_not_be_judged());
  CHECK(judge(*curt, "nan=0 type:Relu").could_not_be_judged());
  CHECK(verdict(*curt, "bad") == never);
}

TEST_CASE("of full tensors every number is known") {
  const Recorded run(train, [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::full_tensor; });
  CHECK(verdict(*run, "max>100 type:ReluGrad") == Verdict{1, 1});
  CHECK(verdict(*run, "norm>128 type:ReluGrad") == Verdict{1, 1});
  CHECK(verdict(*run, "norm>128.1 type:ReluGrad") == never);
  CHECK(verdict(*run, "zero>95% type:Relu -type:Grad for 5 calls") == Verdict{1, 1});
}

TEST_CASE("statistics are those of finite elements") {
  const float inf = std::numeric_limits<float>::infinity();
  const Recorded run(
      [&] {
        nanlens::op("Some", Vector{NAN, 3, -4, inf});
        nanlens::op("None", Vector{NAN, inf});
        nanlens::op("Zero", Vector{0, 0});
        nanlens::op("Whole", std::vector<int>{1, 2});
      },
      with_statistics);
  CHECK(verdict(*run, "norm=5 type:Some") == Verdict{1, 1});
  CHECK(verdict(*run, "max=3 min=-4 type:Some") == Verdict{1, 1});
  CHECK(verdict(*run, "(max>0 or max<=0 or max!=5) type:None") == never);
  CHECK(verdict(*run, "norm=0 type:Zero") == Verdict{1, 1});
  CHECK(judge(*run, "max>0 type:Whole").could_not_be_judged());
}

TEST_CASE("calls of which a condition does not hold end a streak, however it is written") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Recorded run(
      [&] {
        for (int call = 0; call < 5; ++call)
          nanlens::op("X", call == 2 ? Vector{1, 2, 3, 4} : call < 2 ? Vector{0, 0, 0, 0} : Vector{0, 0, 0, nan});
        for (const Vector& y : {Vector{1, 0}, Vector{nan, 5}, Vector{12, 0}, Vector{nan, nan}, Vector{130, 0}})
          nanlens::op("Y", y);
      },
      with_statistics);
  CHECK(verdict(*run, "(zero>2 or zero>3) type:X") == Verdict{1, 4});
  for (const char* const conditions : {"zero>2", "(zero>2 or zero>3)", "not zero<3", "(zero>2 or bad)", "-max>3"})
    CHECK_MESSAGE(verdict(*run, conditions + std::string(" type:X for 3 calls")) == never, conditions);
  CHECK(verdict(*run, "(zero>2 or zero>3) type:X for 2 calls") == Verdict{1, 2});
  CHECK(verdict(*run, "ok type:X for 3 calls") == Verdict{1, 1});
  CHECK(verdict(*run, "(exec:0..1 or exec:3..4) type:X for 3 calls") == never);
  CHECK(verdict(*run, "constant type:X for 2 calls") == Verdict{1, 1});
  CHECK(verdict(*run, "absmax grows 10x in 1 call ok type:Y") == never);  // the one before is bad, and has its 5
  CHECK(verdict(*run, "absmax grows 2x in 1 call ok type:Y") == Verdict{1, 1});
  CHECK(verdict(*run, "absmax grows 10x in 2 calls type:Y") == Verdict{1, 2});  // 12 and 130, each two calls later
  CHECK(verdict(*run, "absmax grows 10x in 1 call type:Y") == never);
  // All five are seen, and judged; of what asks for bad ones those are judged.
  CHECK(judge(*run, "(zero>20 or pos>20) type:X").rows == 5);
  CHECK(judge(*run, "constant type:X").rows == 5);
  CHECK(judge(*run, "bad type:X ninf>0").seen == 5);
  CHECK(judge(*run, "bad type:X ninf>0").rows == 2);
  CHECK(judge(*run, "(type:X zero>20 or type:Z pos>20)").seen == 5);
  CHECK(judge(*run, "(type:Z zero>20) or (type:U bad)").seen == 0);
}

TEST_CASE("shares are exact, and an empty tensor has none") {
  const Recorded run([] {
    const auto with = [](float first, std::size_t n, std::size_t all) {
      Vector x(all, 1);
      for (std::size_t i = 0; i < n; ++i) x[i] = first;
      return x;
    };
    nanlens::op("A", with(-1, 243, 500));
    nanlens::op("B", with(0, 29, 100));
    nanlens::op("C", with(0, 33, 3000));
    nanlens::op("None", Vector{});
  });
  const Verdict once{1, 1};
  CHECK(verdict(*run, "neg>=48.6% type:A") == once);
  CHECK(verdict(*run, "neg=48.6% type:A") == once);
  CHECK(verdict(*run, "neg>48.6% type:A") == never);
  CHECK(verdict(*run, "zero>29% type:B") == never);
  CHECK(verdict(*run, "zero>28.9% type:B") == once);
  CHECK(verdict(*run, "zero:29%..30% type:B") == once);
  CHECK(verdict(*run, "zero:0..29% type:B") == once);
  CHECK(verdict(*run, "zero>=1.1% type:C") == once);
  CHECK(verdict(*run, "(zero=100% or zero>=95% or zero<=5%) type:None") == never);
  CHECK(verdict(*run, "zero=0 type:None") == once);
}

TEST_CASE("a total holds if it does with any number of rows that could not be judged") {
  const Recorded run([] {
    nanlens::op("Some", Vector{1, 2});
    for (int i = 0; i < 6; ++i) nanlens::op("Whole", std::vector<int>{1, 2});
  });
  const auto open = judge(*run, "count<5 zero>99");
  CHECK(open.rows == 1);
  CHECK(open.unjudged == 6);
  CHECK(open.could_not_be_judged());
  CHECK(open.hits.empty());
  CHECK(query::why_not_judged(rule_of("few: count<5 zero>99"), open) ==
        "rule \"few\" could not be judged: no recording of zero (record with FULL_HEALTH)");
  CHECK(judge(*run, "count=3 zero>99").could_not_be_judged());
  CHECK(judge(*run, "count!=3 zero>99").could_not_be_judged());
  CHECK(judge(*run, "count>0 zero>99").could_not_be_judged());
  CHECK(judge(*run, "count<9 zero>99 for 2 calls").could_not_be_judged());  // one may complete a streak
  CHECK(verdict(*run, "count<7 zero>99") == Verdict{1, 0});
  CHECK(verdict(*run, "count=7 zero>99") == never);
  CHECK(verdict(*run, "count!=7 zero>99") == Verdict{1, 0});
  CHECK(verdict(*run, "count<5 zero>99 type:Some") == Verdict{1, 0});
}

TEST_CASE("constant is what equals itself, as far as the record tells") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto record = [&](TensorDebugMode mode, bool statistics) {
    return std::make_unique<Recorded>(
        [&] {
          nanlens::op("Ones", Vector{1, 1});
          nanlens::op("Nan", Vector{1, 1, NAN});
          nanlens::op("Inf", Vector{inf, inf});
          nanlens::op("Two", Vector{1, inf});
          nanlens::op("Range", Vector{1, 2});
        },
        [&](DumpOptions& o) {
          o.tensor_debug_mode = mode;
          o.statistics = statistics;
        });
  };
  const auto concise = record(TensorDebugMode::concise_health, true);
  CHECK(verdict(**concise, "constant") == Verdict{2, 2});
  CHECK(verdict(**concise, "constant (type:Nan or type:Two)") == never);
  const auto full = record(TensorDebugMode::full_health, false);
  CHECK(verdict(**full, "constant type:Inf") == Verdict{1, 1});
  CHECK(judge(**full, "constant type:Range").could_not_be_judged());
  const auto shape = record(TensorDebugMode::shape, true);
  CHECK(judge(**shape, "constant type:Ones").could_not_be_judged());
  CHECK(judge(**shape, "constant type:Nan").could_not_be_judged());
  CHECK(verdict(**shape, "constant type:Range") == never);
}

TEST_CASE("what is not on record is unknown of words, too") {
  const Recorded shape(train, [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::shape; });
  for (const char* const conditions : {"bad type:Relu", "ok type:Relu", "-bad type:Relu"})
    CHECK_MESSAGE(judge(*shape, conditions).could_not_be_judged(), conditions);
  CHECK(query::why_not_judged(rule_of("b: bad"), judge(*shape, "bad")) ==
        "rule \"b\" could not be judged: no recording of bad (record with FULL_HEALTH)");
  CHECK(verdict(*shape, "dtype:float32 type:Apply") == Verdict{1, 8});
  const Recorded whole([] { nanlens::op("Whole", std::vector<int>{1, 2}); },
                       [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::shape; });
  CHECK(verdict(*whole, "bad") == never);  // an integer is no NaN
  reader::Logdir logdir(std::string(NANLENS_GOLDEN_DIR) + "/core.CURT_HEALTH");
  logdir.update();
  reader::Run& curt = *logdir.runs().at(0);
  for (const char* const conditions : {"bad -dtype:float32", "bad dtype:float32"}) {
    const auto judgement = judge(curt, conditions);
    CHECK_MESSAGE(judgement.could_not_be_judged(), conditions);
    CHECK_MESSAGE(judgement.hits.empty(), conditions);
    CHECK(query::why_not_judged(rule_of("d: bad dtype:float32"), judgement) ==
          "rule \"d\" could not be judged: no recording of dtype (record with FULL_HEALTH)");
  }
  CHECK(verdict(curt, "bad dtype:float") == verdict(curt, "bad"));  // what has health is of one
  CHECK(verdict(curt, "bad -dtype:int") == verdict(curt, "bad"));
}

TEST_CASE("recordings of real TensorFlow") {
  reader::Logdir logdir(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  logdir.update();
  reader::Run& run = *logdir.runs().at(0);
  // control() takes the logarithm of [[0, 1], [2, 3]] times 0, 1 and -1; inner() that of a variable with one 0.
  CHECK(verdict(run, "ninf>0 type:Log graph:control") == Verdict{1, 3});
  CHECK(verdict(run, "ninf=100% type:Log graph:control") == Verdict{1, 1});
  CHECK(verdict(run, "nan>=75% type:Log graph:control") == Verdict{1, 1});
  CHECK(verdict(run, "nan>75% type:Log graph:control") == never);
  CHECK(verdict(run, "ninf>0 type:Log graph:control for 3 calls") == Verdict{1, 1});
  CHECK(verdict(run, "ninf>0 type:Log graph:control for 4 calls") == never);
  CHECK(verdict(run, "count=3 type:Log graph:control") == Verdict{1, 3});
  CHECK(verdict(run, "count=0 type:MatMul") == Verdict{1, 0});
  CHECK(verdict(run, "ninf>0 type:Log eager") == Verdict{1, 1});
  CHECK(verdict(run, "zero>=33% dtype:float16 type:Cast eager") == Verdict{1, 2});  // of float16 and of bfloat16
  CHECK(verdict(run, "zero>=33% dtype:float16 -dtype:bfloat16 type:Cast eager") == Verdict{1, 1});
  CHECK(judge(run, "max>6e4").could_not_be_judged());
  reader::Logdir curt(std::string(NANLENS_GOLDEN_DIR) + "/core.CURT_HEALTH");
  curt.update();
  CHECK(judge(*curt.runs().at(0), "ninf>0 type:Log").could_not_be_judged());
  CHECK(verdict(*curt.runs().at(0), "bad type:Log graph:control") == Verdict{1, 3});
  reader::Logdir session(std::string(NANLENS_GOLDEN_DIR) + "/session.FULL_HEALTH");
  session.update();
  CHECK(verdict(*session.runs().at(0), "nan>0 type:Log") == Verdict{1, 1});
  CHECK(verdict(*session.runs().at(0), "nan>0 type:Log for 2 calls") == never);
}
