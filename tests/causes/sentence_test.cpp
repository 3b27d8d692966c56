// Sentences: whatever is known or not, none has a hole, and none says more than the counts prove.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nanlens/causes/near_miss.hpp>
#include <nanlens/causes/ruled_out.hpp>
#include <nanlens/causes/runs.hpp>
#include <nanlens/causes/sentence.hpp>
#include <nanlens/causes/sentence_table.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/finish.hpp"
#include "../support/logdir_generator.hpp"
#include "generated_causes.hpp"

using namespace nanlens;
using causes::CauseFacts;
using causes::EventClass;
using causes::InputFacts;
using causes::OpCode;
using causes::TensorHealth;
using test::health;

namespace {

bool digit_at(const std::string& text, std::size_t i) {
  return i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == ',' || text[i] == '.');
}

// " 0 zeros", "(0 of 12)": a count of nothing.
bool claims_nothing(const std::string& text) {
  for (const char* noun : {"zero", "negative", "of ", "bad", "values", "elements", "times", "other"})
    for (std::size_t at = text.find("0 "); at != std::string::npos; at = text.find("0 ", at + 1))
      if (text.compare(at + 2, std::string(noun).size(), noun) == 0 && (at == 0 || !digit_at(text, at - 1)) &&
          (at < 6 || text.compare(at - 5, 4, "nput") != 0) && (at < 7 || text.compare(at - 7, 6, "output") != 0))
        return true;
  return false;
}

// "in 3 of ", "turned 3 of x": a number whose noun is missing.
bool number_without_noun(const std::string& text) {
  for (const char* start : {"turned ", "got ", "has "})
    for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      std::size_t end = at + std::string(start).size();
      if (!digit_at(text, end)) continue;
      while (digit_at(text, end)) ++end;
      if (text.compare(end, 5, " zero") != 0 && text.compare(end, 9, " negative") != 0) return true;
    }
  return false;
}

// Why a text can't be shown; empty if it can.
std::string fault_of(const std::string& text) {
  if (text.empty()) return "empty";
  if (text.find_first_of("{}") != std::string::npos) return "placeholder";
  if (text.front() == ' ') return "blank in front";
  for (const char* wrong : {"  ", " .", " ,", " ;", " :", " )", "( ", "()", "..", "of of", "from from", "input input"})
    if (text.find(wrong) != std::string::npos) return std::string("'") + wrong + "'";
  if (claims_nothing(text)) return "a claim of 0";
  return number_without_noun(text) ? "a number without its noun" : "";
}

void check_words(const CauseFacts& f, std::size_t& wordings) {
  const causes::Words w = causes::word(f);
  ++wordings;
  for (const std::string& text : {w.text, w.remedy}) {
    const std::string fault = fault_of(text);
    if (fault.empty()) continue;
    CAPTURE(f.id);
    CAPTURE(f.op);
    FAIL_CHECK(fault << ": " << text);
  }
  const bool some = std::any_of(f.inputs.begin(), f.inputs.end(), [](const InputFacts& i) {
    return i.known && (i.health.num_zero > 0 || i.health.num_negative > 0);
  });
  const bool inside = f.inside_input.known;
  const bool counts = w.text.find(" zero") != std::string::npos && w.text.find("zeros do") == std::string::npos &&
                      w.text.find("zeros and negative values do") == std::string::npos;
  if (!some && !inside && counts) FAIL_CHECK("counts what is not known: " << w.text);
}

}  // namespace

