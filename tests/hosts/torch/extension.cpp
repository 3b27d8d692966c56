// An op of somebody's own, as PyTorch's extensions have them: what it does inside, nobody sees.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <cmath>

namespace {

at::Tensor raw_root(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  const float* const from = x.data_ptr<float>();
  float* const to = y.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = std::sqrt(from[i]);
  return y;
}

}  // namespace

TORCH_LIBRARY(nanlens_test, library) { library.def("raw_root", raw_root); }
