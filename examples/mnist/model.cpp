#include "model.hpp"

#include <nanlens/hosts/eigen.hpp>

#include <cmath>
#include <random>

namespace mnist {

namespace {

using nanlens::arg;
using nanlens::Function;
using nanlens::FunctionKind;
using RowVector = Eigen::RowVectorXf;

constexpr const char* kernel_read = "MatMul/ReadVariableOp";
constexpr const char* bias_read = "add/ReadVariableOp";

// relu(NaN) is NaN, as in TensorFlow.
Matrix relu(const Matrix& x) {
  return x.unaryExpr([](float v) { return v < 0 ? 0.0f : v; });
}

Matrix softmax(const Matrix& logits) {
  Matrix result(logits.rows(), logits.cols());
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const RowVector e = (logits.row(i).array() - logits.row(i).maxCoeff()).exp();
    result.row(i) = e / e.sum();
  }
  return result;
}

enum class Activation { identity, relu };

Matrix dense_layer(const Layer& layer, const Matrix& input, Activation act) {
  Function f("dense_layer", arg("input_tensor", input));
  const Matrix& kernel = f.op({"ReadVariableOp", kernel_read}, layer.kernel);
  const Matrix product = f.op("MatMul", Matrix(input * kernel), input, kernel);
  const RowVector& bias = f.op({"ReadVariableOp", bias_read}, layer.bias);
  Matrix sum = f.op({"AddV2", "add"}, Matrix(product.rowwise() + bias), product, bias);
  if (act == Activation::identity) return f.result(std::move(sum));
  return f.result(f.op("Relu", relu(sum), sum));
}

// What a dense layer's backward function computes of the gradient that comes in.
struct LayerGradient {
  Matrix input;
  Layer variables;
};

// The op names are those of TensorFlow's automatic gradients.
LayerGradient dense_layer_gradient(const Layer& layer, const Matrix& input, const Matrix* activated, const Matrix& dy) {
  Function f({"dense_layer", FunctionKind::backward}, arg("Placeholder", dy));
  LayerGradient g;
  Matrix masked;
  if (activated != nullptr) {
    const Matrix& mask = f.capture("Relu", *activated);
    const Matrix passes = mask.unaryExpr([](float v) { return v > 0 ? 1.0f : 0.0f; });
    masked = f.op("ReluGrad", Matrix(dy.cwiseProduct(passes)), dy, mask);
  }
  const Matrix& d = activated != nullptr ? masked : dy;  // a copy would be another tensor, which nothing links to dy
  const RowVector sum = f.op({"Sum", "add_grad/Sum"}, d.colwise().sum(), d);
  g.variables.bias = f.op({"Reshape", "add_grad/Reshape"}, RowVector(sum), sum);
  const Matrix& kernel = f.capture("kernel", layer.kernel);
  g.input = f.op("MatMul", Matrix(d * kernel.transpose()), d, kernel);
  const Matrix& x = f.capture("input_tensor", input);
  g.variables.kernel = f.op("MatMul", Matrix(x.transpose() * d), x, d);
  f.result(g.input);
  f.result(g.variables.kernel);
  f.result(g.variables.bias);
  return g;
}

// Gradient of the loss with respect to the probabilities. Top-level backward functions record their outputs only, as in
// TensorFlow, whose ops there are not instrumented.
Matrix loss_gradient(const Loss& loss, const Matrix& probs, Fix fix) {
  Function f({"loss", FunctionKind::backward}, arg("mul_grad/Log", loss.log_probs).untraced(),
             arg("mul_grad/Neg", loss.negated_labels).untraced(), arg("Log_grad/probs", probs).untraced());
  const float share = 1.0f / static_cast<float>(probs.size());
  Matrix clipped = probs;
  if (fix == Fix::clip) clipped = probs.cwiseMax(1e-6f).cwiseMin(1.0f);
  Matrix d = (loss.negated_labels * share).array() / clipped.array();
  // A clipped element passes no gradient on.
  if (fix == Fix::clip) d = (clipped.array() == probs.array()).select(d, 0.0f);
  const Matrix d_labels = -share * loss.log_probs;
  f.result(d);
  f.result(d_labels);
  return d;
}

Matrix cross_entropy_gradient(const Matrix& logits, const Matrix& labels) {
  Function f({"loss", FunctionKind::backward}, arg("logits", logits).untraced(), arg("labels", labels).untraced());
  return f.result(Matrix((softmax(logits) - labels) / static_cast<float>(logits.size())));
}

Matrix softmax_gradient(const Matrix& probs, const Matrix& dy) {
  const Eigen::VectorXf dot = dy.cwiseProduct(probs).rowwise().sum();
  return (dy.colwise() - dot).cwiseProduct(probs);
}

float truncated_normal(std::mt19937& engine) {
  for (;;) {  // Box-Muller: the standard library's normal distribution differs between implementations
    const double u = (static_cast<double>(engine()) + 1.0) / 4294967297.0;
    const double v = static_cast<double>(engine()) / 4294967296.0;
    const double n = std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * 3.14159265358979323846 * v);
    if (std::abs(n) <= 2.0) return static_cast<float>(0.1 * n);
  }
}

