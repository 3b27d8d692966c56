#!/bin/sh
# Looks whether the benchmarks still compile, which nothing else does every day: `compile.sh SOURCE_DIR COMPILER PYTHON`. Those in C++
# are one unit here, with other names for their main(): each alone would take three times as long. Nothing is run.
set -eu
cd "$1"
compiler=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in tests/bench/*.cpp; do
  name=$(basename "$file" .cpp)
  [ "$name" != ggml ] || [ -f build/ggml/done-1 ] || continue # cmake/get-ggml.sh
  printf '#define main main_%s\n#include "%s/%s"\n#undef main\n' "$name" "$PWD" "$file"
done >"$work/unit.cpp"
"$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror -DNANLENS_SPLIT -Iinclude -Iviewer -isystem build/ggml/include "$work/unit.cpp"
if command -v mpicc >/dev/null; then mpicc -fsyntax-only -Wall -Wextra -Werror tests/bench/heat.c; fi
"$python" - tests/bench/*.py <<'PY'
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)
PY
