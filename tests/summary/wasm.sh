#!/bin/sh
# The kernels' tests, compiled for wasm with SIMD and run under node: the baseline level is simd128 there. That of std::mdspan,
# too, since its library is the one here that has it.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/wasm-test
for path in summary/kernels summary/strided hosts/mdspan; do
  test=${path#*/}
  standard=c++20
  [ "$test" = mdspan ] && standard=c++23
  clang++-19 --target=wasm32-wasi -msimd128 -std=$standard -stdlib=libc++ -O1 -fno-exceptions -DPLAIN_MAIN -Iinclude \
    -isystem tests/support/plain "tests/${path}_test.cpp" -o "build/wasm-test/$test.wasm"
  NODE_NO_WARNINGS=1 node --experimental-wasi-unstable-preview1 -e '
    const { WASI } = require("wasi");
    const wasi = new WASI({ version: "preview1", returnOnExit: true });
    const bytes = require("fs").readFileSync(process.argv[1]);
    WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi.wasiImport })
      .then(({ instance }) => { process.exitCode = wasi.start(instance) || 0; });
  ' "build/wasm-test/$test.wasm"
done
