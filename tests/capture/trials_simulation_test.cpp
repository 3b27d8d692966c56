// A trial: simulations and optimisers as they are written, with small matrices that hold their elements themselves,
// numbers that are passed by value, targets that nobody declared, and steps that are not wrapped.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <nanlens/causes/sentence_table.hpp>

#include "trial.hpp"

using namespace nanlens;
using test::Recorded;
using test::TrialAnswer;

namespace {

using Numbers = std::vector<float>;
using Square = std::array<std::array<double, 2>, 2>;

Square product(const Square& a, const Square& b) {
  Square c{};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 2; ++k) c[i][j] += a[i][k] * b[k][j];
  return nanlens::op("MatMul", c, a, b);
}
Square transposed(const Square& a) {
  return nanlens::op("Transpose", Square{{{a[0][0], a[1][0]}, {a[0][1], a[1][1]}}}, a);
}
Square root_of(const Square& p) {
  Square l{};
  l[0][0] = std::sqrt(p[0][0]);
  l[1][0] = p[1][0] / l[0][0];
  l[1][1] = std::sqrt(p[1][1] - l[1][0] * l[1][0]);
  return nanlens::op("Cholesky", l, p);
}

// A Kalman filter that takes away a little more than there is.
void filter() {
  Square p{{{1, 0}, {0, 1}}};
  const Square f{{{1, 1}, {0, 1}}};
  std::array<double, 2> x{0, 1};
  for (int t = 0; t < 12; ++t) {
    const Function step("step", arg("p", p), arg("x", x));
    p = product(product(f, p), transposed(f));
    const std::array<double, 2> gain{1, p[1][0] / p[0][0]};
    nanlens::record("Gain", outputs(gain), inputs(p));
    Square less = p;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j) less[i][j] -= gain[i] * p[0][j] * (1 + 1e-9);
    p = nanlens::op("Update", less, p, gain);
    const Square l = root_of(p);
    for (std::size_t i = 0; i < 2; ++i) x[i] += l[i][i];
    nanlens::record("State", outputs(x), inputs(x, l));
  }
}

// Adam with steps that are counted from 0, so that what corrects its moments is 1 − 1.
void adam_step(Numbers& w, Numbers& m, const Numbers& g, int step) {
  const Function f("adam", arg("g", g));
  const float correction = 1 - std::pow(0.9F, static_cast<float>(step));
  Numbers corrected(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = 0.9F * m[i] + 0.1F * g[i];
  for (std::size_t i = 0; i < m.size(); ++i) corrected[i] = m[i] / correction;
  nanlens::record("Div", outputs(corrected), inputs(m, correction));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.01F * corrected[i];
  nanlens::record("AssignSub", outputs(), inputs(target(w), corrected));
}
void train() {
  Numbers w(8, 0.5F);
  Numbers m(8);
  Numbers g(8);
  forget(w.data(), w.size() * sizeof(float));  // an earlier test may have declared it
  for (int step = 0; step < 4; ++step) {
    const Numbers x{1, 0, 3, 0, 5, 6, 7, static_cast<float>(step)};
    float sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * x[i];
    const float prediction = nanlens::op("Dot", sum, x, w);
    for (std::size_t i = 0; i < w.size(); ++i) g[i] = (prediction - 1) * x[i];
    nanlens::record("Gradient", outputs(g), inputs(prediction, x));
    adam_step(w, m, g, step);
  }
  forget(w.data(), w.size() * sizeof(float));
}

}  // namespace

TEST_CASE("a filter of small matrices: all follows from the root that it could not take") {
  const Recorded run(filter);
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Cholesky");
  CHECK(a.sentence.text.find("the matrix is singular or not positive definite") != std::string::npos);
  CHECK(a.sentence.consequence.find("All ") == 0);
  CHECK(a.causes == 1);
}

TEST_CASE("an optimiser: the weights are bad by a target, and the prediction is a number") {
  const Recorded run(train);
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Div");
  CHECK(a.says("input 1, which has 1 zero"));
  CHECK(a.sentence.consequence.find("All ") == 0);
  CHECK(a.causes == 1);
}

