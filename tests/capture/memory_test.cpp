// What a program does for however long, memory and the work for one op have a bound. Counted, never timed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/capture/variables.hpp>

#include "../support/slowness.hpp"
#include "recorded.hpp"

using namespace nanlens;
using logdir::TensorOrigin;
using test::everything;
using test::Recorded;
using test::TemporaryDirectory;
using Vector = std::vector<float>;

namespace {

detail::TensorKey bytes_at(std::uintptr_t begin, std::uintptr_t size) {
  detail::TensorKey key;
  key.begin = begin;
  key.end = begin + size;
  key.fingerprint = size | 1;
  key.element_bytes = 1;
  key.dense = true;
  return key;
}

detail::TensorLink link_of(std::int64_t id) { return {id, nullptr, 0, 0}; }

// Blocks of memory at random, from a few bytes to hundreds of megabytes: small ones among large ones.
class RandomBlocks {
 public:
  explicit RandomBlocks(unsigned seed) : random_(seed) {}
  detail::TensorKey next() {
    const std::uintptr_t size = (std::uintptr_t{1} << random_() % 29) * (4 + random_() % 5) / 4 + 63;
    const std::uintptr_t step = random_() % 2 == 0 ? 64 : 1 << 20;
    return bytes_at(base + random_() % 64 * step, size / 64 * 64);
  }

 private:
  static constexpr std::uintptr_t base = std::uintptr_t{1} << 40;
  std::mt19937 random_;
};

std::size_t num_ops(reader::Run& run, std::string_view graph) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < run.definitions().ops().size(); ++i) count += run.op(i)->event.graph_name == graph;
  return count;
}

}  // namespace

TEST_CASE("what is found by its memory is what was recorded there last, however large and wherever cut") {
  const auto registry = std::make_unique<detail::TensorRegistry>();
  RandomBlocks blocks(5);
  std::vector<detail::TensorKey> put;
  std::size_t exact = 0;
  std::size_t parts = 0;
  for (std::int64_t i = 0; i < 1500 / test::slowness; ++i) {
    put.push_back(blocks.next());
    registry->put(put.back(), link_of(i), {});
    for (int k = 0; k < 6; ++k) {
      const detail::TensorKey key =
          k < 3 ? put[put.size() - 1 - static_cast<std::size_t>(k * k) % put.size()] : blocks.next();
      std::size_t last = put.size();
      while (last-- > 0 && !put[last].overlaps(key)) {
      }
      const bool whole = last < put.size() && put[last].contains(key);
      const auto found = registry->find(key, false);
      if (found.link.known()) {
        REQUIRE(whole);
        CHECK(found.link.id == static_cast<std::int64_t>(last));
        ++(put[last].same_bytes(key) ? exact : parts);
      } else if (whole) {
        CHECK_FALSE(put[last].same_bytes(key));  // a part may be doubtful, the tensor itself is not
      }
    }
  }
  CHECK(exact > 100 / test::slowness);
  CHECK(parts > 100 / test::slowness);
}

TEST_CASE("addresses that never come again: their number has a bound, and the newest are known") {
  const auto registry = std::make_unique<detail::TensorRegistry>();
  constexpr std::int64_t count = 700'000;
  for (std::int64_t i = 0; i < count; ++i)
    registry->put(bytes_at(static_cast<std::uintptr_t>(i + 1) << 12, 1024), link_of(i), {});
  CHECK(registry->num_blocks() <= detail::TensorRegistry::most_blocks);
  CHECK(registry->num_blocks() > detail::TensorRegistry::most_blocks / 2);
  std::int64_t known = 0;
  for (std::int64_t i = count - 10'000; i < count; ++i) {
    const auto found = registry->find(bytes_at(static_cast<std::uintptr_t>(i + 1) << 12, 1024), false);
    CHECK((!found.link.known() || found.link.id == i));
    known += found.link.known();
  }
  CHECK(known > 9000);
  registry->clear();
  CHECK(registry->num_blocks() == 0);
}

