// Panes that move, one pane at a time on a phone, and what rows can do besides being selected.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "walkthrough.hpp"

namespace viewer = nanlens::viewer;
using nanlens::test::Headless;
using nanlens::test::walkthrough;
using nanlens::test::Walkthrough;

namespace {

const std::string default_layout = "R2C0ac1R3tgeC4sk";

}  // namespace

TEST_CASE("a pane's title is dragged onto another pane, beside it and to the window's edge") {
  Walkthrough v;
  REQUIRE(v.layout() == default_layout);
  v.drag(v.point("pane:stack_trace", 0.25f), v.point("trace:88"));  // the middle of the rows
  CHECK(v.layout() == "R2C0ac1R3tgTek.s");
  CHECK(v.shows("tab:graph_executions"));
  CHECK_FALSE(v.shows("trace:88"));
  v.click("tab:graph_executions");
  CHECK(v.shows("trace:88"));
  CHECK(v.state()["active_pane"] == "graph_executions");
  const auto alerts = v.rect("pane:alerts");
  v.drag(v.point("tab:stack_trace"), {alerts.x + alerts.w / 2, alerts.y + 380});
  CHECK(v.layout() == "R2C0R4akc1R3tges");
  v.drag(v.point("pane:stack_trace", 0.15f), {5, 300});
  CHECK(v.layout() == "C4kR2C0ac1R3tges");
  CHECK(v.rect("pane:stack_trace").x == 0);
  v.command("reset_layout");
  CHECK(v.layout() == default_layout);
}

TEST_CASE("a moved pane is remembered, and travels in a link only if the layout is not the first one") {
  Walkthrough v;
  v.pass(1);
  CHECK(v.app().link().find("lay=") == std::string::npos);
  REQUIRE(v.command("move_pane", {{"pane", "source_code"}, {"to", "alerts"}, {"side", "bottom"}}).ok);
  v.settle();
  const std::string moved = v.layout();
  CHECK(moved != default_layout);
  const std::string link = v.app().link();
  CHECK(link.find("lay=" + moved) != std::string::npos);
  v.pass(1);
  CHECK(v.settings.find(moved) != std::string::npos);
  Walkthrough other;
  other.app().apply_link(link);
  other.settle();
  CHECK(other.layout() == moved);
  other.app().apply_link("nl=1&lay=R2garbage");
  CHECK(other.layout() == moved);
}

TEST_CASE("where windows can't leave the main one, a pane can't either; nonsense is refused") {
  Walkthrough v;
  CHECK_FALSE(v.command("detach_pane", {{"pane", "alerts"}}).ok);
  CHECK_FALSE(v.command("dock_pane", {{"pane", "alerts"}}).ok);
  CHECK_FALSE(v.command("move_pane", {{"pane", "alerts"}, {"side", "tab"}}).ok);
  CHECK_FALSE(v.command("move_pane", {{"pane", "alerts"}, {"to", "cellar"}, {"side", "left"}}).ok);
  CHECK_FALSE(v.command("move_pane", {{"pane", "alerts"}, {"to", "timeline"}}).ok);
  CHECK(v.layout() == default_layout);
  v.app().platform.can_detach = true;
  CHECK(v.command("detach_pane", {{"pane", "alerts"}}).ok);
  CHECK(v.layout() == default_layout + "-a");
  v.settle();
  CHECK(v.shows("pane:alerts:dock"));
  v.click("pane:alerts:dock");
  CHECK(v.layout() == default_layout);
}

TEST_CASE("a phone's window shows one pane with tabs, and what is tapped is as large as a finger") {
  Walkthrough v;
  v.resize(390, 844);
  REQUIRE(v.state()["phone"] == true);
  for (const char* const pane :
       {"timeline", "graph_executions", "graph_structure", "source_code", "stack_trace", "alerts"}) {
    v.click(std::string("tab:") + pane);
    CHECK(v.state()["active_pane"] == pane);
    CHECK(v.shows(std::string("pane:") + pane));
    for (const auto& [id, r] : v.app().ui.rects) {
      CHECK_MESSAGE((r.x >= 0 && r.y >= 0 && r.right() <= 390.5f && r.bottom() <= 844.5f), id);
      const bool tapped = id.starts_with("tab:") || id.starts_with("verdict:") || id.starts_with("filter:") ||
                          id == "help" || id == "settings" || id == "alerts:next" || id == "stack:order";
      if (tapped) CHECK_MESSAGE((r.h >= 40 && r.w >= 40), id);
    }
  }
  v.click("tab:graph_executions");
  CHECK(v.rect("trace:85").h >= 44);
  v.click("trace:85");
  CHECK(v.state()["focus"]["trace"] == 85);
  v.resize(320, 480);
  v.click("tab:alerts");
  CHECK(v.shows("alerts:next"));
  v.resize(1280, 720);
  CHECK(v.state()["phone"] == false);
  CHECK(v.layout() == default_layout);
}

