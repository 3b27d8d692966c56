#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include <nanlens/hosts/cuda_types.hpp>
#include <nanlens/hosts/valarray.hpp>
#include <nanlens/summary/health.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;

// As CUDA declares them; its own headers are not here.
struct __half {  // NOLINT(bugprone-reserved-identifier)
  unsigned short bits;
};
struct __nv_bfloat16 {  // NOLINT(bugprone-reserved-identifier)
  unsigned short bits;
};

namespace {

int evaluations = 0;
float counted_log(float v) {
  ++evaluations;
  return std::log(v);
}

}  // namespace

TEST_CASE("std::valarray is viewed as it lies in memory") {
  const std::valarray<float> x = {1, NAN, 3};
  CHECK(view_of(x).shape == Shape{3});
  CHECK(view_of(x).data == &x[0]);
  CHECK(full_health(view_of(x)).nan == 1);
  CHECK(view_of(std::valarray<std::complex<double>>(2)).dtype == DType::complex128);
  CHECK(view_of(std::valarray<float>()).shape == Shape{0});
  static_assert(!Viewable<std::valarray<long double>>);
  static_assert(!detail::LazyExpression<std::vector<float>>);
}

TEST_CASE("CUDA's element types") {
  const __half halves[] = {{0x7c00}, {0x7e00}, {0x3c00}};
  CHECK(full_health(view_of(halves)).pos_inf == 1);
  CHECK(full_health(view_of(halves)).nan == 1);
  CHECK(view_of(std::vector<__nv_bfloat16>(2)).dtype == DType::bfloat16);
}

TEST_CASE("std::valarray: an expression is evaluated once, by the op, and comes back plain and linked") {
  evaluations = 0;
  const auto run = test::recorded_ops([] {
    std::valarray<float> x = nanlens::op("Const", std::valarray<float>{0, 1, 2, 3});
    auto y = nanlens::op("Log", x.apply(counted_log), x);
    static_assert(std::is_same_v<decltype(y), std::valarray<float>>);
    auto z = nanlens::op("Axpy", 2.0f * y + std::exp(x), y, x);
    auto odd = nanlens::op("Odd", z[std::slice(1, 2, 2)], z);
    static_assert(std::is_same_v<decltype(odd), std::valarray<float>>);
    CHECK(odd[1] == z[3]);
    auto large = nanlens::op("Large", x > 1.0f, x);
    static_assert(std::is_same_v<decltype(large), std::valarray<bool>>);
    nanlens::op("Masked", x[large], x, large);
  });
  CHECK(evaluations == 4);
  REQUIRE(run.ops.size() == 6);
  const auto id = [&](std::size_t i) { return run.ops[i].outputs[0]; };
  CHECK(run.ops[1].inputs == test::TensorIds{id(0)});
  CHECK(run.ops[2].inputs == test::TensorIds{id(1), id(0)});
  CHECK(run.ops[3].inputs == test::TensorIds{id(2)});
  CHECK(run.ops[5].inputs == test::TensorIds{id(0), id(4)});
  CHECK(run.alerts == 2);
}
