/// @file
/// Synthetic digits: 28x28 grey images of seven-segment figures, shifted, of varying stroke and brightness, with noise.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>

namespace mnist {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline constexpr int image_size = 28;
inline constexpr int num_pixels = image_size * image_size;
inline constexpr int num_labels = 10;

/// Images as raw bytes 0…255 (one row each) and their labels, which go round 0…9 in random order.
struct Digits {
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> pixels;
  Eigen::VectorXi labels;
};

/// Draws `count` digits; the same seed gives the same digits on every machine.
Digits draw_digits(int count, std::uint32_t seed);

}  // namespace mnist
