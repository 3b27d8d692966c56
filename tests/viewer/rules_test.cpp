// Rules in the engine: what they find is what the judge finds, in slices, while a run grows, and within bounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nanlens/query/judge.hpp>
#include <nanlens/query/standard_rules.hpp>

#include "../support/logdir_generator.hpp"
#include "engine/judged_rule.hpp"
#include "engine/rule_limits.hpp"
#include "growing.hpp"
#include "regex/regex.hpp"
#include "session.hpp"

using nanlens::test::generated_files;
using nanlens::test::Growing;
using nanlens::test::open_directory;
using nanlens::test::Session;
namespace query = nanlens::query;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;

namespace {

const std::string recorded = std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH";

const char* const asked[] = {
    "bad",        "zero>50%",     "size>=0 for 2 calls",   "pos grows 2x in 3 calls", "type:/^Mat/ -bad", "first",
    "exec:3..20", "count>100 ok", "count=0 type:NoSuchOp", "made or passed",          "eager size=1",     "max>0"};

viewer::SetRules rules_of(const std::string& text) { return {{{"nanlens.rules", "", text}}}; }

std::string asked_text() {
  std::string text;
  for (std::size_t i = 0; i < std::size(asked); ++i) text += "n" + std::to_string(i) + ": " + asked[i] + "\n";
  return text;
}

// What `nanlens check` asks of the analysis.
class Analysis final : public query::Surroundings {
 public:
  explicit Analysis(reader::Run& run) : causes_(run) {
    while (!causes_.advance(4096)) {
    }
  }
  nanlens::causes::EventClass class_of(nanlens::causes::EventRef row) override { return causes_.event_class(row); }

 private:
  nanlens::causes::Causes causes_;
};

const viewer::RuleLine& line_of(const viewer::RuleList& list, const std::string& name) {
  const auto found = std::find_if(list.lines.begin(), list.lines.end(), [&](const viewer::RuleLine& line) {
    return line.kind == viewer::RuleLineKind::rule && line.name == name;
  });
  REQUIRE_MESSAGE(found != list.lines.end(), name);
  return *found;
}

// Where each rule holds, with every line of the list open.
std::map<std::string, std::multiset<std::string>> everything(Session& s) {
  std::map<std::string, std::multiset<std::string>> all;
  s.view.rules.unfolded.clear();
  for (int depth = 0; depth < 3; ++depth) {
    s.show();
    for (const viewer::RuleLine& line : s.rules.lines)
      if (!line.key.empty()) s.view.rules.unfolded.push_back(line.key);
  }
  std::string name;
  for (const viewer::RuleLine& line : s.rules.lines) {
    if (line.kind == viewer::RuleLineKind::rule) name = line.name;
    const std::string at = line.op + " " + std::to_string(line.trace) + " " + std::to_string(line.execution);
    if (line.kind == viewer::RuleLineKind::row) all[name].insert(at);
    if (line.kind == viewer::RuleLineKind::rule) all[name].insert("rows " + std::to_string(line.rows));
    if (line.kind == viewer::RuleLineKind::place)
      all[name].insert(line.op + " " + line.place + " " + std::to_string(line.rows));
  }
  return all;
}

}  // namespace

