// Variables that a loop's body reads and writes in turn, as TensorFlow records it.
#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "../capture/recorded.hpp"
#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;
using test::WhyAnswer;

namespace {

constexpr std::int64_t fed_in = 1;
constexpr std::int64_t weight = 2;

WhyAnswer read_back(LogdirWriter& w) {
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  return test::ask(*logdir.runs().at(0));
}

// What an iteration read, and what it wrote after that.
struct Iteration {
  bool read;
  bool written;
};

// `write`: the type of the op that writes; `returns`: is the call on record?
WhyAnswer trained(const std::string& write, const std::vector<Iteration>& iterations, bool returns = true) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "Placeholder", "w");
  w.op("g", "While", "while", {"x:0", "w:0"}, 2);
  w.graph("body", "while_body_1", "g");
  w.op("body", "Placeholder", "x");
  w.op("body", "Placeholder", "read/resource");
  w.op("body", "ReadVariableOp", "read", {"read/resource:0"});
  w.op("body", "Log", "log", {"x:0"});
  w.op("body", write, "write", {"read/resource:0", "log:0"}, 0);
  w.execution("VarHandleOp", {}, {weight}, false);
  w.execution("Abs", {fed_in}, {10}, false);
  w.execution("AssignVariableOp", {weight, 10}, {}, false);
  for (const Iteration& iteration : iterations) {
    w.row("body", "x", false);
    w.row("body", "read", iteration.read);
    w.row("body", "log", iteration.written);
  }
  if (returns) w.execution("__inference_step_1", {fed_in, weight}, {11}, false);
  return read_back(w);
}

}  // namespace

TEST_CASE("what a loop's body read is what the iteration before had written") {
  for (const char* const write : {"AssignSubVariableOp", "AssignVariableOp"})
    for (const bool returns : {true, false}) {
      CAPTURE(write);
      CAPTURE(returns);
      const WhyAnswer a = trained(write, {{false, true}, {true, false}}, returns);
      CHECK(a.op_type == "Log");
      CHECK(a.causes == 1);
      CHECK(a.reach == 2);
    }
}

TEST_CASE("what was added to a variable stays till it is written anew") {
  const std::vector<Iteration> iterations = {{false, true}, {true, false}, {true, false}};
  CHECK(trained("AssignAddVariableOp", iterations).causes == 1);
  CHECK(trained("AssignVariableOp", iterations).causes == 2);
}

TEST_CASE("a variable whose last content on record was clean was changed by what is not on record") {
  const WhyAnswer a = trained("AssignVariableOp", {{false, false}, {true, false}});
  CHECK(a.op_type == "ReadVariableOp");
  CHECK(a.text.find("was changed last is not on record") != a.text.npos);
}

TEST_CASE("a variable that a call takes, writes, and gives: its rows read what the call before wrote") {
  const WhyAnswer answer = test::ask(*test::Recorded([] {
    std::vector<float> w{1, 2};
    variable(w);
    for (int k = 0; k < 4; ++k) {
      Function f("step", arg("w", w));
      const std::vector<float> gradient = f.op("Gradient", std::vector<float>(w), w);
      std::vector<float> log(gradient);
      if (k == 1) log[0] = std::numeric_limits<float>::quiet_NaN();
      log = f.op("Log", std::move(log), gradient);
      OpScope sgd("Sgd", inputs(w, log));
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= log[i];
      sgd.finish(outputs(w));
      f.result(w);
    }
  }));
  CHECK(answer.op_type == "Log");
  CHECK(answer.causes == 1);
  CHECK(answer.reach == answer.total);
}
