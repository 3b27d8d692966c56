// The walkthrough's recording, every pane by mouse and keyboard.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "walkthrough.hpp"

using nanlens::test::golden;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
using nanlens::test::Walkthrough;

namespace {

Json row(const Json& state, std::int64_t index) {
  for (const Json& r : state["graph_executions"]["visible"])
    if (r["index"] == index) return r;
  return nullptr;
}

Json badge(const Json& owner, const char* kind) {
  for (const Json& b : owner["badges"])
    if (b["kind"] == kind) return b["value"];
  return nullptr;
}

bool has_role(const Json& row, const char* role) {
  return std::find(row["roles"].begin(), row["roles"].end(), role) != row["roles"].end();
}

std::string line_of(const Json& source) {
  std::ifstream file(source["path"].get<std::string>());
  std::string line;
  for (int i = source["line"].get<int>(); i > 0; --i) std::getline(file, line);
  return line;
}

}  // namespace

TEST_CASE("opened, the first bad tensor is selected with its input, its graph and its source line") {
  Walkthrough v;
  const Json s = v.state();
  REQUIRE(s["runs"].size() == 1);
  CHECK(s["runs"][0]["num_traces"] == 600);
  CHECK(s["alerts"]["total"] == 499);
  CHECK(s["alerts"]["by_type"]["InfNanAlert"] == 499);
  CHECK(s["focus"]["trace"] == 88);
  CHECK(s["focus"]["op_name"] == "Log");
  CHECK(has_role(row(s, 88), "focused"));
  CHECK(badge(row(s, 88), "ninf") == 5);
  CHECK(has_role(row(s, 85), "input:0"));
  CHECK(row(s, 85)["tensor"] == "probs:0");
  CHECK(badge(row(s, 85), "zero") == 5);
  CHECK(has_role(row(s, 89), "consumer"));
  CHECK(s["graph_structure"]["op_name"] == "Log");
  CHECK(s["graph_structure"]["inputs"][0]["op_name"] == "probs");
  CHECK(line_of(s["source_code"]).find("\"Log\"") != std::string::npos);
  CHECK(v.shows("source:line:" + viewer::json_text(s["source_code"]["line"])));
  CHECK(s["source_code"]["first_visible"] <= s["source_code"]["line"]);
  CHECK(s["diagnostics"].empty());
  v.click("theme");
  CHECK(v.state()["theme"] == "dark");
}

TEST_CASE("the same on a logdir of the real TensorFlow, and on a session of TensorFlow 1") {
  Headless v;
  v.open(golden("core.FULL_HEALTH"));
  Json s = v.state();
  CHECK(s["runs"][0]["num_executions"] == 30);
  CHECK(s["alerts"]["total"] == 59);
  CHECK(s["focus"]["trace"] == 0);
  CHECK(s["source_code"]["line"] == 15);
  CHECK(badge(s["graph_structure"]["inputs"][0], "zero") == 4);
  v.open(golden("session.FULL_HEALTH"));
  s = v.state();
  CHECK(s["timeline"]["total"] == 0);
  CHECK(s["focus"]["trace"] == 5);
  CHECK(has_role(row(s, 4), "input:0"));
}

TEST_CASE("alerts: a click selects event and op; next, previous, groups and folding") {
  Walkthrough v;
  v.click("alert:53");
  CHECK(v.trace() == 148);
  CHECK(v.state()["graph_structure"]["op_name"] == "Log");
  CHECK_FALSE(row(v.state(), 148).is_null());
  v.click("alerts:next");
  CHECK(v.trace() == 149);
  v.key(".");
  CHECK(v.trace() == 150);
  v.key(".");
  CHECK(v.trace() == -1);  // the next one is an output of the call
  CHECK(v.state()["focus"]["execution"] == 35);
  v.keys({",", ",", ","});
  CHECK(v.trace() == 148);
  v.click("alert:InfNanAlert");
  CHECK(v.trace() == 88);
  v.click("alerts:fold");
  CHECK(v.state()["alerts"]["visible"].empty());
  v.click("alerts:fold");
  v.click("alerts:group:Log");
  const Json folded = v.state();
  for (const Json& a : folded["alerts"]["visible"]) CHECK(a["op_type"] != "Log");
  v.click("alerts:group:Log");
  for (const char* by : {"call", "graph", "line", "class", "op"}) {
    v.key("g");
    CHECK(v.state()["alerts"]["by"] == by);
  }
  v.key("n");
  CHECK(v.trace() == 88);
}