TEST_CASE("rules hold at the rows at which the judge has them hold, and a step goes from one to the next") {
  Session s(open_directory);
  s.open(recorded);
  s.ask(rules_of(asked_text()));
  reader::Logdir logdir(std::make_unique<reader::DirectoryStorage>(recorded));
  logdir.update();
  reader::Run& run = *logdir.runs().front();
  Analysis analysis(run);
  const auto all = everything(s);
  std::size_t holding = 0;
  for (std::size_t i = 0; i < std::size(asked); ++i) {
    const std::string name = "n" + std::to_string(i);
    query::Error error;
    const auto rule = query::parse_rule(name + ": " + asked[i], error, nanlens::regex::compiler());
    REQUIRE(rule.has_value());
    const query::Judgement judged = query::Judge(run, *rule, analysis).judge();
    std::uint64_t rows = 0;
    for (const query::Hit& hit : judged.hits) rows += hit.count;
    const viewer::RuleLine& line = line_of(s.rules, name);
    CAPTURE(asked[i]);
    CHECK(line.rows == rows);
    CHECK(line.holds == !judged.hits.empty());
    CHECK((line.state == viewer::RuleState::not_judged) == judged.could_not_be_judged());
    CHECK(line.unjudged == judged.unjudged);
    CHECK(line.places <= judged.hits.size());
    CHECK(all.at(name).contains("rows " + std::to_string(rows)));
    holding += line.holds ? 1U : 0U;
  }
  CHECK(holding >= 8);
  const viewer::RuleLine& bad = line_of(s.rules, "n0");
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::uint64_t i = 0; i < bad.rows; ++i) {
    viewer::Select step;
    step.kind = viewer::IntentKind::rule_step;
    step.index = i == 0 ? 0 : 1;
    step.rule = "n0";
    s.ask(step);
    seen.emplace(s.selection.focus.trace, s.selection.focus.trace < 0 ? s.selection.focus.execution : -1);
    const bool flagged =
        s.selection.focus.trace >= 0
            ? (run.trace_flags(static_cast<std::size_t>(s.selection.focus.trace)) & reader::bad_flags) != 0
            : (run.execution_flags(static_cast<std::size_t>(s.selection.focus.execution)) & reader::bad_flags) != 0;
    CHECK(flagged);
  }
  CHECK(seen.size() >= bad.rows / 2);
}

TEST_CASE("a rule that can't be read is told with its place, one that can't be judged with what is missing") {
  Session s(open_directory);
  s.open(recorded);
  s.ask(rules_of("# a comment\nx: bad typ:Log\nhot: max>0\n#off quiet: bad\nhot: bad\nnote fine: bad -- for now\n\n"));
  CHECK(s.rules.num_rules == 5);
  CHECK(s.rules.num_off == 1);
  CHECK(s.rules.num_not_judged == 3);
  const viewer::RuleLine& wrong = s.rules.lines.at(0);
  CHECK(wrong.state == viewer::RuleState::unreadable);
  CHECK(wrong.text.substr(wrong.begin, wrong.end - wrong.begin) == "typ");
  CHECK(wrong.problem.find("type:") != std::string::npos);
  CHECK(wrong.line == 2);
  const viewer::RuleLine& hot = s.rules.lines.at(1);
  CHECK(hot.state == viewer::RuleState::not_judged);
  CHECK(hot.problem.find("max") == 0);
  CHECK(hot.problem.find(".statistics = true") != std::string::npos);
  CHECK(s.rules.lines.at(2).state == viewer::RuleState::off);
  CHECK(s.rules.lines.at(3).problem.find("hot") != std::string::npos);  // the name is taken
  CHECK(s.rules.lines.at(4).level == viewer::RuleLevel::note);
  CHECK(s.rules.lines.at(4).reason == "for now");
  CHECK(s.rules.lines.at(4).holds);
}

TEST_CASE("the rule that is written is judged as it is typed; the one before it is given up") {
  Session s(open_directory);
  s.open(recorded);
  s.ask(rules_of("known: bad\n"));
  s.view.rules.draft = "warning mine: ba";
  viewer::View other = s.view;
  other.rules.draft = "warning mine: bad";
  s.ask_both(s.view, other);
  CHECK(s.rules.draft.text == "warning mine: bad");
  CHECK(s.rules.draft.state == viewer::RuleState::judged);
  CHECK(s.rules.draft.rows == line_of(s.rules, "known").rows);
  s.view.rules.draft = "mine: nan>";
  s.show();
  CHECK(s.rules.draft.state == viewer::RuleState::unreadable);
  CHECK(s.rules.draft.begin == s.view.rules.draft.size());
  CHECK_FALSE(s.rules.draft.error.empty());
  s.view.rules.draft = "known: bad";
  s.show();
  CHECK(s.rules.draft.in_name);
  s.view.rules.draft_of = "known";
  s.show();
  CHECK(s.rules.draft.error.empty());
  s.ask(rules_of("#off known: nan>0\nwarning odd: ba(d\n"));
  s.view.rules.draft_of = "";
  s.show();
  CHECK(s.rules.draft.in_name);
  CHECK(s.rules.draft.error.find("off") != std::string::npos);
  s.view.rules.draft = "odd: bad";
  s.show();
  CHECK(s.rules.draft.error.find("another") != std::string::npos);
}

