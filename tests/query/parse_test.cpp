// The filter language: what is parsed, and what is said of what can't be.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nanlens/query/query.hpp>

#include "regex/regex.hpp"

namespace query = nanlens::query;
using Kind = query::Node::Kind;

namespace {

query::Query parse(const std::string& text) {
  query::Error error;
  auto parsed = query::parse(text, error, nanlens::regex::compiler());
  INFO(text, ": ", query::words(error));
  REQUIRE(parsed.has_value());
  return *parsed;
}

query::Error error_of(const std::string& text) {
  query::Error error;
  CHECK_MESSAGE(!query::parse(text, error, nanlens::regex::compiler()).has_value(), text);
  return error;
}

std::string reason_of(const query::Error& error) { return query::words(error); }

}  // namespace

TEST_CASE("words beside each other are and, | and 'or' bind weaker, not binds strongest") {
  const auto read = parse("bad type:Log or not ok input");
  REQUIRE(read.root.kind == Kind::any);
  REQUIRE(read.root.children.size() == 2);
  CHECK(read.root.children[0].kind == Kind::all);
  CHECK(read.root.children[0].children[1].kind == Kind::text);
  CHECK(read.root.children[1].children[0].kind == Kind::negation);
  CHECK(parse("a | b").root.kind == Kind::any);
  CHECK(parse("-bad").root.kind == Kind::negation);
  CHECK(parse("!bad").root.kind == Kind::negation);
  CHECK(parse("(a or b) c").root.kind == Kind::all);
  CHECK(parse("a and b").root.children.size() == 2);
  CHECK(parse("").root.children.empty());
  CHECK(parse("order").root.kind == Kind::text);  // not the keyword "or"
}

TEST_CASE("numbers have units, percent and ranges") {
  CHECK(parse("nan>5").root.low == 5);
  CHECK(parse("size>=1.5k").root.low == 1500);
  CHECK(parse("size>1M").root.low == 1e6);
  CHECK(parse("time<20ms").root.low == doctest::Approx(0.02));
  const auto percent = parse("zero>90%").root;
  CHECK(percent.percent);
  CHECK(percent.low == 90);
  CHECK(parse("zero:10%..50%").root.high == 50);
  CHECK(parse("zero:0..50%").root.percent);
  CHECK(parse("zero:..50%").root.percent);
  for (const char* const text : {"zero:0.1..50%", "zero:10%..50"})
    CHECK_MESSAGE(error_of(text).problem == query::Problem::number_odd, text);
  const auto range = parse("exec:60..70").root;
  CHECK(range.kind == Kind::range);
  CHECK(range.low == 60);
  CHECK(range.high == 70);
  CHECK(parse("time:1s..1.5s").root.high == 1.5);
  CHECK(parse("row:5").root.high == 5);
  CHECK(parse("row:..5").root.low < 0);
  CHECK(parse("row:5..").root.high > 1e300);
  CHECK(parse("rank!=2").root.comparison == query::Comparison::not_equal);
  CHECK(parse("job_rank:2").root.number_field == query::NumberField::job_rank);
}

TEST_CASE("matches ignore case, know wildcards, quotes and regular expressions") {
  CHECK((*parse("type:log").root.match)("Log1p"));
  CHECK((*parse("L*g").root.match)("log"));
  CHECK_FALSE((*parse("L*g").root.match)("Log1p"));
  CHECK((*parse("l?g").root.match)("LoG"));
  CHECK((*parse("\"a b\"").root.match)("xa bx"));
  CHECK((*parse(R"(/dense_\d+/)").root.match)("model/Dense_12/MatMul"));
  CHECK_FALSE((*parse(R"(/^dense_\d+$/)").root.match)("dense_x"));
  CHECK((*parse("Log:0").root.match)("Log:0"));
}

TEST_CASE("classes are matched as text and need the analysis; numbers may have an exponent") {
  CHECK(parse("class:made").uses_classes);
  CHECK(parse("class:made").root.text_field == query::TextField::event_class);
  CHECK(parse("min<-1e-7").root.low == doctest::Approx(-1e-7));
  CHECK(parse("max>2.5E3").root.low == 2500);
  CHECK(parse("max:1e2..1e+4").root.high == 10000);
  CHECK(reason_of(error_of("max>1e")).find("goes on") != std::string::npos);
  CHECK(reason_of(error_of("max>1.2.3")).find("goes on") != std::string::npos);
  for (const char* const text : {"max>-", "max>.", "max>-.", "max:..-", "max>-e5"})
    CHECK_MESSAGE(reason_of(error_of(text)).find("number is missing") != std::string::npos, text);
}

