/// @file
/// A network for trials: its layers all pass one hook, with names that are made at run time, and around it is code that
/// nobody wrapped: the loader, initial weights, dropout, the optimizer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace nanlens::test {

using Floats = std::vector<float>;

// Rows of samples.
struct Batch {
  Floats values;
  std::int64_t columns = 0;

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(columns); }
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(values.size()) / columns; }
  [[nodiscard]] TensorView view() const { return tensor_view(values.data(), {rows(), columns}); }
};

class Layer {
 public:
  explicit Layer(std::string kind) : kind_(std::move(kind)) {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;
  [[nodiscard]] std::string kind() const { return kind_; }
  virtual void forward(const Batch& x, Batch& y) = 0;
  virtual void backward(const Batch& x, const Batch& y, const Batch& dy, Batch& dx) = 0;

  std::vector<Floats> weights;
  std::vector<Floats> gradients;
  bool wrapped = true;

 private:
  std::string kind_;
};

class DenseLayer : public Layer {
 public:
  DenseLayer(std::size_t in, std::size_t out) : Layer("dense"), in_(in), out_(out) {
    weights = {Floats(in * out), Floats(out, 0.1F)};
    for (std::size_t i = 0; i < in * out; ++i) weights[0][i] = 0.1F * static_cast<float>(i % 7) - 0.25F;
    gradients = {Floats(in * out), Floats(out)};
  }
  void forward(const Batch& x, Batch& y) override {
    const auto rows = static_cast<std::size_t>(x.rows());
    y = {Floats(rows * out_), static_cast<std::int64_t>(out_)};
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t o = 0; o < out_; ++o) {
        float sum = weights[1][o];
        for (std::size_t i = 0; i < in_; ++i) sum += x.values[r * in_ + i] * weights[0][i * out_ + o];
        y.values[r * out_ + o] = sum;
      }
  }
  void backward(const Batch& x, const Batch&, const Batch& dy, Batch& dx) override {
    dx = {Floats(x.values.size()), x.columns};
    for (Floats& g : gradients) g.assign(g.size(), 0.0F);
    for (std::size_t r = 0; r < static_cast<std::size_t>(x.rows()); ++r)
      for (std::size_t o = 0; o < out_; ++o) {
        const float d = dy.values[r * out_ + o];
        gradients[1][o] += d;
        for (std::size_t i = 0; i < in_; ++i) {
          gradients[0][i * out_ + o] += d * x.values[r * in_ + i];
          dx.values[r * in_ + i] += d * weights[0][i * out_ + o];
        }
      }
  }

 private:
  std::size_t in_;
  std::size_t out_;
};

class MapLayer : public Layer {
 public:
  using Map = std::function<float(float)>;
  MapLayer(std::string kind, Map map, Map slope)
      : Layer(std::move(kind)), map_(std::move(map)), slope_(std::move(slope)) {}
  void forward(const Batch& x, Batch& y) override {
    y = x;
    for (float& v : y.values) v = map_(v);
  }
  void backward(const Batch& x, const Batch&, const Batch& dy, Batch& dx) override {
    dx = dy;
    for (std::size_t i = 0; i < dx.values.size(); ++i) dx.values[i] *= slope_(x.values[i]);
  }

 private:
  Map map_;
  Map slope_;
};

// Each column less its mean, by its deviation. The gradient takes both for constants.
class NormLayer : public Layer {
 public:
  explicit NormLayer(float epsilon) : Layer("batch-norm"), epsilon_(epsilon) {}
  void forward(const Batch& x, Batch& y) override {
    y = x;
    deviation_.assign(x.width(), 0.0F);
    const auto n = static_cast<float>(x.rows());
    for (std::size_t c = 0; c < x.width(); ++c) {
      float mean = 0;
      float variance = 0;
      for (std::size_t i = c; i < x.values.size(); i += x.width()) mean += x.values[i] / n;
      for (std::size_t i = c; i < x.values.size(); i += x.width())
        variance += (x.values[i] - mean) * (x.values[i] - mean) / n;
      deviation_[c] = std::sqrt(variance + epsilon_);
      for (std::size_t i = c; i < x.values.size(); i += x.width()) y.values[i] = (x.values[i] - mean) / deviation_[c];
    }
  }
  void backward(const Batch&, const Batch&, const Batch& dy, Batch& dx) override {
    dx = dy;
    for (std::size_t i = 0; i < dx.values.size(); ++i) dx.values[i] /= deviation_[i % dx.width()];
  }

