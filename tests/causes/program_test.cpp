// Small programs with a known culprit, recorded by nanlens: the counterparts of programs.py.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <nanlens/causes/near_miss.hpp>
#include <nanlens/causes/sentence.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::ask;
using test::infinity;
using test::not_a_number;
using test::Recorded;
using test::WhyAnswer;
using Vector = std::vector<float>;

namespace {

template <class Map>
Vector map(const Vector& x, Map&& f) {
  Vector y;
  for (const float v : x) y.push_back(f(v));
  return y;
}
Vector zip(const Vector& a, const Vector& b, const std::function<float(float, float)>& f) {
  Vector y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(f(a[i], b[i]));
  return y;
}
Vector log_of(Function& f, const Vector& x) {
  return f.op("Log", map(x, [](float v) { return std::log(v); }), x);
}
Vector plus(Function& f, const Vector& a, const Vector& b) {
  return f.op("Add", zip(a, b, [](float x, float y) { return x + y; }), a, b);
}
Vector times(Function& f, const Vector& a, const Vector& b) {
  return f.op("Mul", zip(a, b, [](float x, float y) { return x * y; }), a, b);
}
Vector start(const Vector& values) { return nanlens::op("Data", Vector(values)); }

struct Program {
  const char* name;
  const char* op_type;
  const char* id;
  void (*run)();
};

const Program programs[] = {
    {"log of zero", "Log", "log0",
     [] {
       const Vector x = start({0, 1, 2});
       Function f("f", arg("x", x));
       const Vector y = log_of(f, x);
       f.result(times(f, y, y));
     }},
    {"log of a negative number", "Log", "logneg",
     [] {
       const Vector x = start({-1, 1});
       Function f("f", arg("x", x));
       f.result(log_of(f, x));
     }},
    {"division by zero", "RealDiv", "div0",
     [] {
       const Vector a = start({1, 2});
       const Vector b = start({0, 2});
       Function f("f", arg("a", a), arg("b", b));
       f.result(f.op("RealDiv", zip(a, b, [](float x, float y) { return x / y; }), a, b));
     }},
    {"zero by zero", "Div", "div00",
     [] {
       const Vector a = start({0, 2});
       Function f("f", arg("a", a));
       f.result(f.op("Div", zip(a, a, [](float x, float y) { return x / y; }), a, a));
     }},
    {"exp", "Exp", "exp",
     [] {
       const Vector a = start({100, 2});
       Function f("f", arg("a", a));
       f.result(f.op("Exp", map(a, [](float v) { return std::exp(v); }), a));
     }},
    {"overflow of a product, then ∞ − ∞", "Mul", "overflow",
     [] {
       const Vector a = start({1e30F, 2});
       Function f("f", arg("a", a));
       const Vector b = times(f, a, a);
       f.result(f.op("Sub", zip(b, b, [](float x, float y) { return x - y; }), b, b));
     }},
    {"square root", "Sqrt", "sqrtneg",
     [] {
       const Vector a = start({-1, 4});
       Function f("f", arg("a", a));
       f.result(f.op("Sqrt", map(a, [](float v) { return std::sqrt(v); }), a));
     }},
    {"reciprocal root", "Rsqrt", "rsqrt0",
     [] {
       const Vector a = start({0, 4});
       Function f("f", arg("a", a));
       f.result(f.op("Rsqrt", map(a, [](float v) { return 1 / std::sqrt(v); }), a));
     }},
    {"mean of nothing", "Mean", "empty",
     [] {
       const Vector a = start({});
       Function f("f", arg("a", a));
       f.result(f.op("Mean", Vector{std::nanf("")}, a));
     }},
    {"eager", "Log", "log0",
     [] {
       const Vector x = start({0, 1});
       const Vector y = nanlens::op("Log", map(x, [](float v) { return std::log(v); }), x);
       nanlens::op("Mul", map(y, [](float v) { return v * 0; }), y);
     }},
    {"nested, called twice: the second call is the bad one", "Log", "log0",
     [] {
       const Vector x = start({1, 2});
       const auto inner = [](const Vector& v) {
         Function g("inner", arg("v", v));
         return g.result(log_of(g, v));
       };
       Function f("f", arg("x", x));
       const Vector a = inner(plus(f, x, x));
       const Vector zeros = f.op("Sub", zip(x, x, [](float p, float q) { return p - q; }), x, x);
       const Vector b = inner(zeros);
       f.result(plus(f, a, b));
     }},
    {"three deep", "Log", "log0",
     [] {
       const Vector x = start({0, 2});
       Function f("outer", arg("x", x));
       const auto middle = [&] {
         Function g("middle", arg("x", x));
         const auto inner = [&] {
           Function h("inner", arg("x", x));
           return h.result(log_of(h, x));
         };
         const Vector y = inner();
         return g.result(plus(g, y, y));
       };
       const Vector y = middle();
       f.result(plus(f, y, x));
     }},
    {"in-place update of a variable, read by a later call", "Log", "log0",
     [] {
       Vector w{1, 2};
       nanlens::variable(w);
       for (int step = 0; step < 3; ++step) {
         const Vector x = start({step == 1 ? 0.0F : 1.0F, 1});
         Vector g;
         {
           Function f("gradient", arg("x", x));
           g = f.result(log_of(f, x));
         }
         {
           Function f("forward", arg("x", x));
           const Vector& v = f.op({"ReadVariableOp", "read"}, w);
           f.result(times(f, v, x));
         }
         for (std::size_t i = 0; i < w.size(); ++i) w[i] += g[i];
         nanlens::record("Sgd", nanlens::outputs(), nanlens::inputs(nanlens::target(w), g));
       }
     }},
    {"a variable written through an output", "Log", "log0",
     [] {
       Vector w{1, 2};
       nanlens::variable(w);
       for (int step = 0; step < 3; ++step) {
         const Vector x = start({step == 0 ? 0.0F : 1.0F, 1});
         Function f("step", arg("x", x), arg("w", w));
         const Vector y = log_of(f, x);
         for (std::size_t i = 0; i < w.size(); ++i) w[i] += y[i];
         nanlens::record("AssignAdd", nanlens::outputs(w), nanlens::inputs(w, y));
       }
     }},
    {"bad data from outside", "Placeholder", "data",
     [] {
       const Vector x{std::nanf(""), 1};
       Function f("f", arg("x", x));
       f.result(plus(f, x, x));
     }},
    {"a constant that holds NaN", "Const", "const",
     [] {
       const Vector x = start({1, 1});
       Function f("f", arg("x", x));
       const Vector c = f.op({"Const", "table"}, Vector{std::nanf(""), 1});
       f.result(times(f, x, c));
     }},
    {"all of a row masked", "Softmax", "allmasked",
     [] {
       const Vector x = start({1, 1});
       Function f("f", arg("x", x));
       const Vector mask = f.op({"Const", "mask"}, Vector{-infinity, -infinity});
       const Vector y = plus(f, x, mask);
       f.result(f.op("Softmax", Vector{std::nanf(""), std::nanf("")}, y));
     }},
    {"the same line gets other tensors the next time", "Log", "log0",
     [] {
       const Vector x = start({0, 1});
       Function f("f", arg("x", x));
       Vector y = x;
       for (int i = 0; i < 3; ++i) {
         const Vector& from = i == 2 ? x : y;
         y = i == 2 ? log_of(f, from) : plus(f, x, x);
       }
       f.result(y);
     }},
};

}  // namespace

