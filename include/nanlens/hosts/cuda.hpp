/// @file
/// CUDA programs: what kernels read and make in a GPU's memory.
///
///     saxpy<<<blocks, threads, 0, stream>>>(n, a, x, y);
///     nanlens::cuda::record("Saxpy", stream, {nanlens::cuda::tensor(y, {n})},
///                           {nanlens::cuda::tensor(x, {n}), nanlens::cuda::tensor(y, {n})});
///
/// It needs neither CUDA's headers nor its libraries, and any compiler will do; the program has CUDA's driver loaded,
/// or no GPU. A call waits for the stream, while health is recorded or checked: the tensors are counted where they are,
/// by a kernel of nanlens, and copied to the host where something is bad, or all values are recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>
#if !defined(NANLENS_DISABLE)
#include <nanlens/capture/readable.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>
#include <nanlens/hosts/cuda/fetch_budget.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {

/// CUDA as a host.
namespace cuda {

/// A tensor in a device's memory, or in managed or the host's own.
struct Tensor {
  const void* data = nullptr;
  DType dtype = DType::invalid;
  Shape shape;
  /// In elements; left out: dense, the last dimension varies fastest. With a negative one, a tensor in a device's
  /// memory is recorded by its shape alone.
  Shape strides;
};

/// A tensor of numbers that say what they are: CUDA's halves do with <nanlens/hosts/cuda_types.hpp>.
template <class T>
Tensor tensor(const T* data, const Shape& shape, const Shape& strides = {}) noexcept {
  return {data, dtype_of<T>, shape, strides};
}

/// Records an op whose kernels were launched on the stream, a cudaStream_t or CUstream. What it both read and wrote is
/// to be among the inputs, too. While the stream is being captured into a CUDA graph, nothing is told of the tensors
/// but their shapes. Throws NumericsError, with check_numerics on, and std::bad_alloc where there is no memory for
/// lists as long as its own.
NANLENS_HIDDEN inline void record(const OpName& name, void* stream, std::initializer_list<Tensor> outputs,
                                  std::initializer_list<Tensor> inputs = {});

#if defined(NANLENS_DISABLE)
inline void record(const OpName& /*name*/, void* /*stream*/, std::initializer_list<Tensor> /*outputs*/,
                   std::initializer_list<Tensor> /*inputs*/) {}
#else
namespace detail {

using namespace nanlens::detail;

/// A tensor as it is recorded: of the host's memory its view has the data, of a device's its key the address. Neither
/// where the memory is nobody's, as what a device has freed.
struct Seen {
  TensorView view;
  TensorKey key;
};

NANLENS_HIDDEN inline Seen see(const Tensor& tensor) {
  Seen seen{{tensor.data, tensor.dtype, tensor.shape, tensor.strides}, {}};
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (const int number = cuda_host::device_of(address); number >= 0) {
    seen.view.data = nullptr;
    seen.view.device = cuda_host::device_name(static_cast<std::size_t>(number));
    seen.key = cuda_host::far_key(seen.view, address, static_cast<std::size_t>(number));
  } else {
    seen.key = key_of(seen.view);
    if (cuda_host::Driver::get() != nullptr && !can_read(seen.key)) {
      seen.view.data = nullptr;
      seen.view.device = unreadable_device;
      seen.key = {};
    }
  }
  return seen;
}

}  // namespace detail

inline void record(const OpName& name, void* stream, std::initializer_list<Tensor> outputs,
                   std::initializer_list<Tensor> inputs) {
  using namespace nanlens::detail;
  if (!takes_op() || active_bits() == 0) return;
  recorder().read_far_with(&cuda_host::read_word);
  std::vector<OutputRef> outs;
  std::vector<InputRef> ins;
  for (const Tensor& tensor : outputs) {
    const detail::Seen seen = detail::see(tensor);
    outs.push_back({seen.view, seen.key});
    outs.back().in_place = true;
  }
  for (const Tensor& tensor : inputs) {
    const detail::Seen seen = detail::see(tensor);
    ins.push_back({seen.view, seen.key, {}});
  }
  const OpRef op = ref(name);
  cuda_host::FarTensors far;
  for (OutputRef& out : outs) far.add(out.view, out.key, cuda_host::FarTensors::Role::output);
  for (InputRef& in : ins) far.add(in.view, in.key, cuda_host::FarTensors::Role::input);
  cuda_host::look_and_fetch(far, mix(hash_place(op.where()), hash_text(op.type())),
                            [&](std::size_t) { return stream; });
  nanlens::detail::record(op, ins, outs, {});
}
#endif

}  // namespace cuda

}  // namespace nanlens::inline NANLENS_ABI
