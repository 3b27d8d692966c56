#!/bin/sh
# Installs what is missing, builds everything and runs every test. Ends with the line "N passed, N failed".
# What passed before and whose inputs are unchanged is not run again; `run.sh --all` runs everything.
set -u
cd "$(dirname "$0")/.." || exit 1
# What runs beside ends with this script.
trap 'trap - INT TERM; kill 0' INT TERM
sh cmake/install-packages.sh g++ gfortran cmake ninja-build python3-venv || exit 1 # gfortran: of the same version as g++
nice -n 10 sh cmake/get-ggml.sh & # compiles while packages are unpacked, which takes one processor
ggml=$!
node=
command -v node >/dev/null || node=nodejs
command -v npm >/dev/null || node="$node npm"
# shellcheck disable=SC2086
sh cmake/install-packages.sh libtcmalloc-minimal4 pkg-config zstd nlohmann-json3-dev clang-19 lld-19 llvm-19 node-acorn $node || exit 1
sh cmake/get-viewer-sources.sh || exit 1

# Compilers get tcmalloc, with which clang takes up to a sixth less time; what they make has the malloc that it is made for.
quick=$PWD/build/with-tcmalloc
mkdir -p build
printf '#!/bin/sh\nLD_PRELOAD=libtcmalloc_minimal.so.4 exec "$@"\n' >"$quick"
chmod +x "$quick"
export CMAKE_CXX_COMPILER_LAUNCHER="$quick"

# Most of a page that is not there yet is compiled early, too. What fails does so again in the step that reports it.
ended=build/ended.times # the shells' own, of what ran beside this one, when that has ended
rm -f "$ended".*
[ -f build/wasm/nanlens.html ] || {
  nice -n 10 sh wasm/build.sh nanlens-program >/dev/null 2>&1
  times >"$ended.early"
} &
sh cmake/install-packages.sh libzstd-dev libeigen3-dev libcli11-dev \
  libre2-dev libprotobuf-dev protobuf-compiler doctest-dev libbenchmark-dev valgrind python3 python3-numpy python3-jsonschema python3-junitparser python3-markdown-it python3-yaml clang-tidy-19 clang-format-19 \
  libclang-rt-19-dev g++-aarch64-linux-gnu qemu-user \
  libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc \
  libglfw3-dev libgl-dev libgl1-mesa-dri libfontconfig-dev libpng-dev xvfb xauth xdotool imagemagick chromium chromium-headless-shell firefox-esr \
  fonts-droid-fallback fonts-baekmuk libtorch-dev python3-torch \
  libxtensor-dev libarmadillo-dev libtrilinos-kokkos-dev libopencv-core-dev libdlpack-dev openmpi-bin libopenmpi-dev || exit 1
wait $ggml || exit 1