Layer make_layer(Eigen::Index inputs, Eigen::Index units, std::mt19937& engine) {
  Layer layer{Matrix(inputs, units), RowVector::Constant(units, 0.1f)};
  for (Eigen::Index i = 0; i < layer.kernel.size(); ++i) layer.kernel.data()[i] = truncated_normal(engine);
  nanlens::variable(layer.kernel);
  nanlens::variable(layer.bias);
  return layer;
}

Model zeros_like(const Model& m) {
  const auto zeros = [](const Layer& l) {
    return Layer{Matrix::Zero(l.kernel.rows(), l.kernel.cols()), RowVector::Zero(l.bias.size())};
  };
  return {zeros(m.hidden), zeros(m.output)};
}

template <class M>
void apply_adam(M& variable, const M& gradient, M& first, M& second, float alpha) {
  constexpr float beta1 = 0.9f;
  constexpr float beta2 = 0.999f;
  constexpr float epsilon = 1e-7f;
  first = beta1 * first + (1 - beta1) * gradient;
  second = beta2 * second + (1 - beta2) * gradient.cwiseProduct(gradient);
  variable.array() -= alpha * first.array() / (second.array().sqrt() + epsilon);
  nanlens::record("ResourceApplyAdam", nanlens::outputs(), nanlens::inputs(nanlens::target(variable), gradient));
}

}  // namespace

Model make_model(std::uint32_t seed) {
  std::mt19937 engine(seed);
  Layer hidden = make_layer(num_pixels, hidden_units, engine);
  return {std::move(hidden), make_layer(hidden_units, num_labels, engine)};
}

Batch format_example(const Digits& digits, int begin, int count) {
  const auto pixels = digits.pixels.middleRows(begin, count);
  const auto classes = digits.labels.segment(begin, count);
  Function f("format_example", arg("images", pixels), arg("labels", classes));
  const Matrix cast = f.op("Cast", pixels.cast<float>(), pixels);
  const auto scale = f.op({"Const", "truediv/y"}, nanlens::tensor(255.0f));
  Batch batch;
  batch.images = f.op({"RealDiv", "truediv"}, cast / scale.value(), cast, scale);
  const auto on = f.op({"Const", "one_hot/on_value"}, nanlens::tensor(1.0f));
  const auto off = f.op({"Const", "one_hot/off_value"}, nanlens::tensor(0.0f));
  Matrix one_hot = Matrix::Constant(count, num_labels, off.value());
  for (int i = 0; i < count; ++i) one_hot(i, classes[i]) = on.value();
  batch.labels = f.op({"OneHot", "one_hot"}, std::move(one_hot), classes, on, off);
  f.result(batch.images);
  f.result(batch.labels);
  return batch;
}

Forward forward(const Model& model, const Matrix& x, Fix fix, bool training) {
  Function f({"model", training ? FunctionKind::forward : FunctionKind::inference}, arg("x", x));
  Forward pass;
  pass.hidden = dense_layer(model.hidden, x, Activation::relu);
  Matrix logits = dense_layer(model.output, pass.hidden, Activation::identity);
  if (fix == Fix::cross_entropy && training)
    pass.probs = std::move(logits);
  else
    pass.probs = f.op("Softmax", softmax(logits), logits);
  f.result(pass.probs);
  if (!training) return pass;
  f.save(pass.probs);
  f.save(model.output.kernel);
  f.save(pass.hidden);
  f.save(pass.hidden);
  f.save(model.hidden.kernel);
  f.save(x);
  return pass;
}

