#!/bin/sh
# Benchmarks beside the peers: builds Release, installs TensorFlow into a virtual environment, runs everything, prints a
# table and leaves it in build/bench/results.md. Timing decides no test.
set -eu
cd "$(dirname "$0")/../.."
sh cmake/install-packages.sh g++ cmake ninja-build pkg-config libzstd-dev libeigen3-dev libcli11-dev nlohmann-json3-dev \
  libre2-dev libprotobuf-dev protobuf-compiler libbenchmark-dev python3 python3-venv python3-numpy openmpi-bin libopenmpi-dev
sh cmake/get-viewer-sources.sh
sh cmake/get-ggml.sh
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DNANLENS_BUILD_BENCHMARKS=ON -DNANLENS_BUILD_TESTS=OFF \
  -DNANLENS_BUILD_VIEWER=ON >build/bench.log 2>&1 || { tail -n 30 build/bench.log; exit 1; }
cmake --build build/bench --target bench_growth bench_kernels bench_recording bench_reading bench_hostile bench_make_logdir bench_ranks bench_ggml mnist nanlens-command nanlens_preload nanlens_ggml nanlens_onnx \
  >>build/bench.log 2>&1 || { tail -n 30 build/bench.log; exit 1; }
command -v node >/dev/null || sh cmake/install-packages.sh nodejs
command -v npm >/dev/null || sh cmake/install-packages.sh npm
sh cmake/install-packages.sh chromium
sh wasm/build.sh
exec python3 tests/bench/table.py build/bench "$@"
