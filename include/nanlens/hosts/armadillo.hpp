/// @file
/// Armadillo: dense matrices, vectors, cubes, their submatrices and diagonals are viewed as they lie in memory;
/// expressions are evaluated once by `nanlens::op`, which returns the plain Mat, Col, Row or Cube. Up to 16 elements
/// lie inside the object: as with any small value, what `nanlens::op` returns by value is then not linked by its
/// address.
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace arma {
template <typename elem_type, typename derived>
struct Base;
template <typename elem_type, typename derived>
struct BaseCube;
template <typename elem_type>
class Mat;
template <typename elem_type>
class Col;
template <typename elem_type>
class Row;
template <typename elem_type>
class Cube;
}  // namespace arma

namespace nanlens::inline NANLENS_ABI {

namespace detail {

template <class T>
concept ArmadilloCube = requires(const T& x) { []<class E, class Derived>(const arma::BaseCube<E, Derived>&) {}(x); };
template <class T>
concept ArmadilloDense =
    ArmadilloCube<T> || requires(const T& x) { []<class E, class Derived>(const arma::Base<E, Derived>&) {}(x); };

// Elements of its own, a part of a matrix or cube, or a diagonal.
template <class T>
concept ArmadilloInMemory =
    ArmadilloDense<T> && KnownElement<typename T::elem_type> &&
    (requires(const T& x) { x.colptr(0); } || requires(const T& x) { x.slice_colptr(0, 0); } ||
     requires(const T& x) { x.m.colptr(0) + x.row_offset; });

template <class T>
concept ArmadilloExpression = ArmadilloDense<T> && !ArmadilloInMemory<T> && KnownElement<typename T::elem_type>;

template <class T>
const typename T::elem_type* armadillo_first(const T& x) noexcept {
  if (x.n_elem == 0) return nullptr;
  if constexpr (ArmadilloCube<T>)
    return x.slice_colptr(0, 0);
  else if constexpr (requires { x.row_offset; })
    return x.m.colptr(x.col_offset) + x.row_offset;
  else
    return x.colptr(0);
}

}  // namespace detail

/// Vectors have rank 1, matrices rank 2, cubes rank 3 (rows, columns, slices), all by their strides: they are
/// column-major.
template <detail::ArmadilloInMemory T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    const auto& owner = [&]() -> const auto& {
      if constexpr (requires { x.m; })
        return x.m;
      else
        return x;
    }();
    const auto column = static_cast<std::int64_t>(owner.n_rows);
    TensorView view{detail::armadillo_first(x), dtype_of<typename T::elem_type>, {}, {}, cpu_device};
    if constexpr (detail::ArmadilloCube<T>) {
      view.shape = {x.n_rows, x.n_cols, x.n_slices};
      view.strides = {1, column, owner.n_elem_slice};
    } else if constexpr (requires { x.row_offset; }) {  // a diagonal
      view.shape = {x.n_elem};
      view.strides = {column + 1};
    } else if constexpr (T::is_col || T::is_row) {
      view.shape = {x.n_elem};
      view.strides = {T::is_col ? 1 : column};
    } else {
      view.shape = {x.n_rows, x.n_cols};
      view.strides = {1, column};
    }
    return view;
  }
};

template <detail::ArmadilloExpression T>
struct Evaluate<T> {
  static auto evaluate(const T& expression) {
    using Element = typename T::elem_type;
    if constexpr (detail::ArmadilloCube<T>)
      return arma::Cube<Element>(expression);
    else if constexpr (T::is_col)
      return arma::Col<Element>(expression);
    else if constexpr (T::is_row)
      return arma::Row<Element>(expression);
    else
      return arma::Mat<Element>(expression);
  }
};

}  // namespace nanlens::inline NANLENS_ABI
