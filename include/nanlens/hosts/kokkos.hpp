/// @file
/// Kokkos: views of any layout, and their subviews, as they lie in memory. Of those in memory that the host can't read,
/// shape and dtype are recorded.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

template <class T>
concept KokkosView = requires(const T& x, std::size_t i) {
  typename T::array_layout;
  typename T::host_mirror_space::memory_space;
  { x.data() } -> std::convertible_to<const typename T::value_type*>;
  { x.extent(i) } -> std::convertible_to<std::size_t>;
  { x.stride(i) } -> std::convertible_to<std::size_t>;
  static_cast<std::size_t>(T::rank);
} && KnownElement<typename T::value_type>;

}  // namespace detail

template <detail::KokkosView T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    // A mirror is in the same memory where the host reads that.
    constexpr bool readable = std::is_same_v<typename T::host_mirror_space::memory_space, typename T::memory_space>;
    TensorView view{
        readable ? x.data() : nullptr, dtype_of<typename T::value_type>, {}, {}, readable ? cpu_device : gpu_device};
    for (std::size_t i = 0; i < static_cast<std::size_t>(T::rank); ++i) {
      view.shape.push_back(static_cast<std::int64_t>(x.extent(i)));
      view.strides.push_back(static_cast<std::int64_t>(x.stride(i)));
    }
    return view;
  }
};

}  // namespace nanlens::inline NANLENS_ABI
