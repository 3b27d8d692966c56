// What TensorFlow's input pipelines are given: no call of theirs is on record.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include <nanlens/reader/reader.hpp>

#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;

namespace {

// What is said of the argument of a pipeline's function, which has two ops, and was made after another.
std::string said_of_argument(const std::function<void(LogdirWriter&)>& write) {
  LogdirWriter w;
  w.graph("before", "Dataset_map_before", "root");
  w.op("before", "Log", "log");
  w.graph("g", "Dataset_map", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "Neg", "neg", {"x:0"});
  w.execution("RangeDataset", {}, {1}, false);
  write(w);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  causes::Causes causes(*logdir.runs().at(0));
  test::finish(causes, 3);
  causes::SentenceWriter writer(causes);
  for (std::uint32_t root = 0; root < causes.roots().size(); ++root)
    if (const auto s = writer.sentence(root); s.op_type == "Placeholder") return s.text;
  return "nothing";
}

}  // namespace

TEST_CASE("what was bad before all else came in for certain") {
  const std::string sure = "x came in bad: made outside the record (the runtime calls this function by itself).";
  CHECK(said_of_argument([](LogdirWriter& w) {
          w.row("g", "x", true);
          w.row("g", "neg", true);
        }) == sure);
  // Rows of one run of a function come in any order.
  CHECK(said_of_argument([](LogdirWriter& w) {
          w.row("g", "neg", true);
          w.row("g", "x", true);
        }) == sure);
}

TEST_CASE("what was bad before may have made it") {
  const std::string perhaps = "Perhaps: x came in bad";
  CHECK(said_of_argument([](LogdirWriter& w) {
          w.execution("Log", {7}, {8}, true);
          w.row("g", "x", true);
          w.row("g", "neg", true);
        }).starts_with(perhaps));
  // TensorFlow leaves out the first rows of such functions at times.
  CHECK(said_of_argument([](LogdirWriter& w) {
          w.row("g", "x", true);
          w.row("before", "log", false);
        }).starts_with(perhaps));
}

TEST_CASE("a pipeline inside a function: what one of its functions gives comes in at the next, and is what remains") {
  LogdirWriter w;
  w.graph("s", "steps", "root");
  w.op("s", "Placeholder", "rows");
  w.op("s", "MapDataset", "MapDataset", {"rows:0"});
  w.op("s", "ReduceDataset", "ReduceDataset", {"MapDataset:0"});
  w.graph("m", "Dataset_map", "s");
  w.op("m", "Placeholder", "args_0");
  w.op("m", "Log", "log", {"args_0:0"});
  w.graph("r", "reduce_body", "s");
  w.op("r", "Placeholder", "args_0");
  w.op("r", "Placeholder", "args_1");
  w.op("r", "AddV2", "add", {"args_0:0", "args_1:0"});
  w.row("m", "args_0", false);
  w.row("m", "log", true);
  w.row("r", "args_0", false);
  w.row("r", "args_1", true);
  w.row("r", "add", true);
  w.row("r", "args_0", true);  // the sum so far
  w.row("r", "args_1", false);
  w.row("r", "add", true);
  w.row("s", "ReduceDataset", true);
  w.execution("__inference_steps_1", {1}, {2}, true);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  const test::WhyAnswer a = test::ask(*logdir.runs().at(0));
  CHECK(a.op_type == "Log");
  CHECK(a.causes == 1);
  CHECK(a.reach == a.total);
}

TEST_CASE("what Python code gives was made outside the record") {
  LogdirWriter w;
  w.execution("EagerPyFunc", {1}, {2}, true);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  const test::WhyAnswer a = test::ask(*logdir.runs().at(0));
  CHECK(a.id == "data");
  CHECK(a.text.ends_with("EagerPyFunc came in bad: made outside the record."));
}
