#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <vector>

// How often an expression is evaluated shows in the memory that is taken.
namespace {
int allocations = 0;
void* counted_allocation(std::size_t bytes) {
  ++allocations;
  return std::malloc(bytes);
}
}  // namespace
#define ARMA_ALIEN_MEM_ALLOC_FUNCTION counted_allocation
#define ARMA_ALIEN_MEM_FREE_FUNCTION std::free
#include <armadillo>

#include <nanlens/hosts/armadillo.hpp>
#include <nanlens/summary/health.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;

namespace {

// As Armadillo itself reads it, the last dimension fastest.
template <class M>
std::vector<float> read(const M& m) {
  std::vector<float> found;
  if constexpr (detail::ArmadilloCube<M>) {
    for (arma::uword i = 0; i < m.n_rows; ++i)
      for (arma::uword j = 0; j < m.n_cols; ++j)
        for (arma::uword k = 0; k < m.n_slices; ++k) found.push_back(m(i, j, k));
  } else {
    for (arma::uword i = 0; i < m.n_rows; ++i)
      for (arma::uword j = 0; j < m.n_cols; ++j) found.push_back(m(i, j));
  }
  return found;
}

template <class M>
void check_same(const M& m, const Shape& shape) {
  const TensorView view = view_of(m);
  CHECK(view.shape == shape);
  CHECK(test::elements<float>(view) == read(m));
}

}  // namespace

TEST_CASE("Armadillo: what lies in memory is viewed as it lies there, column by column") {
  arma::fmat m(4, 5);
  arma::fcube c(3, 4, 5);
  for (arma::uword i = 0; i < m.n_elem; ++i) m(i) = static_cast<float>(i);
  for (arma::uword i = 0; i < c.n_elem; ++i) c(i) = static_cast<float>(i);
  check_same(m, {4, 5});
  CHECK(view_of(m).strides == Shape{1, 4});
  check_same(c, {3, 4, 5});
  check_same(arma::fvec(m.col(2)), {4});
  check_same(arma::frowvec(m.row(2)), {5});
  check_same(arma::fmat::fixed<2, 3>(arma::fill::ones), {2, 3});
  check_same(m.submat(1, 2, 2, 4), {2, 3});
  check_same(m.col(3), {4});
  check_same(m.row(1), {5});
  check_same(m.cols(1, 3), {4, 3});
  check_same(c.slice(2), {3, 4});
  check_same(c.subcube(1, 2, 3, 2, 3, 4), {2, 2, 2});
  const arma::fmat& constant = m;
  check_same(constant.submat(0, 1, 3, 1), {4, 1});
  const auto diagonal = m.diag(1);
  CHECK(view_of(diagonal).shape == Shape{4});
  CHECK(test::elements<float>(view_of(diagonal)) == std::vector<float>{m(0, 1), m(1, 2), m(2, 3), m(3, 4)});
  CHECK(test::elements<float>(view_of(m.diag(-1))) == std::vector<float>{m(1, 0), m(2, 1), m(3, 2)});
  CHECK(view_of(arma::cx_mat(2, 2)).dtype == DType::complex128);
  CHECK(view_of(arma::umat(2, 2)).dtype == DType::uint64);
  m(2, 3) = NAN;
  CHECK(full_health(view_of(m.submat(1, 2, 2, 4))).nan == 1);
  CHECK(full_health(view_of(m.submat(0, 0, 1, 4))).nan == 0);
}

TEST_CASE("Armadillo: nothing in it") {
  arma::fmat empty;
  CHECK(view_of(empty).shape == Shape{0, 0});
  CHECK(view_of(arma::fvec()).shape == Shape{0});
  CHECK(view_of(arma::fcube(2, 0, 3)).shape == Shape{2, 0, 3});
  CHECK(view_of(empty.diag()).shape == Shape{0});
  arma::fmat some(3, 3, arma::fill::ones);
  CHECK(num_elements(view_of(some.head_cols(0)).shape) == 0);
  const auto run = test::recorded_ops([&] { nanlens::op("Empty", empty, arma::fvec()); });
  CHECK(run.ops.size() == 1);
}

TEST_CASE("Armadillo: an expression is evaluated once, by the op, and comes back plain and linked") {
  const auto run = test::recorded_ops([] {
    const arma::fvec x = nanlens::op("Const", arma::fvec(32));
    const int before = allocations;
    auto y = nanlens::op("Log", arma::log(x), x);  // an eOp
    CHECK(allocations == before + 1);
    static_assert(std::is_same_v<decltype(y), arma::fvec>);
    const arma::fmat z = nanlens::op("Outer", y * x.t(), y, x);  // a Glue
    const arma::fvec picked = nanlens::op("Pick", x.elem(arma::find(x < 1)), x);
    CHECK(picked.n_elem == 32);
    static_assert(std::is_same_v<decltype(nanlens::op("Cube", arma::fcube() + 1)), arma::fcube>);
    static_assert(std::is_same_v<decltype(nanlens::op("Row", arma::frowvec() * 2)), arma::frowvec>);
    static_assert(std::is_same_v<decltype(nanlens::op("Sum", arma::sum(z))), arma::fmat>);
  });
  REQUIRE(run.ops.size() == 4);
  const auto id = [&](std::size_t i) { return run.ops[i].outputs[0]; };
  CHECK(run.ops[1].inputs == test::TensorIds{id(0)});
  CHECK(run.ops[2].inputs == test::TensorIds{id(1), id(0)});
  CHECK(run.ops[3].inputs == test::TensorIds{id(0)});
  CHECK(run.alerts == 2);
}

TEST_CASE("Armadillo: sparse matrices are no tensors") {
  static_assert(!Viewable<arma::sp_fmat>);
  static_assert(!detail::LazyExpression<decltype(arma::sp_fmat() * 2)>);
}
