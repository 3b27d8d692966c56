// A trial: solvers on column-major matrices of doubles. Columns, diagonals and what is left of a matrix are views with
// strides, matrices are moved and swapped, and most of the algebra is not wrapped.
#include <cmath>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "trial.hpp"

using namespace nanlens;
using test::Trial;

namespace {

class ColumnMatrix {
 public:
  ColumnMatrix(std::size_t rows, std::size_t columns, double value = 0)
      : rows_(rows), columns_(columns), values_(rows * columns, value) {}
  double& operator()(std::size_t r, std::size_t c) { return values_[c * rows_ + r]; }
  double operator()(std::size_t r, std::size_t c) const { return values_[c * rows_ + r]; }
  double& operator[](std::size_t i) { return values_[i]; }
  double operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }

  /// Rows and columns from a corner on, strided.
  [[nodiscard]] TensorView part(std::size_t r, std::size_t c, std::size_t rows, std::size_t columns) const {
    return {values_.data() + c * rows_ + r,
            DType::float64,
            {signed_(rows), signed_(columns)},
            {1, signed_(rows_)},
            cpu_device};
  }
  [[nodiscard]] TensorView column(std::size_t c) const { return part(0, c, rows_, 1); }
  [[nodiscard]] TensorView row(std::size_t r) const { return part(r, 0, 1, columns_); }
  [[nodiscard]] TensorView diagonal() const {
    return {values_.data(), DType::float64, {signed_(rows_)}, {signed_(rows_ + 1)}, cpu_device};
  }

 private:
  static std::int64_t signed_(std::size_t n) { return static_cast<std::int64_t>(n); }
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> values_;
};

}  // namespace

template <>
struct nanlens::ViewOf<ColumnMatrix> {
  static TensorView view(const ColumnMatrix& m) noexcept { return m.part(0, 0, m.rows(), m.columns()); }
};

namespace {

// Where ops are called, by type and name.
std::map<std::string, int>& solver_lines() {
  static std::map<std::string, int> lines;
  return lines;
}
std::source_location at(const std::string& op, std::source_location here = std::source_location::current()) {
  solver_lines()[op] = static_cast<int>(here.line());
  return here;
}

ColumnMatrix product(const ColumnMatrix& a, const ColumnMatrix& b) {
  ColumnMatrix y(a.rows(), b.columns());
  for (std::size_t c = 0; c < b.columns(); ++c)
    for (std::size_t k = 0; k < a.columns(); ++k)
      for (std::size_t r = 0; r < a.rows(); ++r) y(r, c) += a(r, k) * b(k, c);
  return y;
}
double dot(const ColumnMatrix& a, const ColumnMatrix& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
template <class Map>
ColumnMatrix mapped(ColumnMatrix m, Map map) {
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = map(m[i]);
  return m;
}

// Six measurements of three things, as a file of numbers would give them.
ColumnMatrix measured() {
  ColumnMatrix x(6, 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 7 + 2) % 10) / 10;
  return x;
}

// A symmetric matrix, positive definite if `ridge` is large.
ColumnMatrix normal_matrix(double ridge) {
  const ColumnMatrix x = measured();
  ColumnMatrix a(3, 3);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < 6; ++i) a(r, c) += x(i, r) * x(i, c);
      a(r, c) += r == c ? ridge : 0;
    }
  return a;
}

// Conjugate gradients, some steps too many for so small a matrix.
void conjugate_gradients(int steps) {
  const ColumnMatrix a = nanlens::op("Load", normal_matrix(1));
  ColumnMatrix x(3, 1);
  ColumnMatrix r(3, 1, 1.0);
  Function f("solve", arg("A", a), arg("b", r));
  ColumnMatrix p = r;  // not wrapped
  for (int i = 0; i < steps; ++i) {
    const ColumnMatrix ap = f.op("MatMul", product(a, p), a, p);
    const auto before = f.op("Dot", nanlens::tensor(i < 3 ? dot(r, r) : 0.0), r);
    const auto curvature = f.op("Dot", nanlens::tensor(i < 3 ? dot(p, ap) : 0.0), p, ap);
    const auto alpha = f.op({"Div", "alpha", at("Div alpha")}, nanlens::tensor(before / curvature), before, curvature);
    for (std::size_t k = 0; k < 3; ++k) x[k] += alpha * p[k];   // not wrapped
    for (std::size_t k = 0; k < 3; ++k) r[k] -= alpha * ap[k];  // not wrapped
    const auto beta = f.op("Div", nanlens::tensor(dot(r, r) / before), r, before);
    ColumnMatrix next = r;
    for (std::size_t k = 0; k < 3; ++k) next[k] += beta * p[k];
    std::swap(p, next);
    nanlens::record("Axpy", nanlens::outputs(p), nanlens::inputs(r, beta, next));
  }
  f.result(x);
}

