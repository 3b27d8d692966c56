// The order of rows by a column, and the timeline's axis by time.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/time_axis.hpp"
#include "session.hpp"

using nanlens::test::open_directory;
using nanlens::test::Session;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;
using viewer::BadgeKind;

namespace {

double bad_elements(const viewer::Row& row) {
  double bad = 0;
  for (const auto& b : row.badges)
    if (b.kind == BadgeKind::nan || b.kind == BadgeKind::ninf || b.kind == BadgeKind::pinf) bad += b.number;
  return bad;
}

double size_of(const viewer::Row& row) {
  for (const auto& b : row.badges)
    if (b.kind == BadgeKind::size) return b.number;
  return -1;
}

}  // namespace

TEST_CASE("rows are sorted by what a column shows, equal ones as in the file") {
  Session s(open_directory);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  const auto sorted = [&](const std::string& column, bool descending) {
    s.view.sort = column;
    s.view.sort_descending = descending;
    s.show();
    CHECK(!s.rows.sorting);
    return s.rows.rows;
  };
  const auto in_file = sorted("", false);
  REQUIRE(in_file.size() > 50);
  const auto check_order = [&](const std::string& column, bool descending, auto&& before) {
    CAPTURE(column);
    auto expected = in_file;
    std::sort(expected.begin(), expected.end(), [&](const viewer::Row& a, const viewer::Row& b) {
      return before(a, b) || (!before(b, a) && a.index < b.index);
    });
    const auto rows = sorted(column, descending);
    REQUIRE(rows.size() == in_file.size());
    for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].index == expected[i].index);
  };
  using viewer::Row;
  check_order("index", true, [](const Row& a, const Row& b) { return a.index > b.index; });
  check_order("tensor", false, [](const Row& a, const Row& b) { return a.op_name < b.op_name; });
  check_order("op", true, [](const Row& a, const Row& b) { return a.op_type > b.op_type; });
  check_order("graph", false, [](const Row& a, const Row& b) { return a.graph_name < b.graph_name; });
  check_order("time", true, [](const Row& a, const Row& b) { return a.time > b.time; });
  check_order("size", true, [](const Row& a, const Row& b) { return size_of(a) > size_of(b); });
  check_order("call", false, [](const Row& a, const Row& b) {
    return a.execution >= 0 && (b.execution < 0 || a.execution < b.execution);
  });
  // Rows that were not checked have no number of bad elements: they come last.
  const auto by_health = sorted("health", true);
  const auto checked = [](const Row& r) { return size_of(r) >= 0; };
  CHECK(std::is_partitioned(by_health.begin(), by_health.end(), checked));
  const auto end = std::partition_point(by_health.begin(), by_health.end(), checked);
  CHECK(bad_elements(by_health.front()) > 0);
  CHECK(std::is_sorted(by_health.begin(), end,
                       [](const Row& a, const Row& b) { return bad_elements(a) > bad_elements(b); }));
}

TEST_CASE("sorted rows: the filter still holds, the selected row is found, no calls are set apart") {
  Session s(open_directory);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  s.view.sort = "size";
  s.view.sort_descending = true;
  const auto rows = s.filtered("bad");
  REQUIRE(rows.size() > 3);
  CHECK(!std::is_sorted(rows.begin(), rows.end()));
  s.select(viewer::IntentKind::trace, static_cast<std::int64_t>(rows[2]));
  CHECK(s.rows.focus_position == 2);
  CHECK(std::none_of(s.rows.rows.begin(), s.rows.rows.end(), [](const viewer::Row& r) { return r.call_begins; }));
  s.filtered("ok");
  CHECK(s.rows.focus_position == -1);
  CHECK(s.rows.position_before_focus == -1);
}

TEST_CASE("long pauses are shortened, and every place leads back to its time") {
  std::vector<double> times;
  for (int step = 0; step < 5; ++step)
    for (int i = 0; i < 100; ++i) times.push_back(10.0 * step + 0.001 * i);
  const auto gaps = viewer::find_gaps(times);
  REQUIRE(gaps.size() == 4);
  CHECK(gaps[0].begin == doctest::Approx(0.099));
  CHECK(gaps[0].seconds == doctest::Approx(9.901));
  CHECK(gaps[0].width < 0.1);
  CHECK(gaps[3].left_out == doctest::Approx(3 * (gaps[0].seconds - gaps[0].width)));
  CHECK(viewer::to_axis(gaps, times.back()) < 1);
  double last = -1;
  for (double time = 0; time < 45; time += 0.013) {
    const double at = viewer::to_axis(gaps, time);
    CHECK(at > last);
    CHECK(viewer::from_axis(gaps, at) == doctest::Approx(time));
    last = at;
  }
}

TEST_CASE("even times, few times and equal times have no pauses") {
  std::vector<double> even;
  for (int i = 0; i < 1000; ++i) even.push_back(i);
  CHECK(viewer::find_gaps(even).empty());
  CHECK(viewer::find_gaps({}).empty());
  CHECK(viewer::find_gaps({0, 100}).empty());
  CHECK(viewer::find_gaps({3, 3, 3, 3}).empty());
  CHECK(viewer::to_axis({}, 12.5) == 12.5);
}

TEST_CASE("of thousands of pauses only the longest are shortened") {
  std::vector<double> times;
  double at = 0;
  for (int i = 0; i < 3000; ++i) times.push_back(at += i % 50 == 0 ? 1000 + i : 0.001);
  const auto gaps = viewer::find_gaps(times);
  CHECK(gaps.size() == 40);
  for (const auto& gap : gaps) CHECK(gap.seconds >= 2000);  // twenty of sixty are shorter
}
