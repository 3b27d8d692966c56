// Rules in the viewer: made of the filter, edited while what they find is told, kept, turned off, removed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "growth.hpp"
#include "report/rules_files.hpp"
#include "walkthrough.hpp"

using nanlens::test::bad_run;
using nanlens::test::GrowingFiles;
using nanlens::test::Growth;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::Walkthrough;
using nanlens::test::walkthrough;
namespace fs = std::filesystem;

namespace {

// A directory whose nanlens.rules the viewer may write, as on the desktop.
struct Written : Walkthrough {
  explicit Written(std::string text = {}) : Walkthrough(false), on_disk(std::move(text)) {
    find_rules = [this] {
      std::vector<nanlens::report::RulesFile> files;
      if (!on_disk.empty()) files.push_back({"nanlens.rules", "run/nanlens.rules", on_disk});
      return files;
    };
    app().platform.rules_file = [] { return "run/nanlens.rules"; };
    app().platform.write_rules = [this](const std::string& file, const std::string& before, const std::string& text) {
      CHECK(file == "run/nanlens.rules");
      if (before != on_disk) return false;
      on_disk = text;
      return true;
    };
    open(walkthrough());
  }
  Json rules() { return state()["rules"]; }
  Json first_rule() { return rules()["lines"][0]; }
  void undo() { click("notice:undo:" + std::to_string(state()["toasts"].size() - 1)); }
  std::string on_disk;
};

// Texts of the viewer that do not fit: functions of the program may be cut.
std::string own_cut_texts(Headless& v) {
  std::string cut;
  const Json state = v.state();
  for (const Json& text : state["cut_texts"])
    if (text.get<std::string>().find("::") == std::string::npos) cut += text.get<std::string>() + "\n";
  return cut;
}

}  // namespace

TEST_CASE("+ rule makes a rule of the filter, tells what it finds while it is typed, and keeps it") {
  Walkthrough v;
  v.command("filter", {{"query", "zero>50%"}});
  const std::uint64_t shown = v.rows()["shown"];
  REQUIRE(shown > 0);
  v.click("filter:rule");
  Json editor = v.state()["rules"]["editor"];
  CHECK(editor["conditions"] == "zero>50%");
  CHECK(editor["name"] == "rule 1");
  CHECK(editor["rows"] >= shown);  // rules are about eager ops, too
  CHECK(v.state()["typing"] == true);
  v.key("End");
  v.type(" typ:Relu");
  editor = v.state()["rules"]["editor"];
  CHECK(editor["state"] == "unreadable");
  CHECK(editor["error"].get<std::string>().find("type:") != std::string::npos);
  v.click("rule:save");
  CHECK(v.state()["popup"] == "rule");  // it can't be read: nothing is saved
  CHECK(v.state()["rules"]["editor"]["fault"] != nullptr);
  v.command("rule_text", {{"conditions", "zero>50% type:Relu"}, {"name", "dead: relu"}, {"level", "warning"}});
  const std::uint64_t rows = v.state()["rules"]["editor"]["rows"];
  CHECK(rows > 0);
  CHECK(rows < shown);
  v.click("rule:save");
  const Json saved = v.state()["rules"];
  CHECK(v.state()["popup"] == "none");
  CHECK(saved["texts"][0]["text"] == "warning dead  relu: zero>50% type:Relu\n");
  CHECK(saved["lines"][0]["rows"] == rows);
  CHECK(saved["holding"] == Json({0, 1, 0}));
  CHECK(v.rows()["minimap"]["rules"] > 0);
  const Json boxes = v.state()["timeline"]["boxes"];
  const auto marked = std::count_if(boxes.begin(), boxes.end(), [](const Json& box) { return box["rules"] == true; });
  CHECK(marked > 0);
  CHECK(marked < static_cast<std::ptrdiff_t>(boxes.size()));
  Headless other;
  other.app().apply_settings(v.settings);
  other.open(walkthrough());
  CHECK(other.state()["rules"]["lines"] == saved["lines"]);
}

