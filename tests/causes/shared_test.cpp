// Data that came as a constant, as TensorFlow records it: no execution made it, and several ops take it.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "../support/hostile_graphs.hpp"
#include "answers.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;
using test::WhyAnswer;

namespace {

constexpr std::int64_t data = 900;  // ids of tensors that no execution made
constexpr std::int64_t labels = 901;

// In how many parts the executions are read.
WhyAnswer answer(const std::function<void(LogdirWriter&)>& write, int parts = 1) {
  LogdirWriter w;
  write(w);
  auto owned = std::make_unique<reader::MemoryStorage>();
  reader::MemoryStorage& storage = *owned;
  reader::Logdir logdir(std::move(owned));
  std::unique_ptr<causes::Causes> live;
  const test::FileBytes files = w.take();
  std::map<logdir::FileKind, std::size_t> shown;
  for (int part = 1; part <= parts; ++part) {
    for (const auto& [kind, bytes] : files) {
      const bool whole = kind != logdir::FileKind::execution;
      const std::size_t end =
          whole ? bytes.size() : bytes.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
      storage.append(test::generated_name(kind), bytes.substr(shown[kind], end - shown[kind]));
      shown[kind] = end;
    }
    logdir.update();
    if (live != nullptr)
      live->run_has_grown();
    else
      live = std::make_unique<causes::Causes>(*logdir.runs().at(0));
    test::finish(*live, 3);
  }
  const WhyAnswer whole = test::ask(*logdir.runs().at(0));
  if (parts > 1) {
    causes::Causes at_once(*logdir.runs().at(0));
    test::finish(at_once, 3);
    CHECK(test::Answers(*live).list() == test::Answers(at_once).list());
  }
  return whole;
}

void take_it(LogdirWriter& w) {
  w.execution("Log", {data}, {1}, true);
  w.execution("MyOp", {data}, {2}, true);
  for (std::int64_t i = 0; i < 30; ++i) w.execution("Relu", {labels}, {10 + i}, false);
  w.execution("Tanh", {data}, {3}, true);
  w.execution("Neg", {3}, {4}, true);
}

}  // namespace

TEST_CASE("what several ops took has come in once, where one of them can only have passed it on") {
  const WhyAnswer a = answer(take_it);
  CHECK(a.id == "data");
  CHECK(a.op_type == "Log");  // the first that took it
  CHECK(a.causes == 1);
  CHECK(a.reach == 4);
  CHECK(a.text.find("came in bad") != a.text.npos);
}

TEST_CASE("a run that grows ends with the same answer") {
  for (const int parts : {2, 3, 7, 20}) CHECK(answer(take_it, parts).causes == 1);
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
