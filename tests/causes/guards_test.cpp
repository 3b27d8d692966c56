// What a program guards by a choice or a bound: expected where it takes nothing bad, whatever comes later.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../capture/recorded.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::ask;
using test::infinity;
using test::not_a_number;
using test::Recorded;
using test::WhyAnswer;
using Vector = std::vector<float>;
using Integers = std::vector<std::int64_t>;

namespace {

Vector zero_and_one() { return op("Data", Vector{0, 1}); }
Vector logarithm(const Vector& x) { return op("Log", Vector{-infinity, 0}, x); }

// Four bad tensors.
Vector handed_on_logarithm(Function& f, const Vector& x) {
  Vector y = f.op("Log", Vector{-infinity, 0}, x);
  for (int i = 0; i < 3; ++i) y = f.op("Neg", Vector{i % 2 == 0 ? infinity : -infinity, 0}, y);
  return y;
}

// log(x), of which an op makes zeros, and later perhaps 0/0.
WhyAnswer guarded_by(const char* guard, bool then_divides = false) {
  return ask(*Recorded([&] {
    const Vector x = zero_and_one();
    const Vector y = op(guard, Vector{0, 0}, logarithm(x));
    if (!then_divides) return;
    for (int i = 0; i < 8; ++i) op("Step", Vector{1}, op("Data", Vector{1}));
    op("Neg", Vector{not_a_number, 0}, op("RealDiv", Vector{not_a_number, 0}, y, op("Sub", Vector{0, 1}, y, x)));
  }));
}

// log(x) as an index, which a choice replaces where it is none; `used`: by something else, too.
WhyAnswer as_integers(bool chosen, bool used = false) {
  return ask(*Recorded([&] {
    const Vector x = zero_and_one();
    const Integers small = op("Compare", Integers{1, 0}, x);
    const Integers index = op("Cast", Integers{std::numeric_limits<std::int64_t>::min(), 0}, logarithm(x));
    const Integers least = op("Minimum", Integers{std::numeric_limits<std::int64_t>::min(), 0}, index);
    if (chosen) op("SelectV2", Integers{0, 0}, small, small, least);
    if (used) op("Gather", Vector{1, 1}, least);
  }));
}

}  // namespace

TEST_CASE("what a choice or a bound has left out is expected") {
  for (const char* const guard :
       {"SelectV2", "MulNoNan", "aten::where", "aten::nan_to_num", "aten::clamp", "aten::masked_fill"}) {
    CAPTURE(guard);
    const WhyAnswer a = guarded_by(guard);
    CHECK(a.causes == 0);
    CHECK(a.expected == 1);
  }
  for (const char* const other : {"Relu", "Softmax", "Sigmoid"}) {
    CAPTURE(other);
    CHECK(guarded_by(other).causes == 1);
    CHECK(guarded_by(other).op_type == "Log");
  }
}

TEST_CASE("bounds and nan_to_num leave infinities out; a NaN that does not pass them is a cause") {
  for (const char* const guard : {"aten::clamp", "aten::nan_to_num", "aten::where"})
    for (const bool nan : {false, true}) {
      CAPTURE(guard);
      CAPTURE(nan);
      const WhyAnswer a = ask(*Recorded([&] {
        const Vector y = op("Sqrt", Vector{nan ? not_a_number : infinity, 0}, op("Data", Vector{-1, 0}));
        op(guard, Vector{0, 0}, y);
      }));
      CHECK(a.causes == (nan && std::string(guard) != "aten::where" ? 1 : 0));
    }
}

TEST_CASE("a NaN that is looked for is a cause, though a choice replaces it") {
  for (const bool in_graph : {false, true}) {
    CAPTURE(in_graph);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = op("Data", Vector{-1, 0});
      std::optional<Function> f;
      if (in_graph) f.emplace("f", arg("x", x));
      const auto made = [&](const char* type, const auto& y, const auto&... inputs) {
        return f ? f->op(type, y, inputs...) : op(type, y, inputs...);
      };
      const Vector y = made("Sqrt", Vector{not_a_number, 0}, x);
      const Integers is_nan = made("IsNan", Integers{1, 0}, y);
      const Vector z = made("SelectV2", Vector{0, 0}, is_nan, x, y);
      if (f) f->result(z);
    }));
    CHECK(a.causes == 1);
    CHECK(a.op_type == "Sqrt");
  }
}