TEST_CASE("a rule is a type of alerts: its places and rows unfold, and each leads to its row") {
  Written v;
  REQUIRE(v.command("put_rule", {{"rule", "zeros: zero>50% type:Relu -- they no longer learn"}}).ok);
  CHECK(v.on_disk == "zeros: zero>50% type:Relu -- they no longer learn\n");

  v.click("rule:rule zeros");
  CHECK(v.state()["focus"]["trace"].is_number());
  const Json place = v.rules()["lines"][1];
  CHECK(place["kind"] == "place");
  CHECK(place["place"].get<std::string>().starts_with("model.cpp:"));
  CHECK(place["trace"] == v.state()["focus"]["trace"]);
  v.command("fold_rules", {{"key", place["key"]}, {"on", false}});
  std::uint64_t rows = 0;
  const Json lines = v.rules()["lines"];
  for (const Json& line : lines)
    if (line["kind"] == "row") ++rows;
  CHECK(rows == place["rows"]);
  const std::int64_t first = v.trace();
  v.key("h");
  CHECK(v.trace() > first);
  v.key("Shift+h");
  CHECK(v.trace() == first);
  CHECK_FALSE(v.command("next_rule_hit", {{"name", "no such"}}).ok);
  v.command("focus_alert_type", {{"type", "zeros"}});
  CHECK(v.trace() == first);
}

