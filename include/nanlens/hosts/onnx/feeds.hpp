/// @file
/// What a model is given: arrays from files, or random ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/api.hpp>
#include <nanlens/hosts/onnx/kernels.hpp>
#include <nanlens/hosts/onnx/npy.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

/// What can't be done, in a sentence for the user.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An input as the model declares it.
struct ModelInput {
  std::string name;
  ElementType type = ElementType::undefined;  ///< undefined: no tensor
  std::vector<std::int64_t> shape;            ///< −1: any extent

  /// "float32 of shape [?, 3]".
  [[nodiscard]] std::string words() const {
    const DType dtype = dtype_of(type);
    if (type == ElementType::undefined) return "no tensor";
    std::string text(dtype == DType::invalid ? "of a type that nanlens has no name for" : dtype_name(dtype));
    text += " of shape [";
    for (std::size_t i = 0; i < shape.size(); ++i)
      text += (i > 0 ? ", " : "") + (shape[i] < 0 ? std::string("?") : std::to_string(shape[i]));
    return text + "]";
  }
};

/// A tensor to be given to a model.
struct Feed {
  std::string name;
  ElementType type = ElementType::undefined;
  std::vector<std::int64_t> shape;
  std::string content;
};

namespace detail {

inline std::string shape_words(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

// NumPy lacks some floating types: their bits come as unsigned integers.
inline bool same_elements(DType wanted, DType given) noexcept {
  const bool bits = wanted == DType::bfloat16                                        ? given == DType::uint16
                    : wanted == DType::float8_e4m3fn || wanted == DType::float8_e5m2 ? given == DType::uint8
                                                                                     : false;
  return wanted == given || bits;
}

// Finite numbers; what float16 can only hold as a denormal is 0.
inline std::uint16_t half_of(float value) noexcept {
  constexpr std::uint32_t bias = 127 - 15;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = bits >> 23 & 0xff;
  const std::uint32_t magnitude = exponent <= bias ? 0 : (exponent - bias) << 10 | (bits >> 13 & 0x3ff);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | magnitude);
}

}  // namespace detail

/// An input from a file; throws Refusal where it is not what the model wants.
inline Feed feed_from(const ModelInput& input, const std::string& path) {
  NpyArray array = read_npy(path);
  if (!array.why_not.empty()) throw Refusal("input '" + input.name + "': " + path + ": " + array.why_not);
  bool fits = input.shape.size() == array.shape.size();
  for (std::size_t i = 0; fits && i < input.shape.size(); ++i)
    fits = input.shape[i] < 0 || input.shape[i] == array.shape[i];
  if (!fits || !detail::same_elements(dtype_of(input.type), array.dtype))
    throw Refusal("input '" + input.name + "' is " + input.words() + ", and " + path + " holds " +
                  std::string(dtype_name(array.dtype)) + " of shape " + detail::shape_words(array.shape));
  return {input.name, input.type, std::move(array.shape), std::move(array.content)};
}

/// Numbers of a normal distribution, the same for the same seed; 0 or 1 where the input holds no floats. An extent that
/// the model leaves open is 1. Throws Refusal for inputs that can't be made up.
inline Feed random_feed(const ModelInput& input, std::mt19937_64& random) {
  const DType dtype = dtype_of(input.type);
  const bool is_float = dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16;
  const DTypeKind kind = dtype_kind(dtype);
  if (!is_float && kind != DTypeKind::integer && kind != DTypeKind::boolean)
    throw Refusal("input '" + input.name + "' is " + input.words() + ": --random can't make one up");
  Feed feed{input.name, input.type, input.shape, {}};
  std::size_t count = 1;
  for (std::int64_t& extent : feed.shape) count *= static_cast<std::size_t>(extent = extent < 0 ? 1 : extent);
  const std::size_t bytes = dtype_bytes(dtype);
  feed.content.resize(count * bytes);
  constexpr double to_unit = 0x1p-53;
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * to_unit; };
  for (std::size_t i = 0; i < count; ++i) {
    char* const to = feed.content.data() + i * bytes;
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
    const auto single = static_cast<float>(normal);
    const std::uint16_t half = detail::half_of(single);
    if (dtype == DType::float64) std::memcpy(to, &normal, sizeof normal);
    if (dtype == DType::float32) std::memcpy(to, &single, sizeof single);
    if (dtype == DType::float16) std::memcpy(to, &half, sizeof half);
    if (!is_float) *to = static_cast<char>(random() & 1);
  }
  return feed;
}

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
