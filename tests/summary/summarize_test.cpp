#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <nanlens/summary/statistics.hpp>
#include <nanlens/summary/summarize.hpp>
#include <nanlens/tensor/view_of.hpp>

using namespace nanlens;

namespace {

std::vector<double> values(TensorDebugMode mode, const TensorView& view, std::int64_t id = -1) {
  const Summary s = summarize(mode, view, id);
  return {s.span().begin(), s.span().end()};
}

}  // namespace

TEST_CASE("the layouts of the modes") {
  const std::vector<float> x = {-INFINITY, INFINITY, NAN, -1, -0.0f, 0, std::numeric_limits<float>::denorm_min(), 5};
  const TensorView view = tensor_view(x.data(), {2, 4});
  CHECK(values(TensorDebugMode::curt_health, view, 9) == std::vector<double>{9, 1});
  CHECK(values(TensorDebugMode::concise_health, view, 9) == std::vector<double>{9, 8, 1, 1, 1});
  CHECK(values(TensorDebugMode::full_health, view, 9) == std::vector<double>{9, -1, 1, 2, 8, 1, 1, 1, 1, 2, 2});
  CHECK(values(TensorDebugMode::shape, view, 9) == std::vector<double>{9, 1, 2, 8, 2, 4, 0, 0, 0, 0});
  CHECK(values(TensorDebugMode::no_tensor, view).empty());
  CHECK(values(TensorDebugMode::full_tensor, view).empty());
}

TEST_CASE("ranks above six keep the last six extents; scalars and empty tensors are exact") {
  const std::vector<float> x(60);
  CHECK(values(TensorDebugMode::shape, tensor_view(x.data(), {2, 1, 3, 1, 2, 1, 2, 5})) ==
        std::vector<double>{-1, 1, 8, 120, 3, 1, 2, 1, 2, 5});
  CHECK(values(TensorDebugMode::shape, tensor_view(x.data(), {})) ==
        std::vector<double>{-1, 1, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(values(TensorDebugMode::shape, tensor_view(x.data(), {0, 3})) ==
        std::vector<double>{-1, 1, 2, 0, 0, 3, 0, 0, 0, 0});
  CHECK(values(TensorDebugMode::full_health, tensor_view(x.data(), {0, 3})) ==
        std::vector<double>{-1, -1, 1, 2, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("dtypes without a summary, and memory that can't be read, give none") {
  const std::vector<int> ints(3);
  CHECK(values(TensorDebugMode::full_health, view_of(ints)).empty());
  CHECK(values(TensorDebugMode::shape, view_of(ints)).size() == 10);
  CHECK(values(TensorDebugMode::shape, view_of(std::complex<float>{})).empty());
  CHECK(values(TensorDebugMode::shape, view_of(std::string("s"))).empty());
  const TensorView on_device{nullptr, DType::float32, {4}, {1}, "/device:GPU:0"};
  CHECK(values(TensorDebugMode::full_health, on_device).empty());
  CHECK(values(TensorDebugMode::shape, on_device).size() == 10);
}

TEST_CASE("the norm of values whose squares are no double's") {
  const auto norm = [](const std::vector<double>& x) { return statistics(view_of(x)).norm; };
  CHECK(norm({3e200, -4e200}) == doctest::Approx(5e200));
  CHECK(norm({3e-200, 4e-200}) / 5e-200 == doctest::Approx(1));
  CHECK(norm({std::numeric_limits<double>::denorm_min()}) == std::numeric_limits<double>::denorm_min());
  CHECK(norm({std::numeric_limits<double>::max(), 0}) == std::numeric_limits<double>::max());
  CHECK(norm({1e-200, 3, 0, 4}) == 5);
  CHECK(norm({0, 0}) == 0);
}

TEST_CASE("what a mode tells") {
  using enum Told;
  const auto told = [](TensorDebugMode mode) {
    std::vector<bool> facts;
    for (const Told what : {health, non_finite_counts, finite_counts, size, rank}) facts.push_back(tells(mode, what));
    return facts;
  };
  CHECK(told(TensorDebugMode::no_tensor) == std::vector<bool>{false, false, false, false, false});
  CHECK(told(TensorDebugMode::curt_health) == std::vector<bool>{true, false, false, false, false});
  CHECK(told(TensorDebugMode::concise_health) == std::vector<bool>{true, true, false, true, false});
  CHECK(told(TensorDebugMode::full_health) == std::vector<bool>{true, true, true, true, true});
  CHECK(told(TensorDebugMode::shape) == std::vector<bool>{false, false, false, true, true});
  CHECK(told(TensorDebugMode::full_tensor) == std::vector<bool>{true, true, true, true, true});
  CHECK(told(static_cast<TensorDebugMode>(99)) == std::vector<bool>{false, false, false, false, false});
}

TEST_CASE("mode names") {
  CHECK(debug_mode_from_name("full_health") == TensorDebugMode::full_health);
  CHECK(debug_mode_from_name("REDUCE_INF_NAN_THREE_SLOTS") == TensorDebugMode::reduce_inf_nan_three_slots);
  CHECK(debug_mode_from_name("nonsense") == TensorDebugMode::unspecified);
  CHECK(debug_mode_name(static_cast<TensorDebugMode>(99)).empty());
  CHECK_FALSE(is_recordable(TensorDebugMode::full_numerics));
}