TEST_CASE("thousands of generated causes: no hole, no claim of nothing, no count that is not known") {
  std::size_t wordings = 0;
  test::for_each_cause([&](const CauseFacts& f) { check_words(f, wordings); });
  CHECK(wordings > 50'000);
}

namespace {

CauseFacts made_by(const char* op, const char* id, const TensorHealth& out, const std::vector<InputFacts>& inputs) {
  CauseFacts f;
  f.id = id;
  f.op = op;
  f.code = causes::op_code(op);
  f.place = "a.cpp:3";
  f.out = out;
  f.kinds = static_cast<causes::Kinds>((out.num_nan > 0 ? reader::nan_flag : 0) |
                                       (out.num_neg_inf > 0 ? reader::neg_inf_flag : 0) |
                                       (out.num_pos_inf > 0 ? reader::pos_inf_flag : 0));
  f.inputs = inputs;
  f.all_clean = std::all_of(inputs.begin(), inputs.end(), [](const InputFacts& i) { return i.known; });
  return f;
}

std::string text_of(const CauseFacts& f) { return causes::word(f).text; }

}  // namespace

TEST_CASE("a sentence says what the counts prove") {
  const TensorHealth three = health(12, 2, 3, 0, 0, 0);
  const InputFacts x{"x", true, health(12, 0, 0, 0, 2, 3)};
  CHECK(text_of(made_by("Log", "log0", three, {x})) ==
        "Log at a.cpp:3 turned 3 zeros of x into −∞ and 2 negative values into NaN (5 of 12).");
  const InputFacts missing{"x", false, {}};
  CHECK(text_of(made_by("Log", "log0", health(12, 0, 3, 0, 0, 0), {missing})) ==
        "Log at a.cpp:3 made −∞ in 3 of 12 elements from x; zeros do that.");
  CHECK(text_of(made_by("Log1p", "log0", health(12, 0, 1, 0, 0, 0), {{"x", true, health(12, 0, 0, 0, 4, 3)}})) ==
        "Log1p at a.cpp:3 made −∞ in 1 of 12 elements from clean input x; only −1 does that.");
  CHECK(text_of(made_by("InvGrad", "sqrtgrad0", health(2, 0, 1, 0, 0, 0), {{"y", true, health(2, 0, 0, 0, 0, 1)}})) ==
        "The gradient of 1/x is infinite at 0: y has 1 zero (InvGrad at a.cpp:3).");
  const InputFacts large{"x", true, health(2, 0, 0, 0, 1, 0)};
  CHECK(text_of(made_by("Pow", "pow", health(2, 0, 0, 2, 0, 0), {large})) ==
        "Pow at a.cpp:3 made +∞ in 2 of 2 elements from clean input x: it overflowed.");
  CHECK(text_of(made_by("Pow", "pow", health(2, 0, 0, 2, 0, 0), {missing})) ==
        "Pow at a.cpp:3 made +∞ in 2 of 2 elements from x: 0 with a negative exponent, or an overflow.");
  CHECK(text_of(made_by("aten::std", "generic", health(1, 1, 0, 0, 0, 0), {{"x", true, health(1, 0, 0, 0, 1, 0)}})) ==
        "aten::std at a.cpp:3 made NaN from clean input x: a single value has no deviation.");
  CHECK(text_of(made_by("aten::std", "generic", health(1, 1, 0, 0, 0, 0), {{"x", true, health(2, 0, 0, 0, 1, 0)}})) ==
        "aten::std at a.cpp:3 made NaN from clean input x.");
  const InputFacts a{"a", true, health(2, 0, 0, 0, 0, 1)};
  CHECK(text_of(made_by("aten::addcdiv_", "div00", health(2, 1, 0, 0, 0, 0), {large, a, a})) ==
        "0/0 at a.cpp:3: a has 1 zero, and a has 1 zero.");
  CauseFacts quotient = made_by("Div", "div00", health(2, 1, 0, 0, 0, 0), {a, a});
  quotient.by_itself = true;
  CHECK(text_of(quotient) == "Div at a.cpp:3 divides a by itself, and that has 1 zero.");
}

TEST_CASE("an op of unknown nature: what was seen where it went bad decides which values are named") {
  const TensorHealth three = health(12, 3, 0, 0, 0, 0);
  InputFacts x{"x", true, health(12, 0, 0, 0, 5, 2)};
  const auto text = [&](const TensorHealth& out) { return text_of(made_by("Forces", "generic", out, {x})); };
  const std::string start = "Forces at a.cpp:3 made NaN in 3 of 12 elements from clean input x";
  CHECK(text(three) == start + "; x has 2 zeros: a division by 0 or a logarithm of 0 inside may have made it.");
  x.at_bad = {1, -2, 3};  // no zero is there, and more values than few are negative
  CHECK(text(three) == start + ".");
  x.health = health(12, 0, 0, 0, 3, 2);  // as many as there are NaN
  CHECK(text(three) == start + "; x has 3 negative values: a root or logarithm of these inside may have made it.");
  x.health = health(12, 0, 0, 0, 5, 2);
  x.at_bad = {1, 2, 3};
  CHECK(text(three) == start + ".");
  x.at_bad = {1, 0, 3};
  CHECK(text(three) == start + "; x has 2 zeros: a division by 0 or a logarithm of 0 inside may have made it.");
  x.at_bad = {1, 0, -3};  // some zeros, some negative values
  CHECK(text(three) == start + "; x has 2 zeros: a division by 0 or a logarithm of 0 inside may have made it.");
  x.at_bad = {-1, -2, -3};  // nothing but negative values is stronger than zeros of which it is not known
  x.health = health(12, 0, 0, 0, 3, 2);
  CHECK(text_of(made_by("Whiten", "generic", three, {{"v", true, health(12, 0, 0, 0, 0, 2)}, x}))
            .find("; x has 3 negative values") != std::string::npos);
  x.health = health(12, 0, 0, 0, 5, 2);
  x.at_bad.clear();
  x.largest = 3.3e38;  // before zeros: a few of these overflow when they are added up
  const TensorHealth infinite = health(12, 0, 1, 2, 0, 0);
  CHECK(text(infinite) ==
        "Forces at a.cpp:3 made −∞ and +∞ in 3 of 12 elements from clean input x; x reaches 3.3e+38, and float32 ends "
        "at 3.40e+38: it may have overflowed inside.");
  x.largest = 1e20;  // its square overflows: before zeros of which it is not known
  CHECK(text(infinite).find("x reaches 1e+20, and float32 ends") != std::string::npos);
  CHECK(text(three).find("a logarithm of 0 inside may have made it") != std::string::npos);
  x.at_bad = {0, 0};
  CHECK(text(infinite).find("a logarithm of 0 inside may have made it") != std::string::npos);
  x.at_bad.clear();
  x.health = health(12, 0, 0, 0, 5, 0);
  x.largest = 1e10;
  CHECK(text(infinite) == "Forces at a.cpp:3 made −∞ and +∞ in 3 of 12 elements from clean input x.");
}

TEST_CASE("zeros in several inputs: two are named, those first that are nothing else, and how many there are") {
  const InputFacts some{"m", true, health(12, 0, 0, 0, 5, 2)};
  const InputFacts more{"v", true, health(12, 0, 0, 0, 0, 3)};
  const InputFacts whole{"c", true, health(1, 0, 0, 0, 0, 1)};
  const auto text = [](const std::vector<InputFacts>& inputs) {
    return text_of(made_by("DivM", "generic", health(12, 2, 10, 0, 0, 0), inputs));
  };
  const std::string rest = ": a division by 0 or a logarithm of 0 inside may have made it.";
  CHECK(text({some, whole}).find("; m has 2 zeros, and c has 1 zero" + rest) != std::string::npos);
  CHECK(text({some, more, whole}).find("; 3 inputs have zeros, m and c among them" + rest) != std::string::npos);
}

TEST_CASE("zeros in several inputs: those that have them where the output is bad, and nowhere else, are named alone") {
  const InputFacts start{"u", true, health(12, 0, 0, 0, 0, 12), {0}};
  const InputFacts diagonal{"d", true, health(12, 0, 0, 0, 0, 1), {0}};
  const TensorHealth one = health(12, 1, 0, 0, 0, 0);
  CHECK(text_of(made_by("Jacobi", "generic", one, {start, diagonal})).find("; d has 1 zero: a division") !=
        std::string::npos);
  InputFacts energy{"e", true, health(12, 0, 0, 0, 1, 0), {-1}};
  const InputFacts momentum{"m", true, health(12, 0, 0, 0, 3, 0), {-2}};
  CHECK(text_of(made_by("Sound", "generic", one, {momentum, energy})).find("; e has 1 negative value: a root") !=
        std::string::npos);
  energy.at_bad.clear();
  energy.health = momentum.health;
  CHECK(text_of(made_by("Sound", "generic", one, {{"m", true, momentum.health}, energy}))
            .find("; 2 inputs have negative values, m and e among them: a root") != std::string::npos);
}

TEST_CASE("an op of unknown nature that makes few elements of many: their squares, added up, may have overflowed") {
  InputFacts x{"x", true, health(128, 0, 0, 0, 0, 20), {}, 66};
  x.health.dtype = DType::float16;
  TensorHealth out = health(4, 0, 0, 1, 0, 0);
  out.dtype = DType::float16;
  const auto text = [&] { return text_of(made_by("Moments", "generic", out, {x})); };
  CHECK(text().find("x reaches 66, and float16 ends at 65504: it may have overflowed inside") != std::string::npos);
  x.largest = 40;  // 32 · 40² is less
  CHECK(text().find("x has 20 zeros: a division") != std::string::npos);
}

TEST_CASE("what the inputs held where the output is bad can rule out what the op's name promises") {
  const auto rules_out = [](const char* op, const TensorHealth& out, const std::vector<InputFacts>& inputs) {
    return causes::detail::values_rule_out(made_by(op, "generic", out, inputs));
  };
  const auto of = [](std::vector<double> values) {
    return InputFacts{"x", true, health(12, 0, 0, 0, 0, 0), std::move(values)};
  };
  const TensorHealth infinite = health(12, 0, 1, 1, 0, 0);
  const TensorHealth nan = health(12, 2, 0, 0, 0, 0);
  struct Case {
    const char* op;
    double can;
    double cannot;
  };
  for (const Case& c : {Case{"Log", 0, 0.5}, Case{"Log", 1e-40, 1e-30}, Case{"Log1p", -1, 0.9}, Case{"Sqrt", -1, 0},
                        Case{"Rsqrt", 0, 0.5}, Case{"Reciprocal", 1e-39, 0.5}, Case{"Exp", 89, 1.5},
                        Case{"Sinh", -90, 2}, Case{"Acos", 1.0000001, 1}}) {
    CAPTURE(c.op);
    CHECK_FALSE(rules_out(c.op, infinite, {of({c.can, c.can})}));
    CHECK(rules_out(c.op, infinite, {of({c.can, c.cannot})}));
    CHECK(rules_out(c.op, infinite, {of({c.cannot, c.cannot})}));
    CHECK_FALSE(rules_out(c.op, infinite, {of({})}));
  }
  CHECK(rules_out("Div", infinite, {of({1, 2}), of({1.5, -0.5})}));
  CHECK(rules_out("Div", infinite, {of({}), of({15, 5})}));
  CHECK_FALSE(rules_out("Div", infinite, {of({1, 2}), of({1.5, 0})}));
  CHECK_FALSE(rules_out("Div", infinite, {of({1e30, 2}), of({1e-10, 1})}));
  CHECK(rules_out("Pow", nan, {of({1, 2})}));
  CHECK(rules_out("Pow", nan, {of({1, 2}), of({0.5, 3})}));
  CHECK_FALSE(rules_out("Pow", nan, {of({1, -2}), of({0.5, 0.5})}));
  CHECK_FALSE(rules_out("Pow", infinite, {of({1, 2})}));
  CHECK_FALSE(rules_out("aten::acosh", nan, {of({0.5})}));
  CHECK_FALSE(rules_out("Fused", nan, {of({1, 2})}));
}

TEST_CASE("an overflow that numbers of this size can't give is not called one") {
  InputFacts q{"q", true, health(64, 0, 0, 0, 20, 0)};
  InputFacts k = q;
  const auto words = [&](const char* op) {
    return causes::word(made_by(op, "overflow", health(64, 0, 22, 29, 4, 0), {q, k}));
  };
  CHECK(words("MatMul").text == "MatMul at a.cpp:3 exceeded the range of float32 (3.40e+38) in 51 of 64 elements.");
  q.largest = 1200.5;
  CHECK(words("MatMul").text == "MatMul at a.cpp:3 exceeded the range of float32 (3.40e+38) in 51 of 64 elements.");
  k.largest = 900;
  CHECK(words("MatMul").text ==
        "MatMul at a.cpp:3 made −∞ and +∞ in 51 of 64 elements from inputs that reach about 1200: float32 holds "
        "what they give, so it was computed in a narrower type, or with something that is not on record.");
  CHECK(words("MatMul").remedy.find("Look at the type that it computes and adds up in") == 0);
  q.largest = k.largest = 1e18;
  CHECK(words("MatMul").text.find("exceeded the range") != std::string::npos);
  q.largest = k.largest = 10;
  CHECK(words("Prod").text.find("exceeded the range") != std::string::npos);  // ten to a power of the size
}

TEST_CASE("x log y is infinite by a large x, too") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 2, 0)};
  const auto words = [&](const char* op, const TensorHealth& out) {
    return text_of(made_by(op, "generic", out, {x, x}));
  };
  CHECK(words("Xlog1py", health(4, 1, 0, 0, 0, 0)).ends_with("from clean inputs; only values below −1 do that."));
  CHECK(words("Xlog1py", health(4, 0, 1, 0, 0, 0)).ends_with("from clean inputs; −1 does that."));
  CHECK(words("Xlogy", health(4, 2, 0, 0, 0, 0))
            .ends_with("; x has 2 negative values: the logarithm of such a value does that."));
  CHECK(words("Xlogy", health(4, 2, 0, 1, 0, 0)).find("does that") == std::string::npos);
}

