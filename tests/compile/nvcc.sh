#!/bin/sh
# A .cu file that records, compiled with CUDA's nvcc and run; it needs no device. Not for every day: where NVCC names no
# compiler, one of 100 MB is taken from PyPI. Environment: PYTHON (python3), CXX (g++), NANLENS, the command (build/bin/nanlens).
set -eu
cd "$(dirname "$0")/../.."
nanlens=${NANLENS:-$PWD/build/bin/nanlens}
work=build/nvcc
mkdir -p "$work"
if [ -z "${NVCC:-}" ]; then
  NVCC=$work/nvidia/cu13/bin/nvcc
  if [ ! -x "$NVCC" ]; then
    "${PYTHON:-python3}" -m pip download --quiet --no-deps --dest "$work/wheels" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 \
      nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
    for wheel in "$work"/wheels/*.whl; do "${PYTHON:-python3}" -m zipfile -e "$wheel" "$work"; done
    chmod +x "$work"/nvidia/cu13/bin/* "$work"/nvidia/cu13/nvvm/bin/*
  fi
fi
cat >"$work/program.cu" <<'EOF'
#include <cmath>
#include <vector>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nanlens/nanlens.hpp>
#include <nanlens/hosts/cuda.hpp>
#include <nanlens/hosts/cuda_types.hpp>
#include <nanlens/causes/causes.hpp>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
void launch(float* x, __half* y, cudaStream_t stream) {  // where there is a device
  twice<<<1, 3, 0, stream>>>(x);
  nanlens::cuda::record("Twice", stream, {nanlens::cuda::tensor(x, {3})}, {nanlens::cuda::tensor(y, {3})});
}
template <class T>
std::vector<T> halved(const std::vector<float>& values) {
  std::vector<T> half;
  for (const float value : values) half.emplace_back(value);
  nanlens::record("Cast", nanlens::outputs(half), nanlens::inputs(values));
  return half;
}
int main() {
  std::vector<float> x{1, 0, 2};
  const std::vector<float> y = nanlens::op("Log", [&] { return std::vector<float>{std::log(x[0]), std::log(x[1]), std::log(x[2])}; }, x);
  halved<__half>(y);
  halved<__nv_bfloat16>(y);
  return 0;
}
EOF
for flags in -O0 "-O2 -lineinfo" "-g -G"; do
  echo "nvcc $flags"
  rm -rf "$work/logdir"
  # shellcheck disable=SC2086
  "$NVCC" -std=c++20 $flags -g -ccbin "${CXX:-g++}" -arch=sm_90 -Iinclude -Xcompiler -Wall,-Wextra -L "$work/nvidia/cu13/lib" \
    "$work/program.cu" -o "$work/program"
  NANLENS_LOGDIR=$work/logdir "$work/program"
  "$nanlens" why "$work/logdir" | tee "$work/answer" | head -n 2
  grep -q "Log at program.cu:23 turned 1 zero of input 0 into −∞ (1 of 3)" "$work/answer"
  grep -q "All 3 bad tensors" "$work/answer"
done
echo "the kernel that looks at tensors, for every GPU"
sed -e 's/^R"ptx(//' -e '/^)ptx"/d' -e '/^\/\/\//d' include/nanlens/hosts/cuda/scan_ptx.inl >"$work/scan.ptx"
for arch in 75 80 86 89 90 100 120; do "$(dirname "$NVCC")/ptxas" -arch="sm_$arch" -o "$work/scan.cubin" "$work/scan.ptx"; done
echo passed
