// Programs that are wrapped in part, as every first try is: no innocent op is blamed, and no question left open where
// the memory was in our hands. Run with: the answer as `nanlens why` gives it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/causes/groups.hpp>
#include <nanlens/causes/sentence.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

constexpr float inf = INFINITY;

struct Answer {
  causes::Sentence sentence;
  causes::EventClass event_class;
  std::size_t causes;
  bool has(const char* part) const { return sentence.text.find(part) != std::string::npos; }
};

Answer answer_of(const Recorded& run) {
  causes::Causes causes(*run);
  test::finish(causes, 3);
  const auto headline = causes.headline();
  REQUIRE(headline.has_value());
  Answer a{causes::SentenceWriter(causes).sentence(*headline), causes.roots()[*headline].event_class, 0};
  for (const auto& root : causes.roots()) a.causes += root.reach > 0;
  return a;
}

Vector plus_one(const Vector& x) {
  Vector y;
  for (const float v : x) y.push_back(v + 1);
  return y;
}

}  // namespace

TEST_CASE("memory that was freed, and given to an unrecorded tensor with a NaN") {
  const Recorded run([] {
    Vector x{1, 2, 3, 4};
    nanlens::op("Const", x);
    {
      Vector t{2, 4, 6, 8};
      nanlens::op("Mul2", t, x);
    }
    const Vector u{1, NAN, 3, 4};  // most likely at the same address
    nanlens::op("AddOne", plus_one(u), u);
  });
  const Answer a = answer_of(run);
  CHECK(a.event_class == causes::EventClass::source);
  CHECK(a.has("NaN was already in input 0 of AddOne"));
  CHECK(a.has("1 of 4 elements"));
  CHECK(a.causes == 1);
}

TEST_CASE("a buffer that unwrapped code changed in place") {
  const Recorded run([] {
    Vector x{1, 2, 3, 4};
    nanlens::op("Load", x);
    for (float& v : x) v = std::log(v - 1);
    nanlens::op("AddOne", plus_one(x), x);
  });
  const Answer a = answer_of(run);
  CHECK(a.sentence.id == "changed");
  CHECK(a.has("−∞ was already in input 0 of AddOne"));
  CHECK(
      a.has("which held the result of Load, was changed since that was recorded, by something that is not on record"));
  CHECK(a.sentence.remedy.find("nanlens::record") != std::string::npos);
}

TEST_CASE(
    "memory that is bad elsewhere than before holds something else; bad in a part of it, it was set back in part") {
  for (const bool elsewhere : {false, true}) {
    CAPTURE(elsewhere);
    const Answer a = answer_of(Recorded([&] {
      Vector x{0, 0, 1, 2};
      Vector y{-inf, -inf, 0, 1};
      nanlens::op("Log", y, x);
      y = {-inf, 0, elsewhere ? NAN : 0.0F, 1};  // not wrapped
      if (elsewhere) y[0] = 0;
      nanlens::op("AddOne", plus_one(y), y);
    }));
    CHECK(a.sentence.op_type == "Log");
    CHECK(a.causes == (elsewhere ? 2 : 1));
  }
}

TEST_CASE("one element changed, between the words that are compared") {
  const Recorded run([] {
    Vector x(1000, 1.0F);
    nanlens::op("Softmax", x);
    x[777] = 0;  // not wrapped
    Vector y(1000, 0.0F);
    y[777] = -inf;
    nanlens::op("Log", y, x);
    x[778] = NAN;
    nanlens::op("AddOne", plus_one(x), x);
  });
  const Answer a = answer_of(run);
  CHECK(a.sentence.op_type == "Log");
  CHECK(a.has("turned 1 zero of"));
  CHECK(a.causes == 2);
}

