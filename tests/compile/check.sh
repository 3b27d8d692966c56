#!/bin/sh
# Compiles what a host would compile, with the bare compiler: `check.sh SOURCE_DIR COMPILER NANLENS RECORDER host|headers`.
# For what takes long and is the same for every compiler one is enough: the host's links units with NANLENS_SPLIT, as clang does for
# the tests with sanitizers, and clang compiles each header alone. Whole units are linked by tests/capture/matrix_test.py; that a
# header defines nothing that a program would have twice is for clang-tidy to see. RECORDER is what a unit with NANLENS_SPLIT is
# linked with.
set -eu
source=$1 compiler=$2 nanlens=$3 recorder=$4 part=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=c++20 -I$source/include -Wall -Wextra -Wconversion -Werror"

if [ "$part" = headers ]; then
  echo "the kernel for GPUs, as PTX"
  CLANGXX=$compiler sh "$source/cmake/scan-kernel.sh" --check
  echo "each header alone"
  mkdir "$work/headers"
  # shellcheck disable=SC2086
  python3 "$source/tests/compile/headers.py" "$source" "$compiler" "$work/headers" $flags
fi

# alerts LOGDIR: fails unless the command finds alerts in it, and says so by its exit code.
alerts() {
  code=0
  "$nanlens" check "$1" || code=$?
  [ "$code" = 1 ] || { echo "expected alerts, got exit code $code"; exit 1; }
}

if [ "$part" = host ]; then
  echo "as nvcc reads it for the device: without vectors"
  printf '#include <nanlens/nanlens.hpp>\nfloat one() { return nanlens::op("A", 1.0f); }\n' >"$work/device.cpp"
  $compiler $flags -D__CUDA_ARCH__=900 -fsyntax-only "$work/device.cpp"

  echo "reader and causes in a host's file"
  printf '#include <nanlens/nanlens.hpp>\n#include <nanlens/causes/causes.hpp>\n' >"$work/whole.cpp"
  $compiler $flags -fsyntax-only "$work/whole.cpp"

  echo "declarations only, and a library of what they declare"
  printf '#include <nanlens/nanlens.hpp>\nint one() { nanlens::op("A", 1.0f); return 0; }\n' >"$work/one.cpp"
  echo 'int one(); int two(); int main() { return one() + two(); }' >"$work/main.cpp"
  $compiler $flags -DNANLENS_SPLIT -c "$work/one.cpp" -o "$work/one.o"
  # The second unit would be compiled to the same but for the name of its function.
  objcopy --redefine-sym _Z3onev=_Z3twov "$work/one.o" "$work/two.o"
  $compiler $flags -DNANLENS_SPLIT -c "$source/examples/hello/hello.cpp" -o "$work/hello.o"
  $compiler "$work/hello.o" $recorder -o "$work/hello"
  "$work/hello" "$work/split"
  alerts "$work/split"
  $compiler $flags "$work/main.cpp" "$work/one.o" "$work/two.o" $recorder -o "$work/two"
  "$work/two"
else
  # As it is by default, it is built with the examples. With these flags the host's compiler builds a unit of
  # tests/capture/matrix_test.py.
  echo "the hello example, nothing else linked, without exceptions and run-time types"
  $compiler $flags -fno-exceptions -fno-rtti "$source/examples/hello/hello.cpp" -o "$work/hello"
  "$work/hello" "$work/alone"
  alerts "$work/alone"
fi

echo "compiled out: the same calls, no code left"
$compiler $flags -O2 -DNANLENS_DISABLE "$source/examples/hello/hello.cpp" -o "$work/off"
"$work/off" "$work/none"
[ ! -e "$work/none" ] || { echo "NANLENS_DISABLE still writes"; exit 1; }
[ "$part" != host ] || $compiler $flags -O2 -DNANLENS_DISABLE -isystem /usr/include/eigen3 -fsyntax-only "$source/examples/mnist/model.cpp"
printf '#include <nanlens/nanlens.hpp>\nbool f() {\n  nanlens::DumpOptions options{.rules = {"any: bad"}, .on_rule = [](const nanlens::RuleHit& hit) { (void)hit.rule.size(); }};\n  options.rules.push_back("many: bad count>3");\n  return nanlens::enable_dump_debug_info(options);\n}\n' >"$work/rules.cpp"
$compiler $flags -DNANLENS_DISABLE -fsyntax-only "$work/rules.cpp"
$compiler $flags -DNANLENS_SPLIT -fsyntax-only "$work/rules.cpp"
printf '#include <nanlens/nanlens.hpp>\nint f(int x) { return nanlens::op("Neg", x, x); }\n' >"$work/f.cpp"
printf 'int f(int x) { return x; }\n' >"$work/g.cpp"
for unit in f g; do $compiler $flags -O2 -DNANLENS_DISABLE -S "$work/$unit.cpp" -o "$work/$unit.s"; done
# Same instructions with and without the wrapper.
for unit in f g; do grep -E '^[[:space:]]+[a-z]' "$work/$unit.s" | grep -v '\.file' >"$work/$unit.code"; done
cmp "$work/f.code" "$work/g.code"

echo "what is no tensor is refused with one explanation"
# refused WORDS STATEMENT: fails unless the compiler has one error, with these words.
refused() {
  printf '#include <nanlens/hosts/valarray.hpp>\n#include <nanlens/nanlens.hpp>\nstruct S {};\nvoid f(const std::valarray<float>& x) { %s; }\n' "$2" >"$work/bad.cpp"
  if $compiler $flags -DNANLENS_SPLIT -fsyntax-only "$work/bad.cpp" 2>"$work/errors"; then echo "it compiled: $2"; exit 1; fi
  [ "$(grep -c error: "$work/errors")" = 1 ] && grep -q "error: .*$1" "$work/errors" || { cat "$work/errors"; exit 1; }
}
refused "specialise nanlens::ViewOf" 'nanlens::op("X", S{}, x)'
refused "no element type" 'nanlens::op("X", x, std::valarray<long double>(2))'
refused "no element type" 'nanlens::op("X", std::vector<std::array<long double, 3>>(2), x)'
refused "an expression has no elements" 'nanlens::op("X", x, x + x)'
refused "inside outputs() and inputs()" 'nanlens::record("X", x, x)'
refused "inside outputs() and inputs()" 'nanlens::record("X", nanlens::inputs(x), nanlens::outputs(x))'
refused "use nanlens::OpScope" 'nanlens::op("X", [] {}, x)'
refused "arguments have names" 'nanlens::Function f("f", x)'
refused "inside outputs()" 'nanlens::OpScope s("X", nanlens::inputs(x)); s.finish(x)'
refused "inside inputs()" '(void)nanlens::OpScope("X", x)'
echo "all as expected"
