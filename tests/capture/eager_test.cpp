#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "recorded.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

TEST_CASE("values, callables, tuples and handles come back as they are, linked from op to op") {
  const Recorded run([] {
    const Vector a = nanlens::op("Const", Vector{1, 2, 0});
    const Vector b = nanlens::op("Log", [&] { return Vector{0, 0.7f, -INFINITY}; }, a);
    CHECK(b[2] == -INFINITY);
    auto [c, d] = nanlens::op("Split", std::tuple(Vector{1}, std::vector<int>{2, 3}), b);
    CHECK(d[1] == 3);
    const auto sum = nanlens::op("Sum", nanlens::tensor(5.0f), c, b);
    CHECK(sum == 5.0f);
    nanlens::op("Neg", -sum, sum);
    Vector in_place{4};
    Vector& same = nanlens::op("Assign", in_place, sum);
    CHECK(&same == &in_place);
  });
  REQUIRE(run->num_executions() == 6);
  const auto log = run->execution(1);
  const auto split = run->execution(2);
  const auto sum = run->execution(3);
  CHECK(log->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  CHECK(log->extension.duration_ns > 0);
  CHECK(log->debug_tensor_values[0] == std::vector<double>{-1, -1, 1, 1, 3, 1, 0, 0, 0, 1, 1});
  REQUIRE(split->event.output_tensor_ids.size() == 2);
  REQUIRE(split->event.tensor_protos.size() == 2);  // a placeholder for the integers
  CHECK_FALSE(split->debug_tensor_values[1].has_value());
  CHECK(sum->event.input_tensor_ids ==
        std::vector<std::int64_t>{split->event.output_tensor_ids[0], log->event.output_tensor_ids[0]});
  CHECK(run->execution(4)->event.input_tensor_ids == sum->event.output_tensor_ids);
  CHECK(run->alerts().size() == 1);
  CHECK(run->devices().size() == 1);
  CHECK(run->devices()[0].device_id == 1);
  CHECK(run->clean_end() == true);
  CHECK(run->diagnostics().empty());
}

TEST_CASE("a link is by bytes: the same in any shape, a part of them, and no write over it") {
  std::int64_t produced = -1;
  const Recorded run([] {
    alignas(16) static float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    auto whole = tensor_view(memory, {8});
    nanlens::op("Make", whole);
    nanlens::op("Use", 1.0f, whole);                        // 1: linked
    nanlens::op("Use", 1.0f, tensor_view(memory, {2, 4}));  // 2: another shape
    nanlens::op("Use", 1.0f, tensor_view(memory, {4}));     // 3: a part
    auto part = tensor_view(memory + 2, {2});
    nanlens::op("Overwrite", part);   // 4
    nanlens::op("Use", 1.0f, whole);  // 5: written over
    nanlens::op("Use", 1.0f, part);   // 6: linked
    nanlens::forget(memory + 3, 1);
    nanlens::op("Use", 1.0f, part);                   // 7: forgotten
    nanlens::op("Use", 1.0f, std::vector<float>{1});  // 8: never recorded
  });
  const auto in = [&](std::size_t i) { return run->execution(i)->event.input_tensor_ids.at(0); };
  produced = run->execution(0)->event.output_tensor_ids[0];
  CHECK(in(1) == produced);
  for (const std::size_t i : {2u, 3u}) CHECK(in(i) == produced);
  for (const std::size_t i : {5u, 8u}) CHECK(in(i) != produced);
  const auto overwritten = run->execution(4)->event.output_tensor_ids[0];
  CHECK(in(6) == overwritten);
  CHECK(in(7) != overwritten);
}

TEST_CASE("records in place: inputs are looked up before they are written over") {
  const Recorded run([] {
    Vector w{1, 2};
    nanlens::op("Const", w);
    OpScope scope("Sgd", nanlens::inputs(w));
    w[0] -= 1;
    scope.finish(nanlens::outputs(w));
    nanlens::record("Assign", nanlens::outputs(w), nanlens::inputs(w));
    nanlens::record("ResourceApplyAdam", nanlens::outputs(), nanlens::inputs(w));
  });
  REQUIRE(run->num_executions() == 4);
  CHECK(run->execution(1)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  CHECK(run->execution(1)->debug_tensor_values[0]->at(9) == 1);  // the zero that it wrote
  CHECK(run->execution(2)->event.input_tensor_ids == run->execution(1)->event.output_tensor_ids);
  CHECK(run->execution(3)->event.num_outputs == 0);
}

TEST_CASE("every mode writes the reference's layout; filters leave placeholders") {
  const auto body = [] {
    nanlens::op("Log", Vector{1, NAN});
    nanlens::op("Exp", std::vector<double>{1});
    nanlens::op("Cast", std::vector<int>{1});
  };
  const std::pair<TensorDebugMode, std::size_t> sizes[] = {{TensorDebugMode::curt_health, 2},
                                                           {TensorDebugMode::concise_health, 5},
                                                           {TensorDebugMode::full_health, 11},
                                                           {TensorDebugMode::shape, 10}};
  for (const auto& [mode, size] : sizes) {
    const Recorded run(body, [mode = mode](DumpOptions& o) { o.tensor_debug_mode = mode; });
    CHECK(run->execution(0)->debug_tensor_values[0]->size() == size);
    CHECK(run->execution(2)->debug_tensor_values[0].has_value() == (mode == TensorDebugMode::shape));
  }
  const Recorded none(body, [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::no_tensor; });
  CHECK(none->execution(0)->event.tensor_protos.empty());
  const Recorded filtered(body, [](DumpOptions& o) {
    o.op_regex = "(Lo|Ex)";  // from the start only, like Python's match
    o.tensor_dtypes = {DType::float64};
  });
  CHECK_FALSE(filtered->execution(0)->debug_tensor_values[0].has_value());
  CHECK(filtered->execution(1)->debug_tensor_values[0].has_value());
  const Recorded full(body, [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::full_tensor; });
  CHECK(full->execution(0)->event.tensor_protos[0].tensor_content.size() == 8);
  CHECK(full->execution(1)->event.tensor_protos[0].double_val == std::vector<double>{1});
  CHECK(full->alerts().size() == 1);
}

TEST_CASE("stacks: the line of the op, our own frames cut") {
  const Recorded run([] { nanlens::op("Here", Vector{1}); }, [](DumpOptions& o) { o.stack = StackMode::unwind; });
  const int line = __LINE__ - 1;
  const auto frames = reader::resolve_stack(*run, run->execution(0)->event.code_location);
  REQUIRE_FALSE(frames.empty());
  CHECK(frames.back().line == line);
  CHECK(frames.back().file_path.ends_with("eager_test.cpp"));
  CHECK(reader::source_line(*run, frames.back())->find("\"Here\"") != std::string::npos);
  for (const auto& frame : frames) CHECK(frame.file_path.find("/include/nanlens/") == std::string::npos);
#if defined(NANLENS_HAVE_LIBBACKTRACE)
  bool has_main = false;
  for (const auto& frame : frames) has_main = has_main || frame.function == "main";
  CHECK(has_main);
  CHECK(frames.size() > 3);
#endif
}

TEST_CASE("a hook learns at run time how many tensors there are, and what their op is called") {
  const Recorded run([] {
    const Vector a(6, 1);
    const Vector b(6, 0);
    Vector c(6, INFINITY);
    const std::size_t rows = 2;
    const int columns = 3;
    const std::vector<TensorView> in{tensor_view(a.data(), {rows, columns}), tensor_view(b.data(), {6U})};
    const std::string type = std::string("Div") + "NoNan";
    nanlens::record(type, nanlens::outputs(tensor_view(c.data(), {rows, columns})), nanlens::inputs(in));
    const auto parts = nanlens::op("Split", std::vector<Vector>{{1}, {2, 3}}, c);
    const std::vector<TensorView> none;
    nanlens::op("Concat", [&] { return Vector(9, 2); }, parts, none, a);
    nanlens::OpScope scope("Copy", nanlens::inputs(parts, c));
    scope.finish(nanlens::outputs(std::vector<TensorView>{tensor_view(a.data(), {1, 2, 3})}, c));
  });
  REQUIRE(run->num_executions() == 4);
  const auto event = [&](std::size_t i) { return run->execution(i)->event; };
  CHECK(event(0).op_type == "DivNoNan");
  CHECK(event(0).input_tensor_ids.size() == 2);
  CHECK(run->execution(0)->debug_tensor_values[0].value()[3] == 2);  // the rank
  CHECK(event(1).input_tensor_ids == event(0).output_tensor_ids);
  REQUIRE(event(1).output_tensor_ids.size() == 2);
  REQUIRE(event(2).input_tensor_ids.size() == 3);
  CHECK(event(2).input_tensor_ids[0] == event(1).output_tensor_ids[0]);
  CHECK(event(2).input_tensor_ids[1] == event(1).output_tensor_ids[1]);
  CHECK(event(3).input_tensor_ids[2] == event(0).output_tensor_ids[0]);
  CHECK(event(3).output_tensor_ids.size() == 2);
}
