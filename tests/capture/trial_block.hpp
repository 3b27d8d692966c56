/// @file
/// A transformer's block in C's manner, for trials. Parameters, gradients and activations are slices of three arenas,
/// behind raw pointers, seen in one shape here and in another there; tokens and targets are int32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace nanlens::test {

// B, T, C and V are what papers call them.
class TransformerBlock {
 public:
  static constexpr std::int64_t B = 2;  // samples
  static constexpr std::int64_t T = 3;  // tokens of each
  static constexpr std::int64_t C = 4;  // channels
  static constexpr std::int64_t V = 5;  // words

  struct Parameters {
    float* wte;   // V, C
    float* ln_w;  // C
    float* ln_b;  // C
    float* qk_w;  // C, C
    float* fc_w;  // C, C
  };
  static constexpr std::size_t num_parameters = V * C + C + C + C * C + C * C;

  struct Activations {
    float* encoded;   // B, T, C
    float* ln;        // B, T, C
    float* mean;      // B, T
    float* rstd;      // B, T
    float* scores;    // B, T, T
    float* att;       // B, T, T
    float* mixed;     // B, T, C
    float* gelu;      // B, T, C
    float* residual;  // B, T, C
    float* logits;    // B, T, V
    float* probs;     // B, T, V
    float* losses;    // B, T
  };
  static constexpr std::size_t num_activations = B * T * (2 * C + 2 + 2 * T + 3 * C + 2 * V + 1);

  static float* next_slice(float*& at, std::int64_t size) { return std::exchange(at, at + size); }

  std::vector<float> parameters = std::vector<float>(num_parameters);
  std::vector<float> gradients = std::vector<float>(num_parameters);
  std::vector<float> activations = std::vector<float>(num_activations);
  std::vector<std::int32_t> tokens{0, 3, 1, 4, 2, 2};
  std::vector<std::int32_t> targets{3, 1, 4, 2, 2, 0};
  Parameters p{};
  Activations a{};
  float epsilon = 1e-5F;
  bool shift_scores = true;  // softmax takes the maximum away first
  float gelu_scale = 1;      // of the op that is not wrapped
  bool gelu_in_place = false;

  TransformerBlock() {
    float* at = parameters.data();
    p = {next_slice(at, V * C), next_slice(at, C), next_slice(at, C), next_slice(at, C * C), next_slice(at, C * C)};
    at = activations.data();
    for (float** slice : {&a.encoded, &a.ln}) *slice = next_slice(at, B * T * C);
    for (float** slice : {&a.mean, &a.rstd}) *slice = next_slice(at, B * T);
    for (float** slice : {&a.scores, &a.att}) *slice = next_slice(at, B * T * T);
    for (float** slice : {&a.mixed, &a.gelu, &a.residual}) *slice = next_slice(at, B * T * C);
    for (float** slice : {&a.logits, &a.probs}) *slice = next_slice(at, B * T * V);
    a.losses = next_slice(at, B * T);
    for (std::size_t i = 0; i < num_parameters; ++i)  // as a checkpoint would
      parameters[i] = static_cast<float>((i * 13 + 5) % 17) / 17 - 0.4F;
  }

  static inline bool in_functions = false;  // forward is a Function

  /// Where ops are called, by type and name.
  static std::map<std::string, int>& lines() {
    static std::map<std::string, int> lines;
    return lines;
  }

  // The one hook: names come in a buffer that the next op writes over.
  void record_op(const char* type, const char* part, std::initializer_list<TensorView> out,
                 std::initializer_list<TensorView> in, std::source_location where = std::source_location::current()) {
    std::snprintf(name_, sizeof name_, "block.%s", part);
    lines()[std::string(type) + " " + name_] = static_cast<int>(where.line());
    nanlens::record({static_cast<const char*>(type), static_cast<const char*>(name_), where},
                    nanlens::outputs(std::vector<TensorView>(out)), nanlens::inputs(std::vector<TensorView>(in)));
  }

