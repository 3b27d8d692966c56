// Marks of nanlens.mutes in the viewer: what they list is counted and shown, and no alarm.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include "../support/rank_on_paper.hpp"
#include "headless.hpp"
#include "report/mutes_files.hpp"

using nanlens::test::GrowingFiles;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
namespace fs = std::filesystem;

namespace {

// The walkthrough's files, in memory.
GrowingFiles& put_walkthrough(Headless& v) {
  GrowingFiles& files = v.memory["memory:run"];
  for (const auto& entry : std::filesystem::directory_iterator(walkthrough())) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.append(entry.path().filename().string(), {std::istreambuf_iterator<char>(file), {}});
  }
  return files;
}

bool tells(const Json& diagnostics, const std::string& file, const std::string& message) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Json& d) {
    return d["file"] == file && d["message"].get<std::string>().find(message) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("what nanlens.mutes lists is counted, behind a toggle, and no alarm; lines that do nothing are told") {
  Headless v({1280, 900});
  put_walkthrough(v).append("nanlens.mutes",
                            "# a comment\ntype:Log -- what the walkthrough is about\ntype:Exp -- there is none\n"
                            "type:Log until:2001-01-31 -- long ago\n");
  v.open("memory:run");
  const Json s = v.state();
  CHECK(s["verdict"]["all_muted"] == true);
  CHECK(s["verdict"]["muted"] == s["verdict"]["causes"]);
  CHECK(s["verdict"]["muted_by"] == "nanlens.mutes:2");
  CHECK(s["causes"][0]["muted_by"] == "nanlens.mutes:2");
  CHECK(s["alerts"]["total"] == 499);
  CHECK(s["alerts"]["muted"] == 499);
  CHECK(s["alerts"]["visible"].empty());
  CHECK(tells(s["diagnostics"], "nanlens.mutes:3", "matches nothing"));
  CHECK(tells(s["diagnostics"], "nanlens.mutes:4", "expired after 2001-01-31"));
  CHECK_FALSE(tells(s["diagnostics"], "nanlens.mutes:2", ""));
  REQUIRE_FALSE(v.told.empty());
  CHECK(v.told.front().find("muted by nanlens.mutes:2") != std::string::npos);
  v.click("alerts:group:muted");
  CHECK_FALSE(v.state()["alerts"]["visible"].empty());
  v.hover(v.point("alert:1"));
  v.pass(0.5);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
  v.app().wake();
  v.settle();
  CHECK(v.state()["tooltip"].get<std::string>().find("what the walkthrough is about") != std::string::npos);
}

TEST_CASE("a mask that does no harm is no alarm, as it passes a check; with a NaN beside it, that one is") {
  for (const bool nan : {false, true}) {
    CAPTURE(nan);
    Headless v;
    nanlens::test::RankOnPaper run(0, 1.7e9);
    if (nan) run.op("Log", 2);
    run.mask();
    run.store(v.memory["memory:run"], "host");
    v.open("memory:run");
    const Json verdict = v.state()["verdict"];
    CHECK(verdict["harmless"] == !nan);
    CHECK((verdict["id"] == "rc.expected") == !nan);
    CHECK(verdict["causes"] == (nan ? 2 : 1));
  }
}

TEST_CASE("without a mark that fits, everything is as it was") {
  Headless v;
  put_walkthrough(v).append("nanlens.mutes", "type:Log graph:no_such_graph -- elsewhere\n");
  v.open("memory:run");
  const Json s = v.state();
  CHECK(s["verdict"]["all_muted"] == false);
  CHECK(s["verdict"]["muted"] == 0);
  CHECK(s["alerts"]["muted"] == 0);
  CHECK(s["diagnostics"].size() == 1);
}

TEST_CASE("Expected… gives the line of a cause, with a reason; written into the logdir it mutes at once") {
  Headless v;
  GrowingFiles& files = put_walkthrough(v);
  v.app().platform.mutes_file = [] { return "run/nanlens.mutes"; };
  v.app().platform.add_mute = [&](const std::string&, const std::string& line) {
    files.append("nanlens.mutes", line + "\n");
    return true;
  };
  v.open("memory:run");
  REQUIRE(v.state()["alerts"]["muted"] == 0);
  v.command("show_causes");
  v.click("cause:mute:0");
  const std::string line = v.state()["mute"].get<std::string>();
  CHECK(line.starts_with("rule:rc."));
  CHECK(line.find(" type:Log op:Log ") == std::string::npos);  // a name that is the type says nothing more
  CHECK(line.find(" file:model.cpp:") != std::string::npos);
  CHECK_FALSE(v.command("keep_mute", {{"to", "copy"}}).ok);  // there is no reason yet
  v.type("the walkthrough's bug");
  v.click("mute:copy");
  CHECK(v.copied == line + "the walkthrough's bug");
  CHECK(v.state()["popup"] == "none");
  v.command("focus_trace", {{"index", 88}});
  REQUIRE(v.app().command("mute_reason", {{"text", "meant\ntype:Exp"}}).ok);
  CHECK(v.app().mute_pane.line().ends_with("meant type:Exp"));
  REQUIRE(v.command("mute").ok);
  v.type("meant");
  v.click("mute:write");
  CHECK(v.state()["alerts"]["muted"] == 0);  // it asks first
  v.click("mute:write");
  CHECK(v.state()["alerts"]["muted"] == 499);
  CHECK(v.state()["verdict"]["muted_by"] == "nanlens.mutes:1");
  CHECK_FALSE(v.command("mute").ok);  // it is muted already
}

TEST_CASE("a mark is one line, and goes through no link to a file of another name") {
  using nanlens::report::append_mute;
  const fs::path directory = fs::temp_directory_path() / ("nanlens-mutes-" + std::to_string(::getpid()));
  fs::create_directories(directory / "project");
  const auto contents = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const fs::path file = directory / "nanlens.mutes";
  std::ofstream(directory / "profile") << "old\n";
  fs::create_symlink("profile", file);
  CHECK_FALSE(append_mute(file.string(), "type:Log -- meant"));
  CHECK(contents(directory / "profile") == "old\n");
  fs::remove(file);
  fs::create_symlink("missing", file);
  CHECK_FALSE(append_mute(file.string(), "type:Log -- meant"));
  CHECK_FALSE(fs::exists(directory / "missing"));
  fs::remove(file);
  std::ofstream(directory / "project/nanlens.mutes") << "# of the project";
  fs::create_symlink("project/nanlens.mutes", file);
  CHECK(append_mute(file.string(), "type:Log -- meant"));
  CHECK_FALSE(append_mute(file.string(), "type:Log -- meant\ntype:Exp -- not asked for"));
  CHECK(contents(file) == "# of the project\ntype:Log -- meant\n");
  fs::remove(file);
  CHECK(append_mute(file.string(), "type:Log -- meant"));
  CHECK(contents(file) == "type:Log -- meant\n");
  fs::remove_all(directory);
}
