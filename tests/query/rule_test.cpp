// Rules: how they are written, and what is said of those that can't be read.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nanlens/query/rule.hpp>

namespace query = nanlens::query;
using query::Level;
using query::Problem;

namespace {

query::Rule rule(const std::string& text) {
  query::Error error;
  auto read = query::parse_rule(text, error);
  INFO(query::marked(text, error), "\n", query::words(error));
  REQUIRE(read.has_value());
  return *read;
}

// The fault of a rule, and the text that is marked.
struct Fault {
  Problem problem;
  std::string part;
};
Fault fault(const std::string& text) {
  query::Error error;
  CHECK_MESSAGE(!query::parse_rule(text, error).has_value(), text);
  REQUIRE(error.begin <= error.end);
  REQUIRE(error.end <= text.size());
  return {error.problem, text.substr(error.begin, error.end - error.begin)};
}
bool is_fault(const std::string& text, Problem problem, const std::string& part) {
  const Fault f = fault(text);
  CHECK_MESSAGE(f.problem == problem, text << ": " << static_cast<int>(f.problem));
  CHECK_MESSAGE(f.part == part, text);
  return f.problem == problem && f.part == part;
}

}  // namespace

TEST_CASE("a rule has a level, a name, conditions and a reason") {
  const auto dead = rule("dead relu: zero>95% type:Relu for 5 calls");
  CHECK(dead.name == "dead relu");
  CHECK(dead.level == Level::error);
  CHECK(dead.expression == "zero>95% type:Relu for 5 calls");
  CHECK(dead.conditions.calls == 5);
  CHECK(dead.conditions.rows.root.children.size() == 2);
  CHECK(dead.conditions.rows.root.children[0].kind == query::Node::Kind::text);  // numbers last
  const auto warning = rule("  Warning  big :max>6e4 dtype:float16 -- the largest float16 is 65504");
  CHECK(warning.level == Level::warning);
  CHECK(warning.name == "big");
  CHECK(warning.expression == "max>6e4 dtype:float16");
  CHECK(warning.reason == "the largest float16 is 65504");
  CHECK(rule("note: bad").name == "note");
  CHECK(rule("note: bad").level == Level::error);
  CHECK(rule("notes on it: bad").name == "notes on it");
  CHECK(rule("loss max: max>5").name == "loss max");
  CHECK(rule("quoted: op:\"a -- b\" -- why").reason == "why");
  // Quotes and slashes within a word are letters of it.
  for (const char* const conditions : {"a\"b", "-op:a/b (op:c/d)", "op:a:/b", "op:-\"b"})
    CHECK_MESSAGE(rule("a: " + std::string(conditions) + " -- why").reason == "why", conditions);
  CHECK(rule("a: bad file:mnist/model.cpp -- it is the bug").reason == "it is the bug");
  CHECK(rule("a: -\"x -- y\" (\"u -- v\"|!op:\"b -- c\")\"s -- t\" -- why").reason == "why");
}

TEST_CASE("changes and totals stand beside other conditions") {
  const auto grows = rule("n: norm grows 10x in 3 calls type:Grad");
  REQUIRE(grows.conditions.changes.size() == 1);
  CHECK(grows.conditions.changes[0].field == query::NumberField::norm);
  CHECK(grows.conditions.changes[0].factor == 10);
  CHECK(grows.conditions.changes[0].calls == 3);
  CHECK_FALSE(grows.conditions.changes[0].shrinks);
  CHECK(rule("n: absmax shrinks 1.5e3x in 1 call").conditions.changes[0].shrinks);
  const auto total = rule("n: count>=2 bad");
  REQUIRE(total.conditions.total.has_value());
  CHECK(total.conditions.total->value == 2);
  CHECK(rule("n: max").conditions.rows.root.kind == query::Node::Kind::text);  // a number that is compared with nothing
  CHECK(rule("n: \"for\" \"count\"").conditions.rows.root.children.size() == 2);
}