  void encode() {
    for (std::int64_t i = 0; i < B * T; ++i)
      for (std::int64_t c = 0; c < C; ++c) a.encoded[i * C + c] = p.wte[tokens[static_cast<std::size_t>(i)] * C + c];
    record_op("Gather", "encoder", {tensor_view(a.encoded, {B, T, C})},
              {tensor_view(p.wte, {V, C}), tensor_view(tokens.data(), {B, T})});
  }
  void layer_norm() {
    for (std::int64_t i = 0; i < B * T; ++i) {
      const float* x = a.encoded + i * C;
      float mean = 0;
      float variance = 0;
      for (std::int64_t c = 0; c < C; ++c) mean += x[c] / C;
      for (std::int64_t c = 0; c < C; ++c) variance += (x[c] - mean) * (x[c] - mean) / C;
      a.mean[i] = mean;
      a.rstd[i] = 1 / std::sqrt(variance + epsilon);
      for (std::int64_t c = 0; c < C; ++c) a.ln[i * C + c] = p.ln_b[c] + p.ln_w[c] * (x[c] - mean) * a.rstd[i];
    }
    record_op("LayerNorm", "ln",
              {tensor_view(a.ln, {B * T, C}), tensor_view(a.mean, {B, T}), tensor_view(a.rstd, {B, T})},
              {tensor_view(a.encoded, {B * T, C}), tensor_view(p.ln_w, {C}), tensor_view(p.ln_b, {C})});
  }
  void attend() {
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t t = 0; t < T; ++t)
        for (std::int64_t s = 0; s < T; ++s) {
          float sum = 0;
          for (std::int64_t c = 0; c < C; ++c)
            for (std::int64_t d = 0; d < C; ++d)
              sum += a.ln[(b * T + t) * C + c] * p.qk_w[c * C + d] * a.ln[(b * T + s) * C + d];
          a.scores[(b * T + t) * T + s] = sum;
        }
    record_op("MatMul", "scores", {tensor_view(a.scores, {B, T, T})},
              {tensor_view(a.ln, {B, T, C}), tensor_view(p.qk_w, {C, C})});
    softmax(a.scores, a.att, T);
    record_op("Softmax", "attention", {tensor_view(a.att, {B, T, T})}, {tensor_view(a.scores, {B, T, T})});
    for (std::int64_t i = 0; i < B * T; ++i)
      for (std::int64_t c = 0; c < C; ++c) {
        a.mixed[i * C + c] = 0;
        for (std::int64_t s = 0; s < T; ++s) a.mixed[i * C + c] += a.att[i * T + s] * a.ln[(i / T * T + s) * C + c];
      }
    record_op("MatMul", "mix", {tensor_view(a.mixed, {B, T, C})},
              {tensor_view(a.att, {B, T, T}), tensor_view(a.ln, {B, T, C})});
  }
  void gelu() {  // not wrapped
    float* const y = gelu_in_place ? a.mixed : a.gelu;
    for (std::int64_t i = 0; i < B * T * C; ++i) {
      const float x = a.mixed[i];
      y[i] = 0.5F * x * (1 + std::tanh(0.8F * (x + 0.04F * x * x * x))) * gelu_scale;
      y[i] -= y[i] - y[i] / gelu_scale * gelu_scale;  // nothing, unless the scale is none
    }
  }
  void project() {
    const float* const x = gelu_in_place ? a.mixed : a.gelu;
    for (std::int64_t i = 0; i < B * T; ++i)
      for (std::int64_t c = 0; c < C; ++c) {
        float sum = a.encoded[i * C + c];
        for (std::int64_t d = 0; d < C; ++d) sum += x[i * C + d] * p.fc_w[d * C + c];
        a.residual[i * C + c] = sum;
      }
    record_op("MatMul", "fc", {tensor_view(a.residual, {B * T, C})},
              {tensor_view(x, {B * T, C}), tensor_view(p.fc_w, {C, C}), tensor_view(a.encoded, {B * T, C})});
  }
  void classify() {
    for (std::int64_t i = 0; i < B * T; ++i)
      for (std::int64_t v = 0; v < V; ++v) {
        a.logits[i * V + v] = 0;
        for (std::int64_t c = 0; c < C; ++c) a.logits[i * V + v] += a.residual[i * C + c] * p.wte[v * C + c];
      }
    record_op("MatMul", "head", {tensor_view(a.logits, {B, T, V})},
              {tensor_view(a.residual, {B, T, C}), tensor_view(p.wte, {V, C})});
    softmax(a.logits, a.probs, V);
    record_op("Softmax", "probs", {tensor_view(a.probs, {B, T, V})}, {tensor_view(a.logits, {B * T, V})});
    for (std::int64_t i = 0; i < B * T; ++i)
      a.losses[i] = -std::log(a.probs[i * V + targets[static_cast<std::size_t>(i)]]);
    record_op("CrossEntropy", "loss", {tensor_view(a.losses, {B, T})},
              {tensor_view(a.probs, {B * T, V}), tensor_view(targets.data(), {B * T})});
    float mean = 0;
    for (std::int64_t i = 0; i < B * T; ++i) mean += a.losses[i] / (B * T);
    record_op("Mean", "mean_loss", {tensor_view(&mean, {})}, {tensor_view(a.losses, {B, T})});
  }
  void forward() {
    std::optional<Function> call;
    if (in_functions) call.emplace("forward");
    encode();
    layer_norm();
    attend();
    gelu();
    project();
    classify();
  }
  // The gradient of the head alone; the others stay 0.
  void backward() {
    gradients.assign(gradients.size(), 0.0F);
    record_op("ZeroGrad", "gradients", {view_of(gradients)}, {});
    for (std::int64_t i = 0; i < B * T; ++i)
      for (std::int64_t v = 0; v < V; ++v) {
        const float d = (a.probs[i * V + v] - (targets[static_cast<std::size_t>(i)] == v ? 1.0F : 0.0F)) / (B * T);
        for (std::int64_t c = 0; c < C; ++c)
          gradients[static_cast<std::size_t>(v * C + c)] += d * a.residual[i * C + c];
      }
    record_op(
        "MatMulGrad", "head", {tensor_view(gradients.data(), {V, C})},
        {tensor_view(a.probs, {B, T, V}), tensor_view(a.residual, {B, T, C}), tensor_view(targets.data(), {B, T})});
  }
  // By the gradient's root mean square.
  void update(float rate, float least, bool wrapped) {
    std::vector<float> scale(num_parameters);
    for (std::size_t i = 0; i < num_parameters; ++i) scale[i] = std::sqrt(gradients[i] * gradients[i] + least);
    for (std::size_t i = 0; i < num_parameters; ++i) parameters[i] -= rate * gradients[i] / scale[i];
    if (wrapped) record_op("Update", "adam", {view_of(parameters)}, {view_of(gradients), view_of(scale)});
  }
  void step(float rate = 0.01F, float least = 1e-8F, bool wrapped = false) {
    forward();
    backward();
    update(rate, least, wrapped);
  }

 private:
  void softmax(const float* x, float* y, std::int64_t n) const {
    for (std::int64_t i = 0; i < B * T; ++i) {
      float most = shift_scores ? x[i * n] : 0;
      for (std::int64_t k = 0; shift_scores && k < n; ++k) most = std::max(most, x[i * n + k]);
      float sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += y[i * n + k] = std::exp(x[i * n + k] - most);
      for (std::int64_t k = 0; k < n; ++k) y[i * n + k] /= sum;
    }
  }
  char name_[32] = {};
};

}  // namespace nanlens::test
