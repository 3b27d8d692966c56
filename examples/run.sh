#!/bin/sh
# Installs what is missing, builds, runs the walkthrough and shows its report.
set -eu
cd "$(dirname "$0")/.."
sh cmake/install-packages.sh g++ cmake ninja-build pkg-config libzstd-dev libeigen3-dev libcli11-dev nlohmann-json3-dev \
  libprotobuf-dev protobuf-compiler
mkdir -p build
cmake --preset default -DNANLENS_BUILD_TESTS=OFF -DNANLENS_BUILD_VIEWER=OFF -DCMAKE_UNITY_BUILD=ON >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build build --target nanlens-command mnist hello

logdir=build/walkthrough
rm -rf "$logdir"
echo
echo "\$ build/bin/mnist --dump_dir $logdir --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1"
build/bin/mnist --dump_dir "$logdir" --dump_tensor_debug_mode FULL_HEALTH --dump_circular_buffer_size -1
echo
echo "\$ build/bin/nanlens report $logdir"
build/bin/nanlens report "$logdir"
echo
echo "to look at it in the viewer: sh examples/view.sh"
