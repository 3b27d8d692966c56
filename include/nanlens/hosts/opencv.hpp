/// @file
/// OpenCV: Mat and Mat_ of any number of dimensions, with their row steps, so that regions of interest are what they
/// are; Matx and Vec; halves. Channels are the last dimension where there are several. A MatExpr is evaluated once by
/// `nanlens::op`, which returns the Mat. Mats of integers hold no NaN: their shape is recorded.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace cv {
template <typename T>
class DataType;
}

namespace nanlens::inline NANLENS_ABI {

namespace detail {

/// The dtype of a depth: CV_8U, CV_8S, … in their order, OpenCV 5's included; not user types, whose size differs.
constexpr DType dtype_of_opencv(int depth, std::size_t element_bytes) noexcept {
  constexpr DType depths[] = {DType::uint8,   DType::int8,    DType::uint16,  DType::int16,    DType::int32,
                              DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::boolean,
                              DType::uint64,  DType::int64,   DType::uint32};
  if (depth < 0 || static_cast<std::size_t>(depth) >= sizeof depths / sizeof depths[0]) return DType::invalid;
  return dtype_bytes(depths[depth]) == element_bytes ? depths[depth] : DType::invalid;
}

template <class T>
concept OpencvHalf = std::is_class_v<T> && sizeof(T) == 2 && requires { cv::DataType<T>::depth; } &&
                     dtype_of_opencv(cv::DataType<T>::depth, 2) != DType::invalid;

// Not UMat and GpuMat, whose memory is a device's.
template <class T>
concept OpencvMat = requires(const T& x) {
  { x.dims } -> std::convertible_to<int>;
  { x.data } -> std::convertible_to<const unsigned char*>;
  x.step[0];
  x.size[0];
  x.channels();
  x.depth();
};

template <class T>
concept OpencvMatx = requires(const T& x) {
  typename T::mat_type;
  requires T::rows > 0 && T::cols > 0;
  { x.val[0] } -> std::convertible_to<typename T::value_type>;
} && KnownElement<typename T::value_type>;

template <class T>
concept OpencvExpression = requires(const T& x) {
  x.op;
  x.alpha;
  requires OpencvMat<decltype(x.a)>;
};

// A std::vector of them has their dimensions, too.
template <OpencvMatx T>
struct Nested<T> {
  using element = typename T::value_type;
  static constexpr void add_extents(Shape& shape) noexcept {
    shape.push_back(T::rows);
    if (T::cols > 1) shape.push_back(T::cols);
  }
};

}  // namespace detail

template <detail::OpencvHalf T>
struct DTypeOf<T> {
  static constexpr DType value = detail::dtype_of_opencv(cv::DataType<T>::depth, 2);
};

template <detail::OpencvMat T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    const std::size_t bytes = x.elemSize1();
    TensorView view{x.data, detail::dtype_of_opencv(x.depth(), bytes), {}, {}, cpu_device};
    for (int i = 0; i < x.dims; ++i) {
      view.shape.push_back(x.size[i]);
      view.strides.push_back(static_cast<std::int64_t>(x.step[i] / bytes));
    }
    if (x.dims == 0 && x.data == nullptr) view.shape = view.strides = {0};  // a Mat without memory
    if (x.channels() > 1) {
      view.shape.push_back(x.channels());
      view.strides.push_back(1);
    }
    return view;
  }
};

template <detail::OpencvMatx T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    Shape shape;
    detail::Nested<T>::add_extents(shape);
    return tensor_view(&x.val[0], shape);
  }
};

template <detail::OpencvExpression T>
struct Evaluate<T> {
  static auto evaluate(const T& expression) {
    decltype(T::a) value = expression;
    return value;
  }
};

}  // namespace nanlens::inline NANLENS_ABI