TEST_CASE("rules are edited, turned off, removed and taken back in nanlens.rules, whose comments stay") {
  Written v;
  v.on_disk = "";
  REQUIRE(v.command("put_rule", {{"rule", "note bad ones: bad"}}).ok);
  REQUIRE(v.command("edit_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.rules()["editor"]["rows"] == v.first_rule()["rows"]);
  v.command("rule_text", {{"level", "error"}, {"reason", "never"}});
  v.click("rule:save");
  CHECK(v.on_disk == "bad ones: bad -- never\n");
  CHECK(v.first_rule()["level"] == "error");
  REQUIRE(v.command("copy_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.copied == "--rule 'bad ones: bad -- never'");
  REQUIRE(v.command("turn_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.on_disk == "#off bad ones: bad -- never\n");
  CHECK(v.first_rule()["state"] == "off");
  CHECK(v.rules()["holding"] == Json({0, 0, 0}));
  REQUIRE(v.command("turn_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.rules()["holding"] == Json({1, 0, 0}));
  REQUIRE(v.command("standard_rules").ok);
  CHECK(v.rules()["total"] == 12);
  CHECK_FALSE(v.command("standard_rules").ok);
  REQUIRE(v.command("remove_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.rules()["total"] == 11);
  CHECK(v.on_disk.find("bad ones") == std::string::npos);
  v.undo();
  CHECK(v.rules()["total"] == 12);
  CHECK(v.on_disk.starts_with("bad ones: bad -- never\n"));  // where it was
  CHECK_FALSE(v.command("put_rule", {{"rule", "no colon"}}).ok);
  v.on_disk += "# of somebody else\n";
  CHECK_FALSE(v.command("remove_rule", {{"name", "bad ones"}}).ok);
  CHECK(v.on_disk.ends_with("# of somebody else\n"));
}

TEST_CASE("a removed line comes back as it was, where it was, beside whatever has its name by now") {
  Written v("# ours\r\n#off zeros: zero>50%\r\n  note x: ba(d  \r\nlast: bad");
  REQUIRE(v.command("remove_rule", {{"name", "zeros"}}).ok);
  REQUIRE(v.command("put_rule", {{"rule", "zeros: bad"}}).ok);
  CHECK(v.on_disk == "# ours\r\n  note x: ba(d  \r\nlast: bad\r\nzeros: bad\r\n");
  v.undo();
  CHECK(v.on_disk == "# ours\r\n#off zeros: zero>50%\r\n  note x: ba(d  \r\nlast: bad\r\nzeros: bad\r\n");
  REQUIRE(v.command("remove_rule", {{"file", 0}, {"line", 3}}).ok);
  v.undo();
  CHECK(v.on_disk.find("\r\n  note x: ba(d  \r\nlast") != std::string::npos);
  REQUIRE(v.command("remove_rule", {{"name", "last"}}).ok);
  REQUIRE(v.command("put_rule", {{"rule", "last: nan>0"}}).ok);
  const std::string before = v.on_disk;
  v.undo();  // two that are on can't have one name
  CHECK(v.on_disk == before);
  CHECK(v.state()["toasts"].back().get<std::string>().find("last") != std::string::npos);
}

TEST_CASE("a new rule is not called as another one, on or off, and says so") {
  const std::string ours = "bad ones: bad\n#off zeros: zero>50%\n";
  Written v(ours);
  for (const auto& [name, tells] : {std::pair{"zeros", "off"}, {"bad ones", "another"}}) {
    REQUIRE(v.command("add_rule", {{"name", name}, {"conditions", "nan>0"}}).ok);
    CHECK(v.rules()["editor"]["error"].get<std::string>().find(tells) != std::string::npos);
    v.click("rule:save");
    CHECK(v.state()["popup"] == "rule");
    CHECK(v.rules()["editor"]["fault"].get<std::string>().find(tells) != std::string::npos);
    CHECK(v.on_disk == ours);
  }
  CHECK_FALSE(v.command("put_rule", {{"rule", "zeros: nan>0"}}).ok);
  REQUIRE(v.command("edit_rule", {{"name", "bad ones"}}).ok);
  v.command("rule_text", {{"name", "zeros"}});
  CHECK_FALSE(v.command("save_rule").ok);
  CHECK(v.on_disk == ours);
  v.command("rule_text", {{"name", "others"}});
  CHECK(v.command("save_rule").ok);
  CHECK(v.on_disk == "others: bad\n#off zeros: zero>50%\n");
  CHECK(v.command("put_rule", {{"rule", "others: nan>0"}}).ok);  // in its place
  CHECK(v.command("put_rule", {{"rule", "zeros: zero>10%"}, {"off", true}}).ok);
  CHECK(v.on_disk == "others: nan>0\n#off zeros: zero>10%\n");
}

TEST_CASE("a rule that is edited is found again in a file that was changed meanwhile, or told to be gone") {
  Written v("a: bad\nb: zero>50%\nc: nan>0\n");
  REQUIRE(v.command("edit_rule", {{"name", "b"}}).ok);
  v.command("rule_text", {{"conditions", "zero>60%"}});
  v.on_disk = "first: ninf>0\n" + v.on_disk;
  v.click("rule:save");  // refused, and read again
  CHECK(v.rules()["editor"]["fault"].get<std::string>().find("nanlens.rules") != std::string::npos);
  CHECK(v.on_disk == "first: ninf>0\na: bad\nb: zero>50%\nc: nan>0\n");
  SUBCASE("saved") {
    v.click("rule:save");
    CHECK(v.on_disk == "first: ninf>0\na: bad\nb: zero>60%\nc: nan>0\n");
  }
  SUBCASE("turned off") {
    v.click("rule:turn");
    CHECK(v.on_disk == "first: ninf>0\na: bad\n#off b: zero>50%\nc: nan>0\n");
    v.click("rule:save");
    CHECK(v.on_disk == "first: ninf>0\na: bad\n#off b: zero>60%\nc: nan>0\n");
  }
  SUBCASE("removed") {
    v.click("rule:remove");
    CHECK(v.on_disk == "first: ninf>0\na: bad\nc: nan>0\n");
  }
  SUBCASE("gone") {
    v.on_disk = "a: bad\nb: zero>70%\nc: nan>0\n";
    v.command("reload");
    v.click("rule:save");
    CHECK(v.rules()["editor"]["fault"].get<std::string>().find("no longer") != std::string::npos);
    CHECK_FALSE(v.command("turn_rule", {{"file", 0}, {"line", 2}, {"text", "b: zero>50%"}}).ok);
    CHECK(v.on_disk == "a: bad\nb: zero>70%\nc: nan>0\n");
  }
}

TEST_CASE("a rule that can't be read keeps its level, its name and its text") {
  const std::string ours = "  warning dead relu: zero>>95% -- they learn no more\nnote type:Relu bad\n";
  Written v(ours);
  const Json line = v.first_rule();
  CHECK(line["state"] == "unreadable");
  CHECK(line["level"] == "warning");
  CHECK(line["name"] == "dead relu");
  CHECK(line["reason"] == "they learn no more");
  REQUIRE(v.command("turn_rule", {{"name", "dead relu"}}).ok);
  CHECK(v.on_disk.starts_with("#off   warning dead relu: zero>>95% -- they learn no more\n"));
  CHECK(v.first_rule()["level"] == "warning");
  REQUIRE(v.command("turn_rule", {{"name", "dead relu"}}).ok);
  CHECK(v.on_disk == ours);
  REQUIRE(v.command("edit_rule", {{"file", 0}, {"line", 2}}).ok);
  Json editor = v.rules()["editor"];
  CHECK(editor["name"] == "");  // the colon is none behind a name
  CHECK(editor["level"] == "note");
  CHECK(editor["conditions"] == "type:Relu bad");
  REQUIRE(v.command("edit_rule", {{"name", "dead relu"}}).ok);
  editor = v.rules()["editor"];
  CHECK(editor["name"] == "dead relu");
  CHECK(editor["level"] == "warning");
  CHECK(editor["conditions"] == "zero>>95%");
  CHECK(editor["reason"] == "they learn no more");
  v.command("rule_text", {{"conditions", "zero>95%"}});
  v.click("rule:save");
  CHECK(v.on_disk == "warning dead relu: zero>95% -- they learn no more\nnote type:Relu bad\n");
}

TEST_CASE("a rule that can't be read is not put, and what is wrong is told as the parser has it") {
  Written v;
  const auto why = [&](const char* rule) {
    const auto result = v.command("put_rule", {{"rule", rule}});
    CHECK_FALSE(result.ok);
    return result.message;
  };
  CHECK(why("x: bad typ:Log").find("“typ”") != std::string::npos);
  CHECK(why("x: bad typ:Log").find("type:") != std::string::npos);
  CHECK(why("x: type:/(/").find("“(”") != std::string::npos);
  CHECK(why("no colon").find("name") != std::string::npos);
  CHECK(why("rc.x: bad").find("rc.") != std::string::npos);
  CHECK(why("x: bad\n# more").find("# more") != std::string::npos);
  CHECK(v.on_disk.empty());
}

TEST_CASE("the standard rules come with their comments, and what the file has stays") {
  const std::string ours = "# ours\n\nnote dead relu: zero=100%\n\n\n# the end";
  Written v(ours);
  REQUIRE(v.command("standard_rules").ok);
  const std::string all = v.on_disk;
  CHECK(all.starts_with(ours + "\n\n# The rules of"));
  CHECK(v.rules()["total"] == 11);
  CHECK(all.find("Dying ReLU") == std::string::npos);  // of a rule that is not among them
  CHECK(all.find("\n\n# Pascanu et al.") != std::string::npos);
  CHECK(all.find("# Subnormal Floating-Point Values (2006)") != std::string::npos);
  REQUIRE(v.command("remove_rule", {{"name", "loss jump"}}).ok);
  REQUIRE(v.command("standard_rules").ok);
  CHECK(v.rules()["total"] == 11);
  const auto times = [&](const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = v.on_disk.find(part); at != std::string::npos; at = v.on_disk.find(part, at + 1)) ++count;
    return count;
  };
  CHECK(times("warning loss jump") == 1);
  CHECK(times("# Chowdhery et al.") == 1);
  CHECK(times("# The rules of") == 1);
}

TEST_CASE("thousands of lines are told, and none is lost when one is changed") {
  std::string text = "# ours\n";
  for (int i = 0; i < 2500; ++i) text += "#off old " + std::to_string(i) + ": bad\n";
  text += "x: ba(d\nbad ones: bad\n";
  Written v(text);
  Json rules = v.rules();
  CHECK(rules["total"] == 2502);
  CHECK(rules["holding"] == Json({1, 0, 0}));  // those that are off do not count
  v.command("fold_rules", {{"key", "rule bad ones"}, {"on", true}});
  v.wheel(v.point("rules:scroll"), 0, -10000);
  rules = v.rules();
  CHECK(rules["lines"].back()["rules"] == 1501);
  REQUIRE(v.command("put_rule", {{"rule", "more: nan>0"}}).ok);
  CHECK(v.on_disk == text + "more: nan>0\n");
  REQUIRE(v.command("turn_rule", {{"name", "old 2499"}}).ok);
  text.replace(text.find("#off old 2499"), 5, "");
  CHECK(v.on_disk == text + "more: nan>0\n");
  CHECK(v.rules()["holding"][0] == 3);
}

TEST_CASE("nanlens.rules is read with what is open, and what grows is judged on") {
  Headless v;
  Growth growth(bad_run());
  GrowingFiles& files = v.memory["memory:run"];
  growth.until(0.5, files);
  files.append("nanlens.rules", "# ours\nwarning bad ones: bad\nx: ba(d\n");
  v.open("memory:run");
  Json rules = v.state()["rules"];
  CHECK(rules["texts"][0]["name"] == "nanlens.rules");
  const std::uint64_t rows = rules["lines"][0]["rows"];
  CHECK(rows == v.state()["alerts"]["total"]);
  CHECK(rules["lines"][1]["state"] == "unreadable");
  growth.until(1, files);
  v.look_again();
  rules = v.state()["rules"];
  CHECK(rules["lines"][0]["rows"] > rows);
  CHECK(rules["lines"][0]["rows"] == v.state()["alerts"]["total"]);
  // What is changed where nothing can be written stays with the run, until the file is another one.
  REQUIRE(v.command("remove_rule", {{"file", 0}, {"line", 3}}).ok);
  CHECK(v.state()["rules"]["total"] == 1);
  v.command("reload");
  CHECK(v.state()["rules"]["total"] == 1);
  files.append("nanlens.rules", "y: ok\n");
  v.command("reload");
  CHECK(v.state()["rules"]["total"] == 3);
}

TEST_CASE("without a NaN there are rules all the same") {
  Headless v;
  Growth growth({});
  growth.until(1, v.memory["memory:run"]);
  v.open("memory:run");
  REQUIRE(v.shows("rules:add"));
  v.key("+");
  CHECK(v.state()["popup"] == "rule");
  v.type("size>0");
  v.key("Enter");
  CHECK(v.state()["rules"]["holding"][1] == 1);
  CHECK(v.shows("rule:rule rule 1"));
}

TEST_CASE("the editor of rules fits, in every language") {
  for (const char* const tag : {"en", "de", "ja", "ko", "zh-TW", "pt-BR", "xx"}) {
    CAPTURE(tag);
    Headless v({1280, 720, false, true});
    v.app().platform.rules_file = [] { return "/home/somebody/experiments/2026/run-17/nanlens.rules"; };
    v.app().platform.write_rules = [](const std::string&, const std::string&, const std::string&) { return true; };
    v.open(walkthrough());
    v.command("language", {{"tag", tag}});
    v.command("put_rule", {{"rule", "note bad ones: bad"}});
    v.command("add_rule", {{"conditions", "zero>50% norm grows"}});
    CHECK(own_cut_texts(v).empty());
    v.command("edit_rule", {{"name", "bad ones"}});
    CHECK(own_cut_texts(v).empty());
  }
}

TEST_CASE("a file of rules is replaced as a whole, if it is what it was, and through no link to another file") {
  using nanlens::report::replace_rules;
  const fs::path directory = fs::temp_directory_path() / ("nanlens-rules-" + std::to_string(::getpid()));
  fs::create_directories(directory / "project");
  const auto contents = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const fs::path file = directory / "nanlens.rules";
  CHECK_FALSE(replace_rules(file.string(), "a: bad\n", "b: bad\n"));
  CHECK(replace_rules(file.string(), "", "a: bad\n"));
  CHECK_FALSE(replace_rules(file.string(), "", "b: bad\n"));
  CHECK(replace_rules(file.string(), "a: bad\n", "b: bad\n"));
  CHECK(contents(file) == "b: bad\n");
  // What lies beside it is somebody else's, and a link among that leads to what must stay.
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(directory / "diary") << "mine\n";
  for (const char* const name : {"nanlens.rules.new", "nanlens.rules.part"})
    fs::create_symlink("diary", directory / name);
  CHECK(replace_rules(file.string(), "b: bad\n", "c: bad\n"));
  CHECK(contents(file) == "c: bad\n");
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(contents(directory / "diary") == "mine\n");
  CHECK(std::distance(fs::directory_iterator(directory), {}) == 5);
  fs::remove(file);
  std::ofstream(directory / "profile") << "old\n";
  fs::create_symlink("profile", file);
  CHECK_FALSE(replace_rules(file.string(), "old\n", "b: bad\n"));
  CHECK(contents(directory / "profile") == "old\n");
  fs::remove(file);
  std::ofstream(directory / "project/nanlens.rules") << "a: bad\n";
  fs::create_symlink("project/nanlens.rules", file);
  CHECK(replace_rules(file.string(), "a: bad\n", "c: bad\n"));
  CHECK(contents(directory / "project/nanlens.rules") == "c: bad\n");
  CHECK(fs::is_symlink(file));
  fs::remove_all(directory);
}
