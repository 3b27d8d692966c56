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
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"
#include "../support/logdir_generator.hpp"
#include "answers.hpp"

using namespace nanlens;
using test::finish;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

// Two threads, each with calls that change a variable and pass on what is bad in it.
void record_threads(const std::string& path) {
  nanlens::enable_dump_debug_info(test::everything(path));
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([t] {
      Vector state = {1, 1, 1};
      nanlens::variable(state);
      for (int i = 0; i < 20; ++i) {
        nanlens::Function f(t == 0 ? "left" : "right", nanlens::arg("state", state));
        Vector x = {1, i == 7 ? 0.0F : 1.0F, 2};
        nanlens::record("Const", nanlens::outputs(x), nanlens::inputs());
        Vector y = {0, i == 7 ? -INFINITY : 0, 0.69F};
        y = f.op("Log", std::move(y), x);
        for (std::size_t k = 0; k < 3; ++k) state[k] += y[k];
        nanlens::record("AssignAddVariableOp", nanlens::outputs(state), nanlens::inputs(state, y));
        f.result(state);
      }
    });
  for (auto& thread : threads) thread.join();
  nanlens::disable_dump_debug_info();
}

// Tensors that nothing recorded, and a part and the whole of one that was changed, each taken by several ops, again and
// again.
void record_arrivals(const std::string& path) {
  Vector data(20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) - 4.5F;
  data[7] = NAN;
  Vector experts(2000, 1.0F);
  const Vector bad = {NAN};
  nanlens::enable_dump_debug_info(test::everything(path));
  nanlens::forget(data.data(), data.size() * sizeof(float));
  nanlens::op("Init", experts);
  experts[777] = NAN;
  for (int i = 0; i < 10; ++i) {
    if (i == 6) data[8] = 100;  // another tensor, in the same memory
    nanlens::op("Query", bad, data);
    nanlens::op("Key", bad, data);
    nanlens::op("MatMul", bad, nanlens::tensor_view(experts.data(), {1000}));
    nanlens::op("GroupedMatMul", bad, experts);
  }
  nanlens::disable_dump_debug_info();
}

// Ops that fail on the zeros of three tensors, whose results choices leave out, and others take, at random; two at once
// where they meet.
void record_twins(const std::string& path, unsigned seed, bool meet) {
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<Vector>> all;
  const auto keep = [&](Vector v) -> Vector& { return *all.emplace_back(std::make_unique<Vector>(std::move(v))); };
  const auto one_of = [&](const std::vector<Vector*>& list) -> Vector& { return *list[random() % list.size()]; };
  std::vector<Vector*> zeros;
  std::vector<Vector*> bad;
  nanlens::enable_dump_debug_info(test::everything(path));
  for (int i = 0; i < 3; ++i) nanlens::op("Data", *zeros.emplace_back(&keep({0, 1})));
  const auto fail = [&] {
    constexpr const char* types[] = {"Log", "Reciprocal", "RealDiv"};
    const auto type = random() % std::size(types);
    constexpr float made[] = {-INFINITY, INFINITY, NAN};
    bad.push_back(&keep({made[type], 1}));
    if (type == 2)
      nanlens::op(types[type], *bad.back(), one_of(zeros), one_of(zeros));
    else
      nanlens::op(types[type], *bad.back(), one_of(zeros));
  };
  fail();
  for (auto left = 10 + random() % 30; left > 0; --left) {
    Vector& before = one_of(bad);
    switch (random() % (meet ? 6 : 5)) {
      case 0: nanlens::op("SelectV2", keep({0, 1}), *zeros[0], *zeros[0], before); break;
      case 1: nanlens::op("Neg", *bad.emplace_back(&keep({-before[0], -1})), before); break;
      case 2: nanlens::op("Data", one_of(zeros)); break;
      case 5: {
        const Vector& other = one_of(bad);
        nanlens::op("AddV2", *bad.emplace_back(&keep({before[0] + other[0], 2})), before, other);
        break;
      }
      default: fail();
    }
  }
  nanlens::disable_dump_debug_info();
}

