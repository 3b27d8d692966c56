// Recordings of several ranks: a track for each, what they exchanged, and which rank things are of.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <nanlens/causes/exchanges.hpp>

#include "../support/rank_on_paper.hpp"
#include "headless.hpp"

using nanlens::test::GeneratorOptions;
using nanlens::test::GrowingFiles;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::LogdirGenerator;
using nanlens::test::RankOnPaper;
namespace logdir = nanlens::logdir;

namespace {

// Ranks of one job, each of which runs an op and an Allreduce per step; what is bad in the culprit's op comes to all.
struct Job {
  Job(int size, int culprit, int steps, int bad_from) {
    for (int rank = 0; rank < size; ++rank) {
      RankOnPaper& r = ranks.emplace_back(rank, 1.7e9, size);
      for (int step = 0; step < steps; ++step) {
        const bool bad = step >= bad_from;
        r.op("Grad", rank == culprit && bad ? 1 : 0);
        r.allreduce(rank == culprit && bad ? 1 : 0, bad ? 1 : 0);
      }
    }
  }
  void store(GrowingFiles& files, int host_size = 1000) const {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      ranks[i].store(files, "node" + std::to_string(static_cast<int>(i) / host_size) + ".rank" + std::to_string(i));
  }
  std::vector<RankOnPaper> ranks;
};

// A rank with a graph: rows, too.
void store_rows(GrowingFiles& files, int rank, int bad_every) {
  GeneratorOptions options;
  options.calls = 20;
  options.bad_every = bad_every;
  options.run_id = "job";
  options.id_prefix = "r" + std::to_string(rank);
  LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
    files.append(nanlens::test::generated_name(kind, "node.rank" + std::to_string(rank)), bytes);
  }).run();
}

Json box_in(const Json& timeline, int track, bool bad) {
  for (const Json& box : timeline["boxes"])
    if (box["track"] == track && box["bad"] == bad) return box;
  return nullptr;
}

}  // namespace

TEST_CASE("four ranks: a track for each, with what is bad in it; a box is clicked in its track") {
  Headless v;
  Job(4, 2, 5, 3).store(v.memory["memory:job"], 2);
  v.open("memory:job");
  const Json t = v.state()["timeline"];
  REQUIRE(t["tracks"].size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    const Json& track = t["tracks"][static_cast<std::size_t>(rank)];
    CHECK(track["job_rank"] == rank);
    CHECK(track["host"] == (rank < 2 ? "node0" : "node1"));
    CHECK(track["executions"] == 15);
    CHECK(track["bad"] == (rank == 2 ? 6 : 2));
    CHECK(v.shows("timeline:track:" + std::to_string(rank)));
  }
  CHECK(t["end"] == 15);  // each rank counts its own
  CHECK(t["boxes"].size() == 60);
  const Json box = box_in(t, 3, false);
  const std::string id = "timeline:box:" + viewer::json_text(box["index"]);
  CHECK(v.rect(id).y >= v.rect("timeline:track:3").y - 0.5f);
  CHECK(v.rect(id).bottom() <= v.rect("timeline:track:3").bottom() + 0.5f);
  v.click(id);
  const Json s = v.state();
  CHECK(s["focus"]["execution"] == box["index"]);
  CHECK(s["execution"]["job_rank"] == 3);
  CHECK(s["execution"]["track"] == 3);
}

TEST_CASE("what the culprit put in: outlines around what the others got, and who got it from there") {
  Headless v;
  Job(4, 2, 5, 3).store(v.memory["memory:job"]);
  v.open("memory:job");
  REQUIRE(v.state()["verdict"]["sentence"].get<std::string>().find("in rank 2") != std::string::npos);
  // Of rank 2, the fourth step: op, what it puts in, what it gets.
  const int first = 2 * 15 + 9;
  v.command("focus_execution", {{"index", first + 1}});
  Json partners = v.state()["timeline"]["partners"];
  REQUIRE(partners.size() == 4);
  std::set<int> tracks;
  for (const Json& p : partners) {
    tracks.insert(p["track"].get<int>());
    CHECK(p["sent"] == false);
    CHECK(p["bad"] == true);
    CHECK(p["spread"] == true);
    CHECK(v.shows("timeline:partner:" + viewer::json_text(p["execution"])));
  }
  CHECK(tracks == std::set<int>{0, 1, 2, 3});
  // What rank 0 got then came from rank 2 alone.
  v.command("focus_execution", {{"index", 9 + 2}});
  partners = v.state()["timeline"]["partners"];
  REQUIRE(partners.size() == 4);
  for (const Json& p : partners) {
    CHECK(p["sent"] == true);
    CHECK(p["spread"] == (p["track"] == 2));
  }
  // Before, nothing was bad; an op of one rank has no partners.
  v.command("focus_execution", {{"index", 2 * 15 + 1}});
  partners = v.state()["timeline"]["partners"];
  for (const Json& p : partners) CHECK(p["spread"] == false);
  v.command("focus_execution", {{"index", 0}});
  CHECK(v.state()["timeline"]["partners"].empty());
}

