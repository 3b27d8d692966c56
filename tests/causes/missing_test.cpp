// NaN that stands for values that are missing, and −∞ that stands for the logarithm of 0: expected where all that takes
// them says so, and nothing else does.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
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

// Data of four values, of which one is missing, as a program in Python puts them together.
Vector data_with_gap() {
  const Vector outside{1, not_a_number, 2, 3};
  return op("aten::cat", Vector(outside), outside);
}

// What becomes of it; `asked`: whether the program looks for NaN.
WhyAnswer taken_by(const char* taker, bool asked, const Vector& result) {
  return ask(*Recorded([&] {
    const Vector x = data_with_gap();
    const Integers mask = asked ? op("aten::ne", Integers{0, 1, 0, 0}, x, x) : op("aten::gt", Integers{1, 0, 1, 1}, x);
    op(taker, Vector(result), x, op("aten::bitwise_not", Integers{1, 0, 1, 1}, mask));
  }));
}

// log(x), of which an op takes −∞ for the logarithm of 0.
WhyAnswer logarithms_taken_by(const char* log, const char* taker, const Vector& result) {
  return ask(*Recorded([&] {
    const Vector x = op("Data", Vector{0, 1});
    const Vector y = op(log, Vector{-infinity, 0}, x);
    op(taker, Vector(result), op("AddV2", Vector{-infinity, 1}, y, x));
  }));
}

}  // namespace

TEST_CASE("what PyTorch gets with NaN, fills or leaves out, and takes no more, lacks values") {
  for (const char* const taker : {"aten::nan_to_num", "aten::nansum", "aten::where", "aten::masked_fill", "aten::copy_",
                                  "aten::_index_put_impl_", "aten::index", "aten::masked_select"}) {
    CAPTURE(taker);
    const WhyAnswer a = taken_by(taker, true, {1, 0, 2, 3});
    CHECK(a.causes == 0);
    CHECK(a.expected == 1);
  }
  for (const char* const taker : {"aten::relu", "aten::clamp", "aten::max"}) {
    CAPTURE(taker);
    CHECK(taken_by(taker, true, {1, 0, 2, 3}).causes == 1);
  }
}

TEST_CASE("a comparison, which NaN decides without a word, is no question for it") {
  for (const char* const taker :
       {"aten::where", "aten::masked_fill", "aten::_index_put_impl_", "aten::index", "aten::masked_select"}) {
    CAPTURE(taker);
    CHECK(taken_by(taker, false, {1, 0, 2, 3}).causes == 1);
  }
  for (const char* const taker : {"aten::nan_to_num", "aten::nansum"})
    CHECK(taken_by(taker, false, {1, 0, 2, 3}).causes == 0);
}

TEST_CASE("nor is a comparison of what was made of it") {
  for (const bool of_it : {false, true}) {
    CAPTURE(of_it);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = data_with_gap();
      const Vector other = op("aten::randn", Vector{1, 2, 3, 4});
      const Vector twice = op("aten::mul", Vector{2, not_a_number, 4, 6}, x, other);
      const Integers above = op("aten::gt", Integers{0, 0, 1, 1}, of_it ? twice : other);
      op("aten::where", Vector{1, 1, 0, 0}, above, other, x);
      op("aten::nan_to_num", Vector{2, 0, 4, 6}, twice);
    }));
    CHECK(a.causes == (of_it ? 1 : 0));
  }
}

TEST_CASE("a condition behind more ops than are looked at may be one that a NaN decides") {
  const auto causes = [](std::size_t ops, bool of_it) {
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = data_with_gap();
      const Vector other = op("aten::randn", Vector{1, 2, 3, 4});
      std::vector<Integers> masks;
      masks.push_back(op("aten::gt", Integers{0, 0, 1, 1}, of_it ? x : other));
      while (masks.size() < ops) masks.push_back(op("aten::bitwise_and", Integers{0, 0, 1, 1}, masks.back(), masks[0]));
      op("aten::where", Vector{1, 1, 0, 0}, masks.back(), other, x);
    }));
    return a.causes;
  };
  CHECK(causes(limits::question_steps / 2, false) == 0);
  CHECK(causes(limits::question_steps / 2, true) == 1);
  CHECK(causes(limits::question_steps * 2, true) == 1);
  CHECK(causes(limits::question_steps * 2, false) == 1);
}

