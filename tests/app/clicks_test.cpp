// Everything that can be clicked does the same whether the button is held for no time at all or for as long as a finger
// takes, and popups and the start screen by keyboard alone.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "headless.hpp"

using nanlens::test::golden;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
using nanlens::viewer::KeyStops;

namespace {

struct Place {
  const char* name;
  float width;
  float height;
  std::function<void(Headless&)> go;
  bool popup = false;
};

// What a click changes: the state, and what only the platform sees.
std::string told(Headless& v) {
  Json s = v.app().state();
  for (const char* const name : {"frame", "memory_bytes", "cut_texts", "hovered"}) s.erase(name);
  s["copied"] = v.copied;
  s["picks"] = v.picks;
  Json ids = Json::array();
  for (const auto& [id, rect] : v.app().ui.rects) ids.push_back(id);
  s["rects"] = ids;
  return viewer::json_text(s);
}

std::function<void(Headless&)> with_popup(const char* command, const std::string& logdir = walkthrough()) {
  return [command, logdir](Headless& v) {
    v.open(logdir);
    v.command(command);
  };
}

void at_ops_of_line(Headless& v) {
  v.open(walkthrough());
  v.command("ops_of_line", {{"line", v.state()["source_code"]["line"]}});
}

void at_runs(Headless& v) {
  v.open(golden(""));
  v.command("show_runs");
}

std::vector<Place> popups() {
  const std::string small = golden("core.FULL_HEALTH");  // most say nothing of what is open
  return {{"help", 1280, 720, with_popup("help", small), true},
          {"settings", 1280, 720, with_popup("show_settings", small), true},
          {"columns", 1280, 720, with_popup("columns", small), true},
          {"causes", 1280, 720, with_popup("show_causes"), true},
          {"diagnostics", 1280, 720, with_popup("show_diagnostics"), true},
          {"licences", 1280, 720, with_popup("show_licences", small), true},
          {"ops of a line", 1280, 720, at_ops_of_line, true},
          {"runs", 1280, 720, at_runs, true}};
}

std::vector<Place> places() {
  std::vector<Place> all = {
      {"start screen", 1280, 720, [](Headless&) {}},
      {"walkthrough", 1280, 720, [](Headless& v) { v.open(walkthrough()); }},
      {"narrow window", 900, 640, [](Headless& v) { v.open(walkthrough()); }},
      {"wide window", 2560, 1440, [](Headless& v) { v.open(walkthrough()); }},
      {"an execution", 1280, 720,
       [](Headless& v) {
         v.open(walkthrough());
         v.command("focus_execution", {{"index", 19}});
       }},
      {"several runs", 1280, 720, [](Headless& v) { v.open(golden("")); }},
      {"palette", 1280, 720, with_popup("palette", golden("core.FULL_HEALTH")), true},
  };
  for (Place& popup : popups()) all.push_back(std::move(popup));
  return all;
}

// Those of which none of the kind was tried before; of a popup, those inside it.
std::vector<std::string> new_kinds(Headless& v, const Place& place, std::set<std::string>& tried) {
  std::vector<std::string> ids;
  for (const auto& [id, rect] : v.app().ui.rects) {
    const bool inside = !place.popup || v.rect("popup").contains({rect.x + rect.w / 2, rect.y + rect.h / 2});
    if (inside && tried.insert(nanlens::test::kind_of(id)).second) ids.push_back(id);
  }
  return ids;
}

// What is told of a viewer after something was done to it, in a child of this process: it stays as it is for what is
// tried next.
std::string told_after(Headless& v, const std::function<void()>& act) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string text = [&]() noexcept {  // what is thrown ends the child, not the test case in it
      act();
      return told(v);
    }();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) ::_exit(1);
      done += static_cast<std::size_t>(n);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char part[65536];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return text;
}

std::string after_click(Headless& v, const std::string& id, double hold_ms) {
  return told_after(v, [&] { v.click(id, hold_ms); });
}

// Nothing where both are told alike.
std::string difference(const std::string& one, const std::string& other) {
  return one == other ? "" : viewer::json_text(Json::diff(viewer::json_of(one), viewer::json_of(other)));
}

}  // namespace

TEST_CASE("a click with no time between down and up does what a slow one does, wherever it is") {
  std::set<std::string> tried;
  for (const Place& place : places()) {
    CAPTURE(place.name);
    Headless v({place.width, place.height});
    place.go(v);
    for (const std::string& id : new_kinds(v, place, tried)) {
      CAPTURE(id);
      CHECK(difference(after_click(v, id, 0), after_click(v, id, 80)) == "");
    }
  }
  CHECK(tried.size() > 60);
}