TEST_CASE("TensorFlow clips by two ops") {
  const WhyAnswer a = ask(
      *Recorded([] { op("Maximum", Vector{-9, 0}, op("Minimum", Vector{-infinity, 0}, logarithm(zero_and_one()))); }));
  CHECK(a.causes == 0);
  CHECK(a.expected == 1);
}

TEST_CASE("a part that was written goes on in the whole; of two tensors that one op writes, each by itself") {
  for (const char* const type : {"aten::log_", "aten::_foreach_log_"}) {
    CAPTURE(type);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = op("Data", Vector{0, 1, 1});
      const Vector by = op("Data", Vector{0, 1});
      Vector part{-infinity, 0};
      Vector whole{-infinity, 0, 1};
      record(type, outputs(part, whole), inputs(by, x));
      const Integers small = op("Compare", Integers{1, 0, 0}, x);
      op("aten::where", Vector{0, 0, 1}, small, x, whole);
    }));
    CHECK(a.causes == (std::string(type) == "aten::_foreach_log_" ? 1 : 0));
    CHECK(a.expected == 1);
  }
}

TEST_CASE("what met something else was left out if that was") {
  for (const bool guarded : {false, true})
    for (const bool in_turn : {false, true}) {
      CAPTURE(guarded);
      CAPTURE(in_turn);
      const WhyAnswer a = ask(*Recorded([&] {
        const Vector x = zero_and_one();
        const Vector y = zero_and_one();
        const Vector z = zero_and_one();
        const Vector one = logarithm(x);
        const Vector two = logarithm(y);
        Vector sum = op("AddV2", Vector{-infinity, 0}, one, two);
        if (in_turn) sum = op("AddV2", Vector{-infinity, 0}, sum, logarithm(z));
        const Integers small = op("Compare", Integers{1, 0}, x);
        if (guarded)
          op("SelectV2", Vector{0, 0}, small, x, sum);
        else
          op("Neg", Vector{infinity, 0}, sum);
      }));
      CHECK(a.causes == (guarded ? 0 : in_turn ? 3 : 2));
      CHECK(a.expected == (!guarded ? 0 : in_turn ? 3 : 2));
    }
}

TEST_CASE("what a choice left out in part, and which met a cause elsewhere, is no more left out than that") {
  const WhyAnswer a = ask(*Recorded([] {
    const Vector x = zero_and_one();
    const Vector y = zero_and_one();
    const Vector first = op("RealDiv", Vector{infinity, 1}, y, y);
    const Vector log = logarithm(x);
    const Integers small = op("Compare", Integers{1, 0}, x);
    op("SelectV2", Vector{0, 0}, small, x, log);
    op("AddV2", Vector{NAN, 1}, first, log);
  }));
  CHECK(a.causes == 2);
  CHECK(a.expected == 0);
}

TEST_CASE("what is gone again does not lead before what stays") {
  for (const char* const guard : {"SelectV2", "Relu"}) {
    CAPTURE(guard);
    const WhyAnswer a = guarded_by(guard, true);
    CHECK(a.op_type == "RealDiv");
    CHECK(a.causes == (std::string(guard) == "Relu" ? 2 : 1));
  }
}

TEST_CASE("of one call, what is gone again does not lead before what stays, however much followed from it") {
  for (const bool stays : {false, true}) {
    CAPTURE(stays);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector z = op("Data", Vector{2, 0});
      const Vector x = zero_and_one();
      Function f("f", arg("x", x), arg("z", z));
      const Vector y = handed_on_logarithm(f, x);
      const Vector bounded = f.op("Tanh", Vector{1, 0}, y);
      const Vector share = f.op("RealDiv", Vector{0.5F, infinity}, bounded, z);
      f.result(stays ? f.op("AddV2", Vector{infinity, infinity}, share, y) : share);
    }));
    CHECK(a.causes == 2);
    CHECK(a.op_type == (stays ? "Log" : "RealDiv"));
  }
}

