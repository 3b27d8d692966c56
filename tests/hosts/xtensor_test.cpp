#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#if __has_include(<xtensor/containers/xarray.hpp>)  // from 0.26 on
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xvectorize.hpp>
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xvectorize.hpp>
#include <xtensor/xview.hpp>
#endif

#include <nanlens/hosts/xtensor.hpp>
#include <nanlens/summary/health.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;
using xt::placeholders::_;

namespace {

// As xtensor itself reads it, the last dimension fastest.
template <class X>
std::vector<float> read(const X& x) {
  return {x.template begin<xt::layout_type::row_major>(), x.template end<xt::layout_type::row_major>()};
}

template <class X>
void check_same(const X& x, const Shape& shape) {
  const TensorView view = view_of(x);
  CHECK(view.shape == shape);
  CHECK(test::elements<float>(view) == read(x));
}

}  // namespace

TEST_CASE("xtensor: what lies in memory is viewed as it lies there") {
  xt::xarray<float> rows = xt::reshape_view(xt::arange<float>(24), {2, 3, 4});
  xt::xtensor<float, 2, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  check_same(rows, {2, 3, 4});
  check_same(columns, {2, 3});
  CHECK(view_of(columns).strides == Shape{1, 2});
  check_same(xt::view(rows, 1, xt::all(), xt::range(1, 4, 2)), {3, 2});
  check_same(xt::view(columns, xt::all(), 2), {2});
  check_same(xt::view(rows, 1, xt::range(_, _, -1), 0), {3});
  CHECK(view_of(xt::view(rows, 1, xt::range(_, _, -1), 0)).strides == Shape{-4});
  check_same(xt::strided_view(rows, {xt::ellipsis(), xt::range(3, _, -2)}), {2, 3, 2});
  check_same(xt::transpose(rows), {4, 3, 2});
  check_same(xt::view(rows, xt::newaxis(), xt::range(0, 1), xt::all(), 3), {1, 1, 3});
  std::vector<float> outside = {1, 2, 3, 4, 5, 6};
  check_same(xt::adapt(outside, std::vector<std::size_t>{3, 2}), {3, 2});
  CHECK(full_health(view_of(xt::view(rows, xt::all(), 1, xt::range(_, _, -3)))).positive == 4);
}

TEST_CASE("xtensor: empty arrays, no dimensions, and more than can be described") {
  const xt::xarray<float> empty = xt::xarray<float>::from_shape({3, 0, 2});
  CHECK(view_of(empty).shape == Shape{3, 0, 2});
  CHECK(full_health(view_of(empty)).non_finite() == 0);
  xt::xarray<float> some = xt::ones<float>({4});
  CHECK(view_of(xt::view(some, xt::range(4, 4))).shape == Shape{0});
  const xt::xarray<float> scalar = 7.0f;
  check_same(scalar, {});
  const xt::xarray<float> deep = xt::ones<float>(std::vector<std::size_t>(max_rank + 1, 1));
  CHECK(view_of(deep).shape.overflowed());
  const auto run = test::recorded_ops([&] {
    nanlens::op("Empty", empty);
    nanlens::op("Deep", deep, scalar);
  });
  CHECK(run.ops.size() == 2);
  CHECK(run.alerts == 0);
}

TEST_CASE("xtensor: an expression is evaluated once, by the op, and comes back plain and linked") {
  int evaluations = 0;
  const auto run = test::recorded_ops([&] {
    const xt::xtensor<float, 1> x = nanlens::op("Const", xt::xtensor<float, 1>{0, 1, 2});
    const auto log = xt::vectorize([&](float v) {
      ++evaluations;
      return std::log(v);
    });
    auto y = nanlens::op("Log", log(x), x);
    static_assert(std::is_same_v<decltype(y), xt::xtensor<float, 1>>);
    auto picked = nanlens::op("Pick", xt::view(y, xt::keep(0, 2)), y);
    static_assert(detail::XtensorInMemory<decltype(picked)>);
    nanlens::op("Sum", xt::sum(picked), picked);
    nanlens::op("Column", xt::view(y, xt::range(0, 1)) + 1.0f, y);
  });
  CHECK(evaluations == 3);
  REQUIRE(run.ops.size() == 5);
  const auto id = [&](std::size_t i) { return run.ops[i].outputs[0]; };
  CHECK(run.ops[1].inputs == test::TensorIds{id(0)});
  CHECK(run.ops[1].duration_ns > 0);
  CHECK(run.ops[2].inputs == test::TensorIds{id(1)});
  CHECK(run.ops[3].inputs == test::TensorIds{id(2)});
  CHECK(run.alerts == 4);
}

TEST_CASE("xtensor: what has no elements of a known type is no tensor") {
  static_assert(!Viewable<xt::xarray<long double>>);
  static_assert(!Viewable<decltype(xt::xarray<float>() + 1)>);
  using Sum = decltype(xt::xarray<float>() + 1);
  static_assert(std::is_same_v<decltype(Evaluate<Sum>::evaluate(std::declval<Sum>())), xt::xarray<float>>);
  using Columns = xt::xtensor<float, 2, xt::layout_type::column_major>;
  using Product = decltype(Columns() * Columns());
  static_assert(std::is_same_v<decltype(Evaluate<Product>::evaluate(std::declval<Product>())), Columns>);
}