TEST_CASE("PyTorch asks what is finite by a comparison of absolute values with infinity: nothing comes of these") {
  for (const bool taken : {false, true}) {
    CAPTURE(taken);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = data_with_gap();
      const Vector magnitude = op("aten::abs", Vector{1, not_a_number, 2, 3}, x);
      const Integers not_infinite = op("aten::ne", Integers{1, 1, 1, 1}, magnitude);
      const Integers itself = op("aten::eq", Integers{1, 0, 1, 1}, x, x);
      const Integers finite = op("aten::mul", Integers{1, 0, 1, 1}, itself, not_infinite);
      if (taken) op("aten::index", Vector{1, 2, 3}, x, finite);
    }));
    CHECK(a.causes == (taken ? 0 : 1));  // who only looks still has the NaN
    CHECK(a.expected == (taken ? 1 : 0));
  }
}

TEST_CASE(
    "what holds no value at all, a gradient, what is updated in place, and a factor that is repeated, lack none") {
  const auto filled = [](const char* type, const char* node, Vector outside, const Vector& result) {
    return ask(*Recorded([&] {
      const Vector x = op({type, node}, Vector(result), outside);
      op("aten::nan_to_num", Vector(result.size()), x);
    }));
  };
  CHECK(filled("aten::mul", "net", {1, not_a_number}, {1, not_a_number}).causes == 0);
  CHECK(filled("aten::mul", "net", {not_a_number, not_a_number}, {not_a_number, not_a_number}).causes == 1);
  CHECK(filled("aten::mul", "MulBackward0", {1, not_a_number}, {1, not_a_number}).causes == 1);
  CHECK(filled("aten::mul_", "net", {1, not_a_number}, {1, not_a_number}).causes == 1);
  CHECK(filled("aten::mul", "net", {1, not_a_number}, {1, not_a_number, 1, not_a_number}).causes == 1);
}

TEST_CASE("a missing value that has spread is a fault, whatever is filled in afterwards") {
  for (const char* const mixer : {"aten::mm", "aten::sum", "aten::neg"}) {
    CAPTURE(mixer);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector mixed = op(mixer, Vector{1, not_a_number, 2, 3}, data_with_gap());
      op("aten::nan_to_num", Vector{1, 0, 2, 3}, mixed);
    }));
    const bool apart = std::string(mixer) == "aten::neg";
    CHECK(a.causes == (apart ? 0 : 1));
    CHECK(a.expected == (apart ? 1 : 0));
  }
}

TEST_CASE("one taker that leaks is enough") {
  const WhyAnswer a = ask(*Recorded([&] {
    const Vector x = data_with_gap();
    op("aten::nan_to_num", Vector{1, 0, 2, 3}, x);
    op("aten::mean", Vector{not_a_number}, x);
  }));
  CHECK(a.causes == 1);
  CHECK(a.expected == 0);
}

TEST_CASE("a NaN that an op made is no missing value") {
  const WhyAnswer a = ask(*Recorded([&] {
    const Vector x = op("aten::data", Vector{0, 1});
    const Vector y = op("aten::div", Vector{not_a_number, 1}, x, x);
    op("aten::nansum", Vector{1}, y);
  }));
  CHECK(a.causes == 1);
  CHECK(a.op_type == "aten::div");
}

TEST_CASE(
    "what PyTorch fills by a question for NaN hides a fault, also where the question is not of that very tensor") {
  const WhyAnswer a = ask(*Recorded([&] {
    const Vector x = op("aten::data", Vector{0, 1});
    const Vector y = op("aten::div", Vector{not_a_number, 1}, x, x);
    const Integers is_nan = op("aten::ne", Integers{1, 0}, y, y);
    op("aten::masked_fill_", Vector{0, 1}, op("aten::clone", Vector{not_a_number, 1}, y), is_nan);
  }));
  CHECK(a.causes == 1);
  CHECK(a.op_type == "aten::div");
}

