#include <doctest/doctest.h>

#include <array>

#include <nanlens/causes/numerics.hpp>

using namespace nanlens;
using namespace nanlens::causes;

namespace {

struct Counts {
  double ninf = 0, pinf = 0, nan = 0, neg = 0, zero = 0, pos = 0;
};

TensorHealth health(Counts c, DType dtype = DType::float32) {
  TensorHealth h;
  h.dtype = dtype;
  h.rank = 1;
  h.size = c.ninf + c.pinf + c.nan + c.neg + c.zero + c.pos;
  h.num_neg_inf = c.ninf;
  h.num_pos_inf = c.pinf;
  h.num_nan = c.nan;
  h.num_negative = c.neg;
  h.num_zero = c.zero;
  h.num_positive = c.pos;
  return h;
}

Judgement judged(OpCode op, Counts out, Counts a) {
  const TensorHealth o = health(out);
  const TensorHealth x = health(a);
  const std::array<const TensorHealth*, 1> in{&x};
  return judge(op, o, in, true);
}
Judgement judged(OpCode op, Counts out, Counts a, Counts b) {
  const TensorHealth o = health(out);
  const TensorHealth x = health(a);
  const TensorHealth y = health(b);
  const std::array<const TensorHealth*, 2> in{&x, &y};
  return judge(op, o, in, true);
}

}  // namespace

TEST_CASE("op types are known by any host's spelling") {
  CHECK(op_code("Log") == OpCode::log);
  CHECK(op_code("log") == OpCode::log);
  CHECK(op_code("AddV2") == OpCode::add);
  CHECK(op_code("RealDiv") == op_code("div"));
  CHECK(op_code("BatchMatMulV2") == OpCode::matmul);
  CHECK(op_code("mat_mul") == OpCode::matmul);
  CHECK(op_code("FusedBatchNormV3") == OpCode::batch_norm);
  CHECK(op_code("_Retval") == OpCode::function_return);
  CHECK(op_code("ResourceApplyAdagradDA") == OpCode::apply);
  CHECK(op_code("MatrixDiagV3") == OpCode::keep);
  CHECK(op_code("UnsortedSegmentSum") == OpCode::reduce_sum);
  CHECK(op_code("TanhGrad") == OpCode::multiply);
  CHECK(op_code("LogOfSomethingElse") == OpCode::other);
  CHECK(op_code("aten::log_") == OpCode::log);
  CHECK(op_code("aten::_softmax") == OpCode::softmax);
  CHECK(op_code("aten::addmm") == OpCode::matmul);
  CHECK(op_code("aten::fill_") == OpCode::constant);  // a number that the program names
  CHECK(op_code("Fill") == OpCode::keep);
  CHECK(op_code("PRelu") == OpCode::multiply);             // by slopes that may be large
  CHECK(op_code("MatrixDeterminant") == OpCode::product);  // that of a singular matrix is 0
  CHECK(op_code("LogMatrixDeterminant") == OpCode::matrix);
  CHECK(op_code("") == OpCode::other);
}

TEST_CASE("layers are told from what else is called by such letters") {
  for (const char* const type : {"aten::lstm", "GRU", "GRUBlockCell", "RNN", "CudnnRNNV3", "aten::rnn_tanh",
                                 "aten::_thnn_fused_gru_cell", "BiasAdd", "Conv2D", "FusedBatchNormV3"}) {
    CAPTURE(type);
    CHECK(takes_weights(op_code(type), type));
  }
  for (const char* const type :
       {"return_norm", "congruence", "Add", "Relu", "Attention", "FLASH_ATTN_EXT", "aten::baddbmm"}) {
    CAPTURE(type);
    CHECK(!takes_weights(op_code(type), type));
  }
}

TEST_CASE("log: zeros give −∞ and negatives NaN, one for one") {
  auto j = judged(OpCode::log, {.ninf = 3, .neg = 5, .pos = 2}, {.zero = 3, .pos = 7});
  CHECK(j.verdict == Verdict::explained);
  CHECK(j.mechanism == Mechanism::log0);
  j = judged(OpCode::log, {.nan = 2, .pos = 8}, {.neg = 2, .pos = 8});
  CHECK(j.verdict == Verdict::explained);
  CHECK(j.mechanism == Mechanism::logneg);
  CHECK(judged(OpCode::log, {.nan = 2, .pos = 8}, {.pos = 10}).verdict == Verdict::contradicted);
  // Threads that flush subnormals to zero make more −∞ than there are zeros.
  CHECK(judged(OpCode::log, {.ninf = 4, .pos = 6}, {.zero = 1, .pos = 9}).verdict == Verdict::consistent);
}