TEST_CASE("right op, right sentence, everything explained") {
  for (const Program& p : programs) {
    CAPTURE(p.name);
    const Recorded run([&] { p.run(); });
    const WhyAnswer a = ask(*run);
    CHECK_MESSAGE(a.op_type == p.op_type, a.text);
    CHECK_MESSAGE(a.id == p.id, a.text);
    CHECK(a.causes == 1);
    CHECK(a.reach == a.total);
    CHECK(a.total > 0);
  }
}

// What the program says when it is recorded in the modes that record less: nanlens has seen what is bad in each.
template <class Program, class Check>
void in_other_modes(const Program& program, const Check& check) {
  for (const TensorDebugMode mode : {TensorDebugMode::concise_health, TensorDebugMode::curt_health}) {
    CAPTURE(static_cast<int>(mode));
    check(ask(*Recorded(program, [&](DumpOptions& o) { o.tensor_debug_mode = mode; })));
  }
}

TEST_CASE("CONCISE_HEALTH and CURT_HEALTH: the same answers") {
  for (const Program& p : programs) {
    CAPTURE(p.name);
    const WhyAnswer full = ask(*Recorded([&] { p.run(); }));
    in_other_modes([&] { p.run(); },
                   [&](const WhyAnswer& a) {
                     CHECK(a.text == full.text);
                     CHECK_MESSAGE(a.id == p.id, a.text);
                     CHECK(a.causes == 1);
                     CHECK(a.reach == full.reach);
                   });
  }
}

