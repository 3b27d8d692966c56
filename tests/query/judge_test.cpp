// Rules over recordings whose verdicts are known: of programs that record themselves here, and of real TensorFlow.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
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