TEST_CASE("of one call, what its function gives back leads before what it does not, however much followed from that") {
  for (const bool both : {false, true}) {
    CAPTURE(both);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector z = op("Data", Vector{2, 0});
      const Vector x = zero_and_one();
      Function f("f", arg("x", x), arg("z", z));
      const Vector y = handed_on_logarithm(f, x);
      f.result(f.op("Reciprocal", Vector{0.5F, infinity}, z));
      if (both) f.result(y);
    }));
    CHECK(a.causes == 2);
    CHECK(a.op_type == (both ? "Log" : "Reciprocal"));
  }
}

TEST_CASE("of two ops that fail on the same zeros the one leads whose result no choice leaves out") {
  for (const bool in_graph : {false, true})
    for (const bool used : {false, true}) {
      CAPTURE(in_graph);
      CAPTURE(used);
      const WhyAnswer a = ask(*Recorded([&] {
        const Vector x = zero_and_one();
        std::optional<Function> f;
        if (in_graph) f.emplace("f", arg("x", x));
        const auto made = [&](const char* type, auto&& y, const auto&... inputs) {
          return f ? f->op(type, std::move(y), inputs...) : op(type, std::move(y), inputs...);
        };
        const Integers small = made("Compare", Integers{1, 0}, x);
        const Vector y = made("Log", Vector{-infinity, 0}, x);
        const Vector z = made("SelectV2", Vector{0, 0}, small, x, y);
        const Vector share = made("Reciprocal", Vector{infinity, 1}, x);
        const Vector sum = made("AddV2", Vector{infinity, 1}, share, z);
        const Vector last = used ? made("Neg", Vector{infinity, 0}, y) : sum;
        if (f) f->result(last);
      }));
      CHECK(a.causes == 1);
      CHECK(a.op_type == (used ? "Log" : "Reciprocal"));
      CHECK(a.reach == (used ? 4 : 3) + (in_graph ? 1 : 0));  // of a call its result, too
    }
}

TEST_CASE("the zeros of a softmax are an underflow's only if what it was given is known to be finite") {
  const auto told = [&](const Vector& given, bool recorded) {
    return ask(*Recorded([&] {
             const Vector x = recorded ? op("Data", Vector(given)) : given;
             op("Log", Vector{-infinity, 0}, op("Softmax", Vector{0, 1}, x));
           }))
        .text;
  };
  CHECK(told({-200, 0}, true).find("because Softmax underflowed to 0") != std::string::npos);
  CHECK(told({-200, 0}, false).find("where Softmax gave 0") != std::string::npos);
  CHECK(told({-infinity, 0}, true).find("where Softmax gave 0") != std::string::npos);
}

TEST_CASE("an op that divides by other zeros has not failed on those of what it divides") {
  for (const bool by_its_own : {false, true}) {
    CAPTURE(by_its_own);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = zero_and_one();
      const Vector z = op("Data", Vector{2, 0});
      const Vector y = logarithm(x);
      const Vector share =
          by_its_own ? op("RealDiv", Vector{not_a_number, 1}, x, x) : op("RealDiv", Vector{0, infinity}, x, z);
      op("AddV2", Vector{not_a_number, infinity}, share, y);
    }));
    CHECK(a.causes == (by_its_own ? 1 : 2));
  }
}

TEST_CASE("what follows from one of two ops that failed alike is not said to follow from the other") {
  const Recorded recorded([] {
    const Vector x = zero_and_one();
    const Vector y = logarithm(x);
    op("Neg", Vector{-infinity, -1}, op("Reciprocal", Vector{infinity, 1}, x));
  });
  causes::Causes causes(*recorded);
  test::finish(causes, 3);
  REQUIRE(causes.roots().size() == 1);
  const auto chain = causes.chain(causes.event_of(causes.total() - 1));
  REQUIRE(chain.size() == 2);
  CHECK(causes.model().op_type(chain[0].event) == "Reciprocal");
  CHECK(causes.model().op_type(chain[1].event) == "Neg");
}

