#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "recorded.hpp"

using namespace nanlens;
using Vector = std::vector<float>;

namespace {

struct Checking {
  explicit Checking(const CheckNumericsOptions& options = {}) { enable_check_numerics(options); }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;
  ~Checking() { disable_check_numerics(); }
};

}  // namespace

TEST_CASE("the first bad output throws, with all the facts") {
  const Checking on;
  const Vector probs{1, 0};
  try {
    Function f("loss", arg("probs", probs));
    f.op("Log", Vector{0, -INFINITY}, probs);
    FAIL("nothing was thrown");
  } catch (const NumericsError& error) {
    const NumericsEvent& e = error.event();
    CHECK(e.op_type == "Log");
    CHECK(e.op_name == "Log");
    CHECK(e.graph_name == "loss");
    CHECK(e.output_slot == 0);
    CHECK(e.dtype == DType::float32);
    CHECK(e.shape == Shape{2});
    CHECK(e.counts.neg_inf == 1);
    REQUIRE(e.inputs.size() == 1);
    CHECK(e.inputs[0].name == "probs:0");
    const std::string text = error.what();
    for (const char* part :
         {"!!! Detected Infinity or NaN in output 0 of graph op \"Log\" (# of outputs: 1) !!!",
          "  dtype: <dtype: 'float32'>", "  shape: (2,)", "  # of -Inf elements: 1", "  Input tensor: 'probs:0'",
          "  Graph name: \"loss\"", "check_numerics_test.cpp (L", "f.op(\"Log\"", "Tensor had -Inf values"})
      CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
}

TEST_CASE("kinds are named as TensorFlow names them") {
  const Checking on;
  const auto message = [](const Vector& v) -> std::string {
    try {
      nanlens::op("X", v);
    } catch (const NumericsError& e) {
      return e.what();
    }
    return {};
  };
  CHECK(message({1}).empty());
  CHECK(message({NAN}).ends_with(": Tensor had NaN values"));
  CHECK(message({-INFINITY, NAN}).ends_with(": Tensor had -Inf and NaN values"));
  CHECK(message({-INFINITY, INFINITY, NAN}).ends_with(": Tensor had -Inf, +Inf, and NaN values"));
  CHECK(message({NAN}).find("eagerly-executing op \"X\"") != std::string::npos);
}

TEST_CASE("exempt ops and slots, built in and of one's own") {
  const Checking on({.exempt_ops = {"Mine"}, .exempt_slots = {{"Norm", 1}}});
  const Vector bad{NAN};
  CHECK_NOTHROW(nanlens::op("Identity", bad));
  CHECK_NOTHROW(nanlens::op("Reshape", bad));
  CHECK_NOTHROW(nanlens::op("Mine", bad));
  CHECK_NOTHROW(nanlens::op("Norm", std::tuple(Vector{1}, bad)));
  CHECK_THROWS_AS(nanlens::op("Norm", std::tuple(bad, Vector{1})), NumericsError);
  CHECK_NOTHROW(nanlens::op("FusedBatchNormV3", std::tuple(Vector{1}, bad, bad, bad, bad, bad)));
  CHECK_THROWS_AS(nanlens::op("FusedBatchNormV3", std::tuple(bad, bad)), NumericsError);
  CHECK_THROWS_AS(nanlens::op("Fft", std::vector<std::complex<float>>{{1, NAN}}), NumericsError);
}

TEST_CASE("with dumping the op is recorded first; a handler is called instead of throwing") {
  std::vector<std::string> seen;
  const Checking on({.handler = [&](const NumericsEvent& e) { seen.push_back(e.op_type); }});
  const test::Recorded run([] {
    nanlens::op("A", Vector{NAN});
    Function f("g");
    f.op("B", Vector{INFINITY});
  });
  CHECK(seen == std::vector<std::string>{"A", "B"});
  CHECK(run->alerts().size() == 2);
  CHECK(run->num_executions() == 2);
}

TEST_CASE("limits of the message: the last frames, the ends of paths") {
  const Checking on({.stack_height_limit = 1, .path_length_limit = 8});
  try {
    nanlens::op("X", Vector{NAN});
  } catch (const NumericsError& e) {
    const std::string text = e.what();
    CHECK(text.find("+ ...test.cpp (L") != std::string::npos);
#if defined(NANLENS_HAVE_LIBBACKTRACE)
    CHECK(text.find("(Omitted ") != std::string::npos);
#endif
  }
}

TEST_CASE("enabled twice: the first call's options stay; disabling ends it") {
  {
    const Checking on({.exempt_ops = {"X"}});
    enable_check_numerics({});
    CHECK_NOTHROW(nanlens::op("X", Vector{NAN}));
  }
  CHECK_NOTHROW(nanlens::op("Y", Vector{NAN}));
}