TEST_CASE("a number that Python writes into a part of a tensor came in once, and was filled in") {
  const WhyAnswer a = ask(*Recorded([] {
    Vector whole = op("aten::randn", Vector{1, 2, 3});
    Vector part{not_a_number};
    const float number = not_a_number;
    whole[1] = not_a_number;
    record("aten::copy_", outputs(part, whole), inputs(number));
    op("aten::sum", Vector{not_a_number}, whole);
  }));
  CHECK(a.causes == 1);
  CHECK(a.reach == 3);
  CHECK(a.text.find("aten::copy_") == 0);
  CHECK(a.text.find("filled in NaN") != std::string::npos);
}

TEST_CASE("where what is NaN is replaced, what is NaN afterwards is the replacement's") {
  for (const char* const negation : {"", "aten::bitwise_not", "aten::neg"}) {
    CAPTURE(negation);
    const std::string by = negation;
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector zero = op("aten::zeros", Vector{0, 0, 0, 0});
      const Vector x = data_with_gap();
      const Vector mean = op("aten::div", Vector{1, not_a_number, 1, 1}, zero, zero);
      const Integers asked = op("aten::ne", Integers{0, 1, 0, 0}, x, x);
      if (by.empty())
        op("aten::where", Vector{1, not_a_number, 2, 3}, asked, mean, x);
      else
        op("aten::where", Vector{1, not_a_number, 2, 3}, op(negation, Integers{1, 0, 1, 1}, asked), x, mean);
    }));
    const bool known = by != "aten::neg";
    CHECK(a.op_type == (known ? "aten::div" : "aten::cat"));
    CHECK(a.causes == (known ? 1 : 2));
    CHECK(a.expected == (known ? 1 : 0));
  }
}

TEST_CASE("the same in a graph") {
  for (const char* const asked : {"IsNan", "IsInf"}) {
    CAPTURE(asked);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector zero = op("Data", Vector{0, 0});
      Function f("f", arg("zero", zero));
      const Vector x = f.op("Const", Vector{1, not_a_number});
      const Vector mean = f.op("RealDiv", Vector{not_a_number, not_a_number}, zero, zero);
      const Integers is_nan = f.op(asked, Integers{0, 1}, x);
      f.result(f.op("SelectV2", Vector{1, not_a_number}, is_nan, mean, x));
    }));
    const bool known = std::string(asked) == "IsNan";
    CHECK(a.op_type == (known ? "RealDiv" : "Const"));
    CHECK(a.expected == (known ? 1 : 0));
  }
}

TEST_CASE("values may be missing in what a graph is given") {
  for (const bool asked : {false, true}) {
    CAPTURE(asked);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector outside{1, not_a_number};
      Function f("f", arg("x", outside));
      const Integers mask = f.op(asked ? "IsNaN" : "Sign", Integers{0, 1}, outside);
      f.result(f.op(asked ? "Where" : "Relu", Vector{1, 0}, mask, outside, outside));
    }));
    CHECK(a.causes == (asked ? 0 : 1));
  }
}

TEST_CASE("a bound from above is meant for what is infinite; one from below makes a ReLU, too") {
  const auto bounded = [](const char* bound, float infinite) {
    return ask(*Recorded([&] {
      const Vector x = op("Data", Vector{0, 1});
      op(bound, Vector{5, 1}, op("Reciprocal", Vector{infinite, 1}, x));
    }));
  };
  CHECK(bounded("Minimum", infinity).causes == 0);
  CHECK(bounded("Min", infinity).causes == 0);
  CHECK(bounded("Minimum", not_a_number).causes == 1);
  CHECK(bounded("Maximum", -infinity).causes == 1);
}

TEST_CASE("a mean over a mask of +∞ in places is a result, and no mask") {
  for (const char* const taker : {"Mean", "Neg"}) {
    CAPTURE(taker);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = op("Const", Vector{infinity, 1});
      op(taker, Vector{std::string(taker) == "Mean" ? infinity : -infinity}, x);
    }));
    CHECK(a.causes == (std::string(taker) == "Mean" ? 1 : 0));
  }
}

