/// @file
/// DLPack: a DLTensor, or a DLManagedTensor, of any version. Of those on a device, shape and dtype are recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>
#include <nanlens/tensor/dlpack_types.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

template <class T>
concept DlpackTensor = requires(const T& x) {
  x.dtype.code;
  x.dtype.lanes;
  x.shape[0];
  x.strides[0];
  x.byte_offset;
  x.ndim;
};

template <class T>
concept DlpackManaged = DlpackTensor<decltype(T::dl_tensor)>;

// The member's name until DLPack 0.4 was `ctx`.
template <class T>
bool is_readable(const T& x) noexcept {
  if constexpr (requires { x.device; })
    return is_readable_dlpack(static_cast<std::int32_t>(x.device.device_type));
  else
    return is_readable_dlpack(static_cast<std::int32_t>(x.ctx.device_type));
}

}  // namespace detail

/// Elements of several lanes, of which a logdir knows nothing, have no dtype.
template <detail::DlpackTensor T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept {
    TensorView view;
    if (x.dtype.lanes == 1) view.dtype = detail::dtype_of_dlpack(x.dtype.code, x.dtype.bits);
    for (int i = 0; x.shape != nullptr && i < x.ndim; ++i) view.shape.push_back(x.shape[i]);
    for (int i = 0; x.strides != nullptr && i < x.ndim; ++i) view.strides.push_back(x.strides[i]);
    if (!detail::is_readable(x))
      view.device = gpu_device;
    else if (x.ndim < 0 || (x.ndim > 0 && x.shape == nullptr))
      view.device = unreadable_device;
    else if (x.data != nullptr)
      view.data = static_cast<const unsigned char*>(x.data) + x.byte_offset;
    return view;
  }
};

template <detail::DlpackManaged T>
struct ViewOf<T> {
  static TensorView view(const T& x) noexcept { return view_of(x.dl_tensor); }
};

}  // namespace nanlens::inline NANLENS_ABI
