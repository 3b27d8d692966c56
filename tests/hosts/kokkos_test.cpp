#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#include <nanlens/hosts/kokkos.hpp>
#include <nanlens/summary/health.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;

namespace {

template <class View>
void check_same(const View& x, const Shape& shape) {
  std::vector<float> read;  // as Kokkos itself reads it, the last dimension fastest
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j)
      for (std::size_t k = 0; k < x.extent(2); ++k) read.push_back(x.access(i, j, k));
  const TensorView view = view_of(x);
  CHECK(view.shape == shape);
  CHECK(test::elements<float>(view) == read);
}

template <class View>
void fill(const View& x) {
  float next = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j)
      for (std::size_t k = 0; k < x.extent(2); ++k) x(i, j, k) = ++next;
}

// Like a View of a GPU's memory, which this build of Kokkos has not.
struct DeviceMemory {};
struct DeviceView : Kokkos::View<float*, Kokkos::HostSpace> {
  using memory_space = DeviceMemory;
  using Kokkos::View<float*, Kokkos::HostSpace>::View;
};

void check_layouts() {
  const Kokkos::View<float* [3][4], Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 2);
  const Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 2, 3, 4);
  fill(left);
  fill(right);
  check_same(left, {2, 3, 4});
  CHECK(view_of(left).strides == Shape{1, 2, 6});
  check_same(right, {2, 3, 4});
  check_same(Kokkos::subview(left, 1, Kokkos::ALL, Kokkos::pair<int, int>(1, 3)), {3, 2});
  check_same(Kokkos::subview(right, Kokkos::ALL, 2, 3), {2});
  check_same(Kokkos::View<const float***, Kokkos::LayoutRight, Kokkos::HostSpace>(right), {2, 3, 4});
  const Kokkos::View<float**, Kokkos::LayoutStride, Kokkos::HostSpace> strided(right.data(),
                                                                               Kokkos::LayoutStride(2, 1, 3, 5));
  check_same(strided, {2, 3});
  right(1, 2, 0) = NAN;
  CHECK(full_health(view_of(Kokkos::subview(right, 1, Kokkos::ALL, 0))).nan == 1);
  CHECK(full_health(view_of(Kokkos::subview(right, 0, Kokkos::ALL, 0))).nan == 0);
}

void check_hostile() {
  const Kokkos::View<float, Kokkos::HostSpace> scalar("scalar");
  scalar() = 3;
  CHECK(view_of(scalar).shape.empty());
  CHECK(test::elements<float>(view_of(scalar)) == std::vector<float>{3});
  CHECK(view_of(Kokkos::View<double**, Kokkos::HostSpace>()).data == nullptr);
  CHECK(view_of(Kokkos::View<double**, Kokkos::HostSpace>()).shape == Shape{0, 0});
  const TensorView device = view_of(DeviceView("there", 5));
  CHECK(device.data == nullptr);
  CHECK(device.shape == Shape{5});
  CHECK(std::string(device.device).find("GPU") != std::string::npos);
  static_assert(!Viewable<Kokkos::View<long double*, Kokkos::HostSpace>>);
}

void check_recording() {
  const auto run = test::recorded_ops([] {
    const Kokkos::View<float*, Kokkos::HostSpace> x("x", 4);
    const Kokkos::View<float*, Kokkos::HostSpace> y("y", 4);
    nanlens::record("Fill", outputs(x), inputs());
    nanlens::OpScope op("Log", inputs(x));
    Kokkos::parallel_for(4, [=](int i) { y(i) = std::log(x(i)); });
    op.finish(outputs(y));
    nanlens::op("There", DeviceView("there", 5), Kokkos::View<double**, Kokkos::HostSpace>());
  });
  REQUIRE(run.ops.size() == 3);
  CHECK(run.ops[1].inputs == run.ops[0].outputs);
  CHECK(run.alerts == 1);
}

}  // namespace

TEST_CASE("Kokkos: views are what they are, of any layout, and of memory that is not ours") {
  const Kokkos::ScopeGuard kokkos;
  check_layouts();
  check_hostile();
  check_recording();
}
