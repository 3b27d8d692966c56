/// @file
/// Eigen 3.4: dense matrices, arrays, maps, blocks and transposes are viewed as they lie in memory; expressions are
/// evaluated once by `nanlens::op`, which returns the plain matrix or array.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

// By conversion: a VectorBlock (x.segment(…)) is the DenseBase of the Block that it derives from.
template <class T>
concept EigenDense = requires(const T& x) { []<class Derived>(const Eigen::DenseBase<Derived>&) {}(x); };

// Maps, blocks and transposes of them included; expressions such as a + b have no memory of their own.
template <class T>
concept EigenInMemory = EigenDense<T> && (Eigen::internal::traits<T>::Flags & Eigen::DirectAccessBit) != 0 &&
                        dtype_of<typename T::Scalar> != DType::invalid;

template <class T>
concept EigenExpression = EigenDense<T> && (Eigen::internal::traits<T>::Flags & Eigen::DirectAccessBit) == 0;

}  // namespace detail

/// Vectors have rank 1, everything else rank 2 (rows, columns); column-major data is viewed by its strides, without a
/// copy.
template <detail::EigenInMemory T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    constexpr bool row_major = (Eigen::internal::traits<T>::Flags & Eigen::RowMajorBit) != 0;
    const std::int64_t row_stride = row_major ? x.outerStride() : x.innerStride();
    const std::int64_t col_stride = row_major ? x.innerStride() : x.outerStride();
    TensorView view{static_cast<const void*>(x.data()), dtype_of<typename T::Scalar>, {}, {}, cpu_device};
    if constexpr (T::IsVectorAtCompileTime) {
      view.shape = {static_cast<std::int64_t>(x.size())};
      view.strides = {x.innerStride()};
    } else {
      view.shape = {static_cast<std::int64_t>(x.rows()), static_cast<std::int64_t>(x.cols())};
      view.strides = {row_stride, col_stride};
    }
    return view;
  }
};

template <detail::EigenExpression T>
struct Evaluate<T> {
  static typename T::PlainObject evaluate(const T& expression) { return expression; }
};

}  // namespace nanlens::inline NANLENS_ABI