TEST_CASE("finite logits and large labels make a cross-entropy overflow") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 2, 0)};
  const TensorHealth* const known[] = {&x.health, &x.health};
  const TensorHealth nan = health(2, 1, 0, 0, 0, 0);
  CHECK(causes::judge(OpCode::cross_entropy, nan, known, true).verdict != causes::Verdict::contradicted);
  CHECK(causes::judge(OpCode::log_softmax, nan, known, true).verdict != causes::Verdict::contradicted);
  CHECK(causes::judge(OpCode::softmax, nan, known, true).verdict == causes::Verdict::contradicted);
}

TEST_CASE("what squares, adds up powers, or takes a number that is not on record, goes further than its input") {
  InputFacts x{"x", true, health(4, 0, 0, 0, 0, 0), {}, 1e30};
  const auto words = [&](const char* op) { return text_of(made_by(op, "overflow", health(1, 0, 0, 1, 0, 0), {x})); };
  CHECK(words("aten::linalg_vector_norm") ==
        "aten::linalg_vector_norm at a.cpp:3 exceeded the range of float32 (3.40e+38).");
  for (const char* const op :
       {"Square", "SQR", "SquaredDifference", "aten::mul", "SCALE", "SWIGLU", "aten::add", "ReduceSumSquare"}) {
    CAPTURE(op);
    CHECK(words(op).find(" exceeded the range of ") != std::string::npos);
  }
  x.largest = 100;
  for (const char* const op : {"aten::logsumexp", "ReduceLogSumExp", "Attention", "FLASH_ATTN_EXT"}) {
    CAPTURE(op);
    CHECK(words(op).find(" exceeded the range of ") != std::string::npos);
  }
  for (const char* const op : {"aten::sum", "Square", "CumSum"}) {
    CAPTURE(op);
    CHECK(words(op).find("in a narrower type") != std::string::npos);
  }
}

