// A run without graphs, as PyTorch's: what lies around an op, its place in the window, and where a session begins.
#include <doctest/doctest.h>

#include <string>

#include "../support/rank_on_paper.hpp"
#include "headless.hpp"

using nanlens::test::GrowingFiles;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::RankOnPaper;

namespace {

// 0: a mask that nothing reads; 1 Sub -> 2 Log, which is bad -> 3 Mul.
RankOnPaper program() {
  RankOnPaper p(0, 1.7e9, 1);
  p.mask();
  p.op("Sub", 0);
  p.op("Log", 3, "encoder.layer.0");
  p.op("Mul", 3);
  return p;
}

}  // namespace

TEST_CASE("what is bad first is selected, not a mask before it; around it is what made it and what takes it") {
  Headless v;
  program().store(v.memory["memory:eager"], "host");
  v.open("memory:eager");
  Json s = v.state();
  CHECK(s["focus"]["execution"] == 2);
  CHECK(s["graph_structure"]["op_type"] == "Log");
  CHECK(s["graph_structure"]["inputs"][0]["op_type"] == "Sub");
  CHECK(s["graph_structure"]["inputs"][0]["execution"] == 1);
  CHECK(s["graph_structure"]["consumers"][0][0]["execution"] == 3);
  CHECK(v.shows("pane:graph_structure"));
  CHECK(v.shows("tab:graph_executions"));
  CHECK_FALSE(v.shows("pane:graph_executions"));
  CHECK(v.rect("pane:graph_structure").h > v.rect("pane:timeline").h * 0.9f);
  v.click("op:consumer:0:0");
  CHECK(v.state()["focus"]["execution"] == 3);
  v.key("i");
  CHECK(v.state()["focus"]["execution"] == 2);
  v.key("i");
  CHECK(v.state()["focus"]["execution"] == 1);
  v.click("op:input:0", 0);  // which was not made on record
  CHECK(v.state()["focus"]["execution"] == 1);
  CHECK(v.state()["toasts"].back().get<std::string>().find("not made on record") != std::string::npos);
  v.key("o");
  CHECK(v.state()["focus"]["execution"] == 2);
  v.key("j");  // beyond the chain: to what took it
  CHECK(v.state()["focus"]["execution"] == 3);
}

TEST_CASE("who has chosen the mask keeps it while the analysis comes to its end; N leads past it") {
  Headless v;
  program().store(v.memory["memory:eager"], "host");
  v.open("memory:eager");
  v.command("focus_execution", {{"index", 0}});
  v.look_again();
  CHECK(v.state()["focus"]["execution"] == 0);
  v.key("n");
  CHECK(v.state()["focus"]["execution"] == 2);
}

TEST_CASE("the palette finds what ran eagerly by its type and by its name, and leads to the first bad one") {
  Headless v;
  program().store(v.memory["memory:eager"], "host");
  v.open("memory:eager");
  for (const char* const wanted : {"encoder.lay", "log"}) {
    CAPTURE(wanted);
    v.command("focus_execution", {{"index", 1}});
    v.key("Ctrl+p");
    v.type(wanted);
    v.pass(1);
    v.key("Enter");
    CHECK(v.state()["focus"]["execution"] == 2);
  }
}

TEST_CASE("a run that grows graphs gets its rows back") {
  Headless v;
  GrowingFiles& files = v.memory["memory:eager"];
  program().store(files, "host");
  v.open("memory:eager");
  CHECK_FALSE(v.shows("pane:graph_executions"));
  nanlens::test::GeneratorOptions options;
  options.calls = 3;
  options.run_id = "job";
  nanlens::test::LogdirGenerator(options, [&](nanlens::logdir::FileKind kind, const std::string& bytes) {
    files.append(nanlens::test::generated_name(kind, "host.rank1"), bytes);
  }).run();
  v.look_again();
  CHECK(v.state()["focus"]["execution"] == 2);
  CHECK(v.shows("pane:graph_executions"));
}
