// A run without graphs, as PyTorch's: what lies around an op, its place in the window, and where a session begins.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

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

// Another process of the run, which runs graphs.
void add_graphs(GrowingFiles& files) {
  nanlens::test::GeneratorOptions options;
  options.calls = 3;
  options.run_id = "job";
  nanlens::test::LogdirGenerator(options, [&](nanlens::logdir::FileKind kind, const std::string& bytes) {
    files.append(nanlens::test::generated_name(kind, "host.rank1"), bytes);
  }).run();
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

TEST_CASE("three inputs fit side by side, narrower; of more than fit, each has its full width") {
  for (const int inputs : {2, 3, 7}) {
    CAPTURE(inputs);
    RankOnPaper p(0, 1.7e9, 1);
    std::vector<std::int64_t> outputs;
    for (int i = 1; i <= inputs; ++i) {
      p.op("Neg", 0);
      outputs.push_back(2 * i);  // each takes a tensor that is not on record
    }
    p.op_of("AddN", outputs, {.nan = 3});
    Headless v;
    p.store(v.memory["memory:wide"], "host");
    v.open("memory:wide");
    REQUIRE(v.state()["graph_structure"]["inputs"].size() == inputs);
    CHECK(v.shows("op:input:0") == (inputs <= 3));
    const auto card = v.rect("op:input:" + std::to_string(inputs / 2));
    CHECK(v.rect("op:input:" + std::to_string(inputs / 2 - 1)).right() < card.x);
    CHECK((card.w < 190) == (inputs == 3));
    if (inputs == 3) CHECK(v.rect("op:input:2").right() <= v.rect("pane:graph_structure").right());
  }
}

TEST_CASE("what a choice left out is not selected first, where another op that failed on the same zeros leads") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  p.op_of("Relu", {1}, {0, 0, 2});
  p.op_of("Log", {2}, {0, 2, 0});
  p.op_of("SelectV2", {1, 2, 3}, {0, 0, 2});
  p.op_of("Reciprocal", {2}, {0, 2, 0});
  p.op_of("Neg", {5}, {0, 2, 0});
  p.store(v.memory["memory:twins"], "host");
  v.open("memory:twins");
  CHECK(v.state()["focus"]["execution"] == 3);
  CHECK(v.app().overview.verdict.cause.consequence.find(", or from Log") != std::string::npos);
  v.command("filter", {{"query", "class:expected"}});
  CHECK(v.state()["graph_executions"]["shown"] == 1);
}

TEST_CASE("what came into a gradient is selected first, not what was only reported before; N leads to that") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  p.op_of("Relu", {1}, {0, 0, 2});
  p.op_of("Log", {2}, {0, 2, 0});
  for (int i = 0; i < 6; ++i) p.op_of("Abs", {2}, {0, 0, 2});
  p.op_of("RealDiv", {2, 2}, {2, 0, 0});  // 8
  p.op("Neg", 2, "NegBackward0");
  p.store(v.memory["memory:training"], "host");
  v.open("memory:training");
  CHECK(v.state()["focus"]["execution"] == 8);
  CHECK(v.app().overview.verdict.cause.op_type == "RealDiv");
  v.key("n");
  CHECK(v.state()["focus"]["execution"] == 1);
}

TEST_CASE("what the program trapped itself is no NaN, and yet what it is about") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  p.op("Sub", 0);
  p.trapped("divsd", "0/0");
  p.op("Mul", 0);
  p.store(v.memory["memory:trapped"], "host");
  v.open("memory:trapped");
  CHECK(v.state()["focus"]["execution"] == 1);
  CHECK(v.shows("verdict"));
  v.command("focus_execution", {{"index", 0}});
  CHECK(v.state()["focus"]["execution"] == 0);
  v.click("verdict");
  CHECK(v.state()["focus"]["execution"] == 1);
}

TEST_CASE("complex numbers raise no alert, and yet a run is not called clean where they are bad") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  p.op("Sub", 0);
  p.complex_op("FFT");
  p.op("Mul", 0);
  p.store(v.memory["memory:complex"], "host");
  v.open("memory:complex");
  CHECK(v.app().run().num_bad_complex == 1);
  v.command("focus_execution", {{"index", 0}});
  REQUIRE(v.shows("verdict"));
  v.click("verdict");
  CHECK(v.state()["focus"]["execution"] == 1);
}

TEST_CASE("of what the program trapped itself a mark leaves the rest, and has matched") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  for (const char* const what : {"0/0", "x/0"}) p.trapped("divsd", what);
  p.store(v.memory["memory:trapped"], "host");
  v.memory["memory:trapped"].append("nanlens.mutes", "op:x/0 -- tried on purpose\n");
  v.open("memory:trapped");
  CHECK(v.state()["focus"]["execution"] == 0);
  CHECK(v.app().overview.num_diagnostics == 0);
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
  add_graphs(files);
  v.look_again();
  CHECK(v.state()["focus"]["execution"] == 2);
  CHECK(v.shows("pane:graph_executions"));
}