TEST_CASE("a tensor takes no more memory the larger it is") {
  const auto registry = std::make_unique<detail::TensorRegistry>();
  const auto huge = bytes_at(std::uintptr_t{1} << 40, std::uintptr_t{1} << 40);
  registry->put(huge, link_of(1), {});
  CHECK(registry->num_blocks() <= 512);
  CHECK(registry->find(huge, false).link.id == 1);
  CHECK(registry->find(bytes_at(huge.begin + (std::uintptr_t{3} << 33), 4096), false).link.id == 1);
  registry->put(bytes_at(huge.begin + (std::uintptr_t{7} << 33), 4096), link_of(2), {});
  CHECK_FALSE(registry->find(huge, false).link.known());
  CHECK(registry->find(bytes_at(huge.begin + (std::uintptr_t{7} << 33), 4096), false).link.id == 2);
}

TEST_CASE("small neighbours in random order fill their blocks") {
  const auto registry = std::make_unique<detail::TensorRegistry>();
  constexpr std::uint32_t count = 100'000;
  std::vector<std::uintptr_t> order;
  for (std::uintptr_t i = 0; i < count; ++i) order.push_back((std::uintptr_t{1} << 30) + 16 * i);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  for (std::size_t i = 0; i < count; ++i)
    registry->put(bytes_at(order[i], 16), link_of(static_cast<std::int64_t>(i)), {});
  CHECK(registry->num_blocks() <= count / 16);
  for (std::size_t i = 0; i < count; i += 97)
    CHECK(registry->find(bytes_at(order[i], 16), false).link.id == static_cast<std::int64_t>(i));
}

TEST_CASE("variables are found as they were declared, whatever was declared and forgotten before") {
  detail::VariableTable table;
  std::map<std::uintptr_t, std::pair<std::uintptr_t, std::int64_t>> model;
  std::mt19937 random(11);
  const auto forget = [&](std::uintptr_t begin, std::uintptr_t end) {
    std::erase_if(model, [&](const auto& v) { return v.first < end && v.second.first > begin; });
  };
  for (std::int64_t id = 0; id < 20'000 / test::slowness; ++id) {
    const std::uintptr_t begin = 4096 + random() % 600 * 16;
    const std::uintptr_t end = begin + (1 + random() % 6) * 16;
    if (random() % 4 == 0) {
      forget(begin, end);
      table.forget(begin, end);
    } else {
      const auto same = model.find(begin);
      if (same == model.end() || same->second.first != end) {
        forget(begin, end);
        model[begin] = {end, id};
      }
      table.declare(bytes_at(begin, end - begin), id);
    }
    const auto one = model.lower_bound(4096 + random() % 600 * 16);
    if (one != model.end())
      REQUIRE(table.find(bytes_at(one->first, one->second.first - one->first)) == one->second.second);
    const auto none = bytes_at(4096 + random() % 600 * 16 + 8, 16);
    REQUIRE(table.find(none) == -1);
  }
  CHECK(table.empty() == model.empty());
  CHECK(table.num_slots() <= 4 * 1024);
}

