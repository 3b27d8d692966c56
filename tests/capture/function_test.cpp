#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "recorded.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

Vector dense(const Vector& x) {
  Function f("dense", arg("x", x));
  return f.result(f.op("Relu", Vector(x), x));
}

Vector model(const Vector& x, bool deep = true) {
  Function f("model", arg("x", x));
  const Vector h = deep ? dense(x) : x;
  const Vector doubled = f.op("Add", Vector{h[0] * 2}, h, x);
  return f.result(f.op("Add", Vector{doubled[0] + 1}, doubled, x));
}

std::vector<std::string> op_names(reader::Run& run, const std::string& graph_name) {
  std::vector<std::string> names;
  for (const auto& g : run.definitions().graphs())
    if (run.definitions().text(g.name) == graph_name)
      for (const std::uint32_t op : g.ops) names.emplace_back(run.definitions().text(run.definitions().ops()[op].name));
  return names;
}

}  // namespace

TEST_CASE("a function: a graph, a trace per tensor, an Execution per call; calls nest") {
  const Recorded run([] {
    const Vector x = nanlens::op("Const", Vector{1});
    const Vector y = model(x);
    model(y);
    nanlens::op("Use", Vector{1}, y);
  });
  REQUIRE(run->num_executions() == 4);
  CHECK(run->num_traces() == 10);  // x, (x, Relu), Add, Add_1; twice
  const auto first = run->execution(1);
  const auto second = run->execution(2);
  CHECK(first->event.op_type.starts_with("__inference_model_"));
  CHECK(first->event.op_type == second->event.op_type);
  CHECK(first->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  CHECK(second->event.input_tensor_ids == first->event.output_tensor_ids);
  CHECK(run->execution(3)->event.input_tensor_ids == first->event.output_tensor_ids);
  CHECK(op_names(*run, "model") == std::vector<std::string>{"x", "dense", "Add", "Add_1", "retval"});
  CHECK(op_names(*run, "dense") == std::vector<std::string>{"x", "Relu", "retval"});
  for (std::size_t i = 0; i < run->num_traces(); ++i) CHECK(run->trace_execution(i) == 1 + i / 5);
  const auto add = run->op(run->find_op(first->event.graph_id, "Add"));
  CHECK(add->event.input_names == std::vector<std::string>{"dense:0", "x:0"});
  CHECK(add->graph_ids.size() == 2);
  const auto call = run->op(run->find_op(first->event.graph_id, "dense"));
  CHECK(call->event.op_type == "StatefulPartitionedCall");
  CHECK(call->event.input_names == std::vector<std::string>{"x:0"});
  const auto relu = run->trace(2);
  CHECK(relu->event.op_name == "Relu");
  CHECK(relu->graph_ids.size() == 3);
  CHECK(relu->debug_tensor_value->at(0) == run->op(run->trace_op(2))->event.output_tensor_ids[0]);
  CHECK(relu->extension.call_id == first->extension.call_id);
  CHECK(run->diagnostics().empty());
}

TEST_CASE("a retrace only when count, dtype or rank change; new ops are appended to the same graph") {
  const Recorded run([] {
    const auto f = [](const auto& x) {
      Function g("retrace", arg("x", x));
      return g.result(g.op("Id", Vector{1}, x));
    };
    f(Vector{1});
    f(Vector{1, 2, 3});
    f(std::vector<double>{1});
    model(Vector{1}, false);
    model(Vector{1}, true);
  });
  CHECK(run->execution(0)->event.op_type == run->execution(1)->event.op_type);
  CHECK(run->execution(0)->event.op_type != run->execution(2)->event.op_type);
}

TEST_CASE("loops: the n-th pass of a site is the n-th op; unknown inputs come in through placeholders") {
  const Recorded run([] {
    for (int call = 0; call < 2; ++call) {
      Function f("loop");
      Vector x{0};
      for (int i = 0; i < 3; ++i) x = f.op("Step", Vector{x[0] + 1}, x);
    }
  });
  CHECK(run->num_traces() == 6);
  const auto names = op_names(*run, "loop");
  CHECK(names == std::vector<std::string>{"Step/input_0", "Step", "Step_1", "Step_2"});
  const std::string graph = run->execution(0)->event.graph_id;
  CHECK(run->op(run->find_op(graph, "Step"))->event.input_names == std::vector<std::string>{"Step/input_0:0"});
  CHECK(run->op(run->find_op(graph, "Step_2"))->event.input_names == std::vector<std::string>{"Step_1:0"});
}

TEST_CASE("beyond 4,096 passes of a site in one call the last node runs again") {
  const Recorded run([] {
    Function f("long");
    for (int i = 0; i < 5000; ++i) f.op("Step", 1.0f);
  });
  CHECK(run->num_traces() == 5000);
  CHECK(op_names(*run, "long").size() == 4096);
}

TEST_CASE("forward and backward functions have the reference's names, and save tensors as further outputs") {
  const Recorded run([] {
    const Vector x{1};
    {
      Function f({"loss", FunctionKind::forward}, arg("x", x));
      const Vector y = f.op("Log", Vector{0}, x);
      f.result(y);
      f.save(x);
    }
    Function b({"loss", FunctionKind::backward}, arg("dy", x).untraced());
    b.capture("x", x);
    b.result(b.op("LogGrad", Vector{1}, x));
  });
  CHECK(run->execution(0)->event.op_type.starts_with("__forward_loss_"));
  CHECK(run->execution(0)->event.num_outputs == 2);
  CHECK(run->execution(1)->event.op_type.starts_with("__inference___backward_loss_"));
  CHECK(run->execution(1)->event.input_tensor_ids.size() == 2);
  CHECK(run->trace(2)->event.op_name == "x");  // dy has no row of its own
}

#if NANLENS_HAS_EXCEPTIONS
TEST_CASE("a scope left by an exception keeps its rows and has no Execution") {
  const Recorded run([] {
    try {
      Function f("throws");
      f.op("Before", 1.0f);
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
    }
    model(Vector{1});
  });
  CHECK(run->num_executions() == 1);
  CHECK(run->num_traces() == 6);
  CHECK(run->trace_execution(0) == reader::none);
  CHECK(run->trace_execution(1) == 0);
}
#endif

TEST_CASE("graph traces by mode: floats only in the health modes, everything in SHAPE and NO_TENSOR") {
  const auto body = [] {
    Function f("mixed");
    f.op("Float", Vector{1});
    f.op("Int", std::vector<int>{1});
    f.op("Bool", true);
    f.op("Text", std::string("x"));
  };
  const std::pair<TensorDebugMode, std::size_t> counts[] = {{TensorDebugMode::full_health, 1},
                                                            {TensorDebugMode::shape, 3},
                                                            {TensorDebugMode::no_tensor, 4},
                                                            {TensorDebugMode::full_tensor, 3}};
  for (const auto& [mode, count] : counts) {
    CAPTURE(debug_mode_name(mode));
    const Recorded run(body, [mode = mode](DumpOptions& o) { o.tensor_debug_mode = mode; });
    CHECK(run->num_traces() == count);
    CHECK(op_names(*run, "mixed").size() == 4);
  }
}

TEST_CASE("a graph that is declared, not run, and traced later") {
  GraphBuilder graph("network");
  const GraphTensor x = graph.placeholder("x");
  const GraphTensor y = graph.op("MatMul", "layer", {x, x}, 2);
  graph.op("Add", "layer", {y.output(1)});
  const Recorded run([&] {
    const Vector values{1, 2};
    nanlens::trace(y.output(1), view_of(values));
  });
  CHECK(op_names(*run, "network") == std::vector<std::string>{"x", "layer", "layer_1"});
  REQUIRE(run->num_traces() == 1);
  CHECK(run->trace(0)->event.output_slot == 1);
  CHECK(run->trace(0)->op_type == "MatMul");
}

TEST_CASE("runs of a declared graph are told apart by their numbers") {
  GraphBuilder graph("network");
  const GraphTensor x = graph.placeholder("x");
  const GraphTensor y = graph.op("Log", "log", {x});
  const Recorded run([&] {
    const Vector good{1};
    const Vector bad{std::numeric_limits<float>::quiet_NaN()};
    nanlens::trace(x, view_of(good), 7);
    nanlens::trace(x, view_of(bad), 8);
    nanlens::trace(y, view_of(bad), 8);
    nanlens::trace(y, view_of(good), 7);
  });
  REQUIRE(run->num_traces() == 4);
  std::vector<std::uint64_t> runs;
  for (std::uint32_t i = 0; i < 4; ++i) runs.push_back(run->trace_digest(i)->graph_run);
  CHECK(runs == std::vector<std::uint64_t>{7, 8, 8, 7});
  CHECK(run->trace_digest(1)->outside_source);
  CHECK(!run->trace_digest(2)->outside_source);
}

TEST_CASE("parts of a call run on other threads") {
  const Recorded run([] {
    const Vector x{1, 2, 3};
    nanlens::Function f("parallel", nanlens::arg("x", x));
    std::array<Vector, 4> parts;
    std::vector<std::thread> pool;
    for (std::size_t i = 0; i < parts.size(); ++i)
      pool.emplace_back([&, i] {
        const nanlens::Within here(f);
        for (int k = 0; k < 100; ++k) parts[i] = nanlens::op("Scale", Vector{1, 2, 3}, x);
        nanlens::op("Last", parts[i], parts[i]);
      });
    for (std::thread& thread : pool) thread.join();
    const Vector late{4};
    std::thread([&] { f.op("Direct", Vector{1}, f.capture("late", late)); }).join();
    std::thread([&] { nanlens::op("Apart", Vector{1}, x); }).join();
    const Vector sum = nanlens::op("Sum", Vector{6}, parts[0], parts[1], parts[2], parts[3]);
    f.result(sum);
  });
  REQUIRE(run->num_executions() == 2);
  CHECK(run->execution(0)->event.op_type == "Apart");
  CHECK(run->num_traces() == 2 + 400 + 4 + 1 + 1);
  std::map<std::string, int> rows;
  for (std::size_t i = 0; i < run->num_traces(); ++i) ++rows[run->op(run->trace_op(i))->event.op_type];
  CHECK(rows == std::map<std::string, int>{{"Placeholder", 2}, {"Scale", 400}, {"Last", 4}, {"Direct", 1}, {"Sum", 1}});
}

TEST_CASE("calls begin on one thread and end on another, in any order") {
  const Recorded run([] {
    std::vector<std::unique_ptr<nanlens::Function>> calls;
    const Vector x{1};
    for (int i = 0; i < 8; ++i) {
      calls.push_back(std::make_unique<nanlens::Function>("request", nanlens::arg("x", x)));
      calls.back()->hand_over();
      nanlens::op("Between", Vector{1}, x);
    }
    std::thread([&] {
      for (const std::size_t i : {3U, 0U, 7U, 1U, 2U, 6U, 5U, 4U}) {
        calls[i]->op("Work", Vector{2}, x);
        calls[i].reset();
      }
    }).join();
    // One that was not handed over: its thread lets go of it at its next op.
    for (int i = 0; i < 2; ++i) {
      auto late = std::make_unique<nanlens::Function>("late", nanlens::arg("x", x));
      std::thread([&, within = i == 1] {
        std::optional<nanlens::Within> here;
        if (within) here.emplace(*late);
        late.reset();
        nanlens::op("Elsewhere", Vector{1}, x);
      }).join();
      nanlens::op("After", Vector{1}, x);
    }
  });
  std::map<std::string, int> calls;
  for (std::size_t i = 0; i < run->num_executions(); ++i) {
    const std::string type = run->execution(i)->event.op_type;
    ++calls[type.starts_with("__inference_request") ? "request" : type.starts_with("__inference_late") ? "late" : type];
  }
  CHECK(calls ==
        std::map<std::string, int>{{"Between", 8}, {"request", 8}, {"late", 2}, {"After", 2}, {"Elsewhere", 2}});
  CHECK(run->num_traces() == 8 * 2 + 2);
}

TEST_CASE("calls that have the same argument at the same time each know it as their own") {
  const Recorded run([] {
    const Vector x = nanlens::op("Const", Vector{1});
    std::vector<std::unique_ptr<nanlens::Function>> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back(std::make_unique<nanlens::Function>("asked", nanlens::arg("x", x)));
      calls.back()->hand_over();
    }
    for (const std::size_t i : {0U, 2U, 1U}) {
      for (const auto& call : calls)
        if (call != nullptr) call->op("Work", Vector{2}, x);
      calls[i]->result(calls[i]->op("Last", Vector{3}, x));
      calls[i].reset();
    }
    nanlens::op("Use", Vector{1}, x);
  });
  REQUIRE(run->num_executions() == 5);
  const auto request = run->execution(1);
  CHECK(op_names(*run, "asked") == std::vector<std::string>{"x", "Work", "Last", "retval", "Work_1", "Work_2"});
  for (const char* const op : {"Work", "Work_1", "Work_2", "Last"})
    CHECK(run->op(run->find_op(request->event.graph_id, op))->event.input_names == std::vector<std::string>{"x:0"});
  for (std::size_t i = 1; i < 5; ++i)
    CHECK(run->execution(i)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
}

TEST_CASE("threads in one function with one argument build one graph") {
  const Recorded run([] {
    const Vector x = nanlens::op("Const", Vector{1});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&x] {
        for (int k = 0; k < 200; ++k) {
          nanlens::Function f("shared", nanlens::arg("x", x));
          f.result(nanlens::op("Work", Vector{2}, x));
        }
      });
    for (std::thread& thread : threads) thread.join();
    nanlens::op("Use", Vector{1}, x);
  });
  REQUIRE(run->num_executions() == 802);
  CHECK(op_names(*run, "shared") == std::vector<std::string>{"x", "Work", "retval"});
  CHECK(run->execution(801)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
}
