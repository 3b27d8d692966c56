// Every command with right, wrong and missing arguments; the view as a link, and links that are damaged.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/key_bindings.hpp"
#include "headless.hpp"

using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
namespace viewer = nanlens::viewer;

namespace {

struct Arguments {
  Json right = Json::object();
  std::vector<Json> wrong = {};
};

std::map<std::string_view, Arguments> all_arguments(Headless& v) {
  const Json s = v.state();
  const Json none = Json::object();
  const std::string long_text(600, 'x');
  const std::vector<Json> no_index = {none, {{"index", -1}}, {{"index", 1e9}}, {{"index", "x"}}};
  const std::vector<Json> no_pane = {none, {{"pane", "cellar"}}};
  return {
      {"open_logdir", {{{"path", walkthrough()}}}},
      {"open_sample", {}},
      {"close_logdir", {}},
      {"select_run", {{{"run", 0}}, {none, {{"run", 99}}, {{"run", -1}}, {{"run", "nobody"}}}}},
      {"reload", {}},
      {"follow", {{{"on", true}}}},
      {"copy", {{{"what", "row"}}, {{{"what", "moon"}}}}},
      {"copy_link", {}},
      {"export", {{{"what", "rows"}}, {{{"what", "everything"}}, {{"what", "rows"}, {"format", "xml"}}}}},
      {"screenshot", {}},
      {"quit", {}},
      {"focus_execution", {{{"index", 19}}, no_index}},
      {"focus_trace", {{{"index", 106}}, no_index}},
      {"focus_alert", {{{"index", 7}}, no_index}},
      {"focus_op", {{{"graph_id", s["focus"]["graph_id"]}, {"op_name", "Neg"}}, {none, {{"op_name", "Neg"}}}}},
      {"focus_frame", {{{"index", 0}}, no_index}},
      {"focus_source", {{{"path", s["source_code"]["path"]}, {"line", 3}}, {none}}},
      {"next_alert", {{{"by", "op"}}}},
      {"previous_alert", {}},
      {"first_bad", {}},
      {"focus_cause", {{{"index", 0}}, {{{"index", -1}}, {{"index", 99}}}}},
      {"focus_chain", {{{"index", 0}}, no_index}},
      {"cause_step", {}},
      {"next_input", {}},
      {"next_consumer", {}},
      {"follow_boundary", {}},
      {"clear_selection", {}},
      {"rows_of_execution", {{{"index", 19}}, {none}}},
      {"go_to_source", {}},
      {"step_execution", {none, {{{"dir", 1e6}}}}},
      {"step_row", {}},
      {"focus_alert_type", {{{"type", "InfNanAlert"}}, {none, {{"type", "moon"}}}}},
      {"filter", {{{"query", "bad"}}, {{{"query", long_text}}}}},
      {"clear_filter", {}},
      {"select_range", {{{"begin", 1}, {"end", 3}}, {{{"begin", -1}, {"end", 3}}, {{"begin", 1}}}}},
      {"follow_tail", {}},
      {"pin", {{{"trace", 3}}, {{{"trace", -5}}, {{"trace", 1e6}}}}},
      {"clear_pins", {}},
      {"density", {{{"name", "compact"}}, {none, {{"name", "moon"}}}}},
      {"only_bad", {{{"on", true}}}},
      {"sort", {{{"column", "size"}}, {{{"column", "colour"}}}}},
      {"edit_filter", {}},
      {"find", {{{"text", "Log"}, {"dir", 1}}, {{{"text", "not in there"}, {"dir", 1}}, {{"text", long_text}}}}},
      {"find_here", {}},
      {"group_alerts", {{{"by", "line"}}, {{{"by", "moon"}}}}},
      {"fold_alerts", {}},
      {"mark_expected", {{{"scope", "loss/Log"}}}},
      {"timeline_range",
       {{{"begin", 0}, {"end", 10}}, {none, {{"begin", 5}, {"end", 1}}, {{"begin", "a"}, {"end", 3}}}}},
      {"timeline_zoom", {{{"factor", 2}}, {{{"factor", -1}}, {{"factor", 0}}}}},
      {"timeline_pan", {{{"boxes", 3}}}},
      {"timeline_pan_page", {}},
      {"timeline_mode", {{{"mode", "time"}}, {{{"mode", "moon"}}}}},
      {"timeline_fit", {}},
      {"center_selection", {}},
      {"scroll_to",
       {{{"pane", "graph_executions"}, {"index", 5}},
        {none,
         {{"pane", "graph_structure"}, {"index", 1}},
         {{"pane", "cellar"}, {"index", 1}},
         {{"pane", "alerts"}, {"index", -1}}}}},
      {"graph_hops", {{{"n", 2}}, {none, {{"n", 99}}, {{"n", "x"}}}}},
      {"fold_library", {}},
      {"stack_order", {{{"order", "inner"}}, {{{"order", "moon"}}}}},
      {"columns", {{{"hide", {"op"}}}, {{{"show", "op"}}, {{"hide", {"moon"}}}, {{"show", {7}}}}}},
      {"ops_of_line", {{{"line", s["source_code"]["line"]}}, {none}}},
      {"close_tab", {{{"index", 0}}, no_index}},
      {"activate_pane", {{{"pane", "stack_trace"}}, no_pane}},
      {"maximize_pane", {{{"pane", "source_code"}}, no_pane}},
      {"restore_panes", {}},
      {"reset_layout", {}},
      {"set_splitter",
       {{{"id", "left"}, {"at", 0.3}}, {none, {{"id", "left"}, {"at", 7}}, {{"id", "moon"}, {"at", 0.5}}}}},
      {"theme", {{{"name", "dark"}}, {{{"name", "pink"}}}}},
      {"language", {{{"tag", "de"}}, {none, {{"tag", "tlh"}}}}},
      {"scale", {{{"percent", 150}}, {{{"percent", 5}}, {{"percent", 900}}}}},
      {"palette", {{{"text", ">"}}, {{{"text", long_text}}}}},
      {"help", {}},
      {"show_causes", {}},
      {"show_remedy", {}},
      {"show_verdict", {}},
      {"show_runs", {}},
      {"show_diagnostics", {}},
      {"show_licences", {}},
      {"show_settings", {}},
      {"escape", {}},
  };
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const auto* table : {&viewer::session_commands(), &viewer::selection_commands(), &viewer::list_commands(),
                            &viewer::window_commands()})
    for (const viewer::CommandRow& row : *table) names.push_back(row.name);
  return names;
}