TEST_CASE("functions that end at the borders of their domain") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 1, 1)};
  const auto words = [&](const char* op, const TensorHealth& out) { return text_of(made_by(op, "domain", out, {x})); };
  const TensorHealth infinite = health(4, 0, 1, 0, 0, 0);
  const TensorHealth nan = health(4, 1, 0, 0, 0, 0);
  CHECK(words("Erfinv", infinite).ends_with("only −1 and 1 do that."));
  CHECK(words("aten::erfinv_", nan).ends_with("only values outside its domain (−1 < x < 1) do that."));
  CHECK(words("aten::logit", infinite).ends_with("only values outside its domain (0 < x < 1) do that."));
  CHECK(words("Ndtri", nan).ends_with("only values outside its domain (0 < x < 1) do that."));
  CHECK(words("aten::special_entr", infinite).ends_with("only values outside its domain (x ≥ 0) do that."));
  CHECK(words("BesselK0e", nan).ends_with("only values outside its domain (x > 0) do that."));
  CHECK(words("aten::special_bessel_y0", nan).ends_with("only values outside its domain (x > 0) do that."));
}

TEST_CASE("a quotient overflows without a large input") {
  const InputFacts one{"a", true, health(2, 0, 0, 0, 0, 0), {1, 1}, 1};
  InputFacts tiny{"b", true, health(2, 0, 0, 0, 1, 0), {}, 1e-43};
  const auto text = [&] { return text_of(made_by("RealDiv", "overflow", health(2, 0, 1, 1, 0, 0), {one, tiny})); };
  CHECK(text() == "RealDiv at a.cpp:3 exceeded the range of float32 (3.40e+38) in 2 of 2 elements.");
  tiny.at_bad = {1e-43, -2.8e-45};
  CHECK(text() ==
        "RealDiv at a.cpp:3 divides by b, which is as small as 2.8e-45: the quotient is beyond the range of float32 "
        "(3.40e+38) in 2 of 2 elements.");
}

