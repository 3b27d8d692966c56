// Runs that grow while they are looked at: what is on show stays, and ends as if it had been read at once.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/logdir_generator.hpp"
#include "growing.hpp"
#include "session.hpp"

using nanlens::test::generated_files;
using nanlens::test::GeneratorOptions;
using nanlens::test::Growing;
using nanlens::test::Session;
namespace logdir = nanlens::logdir;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;

namespace {

std::vector<std::uint64_t> indices(const viewer::Rows& rows) {
  std::vector<std::uint64_t> found;
  for (const viewer::Row& row : rows.rows) found.push_back(row.index);
  return found;
}

struct Asked {
  const char* filter;
  const char* sort;
  bool descending = false;
};

}  // namespace

TEST_CASE("growth never takes rows away, and shows at each step the list of a run that was read at once") {
  const auto files = generated_files({.calls = 150, .ops_per_graph = 12, .bad_every = 7});
  const Asked lists[] = {Asked{"bad", ""},        Asked{"/[13579]$/", ""},        Asked{"exec:30..90", ""},
                         Asked{"made or ok", ""}, Asked{"first or function", ""}, Asked{"", "size", true},
                         Asked{"", "tensor"},     Asked{"", "call", true},        Asked{"bad", "time", true},
                         Asked{"-bad", "op"},     Asked{"", "index", true},       Asked{"exec:30..90", "health", true}};
  const auto show = [](Session& s, const Asked& asked) {
    s.view.filter = asked.filter;
    s.view.sort = asked.sort;
    s.view.sort_descending = asked.descending;
    s.show();
  };
  const std::size_t parts[] = {4, 6, 8, 10};
  std::map<std::size_t, std::vector<std::vector<std::uint64_t>>> at_once;  // of so many tenths, by list
  for (const std::size_t part : parts) {
    Growing whole(files);
    Session s(whole.open());
    s.open("x");
    whole.grow(2, part);
    s.ask(viewer::Reload{});
    for (const Asked& asked : lists) {
      show(s, asked);
      CHECK(s.rows.shown == s.rows.rows.size());
      at_once[part].push_back(indices(s.rows));
    }
  }
  for (const Asked& asked : lists) {
    INFO(std::string(asked.filter), " by ", std::string(asked.sort));
    Growing growing(files);
    Session s(growing.open());
    s.open("x");
    show(s, asked);
    // A row that seemed to have made its NaN may turn out to have passed it on, when what it was made of is read.
    const bool by_class = std::string(asked.filter) == "made or ok";
    std::uint64_t least = s.rows.shown;
    int answers = 0;
    s.watch_rows = [&](const viewer::Rows& rows) {
      if (!by_class) CHECK(rows.shown >= least);
      least = rows.shown;
      ++answers;
    };
    for (const std::size_t part : parts) {
      growing.grow(part - 2, part);
      s.ask(viewer::Reload{.quiet = true});
      INFO("of ten parts ", part);
      CHECK(s.rows.complete);
      CHECK_FALSE(s.rows.sorting);
      CHECK(indices(s.rows) == at_once[part][static_cast<std::size_t>(&asked - lists)]);
      CHECK(s.rows.shown == s.rows.rows.size());
    }
    CHECK(answers > 0);
    CHECK(s.rows.shown > 0);
  }
}

TEST_CASE("a sorted list stays sorted while what is new is not in it yet") {
  Growing growing(generated_files({.calls = 400, .ops_per_graph = 25}));
  Session s(growing.open());
  s.open("x");
  s.view.sort = "index";
  s.view.sort_descending = true;
  s.view.row_first = 100;
  s.view.row_count = 50;
  s.show();
  s.watch_rows = [&](const viewer::Rows& rows) {
    CHECK(rows.first == 100);
    const auto found = indices(rows);
    REQUIRE(found.size() == 50);
    for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i] + 1 == found[i - 1]);
    CHECK(found[0] + 101 == rows.shown);
  };
  growing.grow(2, 10);
  s.ask(viewer::Reload{.quiet = true});
  CHECK(s.rows.shown ==
        static_cast<std::uint64_t>(nanlens::test::LogdirGenerator::traces_of({.calls = 400, .ops_per_graph = 25})));
}

TEST_CASE("of two logdirs the first gains a run: the run on show stays, and keys lead to their runs") {
  reader::MemoryStorage* first = nullptr;
  Session s([&](const std::string& path, std::string&) {
    auto storage = std::make_unique<reader::MemoryStorage>();
    const bool is_first = path == "a";
    if (is_first) first = storage.get();
    for (const auto& [name, bytes] : generated_files(
             {.calls = is_first ? 5 : 50, .ops_per_graph = 4, .run_id = is_first ? "aaaaaaaa" : "bbbbbbbb"}))
      storage->put(name, bytes);
    return storage;
  });
  s.show();
  s.ask(viewer::Open{{"a", "b"}});
  REQUIRE(s.overview.run == 1);
  const std::uint64_t shown = s.overview.runs[1].key;
  const std::uint64_t rows = s.rows.total;
  CHECK(s.overview.runs[0].key != shown);
  s.select(viewer::IntentKind::trace, 150);
  const viewer::Focus focus = s.selection.focus;
  for (const auto& [name, bytes] :
       generated_files({.calls = 2, .ops_per_graph = 4, .run_id = "cccccccc"}, "tfdbg_events.1700000009.host"))
    first->put(name, bytes);
  s.ask(viewer::Reload{.quiet = true});
  REQUIRE(s.overview.runs.size() == 3);
  CHECK(s.overview.run == 2);
  CHECK(s.overview.runs[2].run_id == "bbbbbbbb");
  CHECK(s.overview.runs[2].key == shown);
  CHECK(s.rows.total == rows);
  CHECK(s.selection.focus == focus);
  s.ask(viewer::SelectRun{s.overview.runs[1].key});
  CHECK(s.overview.run == 1);
  CHECK(s.overview.runs[1].run_id == "cccccccc");
  CHECK(s.rows.total == 8);
  s.ask(viewer::SelectRun{12345});
  CHECK(s.overview.run == 1);
}