// Data of PyTorch's that lacks values, and what conditions choose of it and of what is made of it, at random:
// conditions that ask for NaN, that compare, and that are made of others.
void record_conditions(const std::string& path, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<Vector>> all;
  std::vector<std::unique_ptr<std::vector<std::int64_t>>> masks;
  const Vector good{1, 4, 2, 3};
  const Vector lacking{1, NAN, 2, 3};
  const auto keep = [&](const Vector& v) -> Vector& { return *all.emplace_back(std::make_unique<Vector>(v)); };
  const auto made = [&](bool is_bad) -> Vector& { return keep(is_bad ? lacking : good); };
  const auto new_mask = [&]() -> std::vector<std::int64_t>& {
    return *masks.emplace_back(std::make_unique<std::vector<std::int64_t>>(std::vector<std::int64_t>{0, 1, 0, 0}));
  };
  const auto any_of = [&](const auto& list) -> auto& { return *list[random() % list.size()]; };
  const auto is_bad = [](const Vector& v) { return std::isnan(v[1]); };
  constexpr const char* pairs[] = {"aten::bitwise_and", "aten::bitwise_or"};
  nanlens::enable_dump_debug_info(test::everything(path));
  const Vector outside = lacking;
  nanlens::op("aten::cat", made(true), outside);
  nanlens::op("aten::randn", made(false));
  nanlens::op("aten::ne", new_mask(), *all[0], *all[0]);
  for (auto left = 10 + random() % 30; left > 0; --left) {
    const Vector& x = any_of(all);
    const Vector& y = any_of(all);
    const auto& mask = any_of(masks);
    switch (random() % 9) {
      case 0: nanlens::op("aten::ne", new_mask(), x, x); break;
      case 1: nanlens::op("aten::gt", new_mask(), x, y); break;
      case 2: nanlens::op("aten::bitwise_not", new_mask(), mask); break;
      case 3: nanlens::op(pairs[random() % 2], new_mask(), mask, any_of(masks)); break;
      case 4: nanlens::op("aten::where", made(false), mask, x, y); break;
      case 5: nanlens::op("aten::masked_fill", made(false), x, mask); break;
      case 6: nanlens::op("aten::nan_to_num", made(false), x); break;
      default: nanlens::op("aten::mul", made(is_bad(x) || is_bad(y)), x, y); break;
    }
  }
  nanlens::disable_dump_debug_info();
}

using Files = std::map<std::string, std::string>;

// Constants of TensorFlow's, each taken by an op that may have made its NaN, and much later by one that can't have.
Files constants_that_came_in() {
  test::LogdirWriter w;
  std::int64_t made = 1000;
  for (std::int64_t data = 1; data <= 3; ++data) {
    w.execution("Log", {data}, {++made}, true);
    w.execution("MyOp", {data}, {++made}, true);
    for (int i = 0; i < 30; ++i) w.execution("Relu", {500}, {++made}, false);
    w.execution("Tanh", {data}, {++made}, true);
  }
  Files files;
  for (auto& [kind, bytes] : w.take()) files[test::generated_name(kind)] = std::move(bytes);
  return files;
}

// What is bad, and a function of TensorFlow's is given, whose argument has no rows: another time it fills that first.
Files given_to_functions() {
  test::LogdirWriter w;
  w.graph("g", "f", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "IsNan", "nan", {"x:0"});
  w.op("g", "SelectV2", "choice", {"nan:0", "x:0"});
  w.op("g", "Neg", "neg", {"choice:0"});
  std::int64_t made = 1000;
  for (int i = 0; i < 12; ++i) {
    w.execution("IteratorGetNext", {1}, {++made}, i % 3 == 0);
    w.row("g", "choice", i == 9);
    w.row("g", "neg", i == 9);
    w.execution("__inference_f_1", {made}, {made + 1}, i == 9);
    ++made;
  }
  Files files;
  for (auto& [kind, bytes] : w.take()) files[test::generated_name(kind)] = std::move(bytes);
  return files;
}

