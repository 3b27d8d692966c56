#!/bin/sh
# Installs what is missing, builds everything and runs every test. Ends with the line "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
sh cmake/install-packages.sh g++ cmake ninja-build pkg-config libzstd-dev zstd libeigen3-dev libcli11-dev nlohmann-json3-dev \
  libprotobuf-dev protobuf-compiler doctest-dev valgrind python3 python3-venv clang-19 clang-tidy-19 clang-format-19 \
  libclang-rt-19-dev g++-aarch64-linux-gnu qemu-user \
  libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 lld-19 wasi-libc \
  libglfw3-dev libgl-dev libgl1-mesa-dri libfontconfig-dev libpng-dev xvfb xauth xdotool imagemagick chromium firefox-esr || exit 1
command -v node >/dev/null || sh cmake/install-packages.sh nodejs || exit 1
command -v npm >/dev/null || sh cmake/install-packages.sh npm || exit 1
sh cmake/get-viewer-sources.sh || exit 1

passed=0
failed=0
# step NAME COMMAND...: runs a step that counts as one test.
step() {
  name=$1
  shift
  echo "== $name"
  start=$(date +%s)
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
  echo "   $(($(date +%s) - start)) s"
}
# suite PRESET TARGETS CTEST_ARGUMENTS...: builds targets of a preset and counts its tests one by one.
suite() {
  preset=$1
  targets=$2
  shift 2
  directory=build
  [ "$preset" = default ] || directory=build/$preset
  echo "== tests of preset $preset"
  start=$(date +%s)
  mkdir -p build
  # shellcheck disable=SC2086
  if ! { cmake --preset "$preset" -DNANLENS_BUILD_TESTS=ON -DNANLENS_BUILD_VIEWER=ON && cmake --build "$directory" --target $targets; } >"build/$preset.log" 2>&1; then
    tail -n 60 "build/$preset.log"
    echo "FAILED: build of preset $preset"
    failed=$((failed + 1))
    return
  fi
  (cd "$directory" && ctest -j 2 --output-on-failure "$@") 2>&1 | tee "$directory/ctest.log"
  total=$(sed -n 's/^.* tests failed out of \([0-9]*\)$/\1/p' "$directory/ctest.log")
  bad=$(sed -n 's/^.*, \([0-9]*\) tests failed out of [0-9]*$/\1/p' "$directory/ctest.log")
  if [ -z "$total" ]; then
    failed=$((failed + 1))
    echo "FAILED: ctest of preset $preset ran no test"
  else
    passed=$((passed + total - bad))
    failed=$((failed + bad))
  fi
  echo "   $(($(date +%s) - start)) s"
}

step "format" sh tests/style/format.sh
step "page" sh wasm/build.sh
suite default all
units="test_tensor test_summary test_logdir test_reader test_causes test_archive test_capture test_hosts test_viewer"
suite asan "$units" -L unit
suite tsan test_capture -R capture
step "clang-19: warnings and tidy" sh tests/style/tidy.sh
step "compile with clang-19" sh tests/compile/check.sh . clang++-19 build/bin/nanlens
step "NEON kernels under qemu" sh tests/summary/neon.sh
step "wasm simd128 kernels under node" sh tests/summary/wasm.sh

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