TEST_CASE("rounding is blamed only where statistics show it") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 0, 0)};
  CauseFacts f = made_by("Acos", "domain", health(4, 1, 0, 0, 0, 0), {x});
  CHECK(text_of(f) ==
        "Acos at a.cpp:3 made NaN in 1 of 4 elements from clean input x; only values outside its domain (−1 ≤ x ≤ 1) "
        "do that.");
  f.inputs[0].largest = 2;
  CHECK(text_of(f) == "Acos at a.cpp:3 left its domain (−1 ≤ x ≤ 1): x reaches 2.");
  f.inputs[0].largest = 1.0000001;
  CHECK(text_of(f).find("probably by rounding: x reaches 1.0000001") != std::string::npos);
}

TEST_CASE("where only presence is known: every value that does it is named") {
  CauseFacts f = made_by("Rsqrt", "sqrtneg", TensorHealth{}, {{"x", true, {}}});
  f.kinds_known = false;
  f.mode = TensorDebugMode::curt_health;
  CHECK(text_of(f) == "Rsqrt at a.cpp:3 made NaN or ∞ from clean input x; only zeros and negative values do that.");
  CHECK(causes::word(f).remedy.find("Record with FULL_HEALTH") != std::string::npos);
}

TEST_CASE("advice fits the dtype: loss scaling is for float16 alone") {
  CauseFacts f = made_by("Mul", "overflow", health(12, 0, 0, 1, 0, 11), {{"x", true, health(12, 0, 0, 0, 0, 12)}});
  CHECK(causes::word(f).remedy == "Scale the inputs down, or clip gradients, or use float64.");
  f.out.dtype = DType::float64;
  CHECK(causes::word(f).remedy == "Scale the inputs down, or clip gradients.");
  f.out.dtype = DType::float16;
  CHECK(causes::word(f).remedy.find("loss scaling") != std::string::npos);
}

TEST_CASE("a bound for a logarithm is no smaller than its reciprocal has room for") {
  CauseFacts f = made_by("Log", "log0", health(4, 0, 1, 0, 0, 0), {{"x", true, health(4, 0, 0, 0, 0, 1)}});
  CHECK(causes::word(f).remedy.find("max(x, 1e-7)") != std::string::npos);
  f.out.dtype = DType::float16;
  CHECK(causes::word(f).remedy.find("max(x, 1e-4)") != std::string::npos);
}