TEST_CASE("causes: the verdict says why; chain, keys, panel, classes, filter words") {
  Walkthrough v;
  Json s = v.state();
  CHECK(s["verdict"]["id"] == "rc.log_softmax");
  CHECK(s["verdict"]["sentence"].get<std::string>().starts_with("Log at model.cpp:"));
  CHECK(s["verdict"]["reach"] == 499);
  CHECK(s["verdict"]["total"] == 499);
  CHECK(s["causes"].size() == 1);
  v.command("focus_trace", {{"index", 106}});
  s = v.state();
  REQUIRE(s["chain"].size() > 3);
  CHECK(s["chain"][0]["tensor"] == "Softmax:0");
  CHECK(s["chain"][0]["class"] == "clean");
  CHECK(s["chain"][1]["tensor"] == "Log:0");
  CHECK(s["chain"][1]["class"] == "made");
  CHECK(s["chain"].back()["trace"] == 106);
  CHECK(row(s, 106)["class"] == "passed");
  v.key("u");
  CHECK(v.trace() == s["chain"][s["chain"].size() - 2]["trace"]);
  v.key("j");
  CHECK(v.trace() == 106);
  v.key("y");
  CHECK(v.trace() == 88);
  v.click("chain:0");
  CHECK(v.trace() == 84);
  v.click("verdict:fix");
  CHECK(v.shows("verdict:remedy"));
  CHECK(v.state()["verdict"]["remedy"].get<std::string>().find("log_softmax") != std::string::npos);
  v.click("verdict:fix");
  CHECK_FALSE(v.shows("verdict:remedy"));
  v.click("verdict:why");
  CHECK(v.state()["popup"] == "causes");
  v.click("removed:0");
  CHECK(v.state()["popup"] == "none");
  CHECK(v.state()["execution"]["op_type"] == "ArgMax");
  v.click("verdict");
  CHECK(v.trace() == 88);
  for (const auto& [query, count] : {std::pair{"made", 1},
                                     {"passed", 352},
                                     {"removed", 0},
                                     {"source or unknown or expected", 0},
                                     {"class:made", 1},
                                     {"class:\"made here\"", 1},
                                     {"class:passed or class:relay", 352},
                                     {"class:clean", 0}}) {
    CAPTURE(query);
    v.command("filter", {{"query", query}});
    CHECK(v.state()["graph_executions"]["shown"] == count);
  }
}

TEST_CASE("timeline: boxes, overview, wheel, zoom, fit, time mode") {
  Walkthrough v;
  Json s = v.state();
  const std::int64_t call = s["focus"]["execution"];
  std::int64_t eager = -1;
  for (const Json& box : s["timeline"]["boxes"]) {
    if (box["index"] == call) {
      CHECK(box["bad"] == true);
      CHECK(box["kind"] == "function");
    }
    if (box["kind"] == "eager" && eager < 0) eager = box["index"];
  }
  v.click("timeline:box:" + std::to_string(eager));
  s = v.state();
  CHECK(s["execution"]["index"] == eager);
  CHECK(s["stack_trace"]["title"].get<std::string>().find("#" + std::to_string(eager)) != std::string::npos);
  v.click("timeline:fit");
  s = v.state();
  CHECK(s["timeline"]["begin"] == 0);
  CHECK(s["timeline"]["end"] == s["timeline"]["total"]);
  CHECK(s["timeline"]["boxes"].size() == s["timeline"]["total"]);
  v.wheel(v.point("timeline:band"), 0, 3, true);
  const Json zoomed = v.state()["timeline"];
  CHECK(zoomed["end"].get<double>() - zoomed["begin"].get<double>() < 0.8 * s["timeline"]["total"].get<double>());
  v.wheel(v.point("timeline:band"), 0, -2);
  CHECK(v.state()["timeline"]["begin"] > zoomed["begin"]);
  const auto overview = v.rect("timeline:overview");
  v.drag({overview.x + overview.w * 0.95f, overview.y + 8}, {overview.x + overview.w * 0.96f, overview.y + 8});
  CHECK(v.state()["timeline"]["end"] > 140);
  v.key("t");
  s = v.state();
  CHECK(s["timeline"]["mode"] == "time");
  CHECK_FALSE(s["timeline"]["boxes"].empty());
  REQUIRE_FALSE(s["timeline"]["gaps"].empty());  // the program made its data before its first execution
  double pauses = 0;
  for (const Json& gap : s["timeline"]["gaps"]) pauses += gap["seconds"].get<double>();
  CHECK(s["timeline"]["end"].get<double>() < pauses + 1);
  v.key("t");
  v.command("timeline_range", {{"begin", 0}, {"end", 50}});
  v.key("d");
  CHECK(v.state()["timeline"]["begin"] > 0);
  v.keys({"a", "w"});
  s = v.state();
  CHECK(s["timeline"]["end"].get<double>() - s["timeline"]["begin"].get<double>() < 50);
}