Files read_files(const std::string& directory) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

Files golden_files(const std::string& name) { return read_files(std::string(NANLENS_GOLDEN_DIR) + "/" + name); }

// As a second host would have recorded the same, a second later.
Files on_another_host(const Files& files) {
  Files other;
  for (const auto& [name, bytes] : files) {
    std::string renamed = name;
    renamed.replace(renamed.find("golden"), 6, "second");
    other[renamed] = bytes;
  }
  return other;
}

// How much of each file is there, of `parts` parts, after `part` of them.
struct Pace {
  const char* name;
  double (*share)(const std::string& file, double part);
};

bool is_definition(const std::string& file) { return !file.ends_with("execution") && !file.ends_with("traces"); }

const Pace paces[] = {
    {"all files alike", [](const std::string&, double part) { return part; }},
    {"executions first",
     [](const std::string& file, double part) { return file.ends_with("execution") ? std::min(1.0, 2 * part) : part; }},
    {"rows first",
     [](const std::string& file, double part) { return file.ends_with("traces") ? std::min(1.0, 2 * part) : part; }},
    {"definitions first",
     [](const std::string& file, double part) { return is_definition(file) ? std::min(1.0, 3 * part) : part; }},
};

// A logdir that is followed while it grows.
class Followed {
 public:
  Followed() {
    auto owned = std::make_unique<reader::MemoryStorage>();
    storage_ = owned.get();
    logdir_ = std::make_unique<reader::Logdir>(std::move(owned));
  }
  // Hands the reader the first bytes of every file; of the metadata all.
  void show(const Files& files, const Pace& pace, double part) {
    for (const auto& [name, bytes] : files) {
      const double share = name.ends_with(".metadata") ? 1 : pace.share(name, part);
      const auto end = static_cast<std::size_t>(share * static_cast<double>(bytes.size()));
      storage_->append(name, bytes.substr(shown_[name], end - shown_[name]));
      shown_[name] = end;
    }
    logdir_->update();
    if (causes_ == nullptr)
      causes_ = std::make_unique<causes::Causes>(run());
    else
      causes_->run_has_grown();
    finish(*causes_, 7);
  }
  reader::Run& run() { return *logdir_->runs().at(0); }
  causes::Causes& causes() { return *causes_; }
  std::vector<std::string> answers() { return test::Answers(*causes_).list(); }

 private:
  reader::MemoryStorage* storage_ = nullptr;
  std::map<std::string, std::size_t> shown_;
  std::unique_ptr<reader::Logdir> logdir_;
  std::unique_ptr<causes::Causes> causes_;
};

std::string first_difference(const std::vector<std::string>& grown, const std::vector<std::string>& whole) {
  for (std::size_t i = 0; i < std::max(grown.size(), whole.size()); ++i) {
    const std::string a = i < grown.size() ? grown[i] : "nothing";
    const std::string b = i < whole.size() ? whole[i] : "nothing";
    if (a != b) return a + " in place of " + b;
  }
  return "";
}

void check_growth(const Files& files) {
  Followed at_once;
  at_once.show(files, paces[0], 1);
  const auto whole = at_once.answers();
  REQUIRE(at_once.causes().total() > 0);
  for (const Pace& pace : paces)
    for (const int parts : {2, 5, 16}) {
      INFO(std::string(pace.name), ", in ", parts, " parts");
      Followed followed;
      for (int part = 1; part <= parts; ++part) followed.show(files, pace, static_cast<double>(part) / parts);
      CHECK(first_difference(followed.answers(), whole) == "");
    }
}

}  // namespace

