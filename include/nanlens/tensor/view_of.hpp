/// @file
/// `view_of(x)`: how nanlens gets a TensorView from a value. The customization point for a host's own types.
///
/// Built in: arithmetic scalars, bool, std::complex, std::string, contiguous ranges of them (std::vector, std::array,
/// std::span, C arrays), anything shaped like mdspan, TensorView itself, and `tensor_view(pointer, {rows, cols})`.
/// Types with strides of their own are not taken for contiguous ranges.
/// For a type of one's own, specialise `nanlens::ViewOf<T>` with
/// `static TensorView view(const T&) noexcept`, and `nanlens::DTypeOf<E>` for an element type of one's own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>  // std::string by name only: <string> takes long to compile
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

// std::complex and look-alikes, recognised by shape: <complex> takes long to compile.
template <class T, class Part>
concept ComplexOf = requires(const T& x) {
  typename T::value_type;
  requires std::is_same_v<typename T::value_type, Part>;
  { x.real() } -> std::convertible_to<Part>;
  { x.imag() } -> std::convertible_to<Part>;
  requires sizeof(T) == 2 * sizeof(Part);
};

}  // namespace detail

/// Maps a C++ element type to its dtype; specialise it for half, bfloat16, … types of a host. `value` is the dtype.
template <class T>
struct DTypeOf {
  static constexpr DType value = [] {
    if constexpr (std::is_same_v<T, bool>) {
      return DType::boolean;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr bool sign = std::is_signed_v<T>;
      if constexpr (sizeof(T) == 1) return sign ? DType::int8 : DType::uint8;
      if constexpr (sizeof(T) == 2) return sign ? DType::int16 : DType::uint16;
      if constexpr (sizeof(T) == 4) return sign ? DType::int32 : DType::uint32;
      if constexpr (sizeof(T) == 8) return sign ? DType::int64 : DType::uint64;
    } else if constexpr (std::is_same_v<T, float>) {
      return DType::float32;
    } else if constexpr (std::is_same_v<T, double>) {
      return DType::float64;
    } else if constexpr (detail::ComplexOf<T, float>) {
      return DType::complex64;
    } else if constexpr (detail::ComplexOf<T, double>) {
      return DType::complex128;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return DType::string;
    } else {
      return DType::invalid;
    }
  }();
};

/// dtype of an element type; `DType::invalid` if nanlens does not know it.
template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

/// The customization point: specialise with `static TensorView view(const T&) noexcept`.
template <class T>
struct ViewOf {};

namespace detail {

template <class T>
concept KnownElement = dtype_of<T> != DType::invalid;

template <class T>
concept CustomView = requires(const T& x) {
  { ViewOf<T>::view(x) } -> std::same_as<TensorView>;
};

// std::mdspan, its ancestors and look-alikes: recognised by shape, so that no header of theirs is needed.
template <class T>
concept MdspanLike = requires(const T& x, std::size_t i) {
  typename T::element_type;
  { x.data_handle() } -> std::convertible_to<const typename T::element_type*>;
  { x.extent(i) } -> std::convertible_to<std::int64_t>;
  { x.stride(i) } -> std::convertible_to<std::int64_t>;
  { T::rank() } -> std::convertible_to<std::size_t>;
} && KnownElement<typename T::element_type>;

// What std::data and std::size give: <iterator> takes long to compile.
template <class T>
constexpr auto data_of(const T& x) noexcept -> decltype(x.data()) {
  return x.data();
}
template <class T, std::size_t N>
constexpr const T* data_of(const T (&x)[N]) noexcept {
  return x;
}
template <class T>
constexpr const T* data_of(const std::initializer_list<T>& x) noexcept {
  return x.begin();
}
template <class T>
constexpr auto size_of(const T& x) noexcept -> decltype(x.size()) {
  return x.size();
}
template <class T, std::size_t N>
constexpr std::size_t size_of(const T (&)[N]) noexcept {
  return N;
}

// Types that say how far their elements lie apart, in the words of Kokkos, xtensor, Boost, Eigen and Blaze: data() and
// size() alone would be read out of bounds.
template <class T>
concept Strided = requires(const T& x) { x.stride(0); } || requires(const T& x) { x.stride(); } ||
                  requires(const T& x) { x.strides(); } || requires(const T& x) { x.innerStride(); } ||
                  requires(const T& x) { x.spacing(); };

// Duck-typed by data and size, which of types without strides only contiguous containers have: <ranges> would double
// the include's cost.
template <class T>
concept ContiguousElements = !std::same_as<T, std::string> && !Strided<T> && requires(const T& x) {
  { size_of(x) } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(data_of(x))>;
  requires KnownElement<std::remove_pointer_t<decltype(data_of(x))>>;
};

// Strings have no fixed layout: their dtype and shape are recorded, their bytes are not.
template <class Element>
constexpr const void* readable(const Element* data) noexcept {
  return dtype_kind(dtype_of<Element>) == DTypeKind::string ? nullptr : static_cast<const void*>(data);
}

}  // namespace detail

/// True for types that `view_of` accepts.
template <class T>
concept Viewable = std::same_as<T, TensorView> || detail::CustomView<T> || detail::MdspanLike<T> ||
                   detail::ContiguousElements<T> || detail::KnownElement<T>;

/// The view of a value. A ViewOf specialisation comes first, so that a host can also replace a built-in.
template <class T>
  requires Viewable<T>
constexpr TensorView view_of(const T& x) noexcept {
  if constexpr (std::same_as<T, TensorView>) {
    return x;
  } else if constexpr (detail::CustomView<T>) {
    return ViewOf<T>::view(x);
  } else if constexpr (detail::MdspanLike<T>) {
    TensorView view{detail::readable(x.data_handle()), dtype_of<typename T::element_type>, {}, {}, cpu_device};
    for (std::size_t i = 0; i < T::rank(); ++i) {
      view.shape.push_back(static_cast<std::int64_t>(x.extent(i)));
      view.strides.push_back(static_cast<std::int64_t>(x.stride(i)));
    }
    return view;
  } else if constexpr (detail::ContiguousElements<T>) {
    using Element = std::remove_pointer_t<decltype(detail::data_of(x))>;
    const auto size = static_cast<std::int64_t>(detail::size_of(x));
    return dense_view(detail::readable(detail::data_of(x)), dtype_of<Element>, {size});
  } else {
    return dense_view(detail::readable(&x), dtype_of<T>, {});
  }
}

/// A dense row-major view of memory with a shape: `tensor_view(ptr, {rows, cols})`.
template <class T>
  requires detail::KnownElement<T>
constexpr TensorView tensor_view(const T* data, const Shape& shape) noexcept {
  return dense_view(detail::readable(data), dtype_of<T>, shape);
}

}  // namespace nanlens::inline NANLENS_ABI