TEST_CASE("what a choice left out is expected, where another op that failed alike leads") {
  for (const bool used : {false, true}) {
    CAPTURE(used);
    const Recorded recorded([&] {
      const Vector x = zero_and_one();
      const Integers small = op("Compare", Integers{1, 0}, x);
      const Vector y = logarithm(x);
      op("SelectV2", Vector{0, 0}, small, x, y);
      op("Neg", Vector{-infinity, -1}, op("Reciprocal", Vector{infinity, 1}, x));
      if (used) op("Neg", Vector{infinity, 0}, y);
    });
    causes::Causes causes(*recorded);
    test::finish(causes, 3);
    REQUIRE(causes.total() == (used ? 4 : 3));
    CHECK((causes.event_class(causes.event_of(0)) == causes::EventClass::expected) == !used);
    CHECK(causes.did_no_harm(0) == !used);
    CHECK(causes.event_class(causes.event_of(1)) == causes::EventClass::producer);
    CHECK_FALSE(causes.did_no_harm(1));
  }
}

TEST_CASE("of two ops that fail on the same zeros the one leads of which something was made") {
  for (const bool dead : {false, true}) {
    CAPTURE(dead);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = zero_and_one();
      const Vector y = logarithm(x);
      const Vector share = op("Reciprocal", Vector{infinity, 1}, x);
      op("Neg", Vector{-infinity, -1}, share);
      if (!dead) op("Neg", Vector{infinity, 0}, y);
    }));
    CHECK(a.causes == 1);
    CHECK(a.op_type == (dead ? "Reciprocal" : "Log"));
  }
}

TEST_CASE("a choice leaves out no gradient that has failed, too") {
  for (const bool gradient : {false, true}) {
    CAPTURE(gradient);
    const WhyAnswer a = ask(*Recorded([&] {
      const auto made = [](const char* type, const char* name, const Vector& y, const auto&... x) {
        record({type, name}, outputs(y), inputs(x...));  // all of one line
      };
      const Vector x = op("aten::data", Vector{0, 1}), y{-infinity, 0}, zeros{0, 0}, share{infinity, 1};
      made("aten::log", "", y, x);
      made("aten::where", "", zeros, x, y);
      made("aten::reciprocal", "", share, x);
      const Vector slope{not_a_number, 0};
      if (gradient) made("aten::div", "LogBackward0", slope, zeros, x);
    }));
    CHECK(a.causes == 1);
    CHECK(a.op_type == (gradient ? "aten::log" : "aten::reciprocal"));
  }
}

TEST_CASE("integers of an infinity are expected where a choice takes of them, and nothing else does") {
  CHECK(as_integers(true).expected == 1);
  CHECK(as_integers(true).causes == 0);
  CHECK(as_integers(false).causes == 1);
  CHECK(as_integers(true, true).causes == 1);
  CHECK(as_integers(false, true).causes == 1);
}

TEST_CASE("where ops are not on record, what comes in later may be what a choice has left out") {
  for (const char* const guard : {"SelectV2", "aten::where"}) {
    CAPTURE(guard);
    const bool every_op = std::string(guard) == "aten::where";
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = op(every_op ? "aten::data" : "Data", Vector{0, 1});
      const Vector y = op(every_op ? "aten::log" : "Log", Vector{-infinity, 0}, x);
      op(guard, Vector{0, 0}, y);
      op(every_op ? "aten::neg" : "Neg", Vector{not_a_number, 0}, Vector{not_a_number, 0});
    }));
    CHECK(a.expected == (every_op ? 1 : 0));
    CHECK(a.causes == (every_op ? 1 : 2));
    CHECK(a.op_type == (every_op ? "aten::neg" : "Log"));
  }
}

TEST_CASE("what looks at a shape alone removes nothing") {
  for (const char* const op_type : {"Shape", "Size", "Rank", "ZerosLike", "OnesLike", "aten::zeros_like", "Sigmoid"}) {
    CAPTURE(op_type);
    const WhyAnswer a = guarded_by(op_type);
    CHECK(a.removed == (op_type == std::string("Sigmoid") ? 1 : 0));
    CHECK(a.causes == 1);
  }
}
