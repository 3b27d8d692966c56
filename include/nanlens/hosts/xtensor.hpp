/// @file
/// xtensor: arrays, tensors, adaptors and strided views are viewed as they lie in memory; everything lazy is evaluated
/// once by `nanlens::op`, which returns the plain xarray or xtensor. Include it after xtensor's headers: without them
/// it knows no expressions.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

#if defined(XTENSOR_EXPRESSION_HPP)
#if __has_include(<xtensor/containers/xarray.hpp>)  // from 0.26 on
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#endif
#endif

namespace nanlens::inline NANLENS_ABI {

namespace detail {

// Views of what has no memory, and those that pick rows by a list, have neither strides() nor data_offset().
template <class T>
concept XtensorInMemory = requires(const T& x) {
  { x.data() } -> std::convertible_to<const typename T::value_type*>;
  { x.data_offset() } -> std::convertible_to<std::size_t>;
  x.strides().begin();
  x.shape().begin();
} && KnownElement<typename T::value_type>;

}  // namespace detail

template <detail::XtensorInMemory T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    TensorView view{x.data() + x.data_offset(), dtype_of<typename T::value_type>, {}, {}, cpu_device};
    for (const auto extent : x.shape()) view.shape.push_back(static_cast<std::int64_t>(extent));
    for (const auto stride : x.strides()) view.strides.push_back(static_cast<std::int64_t>(stride));
    return view;
  }
};

#if defined(XTENSOR_EXPRESSION_HPP)
namespace detail {

template <class T>
concept XtensorExpression = !XtensorInMemory<T> && std::derived_from<T, xt::xexpression<T>>;

// Not xt::eval's choice, which in 0.24 makes an xtensor of rank 4 of any xarray's expression.
template <class Element, class Shape, xt::layout_type layout>
struct XtensorPlain {
  using type = xt::xarray<Element, layout>;
};
template <class Element, class Extent, std::size_t rank, xt::layout_type layout>
struct XtensorPlain<Element, std::array<Extent, rank>, layout> {
  using type = xt::xtensor<Element, rank, layout>;
};

}  // namespace detail

template <detail::XtensorExpression T>
struct Evaluate<T> {
  static auto evaluate(const T& expression) {
    constexpr bool by_columns = T::static_layout == xt::layout_type::column_major;
    using Plain = detail::XtensorPlain<std::remove_cv_t<typename T::value_type>, typename T::shape_type,
                                       by_columns ? xt::layout_type::column_major : XTENSOR_DEFAULT_LAYOUT>;
    return typename Plain::type(expression);
  }
};
#endif

}  // namespace nanlens::inline NANLENS_ABI
