#!/bin/sh
# llama.cpp as it is, through `nanlens run`: a random model of 100 kB, one that overflows in a layer, and one in which all results
# are finite. Not for every day: it takes minutes to build. Environment: PYTHON (python3); NANLENS, the command
# (build/bin/nanlens); LLAMA, a build of llama.cpp with shared libraries in bin, and LLAMA_SOURCE, its sources, if they are there already.
set -eu
cd "$(dirname "$0")/../.."
nanlens=${NANLENS:-$PWD/build/bin/nanlens}
work=$PWD/build/ggml-llama
mkdir -p "$work"
[ -x "$work/venv/bin/python3" ] || "${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python3" -m pip install --quiet gguf==0.19.0
if [ -z "${LLAMA:-}" ]; then
  LLAMA=$work/build LLAMA_SOURCE=$work/llama.cpp
  name=llama_cpp_python-0.3.36
  [ -f "$work/$name.tar.gz" ] ||
    "$work/venv/bin/python3" -m pip download --quiet --no-deps --no-binary llama-cpp-python --dest "$work" llama-cpp-python==0.3.36
  tar -xzf "$work/$name.tar.gz" -C "$work" --strip-components=2 "$name/vendor/llama.cpp"
  cmake -G Ninja -S "$LLAMA_SOURCE" -B "$LLAMA" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF \
    -DGGML_OPENMP=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF \
    -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_COMMON=OFF >"$work/log"
  cmake --build "$LLAMA" --target llama >>"$work/log"
fi
g++ -std=c++17 -g -I"$LLAMA_SOURCE/include" -I"$LLAMA_SOURCE/ggml/include" tests/hosts/ggml/decode.cpp -o "$work/decode" \
  -L"$LLAMA/bin" -lllama -lggml -lggml-base -Wl,-rpath,"$LLAMA/bin"

wrong=0
# expect KIND WORDS: what `nanlens run` says of the model.
expect() {
  "$work/venv/bin/python3" tests/hosts/ggml/make_model.py "$work/$1.gguf" "$1" >/dev/null
  rm -rf "$work/log-$1"
  "$nanlens" run --logdir "$work/log-$1" -- "$work/decode" "$work/$1.gguf" >"$work/$1.txt" 2>&1 || wrong=1
  echo "== $1"
  cat "$work/$1.txt"
  grep -qF "$2" "$work/$1.txt" || { echo "WRONG: it does not say '$2'"; wrong=1; }
}
expect fine "no NaN or ∞ on record"
expect infinite 'MUL_MAT "ffn_up-1"'
expect silent 'RMS_NORM "norm-0", overflow'
exit $wrong