TEST_CASE("what an op recorded in place has written over may have been bad before: a scope tells") {
  const auto update = [](float change, bool in_scope, auto&& op, const char* name) {
    return answer_of(Recorded([&] {
      Vector x(100, 3.0F);
      nanlens::op("Load", x);
      if (change != 0) x[77] = change;  // not wrapped
      if (in_scope) {
        OpScope scope(name, nanlens::inputs(x));
        for (float& v : x) v = op(v);
        scope.finish(nanlens::outputs(x));
      } else {
        for (float& v : x) v = op(v);
        nanlens::record(name, nanlens::outputs(x), nanlens::inputs(x));
      }
      nanlens::op("Sum", x[77], x);
    }));
  };
  const auto square = [](float v) { return v * v; };
  const Answer hidden = update(inf, false, square, "Square");
  CHECK(hidden.has("Probably: Square"));
  CHECK(hidden.sentence.remedy.find("nanlens::OpScope") != std::string::npos);
  const Answer told = update(inf, true, square, "Square");
  CHECK(told.sentence.id == "changed");
  CHECK(told.has("∞ was already in input 0 of Square"));
  const auto generic = [](float v) { return v + 1; };
  CHECK(update(NAN, false, generic, "AddOne").has("Perhaps: AddOne"));
  CHECK(update(NAN, true, generic, "AddOne").has("NaN was already in input 0 of AddOne"));
  const Answer overflow = update(0, true, [](float v) { return v * 3e38F; }, "Mul");
  CHECK(overflow.sentence.text.rfind("Mul", 0) == 0);
}

TEST_CASE("a logarithm in place of as many zeros as were recorded made the infinities") {
  const Answer a = answer_of(Recorded([] {
    Vector x{0, 1, 2, 0};
    nanlens::op("Load", x);
    for (float& v : x) v = std::log(v);
    nanlens::record("Log", nanlens::outputs(x), nanlens::inputs(x));
  }));
  CHECK(a.has("turned 2 zeros of the result of Load into −∞"));
  CHECK(a.sentence.text.rfind("Log", 0) == 0);  // no doubt
}

TEST_CASE("in a function: written over in place, what an op outside had made bad") {
  const Answer a = answer_of(Recorded([] {
    Vector x{0, 1, 2};
    Vector y{-inf, 0, 0.7F};
    nanlens::op("Log", y, x);
    Function f("step");
    for (float& v : y) v *= 2;
    nanlens::record("Scale", nanlens::outputs(y), nanlens::inputs(y));
    nanlens::op("Sum", -inf, y);
  }));
  CHECK(a.sentence.op_type == "Log");
  CHECK(a.causes == 1);
  CHECK(a.sentence.consequence == "All 3 bad tensors follow from it.");
}

TEST_CASE("what was written over before anybody looked, and not recorded before") {
  const Answer a = answer_of(Recorded([] {
    Vector x(100, NAN);
    nanlens::forget(x.data(), x.size() * sizeof(float));  // an earlier test may have recorded there
    nanlens::record("Scale", nanlens::outputs(x), nanlens::inputs(x));
    nanlens::op("Sum", x[0], x);
  }));
  CHECK(a.event_class == causes::EventClass::unknown);
  CHECK(a.has("was not recorded (the op has written over it)"));
  CHECK(a.sentence.remedy.find("Record Scale with nanlens::OpScope") != std::string::npos);
}

TEST_CASE("of two ops that may have been given what was bad, the first leads, and the other may follow from it") {
  const Answer a = answer_of(Recorded([] {
    Vector x(100, 3.0F);
    Vector y(100, 2.0F);
    nanlens::op("Load", x);
    nanlens::op("Load", y);
    x[50] = NAN;  // not wrapped
    nanlens::record("First", nanlens::outputs(x), nanlens::inputs(x));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];  // not wrapped
    nanlens::record("Second", nanlens::outputs(y), nanlens::inputs(y));
    nanlens::op("Sum", y[50], y);
  }));
  CHECK(a.sentence.op_type == "First");
  CHECK(a.sentence.consequence ==
        "It is 1 of 3 bad tensors; 2 came in bad later, from what is not on record, and may follow from it, too.");
}

TEST_CASE("an infinity in a part of what was recorded finite is no mask, though a bound removes it") {
  const auto expected = [](bool throughout) {
    const Recorded run([&] {
      Vector x(100, 3.0F);
      nanlens::op("Load", x);
      std::fill(x.begin() + (throughout ? 0 : 50), x.end(), inf);  // not wrapped
      const Vector y = nanlens::op("Square", Vector(x), x);
      nanlens::op("Minimum", Vector(100, 1.0F), y);
    });
    causes::Causes causes(*run);
    test::finish(causes, 3);
    return causes.benign().size();
  };
  CHECK(expected(true) == 1);
  CHECK(expected(false) == 0);
}

