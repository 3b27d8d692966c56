/// @file
/// A tensor as nanlens sees it: memory, element type, extents, strides and device; owns nothing.
#pragma once

#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype.hpp>
#include <nanlens/tensor/shape.hpp>

namespace nanlens::inline NANLENS_ABI {

/// The device of tensors in this process's own memory, named as TensorFlow names it.
inline constexpr const char* cpu_device = "/job:localhost/replica:0/task:0/device:CPU:0";

/// That of tensors which can't be read here, where a host does not say which device they are on.
inline constexpr const char* gpu_device = "/job:localhost/replica:0/task:0/device:GPU:0";

/// That of tensors in this process's memory which can't be read all the same, so that nobody takes them for clean ones.
inline constexpr const char* unreadable_device = "/job:localhost/replica:0/task:0/device:UNREADABLE:0";

struct HealthCounts;

/// A look at a tensor. The memory must stay valid and unchanged only during the call that takes the view.
struct TensorView {
  /// First element; null where the values can't be read here (device memory, strings): only facts about it are
  /// recorded.
  const void* data = nullptr;
  DType dtype = DType::invalid;
  /// Extents, outermost first; empty for a scalar.
  Shape shape;
  /// Distance between neighbours along each dimension, in elements; may be negative, or 0 where a value is broadcast.
  /// Left out: dense, the last dimension varies fastest.
  Shape strides;
  /// Full device name; a string that lives as long as the program.
  const char* device = cpu_device;
  /// Of values that can't be read here, but that somebody has counted where they are: their health. Null: nobody has.
  const HealthCounts* counted = nullptr;
};

/// A view of dense memory whose last dimension varies fastest.
constexpr TensorView dense_view(const void* data, DType dtype, const Shape& shape) noexcept {
  return {data, dtype, shape, row_major_strides(shape), cpu_device};
}

/// The strides of a view, given or left out.
constexpr Shape strides_of(const TensorView& view) noexcept {
  return view.strides.size() == view.shape.size() ? view.strides : row_major_strides(view.shape);
}

/// True if the elements lie side by side in row-major order.
constexpr bool is_dense(const TensorView& view) noexcept {
  if (view.strides.size() != view.shape.size()) return true;
  std::int64_t step = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] == 0) return true;
    if (view.shape[i] != 1 && view.strides[i] != step) return false;
    step *= view.shape[i];
  }
  return true;
}

}  // namespace nanlens::inline NANLENS_ABI
