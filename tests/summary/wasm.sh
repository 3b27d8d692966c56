#!/bin/sh
# The kernels' tests, compiled for wasm with SIMD and run under node: the baseline level is simd128 there.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/wasm-test
for test in kernels strided; do
  clang++-19 --target=wasm32-wasi -msimd128 -std=c++20 -stdlib=libc++ -O1 -fno-exceptions -DPLAIN_MAIN -Iinclude \
    -isystem tests/support/plain "tests/summary/${test}_test.cpp" -o "build/wasm-test/$test.wasm"
  NODE_NO_WARNINGS=1 node --experimental-wasi-unstable-preview1 -e '
    const { WASI } = require("wasi");
    const wasi = new WASI({ version: "preview1", returnOnExit: true });
    const bytes = require("fs").readFileSync(process.argv[1]);
    WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi.wasiImport })
      .then(({ instance }) => { process.exitCode = wasi.start(instance) || 0; });
  ' "build/wasm-test/$test.wasm"
done
