// What helps to look: pins compared, the strip beside the rows, tooltips that stay, menus, what is remembered.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "imgui.h"
#include "walkthrough.hpp"

using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
using nanlens::test::Walkthrough;
namespace viewer = nanlens::viewer;

TEST_CASE("pins of one tensor are counted, and a line says what differs between them") {
  Walkthrough v;
  v.command("pin", {{"trace", 88}});
  v.command("pin", {{"trace", 85}});
  CHECK(v.rows()["compared"].empty());  // two tensors
  v.command("pin", {{"trace", 28}});    // the same op, when it was well
  v.command("pin", {{"trace", 148}});
  REQUIRE(v.rows()["compared"].size() == 1);
  const std::string text = v.rows()["compared"][0];
  CHECK(text.starts_with("Log:0, 3 times:"));
  CHECK(text.find("−∞: 0 → 5 → ") != std::string::npos);
  CHECK(v.shows("pins:compared:0"));
  CHECK(v.shows("pin:trace:28"));
  v.click("pins");
  CHECK_FALSE(v.shows("pins:compared:0"));
}

TEST_CASE("pins are there again when the same run is opened later, and not in another run") {
  Walkthrough v;
  v.command("pin", {{"trace", 88}});
  Headless next;
  next.app().apply_settings(v.settings);
  next.open(nanlens::test::golden("core.FULL_HEALTH"));
  CHECK(next.state()["graph_executions"]["pinned"].empty());
  next.open(walkthrough());
  CHECK(next.state()["graph_executions"]["pinned"] == Json({88}));
}

TEST_CASE("the strip beside filtered rows is the whole run, with hits and bad rows; a click goes to the next hit") {
  Walkthrough v;
  Json map = v.rows()["minimap"];
  CHECK(map["of_run"] == false);
  CHECK(map["bad"] > 20);
  CHECK(map["calls"] > 0);
  v.command("filter", {{"query", "type:Log"}});
  map = v.rows()["minimap"];
  CHECK(map["of_run"] == true);
  CHECK(map["hits"] == 10);
  CHECK(map["bad"] > 20);  // of the run, not of what passes
  v.command("filter", {{"query", "type:MatMul or type:Mul or type:Add"}});
  REQUIRE(v.rows()["shown"] > 100);
  v.click_at(v.point("rows:minimap", 0.5f, 0.99f));
  const Json visible = v.rows()["visible"];
  REQUIRE_FALSE(visible.empty());
  CHECK(visible.back()["index"] > 570);
  v.click_at(v.point("rows:minimap", 0.5f, 0.5f));
  CHECK(v.rows()["visible"].front()["index"] < 300);
  CHECK(v.rows()["visible"].back()["index"] > 290);
  v.command("sort", {{"column", "size"}});
  CHECK(v.rows()["minimap"]["of_run"] == false);
}

TEST_CASE("Ctrl holds a tooltip, whose text can be selected and copied; it goes when the mouse has left it") {
  Walkthrough v;
  v.hover(v.point("trace:88", 0.3f));
  v.pass(0.5);
  CHECK(v.state()["tooltip"].is_null());
  v.control(true);
  REQUIRE(v.state()["tooltip"].is_string());
  CHECK(v.state()["tooltip"].get<std::string>().starts_with("Log:0\nLog"));
  REQUIRE(v.shows("tooltip"));
  const viewer::Rect box = v.rect("tooltip");
  v.control(false);
  v.hover({box.x + 20, box.y + 12});
  CHECK(v.shows("tooltip"));
  v.double_click("tooltip");
  v.copied.clear();
  ImGui::SetClipboardText("");
  v.key("Ctrl+a");
  v.key("Ctrl+c");
  CHECK(std::string(ImGui::GetClipboardText()).starts_with("Log:0\nLog"));
  CHECK(v.copied.empty());  // not the row as well
  v.hover({5, 700});
  CHECK(v.state()["tooltip"].is_null());
  CHECK_FALSE(v.shows("tooltip"));
}

TEST_CASE("a row's menu: its op is marked as expected, and no longer; filters for what is like it") {
  Walkthrough v;
  const auto choose = [&](const char* entry) {
    v.click("trace:88", 80, 1);
    REQUIRE(v.app().menu_open);
    v.click(std::string("menu:") + entry);
    CHECK_FALSE(v.app().menu_open);
  };
  choose("expected");
  CHECK(v.state()["alerts"]["expected"] == Json({"loss/Log"}));
  choose("expected");
  CHECK(v.state()["alerts"]["expected"].empty());
  choose("op");
  CHECK(v.rows()["filter"] == "op:\"Log\"");
  CHECK(v.rows()["shown"] == 10);
}

TEST_CASE("a popup that is asked for in a pane with a window of its own opens over that window") {
  Walkthrough v;
  v.app().platform.can_detach = true;
  REQUIRE(v.app().command("detach_pane", {{"pane", "graph_executions"}}).ok);
  v.app().layout.windows[static_cast<std::size_t>(viewer::Pane::rows)] = {500, 160, 500, 400};
  v.settle();
  const viewer::Rect pane = v.app().layout.windows[static_cast<std::size_t>(viewer::Pane::rows)];
  v.click("rows:columns");
  CHECK(v.state()["popup"] == "columns");
  CHECK(v.app().popup_of == viewer::Pane::rows);
  const viewer::Rect popup = v.rect("popup");
  CHECK(popup.x + popup.w / 2 == doctest::Approx(pane.x + pane.w / 2).epsilon(0.01));
  CHECK(popup.y + popup.h / 2 == doctest::Approx(pane.y + pane.h / 2).epsilon(0.01));
  v.click("column:device");
  CHECK(v.shows("popup"));
  v.key("Escape");
  CHECK(v.state()["popup"] == "none");
  v.key("1");
  v.command("show_causes");
  CHECK_FALSE(v.app().popup_of.has_value());
  CHECK(v.rect("popup").x + v.rect("popup").w / 2 == doctest::Approx(640).epsilon(0.01));
}

