/// @file
/// `view_of(x)`: how nanlens gets a TensorView from a value. The customization point for a host's own types.
///
/// Built in: arithmetic scalars, bool, halves, std::complex, std::string, contiguous ranges of them (std::vector,
/// std::array, std::span, C arrays; arrays in arrays are further dimensions), anything shaped like mdspan, TensorView
/// itself, and `tensor_view(pointer, {rows, cols})`. Types with strides of their own are not taken for contiguous
/// ranges; those of array libraries have a header in nanlens/hosts.
/// For a type of one's own, specialise `nanlens::ViewOf<T>` with
/// `static TensorView view(const T&) noexcept`, and `nanlens::DTypeOf<E>` for an element type of one's own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>  // std::string by name only: <string> takes long to compile
#include <limits>
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

// std::float16_t, std::bfloat16_t, _Float16, __bf16, __fp16: which of them a compiler has, and by what name, differs.
template <class T>
concept BuiltInHalf = sizeof(T) == 2 && !std::is_class_v<T> && !std::is_union_v<T> && !std::is_enum_v<T> &&
                      !std::is_integral_v<T> && requires(T x) { x * 1.0f; };

// A library's half (as Eigen's and PyTorch's are), known by what it says of itself.
template <class T>
concept HalfClass = std::is_class_v<T> && sizeof(T) == 2 && std::numeric_limits<T>::is_specialized &&
                    !std::numeric_limits<T>::is_integer;

template <class T>
constexpr DType dtype_of_half() noexcept {
  if constexpr (BuiltInHalf<T>) {
    constexpr float beyond_bfloat16 = 1.0f + 1.0f / 512;
    return static_cast<float>(static_cast<T>(beyond_bfloat16)) == beyond_bfloat16 ? DType::float16 : DType::bfloat16;
  } else {
    using Limits = std::numeric_limits<T>;
    if (Limits::digits == 11 && Limits::max_exponent == 16) return DType::float16;
    return Limits::digits == 8 && Limits::max_exponent == 128 ? DType::bfloat16 : DType::invalid;
  }
}

}  // namespace detail

/// Maps a C++ element type to its dtype; specialise it for element types of a host that are not known by themselves, as
/// halves are which have std::numeric_limits. `value` is the dtype.
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
    } else if constexpr (detail::BuiltInHalf<T> || detail::HalfClass<T>) {
      return detail::dtype_of_half<T>();
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

/// How a lazy expression becomes a value: specialise with `static auto evaluate(const T&)` for expression templates of
/// a host. `nanlens::op` evaluates such an expression once, inside the op's time, and returns the result.
template <class T>
struct Evaluate {};

namespace detail {

template <class T>
concept KnownElement = dtype_of<T> != DType::invalid;

template <class T>
concept CustomView = requires(const T& x) {
  { ViewOf<T>::view(x) } -> std::same_as<TensorView>;
};

// std::mdspan, its ancestors and look-alikes: recognised by shape, so that no header of theirs is needed. Not those
// whose accessor makes values other than those in memory, or whose layout has no strides.
template <class T>
concept MdspanShape = requires(const T& x, std::size_t i) {
  typename T::element_type;
  { x.data_handle() } -> std::convertible_to<const typename T::element_type*>;
  { x.extent(i) } -> std::convertible_to<std::int64_t>;
  { T::rank() } -> std::convertible_to<std::size_t>;
};
template <class T>
concept ReadsMemory =
    !requires { typename T::reference; } || std::is_same_v<typename T::reference, typename T::element_type&>;
template <class T>
concept HasStrides =
    T::rank() == 0 || (requires(const T& x, std::size_t i) {
      { x.stride(i) } -> std::convertible_to<std::int64_t>;
    } && (!requires { typename T::mapping_type; } ||
          requires(const typename T::mapping_type& mapping, std::size_t i) { mapping.stride(i); }));
template <class T>
concept MdspanLike = MdspanShape<T> && ReadsMemory<T> && HasStrides<T> && KnownElement<typename T::element_type>;

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

// What an element of a range holds: itself, or what the arrays of fixed size in it do.
template <class T>
struct Nested {
  using element = T;
  static constexpr void add_extents(Shape&) noexcept {}
};
template <class T, std::size_t N>
struct NestedArray {
  using element = typename Nested<std::remove_cv_t<T>>::element;
  static constexpr void add_extents(Shape& shape) noexcept {
    shape.push_back(static_cast<std::int64_t>(N));
    Nested<std::remove_cv_t<T>>::add_extents(shape);
  }
};
template <class T, std::size_t N>
struct Nested<T[N]> : NestedArray<T, N> {};
// std::array and look-alikes; std::span is no aggregate.
template <template <class, std::size_t> class Array, class T, std::size_t N>
  requires(std::is_aggregate_v<Array<T, N>> && sizeof(Array<T, N>) == N * sizeof(T))
struct Nested<Array<T, N>> : NestedArray<T, N> {};

// The elements that a pointer to arrays, or to elements, leads to.
template <class Pointer>
using NestedBehind = Nested<std::remove_cv_t<std::remove_pointer_t<Pointer>>>;

// Duck-typed by data and size, which of types without strides only contiguous containers have: <ranges> would double
// the include's cost.
template <class T>
concept ContiguousElements = !std::same_as<T, std::string> && !Strided<T> && requires(const T& x) {
  { size_of(x) } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(data_of(x))>;
  requires KnownElement<typename NestedBehind<decltype(data_of(x))>::element>;
};

// Strings have no fixed layout: their dtype and shape are recorded, their bytes are not.
template <class Element>
constexpr const void* readable(const void* data) noexcept {
  return dtype_kind(dtype_of<Element>) == DTypeKind::string ? nullptr : data;
}

template <class T>
constexpr TensorView view_of_mdspan(const T& x) noexcept {
  using Element = typename T::element_type;
  TensorView view{readable<Element>(x.data_handle()), dtype_of<Element>, {}, {}, cpu_device};
  if constexpr (T::rank() > 0) {
    for (std::size_t i = 0; i < T::rank(); ++i) view.shape.push_back(static_cast<std::int64_t>(x.extent(i)));
    if constexpr (requires { x.is_strided(); }) {
      if (!x.is_strided()) return view.data = nullptr, view.device = unreadable_device, view;
    }
    for (std::size_t i = 0; i < T::rank(); ++i) view.strides.push_back(static_cast<std::int64_t>(x.stride(i)));
  }
  return view;
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
    return detail::view_of_mdspan(x);
  } else if constexpr (detail::ContiguousElements<T>) {
    using Nested = detail::NestedBehind<decltype(detail::data_of(x))>;
    using Element = typename Nested::element;
    Shape shape{static_cast<std::int64_t>(detail::size_of(x))};
    Nested::add_extents(shape);
    return dense_view(detail::readable<Element>(detail::data_of(x)), dtype_of<Element>, shape);
  } else {
    return dense_view(detail::readable<T>(&x), dtype_of<T>, {});
  }
}

/// A dense row-major view of memory with a shape: `tensor_view(ptr, {rows, cols})`.
template <class T>
  requires detail::KnownElement<T>
constexpr TensorView tensor_view(const T* data, const Shape& shape) noexcept {
  return dense_view(detail::readable<T>(data), dtype_of<T>, shape);
}

}  // namespace nanlens::inline NANLENS_ABI