TEST_CASE("a communicator of any size, and ranks at the end of the numbers, cost no time") {
  constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max();
  using logdir::ExchangeKind;
  using nanlens::causes::senders_of;
  static_assert(senders_of({.kind = ExchangeKind::up_to, .rank = last}).end == last);
  static_assert(senders_of({.kind = ExchangeKind::message, .peer = last}).end == last);
  static_assert(senders_of({.kind = ExchangeKind::message, .peer = 3}).end == 4);
  Headless v;
  Job(2, 0, 1, 0).store(v.memory["memory:job"]);
  RankOnPaper huge(2, 1.7e9, last);
  huge.allreduce(1, 1);
  huge.store(v.memory["memory:job"], "node0.rank2");
  v.open("memory:job");
  for (const int execution : {2, 7}) {
    v.command("focus_execution", {{"index", execution}});
    CHECK(v.state()["focus"]["execution"] == execution);
    CHECK(v.state()["timeline"]["partners"].size() == (execution == 2 ? 2 : 1));
  }
}

TEST_CASE("arrows go along a rank and from rank to rank") {
  Headless v;
  Job(3, 1, 4, 9).store(v.memory["memory:job"]);
  v.open("memory:job");
  v.command("focus_execution", {{"index", 12 + 5}});
  v.keys({"2", "ArrowDown"});
  CHECK(v.state()["focus"]["execution"] == 24 + 5);
  v.key("ArrowDown");
  CHECK(v.state()["focus"]["execution"] == 24 + 5);
  CHECK_FALSE(v.state()["toasts"].empty());
  v.keys({"ArrowUp", "ArrowUp"});
  CHECK(v.state()["focus"]["execution"] == 5);
  v.key("End");
  CHECK(v.state()["focus"]["execution"] == 11);
  v.key("ArrowRight");
  CHECK(v.state()["focus"]["execution"] == 11);
  v.keys({"Home", "ArrowRight"});
  CHECK(v.state()["focus"]["execution"] == 1);
  v.command("timeline_mode", {{"mode", "time"}});
  v.key("ArrowDown");
  CHECK(v.state()["focus"]["execution"] == 12 + 1);  // all clocks are the same here
}

TEST_CASE("a track's label filters the rows; rows and alerts tell their rank") {
  Headless v;
  store_rows(v.memory["memory:job"], 0, 0);
  store_rows(v.memory["memory:job"], 1, 7);
  v.open("memory:job");
  Json s = v.state();
  REQUIRE(s["timeline"]["tracks"].size() == 2);
  CHECK(s["timeline"]["tracks"][0]["bad"] == 0);
  CHECK(s["timeline"]["tracks"][1]["bad"] == s["alerts"]["total"]);
  CHECK(s["alerts"]["visible"][0]["job_rank"] == 1);
  CHECK(v.shows("sort:job_rank"));
  v.command("filter", {{"query", "type:Log"}});
  v.click("timeline:track:1");
  s = v.state();
  CHECK(s["graph_executions"]["filter"] == "type:Log job_rank:1");
  CHECK(s["graph_executions"]["shown"] == 100);
  for (const Json& row : s["graph_executions"]["visible"]) CHECK(row["job_rank"] == 1);
  v.click("timeline:track:0");
  CHECK(v.state()["graph_executions"]["filter"] == "type:Log job_rank:0");
  v.click("timeline:track:0");
  CHECK(v.state()["graph_executions"]["filter"] == "type:Log");
  v.command("filter", {{"query", "type:Log or type:MatMul"}});
  v.click("timeline:track:1");
  CHECK(v.state()["graph_executions"]["filter"] == "(type:Log or type:MatMul) job_rank:1");
  CHECK(v.state()["graph_executions"]["shown"] == 200);
  v.command("clear_filter");
  v.command("sort", {{"column", "job_rank"}, {"descending", true}});
  CHECK(v.state()["graph_executions"]["visible"][0]["job_rank"] == 1);
  CHECK(v.command("group_alerts", {{"by", "rank"}}).ok);
  CHECK(v.shows("alerts:group:rank 1"));
}

TEST_CASE("where there are no rows, a track's label leads to what is bad in it first") {
  Headless v;
  Job(4, 2, 5, 3).store(v.memory["memory:job"]);
  v.open("memory:job");
  v.click("timeline:track:2");
  CHECK(v.state()["focus"]["execution"] == 2 * 15 + 9);
  v.click("timeline:track:1");
  CHECK(v.state()["focus"]["execution"] == 15 + 11);
}