TEST_CASE("an infinity in a part of what came in is no mask if it stays on one way, though it is removed on another") {
  const auto expected = [](std::size_t bad, bool stays, const char* op = "Sum") {
    const Recorded run([&] {
      Vector x(4, 3.0F);  // not recorded
      std::fill_n(x.begin(), bad, inf);
      Vector square(x);
      for (float& v : square) v *= v;
      const Vector y = nanlens::op("Square", Vector(square), x);
      nanlens::op("Minimum", Vector(4, 9.0F), y);
      if (stays) nanlens::op(op, Vector{inf}, y);
    });
    causes::Causes causes(*run);
    test::finish(causes, 3);
    return causes.benign().size();
  };
  CHECK(expected(1, false) == 1);
  CHECK(expected(1, true) == 0);
  CHECK(expected(4, true) == 0);
  CHECK(expected(4, true, "ReduceMin") == 1);  // as what holds the best value so far begins
}

TEST_CASE("what an op makes of a tensor in which something else is bad already") {
  const auto of = [](const char* op, float (*f)(float)) {
    return answer_of(Recorded([&] {
      const Vector x{NAN, 0, 2, -3};  // not recorded
      Vector y;
      for (const float v : x) y.push_back(f(v));
      nanlens::op(op, y, x);
    }));
  };
  const Answer reciprocal = of("Reciprocal", [](float v) { return 1 / v; });
  CHECK(reciprocal.has("divides by input 0, which has 1 zero"));
  const Answer log = of("Log", [](float v) { return std::log(v); });
  CHECK(log.has("turned 1 zero of input 0 into −∞ and 1 negative value into NaN (2 of 4)"));
}

TEST_CASE("of what is bad nanlens has all counts in every mode: the answer is that of FULL_HEALTH") {
  struct Case {
    const char* op;
    Vector x;
    float (*f)(float);
  };
  const Case cases[] = {
      {"Log", {1, 0, -2}, [](float v) { return std::log(v); }},
      {"Sqrt", {1, 0, -2}, [](float v) { return std::sqrt(v); }},
      {"Exp", {1, 100, 2}, [](float v) { return std::exp(v); }},
      {"Reciprocal", {1, 0, 0}, [](float v) { return 1 / v; }},
      {"Square", {1, 1e30F, 2}, [](float v) { return v * v; }},
      {"Softmax", {1, NAN, 2}, [](float v) { return v; }},
      {"Unknown", {1, 0, 2}, [](float v) { return v / v; }},
  };
  for (const Case& c : cases)
    for (const bool in_function : {false, true}) {
      const auto text_of = [&](TensorDebugMode mode) {
        const auto run = [&] {
          std::optional<Function> f;
          if (in_function) f.emplace("f", nanlens::arg("x", c.x));
          Vector y;
          for (const float v : c.x) y.push_back(c.f(v));
          nanlens::op(c.op, y, c.x);
        };
        const Answer a = answer_of(Recorded(run, [&](DumpOptions& options) { options.tensor_debug_mode = mode; }));
        return a.sentence.text + a.sentence.remedy;
      };
      CAPTURE(c.op);
      CAPTURE(in_function);
      const std::string full = text_of(TensorDebugMode::full_health);
      CHECK(text_of(TensorDebugMode::concise_health) == full);
      CHECK(text_of(TensorDebugMode::curt_health) == full);
    }
}

TEST_CASE("what an op made, and what came in there another time, are two causes") {
  std::vector<Vector> kept;  // so that no input lies where an output was
  const Recorded run([&] {
    for (int i = 0; i < 4; ++i) {
      const Vector x{1, i < 2 ? 0.0F : NAN, 3};  // not recorded
      Vector& y = kept.emplace_back();
      for (const float v : x) y.push_back(std::log(v));
      nanlens::op("Log", y, x);
    }
  });
  causes::Causes causes(*run);
  test::finish(causes, 3);
  const causes::CauseGroups groups(causes);
  REQUIRE(groups.list().size() == 2);
  for (const causes::CauseGroup& group : groups.list()) CHECK(group.count == 2);
  CHECK(causes.roots()[groups.list()[0].root].event_class == causes::EventClass::producer);
  CHECK(causes.roots()[groups.list()[1].root].event_class == causes::EventClass::source);
}

