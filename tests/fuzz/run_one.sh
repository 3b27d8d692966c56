#!/bin/sh
# Runs a fuzzer that is built: `run_one.sh SECONDS NAME`, from the project's directory.
set -eu
seconds=$1
name=$2
found=build/asan/corpus/$name
report=build/asan/findings/$name.log
mkdir -p "$found"
# A short run, as CI's, tries the same inputs each time, as far as it gets; a long one looks for new ones.
set -- "-seed=$([ "$seconds" -gt 10 ] && echo 0 || echo 1)"
[ ! -f "tests/fuzz/$name.dict" ] || set -- "$@" "-dict=tests/fuzz/$name.dict"
# What is new goes to the build directory; the committed corpus is only read. An input may take 20 s and 1 GiB.
if "build/asan/bin/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 "$@" \
    -artifact_prefix="build/asan/findings/$name." "$found" "tests/fuzz/corpus/$name" >"$report" 2>&1; then
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$report")
  echo "$name: $runs executions in $seconds s, nothing found"
else
  echo "$name: FOUND"
  tail -n 40 "$report"
  exit 1
fi
