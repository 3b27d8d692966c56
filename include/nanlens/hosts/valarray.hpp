/// @file
/// std::valarray: viewed as it lies in memory. Its expressions (`a * b`, `std::exp(a)`, `a.apply(f)`) and slices are
/// evaluated once by `nanlens::op`, which returns the std::valarray.
#pragma once

#include <concepts>
#include <cstdint>
#include <valarray>

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

// The types of a standard library's own expressions have no common name.
template <class T>
concept ValarrayExpression = !Viewable<T> && requires {
  typename T::value_type;
  requires !std::same_as<T, std::valarray<typename T::value_type>>;
  requires KnownElement<typename T::value_type>;
  requires std::convertible_to<const T&, std::valarray<typename T::value_type>>;
};

}  // namespace detail

template <detail::KnownElement T>
struct ViewOf<std::valarray<T>> {
  static TensorView view(const std::valarray<T>& x) noexcept {
    return tensor_view(x.size() == 0 ? nullptr : &x[0], {x.size()});
  }
};

template <detail::ValarrayExpression T>
struct Evaluate<T> {
  static auto evaluate(const T& expression) { return std::valarray<typename T::value_type>(expression); }
};

}  // namespace nanlens::inline NANLENS_ABI
