/// @file
/// The walkthrough's model: a 784-500-10 perceptron with softmax, its loss, their gradients, and Adam.
///
/// Every function is a `nanlens::Function`, as they are tf.functions in TensorFlow's debug_mnist_v2; every op is one
/// line.
#pragma once

#include <array>
#include <cstdint>

#include "digits.hpp"

namespace mnist {

inline constexpr int hidden_units = 500;

struct Layer {
  Matrix kernel;
  Eigen::RowVectorXf bias;
};

struct Model {
  Layer hidden;
  Layer output;
};

/// Truncated normal kernels (standard deviation 0.1, cut at two of them) and biases of 0.1.
Model make_model(std::uint32_t seed);

/// What the forward pass leaves for the backward pass.
struct Forward {
  Matrix probs;   // or the logits, for the stable loss
  Matrix hidden;  // after relu
};

/// How the loss is made: `none` is the walkthrough's bug.
enum class Fix { none, clip, cross_entropy };

struct Batch {
  Matrix images;
  Matrix labels;  // one-hot
};

/// Raw digits to floats in [0, 1] and one-hot labels.
Batch format_example(const Digits& digits, int begin, int count);

Forward forward(const Model& model, const Matrix& x, Fix fix, bool training);

/// The loss, and what its backward function needs of it (not filled by the stable loss).
struct Loss {
  float mean = 0;
  Matrix negated_labels;
  Matrix log_probs;
};

/// Mean of −labels·log(probs) over all elements.
Loss loss(const Matrix& probs, const Matrix& labels, Fix fix);

/// Gradients of the loss with respect to the four variables.
Model gradients(const Model& model, const Batch& batch, const Forward& pass, const Loss& loss, Fix fix);

/// Adam, with beta 0.9 and 0.999 and epsilon 1e-7.
class Adam {
 public:
  Adam(const Model& model, float learning_rate);
  void apply(Model& model, const Model& gradient);

 private:
  Model first_;
  Model second_;
  float learning_rate_;
  int step_ = 0;
};

/// Share of rows whose largest entry is at the label. NaNs are never the largest: of a row of NaNs it is the first
/// entry.
float accuracy(const Matrix& probs, const Matrix& labels);

}  // namespace mnist