TEST_CASE("the headline of Why has the room that its words take, on a phone as well") {
  Walkthrough v;
  v.command("show_causes");
  v.settle();
  const float wide = v.rect("cause:0").h;
  v.resize(390, 844);
  const viewer::Ui& ui = v.app().ui;
  const viewer::CauseLine& cause = v.app().explanation.causes.at(0);
  const viewer::Rect headline = v.rect("cause:0");
  const float words = headline.w - v.rect("cause:mute:0").w;
  CHECK(headline.h > wide);
  CHECK(headline.h >= ui.paragraph_height(ui.sans, 15, cause.sentence + " " + cause.consequence, words) +
                          ui.paragraph_height(ui.sans, 13, cause.remedy, words));
  CHECK(headline.bottom() < v.rect("popup").bottom());
}

TEST_CASE("rows: Ctrl pins, Shift selects a range that is copied, End follows, F3 goes through hits") {
  Walkthrough v;
  v.hover(v.point("trace:85"));
  CHECK(v.state()["hovered"]["trace"] == 85);
  v.command("select_range", {{"begin", 88}, {"end", 91}});
  v.key("Ctrl+c");
  CHECK(std::count(v.copied.begin(), v.copied.end(), '\n') == 4);
  CHECK(v.copied.find("Log") != std::string::npos);
  v.key("Escape");
  CHECK(v.rows()["range"].is_null());
  CHECK_FALSE(v.command("select_range", {{"begin", 0}, {"end", 600}}).ok);
  v.keys({"3", "End"});
  CHECK(v.state()["focus"]["trace"] == 599);
  CHECK(v.rows()["tail"] == true);
  v.key("ArrowUp");
  CHECK(v.state()["focus"]["trace"] == 598);
  CHECK(v.rows()["tail"] == false);
  CHECK_FALSE(v.command("next_hit").ok);
  v.command("filter", {{"query", "type:Log"}});
  v.settle();
  v.command("next_hit");  // behind the last one comes the first
  v.settle();
  CHECK(v.state()["focus"]["op_name"] == "Log");
  const auto first = v.state()["focus"]["trace"].get<int>();
  v.key("F3");
  CHECK(v.state()["focus"]["trace"].get<int>() > first);
  v.key("Shift+F3");
  CHECK(v.state()["focus"]["trace"] == first);
  CHECK(v.rows()["visible"][0]["bar"].size() == 6);
  v.command("clear_filter");
  CHECK(v.rows()["new_rows"] == 0);  // they were there before
  CHECK_FALSE(v.shows("rows:new"));
}

TEST_CASE("a source file that the logdir lacks is shown when it is dropped, and no other") {
  Headless v;
  v.open(walkthrough());
  const std::string path = v.state()["source_code"]["path"];
  CHECK_FALSE(v.app().wants_source(path));  // its text is there
  v.command("focus_source", {{"path", "/home/u/lost.py"}, {"line", 2}});
  v.settle();
  CHECK(v.state()["source_code"]["num_lines"] == 0);
  CHECK_FALSE(v.app().wants_source("/tmp/other.py"));
  REQUIRE(v.app().wants_source("/tmp/lost.py"));
  v.app().give_source("first\r\nsecond\nthird");
  v.settle();
  CHECK(v.state()["source_code"]["num_lines"] == 3);
  CHECK(v.state()["source_code"]["given"] == true);
  CHECK(v.shows("source:given"));
  v.command("focus_source", {{"path", path}, {"line", 1}});
  v.settle();
  CHECK(v.state()["source_code"]["given"] == false);
  v.command("focus_source", {{"path", "/home/u/lost.py"}, {"line", 3}});
  v.settle();
  CHECK(v.state()["source_code"]["num_lines"] == 3);
}