// A view in which much is not as it begins.
std::string some_link(Headless& v) {
  v.open(walkthrough());
  v.command("focus_trace", {{"index", 148}});
  v.command("filter", {{"query", "bad type:Log or /m.l/"}});
  v.command("sort", {{"column", "size"}});
  v.command("focus_frame", {{"index", 1}});
  v.command("set_splitter", {{"id", "left"}, {"at", 0.3}});
  v.command("theme", {{"name", "dark"}});
  v.command("graph_hops", {{"n", 2}});
  v.command("group_alerts", {{"by", "line"}});
  v.command("timeline_range", {{"begin", 20}, {"end", 60}});
  v.command("pin", {{"trace", 85}});
  v.command("pin", {{"trace", 88}});
  v.command("maximize_pane", {{"pane", "graph_executions"}});
  return v.app().link();
}

void check_sound(Headless& v) {
  CHECK(!viewer::json_of(viewer::json_text(v.app().state())).is_discarded());
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  for (const auto& [id, r] : v.app().ui.rects) {
    CAPTURE(id);
    CHECK((std::isfinite(r.x) && std::isfinite(r.y) && r.x >= 0 && r.y >= 0));
    CHECK((r.right() <= size.x + 1 && r.bottom() <= size.y + 1));
  }
}

}  // namespace

TEST_CASE("commands do what they are asked, or say why not and change nothing") {
  Headless v;
  bool is_open = false;
  const auto restore = [&] {
    if (v.app().popup != viewer::Popup::none) v.app().close_popup();
    v.app().apply_settings(
        R"({"language":"en","theme":"system","scale":1,"row_height":22,"columns_hidden":[],"columns_shown":[]})");
    if (!is_open) v.open(walkthrough());
    is_open = true;
    for (const char* name :
         {"clear_filter", "clear_pins", "timeline_fit", "restore_panes", "reset_layout", "first_bad"})
      v.command(name);
  };
  restore();
  const auto arguments = all_arguments(v);
  for (const std::string_view name : all_names()) {
    CAPTURE(name);
    restore();
    const std::string command(name);
    if (command.starts_with("open_") || command == "close_logdir") is_open = false;
    const auto found = arguments.find(name);
    if (found == arguments.end()) {  // what needs something to have happened before: it refuses, or does it
      const Json before = v.lasting_state();
      const viewer::Result result = v.command(command.c_str(), {{"trace", -1}, {"nonsense", "x"}});
      if (!result.ok) CHECK(v.lasting_state() == before);
      continue;
    }
    for (const Json& wrong : found->second.wrong) {
      CAPTURE(wrong);
      const Json before = v.lasting_state();
      const viewer::Result result = v.command(command.c_str(), wrong);
      CHECK_FALSE(result.ok);
      CHECK(result.message.size() > 5);
      CHECK(viewer::json_text(Json::diff(before, v.lasting_state())) == "[]");
    }
    const viewer::Result result = v.command(command.c_str(), found->second.right);
    CAPTURE(result.message);
    CHECK(result.ok);
    check_sound(v);
  }
  CHECK_FALSE(v.command("nonsense").ok);
  CHECK_FALSE(v.command("focus_trace", Json::array({1})).ok);
}