TEST_CASE("executions as a list: filtered, sorted, walked through and selected like rows") {
  Headless v;
  program().store(v.memory["memory:eager"], "host");
  v.open("memory:eager");
  v.command("activate_pane", {{"pane", "graph_executions"}});
  Json list = v.state()["graph_executions"];
  CHECK(list["of_executions"] == true);
  CHECK(list["total"] == 4);
  CHECK(v.shows("pane:graph_executions"));
  REQUIRE(list["visible"].size() == 4);
  CHECK(list["visible"][2]["tensor"] == "encoder.layer.0:0");
  CHECK(list["visible"][2]["op_type"] == "Log");
  CHECK(list["visible"][2]["class"] == "made");
  CHECK(list["visible"][2]["roles"] == Json{"focused"});
  CHECK(list["visible"][1]["roles"] == Json{"input"});
  CHECK(list["visible"][3]["roles"] == Json{"consumer"});

  v.command("filter", {{"query", "type:log nan>0"}});
  list = v.state()["graph_executions"];
  CHECK(list["shown"] == 1);
  CHECK(list["visible"][0]["execution"] == 2);
  v.command("filter", {{"query", "input or consumer"}});
  CHECK(v.state()["graph_executions"]["shown"] == 2);
  v.command("clear_filter");
  v.command("only_bad", {{"on", true}});
  CHECK(v.state()["graph_executions"]["shown"] == 3);  // the mask, too
  v.command("only_bad", {{"on", false}});

  for (const auto& [column, first] : {std::pair("tensor", "Const:0"), std::pair("op", "Const:0"),
                                      std::pair("time", "Const:0"), std::pair("health", "Sub:0")}) {
    CAPTURE(column);
    v.command("sort", {{"column", column}, {"descending", false}});
    CHECK(v.state()["graph_executions"]["visible"][0]["tensor"] == first);
  }
  v.command("sort", {{"column", "op"}, {"descending", true}});
  CHECK(v.state()["graph_executions"]["visible"][0]["op_type"] == "Sub");
  v.command("sort", {{"column", "index"}, {"descending", false}});

  v.click("execution:1");
  CHECK(v.state()["focus"]["execution"] == 1);
  v.key("j");
  CHECK(v.state()["focus"]["execution"] == 2);
  v.key("End");
  CHECK(v.state()["focus"]["execution"] == 3);
  v.command("filter", {{"query", "bad"}});
  v.key("F3");
  CHECK(v.state()["focus"]["execution"] == 0);
  v.command("export", {{"what", "rows"}});
  REQUIRE(v.saved.size() == 1);
}

TEST_CASE("a list of executions that grows while it is filtered and sorted, and gives way to rows of graphs") {
  Headless v;
  GrowingFiles& files = v.memory["memory:eager"];
  RankOnPaper p = program();
  p.store(files, "host");
  v.open("memory:eager");
  v.command("activate_pane", {{"pane", "graph_executions"}});
  v.command("filter", {{"query", "bad"}});
  v.command("sort", {{"column", "op"}, {"descending", false}});
  const auto tensors = [&] {
    std::string all;
    const Json list = v.state()["graph_executions"];
    for (const Json& row : list["visible"]) all += row["tensor"].get<std::string>() + " ";
    return all;
  };
  CHECK(tensors() == "Const:0 encoder.layer.0:0 Mul:0 ");
  RankOnPaper more(0, 1.8e9, 1);
  more.metadata.clear();
  more.op("Add", 2);
  more.op("Sub", 1);
  more.op("Zeros", 0);
  more.store(files, "host");
  v.look_again();
  CHECK(v.state()["graph_executions"]["total"] == 7);
  CHECK(tensors() == "Add:0 Const:0 encoder.layer.0:0 Mul:0 Sub:0 ");

  add_graphs(files);
  v.look_again();
  v.pass(1);
  Json list = v.state()["graph_executions"];
  CHECK(list["of_executions"] == false);
  CHECK(list["total"] == v.state()["runs"][0]["num_traces"]);
  CHECK(list["filter"] == "bad");
}

TEST_CASE("an execution of several outputs is listed with its first bad one, and matched by that") {
  Headless v;
  RankOnPaper p(0, 1.7e9, 1);
  p.split(0, 3);
  p.split(0, 0);
  p.store(v.memory["memory:eager"], "host");
  v.open("memory:eager");
  v.command("activate_pane", {{"pane", "graph_executions"}});
  Json list = v.state()["graph_executions"];
  CHECK(list["visible"][0]["tensor"] == "Split:1");
  CHECK(list["visible"][1]["tensor"] == "Split:0");
  for (const char* const query : {"nan=3", "slot:1", "bad", "-ok"}) {
    CAPTURE(query);
    v.command("filter", {{"query", query}});
    list = v.state()["graph_executions"];
    REQUIRE(list["shown"] == 1);
    CHECK(list["visible"][0]["execution"] == 0);
  }
}
