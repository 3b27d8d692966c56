// App and engine in two threads: what the thread sanitizer is to see.
#include <doctest/doctest.h>

#include "growth.hpp"

using nanlens::test::bad_run;
using nanlens::test::grows_while_filtered;
using nanlens::test::Growth;
using nanlens::test::Headless;

TEST_CASE("with the engine in a thread of its own: read, filtered, sorted, selected, grown, closed") {
  {
    Headless v({.threaded = true});
    grows_while_filtered(v);
    v.command("sort", {{"column", "health"}});
    v.command("clear_filter");
    v.keys({".", ".", ",", "y", "g", "b", "b"});
    v.command("export", {{"what", "rows"}});
    CHECK(v.saved.size() == 1);
    v.command("close_logdir");
    CHECK(v.state()["runs"].empty());
    v.open("/nonexistent/logdir");
    CHECK_FALSE(v.state()["error"].is_null());
  }
  // One that ends while its engine is reading.
  Headless v({.threaded = true});
  Growth(bad_run()).until(1, v.memory["memory:run"]);
  v.app().open({"memory:run"});
}