TEST_CASE("numbers of any size leave a timeline and lists that can be drawn") {
  Headless v;
  v.open(walkthrough());
  v.command("timeline_range", {{"begin", 10}, {"end", 20}});
  for (const double number : {1e308, -1e308, 1e-308, 9e15}) {
    CAPTURE(number);
    for (const auto& [name, argument] : {std::pair{"timeline_pan", "boxes"}, std::pair{"timeline_pan_page", "dir"}}) {
      v.command(name, {{argument, number}});
      CHECK(v.state()["timeline"]["end"].get<double>() - v.state()["timeline"]["begin"].get<double>() == 10);
    }
    v.command("timeline_zoom", {{"at", number}, {"factor", 1.0}});
    CHECK(v.state()["timeline"]["end"].get<double>() - v.state()["timeline"]["begin"].get<double>() == 10);
    for (const char* const pane : {"timeline", "alerts", "graph_executions"})
      v.command("scroll_to", {{"pane", pane}, {"index", number}});
    CHECK(v.state()["timeline"]["end"].get<double>() - v.state()["timeline"]["begin"].get<double>() == 10);
    check_sound(v);
  }
}

TEST_CASE("a source file that was chosen without a line, or with one that no file has") {
  Headless v;
  v.open(walkthrough());
  const std::string path = v.state()["source_code"]["path"];
  for (const std::int64_t line : {std::int64_t{0}, std::int64_t{-2147483648}, std::int64_t{2147483647}}) {
    CAPTURE(line);
    v.command("close_tab", {{"index", 0}});
    v.command("focus_source", {{"path", path}, {"line", line}});
    v.copied.clear();
    CHECK(v.command("copy", {{"what", "source"}}).ok == (line <= 0));
    CHECK((v.copied == v.app().source.lines.front() + "\n") == (line <= 0));
    CHECK(v.command("find", {{"text", "a"}, {"dir", -1}}).ok);
    CHECK(v.command("find", {{"text", "a"}, {"dir", 1}}).ok);
    check_sound(v);
  }
}

TEST_CASE("every row of the palette runs a command that there is") {
  Headless v;
  v.open(walkthrough());
  for (const viewer::CommandInfo& info : viewer::command_list()) {
    CAPTURE(info.command);
    const viewer::Result result = v.app().command(info.command, viewer::json_of(info.entry->arguments));
    CHECK(result.message.find("There is no command") == std::string::npos);
    if (v.app().popup != viewer::Popup::none) v.app().close_popup();
  }
}

TEST_CASE("every key in the list runs one command, but those that move or undo in several ways") {
  using Kind = viewer::KeyBinding::Kind;
  std::set<std::string> others;
  for (const viewer::CommandInfo& info : viewer::command_list())
    if (!info.entry->keys.empty() && viewer::parse_key(info.entry->keys).kind == Kind::none &&
        info.entry->keys.find(' ') == std::string::npos)
      others.insert(info.entry->keys);
  CHECK(others == std::set<std::string>{"←", "→", "↑", "↓", "End", "Esc"});
  const auto& all = viewer::key_bindings();
  for (const auto& a : all)
    for (const auto& b : all)
      if (&a != &b && a.kind == b.kind && a.keys == b.keys && a.character == b.character) CHECK(a.shift != b.shift);
  const auto bound = [&](std::string_view command) {
    return std::count_if(all.begin(), all.end(), [&](const auto& b) { return b.command == command; });
  };
  CHECK(bound("help") == 2);
  CHECK(bound("next_alert") == 2);
  CHECK(bound("activate_pane") == 6);
  CHECK(bound("scale") == 3);
}

