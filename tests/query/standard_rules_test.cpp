// Each rule that ships holds of a program that does what it is about, and of none that does not.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/standard_rules.hpp>

#include "../capture/recorded.hpp"

namespace query = nanlens::query;
using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;
using Names = std::set<std::string>;

namespace {

std::vector<query::Rule> standard() {
  std::vector<query::Rule> rules;
  const auto fault = query::parse_rules(query::standard_rules, rules);
  INFO((fault ? query::marked(fault->text, fault->error) + "\n" + query::words(fault->error) : ""));
  REQUIRE_FALSE(fault.has_value());
  return rules;
}

// The names of those that hold.
template <class Body>
Names holding(const Body& body, bool statistics = true) {
  const Recorded run(body, [&](DumpOptions& options) { options.statistics = statistics; });
  Names names;
  query::Surroundings nobody;
  for (const query::Rule& rule : standard())
    if (!query::Judge(*run, rule, nobody).judge().hits.empty()) names.insert(rule.name);
  return names;
}

// So many calls of an op, whose values come from the number of the call.
template <class Values>
auto calls(const char* type, int times, const Values& values) {
  return [=] {
    for (int i = 0; i < times; ++i) nanlens::op(type, values(static_cast<float>(i)));
  };
}
Names of(const std::string& name) { return {name}; }
const Names none;

// Values of two signs, each another.
Vector ordinary(float i) { return {0.5F + i, -0.25F, 0.125F, 1 + i, 0.3F}; }

}  // namespace

TEST_CASE("the rules that ship: a name, a level below error, a reason") {
  const auto rules = standard();
  CHECK(rules.size() == 11);
  for (const query::Rule& rule : rules) {
    CHECK_MESSAGE(rule.level != query::Level::error, rule.name);
    CHECK_MESSAGE(!rule.reason.empty(), rule.name);
  }
}

TEST_CASE("dead ReLU") {
  const auto dead = [](float) { return Vector(100, 0.0F); };
  CHECK(holding(calls("Relu", 5, dead), false) == of("dead relu"));
  CHECK(holding(calls("aten::relu", 5, dead), false) == of("dead relu"));
  CHECK(holding(calls("Relu", 4, dead), false) == none);
  CHECK(holding(calls("LeakyRelu", 5, dead), false) == none);
  const auto alive = [](float i) {
    Vector y(100, 0.0F);
    for (std::size_t k = 0; k < 5; ++k) y[k] = 1 + i;
    return y;
  };
  CHECK(holding(calls("Relu", 9, alive), false) == none);
}

TEST_CASE("exploding and vanishing gradients") {
  const auto grows = [](float i) { return Vector{std::pow(2.0F, i), -1, 0.5F}; };
  CHECK(holding(calls("MatMulGrad", 10, grows)) == of("exploding gradient"));
  CHECK(holding(calls("MatMulGrad", 6, grows)) == none);  // by 32
  CHECK(holding(calls("Exp", 10, grows)) == none);        // no gradient
  const auto settles = [](float i) { return Vector{0.001F * std::pow(2.0F, i), -0.001F, 0}; };
  CHECK(holding(calls("MatMulGrad", 9, settles)) == none);  // by 256, to 0.256
  const auto tiny = [](float i) { return Vector{1e-9F * (1 + i), -1e-9F, 1e-10F}; };
  CHECK(holding(calls("MatMulGrad", 5, tiny)) == of("vanishing gradient"));
  CHECK(holding(calls("MatMulGrad", 4, tiny)) == none);
  const auto zero = [](float) { return Vector{0, 0, 0}; };
  CHECK(holding(calls("MatMulGrad", 5, zero), false) == of("vanishing gradient"));  // without statistics, too
  CHECK(holding(calls("MatMulGrad", 9, ordinary)) == none);
}

TEST_CASE("float16 near overflow") {
  // As bits: 0x7800 is 32768, 0x77ff is 32752, 0x3c00 is 1.
  const auto halves = [](std::uint16_t bits, DType dtype) {
    return [=] {
      const std::vector<std::uint16_t> x{bits, 0x3c00};
      TensorView view;
      view.data = x.data();
      view.dtype = dtype;
      view.shape = {2};
      nanlens::op("MatMul", view);
    };
  };
  CHECK(holding(halves(0x7800, DType::float16)) == of("float16 near overflow"));
  CHECK(holding(halves(0xf800, DType::float16)) == of("float16 near overflow"));  // negative
  CHECK(holding(halves(0x77ff, DType::float16)) == none);
  CHECK(holding(halves(0x7800, DType::bfloat16)) == none);  // 1e34 is nothing to a bfloat16
  CHECK(holding(halves(0x03ff, DType::float16)) == of("float16 denormals"));
  CHECK(holding(halves(0x0400, DType::float16)) == none);  // the least normal one
}

