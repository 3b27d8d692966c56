#!/bin/sh
# Builds the page, build/wasm/nanlens.html, with the Emscripten that get-emscripten.sh puts beside the system.
# `build.sh TARGET` builds a target alone, and no sample.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
exec 9>build/page.lock
flock 9 # one after the other
# The page's sample is the walkthrough, which runs here.
[ $# -gt 0 ] || { { [ -f build/build.ninja ] || cmake --preset default -DNANLENS_BUILD_VIEWER=OFF -DNANLENS_BUILD_TESTS=OFF; } && cmake --build build --target nanlens-sample; } \
  >build/sample.log 2>&1 || { tail -n 60 build/sample.log; exit 1; }
environment=$(sh wasm/get-emscripten.sh)
# shellcheck disable=SC1090
(. "$environment" && emcmake cmake --preset wasm && cmake --build build/wasm ${1:+--target "$1"}) >build/page.log 2>&1 || {
  tail -n 60 build/page.log
  exit 1
}