TEST_CASE("what can't be read is marked, and what was expected is said") {
  CHECK(is_fault("bad", Problem::colon_missing, ""));
  CHECK(is_fault(": bad", Problem::name_missing, ":"));
  CHECK(is_fault("type:Relu zero>95%", Problem::name_missing, "type:"));
  CHECK(is_fault("zero>95% type:Relu", Problem::name_missing, "zero>95% type:"));
  CHECK(is_fault("n:", Problem::condition_missing, ""));
  CHECK(is_fault("n: typ:Log", Problem::no_field, "typ"));
  CHECK(is_fault("n: type:Log maxx>5", Problem::no_number, "maxx"));
  CHECK(is_fault("n: max>", Problem::number_missing, ""));
  CHECK(is_fault("n: bad for 5", Problem::calls_wording, "5"));
  CHECK(is_fault("n: bad for five calls", Problem::calls_wording, "f"));
  CHECK(is_fault("n: bad for 0 calls", Problem::calls_wording, "0"));
  CHECK(is_fault("n: bad for 5 calls ok", Problem::rule_has_more, "o"));
  CHECK(is_fault("n: norm grows", Problem::change_wording, "norm grows"));
  CHECK(is_fault("n: norm grows 10 in 3 calls", Problem::change_wording, "norm grows 10 "));
  CHECK(is_fault("n: norm grows 0.5x in 3 calls", Problem::change_wording, "norm grows 0.5x"));
  CHECK(is_fault("n: bad or count>0", Problem::not_on_top, "count>0"));
  CHECK(is_fault("n: not norm grows 2x in 1 calls", Problem::not_on_top, "not norm grows 2x in 1 calls"));
  CHECK(is_fault("n: (mean grows 2x in 2 calls) bad", Problem::not_on_top, "mean grows 2x in 2 calls"));
  CHECK(is_fault("n: count>0 count<9", Problem::two_totals, "count<9"));
  CHECK(is_fault("n: bad)", Problem::no_open, ")"));
  CHECK(is_fault("n: /x/", Problem::regex_unsupported, "x"));
  CHECK(is_fault("n: bad --no reason", Problem::two_dashes, "--"));
  CHECK(is_fault("n: --bad", Problem::two_dashes, "--"));
  CHECK(rule("n: - -bad").conditions.rows.root.kind == query::Node::Kind::flag);
  CHECK(is_fault("n: time grows 10x in 1 call", Problem::change_field, "time"));
  CHECK(is_fault("n: job_rank shrinks 2x in 1 call", Problem::change_field, "job_rank"));
  CHECK(rule("n: norm shrinks 2x in 1000 calls").conditions.changes[0].calls == 1000);
  CHECK(fault("n: norm shrinks 2x in 1001 calls").problem == Problem::change_wording);
  CHECK(is_fault("note rc.log_softmax: bad", Problem::name_reserved, "note rc.log_softmax"));
  query::Error error;
  const std::string text = "ü: bad typ:Log";
  CHECK_FALSE(query::parse_rule(text, error).has_value());
  CHECK(query::marked(text, error) == "ü: bad typ:Log\n       ^^^");
  CHECK(query::words(error).find("did you mean \"type:\"") != std::string::npos);
  const std::string wide = "損失 손실 Ｌ: bad typ:Log";  // two columns each
  CHECK_FALSE(query::parse_rule(wide, error).has_value());
  CHECK(query::marked(wide, error) == wide + "\n" + std::string(18, ' ') + "^^^");
  CHECK(query::marked("損失", {0, 6}) == "損失\n^^^^");
}

TEST_CASE("a file of rules: comments, the number of the line at fault, names of their own") {
  std::vector<query::Rule> rules;
  CHECK_FALSE(query::parse_rules("# comment\n\n  a: bad -- x\nnote b: ok\r\n", rules).has_value());
  REQUIRE(rules.size() == 2);
  CHECK(rules[1].expression == "ok");
  const auto taken = query::parse_rules("\na: ok", rules);
  REQUIRE(taken.has_value());
  CHECK(taken->line == 2);
  CHECK(taken->error.problem == Problem::name_taken);
  CHECK(query::parse_rules("c: ok\nd: (ok", rules)->line == 2);
  CHECK(rules.size() == 3);
  std::string many;
  for (std::size_t i = rules.size(); i <= query::most_rules; ++i) many += "r" + std::to_string(i) + ": bad\n";
  const auto last = query::parse_rules(many, rules);
  REQUIRE(last.has_value());
  CHECK(last->error.problem == Problem::too_many_rules);
  CHECK(rules.size() == query::most_rules);
}

TEST_CASE("no text crashes the parser of rules") {
  std::uint32_t state = 7;
  const std::vector<std::string> parts = {"n:",  " ",     "bad", "max", "grows", "10x", "in",   "3",   "calls",
                                          "for", "count", ">",   "0",   "(",     ")",   "or",   "not", "-",
                                          "--",  "\"",    "/",   "1e",  "%",     ":",   "type:"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = "n: ";
    for (int i = 0; i < round % 16; ++i) {
      state = state * 1664525 + 1013904223;
      text += parts[(state >> 16) % parts.size()] + ((state >> 8) % 3 == 0 ? "" : " ");
    }
    query::Error error;
    if (!query::parse_rule(text, error)) {
      CHECK(error.end <= text.size());
      CHECK_FALSE(query::words(error).empty());
      CHECK(query::marked(text, error).back() == '^');
    }
  }
}
