// Masks of −∞: what is expected of them, and what an op makes beside them.
#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

// A sum with a mask, which an op makes something else of.
WhyAnswer beside_mask(const char* op_type, const Vector& divisor, const Vector& result, bool in_graph) {
  return ask(*Recorded([&] {
    const Vector x = op("Data", Vector{0, 2, 3});
    const Vector by = op("Data", Vector(divisor));
    std::optional<Function> f;
    if (in_graph) f.emplace("f", arg("x", x), arg("by", by));
    const auto made = [&](const char* type, const Vector& y, const auto&... inputs) {
      return f ? f->op(type, Vector(y), inputs...) : op(type, Vector(y), inputs...);
    };
    const Vector mask = made("Const", {0, 0, -infinity});
    const Vector sum = made("Add", {0, 2, -infinity}, x, mask);
    const Vector y = made(op_type, result, sum, by);
    if (f) f->result(by);
  }));
}

}  // namespace

TEST_CASE("what an op makes of finite numbers beside a mask is its own doing") {
  for (const bool in_graph : {false, true}) {
    CAPTURE(in_graph);
    const WhyAnswer divided = beside_mask("RealDiv", {0}, {not_a_number, infinity, -infinity}, in_graph);
    CHECK(divided.op_type == "RealDiv");
    CHECK(divided.id == "div0");
    CHECK(divided.causes == 1);
    CHECK(divided.expected == 1);
    CHECK(divided.reach == 1);
    const WhyAnswer large = beside_mask("Mul", {3e38F}, {0, infinity, -infinity}, in_graph);
    CHECK(large.op_type == "Mul");
    CHECK(large.id == "overflow");
    CHECK(large.text.ends_with("made NaN or ∞: it overflowed."));  // the mask is not of its making
    const WhyAnswer sound = beside_mask("RealDiv", {2}, {0, 1, -infinity}, in_graph);
    CHECK(sound.causes == 0);
    CHECK(sound.expected == 1);
  }
}

TEST_CASE("a mask that is repeated, and two that meet, are no more than masks") {
  const WhyAnswer a = ask(*Recorded([] {
    const Vector x = op("Data", Vector{1, 2, 3, 4});
    Function f("f", arg("x", x));
    const Vector row = f.op({"Const", "row"}, Vector{-infinity, 0});
    const Vector whole = f.op({"Const", "whole"}, Vector{-infinity, -infinity, 0, 0});
    const Vector once = f.op("Add", Vector{-infinity, 2, -infinity, 4}, x, row);
    const Vector twice = f.op("Add", Vector{-infinity, -infinity, -infinity, 4}, once, whole);
    f.result(f.op("Exp", Vector{0, 0, 0, 55}, twice));
  }));
  CHECK(a.causes == 0);
  CHECK(a.expected == 2);
}

TEST_CASE("the logarithm of a mask that is only added to another mask is expected as that one is") {
  for (const bool nan : {false, true}) {
    CAPTURE(nan);
    const WhyAnswer a = ask(*Recorded([&] {
      constexpr std::size_t size = 16;
      const Vector x = op("Data", Vector(size, 1));
      Function f("f", arg("x", x));
      Vector values(size, 0);
      values[0] = -infinity;
      const Vector mask = f.op({"Const", "mask"}, Vector(values));
      const Vector masked = f.op("Add", Vector(values), x, mask);
      Vector valid(size, 1);
      valid[1] = 0;
      const Vector indicator = f.op("Cast", Vector(valid), x);
      Vector logs(size, 0);
      logs[1] = -infinity;
      const Vector log = f.op("Log", Vector(logs), indicator);
      values[1] = -infinity;
      const Vector both = f.op("Add", Vector(values), masked, log);
      f.result(nan ? f.op("Softmax", Vector(size, not_a_number), both) : f.op("Exp", Vector(size, 0), both));
    }));
    CHECK(a.causes == (nan ? 2 : 0));
    CHECK(a.expected == (nan ? 0 : 2));
  }
}

TEST_CASE("nothing is said to be expected that is the cause of a NaN another time") {
  const Recorded run([] {
    for (const bool all : {false, true}) {
      const Vector x = op("Data", Vector{1, 2});
      Function f("attention", arg("x", x));
      const Vector mask = f.op({"Const", "mask"}, all ? Vector{-infinity, -infinity} : Vector{-infinity, 0});
      const Vector y = f.op("Add", Vector(mask), x, mask);
      f.result(f.op("Softmax", all ? Vector{not_a_number, not_a_number} : Vector{0, 1}, y));
    }
  });
  causes::Causes causes(*run);
  test::finish(causes, 100);
  causes::SentenceWriter writer(causes);
  CHECK(causes.benign().size() == 1);
  CHECK(writer.groups().list().size() == 1);
  CHECK(writer.groups().expected().empty());
}

