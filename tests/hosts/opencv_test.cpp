#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <nanlens/hosts/opencv.hpp>  // the order does not matter
#include <nanlens/summary/health.hpp>

#include <opencv2/core.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;

namespace {

// As OpenCV itself reads it, channels fastest.
template <class Pixel>
std::vector<float> read(const cv::Mat& m) {
  std::vector<float> found;
  for (auto p = m.begin<Pixel>(); p != m.end<Pixel>(); ++p)
    for (int c = 0; c < m.channels(); ++c) found.push_back(reinterpret_cast<const float*>(&*p)[c]);
  return found;
}

template <class Pixel>
void check_same(const cv::Mat& m, const Shape& shape) {
  const TensorView view = view_of(m);
  CHECK(view.shape == shape);
  CHECK(test::elements<float>(view) == read<Pixel>(m));
}

// Counts how often an expression is evaluated.
class Counting : public cv::MatOp {
 public:
  bool elementWise(const cv::MatExpr&) const override { return true; }
  void assign(const cv::MatExpr& expression, cv::Mat& m, int) const override {
    ++evaluations;
    cv::sqrt(expression.a, m);
  }
  mutable int evaluations = 0;
};

}  // namespace

TEST_CASE("OpenCV: rows, channels, regions of interest and many dimensions are viewed as they lie in memory") {
  cv::Mat image(6, 8, CV_32FC3);
  for (int i = 0; i < 6 * 8 * 3; ++i) image.ptr<float>()[i] = static_cast<float>(i);
  check_same<cv::Vec3f>(image, {6, 8, 3});
  const cv::Mat region = image(cv::Rect(2, 1, 4, 3));
  check_same<cv::Vec3f>(region, {3, 4, 3});
  CHECK(view_of(region).strides == Shape{24, 3, 1});
  check_same<cv::Vec3f>(region.col(1), {3, 1, 3});
  check_same<cv::Vec3f>(region.row(2), {1, 4, 3});
  check_same<float>(image.reshape(1), {6, 24});
  check_same<float>(image.reshape(1)(cv::Rect(3, 2, 5, 2)).diag(), {2, 1});
  const cv::Mat_<float> typed = image.reshape(1);
  check_same<float>(typed, {6, 24});
  const int sizes[] = {2, 3, 4};
  cv::Mat volume(3, sizes, CV_32F);
  for (int i = 0; i < 24; ++i) volume.ptr<float>()[i] = static_cast<float>(i);
  check_same<float>(volume, {2, 3, 4});
  const cv::Range ranges[] = {cv::Range(1, 2), cv::Range(0, 2), cv::Range(1, 4)};
  check_same<float>(volume(ranges), {1, 2, 3});
  float padded[2][5] = {{1, 2, 3, NAN, NAN}, {4, 5, 6, NAN, NAN}};
  const cv::Mat outside(2, 3, CV_32F, padded, sizeof padded[0]);
  check_same<float>(outside, {2, 3});
  CHECK(full_health(view_of(outside)).nan == 0);
  image.at<cv::Vec3f>(2, 3)[1] = NAN;
  CHECK(full_health(view_of(region)).nan == 1);
  CHECK(full_health(view_of(image(cv::Rect(4, 1, 4, 3)))).nan == 0);
}

TEST_CASE("OpenCV: small matrices, vectors and halves") {
  const cv::Matx23f small(1, 2, 3, 4, 5, 6);
  CHECK(view_of(small).shape == Shape{2, 3});
  CHECK(test::elements<float>(view_of(small)) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(view_of(cv::Vec3d()).shape == Shape{3});
  CHECK(view_of(cv::Vec3d()).dtype == DType::float64);
  CHECK(view_of(std::vector<cv::Vec3f>(5)).shape == Shape{5, 3});
  CHECK(dtype_of<cv::float16_t> == DType::float16);
  CHECK(view_of(std::vector<cv::float16_t>(5)).shape == Shape{5});
  cv::Mat halves;
  cv::Mat(1, 3, CV_32F, cv::Scalar(INFINITY)).convertTo(halves, CV_16F);
  CHECK(view_of(halves).dtype == DType::float16);
  CHECK(full_health(view_of(halves)).pos_inf == 3);
}

TEST_CASE("OpenCV: integers, and nothing in it") {
  CHECK(view_of(cv::Mat()).shape == Shape{0});
  CHECK(view_of(cv::Mat()).data == nullptr);
  CHECK(num_elements(view_of(cv::Mat(0, 5, CV_32FC3)).shape) == 0);
  const cv::Mat bytes(4, 4, CV_8UC3, cv::Scalar::all(255));
  CHECK(view_of(bytes).dtype == DType::uint8);
  CHECK(view_of(bytes).shape == Shape{4, 4, 3});
  static_assert(!Viewable<cv::UMat>);
  const auto run = test::recorded_ops([&] {
    nanlens::op("Image", bytes, cv::Mat());
    nanlens::op("Empty", cv::Mat(), bytes);
  });
  CHECK(run.ops.size() == 2);
  CHECK(run.alerts == 0);
}

TEST_CASE("OpenCV: an expression is evaluated once, by the op, and comes back plain and linked") {
  const Counting counting;
  const auto run = test::recorded_ops([&] {
    const cv::Mat x = nanlens::op("Const", cv::Mat(-cv::Mat::ones(2, 2, CV_32F)));
    auto y = nanlens::op("Sqrt", cv::MatExpr(&counting, 0, x), x);
    static_assert(std::is_same_v<decltype(y), cv::Mat>);
    const cv::Mat z = nanlens::op("Add", y + x, y, x);
    nanlens::op("Row", z.row(1), z);
  });
  CHECK(counting.evaluations == 1);
  REQUIRE(run.ops.size() == 4);
  const auto id = [&](std::size_t i) { return run.ops[i].outputs[0]; };
  CHECK(run.ops[1].inputs == test::TensorIds{id(0)});
  CHECK(run.ops[2].inputs == test::TensorIds{id(1), id(0)});
  CHECK(run.ops[3].inputs == test::TensorIds{id(2)});
  CHECK(run.alerts == 3);
}