TEST_CASE("denormals") {
  CHECK(holding(calls("Exp", 1, [](float) { return Vector{1, 1e-40F, 2}; })) == of("denormals"));
  CHECK(holding(calls("Mul", 1, [](float) { return Vector{-1, -1e-40F}; })) == of("denormals"));
  CHECK(holding(calls("Mul", 1, [](float) { return Vector{-1e-40F, 0, 1e-41F}; })) == of("denormals"));
  CHECK(holding(calls("Mul", 1, [](float) { return Vector{1.1754944e-38F, 1}; })) == none);  // the least normal one
  CHECK(holding(calls("Mul", 1, [](float) { return Vector{0, 0}; })) == none);
}

TEST_CASE("saturated softmax and sigmoid") {
  const auto one_hot = [](float) { return Vector{0, 0, 1, 0}; };
  CHECK(holding(calls("Softmax", 5, one_hot), false) == of("saturated softmax"));
  CHECK(holding(calls("Softmax", 4, one_hot), false) == none);
  CHECK(holding(calls("LogSoftmax", 5, one_hot), false) == none);
  CHECK(holding(calls("Softmax", 5, [](float i) { return Vector{0.1F, 0.2F, 0.7F - i / 100, 0}; }), false) == none);
  CHECK(holding(calls("Sigmoid", 5, [](float i) { return Vector{0.9995F, 1, 0.9999F - i / 1e5F}; })) ==
        of("saturated sigmoid"));
  CHECK(holding(calls("Sigmoid", 5, [](float i) { return Vector{1e-5F, 2e-5F, 1e-6F * i + 1e-6F}; })) ==
        of("saturated sigmoid"));
  CHECK(holding(calls("Sigmoid", 5, [](float) { return Vector{0.999F, 0.5F, 0.001F}; })) == none);
}

TEST_CASE("constant tensors") {
  CHECK(holding(calls("MatMul", 5, [](float i) { return Vector{i, i, i}; })) == of("constant tensor"));
  CHECK(holding(calls("MatMul", 5, [](float) { return Vector{0, 0, 0}; }), false) == of("constant tensor"));
  CHECK(holding(calls("MatMul", 5, [](float i) { return Vector{i}; })) == none);
  CHECK(holding(calls("Fill", 5, [](float i) { return Vector{i, i}; })) == none);
  CHECK(holding(calls("MatMul", 5, ordinary)) == none);
}

TEST_CASE("loss jumps") {
  const auto losses = [](const char* name, const Vector& values) {
    return [=] {
      for (const float value : values) {
        Function f(name);
        f.result(f.op("Mean", nanlens::tensor(value)));
      }
    };
  };
  CHECK(holding(losses("loss", {2, 1.5F, 1, 12})) == of("loss jump"));
  CHECK(holding(losses("loss", {2, 1.5F, 1, 9})) == none);
  CHECK(holding(losses("loss", {1e-4F, 1e-2F})) == none);  // still next to nothing
  CHECK(holding(losses("accuracy", {2, 1.5F, 1, 12})) == none);
}

TEST_CASE("zero variance in batch norm") {
  const auto batch_norm = [](const char* type, const Vector& third) {
    return [=] {
      const Vector y{0.5F, -0.5F};
      const Vector mean{1, 2};
      nanlens::OpScope scope(type, nanlens::inputs(y));
      scope.finish(nanlens::outputs(y, mean, third));
    };
  };
  CHECK(holding(batch_norm("FusedBatchNormV3", {0, 1})) == of("zero variance in batch norm"));
  CHECK(holding(batch_norm("FusedBatchNormV3", {0.5F, 1})) == none);
  CHECK(holding(batch_norm("FusedBatchNormGradV3", {0, 1})) == none);
  CHECK(holding(batch_norm("aten::native_batch_norm", {316.2278F, 1})) == of("zero variance in batch norm"));
  CHECK(holding(batch_norm("aten::native_batch_norm", {2, 1})) == none);
}