TEST_CASE("64 ranks: those that do not fit scroll, and the one that is bad shows in the map of all") {
  Headless v;
  Job job(64, 57, 200, 1000);
  job.ranks[57].op("Log", 1);
  job.store(v.memory["memory:job"]);
  v.open("memory:job");
  Json s = v.state();
  REQUIRE(s["timeline"]["tracks"].size() == 64);
  CHECK(s["execution"]["job_rank"] == 57);
  CHECK(v.shows("timeline:track:57"));  // the first bad one is selected, and in view
  CHECK_FALSE(v.shows("timeline:track:0"));
  CHECK(v.rect("timeline:track:57").h >= 11);
  CHECK(v.app().timeline.boxes.size() > 0);
  v.command("timeline_fit");
  for (std::size_t k = 0; k < 64; ++k) {
    CAPTURE(k);
    const auto& cells = v.app().timeline.tracks[k].overview;
    REQUIRE_FALSE(cells.empty());
    const bool bad =
        std::any_of(cells.begin(), cells.end(), [](std::uint8_t c) { return c >= nanlens::viewer::overview_bad; });
    CHECK(bad == (k == 57));
  }
  REQUIRE(v.app().timeline.boxes.empty());
  std::uint64_t bad = 0;
  std::uint64_t all = 0;
  for (const auto& column : v.app().timeline.tracks[57].columns) {
    bad += column.bad;
    all += column.count;
  }
  CHECK(bad == 1);
  CHECK(all == 601);
  // A click on the sums leads to what is bad there.
  v.command("focus_track", {{"track", 57}, {"begin", 0}, {"end", 0.5}});
  const std::int64_t first = v.state()["focus"]["execution"];
  const auto label = v.rect("timeline:track:57");
  const auto band = v.rect("timeline:band");
  v.click_at({band.right() - 0.5f, label.y + label.h / 2});
  CHECK(v.state()["focus"]["execution"] == first + 600);
  const auto map = v.rect("timeline:overview");
  v.click_at({map.x + map.w / 2, map.y + 1});
  CHECK(v.shows("timeline:track:0"));
  CHECK_FALSE(v.shows("timeline:track:57"));
  v.wheel(v.point("timeline:track:0"), 0, -3);
  CHECK_FALSE(v.shows("timeline:track:0"));
}

TEST_CASE("one rank, or none, has no tracks") {
  for (const char* const host : {"node.rank0", "node"}) {
    Headless v;
    RankOnPaper alone(0, 1.7e9);
    alone.op("Log", 1);
    alone.store(v.memory["memory:job"], host);
    v.open("memory:job");
    const Json s = v.state();
    CHECK(s["timeline"]["tracks"].empty());
    CHECK_FALSE(v.shows("timeline:track:0"));
    CHECK(s["timeline"]["boxes"][0]["track"].is_null());
    CHECK_FALSE(v.command("filter_rank", {{"rank", 0}}).ok);
    CHECK_FALSE(v.command("group_alerts", {{"by", "rank"}}).ok);
  }
}

TEST_CASE("a rank that comes later gets its track; what is selected stays") {
  Headless v;
  GrowingFiles& files = v.memory["memory:job"];
  const Job job(3, 1, 4, 2);
  job.ranks[0].store(files, "node.rank0");
  v.open("memory:job");
  CHECK(v.state()["timeline"]["tracks"].empty());
  v.command("focus_execution", {{"index", 4}});
  job.ranks[2].store(files, "node.rank2");
  v.look_again();
  Json s = v.state();
  REQUIRE(s["timeline"]["tracks"].size() == 2);
  CHECK(s["timeline"]["tracks"][1]["job_rank"] == 2);
  CHECK(s["focus"]["execution"] == 4);
  job.ranks[1].store(files, "node.rank1");
  v.look_again();
  s = v.state();
  REQUIRE(s["timeline"]["tracks"].size() == 3);
  CHECK(s["timeline"]["tracks"][1]["job_rank"] == 1);
  CHECK(s["timeline"]["tracks"][1]["executions"] == 12);
  CHECK(s["focus"]["execution"] == 4);
  CHECK(s["execution"]["track"] == 0);
}

TEST_CASE("times that go backwards, and no numbers: by time each is where it says, by order where it was recorded") {
  Headless v;
  RankOnPaper one(0, 1.7e9);
  RankOnPaper two(1, 1.7e9);
  for (int i = 0; i < 3; ++i) one.op("Add", 0);
  two.op("Add", 0);
  two.set_time(1.7e9 - 0.5);
  two.op("Mul", 0);
  two.set_time(std::numeric_limits<double>::quiet_NaN());
  two.op("Sub", 0);
  one.store(v.memory["memory:job"]);
  two.store(v.memory["memory:job"]);
  v.open("memory:job");
  CHECK(v.state()["timeline"]["boxes"].size() == 6);
  v.command("timeline_mode", {{"mode", "time"}});
  CHECK(v.app().timeline.time_mode);
  v.command("timeline_fit");
  v.command("focus_execution", {{"index", 0}});
  v.keys({"2", "ArrowDown"});
  CHECK(v.state()["execution"]["job_rank"] == 1);
}