TEST_CASE("an op without rules: a hint where an input has zeros, as a possibility") {
  const std::string text =
      text_of(made_by("Fused", "generic", health(4, 1, 0, 0, 0, 0), {{"x", true, health(4, 0, 0, 0, 0, 2)}}));
  CHECK(text.find("x has 2 zeros: a division by 0 or a logarithm of 0 inside may have made it") != std::string::npos);
  CHECK(text_of(made_by("Fused", "generic", health(4, 1, 0, 0, 0, 0), {{"x", true, health(4, 0, 0, 0, 0, 0)}})) ==
        "Fused at a.cpp:3 made NaN in 1 of 4 elements from clean input x.");
}

TEST_CASE("a number that an op fills in is no constant's") {
  CauseFacts f = made_by("aten::masked_fill", "const", health(4, 0, 2, 0, 0, 2), {});
  CHECK(text_of(f) == "aten::masked_fill at a.cpp:3 filled in −∞.");
  f.id = "expected";
  CHECK(text_of(f) == "aten::masked_fill at a.cpp:3 filled in −∞, as a mask does: no NaN follows.");
  f.kinds = reader::nan_flag;
  CHECK(text_of(f) == "aten::masked_fill at a.cpp:3 filled in NaN, which ops have removed again.");
  for (const char* const op : {"Const", "Constant", "aten::scalar_tensor"})
    CHECK(text_of(made_by(op, "const", health(4, 0, 2, 0, 0, 2), {})).starts_with("The constant "));
}

TEST_CASE("an op without rules that is given one tensor twice: its zeros are told once") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 0, 2)};
  CHECK(text_of(made_by("Fused", "generic", health(4, 1, 0, 0, 0, 0), {x, x})).find("; x has 2 zeros: a division") !=
        std::string::npos);
}

TEST_CASE("the logarithm of the gamma function, and its derivatives: their poles, not roots of negative values") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 2, 1)};
  for (const char* const op : {"Lgamma", "aten::special_gammaln", "aten::digamma", "Polygamma"})
    CHECK(text_of(made_by(op, "generic", health(4, 2, 0, 0, 0, 0), {x}))
              .ends_with("; values outside its domain (x ≠ 0, −1, −2, …) do that."));
  for (const char* const op : {"Igamma", "aten::mvlgamma"})
    CHECK(text_of(made_by(op, "generic", health(4, 2, 0, 0, 0, 0), {x})).find("x ≠ 0") == std::string::npos);
}

TEST_CASE("what to do about a division is said where the program can do it: behind a gradient of PyTorch's, in front") {
  const auto remedy = [](const char* op, const char* node) {
    CauseFacts f = made_by(op, "div0", health(4, 0, 0, 2, 0, 2), {{"x", true, health(4, 0, 0, 0, 2, 2)}});
    f.native = true;
    f.op_name = node;
    return causes::word(f).remedy;
  };
  for (const char* const node : {"SqrtBackward0", "Atan2Backward0 of net"})
    CHECK(remedy("aten::reciprocal", node).starts_with("This division is part of a gradient"));
  for (const char* const node : {"", "net.BackwardPass", "OwnBackward"})
    CHECK(remedy("aten::reciprocal", node).starts_with("Add a small ε to the divisor"));
  CHECK(remedy("Reciprocal", "SqrtBackward0").starts_with("Add a small ε to the divisor"));
}

TEST_CASE("what is negative makes no infinity: no root or logarithm of it is thought of then") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 2, 0)};
  CHECK(text_of(made_by("Fused", "generic", health(4, 2, 0, 0, 0, 2), {x})).find("root or logarithm") !=
        std::string::npos);
  CHECK(text_of(made_by("Fused", "generic", health(4, 1, 1, 0, 0, 2), {x})).find("root or logarithm") ==
        std::string::npos);
}

TEST_CASE("the deviation of a single value: the one that divides by n has one") {
  const auto remedy = [](double size) {
    return causes::word(
               made_by("aten::std", "generic", health(4, 4, 0, 0, 0, 0), {{"x", true, health(size, 0, 0, 0, 0, 4)}}))
        .remedy;
  };
  CHECK(remedy(4).find("divides by n, not by n − 1") != std::string::npos);
  CHECK(remedy(8).find("divides by n") == std::string::npos);
}

TEST_CASE("an op that normalises by its own statistics: by large values, never by negative ones") {
  InputFacts x{"x", true, health(4, 0, 0, 0, 2, 0)};
  x.largest = 1e25;
  const std::string large = "; x reaches 1e+25, and float32 ends at 3.40e+38: it may have overflowed inside";
  for (const char* const op : {"aten::native_layer_norm", "LayerNormalization", "RMS_NORM", "aten::native_group_norm"})
    CHECK(text_of(made_by(op, "generic", health(4, 4, 0, 0, 0, 0), {x})).find(large) != std::string::npos);
}