TEST_CASE("rules found with the logdir are in force, and told; others take their place") {
  auto files = generated_files({.calls = 20, .bad_every = 7});
  files["nanlens.rules"] = "warning bad ones: bad\n";
  Growing growing(files);
  Session s(growing.open());
  s.open("growing");
  REQUIRE(s.found_rules.texts.size() == 1);
  CHECK(s.found_rules.texts[0].text == "warning bad ones: bad\n");
  CHECK(s.rules.num_rules == 1);
  CHECK(s.rules.holding[1] == 1);
  s.ask(rules_of(""));
  CHECK(s.rules.num_rules == 0);
  s.ask(viewer::Reload{});
  CHECK(s.rules.num_rules == 1);
}

TEST_CASE("a run that grows is judged as one that was read at once") {
  const auto files = generated_files({.calls = 100, .ops_per_graph = 6, .bad_every = 7});
  Growing part(files);
  Growing whole(files);
  Session grown(part.open());
  Session read(whole.open());
  grown.open("part");
  grown.ask(rules_of(asked_text()));
  for (std::size_t tenths = 2; tenths < 10; tenths += 2) {
    part.grow(tenths, tenths + 2);
    grown.ask(viewer::Reload{.quiet = true});
    CHECK(grown.rules.num_judging == 0);
  }
  read.open("whole");
  whole.grow(2, 10);
  read.ask(viewer::Reload{});
  read.ask(rules_of(asked_text()));
  CHECK(read.rules.holding[0] >= 6);
  CHECK(everything(grown) == everything(read));
}

TEST_CASE("rows that come while places are named are judged, too, and eager ops that were judged are not once more") {
  auto files = generated_files({.calls = 100, .ops_per_graph = 6, .bad_every = 7});
  SUBCASE("rows of graphs") {}
  SUBCASE("eager ops alone") {
    std::erase_if(files, [](const auto& file) { return file.first.ends_with("traces"); });
  }
  Growing growing(files);
  std::string why;
  reader::Logdir logdir(growing.open()("growing", why));
  logdir.update();
  reader::Run& run = *logdir.runs().front();
  const auto num_rows = [&] { return run.num_traces() + run.num_executions(); };
  query::Error error;
  viewer::JudgedRule rule(*query::parse_rule("all: size>=0", error), "nanlens.rules");
  viewer::RulePlaces places(run);
  Analysis analysis(run);
  constexpr std::size_t most = 1000000;
  while (rule.rows_seen() < num_rows()) REQUIRE(rule.step(run, analysis, places, most));
  REQUIRE_FALSE(rule.complete());  // its places have no names yet
  const std::uint64_t seen = rule.rows_seen();
  growing.grow(2, 10);
  logdir.update();
  REQUIRE(num_rows() > seen);
  rule.grow(false, run.num_traces());
  while (rule.step(run, analysis, places, most)) CHECK(rule.rows_seen() >= seen);
  CHECK(rule.rows_seen() == num_rows());
  const query::Judgement whole = query::Judge(run, rule.rule(), analysis).judge();
  CHECK(rule.found().held == whole.held);
}