Loss loss(const Matrix& probs, const Matrix& labels, Fix fix) {
  Function f({"loss", FunctionKind::forward}, arg("probs", probs), arg("labels", labels));
  if (fix == Fix::cross_entropy) {
    const Matrix shifted = f.op("Sub", probs.colwise() - probs.rowwise().maxCoeff(), probs);
    const Eigen::VectorXf sums = f.op("LogSumExp", shifted.array().exp().rowwise().sum().log().matrix(), shifted);
    const Matrix logp = f.op({"Sub", "LogSoftmax"}, shifted.colwise() - sums, shifted, sums);
    const Matrix diff = f.op({"Mul", "mul"}, -labels.cwiseProduct(logp), labels, logp);
    return {f.result(f.op("Mean", nanlens::tensor(diff.mean()), diff)), {}, {}};
  }
  Matrix safe = probs;
  if (fix == Fix::clip) safe = f.op("ClipByValue", probs.cwiseMax(1e-6f).cwiseMin(1.0f), probs);
  const Matrix& input = fix == Fix::clip ? safe : probs;
  Matrix neg = f.op("Neg", Matrix(-labels), labels);
  Matrix logp = f.op("Log", Matrix(input.array().log().matrix()), input);
  const Matrix diff = f.op({"Mul", "mul"}, Matrix(neg.cwiseProduct(logp)), neg, logp);
  const float mean = f.result(f.op("Mean", nanlens::tensor(diff.mean()), diff));
  f.save(logp);
  f.save(neg);
  f.save(probs);
  return {mean, std::move(neg), std::move(logp)};
}

Model gradients(const Model& model, const Batch& batch, const Forward& pass, const Loss& loss, Fix fix) {
  const Matrix d_probs = fix == Fix::cross_entropy ? cross_entropy_gradient(pass.probs, batch.labels)
                                                   : loss_gradient(loss, pass.probs, fix);
  Function f({"model", FunctionKind::backward}, arg("probs", d_probs).untraced());
  const Matrix d_logits = fix == Fix::cross_entropy ? d_probs : softmax_gradient(pass.probs, d_probs);
  LayerGradient output = dense_layer_gradient(model.output, pass.hidden, nullptr, d_logits);
  LayerGradient hidden = dense_layer_gradient(model.hidden, batch.images, &pass.hidden, output.input);
  f.result(hidden.input);
  f.result(hidden.variables.kernel);
  f.result(hidden.variables.bias);
  f.result(output.variables.kernel);
  f.result(output.variables.bias);
  return {std::move(hidden.variables), std::move(output.variables)};
}

Adam::Adam(const Model& model, float learning_rate)
    : first_(zeros_like(model)), second_(zeros_like(model)), learning_rate_(learning_rate) {}

void Adam::apply(Model& model, const Model& gradient) {
  ++step_;
  const auto t = static_cast<float>(step_);
  const float alpha = learning_rate_ * std::sqrt(1 - std::pow(0.999f, t)) / (1 - std::pow(0.9f, t));
  apply_adam(model.hidden.kernel, gradient.hidden.kernel, first_.hidden.kernel, second_.hidden.kernel, alpha);
  apply_adam(model.hidden.bias, gradient.hidden.bias, first_.hidden.bias, second_.hidden.bias, alpha);
  apply_adam(model.output.kernel, gradient.output.kernel, first_.output.kernel, second_.output.kernel, alpha);
  apply_adam(model.output.bias, gradient.output.bias, first_.output.bias, second_.output.bias, alpha);
}

float accuracy(const Matrix& probs, const Matrix& labels) {
  const auto argmax = [](const Matrix& m) {
    Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1> best(m.rows());
    for (Eigen::Index i = 0; i < m.rows(); ++i) {
      best[i] = 0;
      for (Eigen::Index j = 1; j < m.cols(); ++j)
        if (m(i, j) > m(i, best[i])) best[i] = j;
    }
    return best;
  };
  const auto predicted = nanlens::op("ArgMax", argmax(probs), probs);
  const auto expected = nanlens::op("ArgMax", argmax(labels), labels);
  const Eigen::Array<bool, Eigen::Dynamic, 1> equal =
      nanlens::op("Equal", (predicted.array() == expected.array()).eval(), predicted, expected);
  const Eigen::VectorXf hits = nanlens::op("Cast", equal.cast<float>().matrix(), equal);
  return nanlens::op("Mean", hits.mean(), hits);
}

}  // namespace mnist