// Column by column, in place: roots of the diagonal are wrapped, what is below is scaled and subtracted by nobody.
void cholesky(double ridge) {
  ColumnMatrix a = normal_matrix(ridge);
  nanlens::op("Load", a);
  for (std::size_t k = 0; k < 3; ++k) {
    TensorView pivot = a.part(k, k, 1, 1);
    const double value = a(k, k);
    const auto was = nanlens::op("Pivot", nanlens::tensor(value), pivot);
    a(k, k) = std::sqrt(value);
    nanlens::record({"Sqrt", "pivot", at("Sqrt pivot")}, nanlens::outputs(pivot), nanlens::inputs(was));
    for (std::size_t r = k + 1; r < 3; ++r) a(r, k) /= a(k, k);
    for (std::size_t c = k + 1; c < 3; ++c)
      for (std::size_t r = c; r < 3; ++r) a(r, c) -= a(r, k) * a(c, k);
  }
  nanlens::op("LogDeterminant", nanlens::tensor(2 * std::log(a(0, 0) * a(1, 1) * a(2, 2))), a.diagonal());
}

// Poisson regression with a step that is too long.
void regression(double step, double bad_measurement = 0) {
  ColumnMatrix x = measured();
  x(4, 2) += bad_measurement;
  const ColumnMatrix y = nanlens::op("Counts", ColumnMatrix(6, 1, 2.0));
  ColumnMatrix weights(3, 1, 0.1);  // initialised by nobody
  for (int i = 0; i < 3; ++i) {
    const ColumnMatrix eta = nanlens::op({"MatMul", "eta", at("MatMul eta")}, product(x, weights), x, weights);
    const ColumnMatrix mu =
        nanlens::op({"Exp", "rate", at("Exp rate")}, mapped(eta, [](double v) { return std::exp(v); }), eta);
    ColumnMatrix rest(6, 1);
    for (std::size_t k = 0; k < 6; ++k) rest[k] = y[k] - mu[k];
    nanlens::op("Sub", rest, y, mu);
    for (std::size_t c = 0; c < 3; ++c) {
      double g = 0;
      for (std::size_t r = 0; r < 6; ++r) g += x(r, c) * rest[r];
      weights[c] += step * g;  // not wrapped
    }
  }
}

// Columns are divided by their norms, one at a time.
void normalise(ColumnMatrix x) {
  nanlens::op("Load", x);
  for (std::size_t c = 0; c < x.columns(); ++c) {
    const auto norm = nanlens::op("Norm", nanlens::tensor([&] {
                                    double sum = 0;
                                    for (std::size_t r = 0; r < x.rows(); ++r) sum += x(r, c) * x(r, c);
                                    return std::sqrt(sum);
                                  }()),
                                  x.column(c));
    const std::string name = "column " + std::to_string(c);
    OpScope scope({"Div", name, at("Div " + name)}, nanlens::inputs(x.column(c), norm));
    for (std::size_t r = 0; r < x.rows(); ++r) x(r, c) /= norm;
    scope.finish(nanlens::outputs(x.column(c)));
  }
  const ColumnMatrix sums = nanlens::op("Sum", ColumnMatrix(3, 1, x(0, 0) + x(0, 1) + x(0, 2)), x);
  nanlens::op("Mean", nanlens::tensor((sums[0] + sums[1] + sums[2]) / 3), sums);
}

