#!/bin/sh
# An installed nanlens is found by find_package and pkg-config, and the source tree works with add_subdirectory:
# `check.sh SOURCE_DIR BUILD_DIR`.
set -eu
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"

mkdir "$work/consumer"
cp "$source/examples/hello/hello.cpp" "$work/consumer/main.cpp"
cat >"$work/consumer/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(consumer CXX)
if(NANLENS_SOURCE)
  add_subdirectory(${NANLENS_SOURCE} nanlens)
else()
  find_package(nanlens 0.1 REQUIRED COMPONENTS capture reader archive)
endif()
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE nanlens::nanlens nanlens::reader nanlens::archive)
target_compile_definitions(consumer PRIVATE NANLENS_DISABLE)  # found is what it must be; by pkg-config it is compiled whole
add_executable(split main.cpp)
target_link_libraries(split PRIVATE nanlens::compiled)
CMAKE
for way in "-DCMAKE_PREFIX_PATH=$work/prefix" "-DNANLENS_SOURCE=$source"; do
  echo "consumer with $way"
  cmake -G Ninja -S "$work/consumer" -B "$work/build" "$way" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
  # Compiled from the source tree, the recorder is what the tests link: there it is enough that CMake knows it.
  programs="consumer split"
  [ "$way" != "-DNANLENS_SOURCE=$source" ] || programs=consumer
  # shellcheck disable=SC2086
  cmake --build "$work/build" --target $programs >"$work/make.log" || { cat "$work/make.log"; exit 1; }
  for program in $programs; do "$work/build/$program" "$work/log"; done
  rm -rf "$work/build"
done

echo "tests of CTest that look for NaN"
cp -r "$source/examples/ci" "$work/ci"
cmake -G Ninja -S "$work/ci" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/make.log" || { cat "$work/make.log"; exit 1; }
ctest --test-dir "$work/build" -V >"$work/ctest.log" || { cat "$work/ctest.log"; exit 1; }
grep -q "2: .*1 bad tensor, 1 muted by .*/ci/nanlens.mutes:2" "$work/ctest.log"
grep -q 'name="rc.empty: Mean at mean.cpp"' "$work/build/mean_of_nothing.xml"
rm "$work/ci/nanlens.mutes"
ctest --test-dir "$work/build" -V >"$work/ctest.log" && exit 1
grep -q "50% tests passed, 1 tests failed out of 2" "$work/ctest.log"
grep -q "2: .*nanlens check ended with 1; why: " "$work/ctest.log"
rm -rf "$work/build"

echo "pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name nanlens.pc)") ; export PKG_CONFIG_PATH
# shellcheck disable=SC2046
c++ -std=c++20 $(pkg-config --cflags nanlens) "$work/consumer/main.cpp" $(pkg-config --libs nanlens) -o "$work/by_pc"
"$work/by_pc" "$work/log2"
"$work/prefix/bin/nanlens" check "$work/log2" && exit 1
echo "installed and found"
