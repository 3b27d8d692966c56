// Work is in proportion to what is on record, whatever its shape: steps are counted, not time. Limits that bite are
// told.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/reader/reader.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"

using namespace nanlens;
using test::finish;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

struct Analysed {
  explicit Analysed(test::FileBytes files) : logdir(std::make_unique<test::CountingStorage>(std::move(files))) {
    logdir.update();
    causes = std::make_unique<causes::Causes>(*logdir.runs().at(0));
    finish(*causes);
  }
  bool tells(const std::string& part) const {
    const auto list = logdir.runs()[0]->diagnostics();
    return std::any_of(list.begin(), list.end(),
                       [&](const reader::Diagnostic& d) { return d.message().find(part) != std::string::npos; });
  }
  reader::Logdir logdir;
  std::unique_ptr<causes::Causes> causes;
};

constexpr std::size_t times = 100;

// Steps for each element, of a small number and of a hundred times as many.
template <class Steps>
void check_linear(const char* name, std::size_t small, Steps&& steps) {
  const double few = static_cast<double>(steps(small)) / static_cast<double>(small);
  const double many = static_cast<double>(steps(times * small)) / static_cast<double>(times * small);
  INFO(std::string(name), ": ", few, " steps for each of ", small, ", ", many, " for each of ", times * small);
  CHECK(many <= 2 * few + 1);
}

// A function that calls others, which are recorded as ops of it, each by a name of its own or all by one.
std::uint64_t steps_of_recorded_calls(std::size_t n, bool same_name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(same_name ? "layer" : "layer" + std::to_string(i) + "x");
  const Recorded run([&] {
    Vector x = {NAN, 1};
    nanlens::Function outer("outer", nanlens::arg("x", x));
    for (const std::string& name : names) {
      nanlens::Function inner(name.c_str(), nanlens::arg("x", x));
      Vector y = {NAN, 2};
      y = inner.op("Neg", std::move(y), x);
      x = inner.result(y);
    }
    outer.result(x);
  });
  causes::Causes causes(*run);
  finish(causes);
  CHECK(causes.total() >= n);
  return causes.steps();
}

// Eager choices that all leave out the same NaN.
std::uint64_t steps_of_choices(std::size_t n) {
  const Recorded run([&] {
    const Vector x = nanlens::op("Data", Vector{-1, 1});
    const Vector y = nanlens::op("Sqrt", Vector{NAN, 1}, x);
    for (std::size_t i = 0; i < n; ++i) nanlens::op("SelectV2", Vector{0, 1}, y);
  });
  causes::Causes causes(*run);
  finish(causes);
  CHECK(causes.benign().size() == 1);
  CHECK(causes.killers().at(0).count == n);
  return causes.steps();
}

}  // namespace

TEST_CASE("steps for each element are the same for a hundred times as many") {
  for (const auto& shape : test::graph_shapes) {
    std::size_t total = 0;
    check_linear(shape.name, shape.small, [&](std::size_t n) {
      const Analysed analysed(shape.files(n));
      total = analysed.causes->total();
      return analysed.causes->steps();
    });
    CHECK(total > 0);
  }
}

TEST_CASE("steps for each recorded nested call are the same for a hundred times as many") {
  check_linear("calls of one function", 20, [](std::size_t n) { return steps_of_recorded_calls(n, true); });
  check_linear("calls of a function each", 20, [](std::size_t n) { return steps_of_recorded_calls(n, false); });
}

TEST_CASE("steps for each choice that leaves a NaN out are the same for a hundred times as many") {
  check_linear("choices", 20, steps_of_choices);
}

TEST_CASE("an op with more inputs than are looked at: told, and the answer says no more than it knows") {
  for (const std::size_t n : {limits::inputs_looked_at, limits::inputs_looked_at + 1}) {
    const Analysed analysed(test::wide_sum(n));
    CHECK(analysed.tells("more than 4096 inputs") == (n > limits::inputs_looked_at));
    CHECK(analysed.causes->model().limits_reached().empty() == (n <= limits::inputs_looked_at));
  }
}

TEST_CASE("a tensor with more consumers than are looked at: told, and those that are looked at are counted") {
  const std::size_t most = 2 * limits::consumers_looked_at;  // as many of either kind
  for (const std::size_t n : {most, most + 2}) {
    const Analysed analysed(test::widely_used(n, 3));
    CHECK(analysed.tells("more than 4096 consumers") == (n > most));
    const auto killers = analysed.causes->killers();
    CHECK(killers.size() == most);
    CHECK(std::all_of(killers.begin(), killers.end(), [](const causes::KillerSite& k) { return k.count == 3; }));
  }
}

TEST_CASE("what went in is farther away than is followed: told, and can't be told") {
  for (const int deep : {limits::link_depth / 4, 2 * limits::link_depth}) {
    // Functions in functions, each of which gives what the next one gave; only the innermost has a row.
    test::LogdirWriter w;
    const auto id = [](int i) { return "g" + std::to_string(i); };
    for (int i = 0; i < deep; ++i) w.graph(id(i), "layer" + std::to_string(i), i == 0 ? "root" : id(i - 1));
    for (int i = deep; i-- > 0;) {
      if (i + 1 == deep) w.op(id(i), "Log", "log");
      w.op(id(i), "Identity", "Identity", {i + 1 == deep ? "log:0" : "PartitionedCall:0"});
      w.op(id(i), "NoOp", "NoOp");
    }
    w.op("g0", "Neg", "use", {"PartitionedCall:0"});
    w.row("g" + std::to_string(deep - 1), "log", true);
    w.row("g0", "use", true);
    w.execution("__inference_layer0_1", {}, {1}, false);
    const Analysed analysed(w.take());
    const bool too_deep = deep > limits::link_depth;
    CHECK(analysed.tells("24 functions") == too_deep);
    const auto lineage = analysed.causes->lineage(causes::trace_event(1));
    REQUIRE(lineage.classification.inputs.size() == 1);
    CHECK(lineage.classification.inputs[0].event.exists() == !too_deep);
    const auto reason = lineage.classification.inputs[0].link.reason;
    CHECK((reason == causes::Reason::too_deep) == too_deep);
    if (too_deep) CHECK(lineage.classification.event_class != causes::EventClass::producer);
  }
}

TEST_CASE("more causes than are kept: told, and each bad tensor is still counted") {
  const Analysed analysed(test::one_id_again(limits::causes + 10));
  CHECK(analysed.tells("more than 100000 causes"));
  CHECK(analysed.causes->roots().size() == limits::causes);
  std::uint64_t reach = 0;
  std::uint64_t occurrences = 0;
  for (const auto& root : analysed.causes->roots()) {
    reach += root.reach;
    occurrences += root.occurrences;
  }
  CHECK(reach == 2 * (limits::causes + 10));
  CHECK(occurrences == limits::causes + 10);
}
