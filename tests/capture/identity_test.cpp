// Which tensor is it? By its bytes, and by what they hold.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "recorded.hpp"

using namespace nanlens;
using logdir::TensorOrigin;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

std::int64_t input(const Recorded& run, std::size_t execution, std::size_t i = 0) {
  return run->execution(execution)->event.input_tensor_ids.at(i);
}
std::int64_t output(const Recorded& run, std::size_t execution) {
  return run->execution(execution)->event.output_tensor_ids.at(0);
}

Vector logs(const Vector& x) {
  Vector y;
  for (const float v : x) y.push_back(std::log(v));
  return nanlens::op("Log", y, x);  // a copy of y is what the caller gets
}

}  // namespace

TEST_CASE("memory that was changed, or given to another tensor, is not what was recorded there") {
  const Recorded run([] {
    Vector x{1, 2, 3, 4};
    nanlens::op("Load", x);  // 0
    for (float& v : x) v += 1;
    nanlens::op("Use", 1.0F, x);  // 1
    nanlens::op("Load", x);       // 2
    nanlens::op("Use", 1.0F, x);  // 3
  });
  CHECK(input(run, 1) != output(run, 0));
  CHECK(input(run, 3) == output(run, 2));
}

TEST_CASE("slices of an arena: parts of what was recorded, until they are written over") {
  const Recorded run([] {
    Vector arena(100'000, 1.0F);
    arena[70'000] = 2;
    const auto slice = [&](std::size_t from, std::int64_t size) { return tensor_view(arena.data() + from, {size}); };
    nanlens::op("Init", arena);                       // 0
    nanlens::op("Use", 1.0F, slice(50'000, 10'000));  // 1: a part
    auto written = slice(0, 1000);
    nanlens::op("Write", written);                                      // 2
    nanlens::op("Use", 1.0F, slice(60'000, 30'000));                    // 3: still a part of the whole
    nanlens::op("Use", 1.0F, slice(0, 1000));                           // 4: of what was written
    nanlens::op("Use", 1.0F, slice(500, 1000));                         // 5: of both
    nanlens::op("Use", 1.0F, arena);                                    // 6: is not the whole any more
    nanlens::op("Use", 1.0F, tensor_view(arena.data(), {10, 10, 10}));  // 7: what was written, in another shape
    arena[70'000] = 3;
    nanlens::op("Init", arena);  // 8
    for (float& v : arena) v = 5;
    nanlens::op("Use", 1.0F, slice(50'000, 40'000));  // 9: the part was changed
  });
  for (const std::size_t i : {1U, 3U}) CHECK(input(run, i) == output(run, 0));
  for (const std::size_t i : {4U, 7U}) CHECK(input(run, i) == output(run, 2));
  for (const std::size_t i : {5U, 6U}) {
    CHECK(input(run, i) != output(run, 0));
    CHECK(input(run, i) != output(run, 2));
  }
  CHECK(input(run, 9) != output(run, 8));
}

TEST_CASE("a small state, of which another op writes a part: what is left of it is still known") {
  const Recorded run([] {
    std::vector<double> state{1, 2, 3, 4, 5, 6};
    nanlens::op("Load", state);  // 0
    for (std::size_t i = 3; i < 6; ++i) state[i] += 1;
    const auto velocity = tensor_view(state.data() + 3, {3});
    nanlens::record("Accelerate", outputs(velocity), inputs(velocity));  // 1
    nanlens::op("Use", 1.0, tensor_view(state.data(), {3}));             // 2
    nanlens::op("Use", 1.0, velocity);                                   // 3
  });
  CHECK(input(run, 2) == output(run, 0));
  CHECK(input(run, 3) == output(run, 1));
}

TEST_CASE("memory of a tensor that was freed: what others keep there is no part of it") {
  const Recorded run([] {
    std::vector<float> pool(4096, 1.0F);
    auto whole = tensor_view(pool.data(), {4096});
    nanlens::op("Make", whole);                                      // 0
    nanlens::op("Use", 1.0F, tensor_view(pool.data() + 100, {10}));  // 1: none of the sampled words is in it
    pool[0] = 2;                                                     // as an allocator does that takes it back
    nanlens::op("Use", 1.0F, tensor_view(pool.data() + 100, {10}));  // 2
  });
  CHECK(input(run, 1) == output(run, 0));
  CHECK(input(run, 2) != output(run, 0));
}

TEST_CASE("columns of a matrix: what lies between the elements belongs to others") {
  const Recorded run([] {
    Vector m(12, 1.0F);
    const auto column = [&](std::size_t i) { return TensorView{m.data() + i, DType::float32, {4}, {3}, cpu_device}; };
    auto first = column(0);
    nanlens::op("Column", first);                              // 0
    nanlens::op("Use", 1.0F, tensor_view(m.data() + 1, {2}));  // 1: of the other columns
    nanlens::op("Use", 1.0F, column(0));                       // 2
    nanlens::op("Use", 1.0F, tensor_view(m.data(), {10}));     // 3: the same range, other bytes
    nanlens::op("Whole", m);                                   // 4
    nanlens::op("Use", 1.0F, column(2));                       // 5: a part
    m[7] = 2;                                                  // not an element of it
    nanlens::op("Use", 1.0F, column(2));                       // 6
  });
  CHECK(input(run, 1) != output(run, 0));
  CHECK(input(run, 2) == output(run, 0));
  CHECK(input(run, 3) != output(run, 0));
  CHECK(input(run, 5) == output(run, 4));
  CHECK(input(run, 6) == output(run, 4));
}

TEST_CASE("return nanlens::op(name, local, …): the copy that a caller gets is the same tensor") {
  const Recorded run([] {
    const Vector x = nanlens::op("Data", Vector{1, 2, 3});  // 0
    const Vector a = logs(x);                               // 1
    const Vector b = logs(a);                               // 2
    nanlens::op("Use", 1.0F, a, b);                         // 3
    nanlens::op("Use", 1.0F, Vector{1, 2, 4});              // 4: nobody's
    const Vector ones = nanlens::op("Ones", Vector{1, 1});  // 5
    const Vector same{1, 1};
    nanlens::op("Use", 1.0F, same);  // 6: like many others: no copy
    const auto call = [](const Vector& v) {
      Function f("call", arg("v", v));
      Vector y{v[0] + 1, v[1] + 5};
      return f.result(f.op("Add", y, v));
    };
    const Vector c = call(x);     // 7
    nanlens::op("Use", 1.0F, c);  // 8
  });
  CHECK(input(run, 2) == output(run, 1));
  CHECK(input(run, 3, 0) == output(run, 1));
  CHECK(input(run, 3, 1) == output(run, 2));
  for (std::size_t i = 0; i < 4; ++i) CHECK(input(run, 4) != output(run, i));
  CHECK(input(run, 6) != output(run, 5));
  CHECK(input(run, 8) == output(run, 7));
}

TEST_CASE("what holds its elements itself, and constants that can't be moved from: the copy is the same tensor") {
  using Pair = std::array<double, 2>;
  using Matrix = std::array<Pair, 2>;
  const Recorded run([] {
    const auto transposed = [](const Matrix& m) {
      return nanlens::op("Transpose", Matrix{{{m[0][0], m[1][0]}, {m[0][1], m[1][1]}}}, m);
    };
    Matrix p = nanlens::op("Make", Matrix{{{1, 2}, {3, 4}}});  // 0
    const Matrix t = transposed(p);                            // 1
    nanlens::op("Use", 1.0F, t, p);                            // 2: they differ off the diagonal alone
    p = nanlens::op("Update", Matrix{{{5, NAN}, {6, 7}}}, p);  // 3: into memory where another result was found
    nanlens::op("Use", 1.0F, p);                               // 4
    p[1][1] = 8;
    nanlens::op("Use", NAN, p);  // 5: nobody made the whole of it, but its NaN is the one that was recorded
    const auto constant = []() -> const Vector { return {1, 2, 3}; };
    const Vector v = nanlens::op("Eval", constant());  // 6: as Eigen's eval() gives them
    nanlens::op("Use", 1.0F, v);                       // 7
    const auto call = [](const Matrix& m) {
      Function f("call", arg("m", m));
      return f.result(f.op("Scale", Matrix{{{m[0][0], 8}, {9, 10}}}, m));
    };
    const Matrix c = call(p);     // 8
    nanlens::op("Use", 1.0F, c);  // 9
    p[0][1] = p[1][1] = NAN;
    nanlens::op("Use", NAN, p);  // 10: no memory of an argument that was changed
  });
  CHECK(input(run, 1) == output(run, 0));
  CHECK(input(run, 2, 0) == output(run, 1));
  CHECK(input(run, 2, 1) == output(run, 0));
  CHECK(input(run, 3) == output(run, 0));
  CHECK(input(run, 4) == output(run, 3));
  CHECK(input(run, 5) != output(run, 3));
  CHECK(run->execution(5)->extension.input_evidence.at(0).origin == TensorOrigin::holds);
  CHECK(input(run, 7) == output(run, 6));
  CHECK(input(run, 9) == output(run, 8));
  CHECK(run->execution(10)->extension.input_evidence.at(0).origin != TensorOrigin::changed);
}

TEST_CASE("numbers that lie somewhere are known by their address while they hold the same") {
  const Recorded run([] {
    struct Node {
      double value = 0;
    } a, b;
    a.value = 2.5;
    nanlens::record("Leaf", outputs(a.value), inputs());  // 0
    b.value = std::log(a.value);
    nanlens::record("Log", outputs(b.value), inputs(a.value));  // 1
    nanlens::op("Use", 1.0F, b.value);                          // 2
    b.value = 3;
    nanlens::op("Use", NAN, b.value);  // 3: another number, not one that was changed
    int count = 4;
    nanlens::record("Count", outputs(count), inputs());  // 4
    nanlens::op("Use", 1.0F, count);                     // 5: is never bad, and not told apart
  });
  CHECK(input(run, 1) == output(run, 0));
  CHECK(input(run, 2) == output(run, 1));
  CHECK(input(run, 3) != output(run, 1));
  CHECK(run->execution(3)->extension.input_evidence.at(0).origin == TensorOrigin::not_recorded);
  CHECK(input(run, 5) != output(run, 4));
}

TEST_CASE("a target that nobody declared is a variable") {
  const Recorded run([] {
    Vector w{1, 2};
    nanlens::forget(w.data(), w.size() * sizeof(float));  // an earlier test may have declared it
    for (int step = 0; step < 2; ++step) {
      const Vector g = nanlens::op("Gradient", Vector{0.5F, NAN}, w);  // 0 and 2
      w[0] += g[0];
      nanlens::record("Sgd", nanlens::outputs(), nanlens::inputs(nanlens::target(w), g));  // 1 and 3
    }
    nanlens::forget(w.data(), w.size() * sizeof(float));
  });
  REQUIRE(run->execution(1)->extension.variable_ids.size() == 1);
  CHECK(run->execution(3)->extension.variable_ids == run->execution(1)->extension.variable_ids);
  CHECK(static_cast<std::uint64_t>(input(run, 3)) == run->execution(1)->extension.variable_ids.front());
}

TEST_CASE("arguments keep their identity over a call, parts of an arena too") {
  const Recorded run([] {
    Vector arena(400, 1.0F);
    nanlens::op("Init", arena);  // 0
    const auto part = tensor_view(arena.data() + 50, {20});
    {
      Function f("f", arg("part", part));
      f.result(f.op("Neg", Vector{-1}, part));
    }  // 1
    nanlens::op("Use", 1.0F, part);   // 2
    nanlens::op("Use", 1.0F, arena);  // 3
  });
  CHECK(input(run, 1) == output(run, 0));
  CHECK(input(run, 2) == output(run, 0));
  CHECK(input(run, 3) == output(run, 0));
}

TEST_CASE("inputs of a scope, and what a callable takes apart, need not last") {
  const Recorded run([] {
    Vector x{1, 2, 3};
    nanlens::op("Load", x);  // 0
    auto gone = std::make_unique<Vector>(Vector{NAN, 1});
    nanlens::forget(gone->data(), gone->size() * sizeof(float));  // an earlier test may have recorded there
    OpScope scope("Sum", nanlens::inputs(x, *gone));
    gone.reset();
    Vector y{NAN};
    scope.finish(nanlens::outputs(y));  // 1
    Vector sorted = nanlens::op(
        "Sort",
        [&] {
          for (float& v : x) v = NAN;
          return Vector(std::move(x));
        },
        x);  // 2
  });
  const auto scope = run->execution(1)->extension.input_evidence;
  REQUIRE(scope.size() == 2);
  CHECK(scope[0].origin == TensorOrigin::recorded);
  CHECK(scope[0].counts == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 3});
  CHECK(scope[1].origin == TensorOrigin::not_recorded);
  CHECK(scope[1].counts == std::vector<std::uint64_t>{0, 0, 1, 0, 0, 1});  // as it began
  const auto sort = run->execution(2)->extension.input_evidence;
  REQUIRE(sort.size() == 1);
  CHECK(input(run, 2) == output(run, 0));
  CHECK_FALSE(sort[0].looked_at);  // the op itself wrote over it
}
