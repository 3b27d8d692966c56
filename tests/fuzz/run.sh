#!/bin/sh
# Builds the fuzzers and runs each from its committed corpus: `run.sh [SECONDS [NAME...]]`, 60 seconds and all of them by
# default, as many at once as there are processors. Fails if there are findings, which are left in build/asan/findings with
# the fuzzer's report.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
mkdir -p build build/asan/findings
# As tests/run.sh does, so that nothing is built twice; a long run sees more.
trace=$([ "$seconds" -gt 10 ] && echo ON || echo OFF)
cmake --preset asan -DNANLENS_BUILD_TESTS=ON -DNANLENS_BUILD_VIEWER=ON -DCMAKE_UNITY_BUILD=ON "-DNANLENS_TRACE_COMPARISONS=$trace" >build/fuzz.log 2>&1 ||
  { tail -n 30 build/fuzz.log; exit 1; }
all=$(sed -n 's/^ *nanlens_fuzzer(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
names=${*:-$all}
targets=$(for name in $names; do echo "fuzz_$name"; done)
# shellcheck disable=SC2086
cmake --build build/asan --target $targets >>build/fuzz.log 2>&1 || { tail -n 60 build/fuzz.log; exit 1; }
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "$(nproc)" -I NAME python3 tests/unchanged.py build/stamps/fuzz-NAME build/asan/bin/fuzz_NAME tests/fuzz -- \
  sh tests/fuzz/run_one.sh "$seconds" NAME
