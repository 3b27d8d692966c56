// What the report says of a run.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <report/describe.hpp>

TEST_CASE("a start that no clock can have told is not known") {
  using nanlens::report::describe_start;
  CHECK(describe_start(0) == "1970-01-01 00:00:00 UTC");
  CHECK(describe_start(1795339800.75) == "2026-11-22 09:30:00 UTC");
  for (const double time : {-1.0, 4.8e76, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK(describe_start(time) == "at a time that is not known");
}
