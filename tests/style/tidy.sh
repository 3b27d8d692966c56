#!/bin/sh
# clang-tidy over the command and the example, and through them over most headers.
set -eu
cd "$(dirname "$0")/../.."
printf '%s\n' viewer/cli/dump.cpp viewer/cli/pack.cpp examples/hello/hello.cpp |
  xargs -P 2 -n 1 clang-tidy-19 -p build/clang --quiet 2>build/tidy.log || { tail -n 40 build/tidy.log; exit 1; }
