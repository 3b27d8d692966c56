// Logdirs that grow while they are looked at, several of them, names that no program should use.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "growth.hpp"

using nanlens::test::bad_run;
using nanlens::test::GeneratorOptions;
using nanlens::test::GrowingFiles;
using nanlens::test::grows_while_filtered;
using nanlens::test::Growth;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::LogdirGenerator;
namespace logdir = nanlens::logdir;
using nanlens::test::kind_of;

TEST_CASE("a run that grows while it is filtered and scrolled: the place stays") {
  Headless v;
  grows_while_filtered(v);
}

TEST_CASE("a run that grows while it is sorted: it stays sorted, and the place stays") {
  Headless v;
  Growth growth(bad_run());
  GrowingFiles& files = v.memory["memory:run"];
  growth.until(0.5, files);
  v.open("memory:run");
  v.command("sort", {{"column", "tensor"}});
  v.command("scroll_to", {{"pane", "graph_executions"}, {"index", 40}});
  const Json before = v.lasting_state();
  growth.until(1, files);
  v.look_again();
  const Json after = v.lasting_state()["graph_executions"];
  CHECK(after["total"] > before["graph_executions"]["total"]);
  CHECK(after["sort"] == before["graph_executions"]["sort"]);
  CHECK(after["first"] == 40);
  std::string last;
  for (const Json& row : after["visible"]) {
    CHECK(last <= row["tensor"].get<std::string>());
    last = row["tensor"];
  }
}

TEST_CASE("two logdirs that grow: the run that is shown stays when the first one gains another") {
  Headless v;
  Growth first(bad_run("aaaaaaaa"));
  Growth second(bad_run("bbbbbbbb"));
  Growth third(bad_run("cccccccc"));
  first.until(0.5, v.memory["memory:one"]);
  second.until(0.5, v.memory["memory:two"]);
  v.open(std::vector<std::string>{"memory:one", "memory:two"});
  REQUIRE(v.state()["runs"].size() == 2);
  REQUIRE(v.command("select_run", {{"run", "bbbbbbbb"}}).ok);
  v.command("focus_trace", {{"index", 13}});
  const Json before = v.lasting_state();
  CHECK(before["run"] == "bbbbbbbb");
  third.until(0.5, v.memory["memory:one"], 2);
  first.until(1, v.memory["memory:one"]);
  second.until(1, v.memory["memory:two"]);
  v.look_again();
  const Json after = v.lasting_state();
  CHECK(after["runs"].size() == 3);
  CHECK(after["run"] == "bbbbbbbb");
  CHECK(after["focus"] == before["focus"]);
  CHECK(v.app().link().find("run=bbbbbbbb") != std::string::npos);
}

TEST_CASE("rows that arrive until a logdir has been read once are not new; those after that are") {
  Headless v;
  GeneratorOptions options = bad_run();
  options.calls = 1500;  // some MiB, so that one slice of reading does not come to the end
  Growth growth(options);
  GrowingFiles& files = v.memory["memory:run"];
  growth.until(0.9, files);
  files.slow_down(std::chrono::milliseconds(25));
  bool in_part = false;
  v.after_frame = [&] { in_part = in_part || (v.app().overview.loading && v.app().rows.shown > 0); };
  v.open("memory:run");
  REQUIRE(in_part);
  const Json before = v.state()["graph_executions"];
  CHECK(before["new_rows"] == 0);
  files.slow_down(std::chrono::milliseconds(0));
  growth.until(1, files);
  v.look_again();
  const Json after = v.state()["graph_executions"];
  CHECK(after["new_rows"].get<int>() == after["total"].get<int>() - before["total"].get<int>());
  CHECK(after["new_rows"] > 0);
}

TEST_CASE("everything that was read when reading was stopped is shown; what comes when it goes on is not new either") {
  Headless v;
  GeneratorOptions options = bad_run();
  options.calls = 4000;
  GrowingFiles& files = v.memory["memory:run"];
  Growth(options).until(1, files);
  files.slow_down(std::chrono::milliseconds(25));
  std::uint64_t first_shown = 0;
  bool cancelled = false;
  v.after_frame = [&] {
    const auto& overview = v.app().overview;
    if (first_shown == 0 && overview.loading && v.app().rows.shown > 0) first_shown = overview.bytes_done;
    if (first_shown == 0 || overview.bytes_done == first_shown || std::exchange(cancelled, true)) return;
    v.app().command("cancel");
  };
  v.open("memory:run");
  v.after_frame = {};
  const Json stopped = v.state();
  REQUIRE(stopped["stopped"] == true);
  REQUIRE(stopped["runs"][0]["num_traces"] < options.calls * options.ops_per_graph);
  CHECK(stopped["graph_executions"]["shown"] == stopped["runs"][0]["num_traces"]);
  CHECK(stopped["alerts"]["total"] == stopped["runs"][0]["num_alerts"]);
  files.slow_down(std::chrono::milliseconds(0));
  v.command("reload");
  const Json rows = v.state()["graph_executions"];
  CHECK(rows["total"] == options.calls * options.ops_per_graph);
  CHECK(rows["new_rows"] == 0);
}