TEST_CASE("what came in first leads if most follows from all the times that it came in") {
  const auto op_of_headline = [](int times) {
    std::vector<Vector> kept;
    const Answer a = answer_of(Recorded([&] {
      for (int i = 0; i < times; ++i) {
        kept.push_back({1, NAN, static_cast<float>(i)});  // not recorded
        nanlens::op("Shift", plus_one(kept.back()), kept.back());
        if (i > 0) continue;
        const Vector& zero = kept.emplace_back(Vector{0, 1});
        for (int k = 0; k < 8; ++k) nanlens::op("Zero", zero);  // another incident
        Vector y = nanlens::op("Log", Vector{-inf, 0}, zero);
        for (int k = 0; k < 4; ++k) y = nanlens::op("Next", plus_one(y), y);
      }
    }));
    return a.sentence.op_type;
  };
  CHECK(op_of_headline(4) == "Log");    // 4 of 9
  CHECK(op_of_headline(6) == "Shift");  // 6 of 11
}

TEST_CASE("what was removed again leads, where it may have come in later by code that is not on record") {
  const auto of = [](bool handed_on) {
    return answer_of(Recorded([&] {
      const Vector x{1, 2e20F, 3};
      Vector square;
      for (const float v : x) square.push_back(v * v);
      nanlens::op("Square", square, x);
      nanlens::op("Minimum", Vector{1, 9, 9}, square);
      for (int i = 0; i < 8; ++i) nanlens::op("AddOne", plus_one(x), x);
      if (handed_on) {
        for (float& v : square) v -= v;  // not wrapped
        nanlens::op("AddOne", plus_one(square), square);
      }
      nanlens::op("Log", Vector{0, -inf}, Vector{1, 0});
    }));
  };
  CHECK(of(true).sentence.op_type == "Square");
  CHECK(of(false).sentence.op_type == "Log");
}

TEST_CASE("a number that nothing on record has read leads before an op that has no reason in what it was given") {
  const auto of = [](const Vector& gradient) {
    return answer_of(Recorded([&] {
      const float curvature = nanlens::op("Dot", 0.0F, gradient);
      const float rho = nanlens::op("Reciprocal", 1 / curvature, curvature);
      Vector direction(gradient.size(), rho - rho);  // which comes to it beside the gradient
      nanlens::record("Direction", nanlens::outputs(direction), nanlens::inputs(gradient));
      nanlens::op("AddOne", plus_one(direction), direction);
    }));
  };
  const Answer a = of({1, -2, 3, -4});
  CHECK(a.sentence.op_type == "Reciprocal");
  CHECK(a.sentence.consequence == "It is 1 of 3 bad tensors; 1 other cause.");
  CHECK(of({1, 0, 3, -4}).sentence.op_type == "Direction");
  CHECK(of({1, 2, 3, -4}).sentence.op_type == "Direction");
}

TEST_CASE("memory that was NaN, and holds an infinity by now, holds something else") {
  const Answer a = answer_of(Recorded([] {
    Vector scores{-inf, -inf};
    const auto softmax = [&] {
      nanlens::OpScope op("Softmax", nanlens::inputs(scores));
      scores = {NAN, NAN};
      op.finish(nanlens::outputs(scores));
    };
    softmax();
    for (float& v : scores) v = -inf;  // not wrapped
    softmax();
  }));
  CHECK(a.sentence.id == "allmasked");
  CHECK(a.causes == 2);  // the second came in anew
}

TEST_CASE("an op of one number reads nothing but its input, whatever lay in the memory that it writes") {
  const auto of = [](const char* op, float (*f)(float)) {
    return answer_of(Recorded([&] {
      Vector y{1, inf, 3, 4};
      nanlens::op("Load", y);
      const Vector x{1, 200, 3, 4};
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = f(x[i]);
      nanlens::record(op, nanlens::outputs(y), nanlens::inputs(x));
      nanlens::op("Sum", y[1] - y[1], y);
    }));
  };
  const auto exp_of = [](float v) { return std::exp(v); };
  CHECK(of("Exp", exp_of).sentence.op_type == "Exp");
  CHECK(of("Square", [](float v) { return v * v * 1e36F; }).has("Square"));
  CHECK(of("Unknown", exp_of).sentence.op_type == "Load");  // may be y *= x
}