TEST_CASE("a mask of which a NaN came that was removed again: no word that none follows") {
  const WhyAnswer a = ask(*Recorded([] {
    const Vector x = op("Data", Vector{1, 2});
    Function f("f", arg("x", x));
    const Vector mask = f.op("Const", Vector{-infinity, -infinity});
    const Vector masked = f.op("AddV2", Vector{-infinity, -infinity}, x, mask);
    const Vector weights = f.op("Softmax", Vector{not_a_number, not_a_number}, masked);
    const Integers is_nan = f.op("IsNan", Integers{1, 1}, weights);
    f.result(f.op("SelectV2", Vector{0, 0}, is_nan, x, weights));
  }));
  CHECK(a.causes == 0);
  CHECK(a.text.find("no NaN follows") == std::string::npos);
}

TEST_CASE("what a program calls a choice may turn the sign of an infinity, and removes nothing then") {
  const auto removed_by = [](const char* type, float result) {
    return ask(
        *Recorded([&] { op(type, Vector{result, 1}, op("Log", Vector{-infinity, 1}, op("Data", Vector{0, 1}))); }));
  };
  CHECK(removed_by("Select", infinity).removed == 0);
  CHECK(removed_by("Select", not_a_number).removed == 1);
  CHECK(removed_by("aten::where", infinity).removed == 1);
}

TEST_CASE("−∞ from a logarithm is that of 0 to sums of what has these logarithms, and to what looks for the largest") {
  for (const char* const log : {"Log", "aten::log"})
    for (const char* const taker : {"LogSumExp", "aten::logsumexp", "Max", "aten::amax"}) {
      CAPTURE(log);
      CAPTURE(taker);
      const WhyAnswer a = logarithms_taken_by(log, taker, {1});
      CHECK(a.causes == 0);
      CHECK(a.expected == 1);
    }
  for (const char* const of_each : {"Exp", "aten::exp", "Maximum"})
    CHECK(logarithms_taken_by("Log", of_each, {0, 1}).causes == 0);
  for (const char* const other : {"Relu", "Softmax", "Min", "Sigmoid"}) {
    CAPTURE(other);
    CHECK(logarithms_taken_by("Log", other, {0, 1}).causes == 1);
  }
  CHECK(logarithms_taken_by("Reciprocal", "LogSumExp", {1}).causes == 1);
}

TEST_CASE("the logarithm of what an op has made so small that it is 0 is a fault, whatever takes it") {
  for (const char* const maker : {"Softmax", "Exp", "Prod", "Sigmoid", "RealDiv", "Mul", "Reshape"}) {
    CAPTURE(maker);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector data = op("Data", Vector{0, 1});
      const Vector x = op(maker, Vector{0, 1}, data, data);
      op("LogSumExp", Vector{0}, op("Log", Vector{-infinity, 0}, x));
    }));
    const std::string by = maker;
    const bool given = by == "RealDiv" || by == "Mul" || by == "Reshape";
    CHECK(a.causes == (given ? 0 : 1));
  }
}

TEST_CASE("the best of means, or of sums, of which one is infinite") {
  for (const char* const mixer : {"Mean", "Sum", "Neg", "Max"}) {
    CAPTURE(mixer);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector y = op("Log", Vector{-infinity, 0}, op("Data", Vector{0, 1}));
      op("Max", Vector{0}, op(mixer, Vector{-infinity, 0}, y));
    }));
    CHECK(a.causes == (std::string(mixer) == "Mean" || std::string(mixer) == "Sum" ? 1 : 0));
  }
}

TEST_CASE("constants, and what an op without inputs gives, lack values where NaN is left out by name") {
  for (const char* const maker : {"Const", "Load"})
    for (const char* const taker : {"nan_to_num", "NanMean", "Relu"}) {
      CAPTURE(maker);
      CAPTURE(taker);
      const WhyAnswer a = ask(*Recorded([&] {
        const Vector first = op({maker, "wind"}, Vector{1, not_a_number, 2, 3});
        const Vector second = op({maker, "rain"}, Vector{1, 1, not_a_number, 3});
        op(taker, Vector{1, 1, 2, 3}, first);
        op(taker, Vector{1, 1, 1, 3}, second);
      }));
      const bool named = std::string(taker) != "Relu";
      CHECK(a.causes == (named ? 0 : 2));
      CHECK(a.expected == (named ? 2 : 0));
      if (!named && std::string(maker) == "Load")
        CHECK(a.text.find(": it was recorded without inputs.") != std::string::npos);
    }
}