TEST_CASE("variables, and memory that is none any more, take memory once") {
  detail::VariableTable table;
  for (std::int64_t i = 0; i < 10'000; ++i) table.declare(bytes_at(static_cast<std::uintptr_t>(i + 1) * 64, 64), i);
  CHECK(table.num_slots() <= 4 * 32'768);
  const std::size_t slots = table.num_slots();
  for (int i = 0; i < 100'000; ++i) table.forget(8, 16);
  for (int i = 0; i < 10'000; ++i) {
    table.forget(64, 128);
    table.declare(bytes_at(64, 64), 20'000 + i);
  }
  CHECK(table.num_slots() == slots);
  for (std::int64_t i = 0; i < 200'000; ++i)
    table.declare(bytes_at(static_cast<std::uintptr_t>(i + 1) << 20, 64), 40'000 + i);
  CHECK(table.num_slots() <= 8 * detail::VariableTable::most_variables);
  CHECK(table.find(bytes_at(std::uintptr_t{200'000} << 20, 64)) == 239'999);
  CHECK(table.find(bytes_at(64, 64)) == -1);  // declared too long ago
}

TEST_CASE("a loop in a function makes nodes up to a number, and rows for ever") {
  constexpr int iterations = 9000;
  const Recorded run([] {
    Vector a{1, 2, 3};
    Vector b = a;
    Function f("train", arg("a", a));
    for (int i = 0; i < iterations; ++i) {
      Vector& from = i % 2 == 0 ? a : b;
      Vector& to = i % 2 == 0 ? b : a;
      record("Add", outputs(to), inputs(from));
    }
  });
  CHECK(run->num_traces() == iterations + 1);
  CHECK(num_ops(*run, "train") == 4096 + 2);  // the argument, and what comes into the last
  CHECK(run->dropped() == 0);
}

TEST_CASE("a function whose ops get other tensors in every call: nodes have a bound") {
  constexpr std::size_t tensors = 100;
  const Recorded run([] {
    std::vector<Vector> values(tensors, Vector{1, 2});
    Vector out{1, 2};
    std::mt19937 random(2);
    for (int call = 0; call < 900; ++call) {
      Function f("route");
      for (Vector& v : values) record("Make", outputs(v), inputs());
      for (std::size_t i = 0; i < tensors; ++i)
        record("Use", outputs(out), inputs(values[random() % tensors], values[random() % tensors]));
    }
  });
  CHECK(run->num_traces() == 900 * 2 * tensors);
  CHECK(num_ops(*run, "route") > detail::CatalogGraph::most_keys / 2);
  CHECK(num_ops(*run, "route") < 2 * detail::CatalogGraph::most_keys);
}

// Runs in a process of its own, since no room is left in it.
TEST_CASE("names that are new in every step" * doctest::skip()) {
  REQUIRE(enable_dump_debug_info(everything(std::getenv("NANLENS_TEST_LOGDIR"))));
  Vector x{1, 2};
  for (int i = 0; i < 9000; ++i) {
    Function f("step_" + std::to_string(i));
    record("Neg", outputs(x), inputs(x));
  }
  {
    Function f("interpreter");
    for (int i = 0; i < 120'000; ++i) record("Op" + std::to_string(i), outputs(x), inputs());
  }
  {
    Vector zero{0, 1};
    Function f("last");
    record("Abs", outputs(zero), inputs());
    x = {-INFINITY, 0};
    record("Log", outputs(x), inputs(zero));
  }
  disable_dump_debug_info();
}

TEST_CASE("names that are new in every step: all events, a bound of graphs and ops, and no false name") {
  const TemporaryDirectory dir;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "NANLENS_TEST_LOGDIR='" + (dir / "log") + "' '" + self +
                              "' --no-skip --test-case='names that are new in every step' >/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  reader::Logdir logdir{dir / "log"};
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  reader::Run& run = *logdir.runs()[0];
  CHECK(run.num_traces() == 9000 + 120'000 + 2);
  CHECK(run.num_executions() == 9002);
  CHECK(run.dropped() == 0);
  CHECK(run.diagnostics().empty());
  CHECK(run.definitions().graphs().size() == detail::Catalog::most_graphs + 1);
  CHECK(run.definitions().ops().size() > detail::Catalog::most_ops);
  CHECK(run.definitions().ops().size() < detail::Catalog::most_ops + 10);
  CHECK(run.execution(0)->event.op_type.starts_with("__inference_step_0_"));
  CHECK(run.execution(8999)->event.op_type.starts_with("__inference_further_functions_"));
  const auto last = run.trace(run.num_traces() - 1);
  CHECK(last->event.op_name.starts_with("further_ops"));
  CHECK(last->op_type == "FurtherOps");
  REQUIRE(run.alerts().size() == 1);
}

TEST_CASE("what a recording knew of memory is nothing to the next one") {
  const TemporaryDirectory dir;
  Vector same{1, 2, 3, 4};
  Vector changed{1, 2, 3, 4};
  Vector copied{5, 6, 7, 9};
  std::vector<std::int64_t> made;
  {
    const DumpDebugInfo first(everything(dir / "first"));
    nanlens::op("Make", same);
    nanlens::op("Make", changed);
    nanlens::op("Make", copied);
  }
  {
    reader::Logdir logdir{dir / "first"};
    logdir.update();
    for (std::size_t i = 0; i < 3; ++i) made.push_back(logdir.runs()[0]->execution(i)->event.output_tensor_ids.at(0));
  }
  changed[0] = 9;
  const Vector copy = copied;
  {
    const DumpDebugInfo second(everything(dir / "second"));
    nanlens::op("Use", NAN, same, changed, copy);
  }
  reader::Logdir logdir{dir / "second"};
  logdir.update();
  const auto use = logdir.runs()[0]->execution(0);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(use->event.input_tensor_ids.at(i) != made[i]);
    CHECK(use->extension.input_evidence.at(i).origin == TensorOrigin::not_recorded);
  }
}
