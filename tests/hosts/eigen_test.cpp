#include <doctest/doctest.h>

#include <cmath>

#include <nanlens/hosts/eigen.hpp>
#include <nanlens/summary/health.hpp>

#include "../capture/recorded.hpp"

using namespace nanlens;

TEST_CASE("dense types are viewed as they lie in memory") {
  Eigen::MatrixXf column_major(2, 3);
  column_major << 1, 2, 3, 4, 5, 6;
  CHECK(view_of(column_major).shape == Shape{2, 3});
  CHECK(view_of(column_major).strides == Shape{1, 2});
  const Eigen::Matrix<double, 2, 3, Eigen::RowMajor> row_major = Eigen::Matrix<double, 2, 3>::Zero();
  CHECK(view_of(row_major).strides == Shape{3, 1});
  CHECK(view_of(Eigen::VectorXi(5)).shape == Shape{5});
  CHECK(view_of(Eigen::Array<bool, 4, 1>()).dtype == DType::boolean);
  CHECK(view_of(Eigen::Matrix<Eigen::half, 2, 2>()).dtype == DType::float16);
  CHECK(view_of(Eigen::VectorX<Eigen::bfloat16>(1)).dtype == DType::bfloat16);
  const auto block = column_major.block(0, 1, 2, 2);
  CHECK(view_of(block).data == column_major.data() + 2);
  CHECK(view_of(block).strides == Shape{1, 2});
  const auto segment = column_major.row(1).segment(1, 2);  // a VectorBlock: every second number
  CHECK(view_of(segment).data == column_major.data() + 3);
  CHECK(view_of(segment).strides == Shape{2});
  CHECK(view_of(column_major.transpose()).shape == Shape{3, 2});
  CHECK(view_of(column_major.transpose()).strides == Shape{2, 1});
  CHECK(view_of(column_major.row(1)).strides == Shape{2});
  const Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<2>> every_second(column_major.data(), 3);
  CHECK(view_of(every_second).strides == Shape{2});
  CHECK(full_health(view_of(every_second)).positive == 3);
}

TEST_CASE("an expression is evaluated once, by the op, and comes back plain and linked") {
  int evaluations = 0;
  const test::Recorded run([&] {
    const Eigen::MatrixXf x = nanlens::op("Const", Eigen::MatrixXf(Eigen::MatrixXf::Zero(2, 2)));
    auto y = nanlens::op("Log", x.unaryExpr([&](float v) {
      ++evaluations;
      return std::log(v);
    }),
                         x);
    static_assert(std::is_same_v<decltype(y), Eigen::MatrixXf>);
    const Eigen::MatrixXf z = nanlens::op("Add", y + x, y, x);
    nanlens::op("Mean", z.mean(), z);
  });
  CHECK(evaluations == 4);
  REQUIRE(run->num_executions() == 4);
  const auto id = [&](std::size_t i) { return run->execution(i)->event.output_tensor_ids[0]; };
  CHECK(run->execution(1)->event.input_tensor_ids == std::vector<std::int64_t>{id(0)});
  CHECK(run->execution(1)->extension.duration_ns > 0);
  CHECK(run->execution(2)->event.input_tensor_ids == std::vector<std::int64_t>{id(1), id(0)});
  CHECK(run->execution(3)->event.input_tensor_ids == std::vector<std::int64_t>{id(2)});
  CHECK(run->alerts().size() == 3);
}

TEST_CASE("small fixed-size values have no lasting address: their copies are known by content") {
  const test::Recorded run([] {
    const Eigen::Vector2f v = nanlens::op("Make", Eigen::Vector2f(1, 2));
    nanlens::op("Use", 1.0f, v);
    Eigen::Vector2f w(1, 2);
    nanlens::op("Assign", w);  // an lvalue's address lasts
    nanlens::op("Use", 1.0f, w);
    nanlens::op("Use", 1.0f, Eigen::Vector2f(1, 3));  // nobody's
  });
  const auto input = [&](std::size_t i) { return run->execution(i)->event.input_tensor_ids; };
  const auto output = [&](std::size_t i) { return run->execution(i)->event.output_tensor_ids; };
  CHECK(input(1) == output(0));
  CHECK(input(3) == output(2));
  for (std::size_t i = 0; i < 4; ++i) CHECK(input(4) != output(i));
}

TEST_CASE("eval() gives a constant that can't be moved: what it is copied to is linked") {
  const test::Recorded run([] {
    const Eigen::ArrayXd x = nanlens::op("Zeros", Eigen::ArrayXd::Zero(6).eval());
    const Eigen::ArrayXd y = nanlens::op("Sqrt", (x - 1).sqrt().eval(), x);
    nanlens::op("Mean", y.mean(), y);
  });
  REQUIRE(run->num_executions() == 3);
  for (std::size_t i = 1; i < 3; ++i)
    CHECK(run->execution(i)->event.input_tensor_ids == run->execution(i - 1)->event.output_tensor_ids);
}
