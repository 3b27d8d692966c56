#!/bin/sh
# Every source file is formatted as .clang-format says. `format.sh --fix` formats them.
set -eu
cd "$(dirname "$0")/../.."
mode="--dry-run --Werror"
[ "${1:-}" = --fix ] && mode=-i
# shellcheck disable=SC2086,SC2046
clang-format-19 $mode $(find include viewer wasm examples tests -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' -o -name '*.inc')