TEST_CASE("keys with and without Shift and Ctrl") {
  Headless v;
  v.open(walkthrough());
  v.key("Shift+3");
  CHECK(v.state()["maximized"] == "graph_executions");
  v.key("5");
  CHECK(v.state()["active_pane"] == "source_code");
  v.key("Shift+t");
  const Json theme = v.state()["theme"];
  v.key("Shift+t");
  CHECK(v.state()["theme"] != theme);
  v.key("t");
  CHECK(v.state()["timeline"]["mode"] == "time");
  v.key("Shift+b");  // there is no other B
  CHECK(v.state()["graph_executions"]["only_bad"] == true);
  v.key("F1");
  CHECK(v.state()["popup"] == "help");
  v.key("?");
  CHECK(v.state()["popup"] == "none");
  v.key("Ctrl+Shift+p");
  CHECK(v.state()["popup"] == "palette");
  CHECK(std::string(v.app().palette.text) == ">");
}

TEST_CASE("a link restores the view in a viewer that opens the same logdir later") {
  Json before;
  std::string link;
  {
    Headless v;
    link = some_link(v);
    v.pass(1);
    CHECK(v.links.back() == link);
    before = v.lasting_state();
  }
  for (const bool first_open : {false, true}) {
    CAPTURE(first_open);
    Headless v;
    if (first_open) v.open(walkthrough());
    v.app().apply_link("#" + link);
    v.settle();
    if (!first_open) {
      CHECK(v.app().link() == "#" + link);
      v.open(walkthrough());
    }
    CHECK(v.app().link() == link);
    const Json after = v.lasting_state();
    for (const char* key : {"focus", "maximized", "theme", "run", "chain", "graph_structure"}) {
      CAPTURE(key);
      CHECK(after[key] == before[key]);
    }
    for (const char* key : {"filter", "sort", "pinned", "shown", "only_bad"})
      CHECK(after["graph_executions"][key] == before["graph_executions"][key]);
    for (const char* key : {"begin", "end", "mode"}) CHECK(after["timeline"][key] == before["timeline"][key]);
    CHECK(after["alerts"]["by"] == "line");
  }
}

TEST_CASE("a link restores which rows are on screen and which pane is active") {
  std::string link;
  {
    Headless v;
    v.open(walkthrough());
    v.command("filter", {{"query", "-type:Log"}});
    v.command("activate_pane", {{"pane", "stack_trace"}});
    v.command("scroll_to", {{"pane", "graph_executions"}, {"index", 300}});
    link = v.app().link();
  }
  CHECK(link.find("&gx=300&") != std::string::npos);
  CHECK(link.find("&pane=6") != std::string::npos);
  for (const bool first_open : {false, true}) {
    CAPTURE(first_open);
    Headless v;
    if (first_open) v.open(walkthrough());
    v.app().apply_link(link);
    v.settle();
    if (!first_open) v.open(walkthrough());
    CHECK(v.state()["graph_executions"]["first"] == 300);
    CHECK(v.state()["active_pane"] == "stack_trace");
    CHECK(v.state()["focus"]["trace"] == 88);
  }
}

TEST_CASE(
    "a link that selects a row and sorts: the row is on screen where the order puts it; one that was not stays so") {
  Headless v;
  v.open({walkthrough()});
  v.app().apply_link("nl=1&t=3&so=size%2Cd");
  v.settle();
  const auto is_on_screen = [&] {
    const auto visible = v.state()["graph_executions"]["visible"];
    return std::any_of(visible.begin(), visible.end(), [](const auto& row) { return row["index"] == 3; });
  };
  CHECK(v.state()["graph_executions"]["first"] > 0);
  CHECK(is_on_screen());
  v.command("scroll_to", {{"pane", "graph_executions"}, {"index", 0}});
  v.settle();
  CHECK_FALSE(is_on_screen());
  const std::string link = v.app().link();
  v.app().apply_link(link);
  v.settle();
  CHECK_FALSE(is_on_screen());
  CHECK(v.app().link() == link);
}

TEST_CASE("a link of another run is applied as far as it fits, and says so") {
  Headless v;
  v.open(walkthrough());
  v.app().apply_link("nl=1&run=ffffffff&t=7&q=type%3ALog");
  v.settle();
  CHECK(v.state()["focus"]["trace"] == 7);
  CHECK(v.state()["graph_executions"]["filter"] == "type:Log");
  CHECK_FALSE(v.state()["toasts"].empty());
}

