// Data that came as a constant, as TensorFlow records it: no execution made it, and several ops take it.
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

constexpr std::int64_t data = 1;  // ids of tensors that no execution made
constexpr std::int64_t labels = 2;

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
    w.execution("Log", {data}, {11}, true);
    w.execution("MyOp", {data}, {12}, true);
    w.execution("Tanh", {data}, {13}, true);
    w.execution("Neg", {13}, {14}, true);
  });
  CHECK(a.id == "data");
  CHECK(a.op_type == "Log");  // the first that took it
  CHECK(a.causes == 1);
  CHECK(a.reach == 4);
  CHECK(a.text.find("came in bad") != a.text.npos);
}

TEST_CASE("an op alone that may have made it is said to have, probably") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.execution("Log", {data}, {11}, true);
    w.execution("Tanh", {labels}, {12}, true);
  });
  CHECK(a.causes == 2);
  CHECK(a.op_type == "Log");
  CHECK(a.text.find("made NaN") != a.text.npos);
}

TEST_CASE("what can't be told of one tensor can't be told once") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.execution("MyOp", {data}, {11}, true);
    w.execution("OtherOp", {data}, {12}, true);
    w.execution("MyOp", {labels}, {13}, true);
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
      w.execution("Tanh", {data}, {11}, false);
      w.op("g", "Log", "log", {"x:0"});
      w.row("g", "log", {nans_of_log, 40, 7, 53 - nans_of_log});
      w.row("g", "tanh", {3, 40, 7, 50});
      w.execution("__inference_step_1", {data}, {12}, false);
    });
  };
  CHECK(in_function(3).causes == 1);
  CHECK(in_function(3).id == "data");
  CHECK(in_function(5).causes == 2);
  CHECK(in_function(5).op_type == "Log");
  CHECK(in_function(5).text.find("made NaN") != std::string::npos);
}

TEST_CASE("a cast to the widest type can't have gone beyond it") {
  const WhyAnswer a = answer([](LogdirWriter& w) { w.execution("Cast", {data}, {11}, true, DType::float64); });
  CHECK(a.id == "data");
  const WhyAnswer narrower = answer([](LogdirWriter& w) { w.execution("Cast", {data}, {11}, true); });
  CHECK(narrower.id != "data");
}

TEST_CASE("what an op before shows to be clean was clean wherever it went in") {
  const auto divided = [](const std::string& first, bool after) {
    return answer([&](LogdirWriter& w) {
      if (!after) w.execution(first, {data}, {11}, false);
      w.execution("Sqrt", {labels}, {12}, false);
      w.execution("RealDiv", {data, 12}, {13}, true);
      if (after) w.execution(first, {data}, {11}, false);
    });
  };
  CHECK(divided("Abs", false).op_type == "RealDiv");
  CHECK(divided("Abs", false).text.find("robably") == std::string::npos);
  CHECK(divided("Tanh", false).text.find("robably") != std::string::npos);  // of ∞ it makes 1
  CHECK(divided("Abs", true).text.find("robably") != std::string::npos);    // a growing run has not seen it yet
}

TEST_CASE("an argument of a function, too, by the rows of the same call, in whatever order they come") {
  const auto divided = [](const std::string& first, bool before) {
    return answer([&](LogdirWriter& w) {
      w.graph("g", "step", "root");
      w.op("g", "Placeholder", "x");
      w.op("g", first, "first", {"x:0"});
      w.op("g", "Sum", "sum", {"first:0"});
      w.op("g", "RealDiv", "div", {"x:0", "sum:0"});
      if (before) w.row("g", "first", {0, 40, 7, 53});
      w.row("g", "sum", {0, 0, 10, 10});
      w.row("g", "div", {20, 40, 0, 40});
      if (!before) w.row("g", "first", {0, 40, 7, 53});
      w.execution("__inference_step_1", {data}, {12}, false);
    });
  };
  CHECK(divided("Neg", true).op_type == "RealDiv");
  CHECK(divided("Neg", true).text.find("robably") == std::string::npos);
  CHECK(divided("Neg", false).text.find("robably") == std::string::npos);
  CHECK(divided("StridedSlice", true).text.find("robably") != std::string::npos);  // a part of it
}

TEST_CASE("a tensor older than what was kept need be no constant, where a ring may have dropped what made it") {
  const auto root_of = [](std::int64_t input, int executions) {
    return answer([&](LogdirWriter& w) {
      w.execution("Sqrt", {input}, {1000}, true);
      for (int i = 1; i < executions; ++i) w.execution("Neg", {1010 + i}, {1011 + i}, false);
    });
  };
  CHECK(root_of(data, 100).id == "unknown");
  CHECK(root_of(data, 100).text.find("made before the first op that was kept") != std::string::npos);
  CHECK(root_of(1005, 100).id == "sqrtneg");  // made since, by what TensorFlow does not record
  CHECK(root_of(data, 101).id == "sqrtneg");
}

TEST_CASE("what a sum adds up is a float, and had rows, if none was kept") {
  const WhyAnswer a = answer([](LogdirWriter& w) {
    w.graph("g", "step", "root");
    w.op("g", "BiasAdd", "bias");
    w.op("g", "Max", "max", {"bias:0"});
    w.row("g", "max", {24, 0, 0, 0});
    w.execution("__inference_step_1", {data}, {11}, false);
  });
  CHECK(a.id == "unknown");
  CHECK(a.text.find("only an empty input") == std::string::npos);
}

TEST_CASE("of data that is not on record a few bad results are perhaps made, most are probably") {
  const auto logarithm = [](double nans) {
    return answer([&](LogdirWriter& w) {
      w.graph("g", "step", "root");
      w.op("g", "Placeholder", "x");
      w.op("g", "Log", "log", {"x:0"});
      w.row("g", "log", {nans, 10, 0, 90 - nans});
      w.execution("__inference_step_1", {data}, {11}, false);
    });
  };
  CHECK(logarithm(3).text.starts_with("Perhaps: "));
  CHECK(logarithm(60).text.starts_with("Probably: "));
}