TEST_CASE("a tensor that nothing recorded holds the NaN") {
  const Recorded run([] {
    const Vector data{1, 2, NAN};
    nanlens::forget(data.data(), data.size() * sizeof(float));  // an earlier test may have recorded there
    nanlens::op("Mul2", Vector{2, 4, NAN}, data);
  });
  const Answer a = answer_of(run);
  CHECK(a.sentence.id == "arrived");
  CHECK(a.has("The NaN was already in input 0 of Mul2"));
  CHECK(a.has("which was not recorded before"));
}

TEST_CASE("what several ops take has come in once; other values are another cause, and so are too few to tell") {
  const auto ask = [](const std::vector<Vector>& taken, std::size_t times = 1) {
    const Recorded run([&] {
      for (const Vector& x : taken) nanlens::forget(x.data(), x.size() * sizeof(float));
      for (std::size_t i = 0; i < times; ++i)
        for (const Vector& x : taken) nanlens::op(&x == taken.data() ? "Query" : "Key", plus_one(x), x);
    });
    return answer_of(run);
  };
  Vector x(20, 1.0F);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 4.5F;
  x[7] = NAN;
  Vector other = x;
  other[2] = 3;
  const Answer same = ask({x, x}, 3);
  CHECK(same.causes == 1);
  CHECK(same.has("The NaN was already in input 0 of Query"));
  CHECK(same.sentence.consequence == "All 6 bad tensors follow from it.");
  CHECK(ask({x, other}).causes == 2);
  CHECK(ask({{NAN, 1}, {NAN, 1}}).causes == 2);
  Vector mostly_equal(2000, 1.0F);
  mostly_equal[1999] = NAN;
  CHECK(ask({mostly_equal, mostly_equal}).causes == 2);
}

TEST_CASE("a part of a recorded tensor that was changed, and the whole of it; not another part") {
  const auto causes_of = [](bool whole) {
    const Recorded run([&] {
      Vector experts(2000, 1.0F);
      const auto part = [&](std::size_t i) { return tensor_view(experts.data() + i * 1000, {1000}); };
      nanlens::op("Init", experts);
      experts[777] = NAN;  // not wrapped
      experts[1555] = NAN;
      const Vector y(1, NAN);
      nanlens::op("MatMul", y, part(0));
      if (whole)
        nanlens::op("GroupedMatMul", y, experts);
      else
        nanlens::op("MatMul", y, part(1));
    });
    return answer_of(run).causes;
  };
  CHECK(causes_of(true) == 1);
  CHECK(causes_of(false) == 2);
}

TEST_CASE("an infinity that a layer takes is no mask, though none is left of it") {
  const auto causes_of = [](const char* type, float bad = inf, const char* next = "Sigmoid") {
    const Recorded run([&] {
      const Vector weight{1, bad};
      nanlens::forget(weight.data(), weight.size() * sizeof(float));
      nanlens::op(next, Vector{1, 0}, nanlens::op(type, Vector{0, bad}, weight));
    });
    causes::Causes causes(*run);
    test::finish(causes, 100);
    CHECK(causes.roots().size() == 1);
    return causes.incidents().size();
  };
  for (const char* const type : {"Add", "aten::scaled_dot_product_attention", "aten::baddbmm"})
    CHECK(causes_of(type) == 0);
  for (const char* const type : {"aten::addmm", "aten::lstm"}) CHECK(causes_of(type) == 1);
  for (const char* const bound : {"aten::clamp_min_", "Relu"}) CHECK(causes_of("aten::addmm", -inf, bound) == 1);
  CHECK(causes_of("aten::addmm", -inf, "aten::where") == 0);     // meant
  CHECK(causes_of("aten::addmm", -inf, "aten::_softmax") == 0);  // of the classes one is none
}

TEST_CASE("integers can't hold a NaN, and a healthy weight is known to be healthy") {
  const Recorded labels([] {
    const Vector probs{1, 0};
    nanlens::op("Probs", probs);
    const std::vector<int> targets{1, 1};
    nanlens::op("CrossEntropy", Vector{inf, inf}, probs, targets);
  });
  CHECK(answer_of(labels).event_class == causes::EventClass::producer);
  CHECK(answer_of(labels).sentence.op_type == "CrossEntropy");
  const Recorded weights([] {
    const Vector x{1, 1};
    const Vector w{1, 1};
    nanlens::variable(w);
    nanlens::op("Data", x);
    nanlens::op("LayerNorm", Vector{NAN, 0}, x, w);
  });
  const Answer a = answer_of(weights);
  CHECK(a.event_class == causes::EventClass::producer);
  CHECK(a.has("LayerNorm"));
  CHECK(a.has("from clean inputs"));
}

