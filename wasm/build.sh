#!/bin/sh
# Builds the page, build/wasm/nanlens.html, with the Emscripten that get-emscripten.sh puts beside the system.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
environment=$(sh wasm/get-emscripten.sh)
# shellcheck disable=SC1090
(. "$environment" && emcmake cmake --preset wasm && cmake --build build/wasm) >build/page.log 2>&1 || {
  tail -n 60 build/page.log
  exit 1
}