TEST_CASE("what can't be read is named, with its place and a better name") {
  CHECK(reason_of(error_of("typ:Log")).find("type") != std::string::npos);
  CHECK(reason_of(error_of("bad nann>1")).find("nan") != std::string::npos);
  CHECK(error_of("bad nann>1").begin == 4);
  for (const char* const text : {"and", "and and", "or bad", "bad or or ok", "not and bad", "bad and"})
    CHECK(reason_of(error_of(text)).find("missing") != std::string::npos);
  CHECK(reason_of(error_of("(bad")).find("not closed") != std::string::npos);
  CHECK(reason_of(error_of("bad)")).find("closing bracket") != std::string::npos);
  CHECK(reason_of(error_of("/[/")).find("regular expression") != std::string::npos);
  CHECK(reason_of(error_of("\"open")).find("quote") != std::string::npos);
  CHECK(reason_of(error_of("nan>")).find("number is missing") != std::string::npos);
  CHECK(reason_of(error_of("nan>5x")).find("goes on") != std::string::npos);
  CHECK(reason_of(error_of("a or")).find("missing") != std::string::npos);
  CHECK(reason_of(error_of("type:")).find("missing") != std::string::npos);
  CHECK(reason_of(error_of(std::string(200, '('))).find("too deep") != std::string::npos);
}

TEST_CASE("regular expressions: the fault is underlined, case is ignored beyond ASCII, text need not be UTF-8") {
  const auto wrong = [](const std::string& text, std::size_t begin, std::size_t end) {
    const auto error = error_of(text);
    CHECK_MESSAGE(query::words(error).find("regular expression") != std::string::npos, text);
    CHECK_MESSAGE(error.begin == begin, text);
    CHECK_MESSAGE(error.end == end, text);
  };
  wrong("bad /ab[c/", 7, 9);
  wrong(R"(/a\q/)", 2, 4);
  wrong("/x(?=y)/", 2, 5);
  wrong("/(a/", 1, 3);
  wrong("/a**/", 2, 4);
  wrong("/a{1001}/", 2, 8);
  CHECK((*parse("/straße/").root.match)("STRAßE"));
  CHECK((*parse("/LOG$/").root.match)("\xff\xfelog"));
  CHECK((*parse("/損失/").root.match)("層/損失"));
}

TEST_CASE("no regular expression takes more than linear time or much memory") {
  const std::string long_name(20000, 'a');
  for (const char* const text : {"/(([A-Za-z_0-9]+)+)+!/", "/(a+)+c/", "/(a|b)*c/", "/(x|[a-z])*!/",
                                 "/(a?){200}a{200}!/", "/(.*)(.*)(.*)(.*)(.*)!/"})
    CHECK_FALSE_MESSAGE((*parse(text).root.match)(long_name), text);
  CHECK(reason_of(error_of("/" + std::string(100000, 'a') + "/")).find("too large") != std::string::npos);
  CHECK(reason_of(error_of("/(((a{1000}){1000}){1000})/")).find("repeats") != std::string::npos);
  CHECK(reason_of(error_of(R"(/((\pL{900})|(\pN{900}))/)")).find("too large") != std::string::npos);
  CHECK(reason_of(error_of("/" + std::string(480, '(') + std::string(480, ')') + "{1000}{1000}/")).size() > 10);
  CHECK_FALSE((*parse("a*a*a*a*a*b").root.match)(long_name));
}

TEST_CASE("a query has limits of depth and number") {
  CHECK(reason_of(error_of(std::string(10000, '('))).find("too deep") != std::string::npos);
  CHECK(reason_of(error_of(std::string(1000000, '-'))).find("missing") != std::string::npos);
  CHECK(parse(std::string(100000, '-') + "bad").root.kind == Kind::flag);
  CHECK(parse(std::string(99999, '!') + "bad").root.kind == Kind::negation);
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "a ";
  CHECK(reason_of(error_of(many)).find("more than 200") != std::string::npos);
}

TEST_CASE("a query comes apart as it is written") {
  using List = std::vector<std::string>;
  CHECK(query::parts("bad type:Log  nan>0") == List{"bad", "type:Log", "nan>0"});
  CHECK(query::parts("bad and not made") == List{"bad", "not made"});
  CHECK(query::parts("-op:\"a b\" (nan>0 or inf>0) /x y/") == List{"-op:\"a b\"", "(nan>0 or inf>0)", "/x y/"});
  CHECK(query::parts("bad or made type:Log") == List{"bad or made type:Log"});
  CHECK(query::parts("a|b") == List{"a|b"});
  CHECK(query::parts("") == List{});
  CHECK(query::parts("bad NOT ok  - made") == List{"bad", "NOT ok", "- made"});
  CHECK(query::parts("a OR b") == List{"a OR b"});
  CHECK(query::parts("(a)b \"c\"\"d\"") == List{"(a)", "b", "\"c\"", "\"d\""});
  CHECK(query::parts("bad nann>1 made ") == List{"bad", "nann>1 made"});
  CHECK(query::parts("bad) ok") == List{"bad) ok"});
}

TEST_CASE("no text crashes the parser") {
  std::uint32_t state = 1;
  const std::string letters = "ab:><=!()|-\"/.%0159kM *?or\\";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < round % 24; ++i) {
      state = state * 1664525 + 1013904223;
      text += letters[(state >> 16) % letters.size()];
    }
    query::Error error;
    const auto read = query::parse(text, error);
    if (!read) CHECK(error.end <= text.size());
  }
}