TEST_CASE("what came in bad later from unwrapped code is no other cause: it may follow") {
  const Recorded run([] {
    Numbers state{4, 0, 2};
    for (int turn = 0; turn < 3; ++turn) {
      Numbers next(3);
      for (std::size_t i = 0; i < 3; ++i) next[i] = state[i] / state[1];
      nanlens::record("Step", outputs(next), inputs(state));
      Numbers spread(3);
      for (std::size_t i = 1; i < 3; ++i) spread[i] = next[0] + next[i];  // not wrapped
      nanlens::record("Report", outputs(next), inputs(spread));
      state = spread;
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Step");
  CHECK(a.sentence.consequence.find("came in bad later, from what is not on record, and may follow from it, too") !=
        std::string::npos);
  CHECK(a.sentence.consequence.find("other cause") == std::string::npos);
  CHECK(a.sentence.consequence.find("nothing else") == std::string::npos);
}

TEST_CASE("a scheme that is not stable: its numbers grew, and the zeros at its ends are not to blame") {
  const Recorded run([] {
    Numbers u(32);
    Numbers w(32);
    u[16] = 1;
    for (int t = 0; t < 200; ++t) {
      for (std::size_t i = 1; i + 1 < u.size(); ++i) w[i] = u[i] + 0.9F * (u[i - 1] - 2 * u[i] + u[i + 1]);
      nanlens::record("Stencil", outputs(w), inputs(u));
      u.swap(w);
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Stencil");
  CHECK(a.says("and float32 ends at 3.40e+38: it may have overflowed inside"));
  CHECK_FALSE(a.says("zero"));
  CHECK(a.causes == 1);
}

TEST_CASE("samples of a batch, each normalised in place: the batch holds the one that was constant") {
  const auto images = [](bool in_function) {
    for (int batch = 0; batch < 3; ++batch) {
      std::optional<Function> f;
      if (in_function) f.emplace("batch");
      Numbers x(4 * 9);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = batch == 1 && i / 9 == 2 ? 7 : static_cast<float>(i * 37 % 11 + static_cast<std::size_t>(batch));
      nanlens::record("Decode", outputs(x), inputs());
      for (std::size_t n = 0; n < 4; ++n) {
        float* const p = x.data() + 9 * n;
        const auto [low, high] = std::minmax_element(p, p + 9);
        const float from = *low;
        const float to = *high;
        OpScope op("Normalize", inputs(tensor_view(p, {3, 3})));
        for (std::size_t i = 0; i < 9; ++i) p[i] = (p[i] - from) / (to - from);
        op.finish(outputs(tensor_view(p, {3, 3})));
      }
      Numbers pooled(4);
      for (std::size_t i = 0; i < x.size(); ++i) pooled[i / 9] += x[i] / 9;
      nanlens::record("AvgPool", outputs(pooled), inputs(tensor_view(x.data(), {4, 3, 3})));
    }
  };
  for (const bool in_function : {false, true}) {
    const Recorded run([&] { images(in_function); });
    const TrialAnswer a = test::answer_of(run);
    CAPTURE(in_function);
    CHECK(a.op() == "Normalize");
    CHECK(a.sentence.consequence.find("All 2 bad tensors follow from it") == 0);
    CHECK(a.causes == 1);
  }
}

TEST_CASE("a loop of numbers by value: each is taken for the last that was as bad") {
  const Recorded run([] {
    double x = nanlens::op("Start", 1.0);
    for (int turn = 0; turn < 4; ++turn) {
      const double step = nanlens::op("Div", x / (turn == 0 ? 0.0 : 2.0), x, turn == 0 ? 0.0 : 2.0);
      x = nanlens::op("Sub", x - step, x, step);
      const double residual = x - x;  // NaN beside an infinite x
      nanlens::record("Residual", outputs(residual), inputs(x));
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Div");
  CHECK(a.causes == 1);
}

TEST_CASE("copies that are NaN throughout: each is taken for the last that was made so") {
  using Vector = std::array<double, 3>;
  for (const bool in_function : {false, true}) {
    const Recorded run([&] {
      std::optional<Function> f;
      if (in_function) f.emplace("rotations");
      Vector pose = nanlens::op("Pose", Vector{1, 2, 3});
      for (int turn = 0; turn < 4; ++turn) {
        const double speed = 1.0 - turn % 2;
        const Vector axis =
            nanlens::op("Div", Vector{speed / speed, speed / speed, speed / speed}, Vector{speed, speed, speed}, speed);
        Vector next{};
        for (std::size_t i = 0; i < 3; ++i) next[i] = pose[i] + axis[i];
        pose = nanlens::op("Compose", next, pose, axis);
      }
    });
    CAPTURE(in_function);
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Div");
    CHECK(a.sentence.consequence.find("All 5 bad tensors follow from it") == 0);
    CHECK(a.causes == 1);
  }
}

TEST_CASE("minima and maxima that begin at infinity are meant so") {
  const Recorded run([] {
    const float infinity = std::numeric_limits<float>::infinity();
    Numbers best(4, -infinity);
    nanlens::record("Init", outputs(best), inputs());
    for (int turn = 0; turn < 3; ++turn) {
      for (float& b : best) b = std::max(b, static_cast<float>(turn));
      nanlens::record("Maximum", outputs(best), inputs(best));
    }
  });
  CHECK(run->alerts().size() == 1);
  CHECK(test::answer_of(run).sentence.text.empty());  // no headline
}

TEST_CASE("how infinity became NaN: a row that is masked whole is told from one with +∞, and products from sums") {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    const char* op;
    float bad;
    const char* words;
  } cases[] = {{"Softmax", -infinity, "every entry of a row is −∞"},
               {"Softmax", infinity, "a row holds +∞"},
               {"MatMul", infinity, "0 × ∞ or ∞ − ∞"},
               {"Mul", infinity, "0 × ∞"}};
  for (const auto& c : cases) {
    const Recorded run([&] {
      Numbers x{c.bad, c.bad, 1};
      nanlens::record("Scores", outputs(x), inputs());
      const Numbers y{NAN, NAN, 1};
      nanlens::record(c.op, outputs(y), inputs(x));
    });
    causes::Causes causes(*run);
    test::finish(causes, 3);
    const auto chain = causes.chain(causes::execution_event(1, 0));
    REQUIRE(chain.size() == 2);
    CHECK(causes::change_words(chain[1].change) == c.words);
  }
}

TEST_CASE("an op with a name of its own: what it met where its output is bad, broadcast or not, says which input") {
  // Eigenvectors are divided by the roots of eigenvalues, one of which is a little negative.
  const auto whiten = [](bool by_rows) {
    Numbers vectors{-1, 2, 3, -4, 5, -6, 7, 8, -9};
    Numbers values{4, -1e-7F, 9};
    nanlens::record("Eigenvectors", outputs(tensor_view(vectors.data(), {3, 3})), inputs());
    nanlens::record("Eigenvalues", outputs(tensor_view(values.data(), {by_rows ? 3 : 1, by_rows ? 1 : 3})), inputs());
    Numbers white(9);
    for (std::size_t i = 0; i < 9; ++i) white[i] = vectors[i] / std::sqrt(values[by_rows ? i / 3 : i % 3]);
    nanlens::record(
        "Whiten", outputs(tensor_view(white.data(), {3, 3})),
        inputs(tensor_view(vectors.data(), {3, 3}), tensor_view(values.data(), {by_rows ? 3 : 1, by_rows ? 1 : 3})));
  };
  for (const bool by_rows : {false, true}) {
    CAPTURE(by_rows);
    const Recorded run([&] { whiten(by_rows); });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Whiten");
    CHECK(
        a.says("the result of Eigenvalues has 1 negative value: a root or logarithm of these inside may have made it"));
  }
}

TEST_CASE("gradients that are set back before the step that took them is recorded: perhaps they were it") {
  for (const bool in_function : {false, true}) {
    CAPTURE(in_function);
    const Recorded run([&] {
      Numbers w{1, 2, 3};
      Numbers g(3);
      nanlens::record("Init", outputs(w), inputs());
      for (int step = 0; step < 3; ++step) {
        {
          std::optional<Function> f;
          if (in_function) f.emplace("backward");
          const float count = step == 1 ? 0.0F : 4.0F;
          const float scale = nanlens::op("Reciprocal", 1 / count, count);
          for (std::size_t i = 0; i < 3; ++i) g[i] += w[i] * scale * (step == 1 ? 0.0F : 1.0F);
          nanlens::record("AccumulateGrad", outputs(g), inputs(w, scale));
        }
        for (std::size_t i = 0; i < 3; ++i) {
          w[i] -= 0.1F * g[i];
          g[i] = 0;
        }
        nanlens::record("Sgd", outputs(w), inputs(w, g));
      }
    });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Reciprocal");
    CHECK(a.causes == 1);
  }
}