 private:
  float epsilon_;
  Floats deviation_;
};

class SoftmaxLayer : public Layer {
 public:
  SoftmaxLayer() : Layer("softmax") {}
  void forward(const Batch& x, Batch& y) override {
    y = x;
    for (auto row = y.values.begin(); row != y.values.end(); row += x.columns) {
      const float most = *std::max_element(row, row + x.columns);
      float sum = 0;
      for (auto v = row; v != row + x.columns; ++v) sum += * v = std::exp(*v - most);
      for (auto v = row; v != row + x.columns; ++v) *v /= sum;
    }
  }
  void backward(const Batch&, const Batch& y, const Batch& dy, Batch& dx) override {
    dx = dy;
    for (std::size_t first = 0; first < y.values.size(); first += y.width()) {
      float dot = 0;
      for (std::size_t i = first; i < first + y.width(); ++i) dot += y.values[i] * dy.values[i];
      for (std::size_t i = first; i < first + y.width(); ++i) dx.values[i] = y.values[i] * (dy.values[i] - dot);
    }
  }
};

class Network {
 public:
  template <class L, class... Args>
  L& add(Args&&... args) {
    layers_.push_back(std::make_unique<L>(std::forward<Args>(args)...));
    return static_cast<L&>(*layers_.back());
  }
  Layer& at(std::size_t i) { return *layers_[i]; }

  /// Inputs of all layers, and the last one's output.
  std::vector<Batch> infer(const Batch& data) {
    std::optional<Function> call;
    if (in_functions) call.emplace("infer");
    std::vector<Batch> x(layers_.size() + 1);
    x[0] = data;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i]->forward(x[i], x[i + 1]);
      if (before_hook) before_hook(i, x[i + 1].values);
      hook(i, "", {x[i + 1].view()}, {x[i].view()}, layers_[i]->weights);
      if (after_hook) after_hook(i, x[i + 1].values);
    }
    return x;
  }
  void train_on(const Batch& data, const std::vector<std::int32_t>& labels, float rate) {
    std::optional<Function> call;
    if (in_functions) call.emplace("train");
    const std::vector<Batch> x = infer(data);
    Batch d = x.back();
    d.values.assign(d.values.size(), 0.0F);
    for (std::size_t r = 0; r < labels.size(); ++r) {
      const std::size_t i = r * d.width() + static_cast<std::size_t>(labels[r]);
      d.values[i] = -1 / x.back().values[i];
    }
    loss_line = __LINE__ + 1;
    nanlens::record({"cross-entropy-grad", std::string("loss")}, nanlens::outputs(d.view()),
                    nanlens::inputs(x.back().view(), labels));
    for (std::size_t i = layers_.size(); i-- > 0;) {
      Batch dx;
      layers_[i]->backward(x[i], x[i + 1], d, dx);
      std::vector<TensorView> out{dx.view()};
      for (const Floats& g : layers_[i]->gradients) out.push_back(view_of(g));
      hook(i, "-grad", out, {d.view(), x[i].view()}, layers_[i]->weights);
      d = std::move(dx);
    }
    for (const auto& layer : layers_)  // not wrapped
      for (std::size_t k = 0; k < layer->weights.size(); ++k)
        for (std::size_t j = 0; j < layer->weights[k].size(); ++j)
          layer->weights[k][j] -= rate * layer->gradients[k][j];
  }

  // Not wrapped: what others do to the result of a layer.
  std::function<void(std::size_t layer, Floats& y)> before_hook;
  std::function<void(std::size_t layer, Floats& y)> after_hook;
  static inline bool in_functions = false;  // its calls are those of a Function
  static inline int hook_line = 0;
  static inline int loss_line = 0;

 private:
  // The one place where layers are recorded, with one buffer for their names.
  void hook(std::size_t i, const char* suffix, std::vector<TensorView> out, std::vector<TensorView> in,
            const std::vector<Floats>& weights) {
    if (!layers_[i]->wrapped) return;
    std::snprintf(name_, sizeof name_, "layer%d", static_cast<int>(i));
    hook_line = __LINE__ + 1;
    nanlens::record({layers_[i]->kind() + suffix, name_}, nanlens::outputs(out), nanlens::inputs(in, weights));
  }

  std::vector<std::unique_ptr<Layer>> layers_;
  char name_[32] = {};
};

}  // namespace nanlens::test