TEST_CASE("a mask that does no harm is expected, not a cause") {
  const auto program = [] {
    const Vector x = start({1, 2});
    Function f("attention", arg("x", x));
    const Vector mask = f.op({"Const", "mask"}, Vector{-infinity, 0});
    const Vector y = plus(f, x, mask);
    f.result(f.op("Softmax", Vector{0, 1}, y));
  };
  const auto check = [](const WhyAnswer& a) {
    CHECK(a.id.empty());
    CHECK(a.expected == 1);
    CHECK(a.removed == 1);
  };
  check(ask(*Recorded(program)));
  in_other_modes(program, check);
}

TEST_CASE("a mask that did no harm in one call is no excuse for the NaN that comes of it in the next") {
  const Recorded run([] {
    for (const bool all : {false, true}) {
      const Vector x = start({1, 2});
      Function f("attention", arg("x", x));
      const Vector mask = f.op({"Const", "mask"}, all ? Vector{-infinity, -infinity} : Vector{-infinity, 0});
      const Vector y = plus(f, x, mask);
      f.result(f.op("Softmax", all ? Vector{not_a_number, not_a_number} : Vector{0, 1}, y));
    }
  });
  const WhyAnswer a = ask(*run);
  CHECK(a.id == "allmasked");
  CHECK(a.causes == 1);
  CHECK(a.expected == 1);
  CHECK(a.removed == 1);
}

namespace {

// sigmoid(log(x)), where the logarithm is −∞ in places.
WhyAnswer through_logarithms(const char* maker, const Vector& x) {
  return ask(*Recorded([&] {
    const Vector data = start(Vector(x.size(), 0.5F));
    Function f("f", arg("data", data));
    const bool constant = std::string(maker) == "Const";
    const Vector y = constant ? f.op({maker, "x"}, Vector(x)) : f.op({maker, "x"}, Vector(x), data);
    f.result(f.op("Sigmoid", Vector(x), log_of(f, y)));
  }));
}
Vector zeros_and(float other, std::size_t size) {
  Vector x(size, 0);
  for (std::size_t i = 0; i < size; i += 3) x[i] = other;
  return x;
}

// log(sum(exp(x − max))) of two rows, of which the second is −∞ throughout.
WhyAnswer log_sum(const Vector& x, const Vector& exp, const Vector& sum, const Vector& log) {
  return ask(*Recorded([&] {
    const Vector data = start(Vector(x.size(), 1));
    Function f("f", arg("data", data));
    const Vector mask = f.op({"Const", "mask"}, Vector(x));
    const Vector masked = f.op("Sub", Vector(x), mask, data);
    const Vector powers = f.op("Exp", Vector(exp), masked);
    const Vector sums = f.op("Sum", Vector(sum), powers);
    const Vector logs = f.op("Log", Vector(log), sums);
    f.result(f.op("Maximum", Vector{0, 0}, logs));
  }));
}

}  // namespace

TEST_CASE("a mask for logarithms of probabilities is expected: of a constant, or of many zeros and ones") {
  CHECK(through_logarithms("Const", {0}).expected == 1);
  CHECK(through_logarithms("Const", {0}).causes == 0);
  CHECK(through_logarithms("Cast", zeros_and(1, 16)).expected == 1);
  CHECK(through_logarithms("Cast", zeros_and(1, 16)).causes == 0);
  CHECK(through_logarithms("Cast", zeros_and(1, 4)).causes == 1);      // by chance
  CHECK(through_logarithms("Cast", zeros_and(2, 16)).causes == 1);     // no mask
  CHECK(through_logarithms("Softmax", zeros_and(1, 16)).causes == 1);  // probabilities that are certain
}

