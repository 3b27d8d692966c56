// A run that is followed live, one of two hosts, and graphs that are made to take long.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "../capture/recorded.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

void finish(causes::Causes& causes) {
  while (!causes.advance(7)) {
  }
}

std::map<std::string, std::string> golden(const std::string& name) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(NANLENS_GOLDEN_DIR) + "/" + name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

struct Shown {
  Shown() {
    auto owned = std::make_unique<reader::MemoryStorage>();
    storage = owned.get();
    logdir = std::make_unique<reader::Logdir>(std::move(owned));
  }
  // Hands the reader this share of every file; of the metadata all.
  void show(const std::map<std::string, std::string>& files, double share) {
    for (const auto& [name, bytes] : files) {
      const bool all = name.ends_with(".metadata");
      const auto end = static_cast<std::size_t>((all ? 1 : share) * static_cast<double>(bytes.size()));
      storage->append(name, bytes.substr(shown[name], end - shown[name]));
      shown[name] = end;
    }
    logdir->update();
  }
  reader::MemoryStorage* storage = nullptr;
  std::map<std::string, std::size_t> shown;
  std::unique_ptr<reader::Logdir> logdir;
};

}  // namespace

TEST_CASE("two hosts of one run: rows belong to the calls of their own host, and the answer names it") {
  const auto files = golden("core.FULL_HEALTH");
  auto both = files;
  for (const auto& [name, bytes] : files) {
    std::string other = name;
    other.replace(other.find("golden"), 6, "second");
    both[other] = bytes;
  }
  Shown shown;
  shown.show(both, 1);
  REQUIRE(shown.logdir->runs().size() == 1);
  reader::Run& run = *shown.logdir->runs()[0];
  REQUIRE(run.num_sets() == 2);
  causes::Causes causes(run);
  finish(causes);
  std::size_t owned = 0;
  for (std::uint32_t row = 0; row < run.num_traces(); ++row) {
    const std::uint32_t call = causes.model().owners().owner(row);
    if (call == reader::none) continue;
    ++owned;
    CHECK(run.set_of_trace(row) == run.set_of_execution(call));
  }
  CHECK(owned > run.num_traces() / 2);
  REQUIRE(causes.headline());
  const auto recorder = causes.model().recorder(causes.roots()[*causes.headline()].event);
  CHECK(!recorder.host.empty());
  CHECK(recorder.device.find("CPU") != std::string::npos);
  CHECK(recorder.file_set.find("tfdbg_events") != std::string::npos);
}

TEST_CASE("removed values are counted once when a run is followed live") {
  const auto calls = [](const char* name) {
    for (int i = 0; i < 20; ++i) {
      Vector x = {1, 0, 2};
      nanlens::Function f(name, nanlens::arg("x", x));
      Vector logarithm = {0, -INFINITY, 0.69F};
      logarithm = f.op("Log", std::move(logarithm), x);
      Vector bounded = {0, -10, 0.69F};
      f.result(f.op("Maximum", std::move(bounded), logarithm));
    }
  };
  const auto removed = [](causes::Causes& causes) {
    std::uint64_t n = 0;
    for (const auto& killer : causes.killers()) n += killer.count;
    return n;
  };
  test::TemporaryDirectory directory;
  const std::string path = directory / "run";
  nanlens::enable_dump_debug_info(test::everything(path));
  calls("f");
  nanlens::flush_debug_info();
  reader::Logdir logdir(path);
  logdir.update();
  causes::Causes live(*logdir.runs().at(0));
  finish(live);
  calls("g");
  nanlens::disable_dump_debug_info();
  logdir.update();
  live.run_has_grown();
  finish(live);
  CHECK(removed(live) == 40);
}

TEST_CASE("work is bounded for each bad tensor: rows that were lost, behind wide layers") {
  const auto steps = [](int width) {
    constexpr int layers = 7;
    const auto net = [&](float last) {
      std::vector<Vector> values(static_cast<std::size_t>(width), Vector(8, 1.0F));
      nanlens::Function f("net");
      for (auto& v : values) nanlens::record("Const", nanlens::outputs(v), nanlens::inputs());
      for (int layer = 1; layer < layers; ++layer) {
        std::vector<Vector> next(values.size(), Vector(8, 1.0F));
        for (auto& v : next) {
          const std::array<const Vector*, 8> in = {&values[0],
                                                   &values[1],
                                                   &values[values.size() / 4],
                                                   &values[values.size() / 3],
                                                   &values[values.size() / 2],
                                                   &values[values.size() * 2 / 3],
                                                   &values[values.size() * 3 / 4],
                                                   &values.back()};
          nanlens::record("AddN", nanlens::outputs(v),
                          nanlens::inputs(*in[0], *in[1], *in[2], *in[3], *in[4], *in[5], *in[6], *in[7]));
        }
        values = std::move(next);
      }
      Vector out(8, last);
      nanlens::record("Concat", nanlens::outputs(out),
                      nanlens::inputs(values[0], values[1], values[values.size() / 2], values.back()));
    };
    const Recorded run(
        [&] {
          net(NAN);
          net(1.0F);
        },
        [&](DumpOptions& options) { options.circular_buffer_size = layers * width + 4; });
    causes::Causes causes(*run);
    finish(causes);
    CHECK(causes.total() > 0);
    CHECK(causes.steps() <= causes.total() * 2 * causes::Resolver::most_steps);
    return causes.steps() / causes.total();
  };
  CHECK(steps(64) <= 16 * std::max<std::uint64_t>(steps(8), 32));
}