TEST_CASE("execution card: outputs lead to rows, links to graph and rows") {
  Walkthrough v;
  v.command("focus_execution", {{"index", 19}});
  Json s = v.state();
  CHECK(s["execution"]["index"] == 19);
  CHECK(s["execution"]["num_rows"] == 6);
  std::size_t output = 0;
  while (output < s["execution"]["outputs"].size() && s["execution"]["outputs"][output]["trace"] != 88) ++output;
  v.click("exec:output:" + std::to_string(output));
  CHECK(v.trace() == 88);
  v.command("focus_execution", {{"index", 19}});
  v.click("exec:graph");
  CHECK(v.state()["graph_structure"]["graph_name"] == "loss");
  CHECK(v.state()["graph_structure"]["op_name"].is_null());
  v.click("graph:first_row");
  CHECK(v.trace() == 85);
}

TEST_CASE("graph: cards, hops, the caller behind a placeholder; back and forward") {
  Walkthrough v;
  v.click("op:input:0");
  CHECK(v.op() == "probs");
  CHECK(v.trace() == 85);
  CHECK(v.state()["graph_structure"]["boundary"]["known"] == true);
  v.pass(1);
  v.key("k");
  CHECK(v.op() == "Softmax");
  v.key("[");
  CHECK(v.op() == "probs");
  v.key("[");
  CHECK(v.op() == "Log");
  v.key("]");
  CHECK(v.op() == "probs");
  v.key("[");
  v.click("op:consumer:0:0");
  CHECK(v.op() == "mul");
  v.click("graph:hops");
  CHECK(v.state()["graph_structure"]["farther_inputs"] == 1);
  v.command("graph_hops", {{"n", 1}});
  v.click("crumb:0");
  CHECK(v.state()["graph_structure"]["op_name"].is_null());
}

TEST_CASE("rows: click, filter while typing, a filter that can't be read, only bad ones, columns, pins, menu") {
  Walkthrough v;
  v.click("trace:87:name");
  CHECK(v.trace() == 87);
  v.key("/");
  v.type("type:Log bad");
  Json s = v.state()["graph_executions"];
  CHECK(s["filter"] == "type:Log bad");
  CHECK(s["shown"] == 9);
  for (const Json& r : s["visible"]) CHECK(r["op_type"] == "Log");
  v.click("filter:part:1");
  CHECK(v.state()["graph_executions"]["filter"] == "type:Log");
  v.command("filter", {{"query", "type:Log bad"}});
  v.click("filter");
  v.key("End");
  v.type(" (");
  s = v.state()["graph_executions"];
  CHECK_FALSE(s["filter_error"].is_null());
  CHECK(s["shown"] == 9);
  v.keys({"Escape", "Escape"});
  v.command("clear_filter");
  v.key("b");
  CHECK(v.state()["graph_executions"]["shown"] == 353);
  v.key("b");
  v.command("columns", {{"show", {"dtype", "call"}}, {"hide", {"op"}}});
  CHECK(v.shows("trace:87:call"));
  v.command("focus_trace", {{"index", 88}});
  v.key("p");
  v.command("pin", {{"trace", 85}});
  CHECK(v.state()["graph_executions"]["pinned"] == Json({88, 85}));
  v.click("pin:trace:85");
  CHECK(v.trace() == 85);
  v.click("pins:clear");
  CHECK(v.state()["graph_executions"]["pinned"].empty());
  v.click_at(v.point("trace:87", 0.3f), 80, 1);
  CHECK(v.app().menu_open);
  v.key("Escape");
  CHECK_FALSE(v.app().menu_open);
  CHECK(v.trace() == 85);
}

