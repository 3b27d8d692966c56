// Rows and alerts as JSON lines and CSV.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "app/json_text.hpp"
#include "engine/export.hpp"
#include "session.hpp"
#include "texts/utf8.hpp"

using nanlens::test::open_directory;
using nanlens::test::Session;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;
using Json = nlohmann::json;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("every row that is shown is exported, in its order") {
  Session s(open_directory);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  s.view.sort = "size";
  const auto shown = s.filtered("bad");
  s.ask(viewer::Export{"rows", false});
  CHECK(s.exported.complete);
  const auto lines = lines_of(s.exported.text);
  REQUIRE(lines.size() == shown.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json row = viewer::json_of(lines[i]);
    CHECK(row["row"] == shown[i]);
    CHECK(row["bad"] == true);
    CHECK(row["op_name"] == s.rows.rows[i].op_name);
    CHECK(row["nan"].get<double>() + row["ninf"].get<double>() + row["pinf"].get<double>() > 0);
  }
  s.ask(viewer::Export{"alerts", true});
  const auto alerts = lines_of(s.exported.text);
  CHECK(alerts.size() == s.alerts.total + 1);
  CHECK(alerts[0] == "alert,op_name,output_slot,op_type,graph_name,row,execution,class,nan,ninf,pinf");
}

TEST_CASE("an export keeps its list when the filter changes under way") {
  reader::Logdir logdir(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  logdir.update();
  viewer::RunIndex index(*logdir.runs().front());
  index.refresh();
  viewer::Explain explain(index);
  viewer::AlertList alerts(index, explain);
  viewer::RowFilter rows(index, explain);
  const auto later = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto filter = [&](bool only_bad) {
    rows.set("", only_bad);
    while (rows.step(later)) {
    }
  };
  filter(true);
  const auto bad = rows.num_shown();
  viewer::ListExport exporting("rows", false);
  const auto first = exporting.step(rows, alerts, std::chrono::steady_clock::time_point{});
  CHECK((first.first && !first.complete && first.lines == 0));
  filter(false);
  REQUIRE(rows.num_shown() > bad);
  const auto last = exporting.step(rows, alerts, later);
  CHECK((!last.first && last.complete));
  CHECK(last.total == bad);
  const auto lines = lines_of(last.text);
  REQUIRE(lines.size() == bad);
  for (const std::string& line : lines) CHECK(viewer::json_of(line)["bad"] == true);
}

TEST_CASE("texts with quotes, commas and line breaks stay whole; what is unknown is null or empty") {
  viewer::Row row;
  row.op_name = "a\"b,c\n\\d";
  row.op_type = "日本";
  row.badges = {{viewer::BadgeKind::none, 0, "not checked"}};
  const Json json = viewer::json_of(viewer::row_text(row, false));
  CHECK(json["op_name"] == row.op_name);
  CHECK(json["op_type"] == "日本");
  CHECK(json["execution"].is_null());
  CHECK(json["nan"].is_null());
  CHECK(json["size"].is_null());
  CHECK(viewer::row_text(row, true).starts_with("0,\"a\"\"b,c\n\\d\",0,日本,"));
}

TEST_CASE("bytes that are not UTF-8 are replaced one by one, all others stay") {
  viewer::Row row;
  row.op_name = "a\xff\xc3(\xe2\x82";
  CHECK(viewer::json_of(viewer::row_text(row, false))["op_name"] == "a\uFFFD\uFFFD(\uFFFD\uFFFD");
  CHECK(viewer::row_text(row, true).starts_with("0,a\uFFFD\uFFFD("));
  for (const std::string good : {"é損😀", "\x7f\u0800\uFFFF\U0010FFFF"}) CHECK(viewer::valid_utf8(good) == good);
  CHECK(viewer::valid_utf8("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
  CHECK(viewer::valid_utf8("\xc0\xaf\xf5") == "\uFFFD\uFFFD\uFFFD");  // too long, too large
}

TEST_CASE("a report is exported in one piece, as `nanlens report` writes it") {
  Session s(open_directory);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  s.ask(viewer::Export{"report", false});
  CHECK((s.exported.first && s.exported.complete));
  const auto lines = lines_of(s.exported.text);
  CHECK(s.exported.lines == lines.size());
  REQUIRE(lines.size() > 5);
  CHECK(lines[0].starts_with("Run " + s.overview.runs[0].run_id));
  CHECK(s.exported.text.find("  Why: " + s.overview.verdict.cause.sentence) != std::string::npos);
  CHECK(s.exported.text.find("First bad tensor") != std::string::npos);
  CHECK(s.exported.text.find('\033') == std::string::npos);
}

TEST_CASE("Cancel ends an export") {
  Session s(open_directory);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  s.ask(viewer::Export{"rows", false});
  const auto whole = s.exported.lines;
  CHECK(whole == s.rows.total);
  s.exported = {};
  s.ask_both(viewer::Export{"rows", false}, viewer::Cancel{});
  CHECK(s.exported.lines == 0);
}