NANLENS_SKIP_UNCHANGED=1
[ "${1:-}" = --all ] && NANLENS_SKIP_UNCHANGED=
export NANLENS_SKIP_UNCHANGED
export NANLENS_REQUIRE_HOSTS=1 # their packages are installed above: a test that misses one has failed
once="python3 tests/unchanged.py"
times=$PWD/build/times.txt # seconds of the processors, and name, of every step and test
results=build/results.txt  # a line "passed" or "failed" for every test
: >"$times"
: >"$results"
rm -f build/front.log build/threads.log
# count RESULT [TIMES]
count() {
  n=${2:-1}
  while [ "$n" -gt 0 ]; do
    echo "$1" >>"$results"
    n=$((n - 1))
  done
}
# What this shell has waited for took so many seconds of the processors: time by the clock tells little where other work runs
# beside. What ran beside is waited for like a step, and is none; those that run beside have nobody to wait for.
processors() {
  awk 'FNR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += (NR == 2 ? 1 : -1) * (60 * t[1] + t[2]) } }
    END { printf "%d\n", s }' "$1" $(ls "$ended".* 2>/dev/null)
}
# begin: notes when what follows begins.
begin() {
  start=$(date +%s)
  mark=$(mktemp)
  times >"$mark" # not in a pipe, whose shell has waited for nothing yet
  start_processors=$(processors "$mark")
  rm "$mark"
}
# took NAME: reports and keeps the time since begin.
took() {
  mark=$(mktemp)
  times >"$mark"
  seconds=$(($(processors "$mark") - start_processors))
  rm "$mark"
  echo "   $(($(date +%s) - start)) s, $seconds s of the processors"
  echo "$seconds $1" >>"$times"
}
# step NAME COMMAND...: runs a step that counts as one test.
step() {
  name=$1
  shift
  echo "== $name"
  begin
  if "$@"; then count passed; else
    count failed
    echo "FAILED: $name"
  fi
  took "$name"
}
# directory_of PRESET
directory_of() { if [ "$1" = default ]; then echo build; else echo "build/$1"; fi; }
# built PRESET TARGETS...: builds targets of a preset; false, and a failed test, if that fails.
built() {
  preset=$1
  shift
  echo "== build of preset $preset"
  begin
  leave=OFF # unit tests that asan runs as well
  [ "$preset" != default ] || leave=ON
  if ! { cmake --preset "$preset" -DNANLENS_BUILD_TESTS=ON -DNANLENS_BUILD_VIEWER=ON -DCMAKE_UNITY_BUILD=ON -DNANLENS_LEAVE_TO_ASAN=$leave &&
    cmake --build "$(directory_of "$preset")" --target "$@"; } >"build/$preset.log" 2>&1; then
    tail -n 60 "build/$preset.log"
    echo "FAILED: build of preset $preset"
    count failed
    return 1
  fi
  took "build of preset $preset"
}
# tests PRESET CTEST_ARGUMENTS...: runs a preset's tests and counts them one by one.
tests() {
  preset=$1
  shift
  echo "== tests of preset $preset"
  begin
  log=$(directory_of "$preset")/ctest.log
  NANLENS_TIMES=$times ctest --test-dir "$(directory_of "$preset")" -j 2 --output-on-failure "$@" 2>&1 | tee "$log"
  total=$(sed -n 's/^.* tests failed out of \([0-9]*\)$/\1/p' "$log")
  bad=$(sed -n 's/^.*, \([0-9]*\) tests failed out of [0-9]*$/\1/p' "$log")
  if [ -z "$total" ]; then
    count failed
    echo "FAILED: ctest of preset $preset ran no test"
  else
    count passed $((total - bad))
    count failed "$bad"
  fi
  took "tests of preset $preset"
}

began=$(date +%s)
step "format" sh tests/style/format.sh
# beside NAME COMMAND: runs what a function does beside what follows. What it prints is shown at the end.
beside() {
  {
    mine=$ended.$1
    ended=build/none
    "$2"
    times >"$mine"
  } >"build/$1.log" 2>&1 &
}
# What needs a quiet machine, or one processor at a time.
in_front() {
  step "page" sh wasm/build.sh
  tests default -LE gui
  [ ! -x build/bin/nanlens-viewer ] || tests default -L gui
  step "compile with clang-19" $once build/stamps/clang include examples tests/compile -- \
    sh tests/compile/check.sh . clang++-19 build/bin/nanlens "build/lib/nanlens/libnanlens_compiled.a -lbacktrace" headers
  step "NEON kernels under qemu" $once build/stamps/neon include tests/summary tests/support -- sh tests/summary/neon.sh
  step "wasm simd128 kernels under node" $once build/stamps/simd128 include tests/summary tests/support tests/hosts/mdspan_test.cpp tests/hosts/elements.hpp -- sh tests/summary/wasm.sh
}
threads() { built tsan test_capture test_app_threads && tests tsan -R "^(capture|app_threads)$"; }
if built default all; then beside front in_front; fi
# What follows takes the time that is left: beside compilers of its own rank a browser starves.
renice -n 19 $$ >/dev/null
units="test_tensor test_summary test_logdir test_reader test_causes test_query test_archive test_capture test_trials test_hosts test_cuda_host test_python_host test_viewer test_app"
[ "$(uname -m)" != x86_64 ] || units="$units test_traps_host"
# shellcheck disable=SC2086
if built asan $units; then
  beside threads threads # the longest test takes one processor alone
  beside_tests=$!
  tests asan -L unit
else
  threads
  beside_tests=
fi
step "clang-19: warnings and tidy" "$quick" sh tests/style/tidy.sh
[ -z "$beside_tests" ] || wait "$beside_tests" # a fuzzer's seconds are to be its own
step "fuzzers, 10 s each" sh tests/fuzz/run.sh 10
wait
cat build/front.log build/threads.log 2>/dev/null

echo
echo "$(($(date +%s) - began)) s; the ten that took the processors longest (what ran beside, two at a time, is not added up):"
sort -rn "$times" | head -n 10 | while read -r seconds name; do printf '%7.0f s  %s\n' "$seconds" "$name"; done
passed=$(grep -c passed "$results")
failed=$(grep -c failed "$results")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
