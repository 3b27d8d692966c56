#!/bin/sh
# Builds the fuzzers and runs each from its committed corpus: `run.sh [SECONDS [NAME...]]`, 60 seconds and all of them by
# default. Fails on the first finding, which is left in build/fuzz/findings with the fuzzer's report.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
mkdir -p build
cmake --preset fuzz -DNANLENS_BUILD_VIEWER=ON >build/fuzz.log 2>&1 || { tail -n 30 build/fuzz.log; exit 1; }
all=$(sed -n 's/^nanlens_fuzzer(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
names=${*:-$all}
targets=$(for name in $names; do echo "fuzz_$name"; done)
# shellcheck disable=SC2086
cmake --build build/fuzz --target $targets >>build/fuzz.log 2>&1 || { tail -n 60 build/fuzz.log; exit 1; }

mkdir -p build/fuzz/findings
failed=0
for name in $names; do
  found=build/fuzz/corpus/$name
  report=build/fuzz/findings/$name.log
  mkdir -p "$found"
  # What is new goes to the build directory; the committed corpus is only read. An input may take 10 s and 1 GiB.
  if "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/findings/$name." "$found" "tests/fuzz/corpus/$name" >"$report" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$report")
    echo "$name: $runs executions in $seconds s, nothing found"
  else
    echo "$name: FOUND"
    tail -n 40 "$report"
    failed=1
  fi
done
exit $failed