TEST_CASE("behind the last alert comes the first, after it was said to be the last; and the other way") {
  Walkthrough v;
  v.command("focus_alert", {{"index", 498}});
  v.key(".");
  CHECK(v.state()["toasts"].back().get<std::string>().find("last alert") != std::string::npos);
  v.key(".");
  CHECK(v.trace() == 88);
  v.key(",");
  CHECK(v.trace() == 88);
  v.key(",");
  CHECK(v.app().selection.alert == 498);
  v.key(".");
  v.key(",");
  CHECK(v.app().selection.alert == 497);  // another key in between: no turning round
}

TEST_CASE("Alt and arrows go through what was selected") {
  Walkthrough v;
  v.command("focus_trace", {{"index", 120}});
  v.pass(1);
  v.command("focus_trace", {{"index", 130}});
  v.key("Alt+ArrowLeft");
  CHECK(v.trace() == 120);
  v.key("Alt+ArrowRight");
  CHECK(v.trace() == 130);
}

TEST_CASE("a link that waits for its logdir says for which run it is") {
  Headless v;
  CHECK_FALSE(v.shows("linked"));
  v.app().apply_link("nl=1&run=8eff6789&t=12");
  v.settle();
  CHECK(v.shows("linked"));
  CHECK(v.app().linked_run() == "8eff6789");
  v.open(walkthrough());
  CHECK(v.app().linked_run().empty());
}

TEST_CASE("the palette: a line of a file, graphs alone") {
  Walkthrough v;
  v.key("Ctrl+p");
  v.type("model.cpp:12");
  v.key("Enter");
  CHECK(v.state()["source_code"]["path"].get<std::string>().ends_with("model.cpp"));
  CHECK(v.state()["source_code"]["line"] == 12);
  v.key("Ctrl+p");
  v.type("@loss");
  v.key("Enter");
  CHECK(v.state()["graph_structure"]["graph_name"] == "loss");
  CHECK(v.state()["graph_structure"]["op_name"].is_null());
}

TEST_CASE("the verdict is closed by its ×, and comes back when it is asked for or another run is opened") {
  Walkthrough v;
  REQUIRE(v.shows("verdict"));
  const float top = v.rect("pane:alerts").y;
  v.click("verdict:close");
  CHECK_FALSE(v.shows("verdict"));
  CHECK(v.rect("pane:alerts").y < top);
  v.command("show_verdict");
  CHECK(v.shows("verdict"));
  v.command("show_verdict", {{"on", false}});
  CHECK_FALSE(v.shows("verdict"));
  v.open(walkthrough());
  CHECK(v.shows("verdict"));
}

TEST_CASE("what was open before is listed with what is known of it, which is told when a logdir has been read") {
  Headless v;
  std::vector<std::int64_t> told;
  v.app().platform.loaded = [&](const viewer::Overview& overview) {
    told.push_back(static_cast<std::int64_t>(overview.runs.at(0).num_traces));
  };
  v.app().platform.recent = {{walkthrough(), 1.7e9, 600, 499}, {"/tmp/other", 0, -1, -1}};
  v.app().wake();
  v.settle();
  CHECK(v.shows("recent:facts:0"));
  CHECK_FALSE(v.shows("recent:facts:1"));
  v.click_at(v.point("recent:0", 0.1F));
  CHECK(v.state()["focus"]["trace"] == 88);
  CHECK(told == std::vector<std::int64_t>{600});
}

TEST_CASE("functions have their names below their boxes where there is room for them") {
  const auto names = [](float width, float height) {
    Headless v({width, height});
    v.open(walkthrough());
    std::vector<viewer::Rect> places;
    for (const auto& [id, rect] : v.app().ui.rects)
      if (id.starts_with("timeline:name:")) {
        places.push_back(rect);
        CHECK(rect.y >= v.rect("timeline:box:" + id.substr(14)).bottom());
      }
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    for (std::size_t i = 1; i < places.size(); ++i) CHECK(places[i].x >= places[i - 1].right());
    return places.size();
  };
  CHECK(names(1280, 720) == 0);
  CHECK(names(2560, 1440) > 5);
}

TEST_CASE("a notice of what was marked as expected stays under the mouse, and takes it back") {
  Walkthrough v;
  v.key("x");
  CHECK(v.state()["alerts"]["expected"] == Json({"loss/Log"}));
  REQUIRE(v.shows("notice:undo:0"));
  v.hover(v.point("notice:undo:0"));
  v.pass(9);
  REQUIRE(v.shows("notice:undo:0"));
  v.click("notice:undo:0");
  CHECK(v.state()["alerts"]["expected"].empty());
  CHECK(v.state()["focus"]["trace"] == 88);  // what lies below the notice got no click
  v.hover({5, 5});
  v.pass(9);
  CHECK(v.state()["toasts"].empty());
}

TEST_CASE("what removed bad values again is one click away from the alerts") {
  Walkthrough v;
  v.click("alerts:removed");
  CHECK(v.state()["popup"] == "causes");
}
