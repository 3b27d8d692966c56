// What a program's rules can't judge is told, what became of them adds up, and each name is judged by once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <nanlens/query/judge.hpp>

#include "../support/told_by.hpp"
#include "recorded.hpp"

using namespace nanlens;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;
using test::told_by;
using Vector = std::vector<float>;

namespace {

std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

logdir::RuleHit outcome_of(const reader::Run& run, const std::string& rule) {
  const std::vector<logdir::RuleHit> all = run.rule_outcomes();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.rule == rule; });
  REQUIRE_MESSAGE(found != all.end(), rule);
  return *found;
}

// So many times 72,000 outputs.
void record_many(int times) {
  for (int i = 0; i < times * 9000; ++i)
    nanlens::op({"Relu", "n" + std::to_string(i % 9000)}, std::tuple(0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F));
}

auto given_rules(std::vector<std::string> rules) {
  return [rules = std::move(rules)](DumpOptions& options) { options.rules = rules; };
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("what rules can't judge, of more outputs than they follow, is counted and told once") {
  std::string told;
  std::uint64_t while_it_runs = 0;
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  options.rules = {"any: zero>0", "warning twice: zero>0 for 2 calls", "none: nan>0 for 2 calls"};
  told = told_by([&] {
    enable_dump_debug_info(options);
    record_many(2);
    while (while_it_runs == 0) {  // should the program die, it has been told, too
      reader::Logdir logdir{options.logdir};
      logdir.update();
      while_it_runs = outcome_of(*logdir.runs().at(0), "twice").not_followed;
    }
    disable_dump_debug_info();
  });
  CHECK(count_of("nanlens: not judged: ", told) == 1);
  CHECK(told.find("follow 65536 outputs") != std::string::npos);
  CHECK(while_it_runs > 0);
  reader::Logdir logdir{options.logdir};
  logdir.update();
  const reader::Run& run = *logdir.runs().at(0);
  CHECK(run.clean_end() == true);
  CHECK(outcome_of(run, "twice").hits == 65536);  // what the other rule holds at takes no room
  CHECK(outcome_of(run, "twice").not_followed == 2 * (72000 - 65536));
  CHECK(outcome_of(run, "any").hits == 2 * 72000);
  CHECK(outcome_of(run, "any").not_followed == 0);
  CHECK(outcome_of(run, "none").not_followed == 0);
}

TEST_CASE("a rule that was about no output says so") {
  const Recorded run(
      [] { nanlens::op("Relu", Vector{1, 2}); },
      given_rules({"held: pos>0", "not held: zero>0", "other op: zero>0 type:Conv", "no NaN: nan>0 bad"}));
  CHECK(outcome_of(*run, "held").idle == false);
  CHECK(outcome_of(*run, "not held").idle == false);
  CHECK(outcome_of(*run, "other op").idle == true);
  CHECK(outcome_of(*run, "no NaN").idle == false);  // there could have been one
}

TEST_CASE("a condition on a norm that is not there is judged as `check` does") {
  for (const TensorDebugMode mode : {TensorDebugMode::full_tensor, TensorDebugMode::full_health}) {
    const Recorded run(
        [] {
          nanlens::op("Bad", Vector{NAN, INFINITY});
          nanlens::op("Empty", Vector{});
          nanlens::op("Large", Vector{9});
          nanlens::op("Small", Vector{1});
        },
        [&](DumpOptions& options) {
          options.tensor_debug_mode = mode;
          options.statistics = true;
          given_rules({"not large: -norm>5", "large: norm>5", "no max: -max>5"})(options);
        });
    CHECK(outcome_of(*run, "not large").hits == 3);
    CHECK(outcome_of(*run, "large").hits == 1);
    CHECK(outcome_of(*run, "no max").hits == 3);
    query::Error error;
    query::Surroundings nobody;
    for (const char* const text : {"not large: -norm>5", "large: norm>5", "no max: -max>5"}) {
      const auto rule = query::parse_rule(text, error);
      CHECK_MESSAGE(query::Judge(*run, *rule, nobody).judge().held == outcome_of(*run, rule->name).hits, text);
    }
  }
}

TEST_CASE("recording on into a logdir adds up what becomes of its rules; so do file sets of one run") {
  const TemporaryDirectory dir;
  DumpOptions options = everything(dir / "run");
  ::setenv("NANLENS_RUN_ID", "one", 1);
  const auto record = [&](const std::vector<std::string>& rules) {
    options.rules = rules;
    enable_dump_debug_info(options);
    nanlens::op("Relu", Vector{0, 1});
    nanlens::op("Relu", Vector{0, 0});
    disable_dump_debug_info();
  };
  record({"zeros: zero>0", "bad: nan>0", "conv: zero>0 type:Conv"});
  record({"zeros: zero>0", "bad: bad", "late: zero>1"});
  record({});
  const auto check = [&](std::uint64_t sets) {
    reader::Logdir logdir{dir / "run"};
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    const reader::Run& run = *logdir.runs()[0];
    CHECK(run.num_sets() == sets);
    CHECK(outcome_of(run, "zeros").hits == 4 * sets);
    CHECK(outcome_of(run, "late").hits == sets);
    CHECK(outcome_of(run, "conv").idle == true);
    CHECK(run.rule_outcomes().size() == 5);  // that of another expression is another rule
  };
  check(1);
  std::filesystem::create_directory(dir / "other");
  std::filesystem::rename(dir / "run", dir / "other/run");
  options.logdir = dir / "second";
  record({"zeros: zero>0", "bad: nan>0", "conv: zero>0 type:Conv"});
  record({"zeros: zero>0", "bad: bad", "late: zero>1"});
  for (const char* const part : {"other/run", "second"})
    for (const auto& entry : std::filesystem::directory_iterator(dir / part)) {
      std::string name = entry.path().filename().string();
      if (std::string(part) == "second") name.insert(name.find('.', name.find('.') + 1) + 1, "second");
      std::filesystem::create_directory(dir / "run");
      std::filesystem::rename(entry.path(), dir / ("run/" + name));
    }
  check(2);
  ::unsetenv("NANLENS_RUN_ID");
}

TEST_CASE("what is no regular file is not read for rules, nor waited for") {
  const TemporaryDirectory dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  write(dir / "rules", "of file: zero>0\n");
  const std::vector<std::string> paths = {dir / "pipe", dir / "", "/dev/zero", dir / "missing"};
  for (const std::string& path : paths) {
    const std::string told = told_by([&] {
      const Recorded run([] { nanlens::op("Relu", Vector{0}); },
                         given_rules({"@" + path, "@" + (dir / "rules"), "own: zero>0"}));
      CHECK(run->rule_outcomes().size() == 2);
    });
    const std::string why = path == dir / "missing" ? "No such file or directory" : "it is no regular file";
    CHECK_MESSAGE(count_of("nanlens: can't read the rules in '" + path + "': " + why + "\n", told) == 1, told);
  }
}

TEST_CASE("of rules with one name the nearer one is taken: an item itself, else that of the later file") {
  const TemporaryDirectory dir;
  write(dir / "first", "a: zero>0 -- first\nb: zero>0 -- first\nsame: zero>0\n");
  write(dir / "second", "b: zero>0 -- second\nsame: zero>0\n");
  for (const bool is_last : {false, true}) {
    std::vector<std::string> rules = {"@" + (dir / "first"), "@" + (dir / "second")};
    rules.insert(is_last ? rules.end() : rules.begin(), "a: zero>0 -- own");
    const std::string told = told_by([&] {
      const Recorded run([] { nanlens::op("Relu", Vector{0}); }, given_rules(rules));
      CHECK(run->rule_outcomes().size() == 3);
      CHECK(outcome_of(*run, "a").reason == "own");
      CHECK(outcome_of(*run, "b").reason == "second");
    });
    const std::string first = (dir / "first") + " is left out: one ";
    CHECK_MESSAGE(count_of("the rule \"a\" of " + first + "that is given by itself has its name\n", told) == 1, told);
    CHECK_MESSAGE(count_of("the rule \"b\" of " + first + "of " + (dir / "second") + " has its name\n", told) == 1,
                  told);
    CHECK(count_of("left out", told) == 2);
  }
}

TEST_CASE("rules that can hold of nothing in the mode that is recorded are told at the beginning") {
  using enum TensorDebugMode;
  const auto told = [](TensorDebugMode mode) {
    const std::string text = told_by([&] {
      const Recorded run([] { nanlens::op("Relu", Vector{0}); },
                         [&](DumpOptions& options) {
                           options.tensor_debug_mode = mode;
                           given_rules({"bad: bad", "fine: ok", "same: constant", "half: dtype:float16 size>0",
                                        "any float: dtype:*float*", "named: type:Relu"})(options);
                         });
    });
    const std::size_t begin = text.find("rules ask what is not recorded (");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(told(full_health).empty());
  CHECK(told(full_tensor).empty());
  CHECK(told(shape).ends_with(": \"bad\", \"fine\", \"same\""));
  CHECK(told(curt_health).ends_with(": \"same\", \"half\""));
  CHECK(told(curt_health).find("(constant, size;") != std::string::npos);
  CHECK(told(no_tensor).find("(bad, ok, constant, dtype;") != std::string::npos);
}
