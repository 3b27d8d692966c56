#!/bin/sh
# The kernels' test, compiled for arm64 and run under qemu: the baseline level is NEON there.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/neon
doctest=$(dirname "$(find /usr/include -name doctest.h | head -n 1)")
mkdir -p build/neon/include && ln -sfn "$doctest" build/neon/include/doctest
aarch64-linux-gnu-g++ -std=c++20 -O1 -static -Iinclude -isystem build/neon/include -Wall -Wextra -Werror \
  tests/support/main.cpp tests/summary/kernels_test.cpp tests/summary/strided_test.cpp -o build/neon/test
qemu-aarch64 build/neon/test