TEST_CASE("the logarithm of a sum of powers passes −∞ on, and makes it where a power became 0 by itself") {
  const Vector x{0, -1, -infinity, -infinity};
  const WhyAnswer passed = log_sum(x, {1, 0.5F, 0, 0}, {1.5F, 0}, {0.5F, -infinity});
  CHECK(passed.causes == 0);
  CHECK(passed.expected == 1);
  const WhyAnswer largest_is_0 = log_sum({0, -200, -infinity, -infinity}, {1, 0, 0, 0}, {1, 0}, {0, -infinity});
  CHECK(largest_is_0.causes == 0);
  const WhyAnswer made = log_sum({-200, -200, 1, -infinity}, {0, 0, 2, 0}, {0, 2}, {-infinity, 1});
  CHECK(made.causes == 1);
  CHECK(made.op_type == "Log");
}

TEST_CASE("a constant NaN all of which is removed is expected; not if something else was made of it") {
  for (const bool used : {false, true}) {
    CAPTURE(used);
    const Recorded run([&] {
      const Vector x = start({1, 2});
      Function f("f", arg("x", x));
      const Vector fill = f.op({"Const", "fill"}, Vector{not_a_number, not_a_number});
      if (used) f.op("Neg", Vector{not_a_number, not_a_number}, fill);
      const Vector copy = f.op("Identity", Vector{not_a_number, not_a_number}, fill);
      f.result(f.op("SelectV2", Vector{1, 2}, x, copy));
    });
    const WhyAnswer a = ask(*run);
    CHECK(a.expected == (used ? 0 : 1));
    CHECK(a.causes == (used ? 1 : 0));
  }
}

TEST_CASE("a bad weight is a cause, though the next op swallows it; an infinity that no layer takes is not") {
  for (const char* const type : {"Relu", "Attention", "LSTM", "Conv2D"})
    for (const float bad : {not_a_number, infinity}) {
      CAPTURE(type);
      CAPTURE(bad);
      const bool mask = bad == infinity && (type[0] == 'R' || type[0] == 'A');
      const WhyAnswer a = ask(*Recorded([&] {
        const Vector x = start({1, 2});
        Function f("f", arg("x", x));
        const Vector stored = f.op("Identity", Vector{1, bad}, f.op({"Const", "weight"}, Vector{1, bad}));
        const Vector weight = f.op("Transpose", Vector{1, bad}, stored);
        f.result(f.op(type, Vector{1, 2}, x, weight));
      }));
      CHECK(a.causes == (mask ? 0 : 1));
      CHECK(a.expected == (mask ? 1 : 0));
      CHECK(a.op_type == (mask ? "" : "Const"));
    }
}

TEST_CASE("an infinity that pads, and that a maximum takes away before a layer, is no weight") {
  const WhyAnswer a = ask(*Recorded([] {
    const Vector x = start({1, 2});
    Function f("f", arg("x", x));
    const Vector lowest = f.op({"Const", "lowest"}, Vector{-infinity});
    const Vector padded = f.op("PadV2", Vector{-infinity, 1, 2, -infinity}, x, lowest);
    const Vector most = f.op("MaxPool", Vector{1, 2}, padded);
    f.result(f.op("Conv2D", Vector{3, 6}, most));
  }));
  CHECK(a.causes == 0);
  CHECK(a.expected == 1);
}

TEST_CASE("what an op that chooses elements has left out is removed, whatever else it has taken") {
  const Recorded run([] {
    const Vector x = start({0, 1});
    Function f("f", arg("x", x));
    const Vector fill = f.op({"Const", "fill"}, Vector{not_a_number, not_a_number});
    const Vector y = log_of(f, x);
    const Vector chosen = f.op("SelectV2", Vector(y), y, fill);
    f.result(f.op("Neg", Vector{infinity, 0}, chosen));
  });
  const WhyAnswer a = ask(*run);
  CHECK(a.op_type == "Log");
  CHECK(a.causes == 1);
  CHECK(a.expected == 1);
  CHECK(a.removed == 1);
  CHECK(a.reach == 4);  // and the result of the call
}

