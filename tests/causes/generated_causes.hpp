/// @file
/// Causes of every kind, whatever is known of them or not: what sentences are made of.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nanlens/causes/wording.hpp>

namespace nanlens::test {

using causes::CauseFacts;
using causes::EventClass;
using causes::InputFacts;
using causes::TensorHealth;

inline TensorHealth health(double size, double nan, double ninf, double pinf, double negative, double zero) {
  TensorHealth h;
  h.dtype = DType::float32;
  h.rank = 1;
  h.size = size;
  h.num_nan = nan;
  h.num_neg_inf = ninf;
  h.num_pos_inf = pinf;
  h.num_negative = negative;
  h.num_zero = zero;
  h.num_positive = size - nan - ninf - pinf - negative - zero;
  return h;
}

inline constexpr const char* op_types[] = {
    "Log",      "Log1p",     "Sqrt",     "Rsqrt", "Reciprocal",  "RealDiv", "FloorMod",  "Exp",      "Cosh",
    "Pow",      "Square",    "Mul",      "AddV2", "Sub",         "AddN",    "Sum",       "Mean",     "Max",
    "MatMul",   "Prod",      "Softmax",  "Cast",  "Acos",        "Acosh",   "Atanh",     "SqrtGrad", "InvGrad",
    "Cholesky", "LayerNorm", "Identity", "Const", "Placeholder", "Split",   "RsqrtGrad", "",         "FusedBatchNormV3",
    "aten::std"};
inline constexpr const char* ids[] = {
    "log0",    "logneg", "log_softmax", "sqrtneg", "rsqrt0",  "sqrtgrad0",  "div0",      "div00",
    "empty",   "exp",    "overflow",    "cast",    "pow",     "domain",     "matrix",    "allmasked",
    "data",    "const",  "expected",    "opaque",  "unknown", "generic",    "arrived",   "changed",
    "ignored", "scaled", "scaled_in",   "guarded", "ctc",     "degenerate", "zero_times"};

inline std::vector<TensorHealth> outputs() {
  TensorHealth concise = health(7, 2, 1, 0, -1, -1);
  concise.num_positive = -1;
  return {TensorHealth{},
          concise,
          health(12, 0, 4, 0, 3, 1),
          health(12, 5, 0, 0, 0, 0),
          health(1, 0, 0, 1, 0, 0),
          health(12, 2, 4, 1, 2, 0),
          health(0, 0, 0, 0, 0, 0)};
}

inline std::vector<std::vector<InputFacts>> input_lists() {
  const InputFacts unknown{"input 0", false, {}};
  const InputFacts nameless{"", false, {}};
  const InputFacts uncounted{"x", true, {}};
  const InputFacts zeros{"x", true, health(12, 0, 0, 0, 0, 4)};
  const InputFacts both{"probs", true, health(12, 0, 0, 0, 2, 4)};
  const InputFacts fine{"input 1", true, health(12, 0, 0, 0, 0, 0)};
  const InputFacts none{"its input", true, health(0, 0, 0, 0, 0, 0)};
  return {{},     {unknown},     {nameless},     {uncounted},      {zeros},         {both},      {fine},
          {none}, {zeros, both}, {zeros, zeros}, {unknown, zeros}, {both, unknown}, {fine, fine}};
}

/// Calls `check` with each of some ten thousands of causes.
template <class Check>
void for_each_cause(Check&& check) {
  std::size_t turn = 0;
  constexpr double largest[] = {1.0000001, 2, -1, -1, 3e38, 1e20, 0, -1, -1};
  const EventClass classes[] = {EventClass::producer, EventClass::source, EventClass::unknown};
  for (const char* const op : op_types)
    for (const TensorHealth& out : outputs())
      for (const auto& inputs : input_lists())
        for (const char* const id : ids) {
          CauseFacts f;
          f.id = id;
          f.op = op;
          f.code = causes::op_code(op);
          f.out = out;
          f.inputs = inputs;
          // What does not go with everything else goes by turns.
          ++turn;
          f.event_class = classes[turn % 3];
          f.confidence = turn % 5 == 0 ? 0.7F : turn % 7 == 0 ? 0.3F : 1.0F;
          f.contradicted = turn % 11 == 0;
          f.all_clean = turn % 2 == 0 && !inputs.empty() &&
                        std::all_of(inputs.begin(), inputs.end(), [](auto& i) { return i.known; });
          f.kinds_known = turn % 4 != 0;
          f.kinds = static_cast<causes::Kinds>((out.num_nan > 0 ? reader::nan_flag : 0) |
                                               (out.num_neg_inf > 0 ? reader::neg_inf_flag : 0) |
                                               (out.num_pos_inf > 0 ? reader::pos_inf_flag : 0));
          if (turn % 3 == 0) f.place = "model.cpp:52";
          if (turn % 6 == 0) f.gradient_of = "model.cpp:40";
          if (turn % 13 == 0) f.where = " on host a";
          if (turn % 3 != 1) f.tensor = "Log:0";
          if (turn % 2 == 0) f.name = "the result of Log";
          if (turn % 5 < 2) f.missing = "input 1";
          if (turn % 6 == 0) f.origin = "Softmax";
          f.masked = turn % 12 == 0;
          if (turn % 4 == 1) f.inside = "Log";
          if (turn % 8 == 1) f.inside_input = {"output 0 of model", true, health(9, 0, 0, 0, 1, 3)};
          f.inside_negatives = turn % 16 == 1;
          if (!f.inputs.empty()) f.inputs.front().largest = largest[turn % std::size(largest)];
          f.reason = static_cast<causes::Reason>(turn % 12);
          f.native = turn % 2 == 1;
          f.all_seen = turn % 10 == 0;
          if (turn % 4 == 2) f.arrived = {"input 0", true, out};
          if (f.id == "guarded") f.guard = "SelectV2", f.integers = turn % 2 == 0 ? "Cast" : "";
          if (turn % 4 == 3) f.recorded_there = "the result of Load";
          check(f);
        }
}

}  // namespace nanlens::test
