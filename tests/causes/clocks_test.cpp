// TensorFlow joins rows and calls by time alone. Where their clocks differ, the difference is found, or it is said that
// they can't be matched.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/groups.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"

using namespace nanlens;

namespace {

// A file of records with other times: `time_of(time, number of the record)`.
std::string with_times(const std::string& file, const std::function<double(double, std::size_t)>& time_of) {
  std::string result;
  std::size_t number = 0;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    const std::size_t size = static_cast<std::size_t>(length);
    std::string payload = file.substr(at + logdir::record_header_bytes, size);
    REQUIRE(payload[0] == 9);  // wall_time
    double time = 0;
    std::memcpy(&time, payload.data() + 1, sizeof time);
    time = time_of(time, number++);
    std::memcpy(payload.data() + 1, &time, sizeof time);
    unsigned char header[logdir::record_header_bytes];
    logdir::write_record_header(header, length);
    const std::uint32_t footer =
        logdir::masked_crc32c(reinterpret_cast<const unsigned char*>(payload.data()), payload.size());
    result.append(reinterpret_cast<const char*>(header), sizeof header).append(payload);
    result.append(reinterpret_cast<const char*>(&footer), sizeof footer);
    at += size + logdir::record_overhead;
  }
  return result;
}

test::FileBytes golden(const std::string& name) {
  test::FileBytes files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(NANLENS_GOLDEN_DIR) + "/" + name))
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const auto kind = static_cast<logdir::FileKind>(i);
      if (!entry.path().string().ends_with(logdir::file_name("", kind))) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[kind] = {std::istreambuf_iterator<char>(file), {}};
    }
  return files;
}

// Steps of the same length, each a call of `forward` and one of `update`; in some, Log makes a NaN that update passes
// on.
test::FileBytes steps_alike(int steps) {
  test::LogdirWriter w;
  for (const std::string name : {"forward", "update"}) {
    w.graph(name, name, "root");
    w.op(name, "Placeholder", "x");
    w.op(name, name == "forward" ? "Log" : "Neg", "y", {"x:0"});
    w.op(name, "Identity", "Identity", {"y:0"});
    w.op(name, "NoOp", "NoOp");
  }
  for (int step = 0; step < steps; ++step) {
    const bool bad = step % 5 == 2;
    w.row("forward", "x", false);
    w.row("forward", "y", bad);
    w.execution("__inference_forward_7", {3 * step}, {3 * step + 1}, bad);
    w.row("update", "x", bad);
    w.row("update", "y", bad);
    w.execution("__inference_update_9", {3 * step + 1}, {3 * step + 2}, bad);
  }
  return w.take();
}

// What the causes are, by numbers of rows and executions.
struct Found {
  std::vector<std::string> events;
  std::size_t num_causes = 0;
  std::string headline;
  bool matched = true;
  double offset = 0;
  std::size_t num_owned = 0;
};

std::string name(causes::EventRef event) {
  return (event.is_execution ? "execution " : "row ") + std::to_string(event.index) + ":" + std::to_string(event.slot);
}

Found find(test::FileBytes files) {
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(std::move(files)));
  logdir.update();
  reader::Run& run = *logdir.runs().at(0);
  causes::Causes causes(run);
  test::finish(causes);
  Found found;
  for (std::size_t i = 0; i < causes.total(); ++i) {
    const auto event = causes.event_of(i);
    const std::uint32_t root = causes.root_of(event);
    found.events.push_back(name(event) + " " + causes::class_name(causes.event_class(event)) + " from " +
                           (root == causes::none ? "-" : name(causes.roots()[root].event)));
  }
  std::sort(found.events.begin(), found.events.end());
  const causes::CauseGroups groups(causes);
  found.num_causes = groups.list().size();
  if (groups.headline() != causes::none) found.headline = name(causes.roots()[groups.headline()].event);
  found.matched = causes.model().owners().matched();
  found.offset = causes.model().owners().clock_offset();
  for (std::uint32_t row = 0; row < run.num_traces(); ++row)
    found.num_owned += causes.model().owners().owner(row) != causes::none;
  return found;
}

test::FileBytes shifted(test::FileBytes files, double seconds) {
  std::string& rows = files[logdir::FileKind::graph_execution_traces];
  rows = with_times(rows, [&](double time, std::size_t) { return time + seconds; });
  return files;
}

void check_shifts(const test::FileBytes& files, std::initializer_list<double> shifts) {
  const Found as_recorded = find(files);
  CHECK(as_recorded.matched);
  CHECK(as_recorded.offset == 0);
  CHECK(as_recorded.num_causes > 0);
  for (const double seconds : shifts) {
    INFO("rows are ", seconds, " s late");
    const Found found = find(shifted(files, seconds));
    CHECK(found.matched);
    CHECK(found.offset != 0);
    CHECK(found.num_owned == as_recorded.num_owned);
    CHECK(found.events == as_recorded.events);
    CHECK(found.num_causes == as_recorded.num_causes);
    CHECK(found.headline == as_recorded.headline);
  }
}

}  // namespace

TEST_CASE("rows by a clock that differs by a constant have the causes they would have") {
  SUBCASE("functions of a real program") {
    check_shifts(golden("core.FULL_HEALTH"), {-86000.0, -3600.0, -7.3, 5.1, 3600.0, 86000.0});
  }
  SUBCASE("steps that are all alike") {
    check_shifts(steps_alike(200), {-86000.0, -7.3001, -1.2, 1.2, 5.1001, 86000.0});
  }
}

TEST_CASE("rows that no constant brings to their calls: said, and none is given to a call that can't have made it") {
  test::FileBytes files = steps_alike(200);
  std::string& rows = files[logdir::FileKind::graph_execution_traces];
  // Every function's rows by a clock of their own.
  rows = with_times(rows, [&](double time, std::size_t number) { return time + (number % 4 < 2 ? 0.0 : -600.0); });
  const Found found = find(files);
  CHECK_FALSE(found.matched);
  CHECK(found.offset == 0);
  const Found as_recorded = find(steps_alike(200));
  CHECK(found.num_owned < as_recorded.num_owned);
  // What has no call passed on what was made elsewhere, or can't be told: it is never said to be made there.
  for (std::size_t i = 0; i < found.events.size(); ++i) {
    INFO(found.events[i]);
    const bool update_row = found.events[i].starts_with("row ") && std::stoul(found.events[i].substr(4)) % 4 >= 2;
    if (update_row) CHECK(found.events[i].find(" made ") == std::string::npos);
  }
}
