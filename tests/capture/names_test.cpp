// Names, paths and tensors as hosts really have them: made at run time, relative, optional.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/symbolizer.hpp>
#include <nanlens/summary/statistics.hpp>
#include <nanlens/summary/summarize.hpp>

#include "recorded.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

std::string long_name(int i) { return "a_layer_type_that_is_on_the_heap_" + std::to_string(i); }

// The op types of a run's traces, in order.
std::string traced(const Recorded& run) {
  std::string types;
  for (std::size_t i = 0; i < run->num_traces(); ++i) types += run->trace(i)->op_type + " ";
  return types;
}

}  // namespace

TEST_CASE("ops are told apart by the content of their names, wherever these are kept") {
  const Recorded run([] {
    char buffer[32];  // one for all, as an interpreter has
    const auto run_graph = [&](const std::vector<const char*>& ops) {
      Function f("graph");
      const Vector x(4, 1.0F);
      for (const char* op : ops) {
        std::snprintf(buffer, sizeof buffer, "%s", op);
        f.op(buffer, Vector(x), x);
      }
    };
    run_graph({"Log", "Exp"});
    run_graph({"Sqrt", "Div"});
  });
  CHECK(traced(run) == "Log Exp Sqrt Div ");
}

TEST_CASE("names made at run time: std::string, views and pointers, which end with the call") {
  const Recorded run([] {
    Vector x{1, 2};
    nanlens::op(long_name(0), x);
    nanlens::op(std::string_view(long_name(1)), x);
    nanlens::op(static_cast<const char*>(nullptr), x);
    OpScope scope(long_name(2), nanlens::inputs(x));
    Vector other(1000, 1);  // may take the memory of a name that has ended
    scope.finish(nanlens::outputs(x));
    Function f(long_name(3), arg(long_name(4), x));
    for (int i = 5; i < 8; ++i) f.op(long_name(i), Vector{1}, x);
    f.result(x);
  });
  const auto type = [&](std::size_t i) { return run->execution(i)->event.op_type; };
  REQUIRE(run->num_executions() == 5);
  CHECK(type(0) == long_name(0));
  CHECK(type(1) == long_name(1));
  CHECK(type(2).empty());
  CHECK(type(3) == long_name(2));
  CHECK(type(4).find(long_name(3)) != std::string::npos);
  CHECK(traced(run) == "Placeholder " + long_name(5) + " " + long_name(6) + " " + long_name(7) + " ");
  CHECK(run->trace(0)->event.op_name == long_name(4));
}

TEST_CASE("the name of an eager op, beside its type; in a graph, names make nodes") {
  const Recorded run([] {
    const auto layer = [](std::string_view name, const Vector& x) {
      return nanlens::op({"Dense", name}, Vector(x), x);
    };
    const Vector x{1};
    layer("encoder/fc1", x);
    layer(std::string("encoder/fc2"), x);
    layer("Dense", x);
    for (int call = 0; call < 2; ++call) {
      Function f("model", arg("x", x));
      layer("fc1", x);
      layer("fc2", x);
    }
  });
  CHECK(run->execution(0)->extension.op_name == "encoder/fc1");
  CHECK(run->execution(0)->event.op_type == "Dense");
  CHECK(run->execution(1)->extension.op_name == "encoder/fc2");
  CHECK(run->execution(2)->extension.op_name.empty());
  CHECK(run->trace(1)->event.op_name == "fc1");
  CHECK(run->trace(2)->event.op_name == "fc2");
  CHECK(run->trace(5)->event.op_name == "fc2");
}

TEST_CASE("an optional output that an op does not have is no loss") {
  const Recorded run([] {
    const Vector x{1, 0};
    Vector y{0, 1};
    float* const none = nullptr;  // a bias gradient, say
    auto absent = tensor_view(none, {2});
    nanlens::record("MatmulGrad", nanlens::outputs(y, absent), nanlens::inputs(x));
    nanlens::record("Next", nanlens::outputs(y), nanlens::inputs(x, absent));
    Function f("g");
    nanlens::record("MatmulGrad", nanlens::outputs(y, absent), nanlens::inputs(x));
  });
  CHECK(run->dropped() == 0);
  REQUIRE(run->execution(0)->debug_tensor_values.size() == 2);
  CHECK(run->execution(0)->debug_tensor_values[0].has_value());
  CHECK_FALSE(run->execution(0)->debug_tensor_values[1].has_value());
  CHECK(run->num_traces() == 1);
}

TEST_CASE("views that leave their strides out are dense") {
  const Vector x{1, -1, 0, NAN, INFINITY, 2};
  auto* const view = new TensorView;  // no constant: strides were never set
  view->data = x.data();
  view->dtype = DType::float32;
  view->shape = {2, 3};
  const HealthCounts counts = full_health(*view);
  CHECK(counts == HealthCounts{0, 1, 1, 1, 1, 2});
  CHECK(statistics(*view).max == 2);
  const Recorded run([&] {
    nanlens::op("Make", *view);
    nanlens::op("Use", 1.0F, tensor_view(x.data(), {2, 3}));
  });
  CHECK(run->execution(1)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  delete view;
}

TEST_CASE("a path that is not known in full stays as it was given") {
#line 7 "no/such/folder/model.cpp"
  const auto where = std::source_location::current();
  const auto frames = detail::Symbolizer().resolve({}, where);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].file == "no/such/folder/model.cpp");
  CHECK(frames[0].line == 7);
  CHECK(detail::ends_with_path("/home/me/src/a/model.cpp", "../src/./a/model.cpp") == false);  // only what is leading
  CHECK(detail::ends_with_path("/home/me/src/a/model.cpp", "../../src/a/model.cpp"));
  CHECK(detail::ends_with_path("/home/me/src/a/model.cpp", "./a/model.cpp"));
  CHECK_FALSE(detail::ends_with_path("/home/me/src/a/other_model.cpp", "model.cpp"));
  CHECK(detail::true_path(".").front() == '/');
  CHECK(detail::true_path("/a/./b/../c") == "/a/c");
}