TEST_CASE("a key that is held: what moves goes on, what switches stays as it was put") {
  Headless v;
  v.open(walkthrough());
  int switched = 0;
  bool was = v.app().rows_pane.only_bad;
  v.after_frame = [&] { switched += std::exchange(was, v.app().rows_pane.only_bad) != was ? 1 : 0; };
  v.hold(ImGuiKey_B, 1);
  CHECK(switched == 1);
  CHECK(was);
  v.after_frame = {};
  v.hold(ImGuiKey_C, 1);
  CHECK(v.app().popup == viewer::Popup::causes);
  v.key("Escape");
  v.command("first_bad");
  const Json first = v.state()["focus"];
  v.hold(ImGuiKey_O, 1);
  const Json far = v.state()["focus"];
  v.command("first_bad");
  v.key("o");
  CHECK(far != first);
  CHECK(far != v.state()["focus"]);
}

TEST_CASE("a link to more time than a run took shows all of it, and leads to itself") {
  Headless v;
  (void)some_link(v);
  v.command("restore_panes");
  v.app().apply_link("nl=1&tl=0.5,100000000,t");
  v.settle();
  CHECK(v.app().timeline_pane.begin == 0);
  CHECK(v.app().timeline_pane.end == doctest::Approx(v.app().timeline_whole()));
  const std::string link = v.app().link();
  v.app().apply_link(link);
  v.settle();
  CHECK(v.app().link() == link);
}

TEST_CASE("damaged links change what can be read of them and break nothing") {
  Headless v;
  const std::string good = some_link(v);
  v.command("restore_panes");
  std::vector<std::string> links = {"",
                                    "#",
                                    "nl",
                                    "nl=1",
                                    "nl=1&",
                                    "nl=1&=",
                                    "nl=1&t=99999999",
                                    "nl=1&t=-5",
                                    "nl=1&t=x",
                                    "nl=1&x=-7",
                                    "nl=1&x=99999999999999999999",
                                    "nl=1&q=%",
                                    "nl=1&q=%f",
                                    "nl=1&q=%zz",
                                    "nl=1&q=%ff%fe",
                                    "nl=1&q=/(((",
                                    "nl=1&tl=nan,inf",
                                    "nl=1&tl=-1e308,1e308",
                                    "nl=1&tl=1,0",
                                    "nl=1&sp=nan,nan,nan,nan,nan",
                                    "nl=1&sp=0,0,0,0,0",
                                    "nl=1&sp=1e9,1,1,1,1",
                                    "nl=1&h=999",
                                    "nl=1&h=-1",
                                    "nl=1&max=77",
                                    "nl=1&max=-3",
                                    "nl=1&pin=t99999999999999999999999,t-1,t",
                                    "nl=1&so=colour,d",
                                    "nl=1&so=,",
                                    "nl=1&by=moon",
                                    "nl=1&th=pink",
                                    "nl=1&fr=-9",
                                    "nl=1&fr=999",
                                    "nl=1&op=~",
                                    "nl=1&op=a~b",
                                    "nl=1&op=~~~~~",
                                    "nl=1&run=~99",
                                    "nl=1&run=~-1",
                                    "nl=1&q=" + std::string(100000, 'q'),
                                    "nl=1&op=" + std::string(100000, '~')};
  // Every one of these is the good link with one to four bytes changed, taken out or put in, the same every time.
  std::uint32_t random = 12345;
  const auto next = [&](std::size_t below) {
    random = random * 1664525 + 1013904223;
    return static_cast<std::size_t>(random >> 8) % below;
  };
  for (int i = 0; i < 150; ++i) {
    std::string link = good;
    for (std::size_t n = 1 + next(4); n > 0; --n) {
      const std::size_t at = next(link.size());
      if (next(3) == 0)
        link.erase(at, 1 + next(6));
      else if (next(2) == 0)
        link[at] = static_cast<char>(next(256));
      else
        link.insert(at, 1, "&=%~,"[next(5)]);
      if (link.empty()) link = "n";
    }
    links.push_back(link);
  }
  for (const std::string& link : links) {
    const std::string shown = link.substr(0, 300);
    CAPTURE(shown);
    v.app().apply_link(link);
    v.settle();
    check_sound(v);
    CHECK(v.app().state()["run"].is_string());
  }
  v.app().apply_link("nl=1&t=88");
  v.settle();
  CHECK(v.state()["focus"]["trace"] == 88);
}