TEST_CASE("an infinity that is masked, and comes into a loss or a number that is left, is not meant") {
  const auto ends = [](const char* mixer, bool taken) {
    return ask(*Recorded([&] {
      const Vector x = op("aten::randn", Vector{1, 2, 3, 4});
      const Vector masked = op("aten::masked_fill", Vector{1, infinity, 3, 4}, x);
      op("aten::min", Vector{1}, masked);
      const Vector mixed = op(mixer, Vector{infinity}, masked);
      if (taken) op("aten::reciprocal", Vector{0}, mixed);
    }));
  };
  const WhyAnswer mean = ends("aten::mean", false);
  CHECK(mean.causes == 1);
  CHECK(mean.op_type == "aten::masked_fill");
  CHECK(mean.text.find(" filled in +∞.") != std::string::npos);
  CHECK(mean.consequence.find("aten::mean at ") == 0);
  CHECK(mean.consequence.find(" is +∞ because of it. ") != std::string::npos);
  CHECK(ends("aten::max", false).causes == 1);  // who asks for the largest has it
  CHECK(ends("aten::mean", true).causes == 1);  // 1/∞ is a number like any other
  CHECK(ends("aten::min", false).causes == 0);  // of nothing but what is masked
}

TEST_CASE("an infinite loss is not meant, although no sum or mean has made it") {
  const auto of = [](bool trained) {
    return ask(*Recorded([&] {
      const Vector best = op("aten::full", Vector{infinity});
      const Vector loss = op("aten::add", Vector{infinity}, op("aten::mse_loss", Vector{1}, Vector{1, 2}), best);
      op("aten::minimum", Vector{1}, best, Vector{1});
      op("aten::add_", Vector{infinity}, loss);  // an epoch's
      if (!trained) return;
      const Vector one = op("aten::ones_like", Vector{1}, loss);
      op({"aten::mul", "AddBackward0"}, Vector{1}, one);
    }));
  };
  CHECK(of(true).causes == 1);
  CHECK(of(true).op_type == "aten::full");
  CHECK(of(true).consequence.find("aten::add at ") == 0);
  CHECK(of(false).causes == 0);
}

TEST_CASE("in a program that names its ops a sum or a mean of what is masked is not meant either") {
  const auto ends = [](const char* mixer, const char* taker) {
    return ask(*Recorded([&] {
      const Vector depth = op("ClearDepth", Vector{1, infinity, 3, infinity});
      op("Shade", Vector{1, 0, 1, 0}, depth);
      const Vector mixed = op(mixer, Vector{infinity}, depth);
      if (taker != nullptr) op(taker, Vector{0}, mixed);
    }));
  };
  for (const char* const mixer : {"Mean", "Sum", "AverageDepth"}) {
    CAPTURE(mixer);
    CHECK(ends(mixer, nullptr).causes == 1);
    CHECK(ends(mixer, "Exposure").causes == 1);
    CHECK(ends(mixer, "Exposure").op_type == "ClearDepth");
    CHECK(ends(mixer, "Where").causes == 0);
  }
  CHECK(ends("ReduceMin", nullptr).causes == 0);  // of nothing but what is masked
}

TEST_CASE("a clean result with fewer elements than what is bad was made of a part of that, and removes nothing") {
  const auto also_taken_by = [](const char* taker, const Vector& result) {
    return ask(*Recorded([&] {
      const Vector x = op("Data", Vector{0, 1, 2, 3});
      const Vector y = op("Log", Vector{-infinity, 0, 0.7F, 1.1F}, x);
      op("Exp", Vector{0, 1, 2, 3}, y);
      op(taker, Vector(result), y);
    }));
  };
  CHECK(also_taken_by("Mul", {1, 2}).causes == 0);
  CHECK(also_taken_by("Mul", {1, 2}).removed == 1);
  CHECK(also_taken_by("Mul", {1, 2, 3, 4}).causes == 1);
}
