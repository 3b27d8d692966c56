/// @file
/// PyTorch's tensors as nanlens sees them: raw memory only, since an ATen call inside a callback would be recorded
/// itself, and may throw.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>
#include <nanlens/hosts/torch/cuda_streams.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// The dtype of the same elements; `invalid` for those that nanlens has no name for.
inline DType dtype_of(::c10::ScalarType type) noexcept {
  using ::c10::ScalarType;
  constexpr int float8_e5m2 = 23;  // by number: PyTorch before 2.1 has no name for them
  constexpr int float8_e4m3fn = 24;
  switch (type) {
    case ScalarType::Byte: return DType::uint8;
    case ScalarType::Char: return DType::int8;
    case ScalarType::Short: return DType::int16;
    case ScalarType::Int: return DType::int32;
    case ScalarType::Long: return DType::int64;
    case ScalarType::Half: return DType::float16;
    case ScalarType::Float: return DType::float32;
    case ScalarType::Double: return DType::float64;
    case ScalarType::ComplexFloat: return DType::complex64;
    case ScalarType::ComplexDouble: return DType::complex128;
    case ScalarType::Bool: return DType::boolean;
    case ScalarType::BFloat16: return DType::bfloat16;
    default: break;
  }
  if (static_cast<int>(type) == float8_e5m2) return DType::float8_e5m2;
  return static_cast<int>(type) == float8_e4m3fn ? DType::float8_e4m3fn : DType::invalid;
}

/// Says once per kind that tensors of it are passed over.
inline void pass_over(std::size_t kind, const char* what) noexcept {
  static std::atomic<unsigned> said{0};
  const unsigned bit = 1U << kind;
  if ((said.fetch_or(bit) & bit) == 0)
    std::fprintf(stderr, "nanlens: %s tensors are passed over: their values can't be read here\n", what);
}

/// False of what wraps other tensors, or stands for one while code is traced: it has no values of its own to miss.
inline bool has_memory(const ::c10::TensorImpl& tensor) noexcept {
  const ::c10::Storage& storage = tensor.unsafe_storage();
  if (storage.unsafeGetStorageImpl() == nullptr || storage.device().is_meta()) return false;
  try {
    return storage.data() != nullptr;
  } catch (const std::exception&) {  // it refuses
    return false;
  }
}

/// True if the memory of a tensor can be described by sizes and strides; says why not.
inline bool is_plain(const ::c10::TensorImpl& tensor) noexcept {
  if (tensor.is_nested()) return pass_over(0, "nested"), false;
  // What vmap gives out stands for a whole batch, which the ops inside read and make.
  if (tensor.key_set().has(::c10::DispatchKey::FuncTorchBatched)) return false;
  if (tensor.is_python_dispatch()) {
    if (has_memory(tensor)) pass_over(1, "Python-dispatched");
    return false;
  }
  if (tensor.is_meta()) return false;  // it has no values to miss
  if (tensor.is_quantized()) return pass_over(2, "quantised"), false;
  if (tensor.layout() != ::c10::kStrided) return pass_over(3, "sparse"), false;
  return tensor.has_storage();
}

/// A device's name as TensorFlow forms it; lasts as long as the program.
inline const char* device_name(const ::c10::Device& device) {
  if (device.is_cpu()) return cpu_device;
  if (device.is_cuda())
    return cuda_host::device_name(static_cast<std::size_t>(device.has_index() ? device.index() : 0));
  static auto* const names = new std::set<std::string>;
  static std::mutex lock;
  std::string name = "/job:localhost/replica:0/task:0/device:";
  name += ::c10::DeviceTypeName(device.type());
  name += ":" + std::to_string(device.has_index() ? device.index() : 0);
  const std::lock_guard guard(lock);
  return names->insert(std::move(name)).first->c_str();
}

/// A tensor as it is recorded: where it lies on a device, its view doesn't tell.
struct SeenTensor {
  TensorView view;  ///< without data where the memory is on a device, or not this process's to read
  nanlens::detail::TensorKey key;
};

inline SeenTensor see(const ::c10::TensorImpl& tensor) {
  SeenTensor seen;
  TensorView& view = seen.view;
  view.dtype = dtype_of(::c10::typeMetaToScalarType(tensor.dtype()));
  if (!is_plain(tensor)) {
    view.device = unreadable_device;
    return seen;
  }
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  std::int64_t last = 0;
  bool has_elements = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    view.shape.push_back(sizes[i]);
    view.strides.push_back(strides[i]);
    last += (sizes[i] - 1) * strides[i];
    has_elements = has_elements && sizes[i] > 0;
  }
  view.device = device_name(tensor.device());
  const bool is_far = tensor.device().is_cuda() && CudaStreams::get().are_known();
  if (!(tensor.device().is_cpu() || is_far) || !has_elements || view.shape.overflowed()) return seen;
  const ::c10::Storage& storage = tensor.storage();
  const auto bytes = static_cast<std::size_t>(tensor.itemsize());
  const auto offset = static_cast<std::size_t>(tensor.storage_offset());
  const void* const memory = storage.data();
  // A storage may have been made smaller than its tensors, as sharding libraries do.
  if (memory == nullptr || (offset + static_cast<std::size_t>(last) + 1) * bytes > storage.nbytes())
    view.device = unreadable_device;
  else if (is_far)
    seen.key = cuda_host::far_key(view, reinterpret_cast<std::uintptr_t>(memory) + offset * bytes,
                                  static_cast<std::size_t>(tensor.device().has_index() ? tensor.device().index() : 0));
  else
    view.data = static_cast<const char*>(memory) + offset * bytes;
  if (view.data != nullptr) seen.key = nanlens::detail::key_of(view);
  return seen;
}

inline TensorView view_of_impl(const ::c10::TensorImpl& tensor) { return see(tensor).view; }

/// True if there are elements that can be looked at, here or by their shape alone.
inline bool is_recordable(const TensorView& view) noexcept {
  return view.dtype != DType::invalid && view.device != unreadable_device && num_elements(view.shape) != 0;
}

/// Calls visit(tensor) for each defined tensor of a value, lists and tuples included.
template <class Visit>
void each_tensor(const ::c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (const ::at::Tensor& tensor = value.toTensor(); tensor.defined()) visit(*tensor.unsafeGetTensorImpl());
  } else if (value.isList()) {
    for (const ::c10::IValue& element : value.toListRef()) each_tensor(element, visit);
  } else if (value.isTuple()) {
    for (const ::c10::IValue& element : value.toTupleRef().elements()) each_tensor(element, visit);
  }
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