TEST_CASE("an optional input that an op does not have is no question") {
  const Recorded run([] {
    const Vector x{1, 0};
    nanlens::op("Data", x);
    const float* const none = nullptr;
    nanlens::op("Div", Vector{inf, 1}, x, tensor_view(none, {2}));
  });
  CHECK(answer_of(run).event_class == causes::EventClass::producer);
}

TEST_CASE("bits that came by another name, shape or address are the same tensor") {
  const Recorded reshaped([] {
    Vector w(6, inf);
    nanlens::record("Update", nanlens::outputs(w), nanlens::inputs());
    const Vector x{1, 2, 3};
    nanlens::op("MatVec", Vector{inf, 6}, tensor_view(w.data(), {2, 3}), x);
  });
  CHECK(answer_of(reshaped).sentence.op_type == "Update");
  CHECK(answer_of(reshaped).causes == 1);
  const Recorded sliced([] {
    Vector params(8, 1.0F);
    nanlens::op("Init", params);
    params[5] = inf;
    nanlens::record("Adam", nanlens::outputs(params), nanlens::inputs());
    nanlens::op("Sum", inf, tensor_view(params.data() + 4, {4}));
    nanlens::op("Log", Vector{-inf}, tensor_view(params.data(), {4}), Vector{0});  // of a clean part of it
  });
  CHECK(answer_of(sliced).causes == 2);
  const Recorded returned([] {
    const auto logs = [](const Vector& x) {
      Vector y;
      for (const float v : x) y.push_back(std::log(v));
      return Vector(nanlens::op("Log", y, x));
    };
    const Vector x{1, 0};
    nanlens::op("Const", x);
    const Vector a = logs(x);
    nanlens::op("AddOne", plus_one(a), a);
  });
  CHECK(answer_of(returned).sentence.op_type == "Log");
  CHECK(answer_of(returned).causes == 1);
}

TEST_CASE("in a function: the same, by the names of its graph") {
  const Recorded run([] {
    const Vector x = nanlens::op("Data", Vector{1, 2, 3});
    Function f("model", arg("x", x));
    Vector h = f.op("Neg", Vector{-1, -2, -3}, x);
    h[1] = NAN;  // not wrapped
    f.result(f.op("AddOne", plus_one(h), h));
  });
  const Answer a = answer_of(run);
  CHECK(a.event_class == causes::EventClass::source);
  CHECK(a.has("NaN was already in"));
  CHECK(a.has("of AddOne"));
}

TEST_CASE("which rows: the samples of a batch") {
  const Recorded run([] {
    Vector x(1000, 1.0F);
    Vector y(1000, 0.0F);
    for (const std::size_t row : {12U, 37U})
      for (std::size_t i = 0; i < 10; ++i) {
        x[row * 10 + i] = 0;
        y[row * 10 + i] = -inf;
      }
    auto in = tensor_view(x.data(), {100, 10});
    nanlens::op("Probs", in);
    nanlens::op("Log", tensor_view(y.data(), {100, 10}), in);
  });
  CHECK(answer_of(run).sentence.where == "rows 12 and 37 of 100, every column");
}

TEST_CASE("places in words") {
  const auto places = [](std::vector<std::int64_t> shape, std::uint64_t bad, std::vector<logdir::AxisEvidence> axes) {
    causes::TensorEvidence e;
    e.shape = std::move(shape);
    e.counts = {0, 0, bad, 0, 0, 0};
    e.axes = std::move(axes);
    return causes::places_words(e);
  };
  CHECK(places({10}, 1, {{1, {3}}}) == "element 3 of 10");
  CHECK(places({1000}, 7, {{7, {1, 2, 3, 4, 5, 6, 7}}}) == "7 of 1,000 elements");
  CHECK(places({2, 2}, 4, {{2, {0, 1}}, {2, {0, 1}}}) == "every element");
  CHECK(places({2, 2}, 2, {{2, {0, 1}}, {2, {0, 1}}}) == "every row, every column");
  CHECK(places({2, 3, 4}, 12, {{1, {1}}, {3, {0, 1, 2}}, {4, {0, 1, 2, 3}}}) ==
        "slice 1 of 2 along axis 0, every slice along axis 1, every slice along axis 2");
  CHECK(places({}, 1, {}).empty());
  CHECK(places({2}, 1, {}).empty());
}