TEST_CASE("a logdir that grows ends with the answers of one that was read at once") {
  for (const char* const name : {"core.CURT_HEALTH", "core.FULL_HEALTH", "filtered.FULL_HEALTH", "session.FULL_HEALTH"})
    SUBCASE(name) { check_growth(golden_files(name)); }
  SUBCASE("two hosts") {
    Files both = golden_files("core.FULL_HEALTH");
    both.merge(on_another_host(both));
    check_growth(both);
  }
  SUBCASE("nanlens' own, calls of two threads, variables") {
    test::TemporaryDirectory directory;
    record_threads(directory / "run");
    check_growth(read_files(directory / "run"));
  }
  SUBCASE("what functions are given") {
    const Files files = given_to_functions();
    check_growth(files);
    Followed followed;
    followed.show(files, paces[0], 1);
    CHECK(followed.causes().benign().size() == 3);
  }
  SUBCASE("what came in as constants") { check_growth(constants_that_came_in()); }
  SUBCASE("nanlens' own, what came in") {
    test::TemporaryDirectory directory;
    record_arrivals(directory / "run");
    check_growth(read_files(directory / "run"));
  }
  SUBCASE("nanlens' own, ops that fail alike") {
    test::TemporaryDirectory directory;
    for (const bool meet : {false, true})
      for (const unsigned seed : {1U, 2U, 3U, 377U, 382U, 389U}) {
        CAPTURE(meet);
        CAPTURE(seed);
        const std::string run = directory / (std::to_string(seed) + (meet ? "m" : ""));
        record_twins(run, seed, meet);
        check_growth(read_files(run));
      }
  }
}

TEST_CASE("so does one of PyTorch's whose conditions leave out what is missing") {
  test::TemporaryDirectory directory;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    const std::string run = directory / std::to_string(seed);
    record_conditions(run, seed);
    check_growth(read_files(run));
  }
}

TEST_CASE("two hosts of one run: rows belong to the calls of their own host, and the answer names it") {
  const Files files = golden_files("core.FULL_HEALTH");
  Followed one;
  one.show(files, paces[0], 1);
  Files both = files;
  both.merge(on_another_host(files));
  Followed two;
  two.show(both, paces[0], 1);
  reader::Run& run = two.run();
  REQUIRE(run.num_sets() == 2);
  const auto has_owner = [](Followed& followed) {
    std::size_t n = 0;
    for (std::uint32_t row = 0; row < followed.run().num_traces(); ++row)
      n += followed.causes().model().owners().owner(row) != reader::none;
    return n;
  };
  for (std::uint32_t row = 0; row < run.num_traces(); ++row)
    if (const std::uint32_t call = two.causes().model().owners().owner(row); call != reader::none)
      CHECK(run.set_of_trace(row) == run.set_of_execution(call));
  CHECK(has_owner(two) == 2 * has_owner(one));
  // Ids are those of another process: nothing leads from one host to the other.
  CHECK(two.causes().explained() == 2 * one.causes().explained());
  CHECK(two.causes().roots().size() == 2 * one.causes().roots().size());
  for (const auto& root : two.causes().roots())
    for (const auto& step : two.causes().chain(root.last))
      CHECK(two.causes().model().recorder(step.event).file_set == two.causes().model().recorder(root.event).file_set);
  REQUIRE(two.causes().headline());
  const auto recorder = two.causes().model().recorder(two.causes().roots()[*two.causes().headline()].event);
  CHECK(recorder.host == "golden");
  CHECK(recorder.device == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(recorder.file_set.find("golden") != std::string::npos);
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
  finish(live, 7);
  calls("g");
  nanlens::disable_dump_debug_info();
  logdir.update();
  live.run_has_grown();
  finish(live, 7);
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
        [&](DumpOptions& options) {
          options.circular_buffer_size = layers * width + 4;
          options.pinned_sites = 0;
        });
    causes::Causes causes(*run);
    finish(causes, 7);
    CHECK(causes.total() > 0);
    CHECK(causes.steps() <= causes.total() * 2 * limits::link_steps);
    return causes.steps() / causes.total();
  };
  CHECK(steps(64) <= 16 * std::max<std::uint64_t>(steps(8), 32));
}
