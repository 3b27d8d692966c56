#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include <nanlens/tensor/view_of.hpp>

using namespace nanlens;

namespace {

// The shape of std::mdspan, with a layout of its own.
struct FakeMdspan {
  using element_type = const double;
  const double* p;
  [[nodiscard]] const double* data_handle() const { return p; }
  [[nodiscard]] std::size_t extent(std::size_t i) const { return i == 0 ? 2 : 3; }
  [[nodiscard]] std::size_t stride(std::size_t i) const { return i == 0 ? 1 : 2; }
  static constexpr std::size_t rank() { return 2; }
};

// A layout that has strides only sometimes, and one without dimensions, for which stride() must not be asked.
struct Blocked : FakeMdspan {
  bool strided;
  [[nodiscard]] bool is_strided() const { return strided; }
};
struct FakeScalar {
  using element_type = float;
  const float* p;
  [[nodiscard]] const float* data_handle() const { return p; }
  [[nodiscard]] std::size_t extent(std::size_t) const { return 0; }
  static constexpr std::size_t rank() { return 0; }
};

// A half of another library, which says what it is as Eigen's and PyTorch's do; and numbers that are none.
struct OtherHalf {
  unsigned short bits;
};
struct FixedPoint {
  short bits;
};
enum Small : short {};

struct Own {
  float values[4];
};

// Shaped like views of Kokkos, Blaze and Eigen: contiguous by data() and size(), but for their stride.
struct Column {
  [[nodiscard]] const float* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return 16; }
  [[nodiscard]] std::size_t stride(int) const { return 4; }
};
struct Padded {
  [[nodiscard]] const float* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return 16; }
  [[nodiscard]] std::size_t spacing() const { return 4; }
};

}  // namespace

template <>
struct std::numeric_limits<OtherHalf> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_integer = false;
  static constexpr int digits = 11;
  static constexpr int max_exponent = 16;
};
template <>
struct std::numeric_limits<FixedPoint> : std::numeric_limits<OtherHalf> {
  static constexpr int digits = 15;
};

template <>
struct nanlens::ViewOf<Own> {
  static TensorView view(const Own& x) noexcept { return tensor_view(x.values, {2, 2}); }
};

TEST_CASE("views of built-in types") {
  const float scalar = 1;
  CHECK(view_of(scalar).dtype == DType::float32);
  CHECK(view_of(scalar).shape.empty());
  CHECK(view_of(true).dtype == DType::boolean);
  const std::vector<std::int64_t> v(5);
  CHECK(view_of(v).dtype == DType::int64);
  CHECK(view_of(v).shape == Shape{5});
  CHECK(view_of(v).data == v.data());
  const std::array<double, 3> a{};
  CHECK(view_of(std::span(a)).shape == Shape{3});
  const int c[7] = {};
  CHECK(view_of(c).shape == Shape{7});
  CHECK(view_of(std::string("x")).dtype == DType::string);
  CHECK(view_of(std::string("x")).data == nullptr);
  CHECK(view_of(std::complex<float>{}).dtype == DType::complex64);
}

TEST_CASE("views of mdspan look-alikes keep their strides; own types use ViewOf") {
  const double data[6] = {};
  const TensorView view = view_of(FakeMdspan{data});
  CHECK(view.shape == Shape{2, 3});
  CHECK(view.strides == Shape{1, 2});
  CHECK_FALSE(is_dense(view));
  CHECK(view_of(Blocked{{data}, true}).strides == Shape{1, 2});
  CHECK(view_of(Blocked{{data}, false}).data == nullptr);
  CHECK(view_of(Blocked{{data}, false}).device == unreadable_device);
  const float value = 1;
  CHECK(view_of(FakeScalar{&value}).shape.empty());
  CHECK(view_of(FakeScalar{&value}).data == &value);
  CHECK(view_of(Own{}).shape == Shape{2, 2});
  CHECK(is_dense(view_of(Own{})));
  static_assert(!Viewable<std::vector<bool>>);
  static_assert(!Viewable<void*>);
  static_assert(!Viewable<Column>);
  static_assert(!Viewable<Padded>);
}

TEST_CASE("arrays in arrays are further dimensions") {
  const float c[2][3][4] = {};
  CHECK(view_of(c).shape == Shape{2, 3, 4});
  CHECK(view_of(c).data == &c[0][0][0]);
  CHECK(is_dense(view_of(c)));
  const std::array<std::array<double, 3>, 2> a{};
  CHECK(view_of(a).shape == Shape{2, 3});
  const std::vector<std::array<float, 3>> points(5);
  CHECK(view_of(points).shape == Shape{5, 3});
  CHECK(view_of(points).dtype == DType::float32);
  CHECK(view_of(std::span<const std::array<float, 3>>(points)).data == points.data());
  CHECK(view_of(std::vector<std::array<float, 3>>()).shape == Shape{0, 3});
  static_assert(!Viewable<std::array<std::vector<float>, 2>>);
  static_assert(!Viewable<std::vector<std::span<float, 1>>>);
  static_assert(!Viewable<long double[2][3]>);
}

TEST_CASE("halves are known by what they say of themselves") {
  CHECK(dtype_of<OtherHalf> == DType::float16);
  CHECK(view_of(std::vector<OtherHalf>(3)).shape == Shape{3});
  CHECK(dtype_of<FixedPoint> == DType::invalid);
  CHECK(dtype_of<Small> == DType::invalid);
  CHECK(dtype_of<char16_t> == DType::uint16);
#if defined(__clang__) && defined(__x86_64__)
  CHECK(dtype_of<_Float16> == DType::float16);
  CHECK(dtype_of<__bf16> == DType::bfloat16);
  const _Float16 halves[3] = {};
  CHECK(view_of(halves).dtype == DType::float16);
#endif
#if defined(__STDCPP_FLOAT16_T__) && defined(__STDCPP_BFLOAT16_T__)
  CHECK(dtype_of<decltype(0.0f16)> == DType::float16);
  CHECK(dtype_of<decltype(0.0bf16)> == DType::bfloat16);
#endif
}

TEST_CASE("shapes: elements, overflow, strides") {
  CHECK(num_elements({}) == 1);
  CHECK(num_elements({0, 3}) == 0);
  CHECK(num_elements({-1}) == -1);
  CHECK(num_elements({std::int64_t{1} << 40, std::int64_t{1} << 40}) == -1);
  CHECK(row_major_strides({2, 3, 4}) == Shape{12, 4, 1});
  Shape shape;
  for (int i = 0; i < 20; ++i) shape.push_back(1);
  CHECK(shape.overflowed());
}
