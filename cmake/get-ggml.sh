#!/bin/sh
# Builds ggml with its CPU backend for the tests of its adapter: headers and shared libraries in build/ggml/include and lib.
# The Python package llama-cpp-python brings the sources, of which nothing else is used. Prints nothing if it is there already.
set -eu
cd "$(dirname "$0")/.."
to=build/ggml
[ -f "$to/done-1" ] && exit 0
sh cmake/install-packages.sh g++ cmake ninja-build python3-venv
rm -rf "$to"
mkdir -p "$to"
name=llama_cpp_python-0.3.36 # ggml 0.25.3
python3 -m venv "$to/venv"
"$to/venv/bin/python" -m pip download --quiet --no-deps --no-binary llama-cpp-python --dest "$to" llama-cpp-python==0.3.36
echo "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e  $to/$name.tar.gz" | sha256sum --check --quiet
tar -xzf "$to/$name.tar.gz" -C "$to" --strip-components=3 "$name/vendor/llama.cpp/ggml"
printf 'cmake_minimum_required(VERSION 3.16)\nproject(tested C CXX)\nadd_subdirectory(ggml EXCLUDE_FROM_ALL)\n' >"$to/CMakeLists.txt"
# Little of it runs in the tests: what is compiled fast is best.
cmake -G Ninja -S "$to" -B "$to/build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O0 -DNDEBUG" -DCMAKE_CXX_FLAGS="-O0 -DNDEBUG" \
  -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_LLAMAFILE=OFF -DGGML_CPU_REPACK=OFF \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH="\$ORIGIN" >"$to/log" 2>&1 &&
  cmake --build "$to/build" --target ggml ggml-cpu >>"$to/log" 2>&1 || { tail -n 40 "$to/log" >&2; exit 1; }
mkdir "$to/lib"
cp -P "$to"/build/ggml/src/*.so* "$to/lib"
mv "$to/ggml/include" "$to/include"
rm -rf "$to/build" "$to/ggml" "$to/venv" "$to/$name.tar.gz" "$to/CMakeLists.txt"
touch "$to/done-1"