TEST_CASE(
    "a mask of lengths that an op makes, whatever it is called, is expected; a row that it leaves nothing of is not") {
  const auto masked = [](const char* maker, const char* taker, const std::vector<int>& lengths) {
    return ask(*Recorded([&] {
      std::vector<Vector> kept;  // memory that is used anew may have held another mask
      kept.reserve(2 * lengths.size());
      for (const int length : lengths) {
        const std::vector<int> n{length};
        const Vector& mask = kept.emplace_back(Vector{length > 0 ? 0 : -infinity, -infinity});
        op(maker, mask, n);
        const Vector& sum = kept.emplace_back(mask);
        op("Add", sum, op("Data", Vector{1, 2}), mask);
        op(taker, length > 0 ? Vector{1, 0, 0} : Vector(3, not_a_number), sum);
      }
    }));
  };
  for (const char* const maker : {"PaddingMask", "Where"})
    for (const char* const taker : {"Softmax", "FusedAttention"}) {
      CAPTURE(maker);
      CAPTURE(taker);
      const WhyAnswer healthy = masked(maker, taker, {1, 1});
      CHECK(healthy.text == "");
      CHECK(healthy.causes == 0);
      CHECK(healthy.expected == 2);
    }
  const WhyAnswer bad = masked("PaddingMask", "Softmax", {1, 0, 1});
  CHECK(bad.id == "allmasked");
  CHECK(bad.op_type == "Softmax");
}

TEST_CASE(
    "−∞ that an op without rules makes of numbers is no mask, unless it puts that into one of them or is called so") {
  const auto made_by = [](const char* maker, const Vector& x, const Vector& y, const Vector& z) {
    return ask(*Recorded([&] {
      const Vector first = op("Data", Vector(x));
      const Vector second = op("Data", Vector(y));
      const Vector made = op(maker, Vector(z), first, second);
      op("Softmax", Vector(z.size(), 1), made);
    }));
  };
  const Vector three{1, -2, 3};
  const Vector weights{1, 2, 3, 4};
  CHECK(made_by("Logits", three, weights, {1, -infinity}).causes == 1);               // of another size
  CHECK(made_by("Logits", three, {2, 2, 2}, {-1, -infinity, -1}).causes == 1);        // more is negative than was
  CHECK(made_by("LogLik", {0, 0, 0}, weights, Vector(3, -infinity)).causes == 1);     // nothing is left
  CHECK(made_by("Scale", {1, -1e25F, 3}, weights, {1, -infinity, 3}).causes == 1);    // so large that it overflowed
  CHECK(made_by("Counts", {0, 1, 3}, weights, {-infinity, 0, 1.1F}).causes == 1);     // where there is 0
  CHECK(made_by("Bias", {0, 0, 1}, weights, {-infinity, -infinity, 0}).causes == 0);  // a mask of 0 and 1
  CHECK(made_by("Attend", three, weights, {1, -infinity, 3}).causes == 0);            // one is taken out
  CHECK(made_by("MaskedScores", three, weights, {5, -infinity}).causes == 0);         // as it says
  CHECK(made_by("Logits", three, weights, {1, -infinity}).text.find("made −∞") != std::string::npos);
}

TEST_CASE("0 times what a mask filled in: the product is told, and what it was a product of") {
  const WhyAnswer a = ask(*Recorded([] {
    const Vector scores = op("aten::mm", Vector{1, 2, 3});
    const Vector masked = op("aten::masked_fill_", Vector{1, -infinity, 3}, scores);
    const Vector p = op("aten::_softmax", Vector{0.1F, 0, 0.9F}, masked);
    const Vector logs = op("aten::_log_softmax", Vector{-2, -infinity, -0.1F}, masked);
    op("aten::mul", Vector{-0.2F, not_a_number, -0.1F}, p, logs);
  }));
  CHECK(a.op_type == "aten::mul");
  CHECK(a.text.find(" multiplied 0 by −∞, which is NaN") != std::string::npos);
}

TEST_CASE("a mask that is made again where it lay is one again") {
  const WhyAnswer answer = ask(*Recorded([] {
    Vector mask{0, -infinity};
    for (const int length : {1, 1, 1}) {
      op("PaddingMask", mask, std::vector<int>{length});
      op("Softmax", Vector{1, 0}, mask);
    }
  }));
  CHECK(answer.causes == 0);
  CHECK(answer.expected == 3);
}

TEST_CASE("of two masks that meet, the one that all of the result is bad by leads on") {
  const WhyAnswer answer = ask(*Recorded([] {
    const Vector harmless = op("Const", Vector{0, -infinity});
    op("Softmax", Vector{1, 0}, harmless);
    const Vector whole = op("Log", Vector{-infinity, -infinity}, op("Data", Vector{0, 0}));
    const Vector sum = op("Add", Vector{-infinity, -infinity}, harmless, whole);
    op("Softmax", Vector{not_a_number, not_a_number}, sum);
  }));
  CHECK(answer.op_type == "Log");
  CHECK(answer.causes == 1);
  CHECK(answer.expected == 1);
}