TEST_CASE("rows: sorted by click and command; export; where a fast drag has come to") {
  Walkthrough v;
  v.click("sort:health");
  Json s = v.state()["graph_executions"];
  CHECK(s["sort"] == Json{{"column", "health"}, {"descending", true}});
  std::int64_t before = INT64_MAX;
  for (const Json& r : s["visible"]) {
    std::int64_t bad = 0;
    for (const char* kind : {"nan", "ninf", "pinf"})
      if (const Json n = badge(r, kind); !n.is_null()) bad += n.get<std::int64_t>();
    CHECK(bad <= before);
    before = bad;
  }
  v.pass(1);
  CHECK(v.links.back().find("so=health%2Cd") != std::string::npos);
  v.click("sort:health");
  CHECK(v.state()["graph_executions"]["sort"]["descending"] == false);
  v.click("sort:health");
  CHECK(v.state()["graph_executions"]["sort"].is_null());
  v.command("filter", {{"query", "type:Log bad"}});
  CHECK(v.command("export", {{"what", "rows"}}).ok);
  REQUIRE(v.saved.size() == 1);
  const auto& [name, text] = *v.saved.begin();
  CHECK(name.starts_with("nanlens-rows-"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 9);
  const Json first = viewer::json_of(text.substr(0, text.find('\n')));
  CHECK(first["row"] == 88);
  CHECK(first["class"] == "made");
  CHECK(v.state()["toasts"].back().get<std::string>().find("9 lines") != std::string::npos);
  v.command("clear_filter");
  const auto bar = v.rect("rows:scroll");
  ImGui::GetIO().AddMousePosEvent(bar.x + bar.w / 2, bar.y + 4);
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  v.app().wake();
  v.pass(0.1);
  v.hover({bar.x + bar.w / 2, bar.y + bar.h / 2});
  CHECK(v.shows("rows:bubble"));
  ImGui::GetIO().AddMouseButtonEvent(0, false);
  v.app().wake();
  v.settle();
  CHECK_FALSE(v.shows("rows:bubble"));
}

TEST_CASE("source: marks, find, tabs; stack: frames, sticking, copying") {
  Walkthrough v;
  v.click("source:mark:" + viewer::json_text(v.state()["source_code"]["line"]));
  CHECK(v.state()["popup"] == "ops_of_line");
  v.click("op:line:0");
  CHECK(v.state()["popup"] == "none");
  CHECK(v.op() == "Log");
  v.keys({"5", "Ctrl+f"});
  v.type("Softmax");
  v.key("Enter");
  CHECK(line_of(v.state()["source_code"]).find("Softmax") != std::string::npos);
  v.key("Escape");
  v.click("frame:0");
  Json s = v.state();
  CHECK(s["focus"]["frame"] == 0);
  CHECK(s["source_code"]["path"].get<std::string>().ends_with("mnist.cpp"));
  CHECK(s["stack_trace"]["sticky"] == false);  // another frame of that file lies further in
  v.click("frame:1");
  CHECK(v.state()["stack_trace"]["sticky"] == true);
  v.command("focus_trace", {{"index", 95}});
  CHECK(v.state()["source_code"]["path"].get<std::string>().ends_with("mnist.cpp"));
  v.click("frame:0");
  v.command("focus_trace", {{"index", 88}});
  CHECK(v.state()["source_code"]["path"].get<std::string>().ends_with("model.cpp"));
  v.click("stack:copy");
  CHECK(v.copied.find("model.cpp:") != std::string::npos);
  v.key("6");
  CHECK(v.state()["active_pane"] == "stack_trace");
}

TEST_CASE("splitters, the rail, maximise and restore") {
  Walkthrough v;
  const float before = v.rect("pane:alerts").w;
  const ImVec2 splitter = v.point("splitter:left");
  v.drag(splitter, {splitter.x + 60, splitter.y});
  CHECK(v.rect("pane:alerts").w == doctest::Approx(before + 60).epsilon(0.05));
  v.double_click("splitter:left");
  CHECK(v.rect("pane:alerts").w == doctest::Approx(before).epsilon(0.01));
  v.click("pane:graph_executions:maximize");
  CHECK(v.state()["maximized"] == "graph_executions");
  CHECK(v.rect("pane:graph_executions").w > 1200);
  v.key("Escape");
  CHECK(v.state()["maximized"].is_null());
  v.drag(v.point("splitter:left"), {30, splitter.y});
  CHECK(v.rect("pane:alerts").w == 44);
  v.click("alerts:next");
  CHECK(v.trace() == 89);
  v.click("alerts:widen");
  CHECK(v.rect("pane:alerts").w > 150);
}

TEST_CASE("wide windows: the graph flows to the right, the caller's file stands beside the shown one") {
  Walkthrough v;
  v.resize(2560, 1440);
  CHECK(v.rect("op:input:0").right() < v.rect("op:self").x);
  CHECK(v.rect("op:self").right() < v.rect("op:consumer:0:0").x);
  CHECK(v.state()["source_code"]["path"].get<std::string>().ends_with("model.cpp"));
  CHECK(v.state()["source_code"]["beside"].get<std::string>().ends_with("mnist.cpp"));
  v.click_at(v.point("source:beside", 0.05f));
  CHECK(v.state()["source_code"]["path"].get<std::string>().ends_with("mnist.cpp"));
}

TEST_CASE("keyboard only: from the first bad tensor on") {
  Walkthrough v;
  v.keys({"n", "3", "ArrowDown"});
  CHECK(v.trace() == 89);
  v.key("i");
  CHECK(v.trace() == 87);  // first input of mul is Neg
  v.key("i");
  CHECK(v.trace() == 88);  // the second is Log
  v.key("i");
  CHECK(v.trace() == 87);
  v.key("o");
  CHECK(v.trace() == 89);
  v.keys({"2", "ArrowRight"});
  CHECK(v.state()["focus"]["execution"] == 20);
  v.keys({"4", "Tab"});
  CHECK(v.state()["active_pane"] == "source_code");
  v.key("Shift+3");
  CHECK(v.state()["maximized"] == "graph_executions");
  v.key("Escape");
  v.key("Ctrl+p");
  CHECK(v.state()["popup"] == "palette");
  v.type("next al");
  v.command("focus_trace", {{"index", 88}});
  v.key("Enter");
  CHECK(v.state()["popup"] == "none");
  CHECK(v.trace() == 89);
  v.key("Ctrl+p");
  v.type(":207");
  v.key("Enter");
  CHECK(v.trace() == 207);
}

TEST_CASE("settings are kept once nothing moves, every second where something always does, and at the end") {
  Walkthrough v;
  const std::string before = v.settings;
  const auto move = [&](const char* theme, int frames) {
    v.app().command("theme", {{"name", theme}});
    for (int i = 0; i < frames; ++i) {
      v.app().wake();
      v.frame();
    }
  };
  move("dark", 2);
  CHECK(v.settings == before);
  v.app().save_settings();
  CHECK(v.settings.find(R"("theme":"dark")") != std::string::npos);
  move("contrast", 90);
  CHECK(v.settings.find(R"("theme":"contrast")") != std::string::npos);
  move("light", 2);
  v.settle();
  CHECK(v.settings.find(R"("theme":"light")") != std::string::npos);
}

TEST_CASE("settings: colours, text size and rows follow a click, and are there in the next session") {
  Walkthrough v;
  const float row = v.rect("trace:88").h;
  v.click("settings");
  v.click("settings:dark");
  v.click("settings:compact");
  v.click("settings:larger");
  v.key("Escape");
  CHECK(v.state()["theme"] == "dark");
  CHECK(v.rect("trace:88").h == doctest::Approx(row * 1.1f * 18 / 22));
  Headless next;
  next.app().apply_settings(v.settings);
  next.open(walkthrough());
  CHECK(next.state()["theme"] == "dark");
  CHECK(next.rect("trace:88").h == v.rect("trace:88").h);
}

TEST_CASE("several runs in one folder: one is chosen") {
  Headless v;
  v.open(golden(""));
  Json s = v.state();
  REQUIRE(s["runs"].size() == 4);
  v.click("run");
  CHECK(v.state()["popup"] == "runs");
  std::size_t other = 0;
  while (s["runs"][other]["num_alerts"] != 59) ++other;
  v.click("run:" + std::to_string(other));
  CHECK(v.state()["popup"] == "none");
  CHECK(v.state()["run"] == s["runs"][other]["run_id"]);
  CHECK(v.state()["alerts"]["total"] == 59);
}

TEST_CASE("the sample; an archive; a folder without a logdir says why") {
  Headless v;
  v.click("start:sample");
  CHECK(v.state()["alerts"]["total"] == 499);
  v.memory["memory:empty"].append("readme.txt", "nothing");
  v.open("memory:empty");
  CHECK(v.state()["error"].get<std::string>().find("No tfdbg2 files") != std::string::npos);
  CHECK(v.shows("error"));
  v.open("/nonexistent/logdir");
  CHECK(v.state()["error"].get<std::string>().find("nonexistent") != std::string::npos);
}

namespace {

// Without what the analysis says in the user's language; ids say which sentence it is.
Json without_words(Json state) {
  for (const char* const name : {"sentence", "remedy", "change"})
    if (state.is_object()) state.erase(name);
  for (Json& part : state)
    if (part.is_structured()) part = without_words(part);
  return state;
}

}  // namespace

TEST_CASE("languages: no text of any is cut at 1280x720") {
  Headless v({.cjk = true});
  v.open(walkthrough());
  constexpr const char* places[] = {"restore_panes", "help",      "show_settings",    "palette",      "show_causes",
                                    "columns",       "show_runs", "show_diagnostics", "show_licences"};
  const auto cut_in = [&](const char* tag, const char* place) {
    CHECK(v.command("language", {{"tag", tag}}).ok);
    v.command(place);
    std::set<std::string> cut;
    const Json state = v.state();
    for (const Json& text : state["cut_texts"]) cut.insert(text.get<std::string>());
    if (state["popup"] != "none") v.key("Escape");
    return cut;
  };
  for (const char* const place : places) {
    const auto names = cut_in("en", place);  // of files and ops: they may be cut
    for (const char* const tag : {"de", "ja", "ko", "zh-TW", "pt-BR"}) {
      for (const std::string& text : cut_in(tag, place))
        CHECK_MESSAGE(names.contains(text), std::string(tag), " ", std::string(place), ": ", text);
    }
  }
}

TEST_CASE("languages: everything follows at once and stays, the state does not change, nothing is cut at 1280x720") {
  Walkthrough v{false};
  // Texts of the pseudo-language are in brackets; names of files and ops may be cut.
  const auto check_nothing_cut = [&](const char* where) {
    CAPTURE(where);
    const Json state = v.state();
    for (const Json& text : state["cut_texts"]) CHECK_FALSE(text.get<std::string>().starts_with("["));
  };
  CHECK(v.command("language", {{"tag", "xx"}}).ok);
  check_nothing_cut("start screen");
  v.open(walkthrough());
  v.command("language", {{"tag", "en"}});
  const auto told = [&] {
    Json s = v.lasting_state();
    s.erase("language");
    return without_words(s);
  };
  const Json english = told();
  for (const char* tag : {"xx", "de"}) {
    CHECK(v.command("language", {{"tag", tag}}).ok);
    CHECK(told() == english);
    check_nothing_cut("panes");
    for (const char* popup :
         {"help", "show_settings", "palette", "show_causes", "columns", "show_runs", "show_diagnostics"}) {
      v.command(popup);
      CHECK(v.state()["popup"] != "none");
      check_nothing_cut(popup);
      v.key("Escape");
      CHECK(v.state()["popup"] == "none");
    }
  }
  CHECK(v.state()["verdict"]["sentence"].get<std::string>().find("machte 5 Nullen von probs zu −∞") !=
        std::string::npos);
  v.keys({".", ",", ","});
  CHECK(v.state()["toasts"].back() == "Das war der erste Alarm. Noch einmal , geht zum letzten.");
  v.key("Ctrl+p");
  v.type("next al");  // the palette knows the English names in every language
  v.key("Enter");
  CHECK(v.trace() == 89);
  Headless next;
  next.app().apply_settings(v.settings);
  next.settle();
  CHECK(next.state()["language"] == "de");
  next.click("settings");
  next.click("settings:en");
  CHECK(next.state()["language"] == "en");
}