TEST_CASE("rules that are off or can't be read take no place of others; those that are not listed are counted") {
  Session s(open_directory);
  s.open(recorded);
  std::string text;
  for (int i = 0; i < 700; ++i) text += "#off old: bad\nx: ba(d\n";
  for (int i = 0; i < 1002; ++i) text += "note r" + std::to_string(i) + ": count>0\n";
  s.ask(rules_of(text));
  CHECK(s.rules.num_rules == 2402);
  CHECK(s.rules.holding[2] == 1000);
  CHECK(s.rules.num_off + s.rules.num_not_judged == 1000);
  CHECK(line_of(s.rules, "r999").line == 2400);
  CHECK(s.rules.lines.back().kind == viewer::RuleLineKind::more_rules);
  CHECK(s.rules.lines.back().rows == 402);
  CHECK(s.rules.lines.size() == s.rules.num_lines);
}

TEST_CASE("a rule that is judged anew may list as many rows as before") {
  constexpr int most_calls = 34;
  Growing growing(generated_files({.calls = 40, .ops_per_graph = 64}));
  Session s(growing.open());
  s.open("growing");
  growing.grow(2, 9);
  s.ask(viewer::Reload{});
  // Of calls: looked at anew each time. Of no numbers: a million rows need not be decoded.
  const std::string asks = ": -bad exec<" + std::to_string(most_calls) + "\n";
  s.ask(rules_of("r" + asks));
  const std::uint64_t rows = line_of(s.rules, "r").rows;
  REQUIRE(rows > viewer::most_rule_rows / query::most_rules);
  std::string text;
  for (std::uint64_t i = 0; i < viewer::most_rule_rows / rows; ++i) text += "r" + std::to_string(i) + asks;
  s.ask(rules_of(text));
  REQUIRE_FALSE(s.rules.cut);
  growing.grow(9, 10);
  s.ask(viewer::Reload{.quiet = true});
  CHECK(line_of(s.rules, "r0").rows == rows);
  CHECK_FALSE(s.rules.cut);
}

TEST_CASE("no more rows are listed than are left when a rule has been judged, all are counted") {
  reader::Logdir logdir(std::make_unique<reader::DirectoryStorage>(recorded));
  logdir.update();
  reader::Run& run = *logdir.runs().front();
  query::Error error;
  viewer::JudgedRule rule(*query::parse_rule("all: size>=0", error), "nanlens.rules");
  viewer::RulePlaces places(run);
  Analysis analysis(run);
  REQUIRE(rule.step(run, analysis, places, 1000));
  while (rule.step(run, analysis, places, 5)) {
  }
  CHECK(rule.found().held > 5);
  CHECK(rule.found().hit_rows.size() == 5);
  CHECK(rule.is_cut());
}

TEST_CASE("a thousand rules at a million rows stay within bounds, and what is not listed is told") {
  auto files = generated_files({.calls = 110, .ops_per_graph = 10});
  std::string text;
  // What is found by numbers takes more memory, and decoding rows for it most of the time: one rule of ten.
  for (int i = 0; i < 1003; ++i) text += "note r" + std::to_string(i) + (i % 10 == 0 ? ": size>=0\n" : ": -bad\n");
  Growing growing(files);
  Session s(growing.open());
  s.open("growing");
  growing.grow(2, 10);
  s.ask(viewer::Reload{});
  s.view.rules.count = 50;
  s.show();
  s.ask(rules_of(text));
  const std::uint64_t rows = line_of(s.rules, "r1").rows;
  CHECK(rows >= 1100);
  CHECK(line_of(s.rules, "r0").rows == rows);
  CHECK(s.rules.num_rules == 1003);
  CHECK(s.rules.num_not_judged == 3);
  CHECK(s.rules.holding[2] == 1000);
  CHECK(s.rules.cut == (rows * 1000 > viewer::most_rule_rows));
  CHECK(s.rules.lines.size() == 50);
  CHECK(s.overview.memory_bytes < (std::size_t{64} << 20));
}
