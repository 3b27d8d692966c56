// Needs C++23's <mdspan>, which GCC 12 lacks: run with libc++, beside the kernels (tests/summary/wasm.sh).
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <mdspan>
#include <vector>

#include <nanlens/summary/health.hpp>
#include <nanlens/tensor/view_of.hpp>

#include "elements.hpp"

using namespace nanlens;

namespace {

using Matrix = std::dextents<std::size_t, 2>;

// As mdspan itself reads it, the last dimension fastest.
template <class Span>
std::vector<float> read(const Span& x) {
  std::vector<float> found;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j) found.push_back(x[std::array{i, j}]);
  return found;
}

// Gives other values than those in memory.
struct Doubled {
  using element_type = float;
  using reference = float;
  using data_handle_type = float*;
  using offset_policy = Doubled;
  float access(float* data, std::size_t i) const { return 2 * data[i]; }
  float* offset(float* data, std::size_t i) const { return data + i; }
};

}  // namespace

TEST_CASE("std::mdspan: every layout with strides is viewed as it lies in memory") {
  float data[20];
  for (int i = 0; i < 20; ++i) data[i] = static_cast<float>(i);
  const std::mdspan<float, Matrix> rows(data, 2, 3);
  CHECK(view_of(rows).strides == Shape{3, 1});
  CHECK(test::elements<float>(view_of(rows)) == read(rows));
  const std::mdspan<const float, Matrix, std::layout_left> columns(data, 2, 3);
  CHECK(view_of(columns).strides == Shape{1, 2});
  CHECK(test::elements<float>(view_of(columns)) == read(columns));
  const std::mdspan<float, std::extents<int, 2, 3>, std::layout_stride> strided(
      data + 1, std::layout_stride::mapping(std::extents<int, 2, 3>(), std::array{7, 2}));
  CHECK(view_of(strided).shape == Shape{2, 3});
  CHECK(view_of(strided).strides == Shape{7, 2});
  CHECK(test::elements<float>(view_of(strided)) == std::vector<float>{1, 3, 5, 8, 10, 12});
  data[2] = std::numeric_limits<float>::quiet_NaN();
  CHECK(full_health(view_of(strided)).nan == 0);
  CHECK(full_health(view_of(rows)).nan == 1);
}

TEST_CASE("std::mdspan: empty, of rank 0, without memory, and what is no memory at all") {
  float value = 3;
  const std::mdspan<float, std::extents<int>> scalar(&value);
  CHECK(view_of(scalar).shape.empty());
  CHECK(test::elements<float>(view_of(scalar)) == std::vector<float>{3});
  CHECK(view_of(std::mdspan<float, Matrix>()).data == nullptr);
  CHECK(view_of(std::mdspan<float, Matrix>()).shape == Shape{0, 0});
  CHECK(view_of(std::mdspan<float, Matrix>(&value, 0, 7)).shape == Shape{0, 7});
  static_assert(!Viewable<std::mdspan<float, Matrix, std::layout_right, Doubled>>);
  static_assert(!Viewable<std::mdspan<long double, Matrix>>);
}
