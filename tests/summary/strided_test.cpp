#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <nanlens/summary/health.hpp>
#include <nanlens/tensor/view_of.hpp>

using namespace nanlens;

namespace {

// Element by element, straight from the definition of a strided tensor.
HealthCounts walk(const TensorView& view) {
  HealthCounts counts;
  const std::int64_t n = num_elements(view.shape);
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(view.dtype));
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      at += rest % view.shape[d] * view.strides[d];
      rest /= view.shape[d];
    }
    TensorView one = view;
    one.data = static_cast<const char*>(view.data) + at * bytes;
    one.shape = {};
    one.strides = {};
    counts += full_health(one);
  }
  return counts;
}

}  // namespace

TEST_CASE("strided views count what their definition says") {
  std::mt19937 random(3);
  std::vector<float> data(20'000);
  for (auto& x : data) {
    const int kind = static_cast<int>(random() % 8);
    x = kind == 0   ? NAN
        : kind == 1 ? INFINITY
        : kind == 2 ? -INFINITY
        : kind == 3 ? 0.0f
                    : static_cast<float>(kind) - 5.5f;
  }
  const float* const mid = data.data() + 10'000;
  const TensorView views[] = {
      {mid, DType::float32, {30, 40}, {1, 30}, cpu_device},           // column-major
      {mid, DType::float32, {30, 40}, {80, 2}, cpu_device},           // every second column
      {mid, DType::float32, {30, 40}, {-40, -1}, cpu_device},         // reversed
      {mid, DType::float32, {30, 40}, {0, 1}, cpu_device},            // rows broadcast
      {mid, DType::float32, {5, 1, 7}, {0, 99, 0}, cpu_device},       // a scalar broadcast
      {mid, DType::float32, {3, 4, 100}, {900, 130, 1}, cpu_device},  // long runs with gaps
      {mid, DType::float32, {7}, {0}, cpu_device},
      {mid, DType::float32, {0, 5}, {5, 1}, cpu_device},
      {mid, DType::float32, {50, 60}, {1, 1}, cpu_device},  // overlapping
  };
  for (const TensorView& view : views) {
    CHECK(full_health(view) == walk(view));
    CHECK(has_non_finite(view) == (walk(view).non_finite() != 0));
  }
}

TEST_CASE("random strided views of every element size") {
  std::mt19937 random(11);
  std::vector<unsigned char> data(1 << 16);
  for (auto& b : data) b = static_cast<unsigned char>(random());
  for (int trial = 0; trial < 300; ++trial) {
    const DType dtype = std::array{DType::float64, DType::float32, DType::float16, DType::float8_e5m2}[random() % 4];
    TensorView view{data.data() + data.size() / 2, dtype, {}, {}, cpu_device};
    const std::size_t rank = random() % 4;
    for (std::size_t d = 0; d < rank; ++d) {
      view.shape.push_back(static_cast<std::int64_t>(random() % 9));
      view.strides.push_back(static_cast<std::int64_t>(random() % 200) - 100);
    }
    REQUIRE(full_health(view) == walk(view));
  }
}

TEST_CASE("complex elements with a bad part are counted") {
  const std::vector<std::complex<float>> x = {{1, 2}, {NAN, 0}, {0, INFINITY}, {-INFINITY, NAN}};
  CHECK(count_non_finite_complex(view_of(x)) == 3);
  const std::vector<std::complex<double>> y = {{1, 2}, {1, NAN}};
  CHECK(count_non_finite_complex(view_of(y)) == 1);
  CHECK(full_health(view_of(x)).total() == 0);
}