// Elimination without pivoting, wrapped by nobody, between two products that are.
void elimination(bool in_place) {
  ColumnMatrix a = normal_matrix(0);
  a(0, 0) = 0;
  nanlens::op("Load", a);
  ColumnMatrix b = nanlens::op("MatMul", product(a, ColumnMatrix(3, 1, 1.0)), a);
  ColumnMatrix other = b;
  ColumnMatrix& x = in_place ? b : other;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t r = k + 1; r < 3; ++r) x[r] -= a(r, k) / a(k, k) * x[k];
  const ColumnMatrix back = nanlens::op({"MatMul", "check", at("MatMul check")}, product(a, x), a, x);
  nanlens::op("Norm", nanlens::tensor(std::sqrt(dot(back, back))), back);
}

// A matrix that was recorded is freed, and one that nobody recorded takes its memory.
void reused_memory() {
  const ColumnMatrix x = nanlens::op("Load", measured());
  {
    const ColumnMatrix scaled = nanlens::op("Scale", mapped(x, [](double v) { return 2 * v; }), x);
  }
  ColumnMatrix missing = measured();
  missing(2, 1) = NAN;
  nanlens::op({"Centre", "table", at("Centre table")}, mapped(missing, [](double v) { return v - 0.5; }), missing);
}

// The likelihood of counts under rates that a line without a link function gives.
void likelihood(double intercept) {
  const ColumnMatrix x = measured();
  const ColumnMatrix rates = nanlens::op("Rates", mapped(x, [&](double v) { return v + intercept; }), x);
  const ColumnMatrix logs =
      nanlens::op({"Log", "rates", at("Log rates")}, mapped(rates, [](double v) { return std::log(v); }), rates);
  nanlens::op("Sum", nanlens::tensor(dot(logs, x)), logs, x);
}

const Trial solver_trials[] = {
    {"conjugate gradients that go on at the solution", [] { conjugate_gradients(4); }, "Div alpha", "div00",
     "0/0 in Div \"alpha_3\" at trials_solver_test.cpp:", true, 2},
    {"a matrix that is not positive definite", [] { cholesky(-1); }, "Sqrt pivot", "sqrtneg",
     "Sqrt \"pivot\" at trials_solver_test.cpp:", true, 3},
    {"a step that is too long", [] { regression(1000); }, "Exp rate", "exp",
     "overflowed: 6 of 6 values exceed 709.78 (float64)", true, 2},
    {"a measurement is missing", [] { regression(0.01, NAN); }, "MatMul eta", "arrived",
     "already in input 0 of MatMul \"eta\"", false, 1},
    {"a column of zeros is normalised",
     [] {
       ColumnMatrix x = measured();
       for (std::size_t r = 0; r < x.rows(); ++r) x(r, 1) = 0;
       normalise(x);
     },
     "Div column 1", "div00", "the result of Norm has 1 zero", true, 2},
    {"rates below zero", [] { likelihood(-0.45); }, "Log rates", "logneg", "negative values from the result of Rates",
     true, 1},
    {"elimination in place, wrapped by nobody", [] { elimination(true); }, "MatMul check", "changed",
     "its memory, which held the result of MatMul, was changed since", false, 1},
    {"elimination on a copy, wrapped by nobody", [] { elimination(false); }, "MatMul check", "arrived",
     "already in input 1 of MatMul \"check\"", false, 1},
};

}  // namespace

TEST_CASE("trial: solvers on views with strides, wrapped in part") {
  test::check_clean([] {
    conjugate_gradients(3);
    cholesky(1);
    regression(0.01);
    normalise(measured());
    likelihood(1);
  });
  test::check_trials(solver_trials, [](const std::string& op) { return solver_lines()[op]; });
}

// Whether the memory is the same is malloc's choice: either way nobody on record is blamed.
TEST_CASE("trial: memory of a matrix that was recorded and freed holds another, which was not") {
  const test::TrialAnswer a = test::answer_of(test::Recorded([] { reused_memory(); }));
  CHECK(a.op() == "Centre table");
  CHECK(a.event_class == causes::EventClass::source);
  CHECK(a.says("NaN was already in input 0 of Centre \"table\""));
  CHECK(a.sentence.where == "row 2 of 6, column 1 of 3");
  CHECK(a.causes == 1);
  CHECK(a.makers.empty());
}
