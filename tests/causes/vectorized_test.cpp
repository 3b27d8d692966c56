// A loop that TensorFlow vectorised (tf.vectorized_map, jacobians), of whose ops it writes few rows.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include <nanlens/reader/reader.hpp>

#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;
using test::WhyAnswer;

namespace {

// Of each x: the sum of exp(x) / exp(x), and more in `rest`. `first`: is what the loop's own division gave bad?
WhyAnswer vectorized(bool first, const std::function<void(LogdirWriter&)>& rest) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "Const", "loop_body/PlaceholderWithDefault/input");
  w.op("g", "PlaceholderWithDefault", "loop_body/PlaceholderWithDefault", {"loop_body/PlaceholderWithDefault/input:0"});
  w.op("g", "GatherV2", "loop_body/GatherV2", {"x:0", "loop_body/PlaceholderWithDefault:0"});
  w.op("g", "Exp", "loop_body/Exp", {"loop_body/GatherV2:0"});
  w.op("g", "RealDiv", "loop_body/truediv", {"loop_body/Exp:0", "loop_body/Exp:0"});
  w.op("g", "Sum", "loop_body/Sum", {"loop_body/truediv:0"});
  w.op("g", "Neg", "loop_body/Neg", {"loop_body/Sum:0"});
  w.execution("Abs", {1}, {2}, false);
  w.row("g", "x", false);
  w.row("g", "loop_body/Exp", {0, 0, first ? 3.0 : 0.0, first ? 97.0 : 100.0});
  w.row("g", "loop_body/truediv", {first ? 3.0 : 0.0, 0, 0, first ? 97.0 : 100.0});
  rest(w);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  return test::ask(*logdir.runs().at(0));
}

void sum_up_and_negate(LogdirWriter& w) {
  w.op("g", "Sum", "loop_body/Sum/pfor/Sum", {"loop_body/truediv/pfor/RealDiv:0"});
  w.op("g", "Mul", "norm", {"loop_body/Neg/pfor/Neg:0", "loop_body/Neg/pfor/Neg:0"});
  w.row("g", "loop_body/Sum/pfor/Sum", true);
  w.row("g", "norm", true);
  w.execution("__inference_step_1", {2}, {3}, false);
}

}  // namespace

TEST_CASE("an op of a vectorised loop that has no row is named, with the op of the loop, and its result is followed") {
  const WhyAnswer a = vectorized(false, sum_up_and_negate);
  CHECK(a.id == "data");
  CHECK(a.op_type == "RealDiv");
  CHECK(a.text.find("loop_body/truediv/pfor/RealDiv of Sum came in bad") != a.text.npos);
  CHECK(a.text.find("has no row") != a.text.npos);
  CHECK(a.causes == 1);
  CHECK(a.reach == 2);
}

TEST_CASE("what the first round of a vectorised loop made is made in all of them taken together") {
  const WhyAnswer a = vectorized(true, sum_up_and_negate);
  CHECK(a.id == "div00");
  CHECK(a.causes == 1);
  CHECK(a.reach == 3);
}

TEST_CASE("of two ops of a vectorised loop without rows either may have been bad") {
  const WhyAnswer a = vectorized(false, [](LogdirWriter& w) {
    w.op("g", "AddN", "loop_body/AddN/pfor/AddN", {"loop_body/truediv/pfor/RealDiv:0", "loop_body/Exp/pfor/Exp:0"});
    w.row("g", "loop_body/AddN/pfor/AddN", true);
    w.execution("__inference_step_1", {2}, {3}, false);
  });
  CHECK(a.id == "data");
  CHECK(a.text.find("Perhaps") == 0);
}

TEST_CASE("what hands on the result of an op without a row has one itself: that op is named") {
  const WhyAnswer a = vectorized(false, [](LogdirWriter& w) {
    w.op("g", "Identity", "handed on", {"loop_body/truediv/pfor/RealDiv:0"});
    w.op("g", "Neg", "negated", {"handed on:0"});
    w.row("g", "handed on", true);
    w.execution("__inference_step_1", {2}, {3}, false);
  });
  CHECK(a.text.find("loop_body/truediv/pfor/RealDiv came in bad") != a.text.npos);
}

TEST_CASE("what hands on the result of an op whose row is lost has one itself, too") {
  const WhyAnswer a = vectorized(false, [](LogdirWriter& w) {
    w.op("g", "Tanh", "tanh", {"x:0"});
    w.op("g", "Identity", "handed on", {"tanh:0"});
    w.op("g", "Neg", "negated", {"handed on:0"});
    w.row("g", "tanh", false);
    w.row("g", "handed on", false);
    w.execution("__inference_step_1", {2}, {3}, false);
    w.row("g", "x", false);
    w.row("g", "handed on", true);
    w.execution("__inference_step_1", {2}, {4}, false);
  });
  CHECK(a.text.find("tanh of Identity came in bad: made outside the record (its op has no row") != a.text.npos);
}

TEST_CASE("a function that returns what has no row: that is named") {
  const WhyAnswer a = vectorized(false, [](LogdirWriter& w) {
    w.op("g", "Identity", "Identity", {"loop_body/truediv/pfor/RealDiv:0"});
    w.op("g", "NoOp", "NoOp", {}, 0);
    w.execution("__inference_step_1", {2}, {3}, true);
  });
  CHECK(a.id == "data");
  CHECK(a.op_type == "RealDiv");
  CHECK(a.text.find("loop_body/truediv/pfor/RealDiv came in bad") != a.text.npos);
}
