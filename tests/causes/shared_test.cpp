// Data that came as a constant, as TensorFlow records it: no execution made it, and several ops take it.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;
using test::WhyAnswer;

namespace {

constexpr std::int64_t data = 900;  // ids of tensors that no execution made
constexpr std::int64_t labels = 901;

WhyAnswer answer(const std::function<void(LogdirWriter&)>& write) {
  LogdirWriter w;
  write(w);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  return test::ask(*logdir.runs().at(0));
}

}  // namespace

TEST_CASE("what several ops took has come in once, where one of them can only have passed it on") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.execution("Log", {data}, {1}, true);
    w.execution("MyOp", {data}, {2}, true);
    w.execution("Tanh", {data}, {3}, true);
    w.execution("Neg", {3}, {4}, true);
  });
  CHECK(a.id == "data");
  CHECK(a.op_type == "Log");  // the first that took it
  CHECK(a.causes == 1);
  CHECK(a.reach == 4);
  CHECK(a.text.find("came in bad") != a.text.npos);
}

TEST_CASE("an op alone that may have made it is said to have, probably") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.execution("Log", {data}, {1}, true);
    w.execution("Tanh", {labels}, {2}, true);
  });
  CHECK(a.causes == 2);
  CHECK(a.op_type == "Log");
  CHECK(a.text.find("made NaN") != a.text.npos);
}

TEST_CASE("what can't be told of one tensor can't be told once") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.execution("MyOp", {data}, {1}, true);
    w.execution("OtherOp", {data}, {2}, true);
    w.execution("MyOp", {labels}, {3}, true);
  });
  CHECK(a.causes == 2);
  CHECK(a.id == "unknown");
  CHECK(a.reach == 2);
}

TEST_CASE("an op of a function shows what came in, and one with more of them has made its own") {
  const auto in_function = [](double nans_of_log) {
    return answer([&](LogdirWriter& w) {
      w.graph("g", "step", "root");
      w.op("g", "Placeholder", "x");
      w.op("g", "Tanh", "tanh", {"x:0"});
      w.execution("Log", {data}, {1}, false);
      w.op("g", "Log", "log", {"x:0"});
      w.row("g", "log", {nans_of_log, 40, 7, 53 - nans_of_log});
      w.row("g", "tanh", {3, 40, 7, 50});
      w.execution("__inference_step_1", {data}, {2}, false);
    });
  };
  CHECK(in_function(3).causes == 1);
  CHECK(in_function(3).id == "data");
  CHECK(in_function(5).causes == 2);
  CHECK(in_function(5).op_type == "Log");
  CHECK(in_function(5).text.find("made NaN") != std::string::npos);
}

TEST_CASE("a cast to the widest type can't have gone beyond it") {
  const WhyAnswer a = answer([](LogdirWriter& w) { w.execution("Cast", {data}, {1}, true, DType::float64); });
  CHECK(a.id == "data");
  const WhyAnswer narrower = answer([](LogdirWriter& w) { w.execution("Cast", {data}, {1}, true); });
  CHECK(narrower.id != "data");
}
