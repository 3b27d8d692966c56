#!/bin/sh
# Compiles what a host would compile, with the bare compiler: `check.sh SOURCE_DIR COMPILER NANLENS [headers]`.
# With `headers`, each of them alone too: one compiler is enough for that.
set -eu
source=$1 compiler=$2 nanlens=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=c++20 -I$source/include -Wall -Wextra -Wconversion -Werror"

if [ "${4:-}" = headers ]; then
  echo "each header alone"
  cat >"$work/one_header.sh" <<'SH'
case $3 in nanlens/hosts/eigen.hpp) extra="-isystem /usr/include/eigen3" ;; *) extra= ;; esac
echo "#include <$3>" | $1 $2 $extra -x c++ -fsyntax-only - || { echo "header: $3"; exit 255; }
SH
  (cd "$source/include" && find nanlens -name '*.hpp' ! -name disabled.hpp | sort) |
    xargs -P 2 -n 1 sh "$work/one_header.sh" "$compiler" "$flags"
fi

echo "two translation units, linked"
for unit in one two; do
  printf '#include <nanlens/nanlens.hpp>\n#include <nanlens/causes/causes.hpp>\nint %s() { nanlens::op("A", 1.0f); return 0; }\n' $unit >"$work/$unit.cpp"
  $compiler $flags -c "$work/$unit.cpp" -o "$work/$unit.o"
done
echo 'int one(); int two(); int main() { return one() + two(); }' >"$work/main.cpp"
$compiler $flags "$work/main.cpp" "$work/one.o" "$work/two.o" -o "$work/two"
"$work/two"

echo "declarations only, and one translation unit with what they declare"
echo '#include <nanlens/capture/implementation.hpp>' >"$work/implementation.cpp"
for unit in implementation one two; do $compiler $flags -DNANLENS_SPLIT -c "$work/$unit.cpp" -o "$work/$unit.o"; done
$compiler $flags -DNANLENS_SPLIT -c "$source/examples/hello/hello.cpp" -o "$work/hello.o"
$compiler "$work/hello.o" "$work/implementation.o" -o "$work/hello"
"$work/hello" "$work/log"
code=0
"$nanlens" check "$work/log" || code=$?
[ "$code" = 1 ] || { echo "expected alerts, got exit code $code"; exit 1; }
$compiler $flags "$work/main.cpp" "$work/one.o" "$work/two.o" "$work/implementation.o" -o "$work/two"
"$work/two"

for variant in "" "-fno-exceptions -fno-rtti"; do
  echo "the hello example, nothing else linked: $variant"
  # shellcheck disable=SC2086
  $compiler $flags $variant "$source/examples/hello/hello.cpp" -o "$work/hello"
  rm -rf "$work/log"
  "$work/hello" "$work/log"
  code=0
  "$nanlens" check "$work/log" || code=$?
  [ "$code" = 1 ] || { echo "expected alerts, got exit code $code"; exit 1; }
done

echo "compiled out: the same calls, no code left"
$compiler $flags -O2 -DNANLENS_DISABLE "$source/examples/hello/hello.cpp" -o "$work/off"
"$work/off" "$work/none"
[ ! -e "$work/none" ] || { echo "NANLENS_DISABLE still writes"; exit 1; }
$compiler $flags -O2 -DNANLENS_DISABLE -isystem /usr/include/eigen3 -fsyntax-only "$source/examples/mnist/model.cpp"
printf '#include <nanlens/nanlens.hpp>\nint f(int x) { return nanlens::op("Neg", x, x); }\n' >"$work/f.cpp"
printf 'int f(int x) { return x; }\n' >"$work/g.cpp"
for unit in f g; do $compiler $flags -O2 -DNANLENS_DISABLE -S "$work/$unit.cpp" -o "$work/$unit.s"; done
# Same instructions with and without the wrapper.
for unit in f g; do grep -E '^[[:space:]]+[a-z]' "$work/$unit.s" | grep -v '\.file' >"$work/$unit.code"; done
cmp "$work/f.code" "$work/g.code"

echo "a value that is no tensor is refused with an explanation"
printf '#include <nanlens/nanlens.hpp>\nstruct S {};\nvoid f() { nanlens::op("X", S{}); }\n' >"$work/bad.cpp"
if $compiler $flags -fsyntax-only "$work/bad.cpp" 2>"$work/errors"; then echo "it compiled"; exit 1; fi
grep -q "specialise nanlens::ViewOf" "$work/errors"
echo "all as expected"
