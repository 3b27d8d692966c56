#!/bin/sh
# clang-tidy over the headers, the command, the viewer and the example. Everything of one kind goes in at once, so that what
# it includes is read and checked once.
set -eu
cd "$(dirname "$0")/../.."
work=build/tidy
rm -rf "$work"
mkdir -p "$work"
# group NAME FILE...: one source that includes them all.
group() {
  to=$work/$1.cpp
  shift
  for file in "$@"; do printf '#include "%s/%s"\n' "$PWD" "$file"; done >"$to"
}
group engine viewer/engine/*.cpp viewer/texts/*.cpp
group panes viewer/app/*.cpp viewer/panes/*.cpp viewer/widgets/*.cpp
group command viewer/report/*.cpp $(ls viewer/cli/*.cpp | grep -v raw.cpp)
group libraries include/nanlens/*/implementation.hpp
group hello examples/hello/hello.cpp
for file in engine panes command libraries hello; do
  split=-DNANLENS_SPLIT
  [ "$file" = hello ] && split=
  echo "$work/$file.cpp $split"
done | xargs -P 2 -L 1 sh -c 'clang-tidy-19 --quiet "$0" -- -std=c++20 -Wall -Wextra -Wconversion -Iinclude -Iviewer \
  -isystem build/deps/imgui -isystem build/deps/re2 $1 2>>build/tidy.log' || { tail -n 40 build/tidy.log; exit 1; }
