#!/bin/sh
# Compiles cmake/scan-kernel.cpp, the kernel that looks at tensors in a GPU's memory, and writes it into the headers as
# PTX, which a driver compiles for the GPU that is there: Volta (7.0) or later. `--check`: only says whether it is
# what the headers hold. Environment: CLANGXX (clang++-19).
set -eu
cd "$(dirname "$0")/.."
header=include/nanlens/hosts/cuda/scan_ptx.inl
work=build/scan-kernel
mkdir -p "$work"
"${CLANGXX:-clang++-19}" --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx70 -std=c++20 \
  -O2 -S -nostdlib -ffreestanding -fno-exceptions -fno-strict-aliasing -Wall -Wextra -Werror -Iinclude \
  cmake/scan-kernel.cpp -o "$work/scan.ptx"
{
  echo '/// @file'
  echo '/// cmake/scan-kernel.cpp as PTX: written by `sh cmake/scan-kernel.sh`.'
  echo
  printf 'R"ptx('
  # Comments and the names of local symbols say nothing to a driver.
  sed -e 's|[[:space:]]*//.*||' -e 's/_ZN12_GLOBAL__N_1[0-9]*\([a-z_]*\)E/\1/g' -e '/^[[:space:]]*$/d' "$work/scan.ptx"
  echo ')ptx"'
} >"$work/scan_ptx.inl"
if [ "${1:-}" = --check ]; then
  cmp "$work/scan_ptx.inl" "$header" && exit 0
  echo "$header is not what cmake/scan-kernel.cpp compiles to: run sh cmake/scan-kernel.sh, and try it on a GPU" >&2
  exit 1
fi
cp "$work/scan_ptx.inl" "$header"
