// Rows in an order that is not that of their making: of runs in several threads, and of an op behind its own gradient.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"

using namespace nanlens;
using test::LogdirWriter;

namespace {

using SignCounts = std::array<double, 4>;  // NaN, negative, zero, positive
constexpr SignCounts mixed = {0, 45, 0, 55};
constexpr SignCounts positive = {0, 0, 0, 100};
constexpr SignCounts zeros = {0, 0, 100, 0};
constexpr SignCounts nans = {100, 0, 0, 0};

struct Row {
  const char* op;
  SignCounts counts;
};

struct Story {
  std::vector<std::string> causes;  // the ops of the roots
  std::string id;
  std::uint64_t reach = 0;
  std::uint64_t total = 0;
};

Story ask(LogdirWriter& writer) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  const auto files = writer.take();
  for (const auto& [kind, bytes] : files) storage->put(logdir::file_name("tfdbg_events.1.host", kind), bytes);
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  causes::Causes causes(*logdir.runs().at(0));
  test::finish(causes, 100);
  Story story;
  for (const causes::Root& root : causes.roots())
    story.causes.emplace_back(causes.model().graphs().op_name(causes.run().trace_op(root.event.index)));
  story.total = causes.total();
  if (const auto headline = causes.headline()) {
    story.id = causes::SentenceWriter(causes).sentence(*headline).id;
    story.reach = causes.roots()[*headline].reach;
  }
  return story;
}

// What a parallel map standardises: x / spread, and the same in another shape.
Story standardised(const std::vector<Row>& rows) {
  LogdirWriter w;
  w.graph("map", "Dataset_map_standardise", "");
  w.op("map", "Placeholder", "x");
  w.op("map", "Sub", "centred", {"x:0", "x:0"});
  w.op("map", "Sqrt", "spread", {"centred:0"});
  w.op("map", "RealDiv", "truediv", {"centred:0", "spread:0"});
  w.op("map", "Reshape", "Reshape", {"truediv:0"});
  for (const Row& row : rows) w.row("map", row.op, row.counts);
  return ask(w);
}

}  // namespace

TEST_CASE("crossed runs of a parallel map: the division leads, by the zeros of its own run") {
  const Story story = standardised({{"x", positive},
                                    {"x", positive},
                                    {"centred", zeros},
                                    {"centred", mixed},
                                    {"spread", positive},
                                    {"spread", zeros},
                                    {"truediv", mixed},
                                    {"truediv", nans},
                                    {"Reshape", mixed},
                                    {"x", positive},
                                    {"centred", mixed},
                                    {"spread", positive},
                                    {"truediv", mixed},
                                    {"Reshape", mixed},
                                    {"Reshape", nans}});
  CHECK(story.causes == std::vector<std::string>{"truediv"});
  CHECK(story.id == "div00");
  CHECK(story.reach == 2);
  CHECK(story.total == 2);
}

TEST_CASE("runs one after the other are not crossed: what can't have come of its inputs is not given another's") {
  const Story story = standardised({{"x", positive},
                                    {"centred", mixed},
                                    {"spread", positive},
                                    {"truediv", nans},
                                    {"Reshape", mixed},
                                    {"x", positive},
                                    {"centred", mixed},
                                    {"spread", positive},
                                    {"truediv", mixed},
                                    {"Reshape", nans}});
  CHECK(story.causes == std::vector<std::string>{"truediv", "Reshape"});
  CHECK(story.id != "div00");
}

TEST_CASE("an op leads before its gradient, whichever row came first; each is its own cause elsewhere") {
  for (const char* const gradient : {"gradient_tape/Pow/Pow", "gradients/Pow_grad/Pow", "gradient_tape/Other/Pow"})
    for (const bool first : {false, true}) {
      CAPTURE(gradient);
      CAPTURE(first);
      LogdirWriter w;
      w.graph("g", "step", "root");
      w.op("g", "Placeholder", "x");
      w.op("g", "Pow", "Pow", {"x:0", "x:0"});
      w.op("g", "Pow", gradient, {"x:0", "x:0"});
      w.row("g", "x", mixed);
      if (first) w.row("g", gradient, {45, 0, 0, 55});
      w.row("g", "Pow", {45, 0, 0, 55});
      if (!first) w.row("g", gradient, {45, 0, 0, 55});
      w.execution("__inference_step_1", {}, {1}, false);
      const Story story = ask(w);
      const bool own = std::string(gradient).find("Other") == std::string::npos;
      CHECK(story.causes.size() == (own ? 1 : 2));
      if (own) CHECK(story.causes.at(0) == "Pow");
      CHECK(story.reach == (own ? 2 : 1));
    }
}

TEST_CASE("a list that is cut keeps the cause from which most follows") {
  std::vector<causes::CauseGroup> groups(6);
  const std::uint64_t reaches[] = {3, 1, 2, 9, 50, 7};
  std::vector<const causes::CauseGroup*> list;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].reach = reaches[i];
    list.push_back(&groups[i]);
  }
  const auto reaches_of = [&](std::size_t most) {
    std::vector<std::uint64_t> all;
    for (const auto* group : causes::shortened(list, most)) all.push_back(group->reach);
    return all;
  };
  CHECK(reaches_of(6) == std::vector<std::uint64_t>{3, 1, 2, 9, 50, 7});
  CHECK(reaches_of(3) == std::vector<std::uint64_t>{3, 1, 50});
  CHECK(reaches_of(1) == std::vector<std::uint64_t>{50});
  CHECK(reaches_of(0).size() == 6);
}