TEST_CASE("a damaged logdir: what can be read is shown, what can't is listed with its place") {
  Headless v;
  const GeneratorOptions options = bad_run();
  // One of the records has another byte, and one of the files ends too early.
  int traces = 0;
  LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
    std::string damaged = bytes;
    if (kind == logdir::FileKind::graph_execution_traces && ++traces == 30)
      damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
    v.memory["memory:run"].append(nanlens::test::generated_name(kind, "host", 1), damaged);
  }).run();
  v.memory["memory:run"].append(nanlens::test::generated_name(logdir::FileKind::execution, "host", 1), "\x10");
  v.open("memory:run");
  const Json s = v.state();
  CHECK(s["runs"][0]["num_traces"] == options.calls * options.ops_per_graph - 1);
  REQUIRE(s["diagnostics"].size() == 2);
  for (const Json& fault : s["diagnostics"]) {
    CHECK(fault["offset"] > 0);
    CHECK_FALSE(fault["message"].get<std::string>().empty());
  }
  v.click("diagnostics");
  CHECK(v.state()["popup"] == "diagnostics");
  v.click("diagnostics:copy");
  CHECK(std::count(v.copied.begin(), v.copied.end(), '\n') == 2);
}

TEST_CASE("names that are no UTF-8, endless, full of control characters or markup, or run the other way") {
  const std::pair<const char*, std::string> names[] = {
      {"no UTF-8", "\xff\xfe\x80\xc3"},
      {"20,000 letters", std::string(20000, 'a')},
      {"control characters", std::string("\x01\x1b[31m\n\t\r\0end", 13)},
      {"markup", "<script>alert(1)</script>&amp;\"'`"},
      {"right to left", "\u202e\u05d0\u05d1\u200f"},
      {"placeholders", "%s%n{n}{n|a|b}"},
      {"link and filter", "&nl=2~~:\"/(x+)+"},
  };
  for (const auto& [what, name] : names) {
    CAPTURE(what);
    GeneratorOptions options = bad_run();
    options.calls = 8;
    options.name_prefix = name;
    std::string link;
    Json before;
    {
      Headless v;
      Growth(options).until(1, v.memory["memory:run"]);
      v.open("memory:run");
      CHECK(v.state()["runs"][0]["num_traces"] == 80);
      CHECK(v.command("first_bad").ok);
      for (const char* popup : {"show_causes", "palette", "show_runs", "show_diagnostics"}) {
        v.command(popup);
        v.key("Escape");
      }
      std::set<std::string> hovered;
      for (const auto& [id, rect] : std::map(v.app().ui.rects)) {
        if (!hovered.insert(kind_of(id)).second) continue;
        v.hover({rect.x + rect.w / 2, rect.y + rect.h / 2});
        v.pass(0.5);
      }
      v.command("mark_expected");
      CHECK_FALSE(v.settings.empty());
      v.command("mark_expected");
      for (const char* by : {"call", "graph", "line", "class", "op"}) v.command("group_alerts", {{"by", by}});
      for (const char* list : {"rows", "alerts", "report"})
        for (const char* format : {"jsonl", "csv"}) {
          CHECK(v.command("export", {{"what", list}, {"format", format}}).ok);
        }
      CHECK(v.command("copy", {{"what", "row"}}).ok);
      v.command("focus_trace", {{"index", 13}});
      v.command("clear_selection");
      v.command("focus_op", {{"graph_id", "g1"}, {"op_name", v.app().rows.rows[3].op_name}, {"slot", 0}});
      before = v.lasting_state()["focus"];
      link = v.app().link();
    }
    Headless v;
    Growth(options).until(1, v.memory["memory:run"]);
    v.app().apply_link(link);
    v.open("memory:run");
    CHECK(v.lasting_state()["focus"] == before);
  }
}

TEST_CASE("the built-in fonts have every sign that the panes use, and none of them is the box for missing ones") {
  Headless v;
  for (ImFont* const font : {v.app().ui.sans, v.app().ui.mono}) {
    ImFontBaked& baked = *font->GetFontBaked(13);
    for (const ImWchar c : {u'∞', u'−', u'×', u'▲', u'⊘', u'⇥', u'∅', u'✱', u'ä', u'Д', u'α'}) {
      CAPTURE(static_cast<int>(c));
      CHECK(baked.FindGlyphNoFallback(c) != nullptr);
    }
    CHECK(baked.FindGlyphNoFallback(u'損') == nullptr);
  }
}