TEST_CASE("division: by zero, zero by zero, overflow") {
  CHECK(judged(OpCode::divide, {.pinf = 1, .pos = 1}, {.pos = 2}, {.zero = 1, .pos = 1}).mechanism == Mechanism::div0);
  CHECK(judged(OpCode::divide, {.nan = 2}, {.zero = 2}, {.zero = 2}).mechanism == Mechanism::div00);
  const auto overflow = judged(OpCode::divide, {.pinf = 1, .pos = 1}, {.pos = 2}, {.pos = 2});
  CHECK(overflow.verdict == Verdict::consistent);
  CHECK(overflow.mechanism == Mechanism::overflow);
  CHECK(judged(OpCode::divide, {.nan = 1, .pos = 1}, {.pos = 2}, {.pos = 2}).verdict == Verdict::contradicted);
  CHECK(judged(OpCode::divide, {.nan = 1, .pos = 1}, {.pos = 2}, {.zero = 1, .pos = 1}).verdict ==
        Verdict::contradicted);
}

TEST_CASE("the rest of a division is NaN where the divisor is 0, whatever is divided") {
  CHECK(judged(OpCode::modulo, {.nan = 1, .pos = 1}, {.pos = 2}, {.zero = 1, .pos = 1}).verdict == Verdict::explained);
  CHECK(judged(OpCode::modulo, {.nan = 2}, {.zero = 2}, {.zero = 2}).mechanism == Mechanism::div0);
  CHECK(judged(OpCode::modulo, {.nan = 1, .pos = 1}, {.pos = 2}, {.pos = 2}).verdict == Verdict::contradicted);
}

TEST_CASE("a quotient that is added: of the last two of three inputs") {
  const TensorHealth sum = health({.pos = 2});
  const TensorHealth zero = health({.zero = 1, .pos = 1});
  const TensorHealth clean = health({.pos = 2});
  const auto judged = [&](const TensorHealth& out, const TensorHealth& above, const TensorHealth& below) {
    const std::array<const TensorHealth*, 3> inputs{&sum, &above, &below};
    return judge(OpCode::add_quotient, out, inputs, true);
  };
  CHECK(judged(health({.nan = 1, .pos = 1}), zero, zero).mechanism == Mechanism::div00);
  CHECK(judged(health({.pinf = 1, .pos = 1}), clean, zero).mechanism == Mechanism::div0);
  CHECK(judged(health({.pinf = 1, .pos = 1}), clean, clean).mechanism == Mechanism::overflow);
  CHECK(judged(health({.nan = 1, .pos = 1}), clean, zero).verdict == Verdict::consistent);  // scaled by 0
}

TEST_CASE("finite operands never multiply or add to NaN, whatever the mode tells") {
  for (const OpCode op : {OpCode::multiply, OpCode::add, OpCode::subtract, OpCode::square}) {
    CHECK(judged(op, {.nan = 1, .pos = 1}, {.pos = 2}, {.pos = 2}).verdict == Verdict::contradicted);
    CHECK(judged(op, {.pinf = 1, .pos = 1}, {.pos = 2}, {.pos = 2}).verdict == Verdict::explained);
    TensorHealth concise;
    concise.size = 2;
    concise.num_nan = 1;
    concise.num_neg_inf = concise.num_pos_inf = 0;
    CHECK(judge(op, concise, {}, false).verdict == Verdict::contradicted);
  }
}

TEST_CASE("an overflow is proven only if every input is known to be finite") {
  const TensorHealth out = health({.pinf = 1});
  const std::array<const TensorHealth*, 2> one_unknown{nullptr, nullptr};
  CHECK(judge(OpCode::matmul, out, one_unknown, false).verdict == Verdict::none);
  CHECK(judge(OpCode::matmul, out, one_unknown, true).verdict == Verdict::explained);
}