TEST_CASE("popups by keyboard: Tab reaches everything that can be clicked, and Enter does what a click does") {
  for (const Place& place : popups()) {
    CAPTURE(place.name);
    Headless v;
    place.go(v);
    CHECK(v.app().ui.stops.cursor < v.app().ui.stops.count);
    const std::vector<KeyStops::Stop> stops = v.app().ui.stops.list;
    REQUIRE_FALSE(stops.empty());
    CHECK(stops.back().id == "popup:close");
    for (const auto& stop : stops) {
      CAPTURE(stop.id);
      const auto by_key = told_after(v, [&] {
        while (v.app().ui.stops.cursor != stop.number) v.key("Tab");
        v.key("Enter");
      });
      CHECK(difference(by_key, after_click(v, stop.id, 80)) == "");
    }
    v.key("Escape");
    CHECK(v.state()["popup"] == "none");
  }
}

TEST_CASE("popups by keyboard: arrows go to what lies there, texts scroll, a run is chosen") {
  Headless v;
  v.open(golden(""));
  const auto at = [&]() -> std::string {
    for (const auto& stop : v.app().ui.stops.list)
      if (stop.number == v.app().ui.stops.cursor) return stop.id;
    return {};
  };
  v.key("r");
  REQUIRE(v.state()["popup"] == "runs");
  const std::int64_t shown = v.state()["run_index"];
  CHECK(at() == "run:" + std::to_string(shown));
  v.key(shown == 0 ? "ArrowDown" : "ArrowUp");
  const std::string other = at();
  v.key("Enter");
  CHECK(v.state()["popup"] == "none");
  CHECK("run:" + viewer::json_text(v.state()["run_index"]) == other);
  v.command("show_settings");
  CHECK(at() == "settings:system");
  v.keys({"ArrowRight", "ArrowRight"});
  CHECK(at() == "settings:dark");
  v.key("Space");
  CHECK(v.state()["theme"] == "dark");
  CHECK(v.state()["popup"] == "settings");
  v.key("ArrowDown");
  CHECK(at() == "settings:larger");
  v.key("ArrowUp");
  CHECK(at().starts_with("settings:"));
  v.key("Shift+Tab");
  v.key("Escape");
  v.key("?");
  REQUIRE(v.state()["popup"] == "help");
  v.key("PageDown");
  CHECK(v.app().popup_first > 0);
  v.key("Home");
  CHECK(v.app().popup_first == 0);
  v.key("?");
  CHECK(v.state()["popup"] == "none");
}

TEST_CASE("a list in a popup scrolls to where the keyboard is") {
  Headless v({1280, 400});
  v.open(walkthrough());
  v.command("scale", {{"percent", 100}});
  v.command("columns");
  for (int i = 0; i < 10; ++i) v.key("ArrowDown");
  CHECK(v.shows("column:device"));
  v.key("Enter");
  CHECK(v.shows("column:device"));
  v.key("PageUp");
  CHECK(v.shows("column:index"));
}

TEST_CASE("Tab goes from pane to pane and out at the ends; on the start screen from button to button") {
  Headless v;
  CHECK(v.app().takes_tab(false));
  CHECK_FALSE(v.app().takes_tab(true));
  std::set<std::string> reached;
  while (v.app().takes_tab(false)) {
    v.key("Tab");
    for (const auto& stop : v.app().ui.stops.list)
      if (stop.number == v.app().ui.stops.cursor) reached.insert(stop.id);
  }
  for (const char* id : {"start:folder", "start:files", "start:sample", "licences", "example:cpp", "help", "settings"})
    CHECK(reached.contains(id));
  while (v.state()["picks"].is_null() && v.picks == 0 && v.app().takes_tab(true)) {
    v.key("Shift+Tab");
    for (const auto& stop : v.app().ui.stops.list)
      if (stop.number == v.app().ui.stops.cursor && stop.id == "start:folder") v.key("Enter");
  }
  CHECK(v.picks == 1);
  v.open(walkthrough());
  v.key("1");
  CHECK_FALSE(v.app().takes_tab(true));
  int panes = 1;
  for (; v.app().takes_tab(false); ++panes) v.key("Tab");
  CHECK(panes == 6);
  CHECK(v.state()["active_pane"] == "stack_trace");
  CHECK(v.app().takes_tab(true));
}

TEST_CASE("a screen reader is told the verdict once, then what the user selects") {
  Headless v;
  v.open(walkthrough());
  REQUIRE(v.told.size() == 1);
  CHECK(v.told[0].starts_with("Log at model.cpp:"));
  v.key(".");
  REQUIRE(v.told.size() == 2);
  CHECK(v.told[1].starts_with("Row 89"));
  v.pass(5);
  CHECK(v.told.size() == 2);
}

TEST_CASE("a tap makes rows large only while fingers are used") {
  Headless v;
  v.open(walkthrough());
  const float before = v.rect("trace:88").h;
  v.app().touch = true;
  v.app().wake();
  v.settle();
  CHECK(v.rect("trace:88").h >= 30);
  v.app().touch = false;
  v.app().wake();
  v.settle();
  CHECK(v.rect("trace:88").h == before);
}