TEST_CASE("an op that normalises by its own statistics: by a variance of 0, not by the zeros of what it adds") {
  InputFacts x{"x", true, health(4, 0, 0, 0, 2, 1)};
  const InputFacts offset{"offset", true, health(2, 0, 0, 0, 0, 2)};
  const auto told = [&](const char* op) {
    return text_of(made_by(op, "generic", health(4, 4, 0, 0, 0, 0), {x, offset, offset}));
  };
  for (const char* const op : {"aten::native_layer_norm", "LayerNorm", "InstanceNormalization", "FusedBatchNormV3"})
    CHECK(told(op).ends_with("; a variance of 0 inside, where ε is 0, or an overflow may have made it."));
  x.largest = 2;
  CHECK(told("LayerNorm").ends_with("; a variance of 0 inside, where ε is 0, may have made it."));
  CHECK(told("RMS_NORM").ends_with("; x has 1 zero: a division by 0 or a logarithm of 0 inside may have made it."));
  x.at_bad = {0, 0};
  CHECK(told("LayerNorm").ends_with("; x has 1 zero: a division by 0 or a logarithm of 0 inside may have made it."));
  CHECK(text_of(made_by("LayerNorm", "generic", health(4, 0, 0, 4, 0, 0), {offset, x})).find("variance") ==
        std::string::npos);
}

TEST_CASE("an op that normalises by a variance that it is given: by what that holds") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 0, 3)};
  const auto told = [&](const TensorHealth& variance) {
    return text_of(
        made_by("FusedBatchNormV3", "generic", health(4, 4, 0, 0, 0, 0), {x, x, x, x, {"v", true, variance}}));
  };
  CHECK(told(health(2, 0, 0, 0, 1, 1)).find("; the variance, v, has 1 negative value: ") != std::string::npos);
  CHECK(told(health(2, 0, 0, 0, 0, 1)).find("; v has 1 zero: a division by 0") != std::string::npos);
  CHECK(text_of(made_by("aten::native_batch_norm", "generic", health(4, 4, 0, 0, 0, 0), {x, x}))
            .ends_with(": a single value has no deviation."));
}

TEST_CASE("x log(1 + y): by −1, and what is below") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 0, 4)};
  const InputFacts y{"y", true, health(4, 0, 0, 0, 2, 1)};
  const auto told = [&](const TensorHealth& out) { return text_of(made_by("Xlog1py", "generic", out, {x, y})); };
  CHECK(told(health(4, 0, 1, 0, 0, 0)).ends_with("; −1 does that."));  // and a large x
  CHECK(told(health(4, 1, 0, 0, 0, 0)).find("only values below −1 do that") != std::string::npos);
}

TEST_CASE("x log y: what y holds whose logarithm is infinite, or is none") {
  const InputFacts x{"x", true, health(4, 0, 0, 0, 0, 1)};
  const auto told = [&](const TensorHealth& out, const TensorHealth& y) {
    return text_of(made_by("aten::xlogy", "generic", out, {x, {"y", true, y}}));
  };
  const std::string such = ": the logarithm of such a value does that.";
  CHECK(told(health(4, 0, 1, 0, 0, 0), health(4, 0, 0, 0, 2, 1)).ends_with("; y has 1 zero" + such));
  CHECK(told(health(4, 2, 0, 0, 0, 0), health(4, 0, 0, 0, 2, 1)).ends_with("; y has 2 negative values" + such));
  CHECK(told(health(4, 2, 0, 0, 0, 0), health(4, 0, 0, 0, 0, 1)).find(such) == std::string::npos);
}

TEST_CASE("inputs that can't give the output: no mechanism is claimed") {
  CauseFacts f = made_by("Log", "log0", health(4, 0, 1, 0, 0, 0), {{"x", true, health(4, 0, 0, 0, 0, 0)}});
  f.contradicted = true;
  f.confidence = 0.4F;
  f.native = true;
  CHECK(text_of(f).starts_with("Log at a.cpp:3 made −∞ in 1 of 4 elements, which its inputs on record can't give"));
  CHECK(causes::word(f).remedy.find("nanlens::record") != std::string::npos);
}

TEST_CASE("an unknown input: how to record it, in the words of the program that records") {
  CauseFacts f = made_by("Mul", "unknown", health(4, 1, 0, 0, 0, 0), {{"input 1", false, {}}});
  f.event_class = EventClass::unknown;
  f.missing = "input 1";
  f.reason = causes::Reason::eager;
  CHECK(causes::word(f).remedy.find("tf.identity") != std::string::npos);
  f.native = true;
  CHECK(causes::word(f).remedy.find("nanlens::op(") != std::string::npos);
  CHECK(text_of(f).find("no recorded op made it") != std::string::npos);
  f.op = "aten::mul";  // mostly of Python, where nobody writes that
  for (const char* const id : {"unknown", "arrived", "changed"}) {
    f.id = id;
    CHECK(causes::word(f).remedy.find("nanlens run --traps") != std::string::npos);
  }
}