TEST_CASE("reductions of nothing") {
  const TensorHealth out = health({.nan = 1});
  TensorHealth nothing = health({});
  const std::array<const TensorHealth*, 1> in{&nothing};
  CHECK(judge(OpCode::mean, out, in, true).mechanism == Mechanism::empty);
  CHECK(judge(OpCode::maximum_of, health({.ninf = 1}), in, true).mechanism == Mechanism::empty);
  // Of whatever kind: the logarithm of a sum of nothing.
  for (const OpCode op : {OpCode::other, OpCode::add_n})
    CHECK(judge(op, health({.ninf = 2}), in, true).mechanism == Mechanism::empty);
  const TensorHealth full = health({.pos = 2});
  const std::array<const TensorHealth*, 2> one_empty{in[0], &full};
  CHECK(judge(OpCode::other, health({.ninf = 2}), one_empty, true).mechanism == Mechanism::generic);
}

TEST_CASE("what has elements was not made of an input without any, where the op needs elements") {
  for (const OpCode op : {OpCode::multiply, OpCode::divide, OpCode::square, OpCode::keep}) {
    CAPTURE(static_cast<int>(op));
    CHECK(judged(op, {.pinf = 1, .pos = 2}, {}).mechanism != Mechanism::empty);
    CHECK(judged(op, {.nan = 1}, {}, {}).mechanism != Mechanism::empty);
  }
}

TEST_CASE("casts: the widest type takes every number") {
  const TensorHealth out = health({.ninf = 1, .pos = 1}, DType::float64);
  const TensorHealth in = health({.neg = 1, .pos = 1});
  const std::array<const TensorHealth*, 1> known{&in};
  const std::array<const TensorHealth*, 1> unknown{nullptr};
  CHECK(judge(OpCode::cast, out, known, true).verdict == Verdict::contradicted);
  CHECK(judge(OpCode::cast, out, unknown, false).verdict == Verdict::contradicted);
}

TEST_CASE("casts: formats without infinity make NaN of what is too large") {
  const TensorHealth x = health({.pos = 2});
  const std::array<const TensorHealth*, 1> in{&x};
  CHECK(judge(OpCode::cast, health({.pinf = 1, .pos = 1}, DType::float16), in, true).verdict == Verdict::explained);
  CHECK(judge(OpCode::cast, health({.nan = 1, .pos = 1}, DType::float16), in, true).verdict == Verdict::contradicted);
  CHECK(judge(OpCode::cast, health({.nan = 1, .pos = 1}, DType::float8_e4m3fn), in, true).verdict ==
        Verdict::explained);
}

TEST_CASE("ranges of dtypes follow from their formats") {
  CHECK(dtype_max(DType::float64) == 1.7976931348623157e308);
  CHECK(dtype_max(DType::float32) == 3.4028234663852886e38);
  CHECK(dtype_max(DType::bfloat16) == 3.3895313892515355e38);
  CHECK(dtype_max(DType::float16) == 65504);
  CHECK(dtype_max(DType::float8_e5m2) == 57344);
  CHECK(dtype_max(DType::float8_e4m3fn) == 448);
  CHECK(dtype_max(DType::float8_e4m3fnuz) == 240);
  CHECK(dtype_max(DType::float8_e4m3b11fnuz) == 30);
  CHECK(dtype_max(DType::float8_e5m2fnuz) == 57344);
  CHECK(dtype_max(DType::int32) == 0);
  CHECK(exp_limit(DType::float64) == 709.78);
  CHECK(exp_limit(DType::float32) == 88.72);
  CHECK(exp_limit(DType::bfloat16) == 88.72);
  CHECK(exp_limit(DType::float16) == 11.09);
  CHECK(exp_limit(DType::float8_e5m2) == 0);
}

TEST_CASE("what only preserves can't have made anything") {
  for (const OpCode op :
       {OpCode::softmax, OpCode::relu, OpCode::negate, OpCode::keep, OpCode::maximum, OpCode::bounded})
    CHECK(judged(op, {.nan = 1, .pos = 1}, {.pos = 2}).verdict == Verdict::contradicted);
}
