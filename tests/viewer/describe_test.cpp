// What the report says of a run.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <report/describe.hpp>

#include "../capture/recorded.hpp"

using Complex = std::vector<std::complex<float>>;

TEST_CASE("a start that no clock can have told is not known") {
  using nanlens::report::describe_start;
  CHECK(describe_start(0) == "1970-01-01 00:00:00 UTC");
  CHECK(describe_start(1795339800.75) == "2026-11-22 09:30:00 UTC");
  for (const double time : {-1.0, 4.8e76, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK(describe_start(time) == "at a time that is not known");
}

TEST_CASE("complex numbers raise no alert: that they are bad is told all the same, and that nothing else could be") {
  using namespace nanlens;
  const test::Recorded bad([] {
    const Complex x = op("Const", Complex{{1, 2}});
    op("Div", Complex{{NAN, 0}}, x);
  });
  CHECK(report::tells_nothing(*bad));
  const std::vector<std::string> words = report::unfinished_words(*bad);
  REQUIRE(words.size() == 1);
  CHECK(words[0] == "1 execution made complex numbers with a NaN or ∞, which raise no alert; the first is #1");
  const test::Recorded clean([] { op("Abs", std::vector<float>{1}, op("Const", Complex{{1, 2}})); });
  CHECK_FALSE(report::tells_nothing(*clean));
  CHECK(report::unfinished_words(*clean).empty());
}