TEST_CASE("what may have been in the memory of an output: nobody can tell, and how to record what is in place") {
  CauseFacts f =
      made_by("AddEmission", "unknown", health(4, 4, 0, 0, 0, 0), {{"input 0", true, health(4, 0, 0, 0, 4, 0)}});
  f.event_class = EventClass::unknown;
  f.native = true;
  f.lay_there = "Log:0";
  CHECK(text_of(f).find("its inputs on record are clean, and Log:0 was in its memory before") != std::string::npos);
  CHECK(causes::word(f).remedy.find("nanlens::record(") != std::string::npos);
}

TEST_CASE("TensorFlow's logdirs: every sentence of every cause can be shown, and causes are counted once") {
  for (const char* const name :
       {"core.FULL_HEALTH", "core.CURT_HEALTH", "filtered.FULL_HEALTH", "session.FULL_HEALTH"}) {
    reader::Logdir logdir(std::string(NANLENS_GOLDEN_DIR) + "/" + name);
    logdir.update();
    for (const auto& run : logdir.runs()) {
      causes::Causes causes(*run);
      test::finish(causes);
      causes::SentenceWriter writer(causes);
      CAPTURE(name);
      for (std::uint32_t root = 0; root < causes.roots().size(); ++root) {
        const auto s = writer.sentence(root);
        for (const std::string& text : {s.text, s.remedy}) CHECK_MESSAGE(fault_of(text) == "", text);
        if (!s.consequence.empty()) CHECK_MESSAGE(fault_of(s.consequence) == "", s.consequence);
      }
      std::set<std::string> told;
      std::uint64_t reach = 0;
      for (const auto& group : writer.groups().list()) {
        const auto s = writer.sentence(group.root);
        CHECK_MESSAGE(told.insert(s.op_type + " " + causes::SentenceWriter::short_place(s.place) + s.op_name).second,
                      s.text);
        CHECK(group.count >= 1);
        CHECK(group.count <= group.roots.size());
        reach += group.reach;
      }
      CHECK(reach <= causes.total());
      REQUIRE(!writer.groups().list().empty());
      CHECK(writer.groups().list().front().root == writer.groups().headline());
    }
  }
}

TEST_CASE("of several runs, the bad ones come first, by the time of their first bad tensor") {
  auto owned = std::make_unique<reader::MemoryStorage>();
  auto* const storage = owned.get();
  const auto add = [&](const char* run, double start, int bad_every, std::int64_t seconds) {
    test::GeneratorOptions options;
    options.calls = 3;
    options.bad_every = bad_every;
    options.run_id = run;
    options.start_time = start;
    for (const auto& [kind, bytes] : test::generated_set(options))
      storage->append(test::generated_name(kind, "host", seconds), bytes);
  };
  add("clean", 3e9, 0, 1);
  add("later", 2e9, 5, 2);
  add("first", 1e9, 5, 3);
  reader::Logdir logdir(std::move(owned));
  logdir.update();
  std::vector<reader::Run*> runs;
  for (const auto& run : logdir.runs()) runs.push_back(run.get());
  std::string order;
  for (const reader::Run* run : causes::by_importance(runs)) order += run->id() + " ";
  CHECK(order == "first later clean ");
}

TEST_CASE("two hosts of one run: the sentence names the one where it began") {
  auto owned = std::make_unique<reader::MemoryStorage>();
  auto* const storage = owned.get();
  for (const char* const host : {"alpha", "beta"}) {
    test::GeneratorOptions options;
    options.calls = 3;
    options.bad_every = std::string(host) == "beta" ? 5 : 0;
    for (const auto& [kind, bytes] : test::generated_set(options))
      storage->append(test::generated_name(kind, host), bytes);
  }
  reader::Logdir logdir(std::move(owned));
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  causes::Causes causes(*logdir.runs().front());
  test::finish(causes);
  causes::SentenceWriter writer(causes);
  REQUIRE(writer.groups().headline() != reader::none);
  const auto s = writer.sentence(writer.groups().headline());
  CHECK(s.host == "beta");
  CHECK(s.text.find(" on host beta") != std::string::npos);
}

TEST_CASE("an input whose memory was changed since is not called the result of what was recorded there") {
  for (const bool changed : {false, true}) {
    CAPTURE(changed);
    const WhyAnswer a = ask(*Recorded([&] {
      std::vector<float> x = op("Data", std::vector<float>{1, changed ? 2.0F : 0.0F, 3, 4});
      x[1] = 0;
      op("Log", std::vector<float>{0, -infinity, 1, 2}, x);
    }));
    CHECK(a.op_type == "Log");
    CHECK((a.text.find("1 zero of input 0") != std::string::npos) == changed);
    CHECK((a.text.find("1 zero of the result of Data") != std::string::npos) == !changed);
  }
}
