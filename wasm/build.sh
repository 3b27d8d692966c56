#!/bin/sh
# Builds the page, build/wasm/nanlens.html, with the Emscripten that get-emscripten.sh puts beside the system.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
# The page's sample is the walkthrough, which runs here.
{ { [ -f build/build.ninja ] || cmake --preset default -DNANLENS_BUILD_VIEWER=OFF -DNANLENS_BUILD_TESTS=OFF; } && cmake --build build --target nanlens-sample; } \
  >build/sample.log 2>&1 || { tail -n 60 build/sample.log; exit 1; }
environment=$(sh wasm/get-emscripten.sh)
# shellcheck disable=SC1090
(. "$environment" && emcmake cmake --preset wasm && cmake --build build/wasm) >build/page.log 2>&1 || {
  tail -n 60 build/page.log
  exit 1
}