TEST_CASE("a mean over targets that are all ignored, by the weight that the op gives beside it") {
  const auto said = [](float weight) {
    const Recorded run([&] {
      const Vector scores = nanlens::op("Scores", Vector{-1, -2});
      const Vector loss{std::nanf("")};
      const Vector total_weight{weight};
      nanlens::record("aten::nll_loss_forward", outputs(loss, total_weight), inputs(scores));
    });
    return answer_of(run).sentence.text;
  };
  CHECK(said(0).find("aten::nll_loss_forward at ") == 0);
  CHECK(said(0).find(" is a mean over no targets: all are ignored, or their weights add up to 0") != std::string::npos);
  CHECK(said(1).find("targets") == std::string::npos);
}

namespace {

TensorView on_gpu(std::int64_t n) { return {nullptr, DType::float32, Shape{n}, {}, gpu_device}; }

// All that is said to be expected, and what is said to have removed it.
struct Expected {
  std::vector<std::string> said;
  std::size_t removed;
};
Expected expected_of(const Recorded& run) {
  causes::Causes causes(*run);
  test::finish(causes, 3);
  causes::SentenceWriter writer(causes);
  Expected e;
  for (const std::uint32_t root : causes.benign()) e.said.push_back(writer.sentence(root).text);
  e.removed = causes.killers().size();
  return e;
}

}  // namespace

TEST_CASE("what a GPU made of it is not on record: nothing is said to be removed, nor that no NaN follows") {
  const Recorded masked([] {
    const Vector mask = nanlens::op("Const", Vector{0, -inf});
    nanlens::record("ToDevice", outputs(on_gpu(2)), inputs(mask));
  });
  const Expected mask = expected_of(masked);
  REQUIRE(mask.said.size() == 1);
  CHECK(mask.said[0].find("whether a NaN follows is not on record") != std::string::npos);
  CHECK(mask.removed == 0);

  const Recorded loaded([] {
    const Vector batch = nanlens::op("ReadFile", Vector{0, -inf});
    nanlens::record("ToDevice", outputs(on_gpu(2)), inputs(batch));
  });
  CHECK(expected_of(loaded).said.empty());
  CHECK(expected_of(loaded).removed == 0);

  const Recorded clean([] {
    const Vector mask = nanlens::op("Const", Vector{0, -inf});
    nanlens::op("Exp", Vector{1, 0}, mask);
  });
  REQUIRE(expected_of(clean).said.size() == 1);
  CHECK(expected_of(clean).said[0].find("no NaN follows") != std::string::npos);
  CHECK(expected_of(clean).removed == 1);
}

TEST_CASE("what comes back from a GPU was not made by the copy") {
  const Recorded run([] {
    nanlens::record("Loss", outputs(on_gpu(1)));
    const Vector loss{NAN};
    nanlens::record("ToHost", outputs(loss), inputs(on_gpu(1)));
  });
  const Answer a = answer_of(run);
  CAPTURE(a.sentence.text);
  CHECK(a.event_class == causes::EventClass::unknown);
  CHECK(a.has("Can't tell what made ToHost:0"));
  CHECK(a.has("input 0 was not recorded (its values, such as a GPU's or a sparse tensor's, can't be read here)"));
}

TEST_CASE("what is NaN throughout where something else lay is taken for the last that was made so") {
  for (const bool throughout : {true, false}) {
    CAPTURE(throughout);
    const test::WhyAnswer a = test::ask(*Recorded([&] {
      const Vector made = op("Sqrt", Vector{NAN, NAN, NAN}, op("Data", Vector{-1, -2, -3}));
      Vector z = op("Data", Vector{1, 2, 3});
      z = throughout ? made : Vector{NAN, 2, NAN};
      op("Neg", Vector(z), z);
    }));
    CHECK(a.op_type == "Sqrt");
    CHECK(a.causes == (throughout ? 1 : 2));
  }
}