TEST_CASE("what removes a NaN again is found, and is no cause") {
  const Recorded run([] {
    const Vector x = start({0, 1});
    Function f("f", arg("x", x));
    const Vector y = log_of(f, x);
    f.result(f.op("Where", Vector{0, 0}, y));
    const Vector z = f.op("DivNoNan", Vector{0, 1}, y);
    f.result(z);
  });
  causes::Causes causes(*run);
  test::finish(causes, 100);
  REQUIRE(causes.killers().size() == 2);
  CHECK(causes.roots().size() == 1);
  bool found = false;
  for (std::uint32_t row = 0; row < run->num_traces(); ++row)
    if (causes.event_class(causes::trace_event(row)) == causes::EventClass::killer) {
      found = true;
      CHECK(causes.lineage(causes::trace_event(row)).classification.inputs.at(0).state == causes::InputState::bad);
    }
  CHECK(found);
}

TEST_CASE("warning signs of tensors that are still clean") {
  const Recorded run(
      [] {
        for (const float scale : {1.0F, 1e5F, 1e38F, 0.0F}) {
          Vector x = start({scale, 2 * scale});
          Function f("f", arg("x", x));
          f.result(f.op("Relu", Vector(x), x));
        }
        const Vector x = start({1, 0, 2});
        Function f("f", arg("x", x));
        f.result(f.op("Softmax", Vector{1, 0, 0}, x));
      },
      [](DumpOptions& o) { o.statistics = true; });
  causes::Causes causes(*run);
  test::finish(causes, 100);
  const auto has = [&](std::uint32_t row, causes::NearMissKind kind) {
    for (const auto& miss : causes::near_misses(causes, causes::trace_event(row)))
      if (miss.kind == kind) return !causes::near_miss_words(miss).empty();
    return false;
  };
  using Kind = causes::NearMissKind;
  // Rows: x and Relu, four times.
  for (const Kind kind : {Kind::all_zero, Kind::near_limit, Kind::grows}) CHECK(!has(1, kind));
  CHECK(has(3, Kind::grows));
  CHECK(!has(3, Kind::near_limit));
  CHECK(has(5, Kind::near_limit));
  CHECK(has(7, Kind::all_zero));
}

TEST_CASE("a chain follows the NaN, not the infinity beside it, and tells where the one became the other") {
  const Recorded run([] {
    const Vector x = start({-infinity, -infinity});
    Function f("f", arg("x", x));
    const Vector greatest = f.op("Max", Vector(1, -infinity), x);
    const Vector rest = f.op("Sub", map(x, [&](float v) { return v - greatest[0]; }), x, greatest);
    const Vector total = f.op("Sum", Vector{rest[0] + rest[1]}, rest);
    plus(f, greatest, total);
  });
  causes::Causes causes(*run);
  test::finish(causes, 3);
  std::string steps;
  for (const causes::ChainLink& step : causes.chain(causes.event_of(causes.total() - 1))) {
    steps += std::string(causes.model().op_type(step.event));
    if (step.change != causes::Mechanism::generic)
      steps += step.change == causes::Mechanism::inf_inf ? " (∞ − ∞)" : " (?)";
    steps += ", ";
  }
  CHECK(steps == "Data, Placeholder, Sub (∞ − ∞), Sum, Add, ");
}

TEST_CASE("statistics and floating-point exceptions, where they are asked for") {
  const Recorded run(
      [] {
        const Vector x = start({-2, 0, 6});
        nanlens::op(
            "Hidden",
            [&] {  // a NaN that is made and removed inside one op
              volatile float zero = 0;
              volatile float nan = zero / zero;
              return Vector{nan != nan ? 0.0F : 1.0F};
            },
            x);
      },
      [](DumpOptions& o) { o.statistics = o.fp_flags = true; });
  const auto first = run->execution(0);
  REQUIRE(first->extension.outputs.size() == 1);
  CHECK(first->extension.outputs[0].min == -2);
  CHECK(first->extension.outputs[0].max == 6);
  CHECK(first->extension.outputs[0].mean == doctest::Approx(4.0 / 3));
  REQUIRE(first->extension.outputs[0].exponent_histogram.size() == 32);
  CHECK(first->extension.outputs[0].exponent_histogram[16] == 2);  // 2^0 … 2^8
  CHECK(first->extension.fp_flags == 0);
  CHECK((run->execution(1)->extension.fp_flags & nanlens::detail::fp_invalid) != 0);
}
