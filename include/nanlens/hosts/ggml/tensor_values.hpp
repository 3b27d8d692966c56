/// @file
/// ggml's tensors as nanlens sees them: extents and strides the other way round, and values wherever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/calls.hpp>
#include <nanlens/summary/health.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// The dtype of the same elements; `invalid` for quantised ones. By ggml's numbers, which are those of its file format.
inline DType dtype_of(::ggml_type type) noexcept {
  switch (static_cast<int>(type)) {
    case 0: return DType::float32;
    case 1: return DType::float16;
    case 24: return DType::int8;
    case 25: return DType::int16;
    case 26: return DType::int32;
    case 27: return DType::int64;
    case 28: return DType::float64;
    case 30: return DType::bfloat16;
    default: return DType::invalid;
  }
}

/// The extents, outermost first, without those of 1 in front.
inline Shape shape_of(const ::ggml_tensor& tensor) noexcept {
  std::size_t rank = 4;
  while (rank > 1 && tensor.ne[rank - 1] == 1) --rank;
  Shape shape;
  while (rank-- > 0) shape.push_back(tensor.ne[rank]);
  return shape;
}

/// Where the memory of a tensor is that may be a view.
inline ::ggml_backend_buffer* buffer_of(const ::ggml_tensor& tensor) noexcept {
  return tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer;
}

/// True if the values are in this process's memory, as they are.
inline bool is_here(const ::ggml_tensor& tensor) {
  ::ggml_backend_buffer* const buffer = buffer_of(tensor);
  return tensor.data != nullptr && (buffer == nullptr || calls.is_host(buffer));
}

/// True if the memory of two tensors has bytes in common.
inline bool overlap(const ::ggml_tensor& a, const ::ggml_tensor& b) {
  const auto* const begin_a = static_cast<const char*>(a.data);
  const auto* const begin_b = static_cast<const char*>(b.data);
  return begin_a < begin_b + calls.num_bytes(&b) && begin_b < begin_a + calls.num_bytes(&a);
}

/// A view of elements that begin at `data`: the tensor's own memory, or a copy of it. Without data where the strides
/// are not multiples of the elements.
inline TensorView view_at(const ::ggml_tensor& tensor, const void* data) noexcept {
  TensorView view{data, dtype_of(tensor.type), shape_of(tensor), {}, cpu_device};
  const std::size_t bytes = dtype_bytes(view.dtype);
  if (bytes == 0) return {nullptr, DType::invalid, view.shape, {}, unreadable_device};
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (tensor.nb[d] % bytes != 0) view.data = nullptr;
    view.strides.push_back(static_cast<std::int64_t>(tensor.nb[d] / bytes));
  }
  if (view.data == nullptr) view.device = unreadable_device;
  return view;
}

/// Calls visit(first byte) for each row of a tensor at `data`.
template <class Visit>
void each_row(const ::ggml_tensor& tensor, const char* data, const Visit& visit) {
  for (std::int64_t i3 = 0; i3 < tensor.ne[3]; ++i3)
    for (std::int64_t i2 = 0; i2 < tensor.ne[2]; ++i2)
      for (std::int64_t i1 = 0; i1 < tensor.ne[1]; ++i1)
        visit(data + static_cast<std::size_t>(i1) * tensor.nb[1] + static_cast<std::size_t>(i2) * tensor.nb[2] +
              static_cast<std::size_t>(i3) * tensor.nb[3]);
}

/// ggml's own function that reads a row of quantised elements; null if there is none.
inline auto reader_of(const ::ggml_tensor& tensor) -> void (*)(const void*, float*, std::int64_t) {
  if (calls.traits == nullptr || tensor.nb[0] != calls.block_bytes(tensor.type)) return nullptr;
  const ::ggml_type_traits* const traits = calls.traits(tensor.type);
  return traits == nullptr ? nullptr : traits->to_float;
}

/// The values of one tensor, and the memory of a copy where one is needed: of a device, or quantised.
class TensorValues {
 public:
  /// Valid until the next call. Without data where the values can't be read.
  TensorView view(const ::ggml_tensor& tensor) {
    const char* const data = bytes_of(tensor);
    if (data == nullptr) return {nullptr, dtype_of(tensor.type), shape_of(tensor), {}, unreadable_device};
    if (dtype_of(tensor.type) != DType::invalid) return view_at(tensor, data);
    const auto read = reader_of(tensor);
    const Shape shape = shape_of(tensor);
    if (read == nullptr) return {nullptr, DType::invalid, shape, {}, unreadable_device};
    floats_.resize(static_cast<std::size_t>(num_elements(shape)));
    float* to = floats_.data();
    each_row(tensor, data, [&](const char* row) {
      read(row, to, tensor.ne[0]);
      to += tensor.ne[0];
    });
    return dense_view(floats_.data(), DType::float32, shape);
  }
  /// The health of quantised values, read row by row, since weights are large. False if they can't be read.
  bool count_by_rows(const ::ggml_tensor& tensor, HealthCounts& counts) {
    const auto read = reader_of(tensor);
    const char* const data = read == nullptr ? nullptr : bytes_of(tensor);
    if (data == nullptr) return false;
    floats_.resize(static_cast<std::size_t>(tensor.ne[0]));
    each_row(tensor, data, [&](const char* row) {
      read(row, floats_.data(), tensor.ne[0]);
      counts += full_health(dense_view(floats_.data(), DType::float32, Shape{tensor.ne[0]}));
    });
    return true;
  }

 private:
  const char* bytes_of(const ::ggml_tensor& tensor) {
    if (tensor.data == nullptr) return nullptr;
    if (is_here(tensor)) return static_cast<const char*>(tensor.data);
    if (calls.is_of_cpu(buffer_of(tensor))) return nullptr;
    bytes_.resize(calls.num_bytes(&tensor));
    calls.read(&tensor, bytes_.data(), 0, bytes_.size());
    return bytes_.data();
  }
  std::vector<char> bytes_;
  std::vector<float> floats_;
};

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
